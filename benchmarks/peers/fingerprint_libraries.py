"""Run SimHash and word segmentation of other libraries. Runs in .venv-peers, speaks JSON lines.

A request is {"task": name, "inputs": [...]}; the response has the CPU seconds and the inputs that
the library could not process.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any


def jieba_words() -> Callable[[str], object]:
    import jieba

    jieba.initialize()
    return jieba.lcut  # type: ignore[no-any-return]


def rjieba_words() -> Callable[[str], object]:
    import rjieba

    return rjieba.cut  # type: ignore[no-any-return]


def simhash() -> Callable[[Any], object]:
    from simhash import Simhash

    return Simhash  # type: ignore[no-any-return]


TASKS = {"jieba": jieba_words, "rjieba": rjieba_words, "simhash": simhash}


def run(work: Callable[[Any], object], inputs: list[Any]) -> dict[str, Any]:
    left_out = set()
    started = time.process_time()
    for at, value in enumerate(inputs):
        try:
            work(value)
        except OverflowError:  # simhash overflows at weights above 255
            left_out.add(at)
    seconds = time.process_time() - started
    if left_out:
        seconds = run(work, [x for at, x in enumerate(inputs) if at not in left_out])["seconds"]
    return {"seconds": seconds, "left_out": sorted(left_out)}


def main() -> None:
    ready: dict[str, Callable[[Any], object]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        task = request["task"]
        if task not in ready:
            ready[task] = TASKS[task]()
            # Warm up: the first call builds tables and caches.
            run(ready[task], request["inputs"][:1])
        print(json.dumps(run(ready[task], request["inputs"])), flush=True)


if __name__ == "__main__":
    main()
