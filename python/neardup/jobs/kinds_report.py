"""The kinds of response that a job has found → their page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup._util.arrow import array_values
from neardup.http.kinds import Kinds
from neardup.jobs.job import Job
from neardup.jobs.report import PROBLEMS, said_of, settings_of
from neardup.reports.kinds import (
    FacetColumns,
    Facets,
    KindsReport,
    Member,
    SampleResponse,
    ShownKind,
    render_kinds,
)
from neardup.reports.page import language_of_locale
from neardup.reports.views import ResponseView

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.matches import Clusters

    Rows = NDArray[np.int64]

# Kinds on a page, unless the caller says how many; a browser opens so many in a moment.
KINDS = 10_000
# The part of them that is for those alone, even if there are more of others.
ALONE = 0.2
# Kinds with samples: the largest, and some of those alone.
SAMPLES, ALONE_SAMPLES = 200, 100
# Responses listed of a kind.
MEMBERS = 8
# Characters of a view: the page shows fewer.
CHARACTERS = 50_000
# Sentences of other reports that say nothing here.
UNSAID = ("said.read", "said.exact_cluster")


def write_kinds_report(
    job: Job, corpus: SpooledCorpus, kinds: Kinds, found: Clusters, removed: pa.Table
) -> None:
    """The page a person looks at.

    removed  a table of `removed_rows`: how near each is to its representative
    """
    from neardup.files import writing

    path = job.options.report
    assert path is not None  # noqa: S101
    job.options.progress.stage("writing the report", None, "kinds")
    report = _Page(job, corpus, kinds, found, removed).report()
    with writing.open_new(path) as file:
        for piece in render_kinds(report):
            file.write(piece.encode())
    job.summary.files.append(str(path))


@dataclass(frozen=True)
class _Known:
    """What the tables have of the kinds on the page, in their order."""

    status: list[int | None]
    title: list[str | None]
    server: list[str | None]
    url: list[str | None]


class _Page:
    def __init__(
        self,
        job: Job,
        corpus: SpooledCorpus,
        kinds: Kinds,
        found: Clusters,
        removed: pa.Table,
    ) -> None:
        import numpy as np

        self._job, self._kinds, self._corpus = job, kinds, corpus
        self._labels = found.labels
        # How near each response is to its representative; those that are one have no number.
        self._similarity = np.full(len(found.labels), np.nan)
        self._similarity[array_values(removed.column("row"))] = array_values(
            removed.column("similarity")
        )
        asked = job.options.report_clusters
        self._places = chosen(kinds.size, KINDS if asked is None else asked)

    def report(self) -> KindsReport:
        job, corpus = self._job, self._corpus
        settings = settings_of(job)
        if job.viewing is not None and job.viewing.within:
            settings = {"within": job.viewing.within, **settings}
        return KindsReport(
            responses=len(self._labels),
            kind_count=len(self._kinds),
            alone=int((self._kinds.size == 1).sum()),
            kinds=list(self._shown()),
            facets=self._facets(),
            language=job.options.lang or language_of_locale(),
            said=[said for said in said_of(job) if said.name not in UNSAID],
            settings=settings,
            problems=corpus.problems(PROBLEMS),
            problem_count=corpus.unreadable,
        )

    def _shown(self) -> Iterator[ShownKind]:
        import numpy as np

        kinds = self._kinds
        names = ("status", "title", "server", "url")
        columns = self._corpus.facts.take(kinds.rows[self._places], *names)
        known = _Known(*(column.to_pylist() for column in columns))
        sampled = set(sampled_of(kinds.size[self._places]).tolist())
        for place, at in enumerate(self._places.tolist()):
            rule = kinds.rule(at)
            row = int(kinds.rows[at])
            lowest = float(kinds.similarity[at])
            members, sample = self._members(row) if place in sampled else ([], None)
            yield ShownKind(
                number=int(kinds.cluster[at]),
                size=int(kinds.size[at]),
                status=known.status[place] or 0,
                title=known.title[place] or "",
                server=known.server[place] or "",
                label="" if rule is None else rule.label,
                rule="" if rule is None else rule.name,
                why="" if rule is None else rule.why,
                shortest=int(kinds.shortest[at]),
                longest=int(kinds.longest[at]),
                hosts=int(kinds.hosts[at]),
                lowest=None if np.isnan(lowest) else lowest,
                id=self._corpus.id_of(row),
                url=known.url[place] or "",
                members=members,
                sample=sample,
            )

    def _members(self, root: int) -> tuple[list[Member], SampleResponse]:
        """Some responses of a kind, from the least like its representative to the most."""
        import numpy as np

        rows = np.flatnonzero(self._labels == root)
        rows = rows[rows != root]
        rows = rows[np.argsort(self._similarity[rows], kind="stable")]
        some = rows[spread(len(rows), MEMBERS - 1)]
        urls = self._corpus.facts.take(np.append(root, some), "url")[0].to_pylist()
        members = [
            Member(self._corpus.id_of(row), url or "", None if row == root else near)
            for row, url, near in zip(
                [root, *some.tolist()],
                urls,
                self._similarity[np.append(root, some)].tolist(),
                strict=True,
            )
        ]
        first = self._view(members[0], root)
        other = self._view(members[1], int(some[0])) if len(some) else None
        return members, SampleResponse(first, other)

    def _view(self, member: Member, row: int) -> ResponseView:
        text = self._corpus.text_of(row)
        return ResponseView(member.id, member.url, text[:CHARACTERS], len(text), member.similarity)

    def _facets(self) -> Facets:
        import numpy as np

        kinds = self._kinds
        # For each response the place of its kind on the page.
        place = np.full(len(self._labels), -1, dtype=np.int64)
        place[kinds.rows[self._places]] = np.arange(len(self._places))
        columns = FacetColumns(place[self._labels], len(self._places))
        labels = [kinds.rule(at) for at in self._places.tolist()]
        columns.add_of_kinds("label", ["" if rule is None else rule.label for rule in labels])
        for name in ("status", "title", "server", "host"):
            columns.add(name, self._corpus.facts.column(name))
        return columns.facets()


def chosen(sizes: Rows, most: int) -> Rows:
    """The places of kinds that are shown: the largest, and some alone from all over the capture.

    sizes  of the kinds, the largest first
    """
    import numpy as np

    if len(sizes) <= most:
        return np.arange(len(sizes))
    last = min(int((sizes == 1).sum()), int(most * ALONE))
    head = most - last
    # Kinds of one response are the last of all.
    rest = np.flatnonzero(sizes[head:] == 1) + head
    return np.concatenate((np.arange(head), rest[spread(len(rest), last)]))


def sampled_of(sizes: Rows) -> Rows:
    """The places of kinds of which samples are shown."""
    import numpy as np

    large, alone = np.flatnonzero(sizes > 1)[:SAMPLES], np.flatnonzero(sizes == 1)
    return np.concatenate((large, alone[spread(len(alone), ALONE_SAMPLES)]))


def spread(count: int, most: int) -> Rows:
    """Places among so many, the first and the last among them, at even distances."""
    import numpy as np

    if count <= most:
        return np.arange(count)
    return np.linspace(0, count - 1, most).astype(np.int64)
