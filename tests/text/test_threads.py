"""Threads and processes: the same answers, and no one waits for ever."""

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from helpers.processes import run_alone

TEXTS = [
    f"text {n % 97} the quick brown fox {n} jumps — naïve 我爱自然语言{n % 13}" for n in range(6000)
]
RECIPES = {
    "default": nd.Recipe(),
    "wide": nd.Recipe(bits=512, ngram=2),
    "simhash": nd.Recipe.preset("simhash"),
    "jieba": nd.Recipe.preset("jieba-tfidf"),
    "regex": nd.Recipe(tokens="regex", pattern=r"\w+", weights="tf"),
    "fitted": nd.Recipe(stopwords="en").fit(TEXTS[:100]),
}


def equal(left: nd.Fingerprints, right: nd.Fingerprints) -> bool:
    return np.array_equal(left.values, right.values) and np.array_equal(left.signal, right.signal)


@pytest.mark.parametrize("name", RECIPES)
def test_the_number_of_threads_changes_nothing(name: str) -> None:
    recipe = RECIPES[name]
    expected = [nd.fingerprint(text, recipe) for text in TEXTS[:300]]
    alone = nd.fingerprints(TEXTS, recipe, threads=1)
    assert list(alone)[:300] == expected
    for threads in (None, 2, 8, 64):
        assert equal(nd.fingerprints(TEXTS, recipe, threads=threads), alone)
        assert equal(nd.fingerprints(pa.array(TEXTS), recipe, threads=threads), alone)


def test_fitting_does_not_depend_on_threads() -> None:
    first = nd.Recipe().fit(TEXTS, threads=1)
    for threads in (None, 2, 8):
        assert nd.Recipe().fit(TEXTS, threads=threads).identity == first.identity


@pytest.mark.parametrize("name", RECIPES)
def test_many_python_threads_share_a_recipe(name: str) -> None:
    # A fresh one: all threads meet at its first use.
    recipe = RECIPES[name].replace()
    some = TEXTS[:400]
    expected = nd.fingerprints(some, RECIPES[name], threads=1)
    cosine = nd.similarity(some[0], some[1], RECIPES[name])
    barrier = threading.Barrier(16)

    def work(number: int) -> bool:
        barrier.wait(timeout=30)
        kinds: list[Callable[[], bool]] = [
            lambda: equal(nd.fingerprints(some, recipe), expected),
            lambda: equal(nd.fingerprints(pa.array(some), recipe, threads=2), expected),
            lambda: [nd.fingerprint(text, recipe) for text in some[:100]] == list(expected[:100]),
            lambda: nd.similarity(some[0], some[1], recipe) == cosine,
        ]
        return all(kinds[(number + turn) % len(kinds)]() for turn in range(8))

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(work, range(16), timeout=60)) == [True] * 16


def test_the_interpreter_goes_on_while_the_core_works() -> None:
    text = "the quick brown fox jumps over the lazy dog " * 700_000
    ticks = 0
    done = threading.Event()

    def work() -> None:
        nd.fingerprint(text)
        nd.similarity(text, text)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not done.wait(0.005):
        ticks += 1
    worker.join()
    assert ticks > 10


def test_progress_may_call_back_into_neardup() -> None:
    inner: list[Any] = []

    def progress(done: int, total: int) -> None:
        inner.append(nd.fingerprints(TEXTS[:50], threads=2))
        inner.append(nd.fingerprints(TEXTS[:50]))

    nd.fingerprints(TEXTS, progress=progress)
    assert inner
    assert all(equal(part, inner[0]) for part in inner)


# Run as a program: a child must not import this file by a path it does not know.
FORKED = """
    import multiprocessing, threading, sys
    import neardup as nd
    texts = [f"text {n} naïve 我爱自然语言{n}" for n in range(3000)]
    recipes = [nd.Recipe(), nd.Recipe.preset("jieba-tfidf"), nd.Recipe(stopwords="en").fit(texts)]
    def work(number):
        return [list(nd.fingerprints(texts, recipe, threads=threads))
                for recipe in recipes for threads in (None, 2)]
    if __name__ == "__main__":
        expected = work(0)
        context = multiprocessing.get_context("fork")
        with context.Pool(3) as pool:
            for found in pool.map_async(work, range(6)).get(timeout=40):
                assert found == expected
            # A child has children of its own, and the parent goes on.
            assert work(0) == expected
        def grandchild(queue):
            inner = context.Process(target=lambda: queue.put(work(0) == expected))
            assert work(0) == expected
            inner.start()
            inner.join()
        queue = context.Queue()
        process = context.Process(target=grandchild, args=(queue,))
        process.start()
        assert queue.get(timeout=40)
        process.join(timeout=40)
        assert process.exitcode == 0
"""


def test_forked_children_of_a_parent_that_worked() -> None:
    run_alone(FORKED, seconds=90)


@pytest.mark.parametrize("name", RECIPES)
def test_a_used_recipe_goes_to_a_spawned_process(name: str) -> None:
    recipe = RECIPES[name]
    expected = list(nd.fingerprints(TEXTS[:20], recipe))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(nd.fingerprints, TEXTS[:20], recipe).result(timeout=60)
    assert list(found) == expected
    assert found.recipe == recipe


def test_ctrl_c_stops_a_long_run() -> None:
    code = """
        import os, signal, threading, time
        import neardup as nd
        texts = ["the quick brown fox jumps over the lazy dog " * 200] * 200_000
        nd.fingerprints(texts[:100])
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            nd.fingerprints(texts)
        except KeyboardInterrupt:
            print(time.monotonic() - start)
    """
    assert float(run_alone(code)) < 3


def test_fewer_threads_than_texts_and_more() -> None:
    for count in (1, 2, 3):
        for threads in (1, 2, 8, os.cpu_count(), 64):
            found = nd.fingerprints(TEXTS[:count], threads=threads)
            assert list(found) == [nd.fingerprint(text) for text in TEXTS[:count]]


def test_fork_while_other_threads_work() -> None:
    run_alone(
        """
        import os, signal, sys, threading, time
        import neardup as nd
        texts = [f"text {n} naïve 我爱自然语言{n}" for n in range(2000)]
        expected = list(nd.fingerprints(texts))
        stop = threading.Event()
        def busy():
            while not stop.is_set():
                nd.fingerprints(texts)
        threads = [threading.Thread(target=busy) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(10):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                os._exit(0 if list(nd.fingerprints(texts)) == expected else 1)
            assert os.waitpid(child, 0)[1] == 0, "the child hung or was wrong"
        stop.set()
        """
    )


@pytest.mark.parametrize(
    "first", ["nd.Recipe(tokens='jieba', dictionary=['近似重复 10 n'])", "busy()"]
)
def test_fork_while_a_thread_makes_a_recipe_ready(first: str) -> None:
    run_alone(
        f"""
        import os, signal, threading, time
        import neardup as nd
        def busy():
            nd.fingerprint("我爱北京天安门", nd.Recipe(tokens="jieba"))
        thread = threading.Thread(target=lambda: {first})
        thread.start()
        time.sleep(0.03)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            made = nd.fingerprint("我爱北京天安门", nd.Recipe(tokens="jieba"))
            os._exit(0 if made and nd.fingerprint("the cat sat") else 1)
        assert os.waitpid(child, 0)[1] == 0, "the child hung or was wrong"
        thread.join()
        """
    )
