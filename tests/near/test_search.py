"""`nd.search` and `nd.SearchIndex`: against the definition, scikit-learn and PyPI simhash."""

import math
import random
from collections import Counter
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simhash import Simhash
from sklearn.feature_extraction.text import TfidfVectorizer

import neardup as nd
from reference import search as naive

ENGLISH = [
    "the cat sat on the mat",
    "the dog sat on the log",
    "we all scream for ice cream",
    "the cat and the dog are friends",
    "",
    "cat",
]
CHINESE = [
    "今天天气很好，我们去公园散步。",
    "今天天气不好，我们在家看书。",
    "垃圾分类模式要全面铺开，部分小区试行垃圾费按袋计量征收。",
    "部分小区将试行垃圾费按袋计量征收",
    "猫",
]
MIXED = [*ENGLISH, *CHINESE, "今天 the cat 很好 ＣＡＴ", "𝒸at ภาษาไทย かな", "!?", "5 5 5"]
RECIPES = [
    nd.Recipe(),
    nd.Recipe.preset("simhash"),
    nd.Recipe(tokens="whitespace", weights="tf", bits=64),
    nd.Recipe(tokens="chars", ngram=2, hash="md5", bits=128),
    nd.Recipe(tokens="jieba", bits=32),
    nd.Recipe(tokens="words", ngram=2, stopwords="en", min_features=1),
    nd.Recipe(top=3),
    nd.Recipe(hash=len),
]


def rows(table: pa.Table) -> list[tuple[Any, float]]:
    return list(zip(table["id"].to_pylist(), table["score"].to_pylist(), strict=True))


def check(found: list[tuple[Any, float]], expected: list[tuple[int, float]], n: int) -> None:
    """The same scores, and rows that have them: sums of another order may differ in a last
    digit, and so swap what is as good."""
    scores = dict(expected)
    assert len(found) == min(n, len(expected))
    assert len({at for at, _ in found}) == len(found)
    for (at, score), (_, wanted) in zip(found, expected, strict=False):
        assert score == pytest.approx(wanted, abs=1e-9)
        assert score == pytest.approx(scores[at], abs=1e-9)
    assert found == sorted(found, key=lambda row: (-row[1], row[0]))


# ------------------------------------------------------------------------------ by the definition


@pytest.mark.parametrize("idf", ["smooth", "gensim"])
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.identity[:60])
def test_cosine_of_any_recipe(recipe: nd.Recipe, idf: Any) -> None:
    for query in [*MIXED, "the cat 垃圾 unknown"]:
        found = rows(nd.search(query, MIXED, n=50, recipe=recipe, idf=idf))
        check(found, naive.by_cosine(query, MIXED, recipe, idf), 50)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.identity[:60])
def test_distance_of_any_recipe(recipe: nd.Recipe) -> None:
    for query in [*MIXED, "the cat 垃圾 unknown"]:
        for n in (1, 3, 50):
            found = rows(nd.search(query, MIXED, n=n, by="simhash", recipe=recipe))
            assert found == naive.by_distance(query, MIXED, recipe)[:n]


WORDS = st.sampled_from(
    ["the", "of", "a", "cat", "dog", "垃圾分类", "今天", "ไทย", "x", "5", "🐱", ""]
)
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=20), max_size=40)


@settings(deadline=None, max_examples=150)
@given(TEXTS, st.lists(WORDS, max_size=8).map(" ".join), st.integers(1, 50), st.booleans())
def test_made_up_texts(texts: list[str], query: str, n: int, smooth: bool) -> None:
    recipe = nd.Recipe()
    idf: Literal["smooth", "gensim"] = "smooth" if smooth else "gensim"
    found = rows(nd.search(query, texts, n=n, idf=idf))
    check(found, naive.by_cosine(query, texts, recipe, idf), n)
    near = rows(nd.search(query, texts, n=n, by="simhash"))
    assert near == naive.by_distance(query, texts, recipe)[:n]


def corpus(count: int, seed: int = 1) -> list[str]:
    """Texts whose words are as unevenly frequent as real ones; some are edited copies."""
    rng = random.Random(seed)
    words = [f"w{rank}" for rank in range(3000)]
    heights = [1 / (rank + 2) for rank in range(3000)]
    texts: list[str] = []
    for at in range(count):
        if at % 50 == 7:
            copy = rng.choice(texts).split()
            copy[rng.randrange(len(copy))] = "edited"
            texts.append(" ".join(copy))
        else:
            texts.append(" ".join(rng.choices(words, heights, k=rng.randint(3, 120))))
    return texts


@pytest.mark.parametrize("smooth", [True, False])
def test_scikit_learn_weights_the_same(smooth: bool) -> None:
    """A corpus large enough that frequent words are left out of the sums at first."""
    texts = corpus(3000)
    recipe = nd.Recipe(tokens="whitespace", normalize="none")
    index = nd.SearchIndex.build(texts, recipe=recipe)
    queries = [*corpus(20, seed=2), *texts[::200]]
    if smooth:
        made = TfidfVectorizer(analyzer=str.split)
        matrix = made.fit_transform(texts)
        asked = made.transform(queries)
        expected = (asked @ matrix.T).toarray()
    else:
        expected = _gensim(texts, queries)
    found = index.search(queries, n=10, idf="smooth" if smooth else "gensim")
    assert found.column_names == ["query", "id", "score", "distance"]
    for at in range(len(queries)):
        own = found.filter(pa.compute.equal(found["query"], at))
        best = np.sort(expected[at])[::-1][:10]
        assert np.abs(np.array(own["score"].to_pylist()) - best).max() < 1e-6
        theirs = expected[at][own["id"].to_pylist()]
        assert np.abs(theirs - best).max() < 1e-6


def _gensim(texts: list[str], queries: list[str]) -> Any:
    """What gensim's TfidfModel and cosine make of bags of words, by their formula."""
    bags = [Counter(text.split()) for text in texts]
    found = Counter(word for bag in bags for word in bag)
    place = {word: at for at, word in enumerate(found)}
    idf = np.array([math.log2(len(texts) / count) for count in found.values()])

    def vectors(bags: list[Counter[str]]) -> Any:
        made = np.zeros((len(bags), len(place)))
        for row, bag in enumerate(bags):
            for word, count in bag.items():
                if word in place:
                    made[row, place[word]] = count * idf[place[word]]
        return made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-300)

    return vectors([Counter(query.split()) for query in queries]) @ vectors(bags).T


def test_words_of_a_news_corpus_by_simhash() -> None:
    """Words split at whitespace, without stop words, and the values of PyPI simhash."""
    stop = ["的", "在", "，", "。", "将"]
    texts = [
        "广州 将 试点 垃圾袋 实名制 ， 按袋 计量 收费 。",
        "学习 台北 垃圾 分类 模式 要 全面铺开 ， 部分 小区 试行 垃圾 费 按袋 计量 征收 。",
        "今天 天气 很 好 ， 我们 在 公园 散步 。",
        "部分 小区 试行 垃圾 费 按袋 计量 征收 ， 学习 台北 垃圾 分类 模式 。",
    ]
    recipe = nd.Recipe.preset(
        "simhash",
        tokens="whitespace",
        normalize="none",
        pattern=None,
        ngram=1,
        stopwords=stop,
        min_features=1,
    )
    words = [[word for word in text.split() if word not in stop] for text in texts]
    for row, query in enumerate(texts):
        found = nd.search(query, texts, by="simhash", recipe=recipe)
        theirs = [Simhash(words[row]).distance(Simhash(other)) for other in words]
        expected = sorted(enumerate(theirs), key=lambda item: item[1])
        assert found["id"].to_pylist() == [at for at, _ in expected]
        assert found["distance"].to_pylist() == [distance for _, distance in expected]
        assert found["score"].to_pylist() == [1 - distance / 64 for _, distance in expected]


# --------------------------------------------------------------------------- what may be passed


@pytest.mark.parametrize(
    "texts",
    [
        list(MIXED),
        tuple(MIXED),
        iter(MIXED),
        pa.array(MIXED),
        pa.chunked_array([MIXED[:3], MIXED[3:]]),
        pl.Series(MIXED),
        pd.Series(MIXED),
        np.array(MIXED, dtype=object),
    ],
    ids=lambda texts: type(texts).__module__ + "." + type(texts).__name__,
)
def test_columns(texts: Any) -> None:
    assert nd.search("the cat", texts).equals(nd.search("the cat", MIXED))


def test_ids() -> None:
    names = [f"n{at}" for at in range(len(MIXED))]
    expected = [names[at] for at, _ in rows(nd.search("the cat", MIXED))]
    pairs = list(zip(names, MIXED, strict=True))
    for corpus_ in (pairs, dict(pairs), [list(pair) for pair in pairs], iter(pairs)):
        assert nd.search("the cat", corpus_)["id"].to_pylist() == expected
    for ids in (names, pa.array(names), pl.Series(names), pd.Series(names)):
        index = nd.SearchIndex.build(MIXED, ids)
        assert index.search("the cat")["id"].to_pylist() == expected
    numbered = nd.SearchIndex.build(MIXED, [10 * at for at in range(len(MIXED))])
    assert (
        nd.search("the cat", numbered)["id"][0].as_py()
        == 10 * nd.search("the cat", MIXED)["id"][0].as_py()
    )


def test_the_distance_is_that_of_fingerprints() -> None:
    for by in ("cosine", "simhash"):
        for row in nd.search("the cat sat", MIXED, n=20, by=by).to_pylist():
            code = nd.fingerprint(MIXED[row["id"]])
            expected = None if code is None else nd.distance(nd.fingerprint("the cat sat"), code)
            assert row["distance"] == expected
    # One word makes no fingerprint; it is a feature.
    assert nd.search("cat", MIXED, n=1).to_pylist() == [{"id": 5, "score": 1.0, "distance": None}]
    found = nd.search("cat", MIXED, n=9, by="simhash")
    assert found.to_pylist() == [{"id": 5, "score": 1.0, "distance": None}]


def test_several_queries_are_those_one_by_one() -> None:
    queries = ["the cat", "", "猫", "cat", "今天", "cat"]
    for by in ("cosine", "simhash"):
        many = nd.search(queries, MIXED, n=4, by=by)
        for at, query in enumerate(queries):
            own = many.filter(pa.compute.equal(many["query"], at)).drop_columns(["query"])
            one = nd.search(query, MIXED, n=4, by=by)
            assert own.to_pylist() == one.to_pylist()
    assert nd.search([], MIXED).num_rows == 0


def test_threads_make_no_difference() -> None:
    texts = corpus(800)
    for by in ("cosine", "simhash"):
        answers = [
            nd.search(texts[:30], texts, n=7, by=by, threads=threads) for threads in (None, 1, 2, 5)
        ]
        assert all(answer.equals(answers[0]) for answer in answers)


def test_equal_texts_come_in_their_order() -> None:
    texts = ["other words here", *["the cat sat on the mat"] * 2000]
    for by in ("cosine", "simhash"):
        found = nd.search("the cat sat on the mat", texts, n=9, by=by)
        assert found["id"].to_pylist() == list(range(1, 10))
        assert set(found["score"].to_pylist()) == {1.0}


def test_missing_texts_are_not_found() -> None:
    texts = [None, "the cat sat", None, "the cat"]
    index = nd.SearchIndex.build(texts)
    assert len(index) == 2
    assert sorted(index.search("the cat", n=9)["id"].to_pylist()) == [1, 3]
    check(
        rows(index.search("cat sat", n=9)),
        naive.by_cosine("cat sat", texts, nd.Recipe(), "smooth"),
        9,
    )
    assert index.search("the cat", n=9, by="simhash")["id"].to_pylist() == [3, 1]


def test_nothing_finds_nothing() -> None:
    for by in ("cosine", "simhash"):
        for texts in ([], [""], ["!?"], [None]):
            for query in ("", "cat", "!?"):
                found = nd.search(query, texts, by=by)
                assert found.num_rows == 0
                assert found.column_names == ["id", "score", "distance"]
    assert nd.search("unknown words", ENGLISH).num_rows == 0
    # What all documents have says nothing, in gensim's way.
    assert nd.search("the cat", ["the cat", "the cat"], idf="gensim").num_rows == 0


def test_more_than_there_are() -> None:
    assert nd.search("the cat", ENGLISH, n=10**6).num_rows == 4
    assert nd.search("the cat", ENGLISH, n=10**6, by="simhash").num_rows == 4


# ------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"n": 0}, ValueError, "n is 0; it must be a whole number from 1 to"),
        ({"n": 1.5}, TypeError, "n is 1.5; it must be a whole number"),
        ({"n": True}, TypeError, "n is True"),
        ({"by": "bm25"}, ValueError, "by is 'bm25'; it must be one of cosine, simhash"),
        ({"least": 1.5}, ValueError, "least is 1.5; it must be a number from 0 to 1"),
        ({"least": "0.3"}, TypeError, "least is '0.3'; it must be a number from 0 to 1"),
        ({"idf": "plain"}, ValueError, "idf is 'plain'; it must be one of smooth, gensim"),
        ({"threads": 0}, ValueError, "threads is 0"),
        ({"recipe": "nosuch"}, ValueError, "recipe is 'nosuch'"),
        ({"query": None}, TypeError, "query is of type NoneType"),
        ({"query": b"cat"}, TypeError, "query is bytes"),
        ({"query": 5}, TypeError, "query is of type int"),
        ({"query": ["cat", None]}, TypeError, r"query\[1\] is of type NoneType"),
        ({"query": "\ud800"}, ValueError, "lone surrogate"),
        ({"query": {"a": "b"}}, TypeError, "query is a dict"),
        ({"corpus": "cat"}, TypeError, "texts is one str"),
        ({"corpus": None}, TypeError, "texts is of type NoneType"),
        ({"corpus": ["cat", 5]}, TypeError, r"texts\[1\] is of type int"),
        ({"corpus": [("a", "cat"), "dog"]}, TypeError, r"corpus\[1\] is 'dog'"),
        ({"corpus": [("a", 5)]}, TypeError, r"texts\[0\] is of type int"),
        ({"corpus": [("a", "x"), (1, "y")]}, TypeError, "ids must be strings"),
        ({"corpus": {None: "x"}}, TypeError, "ids are of type null"),
        ({"corpus": nd.Index(64)}, TypeError, "corpus is an Index"),
        ({"corpus": pl.DataFrame({"text": ["a"]})}, TypeError, "pick the column of texts"),
        ({"corpus": pa.array([1, 2])}, TypeError, "it must be a column of strings"),
        ({"corpus": ["\ud800"]}, ValueError, "lone surrogate"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    given = {"query": "cat", "corpus": ENGLISH, **arguments}
    with pytest.raises(kind, match=message):
        nd.search(**given)


def test_an_index_has_its_recipe() -> None:
    index = nd.SearchIndex.build(ENGLISH, recipe="simhash")
    assert nd.search("cat", index, recipe="simhash").equals(index.search("cat"))
    with pytest.raises(ValueError, match="the index was built with"):
        nd.search("cat", index, recipe="default")
    with pytest.raises(TypeError, match="can be searched already"):
        nd.SearchIndex.build(index)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a"], "1 ids for 6 texts"),
        ("abcdef", "ids is one str"),
        ([1.5] * 6, "ids are of type double"),
        (["a", None, "b", "c", "d", "e"], "none missing"),
        (["\ud800"] * 6, "lone surrogate"),
    ],
)
def test_wrong_ids(ids: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        nd.SearchIndex.build(ENGLISH, ids)
    with pytest.raises(ValueError, match="given twice"):
        nd.SearchIndex.build({"a": "b"}, ["c"])


def test_shown() -> None:
    assert repr(nd.SearchIndex.build(ENGLISH)) == "SearchIndex(6 texts)"


@pytest.mark.parametrize("by", ["cosine", "simhash"])
def test_only_scores_that_reach_what_is_asked(by: Any) -> None:
    every = nd.search(MIXED[0], MIXED, n=50, by=by).to_pylist()
    assert len(every) > 3
    for least in (every[0]["score"], every[2]["score"], 0.99):
        expected = [row for row in every if row["score"] >= least]
        assert nd.search(MIXED[0], MIXED, n=50, by=by, least=least).to_pylist() == expected
