"""Run top-n ranking of other libraries. Runs in .venv-peers, speaks JSON lines.

A request is {"task": name, ...}. "open" names the folder of .npy files with the vectors as a sparse
matrix, and the term counts. Queries are row numbers of the matrix. The response has the CPU seconds
and the scores.
"""

import json
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

TOP, THRESHOLD = 10, 0.3
opened: dict[str, Any] = {}


def open_vectors(folder: str) -> dict[str, Any]:
    import bm25s
    from scipy.sparse import csr_matrix

    load = {name: np.load(Path(folder) / f"{name}.npy") for name in ("starts", "terms", "weights")}
    rows, width = len(load["starts"]) - 1, int(load["terms"].max()) + 1
    matrix = csr_matrix((load["weights"], load["terms"], load["starts"]), shape=(rows, width))
    counts = np.load(Path(folder) / "counts.npy")
    ends = load["starts"]
    words = [np.repeat(load["terms"][a:b], counts[a:b]).tolist() for a, b in pairwise(ends)]
    ranker = bm25s.BM25(backend="numba")
    ranker.index((words, {str(term): term for term in range(width)}), show_progress=False)
    opened.update(matrix=matrix, columns=matrix.T.tocsr(), words=words, ranker=ranker)
    return {"rows": rows}


def sparse_dot_topn(queries: list[int]) -> dict[str, Any]:
    from sparse_dot_topn import sp_matmul_topn

    asked = opened["matrix"][queries]
    started = time.process_time()
    found = sp_matmul_topn(
        asked, opened["columns"], top_n=TOP, threshold=THRESHOLD, sort=True, n_threads=1
    )
    seconds = time.process_time() - started
    scores = [found.data[a:b].tolist() for a, b in pairwise(found.indptr)]
    return {"seconds": seconds, "scores": scores}


def bm25s(queries: list[int]) -> dict[str, Any]:
    # Distinct words: to bm25s a query is a set of words, not a document.
    asked = [[str(word) for word in dict.fromkeys(opened["words"][row])] for row in queries]
    started = time.process_time()
    opened["ranker"].retrieve(asked, k=TOP, n_threads=1, show_progress=False)
    return {"seconds": time.process_time() - started, "scores": []}


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "open": open_vectors,
    "sparse_dot_topn": sparse_dot_topn,
    "bm25s": bm25s,
}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(TASKS[request.pop("task")](**request)), flush=True)


if __name__ == "__main__":
    main()
