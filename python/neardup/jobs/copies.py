"""Exact copies: texts that are equal character by character. All others found are near-duplicates.

Only twins can be such: texts that are equal have equal features, and equal fingerprints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.jobs.spool import SpooledCorpus

    Rows = NDArray[np.int64]


def count_copies(corpus: SpooledCorpus, labels: Rows, similarity: NDArray[np.float64]) -> int:
    """How many rows are equal to the one that stands for them.

    labels      for each row the one that stands for it: a row, or a document of a collection
    similarity  of the two; NaN where it is not known
    """
    import numpy as np

    rows = np.flatnonzero(labels[: len(corpus)] != np.arange(len(corpus)))
    kept = labels[rows]
    # A text that is equal is as similar as can be, as far as that was computed.
    likely = ~(similarity[rows] < 1 - 1e-9)
    inside = np.minimum(kept, len(corpus) - 1)
    likely &= (kept >= len(corpus)) | (corpus.lengths[rows] == corpus.lengths[inside])
    rows, kept = rows[likely], kept[likely]
    found, at, text = 0, -1, ""
    # Texts under one label lie side by side, so that each is read once.
    for place in np.argsort(kept, kind="stable").tolist():
        if kept[place] != at:
            at = int(kept[place])
            text = corpus.text_of(at)
        found += corpus.texts.get(int(rows[place])) == text
    return found


def count_copied_pairs(corpus: SpooledCorpus, twins: Rows, *, first_only: bool) -> int:
    """How many pairs of twins are of equal texts: each with each, or with the first of them only.

    twins  for each row the first that says the same
    """
    import numpy as np

    sizes = np.bincount(twins, minlength=len(twins))
    rows = np.flatnonzero(sizes[twins] > 1)
    rows = rows[np.argsort(twins[rows], kind="stable")]
    found, at, first = 0, -1, ""
    seen: dict[int, int] = {}
    for row in rows.tolist():
        if twins[row] != at:
            at = int(twins[row])
            first = corpus.texts.get(at)
            seen = {}
        text = corpus.texts.get(row)
        if first_only:
            found += row != at and text == first
            continue
        # A million versions of a text are not kept in memory: their hashes are told apart.
        key = hash(text)
        found += seen.get(key, 0)
        seen[key] = seen.get(key, 0) + 1
    return found
