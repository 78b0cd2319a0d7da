"""Deduplicate a file with rensa's MinHash. Runs in .venv-peers.

    python rensa_minhash.py INPUT.jsonl OUT.jsonl

Word 3-grams, 128 permutations, LSH, first of each group kept, lines copied unchanged: a script as
rensa's own documentation suggests.
"""

import json
import sys
from collections.abc import Iterator

from rensa import RMinHashDeduplicator

WORDS = 3
PERMUTATIONS = 128
# With a tenth of the words replaced, the 3-grams have a Jaccard similarity of 0.57 and the words a
# cosine above 0.85. At 0.8, as in its examples, rensa would miss most copies.
THRESHOLD = 0.5
# Lines per batch, so that not all texts are in memory at once.
BATCH = 2000


def grams(text: str) -> list[str]:
    words = text.split()
    return [" ".join(run) for run in zip(*(words[at:] for at in range(WORDS)), strict=False)]


def batches(path: str) -> Iterator[list[bytes]]:
    with open(path, "rb") as lines:
        while batch := [line for line, _ in zip(lines, range(BATCH), strict=False)]:
            yield batch


def main(source: str, out: str) -> None:
    found = RMinHashDeduplicator(threshold=THRESHOLD, num_perm=PERMUTATIONS, use_lsh=True)
    with open(out, "wb") as kept:
        for batch in batches(source):
            records = (json.loads(line) for line in batch)
            new = found.add_pairs((record["id"], grams(record["text"])) for record in records)
            kept.writelines(line for line, is_new in zip(batch, new, strict=True) if is_new)


if __name__ == "__main__":
    main(*sys.argv[1:])
