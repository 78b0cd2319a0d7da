"""Near-duplicates: which texts are near which. The one place that decides it.

A `question.Question` sets the threshold: a similarity (exact cosine, verified) or a radius (bits of
fingerprints), and a recall. There are three ways to ask:

    all pairs     corpus → join → matches → clusters, keep → dedup, frames
                  A `Corpus` holds sketches or fingerprints; a join finds candidates and its `Judge`
                  computes exact cosines; `Matches` are the result: pairs, clusters, nearest rows.
    one by one    lookup: the documents near a text, in any `LookupCorpus`, such as a Collection
    the best n    ranking, search: the documents most similar to a text, without a threshold

`pairs`, `clusters` and `index` are the same for bare fingerprints. Everything is in memory on this
machine: files are `neardup.jobs`, Spark is `neardup.engines`, a durable index is
`neardup.collection`.
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
]
