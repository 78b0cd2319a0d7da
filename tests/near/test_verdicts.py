"""One table of cases, and every way to ask: all give the same verdict, at the defaults."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import neardup as nd
from neardup import jobs

# Two texts, and whether they are near-duplicates at the default similarity.
CASES = {
    "equal": ("the cat sat on the mat", "the cat sat on the mat", True),
    "case and marks": ("The cat sat on the mat!", "the cat: sat on the mat", True),
    "strangers": ("the cat sat on the mat", "we all scream for ice cream", False),
    "two of fourteen words": (
        "alpha bravos charlie deltas echoes foxtrot golfs hotel indigo juliet kilos lima mikes nov",
        "alpha bravos charlie deltas echoes foxtrot golfs hotel indigo juliet kilos lima xenon yak",
        True,
    ),
    "half of the words": ("one two three four five six", "one two three seven eight nine", False),
    "a short word of few": ("quick brown foxes jumped a", "quick brown foxes jumped of", False),
    "a short word of nine": (
        "quick brown foxes jumped over seven sleepy hounds a",
        "quick brown foxes jumped over seven sleepy hounds of",
        True,
    ),
    "the same in another order": ("one two three four", "four three two one", True),
    "twice the same": ("one two three four", "one two three four one two three four", True),
    "one word many times": ("apples pears plums", "apples pears plums" + " plums" * 50, False),
    "Chinese, one character": ("天气很好我们去公园散步看花", "天气很好我们去公园散步看鸟", True),
    "Chinese strangers": ("今天天气很好我们去公园散步", "股票市场昨天大幅下跌投资者担心", False),
    "too short, equal": ("hello", "hello", True),
    "too short, case": ("hello", "Hello", False),
    "no letter": ("…", "…", False),
    "empty": ("", "", False),
    "mixed": ("release 1.2 北京 notes", "Release 1.2, 北京: notes", True),
    "numbers": ("invoice 4711 of 2026 over 99.50", "invoice 4712 of 2026 over 12.00", False),
    "long": ("word " * 3 + " ".join(f"token{n}" for n in range(400)),
             " ".join(f"token{n}" for n in range(20, 420)), True),
}  # fmt: skip


def by_compare(a: str, b: str, _: Path) -> bool:
    # The definition: two texts without a signal are alike only if they are equal and say something.
    found = nd.compare(a, b)
    if found.verdict == "identical":
        return any(char.isalnum() for char in a)
    return found.verdict == "near-duplicate"


def by_dedup(a: str, b: str, _: Path) -> bool:
    return len(nd.dedup([a, b]).removed) == 1


def by_connected(a: str, b: str, _: Path) -> bool:
    return len(nd.dedup([a, b], linkage="connected").removed) == 1


def by_pairs(a: str, b: str, folder: Path) -> bool:
    path = folder / "two.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in (a, b)), encoding="utf-8")
    return jobs.pairs([str(path)], folder / "pairs.jsonl").pairs == 1


def by_against(a: str, b: str, folder: Path) -> bool:
    for name, text in (("a", a), ("b", b)):
        (folder / f"{name}.jsonl").write_text(json.dumps({"text": text}) + "\n", encoding="utf-8")
    # Repeats make a text much longer, which is warned of.
    options = jobs.Options(against=[str(folder / "a.jsonl")], on_warning=lambda _: None)
    return jobs.dedup([str(folder / "b.jsonl")], folder / "kept.jsonl", options).removed == 1


def by_check(a: str, b: str, folder: Path) -> bool:
    with nd.Collection.open(folder / "c.neardup") as collection:
        collection.add([("a", a)])
        found = [match.id for match in collection.check(b)]
        assert collection.check([b]).column("id").to_pylist() == found
        return found == ["a"]


def by_adding_one_by_one(a: str, b: str, folder: Path) -> bool:
    with nd.Collection.open(folder / "c.neardup") as collection:
        collection.add([("a", a)], unless_duplicate=True)
        (outcome,) = collection.add([("b", b)], unless_duplicate=True)
        return outcome.status == "duplicate"


def by_adding_a_batch(a: str, b: str, folder: Path) -> bool:
    with nd.Collection.open(folder / "c.neardup") as collection:
        _, outcome = collection.add([("a", a), ("b", b)], unless_duplicate=True)
        return outcome.status == "duplicate"


WAYS: list[Callable[[str, str, Path], bool]] = [
    by_compare,
    by_dedup,
    by_connected,
    by_pairs,
    by_against,
    by_check,
    by_adding_one_by_one,
    by_adding_a_batch,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("case", CASES)
def test_every_way_gives_the_same_verdict(
    case: str, way: Callable[[str, str, Path], bool], tmp_path: Path
) -> None:
    left, right, expected = CASES[case]
    assert way(left, right, tmp_path) is expected
    (tmp_path / "back").mkdir()
    assert way(right, left, tmp_path / "back") is expected


def test_a_cosine_of_exactly_the_similarity_is_near() -> None:
    left, right = "alpha bravo charlie delta", "alpha bravo charlie xenon"
    assert nd.similarity(left, right) == 0.75
    assert len(nd.dedup([left, right], 0.75, recall=1).removed) == 1
    assert len(nd.dedup([left, right], 0.75 + 1e-12, recall=1).removed) == 0
    assert nd.compare(left, right, similarity=0.75).verdict == "near-duplicate"


def test_texts_just_below_the_similarity_are_kept_though_their_fingerprints_are_equal() -> None:
    words = [f"word{number}" for number in range(30_000)]
    left, right = " ".join(words), " ".join([*words, "another"])
    cosine = nd.similarity(left, right)
    assert 0.99997 < cosine < 0.99999
    assert nd.fingerprint(left) == nd.fingerprint(right)
    for linkage in ("star", "connected"):
        assert len(nd.dedup([left, right], 0.99999, linkage=linkage).removed) == 0
        assert len(nd.dedup([left, right], 0.9999, linkage=linkage).removed) == 1
