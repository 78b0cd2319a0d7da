"""One index, many threads; and a forked process."""

import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup as nd
from helpers.processes import run_alone
from reference import neighbours as naive
from reference.neighbours import flip, same


def code_of(number: int) -> int:
    """The fingerprint that goes with an id, whoever adds it: a hit can be judged alone."""
    centre = (number // 8 + 1) * 0x9E3779B97F4A7C15 % 2**64
    centre = (centre ^ centre >> 29) * 0xBF58476D1CE4E5B9 % 2**64
    # Of eight neighbours two are equal, the others one to three bits apart.
    return flip(centre, range(number % 8 // 2))


KEPT = 4000
ROUNDS = 25


def test_many_threads_at_once(tmp_path: Path) -> None:
    """What was added before is always found, and no hit is ever wrong."""
    index = nd.Index()
    kept = list(range(KEPT))
    index.add([code_of(i) for i in kept], kept)
    barrier = threading.Barrier(8)

    def check(found: list[tuple[int, Any, int]], queries: list[int], radius: int) -> None:
        for query, number, distance in found:
            assert (code_of(number) ^ queries[query]).bit_count() == distance <= radius
        assert len({row[:2] for row in found}) == len(found)

    def own(worker: int, turn: int) -> list[int]:
        start = 10**6 * (worker + 1) + 400 * turn
        return list(range(start, start + 400))

    def add_and_remove(worker: int) -> None:
        for turn in range(ROUNDS):
            ids = own(worker, turn)
            codes = [code_of(i) for i in ids]
            if turn % 2:
                index.add(codes, ids)
            else:
                for number, code in zip(ids, codes, strict=True):
                    index.add(code, number)
            found = naive.table_rows(index.search(codes, 3))
            check(found, codes, 3)
            assert {(q, i) for q, i, distance in found if distance == 0} >= set(enumerate(ids))
            with pytest.raises(ValueError, match=str(ids[-1])):
                index.add(codes[-1], ids[-1])
            assert index.remove(ids[::2]) == len(ids) // 2
            assert not any(i in index for i in ids[::2])
            assert {i for _, i, _ in naive.table_rows(index.search(codes, 0))}.isdisjoint(ids[::2])

    def search(worker: int) -> None:
        rng = random.Random(worker)
        for turn in range(2 * ROUNDS):
            some = rng.sample(kept, 300)
            queries = [flip(code_of(i), rng.sample(range(64), 2)) for i in some]
            found = naive.table_rows(index.search(queries, 3, threads=1 + turn % 2))
            check(found, queries, 3)
            assert {(query, i) for query, i, _ in found} >= set(enumerate(some))
            assert index.contains(queries, 2).all()
            near = naive.table_rows(index.nearest(queries, 1))
            assert [query for query, _, _ in near] == list(range(len(queries)))
            check(near, queries, 2)
            assert all(index[i] == code_of(i) for i in some[:20])

    def save(worker: int) -> None:
        path = tmp_path / f"{worker}.index"
        for turn in range(ROUNDS // 2):
            if turn % 4 == 3:
                index.compact()
            index.save(path)
            opened = nd.Index.open(path)
            opened.verify()
            ids: list[Any] = list(opened)
            assert ids == sorted(set(ids))
            assert ids[:KEPT] == kept
            assert len(ids) == len(opened)
            some = ids[:: max(1, len(ids) // 200)]
            assert all(opened[i] == code_of(i) for i in some)
            assert opened.contains([code_of(i) for i in some]).all()

    def iterate(_: int) -> None:
        for _ in range(ROUNDS):
            assert set(index) >= set(kept)
            assert len(index) >= KEPT

    work = [add_and_remove, add_and_remove, add_and_remove, search, search, save, save, iterate]

    failures: list[BaseException] = []

    def run(worker: int) -> None:
        try:
            barrier.wait(timeout=60)
            work[worker](worker)
        except BaseException as failure:
            failures.append(failure)

    # Daemons: threads that wait for each other would otherwise keep the tests from ending.
    threads = [threading.Thread(target=run, args=(at,), daemon=True) for at in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive(), "the threads wait for each other"
    if failures:
        raise failures[0]
    left = [i for worker in range(3) for turn in range(ROUNDS) for i in own(worker, turn)[1::2]]
    same(index, {i: code_of(i) for i in kept + left})


def test_the_interpreter_goes_on_while_the_core_searches() -> None:
    index = nd.Index()
    codes = np.random.default_rng(1).integers(0, 2**64, 300_000, dtype=np.uint64)
    index.add(codes)
    done = threading.Event()

    def work() -> None:
        index.search(codes[:300], 20)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    ticks = 0
    while not done.wait(0.002):
        ticks += 1
    worker.join()
    assert ticks > 5


def test_a_forked_child_searches_and_adds() -> None:
    run_alone(
        """
        import os, signal
        import numpy as np
        import neardup as nd
        codes = np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64)
        index = nd.Index()
        index.add(codes)
        expected = index.search(codes[:2000], 6)
        for _ in range(3):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                right = index.search(codes[:2000], 6) == expected
                index.add(codes)
                index.remove(np.arange(20_000, 40_000))
                os._exit(0 if right and index.search(codes[:2000], 6) == expected else 1)
            assert os.waitpid(child, 0)[1] == 0, "the child hung or was wrong"
        """
    )
