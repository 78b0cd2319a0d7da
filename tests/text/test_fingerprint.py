"""Texts → fingerprints: every way in gives the same, and all of them the reference's."""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from helpers.scripts import characters, texts_of_every_script
from reference import fingerprint as reference

WIDTHS = [8, 16, 40, 64, 72, 128, 136, 192, 256, 264, 384, 512]
TEXTS = [
    "The cat sat on the mat.",
    None,
    "",
    "the CAT sat on the mat",
    "?!…",
    "word",
    "我爱自然语言处理，我爱北京天安门",
    "a\u0000b c",
    None,
    "naïve café ½ 😀 한국어 東京タワー",
    "x " * 400 + "y z",
]


def blake(token: str) -> int:
    return int.from_bytes(hashlib.blake2b(token.encode(), digest_size=64).digest(), "big")


def sha(token: str) -> bytes:
    return hashlib.sha512(token.encode()).digest()


def one_by_one(texts: list[str | None], recipe: Any = None) -> list[int | None]:
    return [None if text is None else nd.fingerprint(text, recipe) for text in texts]


# ------------------------------------------------------------------------------ against the twin

texts = (
    st.text(characters(), max_size=60)
    | texts_of_every_script(most=100)
    | st.text("abcdeAB 019.,'_\n\t-", max_size=150)
    | st.lists(
        st.sampled_from(["the", "cat", "Sat", "on", "我爱", "你好", "café", "3.14", "don't"]),
        max_size=60,
    ).map(" ".join)
)
hashes_and_widths: st.SearchStrategy[tuple[Any, int]] = st.one_of(
    st.tuples(st.sampled_from(["xxh3", "python", blake, sha]), st.sampled_from(WIDTHS)),
    st.tuples(st.sampled_from(["md5", "md5-first"]), st.sampled_from([8, 64, 72, 128])),
    st.tuples(st.sampled_from(["lookup3", "lookup3-yanyiwu"]), st.sampled_from([8, 40, 64])),
)
# Patterns that mean the same to Python's engine.
cuts = st.one_of(
    st.fixed_dictionaries({"tokens": st.sampled_from(["words", "chars", "whitespace", "lines"])}),
    st.fixed_dictionaries(
        {
            "tokens": st.sampled_from(["regex", "chars"]),
            "pattern": st.sampled_from(["[a-z]+", "[a-zé东京]*", "[0-9]+|[a-z]{2}", ".{1,3}", ""]),
        }
    ),
)
fitted = nd.Recipe().fit(["the cat sat", "the mat", "我爱你好", "on"]).idf
weightings = st.one_of(
    st.fixed_dictionaries(
        {"weights": st.sampled_from(["log", "log-length", "tf", "binary", "frequency"])}
    ),
    st.just({"weights": "tfidf", "idf": fitted}),
)


@st.composite
def recipes(draw: st.DrawFn) -> nd.Recipe:
    hash_, bits = draw(hashes_and_widths)
    fields: dict[str, Any] = {**draw(cuts), **draw(weightings)}
    version: Any = draw(st.sampled_from([3, 2]))
    ngram = draw(st.integers(1, 4))
    forms = ["standard", "nfkc_casefold", "nfkc", "casefold", "lower", "none"]
    return nd.Recipe(
        version=version,
        normalize=draw(st.sampled_from(forms)),
        ngram=ngram,
        stopwords=draw(st.sampled_from([None, "en", ["cat", "我爱", "A", "ab"]])),
        top=draw(st.none() | st.integers(1, 8)),
        scale=draw(st.none() | st.sampled_from([0.3, 1.0, 2.5, 20.0])),
        hash=hash_,
        bits=bits,
        tie=draw(st.sampled_from(["mask", "zero", "one"])),
        votes=draw(st.sampled_from(["exact", "signed-float", "half-float"])),
        min_features=draw(st.sampled_from([1, 2, 3])),
        **fields,
    )


@settings(max_examples=300)
@given(recipe=recipes(), many=st.lists(texts, max_size=4))
def test_every_recipe_equals_the_reference(recipe: nd.Recipe, many: list[str]) -> None:
    expected = [reference.fingerprint(text, recipe) for text in many]
    assert one_by_one(list(many), recipe) == expected
    assert list(nd.fingerprints(many, recipe, threads=1)) == expected
    assert list(nd.fingerprints(pa.array(many, pa.string()), recipe)) == expected


@settings(max_examples=60)
@given(text=texts_of_every_script(), version=st.sampled_from([3, 2]))
def test_default_recipes_equal_the_reference(text: str, version: Any) -> None:
    recipe = nd.Recipe(version=version)
    assert nd.fingerprint(text, recipe) == reference.fingerprint(text, recipe)


JIEBA = "我爱 北京 天安门 ， 。 the 自然语言处理 3.14 C++ 杭研 研究生命"


@settings(max_examples=60)
@given(
    text=st.lists(st.sampled_from(JIEBA.split()), max_size=25).map("".join),
    tokens=st.sampled_from(["jieba", "jieba-keywords"]),
    top=st.none() | st.integers(1, 6),
    scale=st.none() | st.just(20),
    bits=st.sampled_from([64, 128, 512]),
    ngram=st.integers(1, 2),
)
def test_jieba_recipes_equal_the_reference(
    text: str, tokens: Any, top: int | None, scale: float | None, bits: int, ngram: int
) -> None:
    recipe = nd.Recipe(
        tokens=tokens, ngram=ngram, weights="tfidf", idf="jieba", top=top, scale=scale, bits=bits
    )
    assert nd.fingerprint(text, recipe) == reference.fingerprint(text, recipe)
    plain = recipe.replace(weights="log", idf=None)
    assert nd.fingerprint(text, plain) == reference.fingerprint(text, plain)


def test_a_user_dictionary_changes_the_words() -> None:
    text = "近似重复检测很有用，近似重复检测很快"
    recipe = nd.Recipe(tokens="jieba", weights="tf")
    own = recipe.replace(dictionary=["近似重复检测 1000"])
    assert nd.fingerprint(text, own) != nd.fingerprint(text, recipe)
    assert nd.fingerprint(text, own) == nd.fingerprint(
        ["近似重复检测", "很", "有用", "近似重复检测", "很快"], own
    )


@settings(max_examples=200)
@given(
    recipe=recipes(),
    given_=st.dictionaries(
        st.text(characters(), max_size=4),
        st.integers(0, 1000) | st.floats(0, 1e6) | st.sampled_from([0.1, 1e-9, 1e15]),
        max_size=30,
    ),
)
def test_ready_features_equal_the_reference(recipe: nd.Recipe, given_: dict[str, float]) -> None:
    expected = reference.fingerprint_features(given_, recipe)
    assert nd.fingerprint(given_, recipe) == expected
    assert nd.fingerprint(list(given_.items()), recipe) == expected
    assert nd.fingerprint(((token, repr(w)) for token, w in given_.items()), recipe) == expected


@given(st.permutations(range(12)))
def test_exact_votes_do_not_depend_on_order(order: list[int]) -> None:
    weights = [1e15, 0.1, 3.3, 1e-9, 7, 0.7, 1e9, 2.2, 1 / 3, 1e12, 5e-7, 0.3]
    pairs = [(f"token{i}", weights[i]) for i in order]
    assert nd.fingerprint(pairs) == nd.fingerprint(dict(sorted(pairs)))


# ----------------------------------------------------------------------------------- the ways in


def halves(array: pa.Array) -> pa.ChunkedArray:
    empty = array.slice(0, 0)
    return pa.chunked_array([empty, array.slice(0, 4), empty, array.slice(4), empty])


def padded(kind: Any) -> pa.Array:
    """The texts in the middle of a longer array: an offset that is not at a byte of the bitmap."""
    around: list[str | None] = ["not", None, "ours"]
    return pa.array(around + TEXTS + around, kind).slice(3, len(TEXTS))


WAYS: dict[str, Callable[[], Any]] = {
    "list": lambda: TEXTS,
    "tuple": lambda: tuple(TEXTS),
    "generator": lambda: (text for text in TEXTS),
    "object array": lambda: np.array(TEXTS, dtype=object),
    "arrow string": lambda: pa.array(TEXTS, pa.string()),
    "arrow large_string": lambda: pa.array(TEXTS, pa.large_string()),
    "arrow string_view": lambda: pa.array(TEXTS, pa.string_view()),
    "arrow dictionary": lambda: pa.array(TEXTS, pa.string()).dictionary_encode(),
    "arrow large dictionary": lambda: pa.array(TEXTS, pa.large_string()).dictionary_encode(),
    "sliced string": lambda: padded(pa.string()),
    "sliced large_string": lambda: padded(pa.large_string()),
    "sliced string_view": lambda: padded(pa.string_view()),
    "sliced dictionary": lambda: padded(pa.string()).dictionary_encode().slice(0),
    "chunked string": lambda: halves(padded(pa.string())),
    "chunked large_string": lambda: halves(padded(pa.large_string())),
    "chunked string_view": lambda: halves(padded(pa.string_view())),
    "chunked dictionary": lambda: halves(pa.array(TEXTS, pa.string()).dictionary_encode()),
    "arrow table column": lambda: pa.table({"text": TEXTS})["text"],
    "polars": lambda: pl.Series(TEXTS),
    "polars chunked": lambda: pl.concat(
        [pl.Series(TEXTS[:3]), pl.Series(TEXTS[3:])], rechunk=False
    ),
    "polars sliced": lambda: pl.Series(["x", *TEXTS, "y"])[1:-1],
    "polars categorical": lambda: pl.Series(TEXTS, dtype=pl.Categorical),
    "pandas": lambda: pd.Series(TEXTS),
    "pandas object": lambda: pd.Series(TEXTS, dtype=object),
    "pandas object, NaN": lambda: pd.Series(
        [np.nan if t is None else t for t in TEXTS], dtype=object
    ),
    "pandas object, NA": lambda: pd.Series(
        [pd.NA if t is None else t for t in TEXTS], dtype=object
    ),
    "pandas string": lambda: pd.Series(TEXTS, dtype="string"),
    "pandas string[python]": lambda: pd.Series(TEXTS, dtype="string[python]"),
    "pandas string[pyarrow]": lambda: pd.Series(TEXTS, dtype="string[pyarrow]"),
    "pandas arrow": lambda: pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    "pandas category": lambda: pd.Series(TEXTS, dtype="category"),
    "pandas index": lambda: pd.Index(TEXTS, dtype=object),
    "pandas odd labels": lambda: pd.Series(TEXTS, index=range(50, 50 + len(TEXTS)), dtype=object),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("recipe", [None, "simhash", nd.Recipe(hash=blake, bits=136)])
def test_every_way_in_gives_the_same(way: str, recipe: Any) -> None:
    found = nd.fingerprints(WAYS[way](), recipe)
    assert list(found) == one_by_one(TEXTS, recipe)
    assert len(found) == len(TEXTS)


class OnlyArray:
    """A foreign column that knows the Arrow C interface and nothing else."""

    def __init__(self, array: pa.Array) -> None:
        self.array = array

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.array.__arrow_c_array__(requested_schema)


class OnlyStream:
    def __init__(self, array: pa.ChunkedArray) -> None:
        self.array = array

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.array.__arrow_c_stream__(requested_schema)


def test_foreign_arrow_columns() -> None:
    array = padded(pa.string())
    assert list(nd.fingerprints(OnlyArray(array))) == one_by_one(TEXTS)
    assert list(nd.fingerprints(OnlyStream(halves(array)))) == one_by_one(TEXTS)


@pytest.mark.parametrize(
    "nothing",
    [
        [],
        (),
        iter(()),
        pa.array([], pa.string()),
        pa.array([], pa.string_view()),
        pa.array([], pa.null()),
        pa.array(["a"]).slice(1),
        pa.chunked_array([], pa.large_string()),
        pa.array([], pa.string()).dictionary_encode(),
        pl.Series([], dtype=pl.String),
        pd.Series([], dtype=object),
        pd.Series([], dtype="string"),
    ],
    ids=lambda value: f"{type(value).__name__} {getattr(value, 'type', '')}",
)
@pytest.mark.parametrize("recipe", [None, nd.Recipe(hash=blake)])
def test_no_texts(nothing: Any, recipe: Any) -> None:
    found = nd.fingerprints(nothing, recipe)
    assert len(found) == 0
    assert list(found) == []
    assert found.values.shape == (0, 2)
    assert found.signal.shape == (0,)


@pytest.mark.parametrize("column", [pa.nulls(3), pa.nulls(3, pa.string()), pl.Series([None] * 3)])
def test_a_column_of_nothing_but_nulls(column: Any) -> None:
    assert list(nd.fingerprints(column)) == [None] * 3


def test_many_texts_take_many_batches() -> None:
    many = [f"text number {n % 500} of {n % 300} — é" if n % 7 else None for n in range(150_000)]
    expected = {text: nd.fingerprint(text) for text in set(many) if text is not None}
    found = nd.fingerprints(many)
    assert list(found) == [text and expected[text] for text in many]
    for column in (
        pa.chunked_array([pa.array(many[:70_001]), pa.array(many[70_001:])]),
        pl.concat([pl.Series(many[:70_001]), pl.Series(many[70_001:])], rechunk=False),
    ):
        other = nd.fingerprints(column)
        assert np.array_equal(found.values, other.values)
        assert np.array_equal(found.signal, other.signal)


# ----------------------------------------------------------------------------------- the result


@pytest.mark.parametrize("bits", WIDTHS)
def test_words_stand_least_significant_first(bits: int) -> None:
    recipe = nd.Recipe(bits=bits)
    text = "the quick brown fox"
    value = nd.fingerprint(text, recipe)
    assert value is not None
    assert value < 2**bits
    found = nd.fingerprints([text, "", text], recipe)
    words = -(-bits // 64)
    assert found.values.dtype == np.uint64
    assert found.signal.dtype == np.bool_
    assert found.values.shape == (3, words)
    assert [int(word) for word in found.values[0]] == [
        value >> 64 * at & (2**64 - 1) for at in range(words)
    ]
    assert not found.values[1].any()
    assert found.signal.tolist() == [True, False, True]


def test_slices_indices_and_iteration() -> None:
    found = nd.fingerprints(TEXTS)
    expected = one_by_one(TEXTS)
    assert [found[at] for at in range(len(TEXTS))] == expected
    assert [found[-at - 1] for at in range(len(TEXTS))] == expected[::-1]
    assert list(iter(found)) == list(found) == expected
    for part in (slice(None), slice(2, 7), slice(None, None, -1), slice(1, None, 3), slice(5, 5)):
        assert isinstance(found[part], nd.Fingerprints)
        assert list(found[part]) == expected[part]
        assert found[part].recipe is found.recipe
    for index in (len(TEXTS), -len(TEXTS) - 1):
        with pytest.raises(IndexError, match="out of bounds"):
            found[index]
    assert repr(found) == f"Fingerprints({len(TEXTS)} texts, 128 bits)"


@pytest.mark.parametrize(
    ("text", "least", "signal"),
    [
        ("word", 2, False),
        ("word word WORD", 2, False),
        ("word", 1, True),
        ("two words", 2, True),
        ("a b c d", 5, False),
        ("a b c d", 4, True),
        ({"a": 1, "b": 0}, 2, False),
        ([], 1, False),
    ],
)
def test_too_few_features_are_no_signal(text: Any, least: int, signal: bool) -> None:
    assert nd.Recipe().min_features == 2
    for hash_ in ("xxh3", blake):
        recipe = nd.Recipe(min_features=least, hash=hash_)
        assert (nd.fingerprint(text, recipe) is not None) is signal


@pytest.mark.parametrize("text", ["", " ", "?!", "…\n\t", "😀😀", "\u00ad\u200b", "\u0000"])
def test_a_text_without_words_has_no_signal(text: str) -> None:
    assert nd.fingerprint(text) is None
    assert list(nd.fingerprints([text])) == [None]
    for hash_ in ("xxh3", blake):
        assert nd.fingerprint(text, nd.Recipe(hash=hash_, min_features=1)) is None


def test_nul_is_a_character_like_any_other() -> None:
    recipe = nd.Recipe(tokens="chars", min_features=1)
    assert nd.fingerprint("\0", recipe) == reference.fingerprint("\0", recipe)
    assert nd.fingerprint("a\0b") == nd.fingerprint("a b")
    assert nd.fingerprint(["a\0", "b"]) != nd.fingerprint(["a", "b"])


# -------------------------------------------------------------------------------------- progress


@pytest.mark.parametrize("recipe", [None, nd.Recipe(hash=blake, bits=8)])
@pytest.mark.parametrize("make", [list, pa.array, pl.Series], ids=["list", "arrow", "polars"])
@pytest.mark.parametrize("count", [1, 999, 40_000])
def test_progress_grows_to_the_total(make: Any, recipe: Any, count: int) -> None:
    calls: list[tuple[int, int]] = []
    nd.fingerprints(make(["a b"] * count), recipe, progress=lambda *call: calls.append(call))
    done = [call[0] for call in calls]
    assert calls[-1] == (count, count)
    assert done == sorted(set(done))
    assert {call[1] for call in calls} == {count}


def test_progress_is_reported_during_the_run() -> None:
    calls: list[int] = []
    nd.fingerprints(["a b"] * 200_000, progress=lambda done, total: calls.append(done))
    assert len(calls) > 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
@pytest.mark.parametrize("make", [list, pa.array], ids=["list", "arrow"])
@pytest.mark.parametrize("recipe", [None, nd.Recipe(hash=blake, bits=8)])
def test_what_progress_raises_stops_the_run(
    make: Any, recipe: Any, error: type[BaseException]
) -> None:
    calls = 0

    def stop(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        raise error("enough")

    with pytest.raises(error, match="enough"):
        nd.fingerprints(make(["a b"] * 200_000), recipe, progress=stop)
    assert calls == 1
    assert nd.fingerprints(["a b"])[0] == nd.fingerprint("a b")


# --------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("text", ["\ud800", "é\udfff", "a" * 100 + "\udc80"])
def test_lone_surrogates(text: str) -> None:
    place = len(text) - 1
    with pytest.raises(ValueError, match=f"^text has a lone surrogate at position {place}, so it"):
        nd.fingerprint(text)
    with pytest.raises(ValueError, match=r"features\[1\]: the token .* has a lone surrogate"):
        nd.fingerprint(["a", text])
    for recipe in (None, nd.Recipe(hash=blake)):
        for many in (["ok", None, text], pd.Series(["ok", None, text], dtype=object)):
            with pytest.raises(ValueError, match=rf"texts\[2\] has a lone .* position {place}, so"):
                nd.fingerprints(many, recipe)


def test_a_surrogate_deep_in_a_long_list() -> None:
    with pytest.raises(ValueError, match=r"texts\[70000\] has a lone surrogate at position 1"):
        nd.fingerprints(["a b"] * 70_000 + ["b\ud800"])


@pytest.mark.parametrize("recipe", [None, nd.Recipe(hash=blake)])
@pytest.mark.parametrize(
    ("item", "name"), [(b"x", "bytes"), (5, "int"), (float("nan"), "float"), (["x"], "list")]
)
def test_texts_of_other_types(item: object, name: str, recipe: Any) -> None:
    message = rf"texts\[2\] is of type {name}; a text must be a str, or None"
    with pytest.raises(TypeError, match=message):
        nd.fingerprints(["a b", None, item], recipe)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", r"texts is one str; pass a list of str: \[text\] for a single one"),
        (b"bytes", "texts is one bytes; pass a list"),
        (bytearray(b"x"), "texts is one bytearray; pass a list"),
        (None, "texts is of type NoneType; pass an iterable of str, or an Arrow, Polars or"),
        (5, "texts is of type int; pass an iterable"),
        (pa.array([1, 2]), "texts is a column of int64; it must be a column of strings"),
        (pa.array([b"x"]), "texts is a column of binary; it must be"),
        (pa.array([["x"]]), r"texts is a column of list<.*>; it must be"),
        (pa.table({"a": ["x"]}), r"texts is a column of struct<a: string>; .*pick one"),
        (pl.DataFrame({"a": ["x"]}), "texts is a DataFrame; pick the column of texts"),
        (pl.Series([1.5]), "texts is a column of double"),
        (pd.Series([1, 2]), "texts is a column of int64"),
        (pd.DataFrame({"a": ["x"]}), "texts is a DataFrame; pick the column of texts"),
        (pd.Series(["a", 7], dtype=object), r"texts\[1\] is of type int"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_texts_that_are_none(texts: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        nd.fingerprints(texts)


def damaged(offsets: list[int], data: bytes) -> pa.Array:
    bounds = np.array(offsets, dtype="<i4").tobytes()
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(bounds), pa.py_buffer(data))


BROKEN = damaged([0, 1, 3], b"a\xff\xfe")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (BROKEN, r"texts\[1\] is not valid UTF-8"),
        (pa.chunked_array([pa.array(["a", "b"]), BROKEN]), r"texts\[3\] is not valid UTF-8"),
        # The second text starts within a character of the first.
        (damaged([0, 1, 2], "é".encode()), r"texts\[0\] is not valid UTF-8"),
        (damaged([0, 9, 3], b"abc"), "array is damaged: the offsets of row 0 leave its data"),
        (damaged([0, 3, 1], b"abc"), "array is damaged: the offsets of row 1 leave its data"),
    ],
    ids=range(5),
)
def test_damaged_arrow_columns(column: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nd.fingerprints(column)


@pytest.mark.parametrize(
    ("recipe", "error", "message"),
    [
        *(
            (
                name,
                ValueError,
                f"recipe is '{name}'; it must be one of default, default-2, simhash,",
            )
            for name in ("nonesuch", "Default", "", "default ")
        ),
        (5, TypeError, "recipe is of type int; pass a Recipe, a preset's name or a .toml file"),
        (b"default", TypeError, "recipe is of type bytes"),
        ("nonesuch.toml", FileNotFoundError, "nonesuch.toml"),
    ],
)
def test_recipes_that_are_none(recipe: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        nd.fingerprint("a b", recipe)
    with pytest.raises(error, match=message):
        nd.fingerprints(["a b"], recipe)


@pytest.mark.parametrize(
    ("error", "threads"),
    [
        *((ValueError, threads) for threads in (0, -1, 1025, 10**6, 10**30)),
        *((TypeError, threads) for threads in (True, 1.0, "2")),
    ],
)
def test_numbers_of_threads(error: type[Exception], threads: Any) -> None:
    message = rf"threads is {threads!r}; it must be a whole number from 1 to 1024, or None"
    for texts in ([], ["a b"], pa.array(["a b"])):
        with pytest.raises(error, match=message):
            nd.fingerprints(texts, threads=threads)
    with pytest.raises(error, match=message):
        nd.Recipe().fit(["a b"], threads=threads)


# -------------------------------------------------------------------------- features of many texts

# What programs feed: tokens with whole or written weights, lists and tuples, plain tokens.
TOKENS: list[Any] = [
    [["asdfasdf", 2], ["asdfa", 1], ["s", 0]],
    (("asdfasdf", 2), ("asdfa", 1), ("a", 0)),
    (["asdfasdf", "2"], ["asdfa", "1"], ["s", "0"]),
    {"asdfasdf": 2, "asdfa": 1},
    ["asdfasdf", "asdfa", "b"],
    None,
]


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("preset", ["weighted-tokens", "default", "lookup3"])
def test_features_in_the_place_of_texts(preset: str, bits: int) -> None:
    recipe = nd.Recipe.preset(preset, bits=64 if preset == "lookup3" else bits)
    found = nd.fingerprints(TOKENS, recipe)
    one_by_one = [None if item is None else nd.fingerprint(item, recipe) for item in TOKENS]
    assert list(found) == one_by_one
    assert found.values.shape == (6, recipe.bits // 64)
    assert found.signal.tolist() == [True] * 5 + [False]
    assert one_by_one[0] == one_by_one[1] == one_by_one[2] == one_by_one[3] != one_by_one[4]


def test_features_with_a_hash_of_ones_own() -> None:
    recipe = nd.Recipe(hash=blake)
    found = list(nd.fingerprints([["a", "b"], {"a": 1, "b": 1}], recipe))
    assert found == [nd.fingerprint(["a", "b"], recipe)] * 2


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        ([["a"], "a text"], TypeError, r"texts\[1\] is of type str; where the first has features"),
        ([["a"], 5], TypeError, r"texts\[1\] is of type int; where the first has features, all mu"),
        (["a text", ["a"]], TypeError, r"texts\[1\] is of type list; a text must be a str"),
        ([None, ["a", 5]], TypeError, r"texts\[1\]: features\[1\] is 5; it must be a token or"),
        ([{"a": -1}], ValueError, r"texts\[0\]: features\[0\] gives 'a' the weight -1"),
        ([["\ud800"]], ValueError, r"texts\[0\]: features\[0\]: the token .* has a lone surrogate"),
    ],
)
def test_features_that_are_wrong(texts: list[Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        nd.fingerprints(texts)
