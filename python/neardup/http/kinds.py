"""The kinds of response in captures: a table that summarises each cluster in a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from neardup._util.arrow import array_values, number_array, string_array
from neardup.http.labels import rule_input
from neardup.near.clusters import number_clusters

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.http.columns import ResponseColumns
    from neardup.http.labels import Labels, Rule, RuleInput
    from neardup.near.matches import Clusters

    Rows = NDArray[np.int64]

# Columns of a response in the output of `cluster`, beside its cluster.
CLUSTER_COLUMNS = ("url", "status", "title", "server", "length")
# Columns of the table of kinds.
KIND_COLUMNS = (
    *("cluster", "size", "status", "title", "server", "shortest", "longest"),
    *("representative", "url", "hosts", "label", "rule", "similarity"),
)
BATCH_ROWS = 1 << 12


class ResponseCorpus(Protocol):
    """The responses that were clustered: ids, views and columns by row."""

    @property
    def facts(self) -> ResponseColumns: ...

    def ids_of(self, rows: Rows) -> pa.Array: ...

    def text_of(self, row: int) -> str: ...


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kinds of response, the largest first; each array has an element for each kind.

    rows        row of the representative
    cluster     number of the cluster in the output of `neardup cluster`
    size        number of responses
    shortest, longest   lengths of their bodies, in bytes
    hosts       number of distinct known hosts
    similarity  lowest similarity of a response to the representative; NaN for a single response
    """

    corpus: ResponseCorpus
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
        """For each kind the index of its rule in `labels.rules`; -1 if no rule matches."""
        import numpy as np

        found = np.full(len(self), -1, dtype=np.int32)
        for start in range(0, len(self), BATCH_ROWS):
            stop = start + BATCH_ROWS
            found[start:stop] = self.labels.find(self._rule_inputs(start, stop))
        return found

    def rule(self, at: int) -> Rule | None:
        """Return the rule that labels the kind at an index."""
        number = int(self.rules[at])
        return None if number < 0 else self.labels.rules[number]

    def tables(self) -> Iterator[pa.Table]:
        """Yield all kinds in `KIND_COLUMNS`, BATCH_ROWS at a time."""
        for start in range(0, len(self), BATCH_ROWS):
            yield self._table(start, min(start + BATCH_ROWS, len(self)))

    def _rule_inputs(self, start: int, stop: int) -> list[RuleInput]:
        """Return the input of the rules: only representatives are labelled."""
        rows = self.rows[start:stop]
        columns = self.corpus.facts.take(rows, "status", "title", "server", "content_type")
        return [
            rule_input(
                self.corpus.text_of(row),
                status=status or 0,
                title=title or "",
                server=server or "",
                content_type=content_type or "",
            )
            for row, status, title, server, content_type in zip(
                rows.tolist(), *(column.to_pylist() for column in columns), strict=True
            )
        ]

    def _table(self, start: int, stop: int) -> pa.Table:
        import numpy as np
        import pyarrow as pa

        rows = self.rows[start:stop]
        status, title, server, url = self.corpus.facts.take(
            rows, "status", "title", "server", "url"
        )
        rules = [self.rule(at) for at in range(start, stop)]
        similarity = self.similarity[start:stop]
        values = {
            "cluster": number_array(self.cluster[start:stop]),
            "size": number_array(self.size[start:stop]),
            "status": status,
            "title": title,
            "server": server,
            "shortest": number_array(self.shortest[start:stop]),
            "longest": number_array(self.longest[start:stop]),
            "representative": self.corpus.ids_of(rows),
            "url": url,
            "hosts": number_array(self.hosts[start:stop]),
            "label": string_array([None if rule is None else rule.label for rule in rules]),
            "rule": string_array([None if rule is None else rule.name for rule in rules]),
            "similarity": number_array(similarity, np.isnan(similarity)),
        }
        return pa.table([values[name] for name in KIND_COLUMNS], schema=kinds_schema())


def kinds_schema() -> pa.Schema:
    """Return the Arrow schema of the table of kinds."""
    import pyarrow as pa

    types = {"similarity": pa.float64()}
    types |= dict.fromkeys(
        ("cluster", "size", "status", "shortest", "longest", "hosts"), pa.int64()
    )
    return pa.schema([(name, types.get(name, pa.large_string())) for name in KIND_COLUMNS])


def kinds_of_clusters(
    corpus: ResponseCorpus, found: Clusters, removed: pa.Table, labels: Labels
) -> Kinds:
    """Summarise each cluster as a kind of response.

    removed  the table of `removed_rows`: the similarity of each response to its representative
    """
    import numpy as np

    representatives = found.labels
    rows = np.flatnonzero(representatives == np.arange(len(representatives)))
    sizes = np.bincount(representatives, minlength=len(representatives))
    number = number_clusters(representatives)
    rows = rows[np.lexsort((number[rows], -sizes[rows]))]
    lengths = corpus.facts.number("length")
    shortest, longest = lengths.copy(), lengths.copy()
    np.minimum.at(shortest, representatives, lengths)
    np.maximum.at(longest, representatives, lengths)
    lowest = np.full(len(representatives), np.nan)
    np.fmin.at(lowest, array_values(removed["dup_of"]), array_values(removed["similarity"]))
    return Kinds(
        corpus,
        labels,
        rows,
        number[rows],
        sizes[rows],
        shortest[rows],
        longest[rows],
        _count_hosts(corpus.facts.codes("host"), representatives)[rows],
        lowest[rows],
    )


def _count_hosts(hosts: Rows, representatives: Rows) -> Rows:
    """Return the number of distinct hosts of each representative."""
    import numpy as np

    known = hosts >= 0
    # Pack representative and host into one number, so that `unique` counts each pair once.
    base = int(hosts.max(initial=0)) + 1
    pairs = np.unique(representatives[known] * base + hosts[known])
    return np.bincount(pairs // base, minlength=len(representatives))
