"""Every public function that takes a number takes NumPy's, and none takes a bool for one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup as nd
from neardup.compat import simhash_py
from neardup.compat.simhash import Simhash, SimhashIndex
from neardup.text.vocabulary import Idf

TEXTS = ["the cat sat on the mat", "The cat sat on the mat!", "we all scream for ice cream"]
MADE = nd.fingerprints(TEXTS, nd.Recipe(bits=64))


def index(**ids: Any) -> nd.Index:
    made = nd.Index(bits=64)
    made.add([0b0000, 0b0111, 0b1111], **ids)
    return made


def seen(path: Path) -> nd.Collection:
    made = nd.Collection.open(path / "seen.neardup")
    if not len(made):
        made.add(list(zip("abc", TEXTS, strict=True)))
    return made


def closed(collection: nd.Collection, ask: Callable[[nd.Collection], Any]) -> Any:
    with collection:
        return ask(collection)


def summary(found: nd.Deduplication) -> Any:
    return found.kept.tolist(), found.removed.to_pylist(), found.similarity, found.radius


# What is called with a whole number, and a number that is fine for it.
WHOLE: dict[str, tuple[Callable[[Any], Any], int]] = {
    "fingerprints threads": (lambda n: list(nd.fingerprints(TEXTS, threads=n)), 2),
    "fit threads": (lambda n: nd.Recipe().fit(TEXTS, threads=n), 2),
    "dedup radius": (lambda n: summary(nd.dedup(TEXTS, radius=n)), 20),
    "dedup threads": (lambda n: summary(nd.dedup(TEXTS, threads=n)), 2),
    "at radius": (lambda n: summary(nd.dedup(TEXTS, radius=30, pairs=True).at(radius=n)), 20),
    "least_similar n": (lambda n: nd.dedup(TEXTS).least_similar(n).to_pylist(), 1),
    "pairs radius": (lambda n: nd.pairs(MADE, n).to_pylist(), 20),
    "pairs threads": (lambda n: nd.pairs(MADE, threads=n).to_pylist(), 2),
    "pairs_plan radius": (lambda n: nd.pairs_plan(MADE, n).radius, 20),
    "clusters radius": (lambda n: nd.clusters(MADE, n).tolist(), 20),
    "clusters threads": (lambda n: nd.clusters(MADE, threads=n).tolist(), 2),
    "pairs fingerprint": (lambda n: nd.pairs([n, 8], 3).to_pylist(), 9),
    "clusters fingerprint": (lambda n: nd.clusters([n, 8], 3).tolist(), 9),
    "distance left": (lambda n: nd.distance(n, 8), 9),
    "distance right": (lambda n: nd.distance(8, n), 9),
    "distance with an array": (lambda n: nd.distance(MADE, n).tolist(), 9),
    "recipe bits": (lambda n: nd.Recipe(bits=n), 64),
    "recipe ngram": (lambda n: nd.Recipe(ngram=n), 2),
    "recipe top": (lambda n: nd.Recipe(top=n), 5),
    "recipe min_features": (lambda n: nd.Recipe(min_features=n), 3),
    "idf documents": (lambda n: Idf(n, {"a": 1}), 3),
    "hash of a token": (lambda n: nd.fingerprint("a b c", nd.Recipe(hash=lambda _: n)), 77),
    "Index bits": (lambda n: nd.Index(bits=n).bits, 64),
    "Index add": (lambda n: (made := index(), made.add(n), list(made))[1:], 9),
    "Index add many": (lambda n: list(index().add([n, 8])), 9),
    "Index add id": (lambda n: index(ids=[1, 2, 3]).add(5, n), 9),
    "Index add ids": (lambda n: list(index(ids=[1, 2, n])), 9),
    "Index add threads": (lambda n: list(index().add([5], threads=n)), 2),
    "Index remove": (lambda n: index().remove(n), 2),
    "Index remove many": (lambda n: index().remove([n]), 2),
    "Index search": (lambda n: index().search(n, 1), 7),
    "Index search radius": (lambda n: index().search(3, n), 2),
    "Index search threads": (lambda n: index().search([3], threads=n).to_pylist(), 2),
    "Index contains": (lambda n: index().contains(n), 7),
    "Index contains radius": (lambda n: index().contains(3, n), 2),
    "Index nearest n": (lambda n: index().nearest(3, n), 2),
    "Index nearest radius": (lambda n: index().nearest(3, 2, n), 2),
    "Index nearest max_distance": (lambda n: index().nearest(3, 2, max_distance=n), 2),
    "Index plan radius": (lambda n: index().plan(n).radius, 2),
}
# As in the originals, a bool is a number there.
COMPAT: dict[str, tuple[Callable[[Any], Any], int]] = {
    "Simhash value": (lambda n: Simhash(n).distance(Simhash(8)), 9),
    "Simhash f": (lambda n: Simhash("a text", f=n).value, 64),
    "SimhashIndex f": (lambda n: SimhashIndex([("a", Simhash(3))], f=n).bucket, 64),
    "SimhashIndex k": (lambda n: SimhashIndex([("a", Simhash(3))], k=n).bucket, 2),
    "simhash_py compute": (lambda n: simhash_py.compute([n, 8]), 9),
    "num_differing_bits": (lambda n: simhash_py.num_differing_bits(n, 8), 9),
    "find_all bits": (lambda n: simhash_py.find_all([1, 2], 6, n), 3),
    "find_all blocks": (lambda n: simhash_py.find_all([1, 2], n, 3), 6),
    "shingle": (lambda n: list(simhash_py.shingle("abcde", n)), 3),
}
SHARES: dict[str, tuple[Callable[[Any], Any], float]] = {
    "dedup similarity": (lambda x: summary(nd.dedup(TEXTS, x)), 0.75),
    "dedup recall": (lambda x: summary(nd.dedup(TEXTS, recall=x)), 0.75),
    "at similarity": (lambda x: summary(nd.dedup(TEXTS, 0.5, pairs=True).at(x)), 0.75),
    "compare similarity": (lambda x: nd.compare(*TEXTS[:2], similarity=x), 0.75),
    "pairs recall": (lambda x: nd.pairs(MADE, 9, x).to_pylist(), 0.75),
    "pairs similarity": (lambda x: nd.pairs(MADE, 9, similarity=x).to_pylist(), 0.75),
    "clusters recall": (lambda x: nd.clusters(MADE, recall=x).tolist(), 0.75),
    "Index search recall": (lambda x: index().search(3, 2, x), 0.75),
    "Index plan recall": (lambda x: index().plan(2, x).radius, 0.75),
    "recipe scale": (lambda x: nd.Recipe(scale=x), 20.0),
}
INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.intp]
FLOATS = [np.float16, np.float32, np.float64]
NO_NUMBERS = [True, False, np.True_, np.False_]


@pytest.mark.parametrize("name", [*WHOLE, *COMPAT])
def test_whole_numbers_of_numpy(name: str) -> None:
    call, number = {**WHOLE, **COMPAT}[name]
    expected = call(number)
    for kind in INTS:
        found = call(kind(number))
        assert found == expected, kind
        # An equal recipe must also be written the same.
        assert repr(found) == repr(expected), kind


@pytest.mark.parametrize("name", SHARES)
def test_shares_of_numpy(name: str) -> None:
    call, number = SHARES[name]
    expected = call(number)
    for kind in FLOATS:
        assert repr(call(kind(number))) == repr(expected), kind


@pytest.mark.parametrize("name", [*WHOLE, *SHARES])
@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_a_bool_is_no_number(name: str, value: Any) -> None:
    call, _ = {**WHOLE, **SHARES}[name]
    with pytest.raises(TypeError):
        call(value)


@pytest.mark.parametrize("value", [*NO_NUMBERS, 1.0, np.float64(1), "1", np.array([1]), [1]])
@pytest.mark.parametrize("name", ["dedup radius", "recipe bits", "Index bits", "clusters threads"])
def test_what_is_no_whole_number_is_named(name: str, value: Any) -> None:
    parameter = name.split()[1]
    with pytest.raises(TypeError, match=f"^{parameter} is .*; it must be a whole number from "):
        WHOLE[name][0](value)


@pytest.mark.parametrize("kind", INTS)
def test_collections(kind: Any, tmp_path: Path) -> None:
    def ask(number: Any, share: Any) -> Any:
        return closed(
            seen(tmp_path),
            lambda made: (
                made.check(TEXTS[0], n=number(1)),
                made.check(TEXTS[0], radius=number(20)),
                made.check(TEXTS[0], similarity=share(0.5), recall=share(0.75)),
            ),
        )

    assert repr(ask(kind, np.float32)) == repr(ask(int, float))


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_a_bool_is_no_number_for_a_collection(value: Any, tmp_path: Path) -> None:
    with seen(tmp_path) as made:
        for name in ("n", "radius", "similarity", "recall"):
            with pytest.raises(TypeError, match=f"{name} is {value!r}; it must be a "):
                made.check(TEXTS[0], **{name: value})


def test_rows_are_asked_for_by_any_whole_number() -> None:
    kind: Any
    for kind in INTS:
        assert MADE[kind(1)] == MADE[1]
        assert kind(2) in index()
        assert index()[kind(2)] == 0b1111
    assert True not in index()


def test_counts_of_numpy_make_the_same_recipe() -> None:
    plain = nd.Recipe(weights="tfidf", idf=Idf(3, {"a": 1}))
    documents: Any = np.int64(3)
    counts: Any = {"a": np.uint8(1)}
    made = nd.Recipe(weights="tfidf", idf=Idf(documents, counts))
    assert made == plain
    assert made.identity == plain.identity
    assert made.to_toml() == plain.to_toml()
    with pytest.raises(ValueError, match="counts of idf has True for 'a'"):
        Idf(3, {"a": True})


def test_numbers_too_large_for_a_float_are_refused_by_name() -> None:
    for call in (
        lambda: nd.dedup(TEXTS, 10**400),
        lambda: nd.compare("a", "b", similarity=10**400),
    ):
        with pytest.raises(ValueError, match=r"similarity is 10+; it must be a number"):
            call()
