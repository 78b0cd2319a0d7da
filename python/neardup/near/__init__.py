"""Near-duplicates: the only package that decides which texts are near which.

A `question.Question` has the threshold: a similarity (exact cosine, verified) or a radius (bits of
fingerprints), and a recall. There are three ways to search:

    all pairs     corpus → join → matches → clusters, keep → dedup, frames
                  A `Corpus` has texts, and sketches or fingerprints; a join finds candidate pairs
                  and its `Judge` computes exact cosines; `Matches` returns pairs, clusters or
                  nearest rows.
                  `templates` says which clusters are records made from one form
    a threshold   lookup: the documents near a text, in any `LookupCorpus`, such as a Collection
    the best n    ranking, search: the documents most similar to a text, without a threshold

`pairs`, `clusters` and `index` do the same with bare fingerprints. Words of this package:

    row, key   a row is a text's number in a corpus in memory, a key that of a stored document
    sketch     a short digest of a text's features; equal parts of two sketches estimate the cosine
    candidate  a pair that sketches or fingerprints suggest, before it is verified
    twin       the first row, in keep order, with identical features (by radius: an equal
               fingerprint). A join compares only rows that are their own twin; the others share
               the result of their twin

Everything runs in memory on this machine: files are `neardup.jobs`, Spark is `neardup.engines`, a
durable index is `neardup.collection`.
"""

__all__ = [
    "clusters",
    "corpus",
    "dedup",
    "frames",
    "index",
    "join",
    "keep",
    "lookup",
    "matches",
    "pairs",
    "question",
    "ranking",
    "search",
    "templates",
]
