"""The report of a check for copying: an overview, a page for each document and each pair.

It is a folder of linked pages, or one file that contains them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from neardup.copying.findings import Copying, DocumentNumbers, Figures, Finding, Source
from neardup.reports.charts import (
    Matrix,
    Shares,
    Tie,
    matrix_chart,
    shares_chart,
    whole_percent,
)
from neardup.reports.comparison import ComparisonReport, Figure, pair_view
from neardup.reports.document import DocumentView, SourceRow, document_view
from neardup.reports.formatting import Piece, line_pieces, line_text, number
from neardup.reports.page import PASSAGES_SCRIPT, Wording, render_page
from neardup.text.comparison import Passage

INDEX = "index.html"
# Documents in the table of the overview; rows of sources of a document.
TABLE_ROWS = 5_000
MAX_SOURCES = 20


@dataclass(frozen=True)
class ReportLimits:
    """How large a report may become.

    documents   most pages of documents
    pairs       most pages of pairs
    characters  most characters of text on all pages; pages beyond it are left out
    each        most characters shown of a text
    """

    documents: int = 2_000
    pairs: int = 3_000
    characters: int = 1_000_000_000
    each: int = 2_000_000


FOLDER = ReportLimits()
# A browser must load it at once.
ONE_FILE = ReportLimits(documents=1_000, pairs=2_000, characters=24_000_000, each=500_000)


@dataclass(frozen=True)
class CopyingReport:
    """The content of the report.

    threshold   the share from which documents are marked; readers can move it
    anonymous   whether the caller has replaced names by numbers; the report says so
    unreadable  number of records that could not be read
    problems    the first of them: file, line, reason
    settings    more settings to list, by name
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
    """A page of the folder, or a section of the one file."""

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
    sentences: Sequence[str]
    shares: Shares
    limit: int
    rows: Sequence[DocumentRow]
    table_notes: Sequence[str]
    matrix: Matrix | None
    problems: Sequence[tuple[Sequence[Piece], str, Sequence[Piece]]]
    problems_note: str
    settings: Sequence[tuple[Sequence[Piece], Sequence[Piece]]]


def render_file(report: CopyingReport) -> Iterator[str]:
    """Yield one page with everything, in pieces."""
    pages = _Pages(report, ONE_FILE, one_file=True)
    return pages.render(line_text(pages.words("title.check")), pages.sheets())


def render_folder(report: CopyingReport) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield name and content of each file, the content in pieces; the first is `INDEX`."""
    pages = _Pages(report, FOLDER, one_file=False)
    for sheet in pages.sheets():
        title = "".join(piece.text for piece in sheet.title)
        yield sheet.anchor, pages.render(title, iter((sheet,)))


class _Pages:
    """The pages of a report and the links between them."""

    def __init__(self, report: CopyingReport, limits: ReportLimits, *, one_file: bool) -> None:
        self.report = report
        self.words = Wording(report.language)
        self.limit = whole_percent(report.threshold)
        self._limits = limits
        self._one_file = one_file
        self._findings = report.copying.findings
        self._shares = [self._figures(finding).share for finding in self._findings]
        shares = self._shares
        # Positions of documents, the highest share first.
        self._ranked = sorted(range(len(shares)), key=lambda at: (-shares[at], at))
        self._places = DocumentNumbers(report.copying)
        self._documents, self._pairs, self._left_out = self._select_pages()

    def _figures(self, finding: Finding) -> Figures:
        """Return figures by characters in Chinese, where the names imply that, else by words."""
        return finding.by_characters if self.words.language == "zh" else finding.figures

    # ---- which pages there are, and their links ----

    def _select_pages(self) -> tuple[set[int], set[tuple[int, int]], int]:
        """Return the documents and pairs that get a page, and how many pairs do not."""
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
        # Pairs with the largest shares first, of all documents.
        for _, at, rank in sorted(wanted):
            finding = self._findings[at]
            texts = finding.text, finding.sources[rank - 1].text
            size = sum(min(len(text), limits.each) for text in texts)
            fits = rank <= MAX_SOURCES and len(pairs) < limits.pairs and size <= room
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
        """Return the prefix of ids of passages: one file has many views."""
        return f"d{at + 1}s{rank}" if self._one_file else ""

    def _passage_link(self, at: int, rank: int, n: int, passage: Passage) -> str:
        page = self._pair_link(at, rank)
        if not page or max(passage.left_start, passage.right_start) >= self._limits.each:
            # The passage is in the part of the text that is not shown.
            return page
        place = f"{self._prefix(at, rank)}l{n}"
        return f"#{place}" if self._one_file else f"{page}#{place}"

    # ---- content of the pages ----

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
        title = line_pieces(self.words("title.check"))
        yield Sheet("overview", top.lstrip("#"), title, self._overview())
        over = (top, line_pieces(self.words("nav.overview")))
        for at in sorted(self._documents):
            yield self._document(at, over)
            finding = self._findings[at]
            for rank, source in enumerate(finding.sources, 1):
                if (at, rank) in self._pairs:
                    yield self._pair(at, rank, source, over)

    def _document(self, at: int, over: tuple[str, Sequence[Piece]]) -> Sheet:
        finding = self._findings[at]
        rows = []
        for rank, source in enumerate(finding.sources[:MAX_SOURCES], 1):
            # A reference text has no page.
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
            "document", self._document_link(at).lstrip("#"), line_pieces(finding.id), view, (over,)
        )

    def _pair(self, at: int, rank: int, source: Source, over: tuple[str, Sequence[Piece]]) -> Sheet:
        finding = self._findings[at]
        compared = ComparisonReport(
            names=(finding.id, source.id),
            texts=(finding.text, source.text),
            passages=source.passages,
            coverage=(source.share, source.own_share),
            similarity=source.similarity,
            # The share of the source is of all its words: rules apply to the checked document only.
            ignored=(finding.ignored, ()),
            equal=source.equal,
            coarse=source.coarse,
        )
        view = pair_view(
            compared, self.words, prefix=self._prefix(at, rank), most=self._limits.each
        )
        title = line_pieces(self.words("title.pair", left=finding.id, right=source.id))
        trail = (over, (self._document_link(at), line_pieces(finding.id)))
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
            self._sentences(),
            shares_chart(shares, self.limit, words),
            self.limit,
            [self._row(at) for at in shown],
            notes,
            self._matrix(),
            [
                (line_pieces(file), "–" if at is None else number(at), line_pieces(reason))
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

    def _sentences(self) -> list[str]:
        words, report = self.words, self.report
        sentences = [words("said.among" if report.copying.among else "said.against")]
        sentences.append(words("said.measure"))
        if report.copying.itself:
            sentences.append(words("said.itself", n=len(report.copying.itself)))
        if report.anonymous:
            sentences.append(words("said.anonymous"))
        if too_short := report.copying.too_short:
            sentences.append(words("said.too_short", n=too_short))
        if report.unreadable:
            sentences.append(words("said.unreadable", n=report.unreadable))
        return sentences

    def _row(self, at: int) -> DocumentRow:
        finding: Finding = self._findings[at]
        figures, largest = self._figures(finding), finding.sources[:1]
        return DocumentRow(
            number(at + 1),
            line_pieces(finding.id),
            self._document_link(at),
            round(figures.share, 6),
            self._reaches(figures.share),
            self.words.share(figures.share),
            self.words.share(figures.unquoted),
            self.words.share(figures.largest),
            line_pieces(largest[0].id) if largest else [],
            self._pair_link(at, 1),
            number(len(finding.sources)),
            number(finding.words),
        )

    def _matrix(self) -> Matrix | None:
        names = [finding.id for finding in self._findings]
        ties = []
        for at, finding in enumerate(self._findings):
            for rank, source in enumerate(finding.sources, 1):
                place = self._places.of(source)
                names += [""] * (place + 1 - len(names))
                names[place] = source.id
                ties.append(Tie(at, place, round(source.share, 6), self._pair_link(at, rank)))
        shares = [round(value, 6) for value in self._shares]
        links = [self._document_link(at) for at in range(len(self._findings))]
        return matrix_chart(ties, names, shares, links, self.limit, self.words)

    def _settings(self) -> list[tuple[Sequence[Piece], Sequence[Piece]]]:
        from neardup._core import __version__

        values = {
            "threshold": f"{self.limit}{self.words.percent_sign}",
            **{name: _setting(value) for name, value in self.report.copying.settings.items()},
            **self.report.settings,
            "version": __version__,
        }
        return [
            (line_pieces(self.words.label("setting", name)), line_pieces(value))
            for name, value in values.items()
            if value
        ]


def _setting(value: object) -> str:
    """Return a value for readers; "" for an option that is off."""
    if value is None or value is False:
        return ""
    if value is True:
        return "✓"
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(str(part) for part in value)
    return str(value)
