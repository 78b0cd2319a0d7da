"""Run Hamming search and self-join of other libraries. Runs in .venv-peers, speaks JSON lines.

A request is {"task": name, ...} with paths of .npy files of uint64; the response has the CPU
seconds and the number of results.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

APART = Path(__file__).parents[2] / ".venv-peers" / "apart"
indexes: dict[str, Any] = {}


def faiss_add(kind: str, codes: str) -> dict[str, Any]:
    """Build an index: "multihash" of four tables of 16 bits, or "flat", a linear scan."""
    import faiss

    faiss.omp_set_num_threads(1)
    made = (
        faiss.IndexBinaryMultiHash(64, 4, 16) if kind == "multihash" else faiss.IndexBinaryFlat(64)
    )
    rows = octets(codes)
    indexes.clear()
    indexes[kind] = made
    started = time.process_time()
    made.add(rows)
    return {"seconds": time.process_time() - started}


def faiss_search(kind: str, queries: str, radius: int, start: int, end: int) -> dict[str, Any]:
    """Search within a radius; FAISS excludes the radius itself, hence + 1."""
    rows = octets(queries)[start:end]
    started = time.process_time()
    limits, _, _ = indexes[kind].range_search(rows, radius + 1)
    return {"seconds": time.process_time() - started, "found": int(limits[-1])}


def find_all(codes: str, blocks: int, radius: int) -> dict[str, Any]:
    """Run the self-join of simhash-pybind."""
    sys.path.insert(0, str(APART))
    import simhash

    values = np.load(codes).ravel().tolist()
    started = time.process_time()
    found = simhash.find_all(values, blocks, radius)
    return {"seconds": time.process_time() - started, "found": len(found)}


def octets(path: str) -> Any:
    codes = np.load(path)
    return codes.view(np.uint8).reshape(len(codes), -1)


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "faiss-add": faiss_add,
    "faiss-search": faiss_search,
    "find-all": find_all,
}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(TASKS[request.pop("task")](**request)), flush=True)


if __name__ == "__main__":
    main()
