"""Recipes: what they refuse, what they are called, and how they are kept."""

import copy
import dataclasses
import functools
import math
import pickle
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfTransformer

import neardup as nd
from helpers.timing import assert_linear
from neardup.text.features import features, token_hash
from neardup.text.recipe import as_recipe
from neardup.text.vocabulary import Idf
from reference import fingerprint as reference

RESPONSES = (
    "neardup3 normalize=standard tokens=http weights=shares hash=xxh3 bits=128 tie=mask"
    " votes=exact min_features=2 views"
)
MASKED = (
    "masks=dates,timestamps,uuids,tokens,request-ids,cookies,cache-busters,ips,echo,durations,"
    "headers,classes"
)
VIEWS = {
    "http": "status:20,headers:10,title:10,tags:57,keys:57,text:3,body:57",
    "http-structure": "status:20,tags:80,keys:80,body:80",
    "http-text": "title:20,text:80",
    "http-headers": "status:25,headers:75",
}
# Promises: a fingerprint stored today is found again by a neardup of tomorrow.
IDENTITIES = {
    "default": "neardup3 normalize=standard tokens=words weights=log-length hash=xxh3 bits=128"
    " tie=mask votes=exact min_features=2",
    "default-2": "neardup2 normalize=nfkc_casefold tokens=words weights=log-length hash=xxh3"
    " bits=128 tie=mask votes=exact min_features=2",
    "simhash": r"neardup3 normalize=lower tokens=chars ngram=4 pattern=[\p{L}\p{N}_\u{4e00}-"
    r"\u{9fcc}]+ weights=tf hash=md5 bits=64 tie=zero votes=half-float",
    "weighted-tokens": "neardup3 normalize=none tokens=whitespace weights=tf hash=python bits=64"
    " tie=one votes=exact",
    "jieba-tfidf": "neardup3 normalize=none tokens=jieba-keywords weights=tfidf idf=jieba top=20"
    " scale=20.0 hash=python bits=64 tie=zero votes=exact",
    "characters": "neardup3 normalize=none tokens=chars weights=frequency hash=md5-first bits=64"
    " tie=zero votes=signed-float",
    "lookup3": "neardup3 normalize=none tokens=whitespace weights=tf hash=lookup3 bits=64 tie=zero"
    " votes=signed-float",
    "lookup3-yanyiwu": "neardup3 normalize=none tokens=jieba weights=tfidf idf=jieba top=5"
    " hash=lookup3-yanyiwu bits=64 tie=zero votes=signed-float",
    **{name: f"{RESPONSES}={views} {MASKED}" for name, views in VIEWS.items()},
}
CORPUS = ["the cat sat on the mat", "the dog", "a cat and a dog", "我爱自然语言处理", "", "?!"]


def made(**fields: Any) -> nd.Recipe:
    return nd.Recipe(**fields)


# ---------------------------------------------------------------------------------------- identity


def test_identities_are_promises() -> None:
    assert {name: nd.Recipe.preset(name).identity for name in nd.Recipe.presets()} == IDENTITIES


def test_identities_of_word_lists_and_tables_are_promises() -> None:
    stopped = made(stopwords=["the", "a"])
    assert " stopwords=995807c0126ae056 " in stopped.identity
    own_words = made(tokens="jieba", dictionary=["近似 10", "重复"])
    assert " dictionary=04fe042b0bde9db5 " in own_words.identity
    fitted = made(weights="tfidf", idf=Idf(2, {"b": 2, "a": 1}))
    assert " idf=115271e06b1f8bb1 " in fitted.identity


def one_hash(token: str) -> int:
    return len(token)


def other_hash(token: str) -> int:
    return len(token)


# Values that no two of which mean the same.
VALUES: dict[str, list[Any]] = {
    "normalize": ["standard", "fold", "nfkc_casefold", "nfkc", "casefold", "lower", "none"],
    "ngram": [1, 2, 3, 22],
    "stopwords": [None, "en", "zh", "en+zh", ["a"], ["a", "b"], ["ab"]],
    "top": [None, 1, 2, 12],
    "scale": [None, 0.5, 1, 2.5],
    "hash": ["xxh3", "md5", "md5-first", "python", "lookup3", one_hash, other_hash],
    "bits": [8, 16, 64],
    "tie": ["mask", "zero", "one"],
    "votes": ["exact", "signed-float", "half-float"],
    "min_features": [1, 2, 3],
}
TOKENS: list[dict[str, Any]] = [
    {"tokens": "words"},
    {"tokens": "lines"},
    {"tokens": "jieba"},
    {"tokens": "chars"},
    *[
        {"tokens": tokens, "pattern": pattern}
        for tokens in ("chars", "regex")
        for pattern in ("a", "a b", "a\tb", "a\nb", '"a b"', '"a\\u0020b"', "", "a=b tie=one", "é")
    ],
]
WEIGHTS: list[dict[str, Any]] = [
    {"weights": "log"},
    {"weights": "log-length"},
    {"weights": "tfidf", "idf": "jieba"},
    *[
        {"weights": "tfidf", "idf": Idf(documents, counts)}
        for documents, counts in [
            (3, {"a": 1}),
            (3, {"a": 1, "b": 2}),
            (3, {"a": 2, "b": 1}),
            (3, {"a\t1\nb": 2}),
            (3, {}),
            (31, {"a": 1}),
        ]
    ],
]
choices = st.fixed_dictionaries(
    {name: st.integers(0, len(values) - 1) for name, values in VALUES.items()}
    | {"TOKENS": st.integers(0, len(TOKENS) - 1), "WEIGHTS": st.integers(0, len(WEIGHTS) - 1)}
)


@functools.lru_cache(maxsize=64)
def chosen(choice: tuple[tuple[str, int], ...]) -> nd.Recipe:
    at = dict(choice)
    fields = {name: values[at[name]] for name, values in VALUES.items()}
    return made(**fields, **TOKENS[at["TOKENS"]], **WEIGHTS[at["WEIGHTS"]])


@settings(max_examples=200)
@given(choices, st.data())
def test_identities_differ_where_recipes_do(choice: dict[str, int], data: st.DataObject) -> None:
    field = data.draw(st.sampled_from(sorted(choice)))
    number = len({"TOKENS": TOKENS, "WEIGHTS": WEIGHTS}.get(field) or VALUES[field])
    changed = choice | {field: data.draw(st.integers(0, number - 1))}
    left, right = chosen(tuple(choice.items())), chosen(tuple(changed.items()))
    same = choice == changed
    assert (left == right) is same
    assert (left.identity == right.identity) is same
    assert "\n" not in left.identity
    if same:
        assert hash(left) == hash(right)


def test_every_single_change_is_seen() -> None:
    # Their own test: jieba with words added takes a tenth of a second to make.
    dictionaries = [{"tokens": "jieba", "dictionary": lines} for lines in (None, ["a"], ["a", "b"])]
    for table in (TOKENS, WEIGHTS, dictionaries):
        assert len({made(**fields).identity for fields in table}) == len(table)
    for name, values in VALUES.items():
        assert len({made(bits=8).replace(**{name: v}).identity for v in values}) == len(values)


def test_the_version_is_part_of_the_recipe(tmp_path: Path) -> None:
    second = made(version=2)
    assert second == nd.Recipe.preset("default-2")
    # The default of that version; others are named.
    assert second.normalize == "nfkc_casefold"
    assert made(version=2, normalize="none").normalize == "none"
    assert made(normalize="nfkc_casefold").identity.startswith("neardup3 normalize=nfkc_casefold ")
    assert kept(second, tmp_path) == second
    assert made(version=2, normalize="standard").identity.startswith("neardup2 normalize=standard ")
    assert made(normalize=None) == made()


def test_equal_content_is_an_equal_recipe(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("\ufeffthe\r\n a \n\nthe\n", "utf-8")
    lines = tmp_path / "dictionary.txt"
    lines.write_text("\ufeff近似 10\n重复\n", "utf-8")
    for same in (
        [made(stopwords=v) for v in (words, str(words), ["a", "the"], {"the", "a"}, ("the", "a "))],
        [made(stopwords="zh+en"), made(stopwords="en+zh")],
        [
            made(tokens="jieba", dictionary=v)
            for v in (lines, str(lines), ["近似 10", "重复"], ("近似 10", "重复"))
        ],
        [made(scale=20), made(scale=20.0), made(scale=np.float64(20))],
        [
            made(weights="tfidf", idf=Idf(3, {"a": 1, "b": 2})),
            made(weights="tfidf", idf=Idf(3, {"b": 2, "a": 1})),
        ],
        [made(), nd.Recipe.preset("default"), as_recipe(None), as_recipe("default")],
    ):
        assert len(set(same)) == 1
        assert len({recipe.identity for recipe in same}) == 1
        assert all(recipe == same[0] for recipe in same)


# ----------------------------------------------------------------------------------------- objects


def test_recipes_are_frozen() -> None:
    recipe = made()
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'bits'"):
        recipe.bits = 64  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'bits'"):
        del recipe.bits
    with pytest.raises(TypeError, match="positional argument"):
        nd.Recipe("none")  # type: ignore[arg-type, call-arg]
    with pytest.raises(TypeError, match="colour"):
        made(colour="red")


def test_replace_changes_only_the_given_fields() -> None:
    recipe = nd.Recipe.preset("simhash", stopwords=["the"])
    changed = recipe.replace(bits=128)
    assert (changed.bits, recipe.bits) == (128, 64)
    assert changed.replace(bits=64) == recipe
    assert nd.Recipe.preset("simhash", bits=128, stopwords=["the"]) == changed
    with pytest.raises(ValueError, match="bits is 7;"):
        recipe.replace(bits=7)
    with pytest.raises(TypeError, match="colour"):
        recipe.replace(colour="red")


def test_the_pipeline_is_made_once() -> None:
    recipe = made()
    assert recipe.pipeline is recipe.pipeline
    assert as_recipe("simhash") is as_recipe("simhash")
    assert as_recipe(recipe) is recipe


@pytest.mark.parametrize("name", IDENTITIES)
def test_a_used_recipe_can_be_copied_and_sent(name: str) -> None:
    changes = {"top": 3} if name in VIEWS else {"stopwords": ["the"]}
    recipe = nd.Recipe.preset(name, **changes)
    text = "the cat 我爱北京天安门 sat" + "\nstatus 200\nheader via\ntags 0p" * (name in VIEWS)
    value = nd.fingerprint(text, recipe)
    for other in (
        pickle.loads(pickle.dumps(recipe)),  # noqa: S301
        copy.copy(recipe),
        copy.deepcopy(recipe),
    ):
        assert other == recipe
        assert other.identity == recipe.identity
        assert nd.fingerprint(text, other) == value
    found = nd.fingerprints([text, ""], recipe)
    sent = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert list(sent) == list(found)
    assert nd.distance(sent[:1], found[:1]).tolist() == [0]


# ------------------------------------------------------------------------------------ save and load


def kept(recipe: nd.Recipe, folder: Path) -> nd.Recipe:
    path = folder / "recipe.toml"
    recipe.save(path)
    loaded = nd.Recipe.load(path)
    assert [file.name for file in folder.iterdir()] == ["recipe.toml"]
    return loaded


@pytest.mark.parametrize("name", IDENTITIES)
def test_presets_survive_a_file(name: str, tmp_path: Path) -> None:
    recipe = nd.Recipe.preset(name)
    loaded = kept(recipe, tmp_path)
    assert loaded == recipe
    assert loaded.identity == IDENTITIES[name]
    text = "the cat 我爱北京天安门 sat on the mat"
    for way in (tmp_path / "recipe.toml", str(tmp_path / "recipe.toml")):
        assert nd.fingerprint(text, way) == nd.fingerprint(text, name)


@settings(max_examples=50)
@given(choices)
def test_every_recipe_survives_a_file(
    tmp_path_factory: pytest.TempPathFactory, choice: dict[str, int]
) -> None:
    recipe = chosen(tuple((choice | {"hash": min(choice["hash"], 4)}).items()))
    loaded = kept(recipe, tmp_path_factory.mktemp("recipe"))
    assert loaded == recipe
    assert loaded.identity == recipe.identity


def test_a_fitted_recipe_survives_a_file(tmp_path: Path) -> None:
    odd = [*CORPUS, "\0 \x7f \x1b \t\r\n \u2028 \\ \" ' = [x] # \ufeff\U0001f600", "é e\u0301"]
    for recipe in (
        made(stopwords="en+zh").fit(odd),
        made(normalize="none", tokens="chars", ngram=3, stopwords=["\\", '"', "#"]).fit(odd),
    ):
        loaded = kept(recipe, tmp_path)
        assert loaded == recipe
        assert loaded.identity == recipe.identity
        assert list(nd.fingerprints(odd, loaded)) == list(nd.fingerprints(odd, recipe))


def test_a_function_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"hash is the function .*one_hash; a function cannot be"):
        made(hash=one_hash).save(tmp_path / "recipe.toml")
    assert list(tmp_path.iterdir()) == []


def test_saving_is_all_or_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"recipe\.toml"):
        made().save(tmp_path / "missing" / "recipe.toml")
    (tmp_path / "recipe.toml").mkdir()
    with pytest.raises(OSError, match=r"recipe\.toml"):
        made().save(tmp_path / "recipe.toml")
    assert [path.name for path in tmp_path.iterdir()] == ["recipe.toml"]


def test_a_hand_written_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('preset = "simhash"\nbits = 128\nstopwords = "en"\n', "utf-8")
    assert nd.Recipe.load(path) == nd.Recipe.preset("simhash", bits=128, stopwords="en")
    path.write_text("", "utf-8")
    assert nd.Recipe.load(path) == made()


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"bits = ", ValueError, r"mine\.toml is not a TOML file: Invalid value"),
        (b"\xff\xfe", ValueError, r"mine\.toml is not a TOML file: .*utf-8"),
        (
            b"colour = 1",
            ValueError,
            r"sets 'colour', which is not a field of a recipe; it may set preset, bits",
        ),
        (
            b"version = 1",
            ValueError,
            r"mine\.toml is of version 1; this neardup reads 2 and 3; leave",
        ),
        (
            b"version = 4",
            ValueError,
            r"mine\.toml is of version 4; .* or use the neardup that wrote",
        ),
        (b"version = 2.0", ValueError, r"is of version 2\.0; this neardup reads 2 and 3"),
        (b'version = "2"', ValueError, r"is of version '2'; this neardup reads 2 and 3"),
        (
            b'preset = "nope"',
            ValueError,
            "recipe is 'nope'; it must be one of default, default-2, sim",
        ),
        (b"bits = 12", ValueError, "bits is 12; it must be a multiple of 8 from 8 to 512"),
        (b'bits = "64"', TypeError, "bits is '64'; it must be a whole number from 8 to 512"),
        (b"hash = 5", ValueError, "hash is 5; it must be one of xxh3, md5,"),
        (b'weights = "tfidf"', ValueError, "idf is missing; fit the recipe"),
        (b'weights = "tfidf"\n[idf]\ndocuments = 3', ValueError, "must hold documents and counts"),
        (
            b'weights = "tfidf"\n[idf]\ndocuments = 3\n[idf.counts]\na = 4',
            ValueError,
            "counts of idf has 4 for 'a'; it must be a whole number from 0 to documents, 3",
        ),
        (b"stopwords = [1]", TypeError, r"stopwords\[0\] is 1; a stop word must be a str"),
    ],
)
def test_files_that_cannot_be_read(
    content: bytes, error: type[Exception], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(error, match=message):
        nd.Recipe.load(path)
    with pytest.raises(error, match=message):
        nd.fingerprint("a b", path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing\.toml"):
        as_recipe(str(tmp_path / "missing.toml"))
    with pytest.raises(ValueError, match=r"missing.txt', which cannot be read \(No such file"):
        made(stopwords=tmp_path / "missing.txt")
    with pytest.raises(ValueError, match=r"dictionary .*missing\.txt cannot be read: No such file"):
        made(tokens="jieba", dictionary=tmp_path / "missing.txt")


@pytest.mark.parametrize("value", [5, 1.5, b"default", [], {}])
def test_as_recipe_refuses_other_types(value: Any) -> None:
    name = type(value).__name__
    with pytest.raises(TypeError, match=f"recipe is of type {name}; pass a Recipe, a preset's"):
        as_recipe(value)


# --------------------------------------------------------------------------------------- bad fields


# Values of each number that are out of range or of another type, and what it must be.
NUMBERS: list[tuple[str, list[Any], list[Any], str]] = [
    ("version", [1, 4], ["3", 2.0, True, None], "a whole number from 2 to 3"),
    ("bits", [0, 7, -8, 520, 10**30], [True, "64", 64.0, None], "a whole number from 8 to 512"),
    ("bits", [12], [], "a multiple of 8 from 8 to 512"),
    ("ngram", [0, 1001], [True, 2.0], "a whole number from 1 to 1000"),
    ("top", [0, -1], ["5"], "a whole number from 1 to 1000000"),
    ("min_features", [0], [None], "a whole number from 1"),
    ("scale", [0, -1.5, math.nan, math.inf, 10**400], [], "above 0 and at most 1e+09"),
    ("scale", [], ["20", True], "a number above 0"),
]


@pytest.mark.parametrize(
    ("name", "value", "error", "must"),
    [
        (name, value, error, must)
        for name, out_of_range, other_types, must in NUMBERS
        for values, error in ((out_of_range, ValueError), (other_types, TypeError))
        for value in values
    ],
    ids=lambda value: str(value)[:30],
)
def test_numbers_that_cannot_be(name: str, value: Any, error: type[Exception], must: str) -> None:
    message = re.escape(f"{name} is {value!r}; it must be {must}")
    with pytest.raises(error, match=message):
        made(**{name: value})


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        (
            {"hash": "md5", "bits": 256},
            ValueError,
            "bits is 256, but hash 'md5' gives only 128; us",
        ),
        ({"hash": "md5-first", "bits": 136}, ValueError, "bits is 136, but hash 'md5-first' gives"),
        (
            {"hash": "lookup3", "bits": 128},
            ValueError,
            "bits is 128, but hash 'lookup3' gives only",
        ),
        ({"hash": "lookup3-yanyiwu"}, ValueError, "bits is 128, but hash 'lookup3-yanyiwu' gives"),
        ({"hash": "sha"}, ValueError, "hash is 'sha'; it must be one of xxh3, .*or a function"),
        ({"hash": None}, ValueError, "hash is None; it must be one of"),
        (
            {"normalize": "nfc"},
            ValueError,
            "normalize is 'nfc'; it must be one of standard, fold, nfkc",
        ),
        ({"tokens": "word"}, ValueError, "tokens is 'word'; it must be one of words, chars,"),
        ({"tokens": ["words"]}, ValueError, r"tokens is \['words'\]; it must be one of"),
        ({"weights": "bm25"}, ValueError, "weights is 'bm25'; it must be one of log, log-length,"),
        ({"tie": "random"}, ValueError, "tie is 'random'; it must be one of mask, zero, one"),
        (
            {"votes": "float"},
            ValueError,
            "votes is 'float'; it must be one of exact, signed-float,",
        ),
        ({"tokens": "regex"}, ValueError, 'tokens is "regex" but pattern is missing; pass the'),
        ({"pattern": "a"}, ValueError, 'pattern goes with tokens "regex" or "chars", not with "wo'),
        ({"tokens": "regex", "pattern": 5}, TypeError, "pattern is 5; it must be a str"),
        ({"tokens": "regex", "pattern": "("}, ValueError, r'pattern is "\(", which cannot be used'),
        ({"tokens": "chars", "pattern": "[a"}, ValueError, r'pattern is "\[a", which cannot be us'),
        ({"tokens": "regex", "pattern": r"(a)\1"}, ValueError, "backreferences are not supported"),
        ({"tokens": "regex", "pattern": r"(?=a)"}, ValueError, "look-around.* is not supported"),
        (
            {"tokens": "regex", "pattern": r"(?:\w{999}){999}"},
            ValueError,
            "exceeds size limit of 1",
        ),
        (
            {"tokens": "chars", "pattern": r"(?:\w{999}){999}"},
            ValueError,
            "exceeds size limit of 1",
        ),
        ({"tokens": "regex", "pattern": "(" * 999 + ")" * 999}, ValueError, "which cannot be used"),
        ({"idf": "jieba"}, ValueError, 'idf goes with weights "tfidf", not with "log-length"'),
        ({"idf": Idf(1, {}), "weights": "tf"}, ValueError, 'idf goes with weights "tfidf", not wi'),
        ({"weights": "tfidf"}, ValueError, 'weights is "tfidf" but idf is missing; fit the recipe'),
        ({"weights": "tfidf", "idf": "x"}, ValueError, "idf is 'x'; it must be \"jieba\", or come"),
        ({"weights": "tfidf", "idf": {}}, ValueError, r"idf is \{\}; it must be"),
        (
            {"dictionary": ["a"]},
            ValueError,
            'dictionary goes with tokens "jieba", not with "words"',
        ),
        (
            {"tokens": "jieba", "dictionary": ["a", "b x"]},
            ValueError,
            'dictionary line 2 is "b x";',
        ),
        (
            {"tokens": "jieba", "dictionary": [5]},
            TypeError,
            r"dictionary\[0\] is 5; a line must be",
        ),
        (
            {"tokens": "jieba", "dictionary": 5},
            TypeError,
            "dictionary is of type int; it must be a",
        ),
        ({"tokens": "jieba", "dictionary": b"x"}, TypeError, "dictionary is of type bytes"),
        ({"stopwords": "fr"}, ValueError, "stopwords is 'fr'; it must be a built-in list"),
        (
            {"stopwords": ["a", None]},
            TypeError,
            r"stopwords\[1\] is None; a stop word must be a str",
        ),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, dict) else None,
)
def test_fields_that_cannot_be(
    fields: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        made(**fields)


def test_a_dictionary_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "gbk.txt"
    path.write_bytes("近似".encode("gbk"))
    with pytest.raises(ValueError, match=r"dictionary .*gbk\.txt is not UTF-8"):
        made(tokens="jieba", dictionary=path)


@pytest.mark.parametrize(("end", "found"), [("!", False), ("", True)])
def test_a_hostile_pattern_runs_in_linear_time(end: str, found: bool) -> None:
    recipe = made(tokens="regex", pattern="(a+)+$", min_features=1)
    assert (nd.fingerprint("a" * 200_000 + end, recipe) is not None) is found
    assert_linear(lambda text: nd.fingerprint(text, recipe), lambda n: "a" * n + end, 200_000)


# ------------------------------------------------------------------------------------------ hashes


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (-1, ValueError, "hash gave -1 for the token 'cat'; it must not be negative"),
        (-(10**40), ValueError, "hash gave -10+ for the token 'cat'; it must not be negative"),
        (1.5, TypeError, "hash gave 1.5 for the token 'cat'; it must give a whole number or bytes"),
        (None, TypeError, "hash gave None for the token 'cat'; it must give"),
        ("x", TypeError, "hash gave 'x' for the token 'cat'"),
        (True, TypeError, "hash gave True for the token 'cat'"),
        (np.float64(2), TypeError, r"hash gave np.float64\(2.0\) for the token 'cat'"),
    ],
)
def test_what_a_hash_function_must_not_give(
    value: Any, error: type[Exception], message: str
) -> None:
    recipe = made(hash=lambda token: value)
    for run in (
        lambda: nd.fingerprint("cat dog", recipe),
        lambda: nd.fingerprint(["cat", "dog"], recipe),
        lambda: nd.fingerprints(["", "cat dog"], recipe),
        lambda: token_hash("cat", recipe),
    ):
        with pytest.raises(error, match=message):
            run()


def test_what_a_hash_function_may_give() -> None:
    for value, bits, expected in [
        (5, 8, 5),
        (2**600 + 5, 512, 5),
        (np.uint64(2**64 - 1), 128, 2**64 - 1),
        (np.int32(7), 8, 7),
        (b"", 8, 0),
        (b"\x01\x02", 8, 2),
        (b"\x01\x02", 64, 0x0102),
        (bytearray(b"\xff" * 100), 512, 2**512 - 1),
    ]:
        recipe = made(hash=lambda token, value=value: value, bits=bits, min_features=1)
        assert token_hash("cat", recipe) == expected
        assert nd.fingerprint("cat", recipe) == expected


def test_what_a_hash_function_raises_is_passed_on() -> None:
    def broken(token: str) -> int:
        raise LookupError(f"no {token}")

    for many in (["cat dog"], pa.array(["cat dog"])):
        with pytest.raises(LookupError, match="no cat"):
            nd.fingerprints(many, made(hash=broken))


def test_a_named_hash_that_is_called_as_a_function() -> None:
    plain = made(bits=64)
    own = made(bits=64, hash=lambda token: reference.xxh3(token, 64))
    assert list(nd.fingerprints(CORPUS, own)) == list(nd.fingerprints(CORPUS, plain))
    assert own.identity != plain.identity


# --------------------------------------------------------------------------------------------- fit


@pytest.mark.parametrize("ngram", [1, 2])
@pytest.mark.parametrize("threads", [None, 1, 3])
def test_fit_equals_scikit_learn(ngram: int, threads: int | None) -> None:
    recipe = made(ngram=ngram, stopwords=["on"])
    fitted = recipe.fit(CORPUS, threads=threads)
    counted = [Counter(reference.tokens(text, recipe)) for text in CORPUS]
    vocabulary = sorted(set().union(*counted))
    matrix = [[count[token] for token in vocabulary] for count in counted]
    table = TfidfTransformer(smooth_idf=True, norm=None).fit(matrix)
    weights = table.transform(matrix).toarray()
    assert isinstance(fitted.idf, Idf)
    assert fitted.idf.documents == len(CORPUS)
    assert dict(fitted.idf.counts) == {
        token: sum(token in count for count in counted) for token in vocabulary
    }
    for row, text in enumerate(CORPUS):
        for feature in features(text, fitted):
            exact = weights[row][vocabulary.index(feature.token)]
            assert feature.weight * 16 == int(feature.weight * 16)
            assert abs(feature.weight - exact) <= 1 / 32 + 1e-12
    unseen = features("zebra", fitted)[0].weight
    assert abs(unseen - (1 + math.log(1 + len(CORPUS)))) <= 1 / 32


def test_fit_keeps_the_rest_of_the_recipe() -> None:
    recipe = nd.Recipe.preset("simhash", stopwords="en", top=5)
    fitted = recipe.fit(iter(CORPUS))
    assert fitted.weights == "tfidf"
    assert fitted.replace(weights="tf", idf=None) == recipe
    again = fitted.fit(CORPUS)
    assert again == fitted
    assert again.identity == fitted.identity
    assert repr(fitted.idf) == f"Idf(documents=6, tokens={len(fitted.idf.counts)})"  # type: ignore[union-attr]


def test_fit_counts_no_missing_texts() -> None:
    texts = [CORPUS[0], None, *CORPUS[1:], None]
    expected = made().fit(CORPUS)
    assert made().fit(texts) == expected  # type: ignore[arg-type]
    assert made().fit(pa.array(texts)) == expected
    assert made().fit(pa.chunked_array([texts])) == expected


def test_fit_with_a_hash_function() -> None:
    fitted = made(hash=one_hash).fit(CORPUS)
    assert fitted.hash is one_hash
    assert nd.fingerprint(CORPUS[0], fitted) == reference.fingerprint(CORPUS[0], fitted)


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        ([], ValueError, "texts is empty; fit needs at least one text"),
        ([None], ValueError, "texts is empty; fit needs at least one text"),
        ("one text", TypeError, "texts is one str; pass a list of str"),
        (b"one text", TypeError, "texts is one bytes; pass a list of str"),
        (["a", 5], TypeError, r"texts\[1\] is of type int; a text must be a str"),
        (["a", "b", "\ud800"], ValueError, r"texts\[2\] has a lone surrogate at position 0"),
    ],
)
def test_texts_fit_refuses(texts: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        made().fit(texts)


@pytest.mark.parametrize(
    ("documents", "counts", "error", "message"),
    [
        (0, {}, ValueError, "documents of idf is 0; it must be a whole number from 1"),
        (-1, {}, ValueError, "documents of idf is -1; it must be a whole number from 1"),
        (1.5, {}, TypeError, "documents of idf is 1.5; it must be a whole number"),
        (2, {"a": 3}, ValueError, "counts of idf has 3 for 'a'; it must be .* 0 to documents, 2"),
        (2, {"a": -1}, ValueError, "counts of idf has -1 for 'a'"),
        (2, {"a": 1.0}, ValueError, "counts of idf has 1.0 for 'a'; it must be a whole number"),
        (2, {5: 1}, TypeError, "counts of idf has the token 5; a token must be a str"),
        (2, [("a", 1)], TypeError, r"counts of idf is \[\('a', 1\)\]; it must map tokens to"),
    ],
)
def test_tables_that_cannot_be(
    documents: Any, counts: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Idf(documents, counts)


def test_no_stop_words_are_none() -> None:
    assert made(stopwords=[]) == made()
    assert made(stopwords=[]).identity == made().identity


class Table:
    def look_up(self, token: str) -> int:
        return len(token)


def test_functions_without_a_name_of_their_own_are_distinguished() -> None:
    codes, others = {"a": 1}, {"a": 2}
    for one, other in (
        (codes.__getitem__, others.__getitem__),
        (Table().look_up, Table().look_up),
        (lambda token: 1, lambda token: 2),
    ):
        assert made(hash=one).identity != made(hash=other).identity
    assert made(hash=codes.__getitem__).identity == made(hash=codes.__getitem__).identity


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tokens": "regex", "pattern": "\ud800"}, "pattern has a lone surrogate at position 0"),
        ({"tokens": "jieba", "dictionary": ["a\ud800"]}, r"dictionary\[0\] has a lone surrogate"),
    ],
)
def test_settings_that_are_not_unicode(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**fields)
    with pytest.raises(ValueError, match=r"counts of idf: the token .* has a lone surrogate"):
        Idf(3, {"\ud800": 1})


def test_fit_leaves_out_what_pandas_lacks() -> None:
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(["a b", None, "c d"])
    assert nd.Recipe().fit(column) == nd.Recipe().fit(["a b", "c d"])
