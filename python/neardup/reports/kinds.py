"""The page of kinds of HTTP responses: how many there are of each, what distinguishes them, and
two samples of each side by side; facets filter the list.

Nothing of a capture is ever interpreted: titles, URLs and views are text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup._util.arrow import array_values, string_array
from neardup.reports.formatting import Piece, cosine, line_pieces, line_text, number
from neardup.reports.page import Sentence, Wording, render_page
from neardup.reports.views import ResponseView, SampleView, SampleViews, shorten

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

# Values of a facet to choose from; all others are one choice.
MAX_VALUES = 60
# The index of that choice.
OTHERS = -1


@dataclass(frozen=True)
class Facet:
    """A column to filter kinds by.

    values  the values to choose from
    kinds   number of kinds with each value
    others  number of other values; `other_kinds` is the number of kinds with one of them
    """

    name: str
    values: Sequence[str]
    kinds: Sequence[int]
    others: int = 0
    other_kinds: int = 0


@dataclass(frozen=True)
class Facets:
    """Facets, and for each kind the indexes of its values in them, or OTHERS."""

    facets: Sequence[Facet] = ()
    of_kinds: Sequence[dict[str, tuple[int, ...]]] = field(default_factory=list)


class FacetColumns:
    """Builds facets column by column.

    kinds  for each response the index of its kind; -1 if the kind is not shown
    count  number of kinds shown
    """

    def __init__(self, kinds: Rows, count: int) -> None:
        self._kinds = kinds
        self._facets: list[Facet] = []
        self._of_kinds: list[dict[str, tuple[int, ...]]] = [{} for _ in range(count)]

    def add(self, name: str, column: pa.Array | pa.ChunkedArray, most: int = MAX_VALUES) -> None:
        """Add a facet from a value for each response. The values of most kinds come first, then
        those of most responses."""
        import pyarrow as pa
        import pyarrow.compute as pc

        text = pc.cast(column, pa.large_string())
        if text.null_count:
            text = pc.fill_null(text, "")
        coded = text.dictionary_encode()
        if isinstance(coded, pa.ChunkedArray):
            # All chunks share one dictionary, so texts are not copied.
            coded = coded.combine_chunks()
        codes = array_values(coded.indices)
        shown = self._kinds >= 0
        self._add(name, coded.dictionary, self._kinds[shown], codes[shown], most)

    def add_of_kinds(self, name: str, values: Sequence[str], most: int = MAX_VALUES) -> None:
        """Add a facet from a value for each kind shown."""
        import numpy as np

        coded = string_array(values).dictionary_encode()
        of_kinds = array_values(coded.indices)
        shown = self._kinds[self._kinds >= 0]
        codes = of_kinds[shown] if len(of_kinds) else np.zeros(0, dtype=np.int64)
        self._add(name, coded.dictionary, shown, codes, most)

    def _add(
        self, name: str, dictionary: pa.Array, of: Rows, codes: NDArray[Any], most: int
    ) -> None:
        import numpy as np

        many = len(dictionary)
        responses = np.bincount(codes, minlength=many)
        # Each value of each kind once.
        pairs = np.unique(of * many + codes)
        kinds, values = np.divmod(pairs, max(many, 1))
        count = np.bincount(values, minlength=many)
        order = np.lexsort((np.arange(many), -responses, -count))
        order = order[count[order] > 0]
        chosen = order[:most]
        place = np.full(many, OTHERS, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        places = place[values]
        self._facets.append(
            Facet(
                name,
                [dictionary[int(at)].as_py() for at in chosen],
                count[chosen].tolist(),
                len(order) - len(chosen),
                len(np.unique(kinds[places == OTHERS])),
            )
        )
        bounds = np.searchsorted(kinds, np.arange(len(self._of_kinds) + 1))
        for kind, found in enumerate(self._of_kinds):
            here = places[bounds[kind] : bounds[kind + 1]]
            found[name] = tuple(np.unique(here).tolist())

    def facets(self) -> Facets:
        return Facets(self._facets, self._of_kinds)


# ---- the page ----

SCRIPT = "kinds.js"
# Most characters of samples on a page.
MAX_CHARACTERS = 6_000_000
# Values listed if the responses of a kind differ in a column.
MAX_VARIED = 6
# Most kinds with their own segment of the bar, and the smallest visible share.
BAR_KINDS = 60
BAR_SHARE = 0.003
# The smallest share of a segment with room for its status.
BAR_NAMED = 0.045


@dataclass(frozen=True)
class SampleResponse:
    """The representative of a kind and the least similar member, if there is another."""

    first: ResponseView
    other: ResponseView | None = None


class Member(NamedTuple):
    """A response of a kind; `similarity` is to the representative, None for itself."""

    id: str
    url: str
    similarity: float | None = None


@dataclass(frozen=True)
class ShownKind:
    """A kind of responses. Values are those of its representative, except counts.

    number    its number in the tables of the job
    status    0 if unknown
    label     the label of a rule, or ""; `rule` is the name of the rule, `why` its reason
    shortest, longest   lengths of bodies, in bytes
    hosts     number of different hosts
    lowest    lowest similarity to the representative; None if there is no other member
    members   some of them, the representative first
    """

    number: int
    size: int
    status: int = 0
    title: str = ""
    server: str = ""
    label: str = ""
    rule: str = ""
    why: str = ""
    shortest: int = 0
    longest: int = 0
    hosts: int = 0
    lowest: float | None = None
    id: str = ""
    url: str = ""
    members: Sequence[Member] = ()
    sample: SampleResponse | None = None


@dataclass(frozen=True)
class KindsReport:
    """The content of the page. Lists may be cut by the caller; counts are of the whole.

    responses   number of responses read
    kind_count  number of kinds; `alone` of them have one response
    kinds       the largest first
    facets      of these kinds, in the same order
    sentences   how the result was computed
    problems    unreadable records: file, number in it, reason
    """

    responses: int = 0
    kind_count: int = 0
    alone: int = 0
    kinds: Sequence[ShownKind] = ()
    facets: Facets = field(default_factory=Facets)
    language: str = "en"
    sentences: Sequence[Sentence] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    problems: Sequence[tuple[str, int | None, str]] = ()
    problem_count: int = 0


class _Choice(NamedTuple):
    """A value of a facet: `at` is its index, `value` its name in the URL fragment."""

    at: int
    value: str
    name: Sequence[Piece]
    kinds: int


class _FacetView(NamedTuple):
    """A facet for the template."""

    name: str
    title: str
    choices: Sequence[_Choice]


class _Segment(NamedTuple):
    """A segment of the bar: `link` leads to its kind, `css` is the class of its status."""

    share: str
    css: str
    title: str
    name: str = ""
    link: str = ""


@dataclass(frozen=True)
class _Row:
    """A kind for the template. Empty strings are left out."""

    number: int
    size: int
    count: str
    width: str
    status: str
    statuses: int
    css: str
    title: Sequence[Piece]
    url: Sequence[Piece]
    id: Sequence[Piece]
    label: Sequence[Piece]
    rule: Sequence[Piece]
    why: Sequence[Piece]
    server: Sequence[Piece]
    facts: Sequence[str]
    lowest: float
    places: Sequence[tuple[str, str]]
    varied: Sequence[tuple[str, Sequence[Sequence[Piece]], bool]]
    members: Sequence[tuple[Sequence[Piece], Sequence[Piece], str]]
    members_note: str
    sample: SampleView | None
    sample_note: str


def render_kinds(report: KindsReport) -> Iterator[str]:
    """Yield the page in pieces."""
    return _Page(report).render()


class _Page:
    def __init__(self, report: KindsReport) -> None:
        self.report = report
        self.words = Wording(report.language)
        self.kinds = report.kinds
        self._viewed = SampleViews(self.words)
        self._room = MAX_CHARACTERS
        self._largest = max((kind.size for kind in self.kinds), default=1)

    def render(self) -> Iterator[str]:
        words, report = self.words, self.report
        return render_page(
            "kinds.html",
            words,
            script_name=SCRIPT,
            title=line_text(words("title.kinds")),
            counts=self._counts(),
            sentences=[words.say(each) for each in report.sentences],
            bar=self._bar(),
            bar_said=self._bar_said(),
            classes=self._classes(),
            facets=[self._facet(facet) for facet in report.facets.facets if len(facet.values) > 1],
            shown=len(self.kinds),
            responses=sum(kind.size for kind in self.kinds),
            list_note=self._list_note(),
            rows=(self._row(at, kind) for at, kind in enumerate(self.kinds)),
            report=report,
            problems=[
                (line_pieces(file), "–" if at is None else number(at), line_pieces(reason))
                for file, at, reason in report.problems
            ],
            settings=[
                (line_pieces(words.label("setting", name)), line_pieces(value))
                for name, value in report.settings.items()
            ],
        )

    def _counts(self) -> list[tuple[str, str]]:
        report = self.report
        counts = {
            "responses": report.responses,
            "kinds": report.kind_count,
            "alone_kinds": report.alone,
            "unreadable": report.problem_count,
        }
        return [(self.words(f"count.{name}"), number(n)) for name, n in counts.items()]

    # ---- the bar: responses by kind ----

    def _bar(self) -> list[_Segment]:
        total = max(self.report.responses, 1)
        found = []
        for kind in self.kinds[:BAR_KINDS]:
            share = kind.size / total
            if kind.size == 1 or share < BAR_SHARE:
                break
            found.append(self._segment(kind, share))
        # The bar includes kinds that are not on the page.
        alone = self.report.alone
        rest = total - alone - sum(kind.size for kind in self.kinds[: len(found)])
        rest_kinds = self.report.kind_count - alone - len(found)
        if rest_kinds > 0:
            title = self.words("bar.rest", n=rest_kinds, responses=number(rest))
            found.append(_Segment(_width(rest / total), "rest", title))
        if alone:
            title = self.words("bar.alone", n=alone)
            found.append(_Segment(_width(alone / total), "alone", title))
        return found

    def _segment(self, kind: ShownKind, share: float) -> _Segment:
        status = self._status(kind)
        title = " · ".join(
            part
            for part in (
                self.words("responses", n=kind.size),
                self.words.percent(share),
                status,
                line_text(shorten(kind.title or kind.url)),
            )
            if part
        )
        name = status if share >= BAR_NAMED else ""
        return _Segment(_width(share), _css(kind.status), title, name, f"#k{kind.number}")

    def _bar_said(self) -> str:
        report = self.report
        if report.responses == 0 or report.kind_count < 3:
            return ""
        kinds = 0
        held = 0
        # The largest kinds that hold 90 % of the responses.
        for kind in self.kinds:
            if held >= 0.9 * report.responses:
                break
            held += kind.size
            kinds += 1
        if kinds == len(self.kinds) < report.kind_count or kinds > report.kind_count / 2:
            return ""
        return self.words("bar.said", n=kinds, share=self.words.percent(held / report.responses))

    def _classes(self) -> list[tuple[str, str]]:
        """Return the legend: the status classes on the page."""
        order = ("s2", "s3", "s4", "s5", "s1", "s0")
        there = {_css(kind.status) for kind in self.kinds}
        return [(css, self.words(f"class.{css}")) for css in order if css in there]

    # ---- facets ----

    def _facet(self, facet: Facet) -> _FacetView:
        found = []
        for at, value in enumerate(facet.values):
            found.append(
                _Choice(at, line_text(value), self._value(facet.name, value), facet.kinds[at])
            )
        if facet.name == "status":
            found.sort(key=lambda choice: choice.value.zfill(3))
        if facet.others:
            title = self.words("facet.others", n=facet.others)
            found.append(_Choice(OTHERS, "…", line_pieces(title), facet.other_kinds))
        return _FacetView(facet.name, self.words(f"facet.{facet.name}"), found)

    def _value(self, facet: str, value: str) -> list[Piece]:
        if not value or (facet == "status" and value == "0"):
            return line_pieces(self.words(f"none.{facet}"))
        if facet == "label":
            return line_pieces(self.words.label("label", value))
        return line_pieces(shorten(value))

    # ---- kinds ----

    def _list_note(self) -> str:
        left_out = self.report.kind_count - len(self.kinds)
        if not left_out:
            return ""
        return self.words("kinds.left_out", n=left_out, shown=number(len(self.kinds)))

    def _status(self, kind: ShownKind) -> str:
        return str(kind.status) if kind.status else ""

    def _row(self, at: int, kind: ShownKind) -> _Row:
        words = self.words
        sample, sample_note = self._sample(kind)
        members = [
            (
                line_pieces(shorten(member.url)),
                line_pieces(shorten(member.id)),
                "" if member.similarity is None else cosine(member.similarity),
            )
            # A single representative is in the row itself.
            for member in (kind.members if len(kind.members) > 1 else ())
        ]
        places = self.report.facets.of_kinds[at] if self.report.facets.of_kinds else {}
        note = ""
        if members and len(members) < kind.size:
            note = words("kinds.members", shown=len(members), n=kind.size)
        return _Row(
            kind.number,
            kind.size,
            number(kind.size),
            f"{100 * (kind.size / self._largest) ** 0.5:.1f}%",
            self._status(kind) or "–",
            len(places.get("status", ())),
            _css(kind.status),
            line_pieces(shorten(kind.title)),
            line_pieces(shorten(kind.url)),
            line_pieces(shorten(kind.id)),
            line_pieces(words.label("label", kind.label)) if kind.label else [],
            line_pieces(kind.rule),
            line_pieces(kind.why),
            line_pieces(shorten(kind.server)),
            self._facts(kind),
            1.0 if kind.lowest is None else round(kind.lowest, 6),
            [(name, " ".join(map(str, found))) for name, found in places.items()],
            self._varied(places),
            members,
            note,
            sample,
            sample_note,
        )

    def _varied(
        self, places: Mapping[str, Sequence[int]]
    ) -> list[tuple[str, list[list[Piece]], bool]]:
        """Return columns in which responses differ: title, some values, whether that is all."""
        found = []
        for facet in self.report.facets.facets:
            of_kind = places.get(facet.name, ())
            if len(of_kind) > 1:
                named = [at for at in of_kind if at != OTHERS][:MAX_VARIED]
                values = [self._value(facet.name, facet.values[at]) for at in named]
                title = self.words(f"facet.{facet.name}")
                found.append((title, values, len(named) == len(of_kind)))
        return found

    def _facts(self, kind: ShownKind) -> list[str]:
        words = self.words
        if kind.shortest == kind.longest:
            facts = [words("fact.bytes", n=kind.longest)]
        else:
            lengths = number(kind.shortest), number(kind.longest)
            facts = [words("fact.lengths", shortest=lengths[0], longest=lengths[1])]
        if kind.hosts:
            facts.append(words("fact.hosts", n=kind.hosts))
        if kind.size > 1 and kind.lowest is not None:
            # "≥ 1" would be odd.
            name = "fact.lowest" if kind.lowest < 1 - 1e-6 else "fact.similarity"
            facts.append(words(name, value=cosine(kind.lowest)))
        return facts

    def _sample(self, kind: ShownKind) -> tuple[SampleView | None, str]:
        """Return the sample if the page has room for it, else a note."""
        if kind.sample is None:
            return None, self.words("sample.none")
        made = self._viewed.sample(kind.sample.first, kind.sample.other)
        if made.characters > self._room:
            return None, self.words("sample.no_room")
        self._room -= made.characters
        return made, ""


def _css(status: int) -> str:
    """Return the CSS class of a status, by its first digit."""
    return f"s{status // 100}" if 100 <= status <= 599 else "s0"


def _width(share: float) -> str:
    return f"{100 * share:.3f}"
