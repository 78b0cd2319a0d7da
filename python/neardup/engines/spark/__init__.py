"""Spark: the same answers from DataFrames, on as many machines as there are.

asked       what is asked for, and how large a task may be
storage     where intermediate tables lie; batches: Arrow in tasks; order: bytes to sort by
sketching   texts → fingerprints and sketches; rows: numbers, and equal ones collapsed
buckets     keys as data, pairs of rows that share one; slices: many records to a row of Spark
groups      rows of heavy keys; stars: components linked row by row
components  edges → connected components; texts: texts brought to pairs, and verdicts
matching    near pairs, and who is linked with whom; answers: all that by ids
reference   rows near a reference, and sketches that are kept of one
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
