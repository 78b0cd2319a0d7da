"""Templates: clusters of records made from one form with other fields.

Weather reports, dividend notices, log lines, variants of a product: near-duplicates by their words,
yet each says something of its own. The members of a template differ in the same places, its fields;
copies that were edited differ in other places each.

    clusters → some members of each → form of each template → values of its fields in every member

The core aligns the members of a cluster; `neardup_core::templates` has the rules. A cluster too
small to show a form is a template if its members fit the form of another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup import _core
from neardup.near.matches import EXACT_SIMILARITY, Clusters
from neardup.text.comparison import DEFAULT_SIMILARITY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.near.corpus import Judge, Rows
    from neardup.near.question import Linkage, Question

# Stands for a field in a form, as in the output of template miners.
PLACEHOLDER = "<*>"
# Different members that a template has at least.
MIN_MEMBERS = 4
# Members of a cluster that are aligned to find its form.
SAMPLE_MEMBERS = 50
# Members read to find templates that nobody asked for: this many, or one in so many rows.
TOLD_MEMBERS = 10_000
TOLD_SHARE = 10
# Members of a template that are read for the values of its fields.
SHOWN_MEMBERS = 50


@dataclass(frozen=True)
class Template:
    """A cluster of records made from one form.

    row      its representative
    records  number of records, with the representative
    parts    the text of the representative before, between and behind its fields
    fields   for each field some of its values, that of the representative first
    """

    row: int
    records: int
    parts: tuple[str, ...]
    fields: tuple[tuple[str, ...], ...]

    @property
    def form(self) -> str:
        """The text of the representative with `<*>` for each field."""
        return PLACEHOLDER.join(self.parts)


@dataclass(frozen=True, eq=False)
class Templates:
    """The templates among clusters.

    looked_at  number of the largest clusters, if only these were looked at
    labels   the representative of each row, before clusters are split
    roots    their representatives, ascending
    sizes    number of records of each
    form_of  the place of its form in `forms`; clusters may share one
    """

    looked_at: int | None
    labels: Rows
    roots: Rows
    sizes: Rows
    form_of: NDArray[np.uint32]
    forms: list[_core.Form]

    def __len__(self) -> int:
        return len(self.roots)

    @property
    def records(self) -> int:
        """The number of records in all templates."""
        return int(self.sizes.sum())

    def split(
        self,
        clusters: Clusters,
        judge: Judge,
        question: Question,
        linkage: Linkage,
        order: Rows | None,
    ) -> Clusters:
        """Return the clusters with members of a template apart unless all their fields are equal.

        The first of equal members in keep order represents them. With "star" linkage those that are
        not near it are represented by the first of them in the same way, and so on.
        """
        import numpy as np

        labels, count = clusters.labels.copy(), len(clusters.labels)
        form = np.full(count, -1)
        form[self.roots] = self.form_of
        inside = labels < count
        rows = np.flatnonzero(inside)[form[labels[inside]] >= 0]
        values = _core.field_values(
            self.forms,
            judge.corpus.texts,
            rows.astype(np.uint32),
            form[labels[rows]].astype(np.uint32),
            judge.threads,
        )
        place = np.arange(count)
        if order is not None:
            place[order] = np.arange(count)
        by_values = np.lexsort((place[rows], values, labels[rows]))
        rows, keys = rows[by_values], (labels[rows][by_values], values[by_values])
        # Rows of one number are equal members.
        equal = np.zeros(len(rows), dtype=np.int64)
        equal[1:] = np.cumsum(np.logical_or(*(key[1:] != key[:-1] for key in keys)))
        similarity, distance = clusters.similarity.copy(), clusters.distance.copy()
        while len(rows):
            first = np.flatnonzero(np.diff(equal, prepend=-1))
            kept = np.repeat(rows[first], np.diff(first, append=len(rows)))
            moved = (kept != labels[rows]) & (kept != rows)
            labels[rows] = kept
            rows, kept, equal = rows[moved], kept[moved], equal[moved]
            similarity[rows], distance[rows] = judge.verdicts(kept, rows)
            if linkage == "connected":
                break
            near = similarity[rows] >= (question.similarity or 0)
            if question.radius is not None:
                near = distance[rows] <= question.radius
                if "order" in question.distinguish:
                    near &= judge.agreement(kept, rows) >= DEFAULT_SIMILARITY
            rows, equal = rows[~near], equal[~near]
        return Clusters(labels, similarity, distance)

    def largest(self, texts: _core.Texts, most: int, samples: int) -> list[Template]:
        """Return the templates with the most records, each with some values of its fields."""
        import numpy as np

        largest = np.argsort(-self.sizes, kind="stable")[:most].tolist()
        # The rows of each cluster side by side, ascending.
        rows = np.argsort(self.labels, kind="stable")
        labels = self.labels[rows]
        bounds = zip(
            *(np.searchsorted(labels, self.roots, side).tolist() for side in ("left", "right")),
            strict=True,
        )
        members = [rows[start:end] for start, end in bounds]
        return [self._template(at, members[at], texts, samples) for at in largest]

    def _template(self, at: int, rows: Rows, texts: _core.Texts, samples: int) -> Template:
        import numpy as np

        form, root = self.forms[self.form_of[at]], int(self.roots[at])
        parts, values = form.cut(texts.get(root))
        # An empty field stands right behind a word.
        spaced = [
            part if value or not part else f"{part} "
            for part, value in zip(parts, values, strict=False)
        ]
        fields: list[dict[str, None]] = [{value: None} for value in values]
        for row in rows[np.linspace(0, len(rows) - 1, min(len(rows), SHOWN_MEMBERS)).astype(int)]:
            for known, value in zip(fields, form.cut(texts.get(int(row)))[1], strict=False):
                known.setdefault(value)
        return Template(
            root,
            int(self.sizes[at]),
            (*spaced, parts[-1]),
            tuple(tuple(known)[:samples] for known in fields),
        )


def find_templates(
    labels: Rows,
    similarity: NDArray[np.float64],
    texts: _core.Texts,
    *,
    threads: int | None = None,
    told: bool = False,
) -> Templates:
    """Return which clusters are templates.

    labels      the representative of each row
    similarity  with it, where it is known; NaN elsewhere
    told        look at the largest clusters only, in a small part of the time of a join
    """
    import numpy as np

    # A label beyond the rows is a document of a collection, whose text is elsewhere.
    rows = np.flatnonzero(labels < len(labels))
    sizes = np.bincount(labels[rows], minlength=len(labels))
    # Equal words say nothing about fields; without them a sample has more that do.
    copies = (similarity >= EXACT_SIMILARITY) & (labels != np.arange(len(labels)))
    rows = rows[(sizes[labels[rows]] > 1) & ~copies[rows]]
    sample = _Sample.of(rows, labels)
    clusters = len(sample.roots)
    if told:
        sample = sample.largest(sizes, max(TOLD_MEMBERS, len(labels) // TOLD_SHARE))
    large = np.diff(sample.ends, prepend=0) >= MIN_MEMBERS
    own = iter(_core.find_forms(texts, *sample.take(large), threads))
    found = [next(own) if is_large else None for is_large in large.tolist()]
    forms = list(dict.fromkeys(form for form in found if form is not None))
    numbers = {form: at for at, form in enumerate(forms)}
    form_of = np.array([-1 if form is None else numbers[form] for form in found], dtype=np.int64)
    rest = (form_of < 0) & (np.diff(sample.ends, prepend=0) > 1)
    if forms and rest.any():
        fitted = _core.fit_forms(forms, texts, *sample.take(rest), threads)
        form_of[rest] = [-1 if at is None else at for at in fitted]
    chosen = form_of >= 0
    roots = sample.roots[chosen]
    looked_at = len(sample.roots) if len(sample.roots) < clusters else None
    return Templates(
        looked_at, labels, roots, sizes[roots], form_of[chosen].astype(np.uint32), forms
    )


@dataclass(frozen=True, eq=False)
class _Sample:
    """Some rows of each cluster, its representative first; `ends` has the end of each cluster."""

    rows: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    roots: Rows

    @classmethod
    def of(cls, rows: Rows, labels: Rows) -> _Sample:
        import numpy as np

        rows = rows[np.lexsort((rows, labels[rows] != rows, labels[rows]))]
        roots, first, counts = np.unique(labels[rows], return_index=True, return_counts=True)
        size = np.repeat(counts, counts)
        # Evenly: a row is taken where the share of rows before it passes a multiple of 1 / SAMPLE.
        at = np.arange(len(rows)) - np.repeat(first, counts)
        taken = (size <= SAMPLE_MEMBERS) | (
            at * SAMPLE_MEMBERS // size != (at - 1) * SAMPLE_MEMBERS // size
        )
        ends = np.cumsum(np.minimum(counts, SAMPLE_MEMBERS))
        return cls(rows[taken].astype(np.uint32), ends.astype(np.uint32), roots)

    def largest(self, sizes: Rows, most: int) -> _Sample:
        """Return the largest clusters that have at most so many rows in all."""
        import numpy as np

        counts = np.diff(self.ends, prepend=np.uint32(0)).astype(np.int64)
        order = np.argsort(-sizes[self.roots], kind="stable")
        chosen = np.zeros(len(order), dtype=bool)
        chosen[order[np.cumsum(counts[order]) <= most]] = True
        return _Sample(*self.take(chosen), self.roots[chosen])

    def take(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the rows and ends of some of the clusters."""
        import numpy as np

        counts = np.diff(self.ends, prepend=np.uint32(0))
        return self.rows[np.repeat(chosen, counts)], np.cumsum(counts[chosen], dtype=np.uint32)
