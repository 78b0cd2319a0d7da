"""Speed of fingerprints: compared with wc and other libraries, and on two threads."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

import neardup as nd
from measure import (
    Rounds,
    Row,
    at_least,
    by_turns,
    core_seconds,
    megabytes,
    portions,
    seconds,
    size,
)
from neardup.compat.simhash import Simhash
from peers.environment import PeerProcess

ROOT = Path(__file__).parents[2]
CORES = os.cpu_count() or 1


@dataclass(frozen=True)
class Texts:
    """Texts of all sections about speed."""

    english: list[str]
    chinese: list[str]
    poems: list[str]
    rounds: int


def default(texts: Texts) -> Iterator[Row]:
    """Compare the default recipe with counting words, and two threads with one."""
    recipe = nd.Recipe()
    column = pa.array(texts.english)
    bytes_in = size(texts.english)
    kinds = {"an Arrow column": column, "a list of str": texts.english}
    wc = shutil.which("wc")
    for kind, inputs in kinds.items():
        if wc:
            found = _against_wc(wc, texts, partial(_speed, inputs, recipe, bytes_in))
            yield at_least(
                f"default recipe, English, {kind}, one thread",
                megabytes(max(found.ours)),
                f"wc -w: {megabytes(max(found.theirs))}",
                found.best_ratio,
                1.0,
            )
        else:
            speed = max(_speed(inputs, recipe, bytes_in) for _ in range(texts.rounds))
            what = f"default recipe, English, {kind}, one thread; wc is not installed"
            yield Row(what, megabytes(speed))
        yield from _two_threads(f"default recipe, English, {kind}", inputs, recipe, bytes_in, texts)


def _against_wc(wc: str, texts: Texts, ours: Callable[[], float]) -> Rounds:
    with tempfile.NamedTemporaryFile() as file:
        file.write("\n".join(texts.english).encode())
        file.flush()
        bytes_in = os.path.getsize(file.name)
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}

        def count() -> float:
            before = _children_seconds()
            command = [wc, "-w", file.name]
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
            return bytes_in / (_children_seconds() - before)

        return by_turns(2 * texts.rounds, ours, count)


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _speed(inputs: Any, recipe: nd.Recipe, bytes_in: int) -> float:
    """Return bytes per CPU second on one thread."""
    return bytes_in / core_seconds(nd.fingerprints, inputs, recipe, threads=1)


def _two_threads(
    what: str, inputs: Any, recipe: nd.Recipe, bytes_in: int, texts: Texts
) -> Iterator[Row]:
    def speed(threads: int) -> float:
        return bytes_in / seconds(nd.fingerprints, inputs, recipe, threads=threads)

    if CORES >= 2:
        found = by_turns(2 * texts.rounds, partial(speed, 2), partial(speed, 1))
        yield found.row(f"{what}, two threads", "one thread", 1.7)


def cores(texts: Texts) -> Iterator[Row]:
    """Measure the ceiling for a second thread on this machine: work that shares nothing."""
    data = bytes(100_000_000)

    def speed(threads: int) -> float:
        with ThreadPoolExecutor(threads) as pool:
            took = seconds(lambda: list(pool.map(hashlib.sha256, [data] * threads)))
        return threads * len(data) / took

    if CORES >= 2:
        found = by_turns(2 * texts.rounds, partial(speed, 2), partial(speed, 1))
        yield Row(
            "ceiling for two threads: SHA-256 of separate data",
            "",
            f"{megabytes(statistics.median(found.ours))}, "
            f"one thread: {megabytes(statistics.median(found.theirs))}",
            found.ratio,
        )


def simhash(texts: Texts) -> Iterator[Row]:
    """Compare the preset `simhash` and the drop-in class with PyPI simhash."""
    xxh3 = nd.Recipe.preset("simhash", hash="xxh3")
    md5 = nd.Recipe.preset("simhash")
    words = [text.split() for text in texts.english]
    cases: list[tuple[str, Callable[[list[Any]], object], Sequence[Any], float | None]] = [
        ("preset simhash with xxh3", _fingerprints(xxh3), texts.english, 150),
        ("preset simhash with its md5", _fingerprints(md5), texts.english, 20),
        ("compat.simhash.Simhash(text)", _each(Simhash), texts.english, None),
        ("compat.simhash.Simhash(list of words)", _each(Simhash), words, None),
    ]
    with PeerProcess() as peers:
        for what, ours, inputs, target in cases:
            yield _against(peers, "simhash", ours, inputs, 400_000, texts.rounds).row(
                f"{what}, English", "simhash.Simhash", target
            )


def jieba(texts: Texts) -> Iterator[Row]:
    """Compare fingerprints of jieba words with segmentation alone."""
    recipe = nd.Recipe(tokens="jieba")
    with PeerProcess() as peers:
        for task, peer, portion, target in (
            ("jieba", "Python jieba.lcut alone", 300_000, 25.0),
            ("rjieba", "rjieba.cut alone", 600_000, 1.0),
        ):
            found = _against(
                peers, task, _fingerprints(recipe), texts.chinese, portion, texts.rounds
            )
            yield found.row("jieba words to fingerprint, Chinese", peer, target)
    bytes_in = size(texts.chinese)
    yield from _two_threads(
        "jieba words to fingerprint, Chinese", texts.chinese, recipe, bytes_in, texts
    )


def _fingerprints(recipe: nd.Recipe) -> Callable[[list[Any]], object]:
    return lambda inputs: nd.fingerprints(inputs, recipe, threads=1)


def _each(work: Callable[[Any], object]) -> Callable[[list[Any]], object]:
    return lambda inputs: [work(value) for value in inputs]


def _against(
    peers: PeerProcess,
    task: str,
    ours: Callable[[list[Any]], object],
    inputs: Sequence[Any],
    portion: int,
    rounds: int,
) -> Rounds:
    """Compare in rounds of new texts, without those that the peer cannot process."""
    speeds: list[tuple[float, float]] = []
    left_out = 0
    # Warm up with texts of no later round.
    ours(list(inputs[-500:]))
    for given in portions(inputs, portion, rounds):
        theirs, taken = peers.run(task, given)
        left_out += len(given) - len(taken)
        bytes_in = size(taken)
        speeds.append((bytes_in / core_seconds(ours, taken), bytes_in / theirs))
    return Rounds([ours for ours, _ in speeds], [theirs for _, theirs in speeds], left_out)


def votes(_: Texts) -> Iterator[Row]:
    """Measure the vote kernel alone, by the Rust benchmark."""
    command = ["cargo", "bench", "--locked", "--quiet", "-p", "neardup-core", "--bench", "vote"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in lines.splitlines():
        found = json.loads(line)
        ours, naive = found["kernel_ns"], found["naive_ns"]
        enough = found["features"] >= 100
        yield Row(
            f"one vote of weight one, {found['features']} features, {found['bits']} bits",
            f"{ours:.2f} ns",
            f"loop over counters: {naive:.1f} ns",
            naive / ours,
            "≤ 1 ns" if enough else "",
            ours <= 1 if enough else None,
        )


def presets(texts: Texts) -> Iterator[Row]:
    """Measure the speed of every preset."""
    for name in nd.Recipe.presets():
        recipe = nd.Recipe.preset(name)
        for language, inputs in (
            ("English", texts.english),
            ("Chinese", texts.chinese),
            ("poems", texts.poems),
        ):
            part = next(portions(inputs, 3_000_000, 1))
            nd.fingerprints(part[:50], recipe, threads=1)
            speeds = [_speed(part, recipe, size(part)) for _ in range(3)]
            what = f"preset {name}, {language}, one thread"
            yield Row(what, megabytes(statistics.median(speeds)))


def latency(texts: Texts) -> Iterator[Row]:
    """Measure the latency of one text."""
    kilobytes = [text[:1000] for text in texts.english if len(text) >= 1000][:2000]
    nd.fingerprint(kilobytes[0])
    times = []
    for text in kilobytes:
        started = time.perf_counter()
        nd.fingerprint(text)
        times.append(time.perf_counter() - started)
    yield Row("nd.fingerprint of one text of 1 KB", f"{statistics.median(times) * 1e6:.1f} µs")
