"""Documents and what they are compared with → how much of each was copied, and from where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, islice
from operator import le
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup import _core
from neardup.evidence.cover import Words
from neardup.evidence.findings import Copying, Figures, Finding, Ignored, Source
from neardup.evidence.quotations import quotations, references
from neardup.evidence.runs import Kept, Runs
from neardup.limits import check_threads, whole
from neardup.passages import BRIDGE, DEADLINE, MIN_CHARS, MIN_WORDS, Passage, sharing, turned
from neardup.recipe import as_recipe

if TYPE_CHECKING:
    from neardup.fingerprint import RecipeLike

FORMS = "pass texts, (id, text), (id, text, author or metadata), or a Collection"
# Of what is compared with so many documents are looked at together.
AT_ONCE = 1000
# Figures of a document nobody has counted yet.
NOTHING = Figures(0.0, 0.0, 0.0)


class Given(NamedTuple):
    """A document as it is compared; `named` if the id is its own and not its place.

    record  which record of which file it is, None if that is not known
    """

    id: str
    text: str
    author: object
    named: bool
    record: object = None

    def is_record(self, other: Given) -> bool:
        """Whether both are known to be one and the same record."""
        return self.record is not None and self.record == other.record

    def is_taken_for(self, other: Given) -> bool:
        """Whether nothing tells the two apart: id and text are equal, and where one of them comes
        from is not known."""
        known = self.record is not None and other.record is not None
        return not known and self.named and other.named and self[:2] == other[:2]


def check_copying(
    documents: Iterable[Any],
    against: Iterable[Any] | None = None,
    *,
    template: str | Iterable[str] = (),
    ignore_quotations: bool = False,
    ignore_references: bool = False,
    common: int | None = None,
    own: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    min_words: int = MIN_WORDS,
    min_chars: int = MIN_CHARS,
    bridge: int = BRIDGE,
    deadline: float | None = DEADLINE,
    recipe: RecipeLike = None,
    threads: int | None = None,
) -> Copying:
    """How much of each document is in others too, and in which.

    documents  texts, (id, text), (id, text, author), (id, text, metadata) with the author under
               "author", or a Collection. Texts alone are called "0", "1", …
    against    what they are compared with, in the same forms; it is read once, and only documents
               that share a run are kept. A Collection is asked for those, and may be one of several
               items. None: the documents are compared with each other. An equal
               text under the same id is taken for the document itself, not for a source of it,
               and told in `Copying.itself`. Where it is known which records they are, as the
               fourth of (id, text, author, record), that alone decides
    template   texts: what a document shares with them does not count
    ignore_quotations, ignore_references  what is in quotations, or in lists of references, does not
               count. `Figures.unquoted` leaves both out in any case
    common     what is in more than so many documents, the checked one included, does not count
    own        ids of documents by the authors of those that are checked, who may repeat themselves;
               those with an equal author need not be named
    exclude    ids of documents that are no sources
    min_words, min_chars, bridge, deadline  what counts as a passage, as for `passages.shared`; the
               deadline is for each pair of documents
    recipe     for the similarity of a document and a source

    A source is found if it has a passage of the minimum length word for word, or by luck one that
    was edited throughout.

    >>> essay = "Tea was brought to the harbour by ship, and the town drank it gladly ever after."
    >>> found = check_copying([essay], ["They say tea was brought to the harbour by ship at night"])
    >>> round(found.findings[0].figures.share, 2), found.findings[0].sources[0].words
    (0.5, 8)
    """
    question = sharing(min_words, min_chars, bridge, deadline)
    check_threads(threads)
    for name, value in (
        ("ignore_quotations", ignore_quotations),
        ("ignore_references", ignore_references),
    ):
        if not isinstance(value, bool):
            raise TypeError(f"{name} is {value!r}; it must be True or False")
    if common is not None:
        common = whole("common", common, 1, 1 << 31)
    rules = _Rules(
        template=tuple(_strings("template", template)),
        ignore_quotations=ignore_quotations,
        ignore_references=ignore_references,
        common=common,
        own=frozenset(_strings("own", own)),
        exclude=frozenset(_strings("exclude", exclude)),
    )
    checked = list(_documents("documents", documents))
    pipeline = as_recipe(recipe).pipeline
    itself: list[str] = []
    candidates = _candidates(checked, against, question[:2], rules, threads, itself)
    compared: list[list[_Compared]] = [[] for _ in checked]
    findings = []
    for row, document in enumerate(checked):
        # Of documents among themselves those before this one have been compared with it.
        later = [other for other in candidates[row] if against is not None or other.row > row]
        texts = [other.document.text for other in later]
        for other, found in zip(
            later, _core.shared_with_each(document.text, texts, question, threads), strict=True
        ):
            if other.document.id not in rules.exclude:
                compared[row].append(_Compared(other.document, found))
            if against is None and document.id not in rules.exclude:
                compared[other.row].append(_Compared(document, turned(found)))
        finding = rules.finding(document, compared[row], question)
        texts = [source.text for source in finding.sources]
        cosines, _ = pipeline.judge_one(document.text, texts)
        findings.append(_with_similarities(finding, cosines))
        candidates[row], compared[row] = [], []
    return Copying(
        findings=tuple(findings),
        among=against is None,
        settings={
            "min_words": question[0],
            "min_chars": question[1],
            "bridge": question[2],
            "deadline": question[3],
            "templates": len(rules.template),
            "ignore_quotations": ignore_quotations,
            "ignore_references": ignore_references,
            "common": common,
            "own": sorted(rules.own),
            "exclude": sorted(rules.exclude),
        },
        itself=tuple(itself),
    )


# The name it has where it is clear what is checked.
check = check_copying


class _Candidate(NamedTuple):
    """A document that may be a source, and which it is of all that were given."""

    row: int
    document: Given


class _Compared(NamedTuple):
    """A document that may be a source, and what the core found in both."""

    other: Given
    found: _core.Found

    @property
    def stretches(self) -> list[tuple[int, int]]:
        return [(start, end) for _, start, end, _, _ in self.found[1]]


class _Rules(NamedTuple):
    """What does not count."""

    template: tuple[str, ...]
    ignore_quotations: bool
    ignore_references: bool
    common: int | None
    own: frozenset[str]
    exclude: frozenset[str]

    def is_own(self, document: Given, other: Given) -> bool:
        return other.id in self.own or (
            document.author is not None and document.author == other.author
        )

    def finding(
        self, document: Given, compared: list[_Compared], question: _core.Sharing
    ) -> Finding:
        """The document with all that was found, counted."""
        import numpy as np

        words = Words(document.text)
        ignored: list[Ignored] = []
        for text in self.template:
            same = _core.shared(document.text, text, question)[1]
            stretches = words.stretches(words.within((x[1], x[2]) for x in same))
            ignored += [Ignored(start, end, "template") for start, end in stretches]
        quoted = [Ignored(start, end, "quotation") for start, end in quotations(document.text)]
        listed = [Ignored(start, end, "references") for start, end in references(document.text)]
        if self.ignore_quotations:
            ignored += quoted
        if self.ignore_references:
            ignored += listed
        own = [x for x in compared if self.is_own(document, x.other)]
        if own:
            mask = words.within(stretch for x in own for stretch in x.stretches)
            ignored += [Ignored(start, end, "own") for start, end in words.stretches(mask)]
        strangers = [x for x in compared if not self.is_own(document, x.other)]
        if self.common is not None:
            # The document itself is one of those that have it.
            documents = np.ones(len(words), np.int64)
            for x in compared:
                documents += words.within(x.stretches)
            stretches = words.stretches(documents > self.common)
            ignored += [Ignored(start, end, "common") for start, end in stretches]
        return Finding(
            id=document.id,
            text=document.text,
            words=0,
            characters=0,
            figures=NOTHING,
            by_characters=NOTHING,
            sources=tuple(map(_source, strangers)),
            ignored=tuple(sorted(ignored, key=lambda x: (x.start, x.end, x.rule))),
            quoted=tuple(sorted(quoted + listed, key=lambda x: (x.start, x.end, x.rule))),
        ).counted()


def _source(compared: _Compared) -> Source:
    rows, equal, _, (words, covered, _), coarse = compared.found
    return Source(
        id=compared.other.id,
        text=compared.other.text,
        share=0.0,
        own_share=covered / words if words else 0.0,
        words=0,
        longest=max((row[4] for row in rows), default=0),
        similarity=0.0,
        passages=tuple(Passage(*row) for row in rows),
        equal=tuple(row[1:] for row in equal),
        coarse=coarse,
    )


def _with_similarities(finding: Finding, cosines: Sequence[float]) -> Finding:
    sources = zip(finding.sources, cosines, strict=True)
    return replace(
        finding, sources=tuple(replace(source, similarity=cosine) for source, cosine in sources)
    )


def _candidates(
    checked: list[Given],
    against: Iterable[Any] | None,
    minimum: tuple[int, int],
    rules: _Rules,
    threads: int | None,
    itself: list[str],
) -> list[list[_Candidate]]:
    """For each document those that share a run with it, in order. `itself` gets the ids of those
    that were taken for the document."""
    texts = [document.text for document in checked]
    made = partial(Runs, texts, threads=threads, without=rules.template)
    runs = made(minimum)
    found: list[list[_Candidate]] = [[] for _ in checked]
    if against is None:
        for row, place, other in _sharing(runs, checked):
            if place != row and not other.is_record(checked[row]):
                found[row].append(_Candidate(place, other))
        return found
    for part in _parts("against", against):
        pairs: Iterable[tuple[int, Given]]
        if not isinstance(part, Kept):
            pairs = ((row, other) for row, _, other in _sharing(runs, part))
        elif all(map(le, part.runs_minimum, minimum)):
            # Whoever has a longer passage in common has a shorter one in common.
            hashes = made(part.runs_minimum).each()
            pairs = ((row, _given("against", row, x)) for row, x in part.sharing(hashes))
        else:
            every = _documents("against", part.documents())
            pairs = ((row, other) for row, _, other in _sharing(runs, every))
        for row, other in pairs:
            document = checked[row]
            if other.id in rules.exclude or other.is_record(document):
                continue
            if other.is_taken_for(document):
                itself.append(document.id)
                continue
            found[row].append(_Candidate(-1, other))
    return found


def _sharing(runs: Runs, others: Iterable[Given]) -> Iterator[tuple[int, int, Given]]:
    """Rows of the runs and who shares one with them: its place, and itself."""
    source, start = iter(others), 0
    while batch := list(islice(source, AT_ONCE)):
        places, rows = runs.shared([document.text for document in batch])
        for place, row in zip(places.tolist(), rows.tolist(), strict=True):
            yield row, start + place, batch[place]
        start += len(batch)


def _parts(name: str, documents: Any) -> Iterator[Kept | Iterator[Given]]:
    """Documents, one after the other, and corpora that find them by their runs."""
    if isinstance(documents, Kept):
        yield documents
        return
    numbered = enumerate(_each(name, documents))
    for is_kept, part in groupby(numbered, key=lambda item: isinstance(item[1], Kept)):
        if is_kept:
            yield from (corpus for _, corpus in part)
        else:
            yield (_given(f"{name}[{at}]", at, document) for at, document in part)


def _documents(name: str, documents: Any) -> Iterator[Given]:
    """What was passed, one by one, checked."""
    for at, document in enumerate(_each(name, documents)):
        yield _given(f"{name}[{at}]", at, document)


def _each(name: str, documents: Any) -> Iterator[Any]:
    if isinstance(documents, str | bytes | Mapping):
        raise TypeError(f"{name} is one {type(documents).__name__}; {FORMS}, in a list")
    # A Collection is iterated by ids.
    listed = documents.documents() if hasattr(documents, "documents") else documents
    try:
        return iter(listed)
    except TypeError:
        raise TypeError(f"{name} is of type {type(documents).__name__}; {FORMS}") from None


def _given(name: str, at: int, document: Any) -> Given:
    author: object = None
    record: object = None
    if isinstance(document, str):
        id_, text = str(at), document
    elif hasattr(document, "metadata") and hasattr(document, "text"):
        id_, text, author = document.id, document.text, document.metadata
        if text is None:
            raise ValueError(
                f"{name} ({id_!r}) has no text: its collection stores none; add the documents to "
                "one that does, or pass their texts"
            )
    elif isinstance(document, tuple | list) and len(document) == 2:
        id_, text = document
    elif isinstance(document, tuple | list) and len(document) == 3:
        id_, text, author = document
    elif isinstance(document, tuple | list) and len(document) == 4:
        id_, text, author, record = document
    else:
        raise TypeError(f"{name} is of type {type(document).__name__}; {FORMS}")
    if isinstance(author, Mapping):
        author = author.get("author")
    for what, value in (("id", id_), ("text", text)):
        if not isinstance(value, str):
            raise TypeError(
                f"the {what} of {name} is of type {type(value).__name__}; it must be a str"
            )
    return Given(id_, text, author, named=not isinstance(document, str), record=record)


def _strings(name: str, values: Any) -> list[str]:
    if isinstance(values, str):
        return [values]
    try:
        found = list(values)
    except TypeError:
        raise TypeError(f"{name} is {values!r}; it must be a str or several") from None
    for at, value in enumerate(found):
        if not isinstance(value, str):
            raise TypeError(f"{name}[{at}] is of type {type(value).__name__}; it must be a str")
    return found
