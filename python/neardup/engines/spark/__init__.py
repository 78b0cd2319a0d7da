"""Near-duplicates on Spark, for DataFrames and for jobs, with the answers of the local engine.

The public functions take and return DataFrames (answers). The path of rows through them:

    request       arguments, checked, and the sizes of tasks
    rows          texts → sketches and fingerprints; numbers, equal rows collapsed
    buckets       rows that share a key are compared in one task → candidates;
                  packed_keys: many records in one row of Spark
    judging       texts of candidates, and exact verdicts
    dense_groups  rows of dense buckets, such as copies of a template, compared by their texts
    matching      near pairs → clusters; components: connected components of edges

`arrow` has columns and sort keys for tasks, `storage` the intermediate tables. Tasks are classes
named `…Task`, run by `mapInArrow`: workers unpickle them by module path, so they need the same
neardup as the driver.

Jobs with --engine spark use the rest: `session` opens Spark, after `probe` has checked that it
responds; `read_driver` and `read_worker` read files on workers; `engine` runs the joins of
`neardup.near` on the keys above. `errors` turns stack traces of Spark into one sentence.
"""

from neardup.engines.spark.answers import (
    Compared,
    Deduplicated,
    against,
    clusters,
    dedup,
    pairs,
    sketches,
)
from neardup.engines.spark.request import Limits
from neardup.engines.spark.rows import fingerprint

__all__ = [
    "Compared",
    "Deduplicated",
    "Limits",
    "against",
    "clusters",
    "dedup",
    "fingerprint",
    "pairs",
    "sketches",
]
