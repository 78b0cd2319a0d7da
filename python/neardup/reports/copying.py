"""The pages of a check for copying: an overview, a page a document, a page a pair.

As a folder of linked pages, or as one file that has them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from neardup.copying.findings import Copying, DocumentNumbers, Figures, Finding, Source
from neardup.reports.charts import Matrix, Shares, Tie, Ties, matrix_chart, shares_of, whole_percent
from neardup.reports.comparison import ComparisonReport, Figure, pair_view
from neardup.reports.document import DocumentView, SourceRow, document_view
from neardup.reports.formatting import Piece, line, number, plain
from neardup.reports.page import PASSAGES_SCRIPT, Wording, render_page
from neardup.text.comparison import Passage

INDEX = "index.html"
# Documents in the table of the overview.
TABLE_ROWS = 5_000
# Sources of a document with a row of their own; the rest is one row.
SOURCES = 20


@dataclass(frozen=True)
class ReportLimits:
    """How large a report may become.

    documents   pages of documents
    pairs       pages of pairs
    characters  of text on all pages together; pages that would be beyond are left out
    each        characters shown of a text
    """

    documents: int = 2_000
    pairs: int = 3_000
    characters: int = 1_000_000_000
    each: int = 2_000_000


FOLDER = ReportLimits()
# A browser has to read it all at once.
ONE_FILE = ReportLimits(documents=1_000, pairs=2_000, characters=24_000_000, each=500_000)


@dataclass(frozen=True)
class CopyingReport:
    """What is shown.

    threshold   the share from which documents are marked; the page can move it
    anonymous   whether documents go by numbers: the caller has called them so
    unreadable  records that could not be read
    problems    the first of them: file, line, reason
    settings    what else is listed among the settings, by name
    """

    copying: Copying
    language: str = "en"
    threshold: float = 0.3
    anonymous: bool = False
    unreadable: int = 0
    problems: Sequence[tuple[str, int | None, str]] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sheet:
    """A page, or a part of the one page there is."""

    kind: str
    anchor: str
    title: Sequence[Piece]
    view: Any
    trail: Sequence[tuple[str, Sequence[Piece]]] = ()


@dataclass(frozen=True)
class DocumentRow:
    """A document in the table of the overview."""

    number: str
    name: Sequence[Piece]
    link: str
    value: float
    above: bool
    share: str
    unquoted: str
    largest: str
    source: Sequence[Piece]
    pair: str
    sources: str
    words: str


@dataclass(frozen=True)
class Overview:
    counts: Sequence[Figure]
    said: Sequence[str]
    shares: Shares
    limit: int
    rows: Sequence[DocumentRow]
    table_notes: Sequence[str]
    matrix: Matrix | None
    problems: Sequence[tuple[Sequence[Piece], str, Sequence[Piece]]]
    problems_note: str
    settings: Sequence[tuple[Sequence[Piece], Sequence[Piece]]]


def render_file(report: CopyingReport) -> Iterator[str]:
    """One page with everything, in pieces."""
    pages = _Pages(report, ONE_FILE, one_file=True)
    return pages.render(plain(pages.words("title.check")), pages.sheets())


def render_folder(report: CopyingReport) -> Iterator[tuple[str, Iterator[str]]]:
    """The names of files and the pages they hold, in pieces; the first is `INDEX`."""
    pages = _Pages(report, FOLDER, one_file=False)
    for sheet in pages.sheets():
        title = "".join(piece.text for piece in sheet.title)
        yield sheet.anchor, pages.render(title, iter((sheet,)))


class _Pages:
    """The pages of a report, and how they lead to each other."""

    def __init__(self, report: CopyingReport, limits: ReportLimits, *, one_file: bool) -> None:
        self.report = report
        self.words = Wording(report.language)
        self.limit = whole_percent(report.threshold)
        self._limits = limits
        self._one_file = one_file
        self._findings = report.copying.findings
        self._shares = [self._figures(finding).share for finding in self._findings]
        shares = self._shares
        # The numbers of documents, those with the highest share first.
        self._ranked = sorted(range(len(shares)), key=lambda at: (-shares[at], at))
        self._places = DocumentNumbers(report.copying)
        self._documents, self._pairs, self._left_out = self._planned()

    def _figures(self, finding: Finding) -> Figures:
        """By characters under their Chinese names, which mean just that; else by words."""
        return finding.by_characters if self.words.language == "zh" else finding.figures

    # ---- which pages there are, and what they are called ----

    def _planned(self) -> tuple[set[int], set[tuple[int, int]], int]:
        """The documents and pairs that have a page; how many pairs have none."""
        limits, room = self._limits, self._limits.characters
        documents: set[int] = set()
        pairs: set[tuple[int, int]] = set()
        left_out = 0
        for at in self._ranked:
            size = min(len(self._findings[at].text), limits.each)
            if len(documents) < limits.documents and size <= room:
                documents.add(at)
                room -= size
        wanted = [
            (-source.share, at, rank)
            for at, finding in enumerate(self._findings)
            for rank, source in enumerate(finding.sources, 1)
        ]
        # The largest shares first, whosever they are.
        for _, at, rank in sorted(wanted):
            finding = self._findings[at]
            texts = finding.text, finding.sources[rank - 1].text
            size = sum(min(len(text), limits.each) for text in texts)
            fits = rank <= SOURCES and len(pairs) < limits.pairs and size <= room
            if at in documents and fits:
                pairs.add((at, rank))
                room -= size
            else:
                left_out += 1
        return documents, pairs, left_out

    def _overview_link(self) -> str:
        return "#overview" if self._one_file else INDEX

    def _document_link(self, at: int) -> str:
        if at not in self._documents:
            return ""
        return f"#d{at + 1}" if self._one_file else f"document-{at + 1}.html"

    def _pair_link(self, at: int, rank: int) -> str:
        if (at, rank) not in self._pairs:
            return ""
        return f"#d{at + 1}s{rank}" if self._one_file else f"pair-{at + 1}-{rank}.html"

    def _prefix(self, at: int, rank: int) -> str:
        """Of the names of passages on a page."""
        return f"d{at + 1}s{rank}" if self._one_file else ""

    def _passage_link(self, at: int, rank: int, n: int, passage: Passage) -> str:
        page = self._pair_link(at, rank)
        if not page or max(passage.left_start, passage.right_start) >= self._limits.each:
            # Beyond what is shown of the texts there is no place to go to.
            return page
        place = f"{self._prefix(at, rank)}l{n}"
        return f"#{place}" if self._one_file else f"{page}#{place}"

    # ---- the pages themselves ----

    def render(self, title: str, sheets: Iterator[Sheet]) -> Iterator[str]:
        return render_page(
            "check.html",
            self.words,
            script_name=PASSAGES_SCRIPT,
            title=title,
            one_file=self._one_file,
            sheets=sheets,
        )

    def sheets(self) -> Iterator[Sheet]:
        top = self._overview_link()
        title = line(self.words("title.check"))
        yield Sheet("overview", top.lstrip("#"), title, self._overview())
        over = (top, line(self.words("nav.overview")))
        for at in sorted(self._documents):
            yield self._document(at, over)
            finding = self._findings[at]
            for rank, source in enumerate(finding.sources, 1):
                if (at, rank) in self._pairs:
                    yield self._pair(at, rank, source, over)

    def _document(self, at: int, over: tuple[str, Sequence[Piece]]) -> Sheet:
        finding = self._findings[at]
        rows = []
        for rank, source in enumerate(finding.sources[:SOURCES], 1):
            # Of a text that was only compared with there is no page.
            document = self._document_link(self._places.of(source))
            rows.append(SourceRow.of(rank, source, document, self._pair_link(at, rank), self.words))
        view: DocumentView = document_view(
            finding,
            self.words,
            rows,
            lambda rank, n, passage: self._passage_link(at, rank, n, passage),
            most=self._limits.each,
        )
        return Sheet(
            "document", self._document_link(at).lstrip("#"), line(finding.id), view, (over,)
        )

    def _pair(self, at: int, rank: int, source: Source, over: tuple[str, Sequence[Piece]]) -> Sheet:
        finding = self._findings[at]
        compared = ComparisonReport(
            names=(finding.id, source.id),
            texts=(finding.text, source.text),
            passages=source.passages,
            coverage=(source.share, source.own_share),
            similarity=source.similarity,
            # The share of the source is of all its words, whatever does not count here.
            ignored=(finding.ignored, ()),
            equal=source.equal,
            coarse=source.coarse,
        )
        view = pair_view(
            compared, self.words, prefix=self._prefix(at, rank), most=self._limits.each
        )
        title = line(self.words("title.pair", left=finding.id, right=source.id))
        trail = (over, (self._document_link(at), line(finding.id)))
        return Sheet("pair", self._pair_link(at, rank).lstrip("#"), title, view, trail)

    def _reaches(self, value: float) -> bool:
        return whole_percent(value) >= self.limit

    def _overview(self) -> Overview:
        words, shares = self.words, self._shares
        shown = self._ranked[:TABLE_ROWS]
        notes = []
        if len(shown) < len(shares):
            notes.append(words("table.some", shown=len(shown), n=len(shares)))
        if len(self._documents) < len(shown):
            notes.append(words("table.paged", n=len(self._documents)))
        if self._left_out:
            notes.append(words("table.pairs", n=self._left_out))
        return Overview(
            self._counts(shares),
            self._said(),
            shares_of(shares, self.limit, words),
            self.limit,
            [self._row(at) for at in shown],
            notes,
            matrix_chart(self._ties(), words),
            [
                (line(file), "–" if at is None else number(at), line(reason))
                for file, at, reason in self.report.problems
            ],
            self._problems_note(),
            self._settings(),
        )

    def _problems_note(self) -> str:
        shown, n = len(self.report.problems), self.report.unreadable
        return self.words("problems.some", shown=shown, n=n) if shown < n else ""

    def _counts(self, shares: Sequence[float]) -> list[Figure]:
        above = sum(self._reaches(value) for value in shares)
        counts = [
            ("documents", number(len(shares)), ""),
            ("above", number(above), "above"),
            ("with_sources", number(sum(bool(each.sources) for each in self._findings)), ""),
            ("highest", self.words.share(max(shares, default=0.0)), ""),
            ("median", self.words.share(median(shares) if shares else 0.0), ""),
        ]
        return [Figure(self.words(f"count.{name}"), shown, key) for name, shown, key in counts]

    def _said(self) -> list[str]:
        words, report = self.words, self.report
        said = [words("said.among" if report.copying.among else "said.against")]
        said.append(words("said.measure"))
        if report.copying.itself:
            said.append(words("said.itself", n=len(report.copying.itself)))
        if report.anonymous:
            said.append(words("said.anonymous"))
        if too_short := report.copying.too_short:
            said.append(words("said.too_short", n=too_short))
        if report.unreadable:
            said.append(words("said.unreadable", n=report.unreadable))
        return said

    def _row(self, at: int) -> DocumentRow:
        finding: Finding = self._findings[at]
        figures, largest = self._figures(finding), finding.sources[:1]
        return DocumentRow(
            number(at + 1),
            line(finding.id),
            self._document_link(at),
            round(figures.share, 6),
            self._reaches(figures.share),
            self.words.share(figures.share),
            self.words.share(figures.unquoted),
            self.words.share(figures.largest),
            line(largest[0].id) if largest else [],
            self._pair_link(at, 1),
            number(len(finding.sources)),
            number(finding.words),
        )

    def _ties(self) -> Ties:
        names = [finding.id for finding in self._findings]
        ties = []
        for at, finding in enumerate(self._findings):
            for rank, source in enumerate(finding.sources, 1):
                place = self._places.of(source)
                names += [""] * (place + 1 - len(names))
                names[place] = source.id
                value = round(source.share, 6)
                ties.append(Tie(at, place, value, self._pair_link(at, rank)))
        return Ties(
            names,
            [round(value, 6) for value in self._shares],
            [self._document_link(at) for at in range(len(self._findings))],
            ties,
            self._reaches,
        )

    def _settings(self) -> list[tuple[Sequence[Piece], Sequence[Piece]]]:
        from neardup._core import __version__

        given = {
            "threshold": f"{self.limit}{self.words.percent_sign}",
            **{name: _setting(value) for name, value in self.report.copying.settings.items()},
            **self.report.settings,
            "version": __version__,
        }
        return [
            (line(self.words.label("setting", name)), line(value))
            for name, value in given.items()
            if value
        ]


def _setting(value: object) -> str:
    """A value for a person; "" for what was not asked for."""
    if value is None or value is False:
        return ""
    if value is True:
        return "✓"
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(str(part) for part in value)
    return str(value)
