"""The check for copying: validates the options, then runs the steps in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from neardup._util.numbers import check_int, check_threads
from neardup.copying import candidates
from neardup.copying.comparisons import Comparisons
from neardup.copying.documents import CheckedDocument, parse_documents
from neardup.copying.findings import Copying
from neardup.copying.rules import Rules
from neardup.text.comparison import (
    DEFAULT_BRIDGE,
    DEFAULT_DEADLINE,
    DEFAULT_MIN_CHARS,
    DEFAULT_MIN_WORDS,
    passage_options,
)
from neardup.text.recipe import as_recipe

if TYPE_CHECKING:
    from neardup.text.fingerprint import RecipeLike

# A note warns about more pairs: they take more than some seconds, and a few hundred bytes each.
MANY_PAIRS = 100_000


def check_rules(
    *,
    template: str | Iterable[str] = (),
    ignore_quotations: bool = False,
    ignore_references: bool = False,
    common: int | None = None,
    own: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    min_words: int = DEFAULT_MIN_WORDS,
    min_chars: int = DEFAULT_MIN_CHARS,
    bridge: int = DEFAULT_BRIDGE,
    deadline: float | None = DEFAULT_DEADLINE,
    recipe: RecipeLike = None,
    threads: int | None = None,
) -> Rules:
    """Return the options of `check_copying` as rules; raise TypeError or ValueError that names the
    first invalid option."""
    check_threads(threads)
    for name, value in (
        ("ignore_quotations", ignore_quotations),
        ("ignore_references", ignore_references),
    ):
        if not isinstance(value, bool):
            raise TypeError(f"{name} is {value!r}; it must be True or False")
    return Rules(
        template=_check_strings("template", template),
        ignore_quotations=ignore_quotations,
        ignore_references=ignore_references,
        common=None if common is None else check_int("common", common, 1, 1 << 31),
        own=frozenset(_check_strings("own", own)),
        exclude=frozenset(_check_strings("exclude", exclude)),
        limits=passage_options(min_words, min_chars, bridge, deadline),
        recipe=as_recipe(recipe),
    )


def _check_strings(name: str, values: Any) -> tuple[str, ...]:
    if isinstance(values, str):
        return (values,)
    try:
        strings = tuple(values)
    except TypeError:
        raise TypeError(f"{name} is {values!r}; it must be a str or several") from None
    for at, value in enumerate(strings):
        if not isinstance(value, str):
            raise TypeError(f"{name}[{at}] is of type {type(value).__name__}; it must be a str")
    return strings


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
    min_words: int = DEFAULT_MIN_WORDS,
    min_chars: int = DEFAULT_MIN_CHARS,
    bridge: int = DEFAULT_BRIDGE,
    deadline: float | None = DEFAULT_DEADLINE,
    recipe: RecipeLike = None,
    threads: int | None = None,
    on_note: Callable[[str], object] | None = None,
    on_progress: Callable[[int, int], object] | None = None,
) -> Copying:
    """Find the passages that documents share with others; return their share of each document.

    documents  texts, (id, text), (id, text, author), (id, text, metadata) with the author under
               "author", or a Collection. The ids of bare texts are "0", "1", …
    against    the corpus to compare with, in the same forms; it is read once, and only documents
               that share a run of words are kept. A Collection finds those by its index, and may
               be one of several items. None: the documents are compared with each other.
               A document of the corpus with the same id and text is the document itself, not a
               source; its id is listed in `Copying.itself`. If both have a record, the fourth item
               of (id, text, author, record), equal records are the same document instead
    template   texts: passages that a document shares with them do not count
    ignore_quotations, ignore_references  do not count quotations, or lists of references.
               `Figures.unquoted` leaves out both in any case
    common     do not count text that more than this many documents have, the checked one included.
               Documents that share nothing else are not compared, so that a cover text of a whole
               class costs little. Next to common text, a passage of at most a quarter of
               `min_words`, or an edited one, may be missed
    own        ids of documents by the authors of the checked ones, who may repeat themselves.
               Documents with the same author need not be listed; a missing or blank author is
               never the same
    exclude    ids of documents that are not sources
    min_words, min_chars, bridge, deadline  what counts as a passage, as in `neardup.shared`; the
               deadline is for each pair of documents
    recipe     for the similarity of a document and a source
    threads    number of threads; None: all cores
    on_note    called with a sentence if ids are not unique, or if there are very many pairs
    on_progress  called after each document with the number done and the total

    A source is found if it shares a passage of the minimum length word for word. A source may be
    missed if all its passages were edited.

    >>> essay = "Tea was brought to the harbour by ship, and the town drank it gladly ever after."
    >>> found = check_copying([essay], ["They say tea was brought to the harbour by ship at night"])
    >>> round(found.findings[0].figures.share, 2), found.findings[0].sources[0].words
    (0.5, 8)
    """
    rules = check_rules(
        template=template,
        ignore_quotations=ignore_quotations,
        ignore_references=ignore_references,
        common=common,
        own=own,
        exclude=exclude,
        min_words=min_words,
        min_chars=min_chars,
        bridge=bridge,
        deadline=deadline,
        recipe=recipe,
        threads=threads,
    )
    for name, function in (("on_note", on_note), ("on_progress", on_progress)):
        if function is not None and not callable(function):
            raise TypeError(f"{name} is {function!r}; it must be a function, or None")
    checked = list(parse_documents("documents", documents))
    minimum, among = rules.limits[:2], against is None
    if against is None:
        found = candidates.find_among(checked, minimum, rules.template, threads)
    else:
        found = candidates.find_in_corpus(
            checked, against, minimum, rules.template, rules.exclude, threads
        )
    if on_note is not None:
        _send_notes(on_note, checked, found, among=among, common=rules.common)
    comparisons = Comparisons(checked, found, rules, among=among, threads=threads)
    findings = []
    for document, compared in zip(checked, comparisons, strict=True):
        findings.append(rules.finding(document, compared, found.others, among=among))
        if on_progress is not None:
            on_progress(len(findings), len(checked))
    settings = dict(
        zip(("min_words", "min_chars", "bridge", "deadline"), rules.limits, strict=True)
    )
    return Copying(
        findings=tuple(findings),
        among=among,
        settings={
            **settings,
            "templates": len(rules.template),
            "ignore_quotations": rules.ignore_quotations,
            "ignore_references": rules.ignore_references,
            "common": rules.common,
            "own": sorted(rules.own),
            "exclude": sorted(rules.exclude),
        },
        itself=found.itself,
    )


def _send_notes(
    on_note: Callable[[str], object],
    checked: Sequence[CheckedDocument],
    found: candidates.CopyCandidates,
    *,
    among: bool,
    common: int | None,
) -> None:
    """Warn about duplicate ids and very many pairs, before the pairs are compared."""
    groups = [("documents", checked)]
    if not among:
        groups.append(("against", found.others))
    for name, documents in groups:
        counts = Counter(document.id for document in documents)
        repeated = [id_ for id_, count in counts.items() if count > 1]
        if repeated:
            ids = "id" if len(repeated) == 2 else "ids"
            more = f", and {len(repeated) - 1:,} more {ids}" if len(repeated) > 1 else ""
            on_note(
                f"{name}: duplicate id {repeated[0]!r}{more}; such documents are kept apart by "
                "their position, but have the same name in the results: give each its own id"
            )
    pairs = found.pairs // 2 if among else found.pairs
    if common is None and pairs > MANY_PAIRS:
        on_note(
            f"{pairs:,} pairs of documents share text and will be compared, which may take long. "
            "If they share a cover text or a task, leave it out: --template FILE (template=) if "
            "you have the text, --common N (common=) for text that more than N documents have"
        )
