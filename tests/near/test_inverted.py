"""The join by an inverted index finds what the join by sketches finds, and is taken where it is
cheaper."""

from __future__ import annotations

import inspect
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup import jobs
from neardup.near import join
from neardup.near.corpus import memory_corpus
from neardup.near.join import SketchJoin, duration
from neardup.near.matches import Forecast
from neardup.near.question import Question, check_question

METHODS = ("sketches", "inverted")
WORDS = [f"word{number}" for number in range(12)]
# Records of one form, of which all are near; and loose ones.
some_texts = st.lists(
    st.one_of(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=9),
        st.lists(st.sampled_from(WORDS), max_size=2).map(lambda rest: [*WORDS[:6], *rest]),
    ).map(" ".join),
    min_size=1,
    max_size=80,
)
some_questions = st.builds(
    lambda similarity, recall, distinguish: check_question(
        similarity, None, recall, bits=128, distinguish=distinguish
    ),
    st.sampled_from([0.3, 0.5, 0.7, 0.85]),
    st.sampled_from([0.9, 0.99]),
    st.sampled_from([None, "order", "numbers,symbols"]),
)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join, "MIN_FORECAST_TEXTS", 0)


@pytest.fixture(params=["listed", "not listed"])
def _listed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Near pairs are listed, or there are too many of them."""
    if request.param == "not listed":
        monkeypatch.setattr(join, "MIN_LISTED", 0)
        monkeypatch.setattr(join, "LISTED_PER_TEXT", 0)


def joined(texts: Sequence[str], asked: Question, method: str, **options: Any) -> SketchJoin:
    column = pa.chunked_array([pa.array(texts, pa.large_string())])
    recipe = asked.apply_to(nd.Recipe())
    found = SketchJoin(memory_corpus(column, recipe, asked), asked, **options)
    found._forecast = Forecast(method, 0, 0)
    return found


def listed(found: SketchJoin) -> list[tuple[int, int, int, float]]:
    columns = ("left", "right", "distance", "similarity")
    parts = [[getattr(part, name).tolist() for name in columns] for part in found.pairs()]
    return sorted(row for part in parts for row in zip(*part, strict=True))


@settings(max_examples=60)
@given(texts=some_texts, asked=some_questions, data=st.data())
def test_both_find_the_same_pairs(texts: list[str], asked: Question, data: st.DataObject) -> None:
    reference = data.draw(st.integers(0, len(texts)))
    joins = [joined(texts, asked, method, reference_rows=reference) for method in METHODS]
    by_sketches, inverted = map(listed, joins)
    assert inverted == by_sketches
    assert [each.plan["method"] for each in joins] == list(METHODS)
    assert joins[1].counts.pairs == len(inverted)
    if reference:
        nearest = [
            joined(texts, asked, method, reference_rows=reference).nearest(reference)
            for method in METHODS
        ]
        assert nearest[0].match.tolist() == nearest[1].match.tolist()


@pytest.mark.usefixtures("_listed")
@settings(max_examples=60)
@given(
    texts=some_texts,
    asked=some_questions,
    linkage=st.sampled_from(["star", "connected"]),
    data=st.data(),
)
def test_both_find_the_same_clusters(
    texts: list[str], asked: Question, linkage: Any, data: st.DataObject
) -> None:
    order = np.array(data.draw(st.permutations(range(len(texts)))))
    by_sketches, inverted = (
        joined(texts, asked, method, order=order).clusters(linkage) for method in METHODS
    )
    assert inverted.labels.tolist() == by_sketches.labels.tolist()
    both = ~np.isnan(inverted.similarity) & ~np.isnan(by_sketches.similarity)
    assert linkage == "connected" or both.sum() == (inverted.labels != np.arange(len(texts))).sum()
    for name in ("similarity", "distance"):
        left, right = (getattr(each, name)[both].tolist() for each in (by_sketches, inverted))
        assert left == right


def test_both_estimate_the_same_recall() -> None:
    texts = half_alike(200, common=20, own=5)
    threshold = nd.similarity(texts[0], texts[1]) - 0.01
    asked = check_question(threshold, None, 0.9, bits=128)
    joins = [joined(texts, asked, method) for method in METHODS]
    assert listed(joins[0]) == listed(joins[1])
    found, expected = joins[0].counts.edge
    assert expected > found > 0
    assert joins[1].counts.edge == pytest.approx((found, expected))


def test_pairs_come_in_the_same_order_every_time() -> None:
    texts = half_alike(3000, common=20, own=5)
    asked = check_question(0.7, None, None, bits=128)
    first, second = (list(joined(texts, asked, "inverted").pairs()) for _ in range(2))
    assert sum(len(part.left) for part in first) > 1 << 17
    for one, other in zip(first, second, strict=True):
        assert one.left.tolist() == other.left.tolist()
        assert one.right.tolist() == other.right.tolist()


@pytest.mark.usefixtures("_listed")
@pytest.mark.parametrize("job", [jobs.dedup, jobs.pairs, jobs.cluster])
def test_texts_in_files(tmp_path: Path, job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "in.jsonl"
    rng = random.Random(1)
    texts = [" ".join(rng.choices(WORDS, k=rng.randrange(2, 9))) for _ in range(300)]
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    written = []
    for method in METHODS:
        monkeypatch.setattr(SketchJoin, "forecast", lambda _, m=method: Forecast(m, 9, 7))
        out = tmp_path / f"{method}.jsonl"
        found = job([str(source)], out, jobs.Options(similarity=0.6))
        assert (found.plan["method"], found.plan["expected_seconds"]) == (method, 9)
        written.append(sorted(out.read_text().splitlines()))
    assert written[0] == written[1]
    assert len(written[0]) > 20


def half_alike(count: int, common: int = 10, own: int = 12) -> list[str]:
    """Records with common words and words of their own."""
    rng = random.Random(count)
    shared = " ".join(f"common{at}" for at in range(common))
    return [
        f"{shared} " + " ".join(f"w{rng.getrandbits(28):07x}" for _ in range(own))
        for _ in range(count)
    ]


def _note(said: list[str], name: str, *_: object) -> None:
    said.append(name)


def test_the_cheaper_one_is_taken() -> None:
    rng = random.Random(2)
    others = [" ".join(f"w{rng.getrandbits(28):07x}" for _ in range(12)) for _ in range(5000)]
    for texts, recall, method in (
        (half_alike(5000), None, "inverted"),
        (others, None, "sketches"),
        (others, 1.0, "inverted"),
    ):
        asked = check_question(0.85, None, recall, bits=128)
        column = pa.chunked_array([pa.array(texts, pa.large_string())])
        said: list[str] = []
        found = SketchJoin(
            memory_corpus(column, nd.Recipe(), asked), asked, stage=partial(_note, said)
        )
        list(found.pairs())
        assert found.plan["method"] == method
        assert 0 < found.plan["expected_seconds"] < 5
        assert not any("about" in each for each in said)


def test_what_takes_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SketchJoin, "forecast", lambda _: Forecast("inverted", 700, 1e9))
    column = pa.chunked_array([pa.array(half_alike(20), pa.large_string())])
    asked = check_question(0.5, None, None, bits=128)
    said: list[str] = []
    found = SketchJoin(
        memory_corpus(column, nd.Recipe(), asked), asked, stage=lambda name, *_: said.append(name)
    )
    found.clusters("star")
    assert said[0] == "looking up 20 texts, about 12 min"
    told = [duration(seconds) for seconds in (0.2, 89, 91, 5500)]
    assert told == ["about 0 s", "about 89 s", "about 2 min", "about 1.5 h"]


MEMORY = """
from __future__ import annotations
import random, resource
import neardup as nd
from neardup.near.join import SketchJoin
from neardup.near.matches import Forecast
{half_alike}
def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0])
texts = half_alike({count})
nd.dedup(texts[:2000])
SketchJoin.forecast = lambda _: Forecast({method!r}, 1, 1)
if {limit}:
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + {limit}, used + {limit}))
before = peak()
try:
    nd.dedup(texts)
except MemoryError as error:
    print("MemoryError", error)
else:
    print(peak() - before)
"""


def in_a_process(**settings: Any) -> str:
    # Nothing but what is measured is imported: it would leave free memory behind.
    script = MEMORY.format(half_alike=inspect.getsource(half_alike), **settings)
    # One heap: every other one reserves memory that a limit would not see used.
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "MALLOC_ARENA_MAX": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("method", METHODS)
def test_half_alike_records_take_little_memory(method: str) -> None:
    count = 40_000
    kilobytes = int(in_a_process(count=count, limit=0, method=method))
    assert kilobytes * 1024 < 300 * count + (100 << 20)


@pytest.mark.parametrize("method", METHODS)
def test_too_little_memory_is_an_error(method: str) -> None:
    little, much = (
        in_a_process(count=100_000, limit=limit << 20, method=method) for limit in (2, 1000)
    )
    assert little.startswith("MemoryError")
    assert much.isdigit()
