"""The kinds of response in captures: what each cluster has in common, a row a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from neardup._util.arrow import numbers, strings, values_of
from neardup.http.labels import Labels, Rule, Seen, seen_of
from neardup.near.clusters import numbered

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.jobs.spool import SpooledCorpus
    from neardup.near.matches import Clusters

    Rows = NDArray[np.int64]

# What a row of a response has beside its cluster.
OF_RESPONSE = ("url", "status", "title", "server", "length")
COLUMNS = (
    *("cluster", "size", "status", "title", "server", "shortest", "longest"),
    *("representative", "url", "hosts", "label", "rule", "similarity"),
)
# Kinds of which views are looked at, or rows made, at a time.
BATCH = 1 << 12


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kinds, the largest first; each array has an element a kind.

    rows        of the representatives
    cluster     its number, as `neardup cluster` has it
    size        responses of this kind
    shortest, longest   lengths of bodies in it, in bytes
    hosts       different hosts; responses whose host is not known do not count
    similarity  the lowest of any response to the representative; NaN where it is alone
    """

    corpus: SpooledCorpus
    labels: Labels
    rows: Rows
    cluster: Rows
    size: Rows
    shortest: Rows
    longest: Rows
    hosts: Rows
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def rules(self) -> NDArray[np.int32]:
        """The number of the rule that labels each in `labels.rules`; -1 where none does."""
        import numpy as np

        found = np.full(len(self), -1, dtype=np.int32)
        for start in range(0, len(self), BATCH):
            found[start : start + BATCH] = self.labels.find(self._seen(start, start + BATCH))
        return found

    def rule(self, at: int) -> Rule | None:
        """The rule that labels a kind, by its place here."""
        number = int(self.rules[at])
        return None if number < 0 else self.labels.rules[number]

    def tables(self) -> Iterator[pa.Table]:
        """All kinds in `COLUMNS`, some at a time."""
        for start in range(0, len(self), BATCH):
            yield self._table(start, min(start + BATCH, len(self)))

    def _seen(self, start: int, stop: int) -> list[Seen]:
        """What rules look at: of the representatives only."""
        rows = self.rows[start:stop]
        columns = self.corpus.facts.take(rows, "status", "title", "server", "content_type")
        return [
            seen_of(
                self.corpus.text_of(row),
                status=status or 0,
                title=title or "",
                server=server or "",
                content_type=kind or "",
            )
            for row, status, title, server, kind in zip(
                rows.tolist(), *(column.to_pylist() for column in columns), strict=True
            )
        ]

    def _table(self, start: int, stop: int) -> pa.Table:
        import numpy as np
        import pyarrow as pa

        rows = self.rows[start:stop]
        facts = self.corpus.facts.take(rows, "status", "title", "server", "url")
        status, title, server, url = facts
        rules = [self.rule(at) for at in range(start, stop)]
        similarity = self.similarity[start:stop]
        values = {
            "cluster": numbers(self.cluster[start:stop]),
            "size": numbers(self.size[start:stop]),
            "status": status,
            "title": title,
            "server": server,
            "shortest": numbers(self.shortest[start:stop]),
            "longest": numbers(self.longest[start:stop]),
            "representative": self.corpus.ids_of(rows),
            "url": url,
            "hosts": numbers(self.hosts[start:stop]),
            "label": strings([None if rule is None else rule.label for rule in rules]),
            "rule": strings([None if rule is None else rule.name for rule in rules]),
            "similarity": numbers(similarity, np.isnan(similarity)),
        }
        return pa.table([values[name] for name in COLUMNS], schema=schema())


def schema() -> pa.Schema:
    """Of the table of kinds."""
    import pyarrow as pa

    kinds = {"similarity": pa.float64()}
    kinds |= dict.fromkeys(
        ("cluster", "size", "status", "shortest", "longest", "hosts"), pa.int64()
    )
    return pa.schema([(name, kinds.get(name, pa.large_string())) for name in COLUMNS])


def kinds_of(corpus: SpooledCorpus, found: Clusters, removed: pa.Table, labels: Labels) -> Kinds:
    """The kinds of response that clusters are.

    removed  as `neardup.dedup.removed_table` has it: how near each is to its representative
    """
    import numpy as np

    own = found.labels
    rows = np.flatnonzero(own == np.arange(len(own)))
    sizes = np.bincount(own, minlength=len(own))
    number = numbered(own)
    rows = rows[np.lexsort((number[rows], -sizes[rows]))]
    lengths = corpus.facts.number("length")
    shortest, longest = lengths.copy(), lengths.copy()
    np.minimum.at(shortest, own, lengths)
    np.maximum.at(longest, own, lengths)
    lowest = np.full(len(own), np.nan)
    under, near = values_of(removed.column("dup_of")), values_of(removed.column("similarity"))
    np.fmin.at(lowest, under, near)
    return Kinds(
        corpus,
        labels,
        rows,
        number[rows],
        sizes[rows],
        shortest[rows],
        longest[rows],
        _hosts(corpus.facts.codes("host"), own)[rows],
        lowest[rows],
    )


def _hosts(hosts: Rows, labels: Rows) -> Rows:
    """How many different hosts there are under each label."""
    import numpy as np

    known = hosts >= 0
    # Both numbers in one, so that a pair is counted once.
    many = int(hosts.max(initial=0)) + 1
    pairs = np.unique(labels[known] * many + hosts[known])
    return np.bincount(pairs // many, minlength=len(labels))
