"""A job → its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.jobs.job import Job
from neardup.reports import JobReport, Shown, ShownCluster, render

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.jobs.spool import Corpus
    from neardup.near.matches import Clusters, Matches

    Rows = NDArray[np.int64]

CLUSTERS = 25
MEMBERS = 6
CHARACTERS = 20_000
PROBLEMS = 50


def write_report(job: Job, corpus: Corpus, matches: Matches, found: Clusters) -> None:
    """The page a person looks at: counts, settings, distances, the largest clusters."""
    import numpy as np

    from neardup import sinks

    path, labels = job.options.report, found.labels
    assert path is not None  # noqa: S101
    sizes = np.bincount(labels, minlength=len(labels))
    roots = np.flatnonzero(sizes > 1)
    largest = roots[np.argsort(-sizes[roots], kind="stable")][:CLUSTERS]
    lengths, how_many = np.unique(sizes[roots], return_counts=True)
    summary = job.summary
    verified = summary.similarity is not None
    report = JobReport(
        title=f"neardup {summary.job}",
        summary=_counts(job),
        settings=_settings(job),
        distances=matches.counts.distances,
        threshold=summary.radius,
        similarities=matches.counts.similarities if verified else None,
        similarity_threshold=summary.similarity,
        sizes=list(zip(lengths.tolist(), how_many.tolist(), strict=True)),
        clusters=[_cluster(job, corpus, matches, found, int(root)) for root in largest],
        cluster_count=len(roots),
        problems=corpus.problems(PROBLEMS),
        problem_count=corpus.unreadable,
    )
    with sinks.open_new(path) as file:
        file.write(render(report).encode())
    summary.files.append(str(path))


def _counts(job: Job) -> dict[str, object]:
    found = job.summary
    names = ["read", "unreadable", "no_signal", "candidates", "verified", "pairs", "clusters"]
    if job.against or job.collections:
        names.insert(1, "reference")
    if found.kept is not None:
        names += ["kept", "removed"]
    return {name: getattr(found, name) for name in names}


def _settings(job: Job) -> dict[str, str]:
    found, compared = job.summary, [*job.against, *job.collections]
    plan = found.plan
    return {
        "inputs": ", ".join(job.inputs[:10]) + (", …" if len(job.inputs) > 10 else ""),
        **({"against": ", ".join(compared[:10])} if compared else {}),
        "similarity": "not verified" if found.similarity is None else f"{found.similarity:g}",
        **({} if found.radius is None else {"radius": f"{found.radius} of {job.recipe.bits} bits"}),
        "recall": f"{found.recall:g}",
        "method": str(plan.get("method", "")),
        "linkage": job.linkage,
        "keep": str(job.keep),
        "recipe": found.recipe,
    }


def _cluster(
    job: Job, corpus: Corpus, matches: Matches, found: Clusters, root: int
) -> ShownCluster:
    import numpy as np

    members = np.flatnonzero(found.labels == root)
    others = members[members != root]
    similarity, distance = found.similarity[others], found.distance[others]
    if np.isnan(similarity).any():
        similarity, distance = matches.judge.verdicts(np.full(len(others), root), others)
    # The least similar first: those are worth a look.
    order = np.argsort(similarity, kind="stable")[: MEMBERS - 1]
    shown = [_shown(corpus, root, root, None, 0)]
    shown += [
        _shown(corpus, int(others[at]), root, float(similarity[at]), int(distance[at]))
        for at in order
    ]
    wanted = job.summary.similarity
    weakest = float(similarity.min()) if len(similarity) else None
    chained = wanted is not None and weakest is not None and weakest < wanted
    return ShownCluster(len(members), shown, weakest if chained else None)


def _shown(corpus: Corpus, row: int, root: int, similarity: float | None, distance: int) -> Shown:
    text = corpus.text_of(row)
    coded = all(at >= len(corpus) or corpus.signal[at] for at in (row, root))
    return Shown(
        corpus.id_of(row),
        text[:CHARACTERS],
        len(text),
        distance if coded else None,
        similarity,
        row == root,
    )
