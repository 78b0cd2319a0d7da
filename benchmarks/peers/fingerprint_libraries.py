"""The other libraries at work: run by the Python of .venv-peers, spoken to in lines of JSON.

A request is {"task": name, "inputs": [...]}; the answer has the seconds of processor time the
library took for them, and which inputs it could not take.
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
        except OverflowError:  # simhash multiplies weights above 255 into bytes
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
            # The first call pays for tables and caches.
            run(ready[task], request["inputs"][:1])
        print(json.dumps(run(ready[task], request["inputs"])), flush=True)


if __name__ == "__main__":
    main()
