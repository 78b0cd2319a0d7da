"""Documents and what they are compared with → how much of each was copied, and from where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from neardup._util.numbers import check_int, check_threads
from neardup.copying import candidates
from neardup.copying.comparisons import Comparisons
from neardup.copying.documents import CheckedDocument, documents_of, strings_of
from neardup.copying.findings import Copying
from neardup.copying.rules import Rules
from neardup.text.passages import BRIDGE, DEADLINE, MIN_CHARS, MIN_WORDS, sharing
from neardup.text.recipe import as_recipe

if TYPE_CHECKING:
    from neardup.text.fingerprint import RecipeLike

# So many pairs take some seconds, and what is found in them some hundred bytes each.
MANY_PAIRS = 100_000


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
    on_note: Callable[[str], object] | None = None,
    on_progress: Callable[[int, int], object] | None = None,
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
    common     what is in more than so many documents, the checked one included, does not count.
               Documents that have nothing else in common are not compared, so that a cover text
               of a whole class costs little. Of what lies right beside a common passage, a quarter
               of `min_words` or less, or what was edited, may be missed
    own        ids of documents by the authors of those that are checked, who may repeat themselves;
               those with an equal author need not be named. Without an author, or with a blank
               one, a document is nobody's
    exclude    ids of documents that are no sources
    min_words, min_chars, bridge, deadline  what counts as a passage, as for `passages.shared`; the
               deadline is for each pair of documents
    recipe     for the similarity of a document and a source
    on_note    is told, in a sentence each, when ids are there twice and when there will be very
               many pairs
    on_progress  is told after each document how many are done, and of how many

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
        common = check_int("common", common, 1, 1 << 31)
    rules = Rules(
        template=tuple(strings_of("template", template)),
        ignore_quotations=ignore_quotations,
        ignore_references=ignore_references,
        common=common,
        own=frozenset(strings_of("own", own)),
        exclude=frozenset(strings_of("exclude", exclude)),
    )
    for name, function in (("on_note", on_note), ("on_progress", on_progress)):
        if function is not None and not callable(function):
            raise TypeError(f"{name} is {function!r}; it must be a function, or None")
    checked = list(documents_of("documents", documents))
    if against is None:
        found = candidates.among(checked, question[:2], rules.template, threads)
    else:
        found = candidates.against(
            checked, against, question[:2], rules.template, rules.exclude, threads
        )
    if on_note is not None:
        _tell(on_note, checked, found, among=against is None, common=common)
    comparisons = Comparisons(
        checked,
        found,
        question,
        as_recipe(recipe).pipeline,
        among=against is None,
        exclude=rules.exclude,
        common=common,
        threads=threads,
    )
    findings = []
    for document, compared in zip(checked, comparisons, strict=True):
        findings.append(
            rules.finding(document, compared, found.others, question, among=against is None)
        )
        if on_progress is not None:
            on_progress(len(findings), len(checked))
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
        itself=found.itself,
    )


# The name it has where it is clear what is checked.
check = check_copying


def _tell(
    on_note: Callable[[str], object],
    checked: Sequence[CheckedDocument],
    found: candidates.CopyCandidates,
    *,
    among: bool,
    common: int | None,
) -> None:
    """What one should know before all pairs are compared."""
    kinds = (
        [("documents", checked)] if among else [("documents", checked), ("against", found.others)]
    )
    for name, documents in kinds:
        repeated = _repeated(documents)
        if repeated:
            ids = "id" if len(repeated) == 2 else "ids"
            more = f", and {len(repeated) - 1:,} more {ids}" if len(repeated) > 1 else ""
            on_note(
                f"{name}: the id {repeated[0]!r} is there twice{more}; such documents are told "
                "apart by their place, but look alike by name: give each an id of its own"
            )
    pairs = found.pairs // 2 if among else found.pairs
    if common is None and pairs > MANY_PAIRS:
        on_note(
            f"{pairs:,} pairs of documents share something and are compared, which may take long; "
            "if it is a cover text or a task that all have, leave it out: --template FILE "
            "(template=) for a text you have, --common N (common=) for what more than N documents "
            "have"
        )


def _repeated(documents: Sequence[CheckedDocument]) -> list[str]:
    """Ids that several documents have, in the order they came."""
    counts = Counter(document.id for document in documents)
    return [id_ for id_, count in counts.items() if count > 1]
