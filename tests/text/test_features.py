"""Features: made from a text, or handed over."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from helpers.scripts import characters, texts_of_every_script
from neardup.text.features import Feature, features, token_hash
from reference import fingerprint as reference

DEFAULT = nd.Recipe()
SECOND = nd.Recipe.preset("default-2")


def pairs(value: Any, recipe: nd.Recipe = DEFAULT) -> list[tuple[str, float]]:
    return [(feature.token, feature.weight) for feature in features(value, recipe)]


# ------------------------------------------------------------------------------------ from a text


def test_features_of_a_text() -> None:
    text = "The cat, the CAT and the mat!"
    assert features(text, DEFAULT) == [
        Feature("the", 3, 2.125),
        Feature("cat", 2, 1.6875),
        Feature("and", 1, 1.0),
        Feature("mat", 1, 1.0),
    ]
    assert features(text, SECOND) == [
        Feature("the", 3, 0.5),
        Feature("cat", 2, 0.4375),
        Feature("and", 1, 0.25),
        Feature("mat", 1, 0.25),
    ]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("tf", [3, 1, 1]),
        ("binary", [1, 1, 1]),
        ("frequency", [3 / 5, 1 / 5, 1 / 5]),
        ("log", [round((1 + math.log(3)) * 16) / 16, 1, 1]),
        ("log-length", [round((1 + math.log(3)) * 4) / 16, 1, 0.125]),
    ],
)
def test_weights(weights: Any, expected: list[float]) -> None:
    recipe = SECOND.replace(weights=weights)
    assert pairs("the the quick an the", recipe) == list(
        zip(["the", "quick", "an"], expected, strict=True)
    )


@pytest.mark.parametrize(
    ("weight", "tokens"),
    [
        (1 / 16, "a ж é"),
        (1 / 8, "ab"),
        (1 / 4, "abc"),
        (1 / 2, "abcd жжжж"),
        (7 / 8, "我 カ ก"),
        (1, "abcde abcdefgh a1 7 ٣ กา 한국"),
    ],
)
def test_short_words_count_less(weight: float, tokens: str) -> None:
    for token in tokens.split():
        assert pairs(token, SECOND) == [(token, weight)]


# By the number of distinct tokens of the text, in sixteenths.
@pytest.mark.parametrize(
    ("token", "of_one", "of_12", "of_40", "of_60", "of_100", "of_300"),
    [
        ("a", 16, 16, 12, 8, 1, 1),
        ("ab", 16, 16, 12, 8, 2, 2),
        ("abc", 16, 16, 12, 8, 4, 4),
        ("abcd", 16, 16, 12, 12, 8, 8),
        ("für", 16, 16, 12, 8, 4, 4),
        ("abcde", 16, 16, 16, 16, 16, 16),
        ("x2y", 16, 16, 16, 16, 16, 16),
        # Six to sixteen: rising to half as much again; forty to two hundred: falling.
        ("7", 16, 21, 24, 23, 21, 16),
        ("x2", 16, 21, 24, 23, 21, 16),
        ("3rd", 16, 21, 24, 23, 21, 16),
        ("我", 12, 12, 8, 8, 8, 8),
        ("カ", 12, 12, 8, 4, 4, 4),
        ("ก", 12, 12, 8, 4, 4, 4),
        ("한", 8, 8, 6, 4, 4, 4),
    ],
)
def test_weights_follow_the_number_of_distinct_tokens(
    token: str, of_one: int, of_12: int, of_40: int, of_60: int, of_100: int, of_300: int
) -> None:
    expected = {1: of_one, 12: of_12, 40: of_40, 60: of_60, 100: of_100, 300: of_300}
    for distinct, weight in expected.items():
        others = "".join(
            f" others{chr(0x430 + at // 30)}{chr(0x430 + at % 30)}" for at in range(distinct - 1)
        )
        found = pairs(token + others)
        assert (len(found), found[0]) == (distinct, (token, weight / 16))


def test_characters_pairs_and_windows_have_weights_of_their_own() -> None:
    assert pairs("我爱", SECOND) == [("我", 7 / 8), ("我爱", 1), ("爱", 7 / 8)]
    # Beyond two, repeats count no more, except of pairs with Han.
    thrice = pairs("我爱。" * 3 + "かな。" * 3, SECOND)
    assert thrice[:3] == [("我", 1.5), ("我爱", 34 / 16), ("爱", 1.5)]
    assert thrice[3:] == [("か", 1.5), ("かな", 27 / 16), ("な", 1.5)]
    assert pairs("ภาษาไท", SECOND) == [
        *[("ภา", 1), ("าษ", 1), ("ษา", 1), ("าไ", 1), ("ไท", 1)],
        ("ภาษาไท", 1 / 2),
    ]
    assert pairs("ภาษาไท " * 3, SECOND)[-1] == ("ภาษาไท", 17 / 16)
    plain = nd.Recipe(weights="tf")
    assert pairs("我爱。" * 3, plain) == [("我", 3), ("我爱", 3), ("爱", 3)]


def test_the_same_in_version_3() -> None:
    assert pairs("我爱") == [("我", 3 / 4), ("我爱", 1), ("爱", 3 / 4)]
    # 1 + ln 2 = 1.69 for what counts twice at most, 1 + ln 3 = 2.10 for pairs with Han.
    thrice = pairs("我爱。" * 3 + "かな。" * 3)
    assert thrice[:3] == [("我", 20 / 16), ("我爱", 34 / 16), ("爱", 20 / 16)]
    assert thrice[3:] == [("か", 20 / 16), ("かな", 27 / 16), ("な", 20 / 16)]
    assert pairs("ภาษาไท")[-2:] == [("ไท", 1), ("ภาษาไท", 1 / 2)]
    assert pairs("한국어 말") == [
        *[("한국어", 3 / 4), ("한", 1 / 2), ("한국", 3 / 4), ("국", 1 / 2), ("국어", 3 / 4)],
        *[("어", 1 / 2), ("어말", 3 / 4), ("말", 1 / 2)],
    ]
    # A particle does not hide the number before it.
    assert [token for token, _ in pairs("3시에")] == ["3", "시", "시에", "에"]


@pytest.mark.parametrize(
    ("text", "signal"), [("我", False), ("我爱", True), ("ก", False), ("กา", False), ("กาก", True)]
)
def test_signal_of_a_few_characters(text: str, signal: bool) -> None:
    assert (nd.fingerprint(text) is not None) == signal


def test_a_token_that_comes_very_often() -> None:
    for count in (255, 256, 257, 100_000):
        weight = math.floor((1 + math.log(count)) * 16 + 0.5) / 16
        assert pairs("cherry " * count) == [("cherry", weight)]


def test_stop_words_are_taken_out_before_joining() -> None:
    recipe = nd.Recipe(ngram=2, stopwords=["THE", "of"], weights="tf")
    assert pairs("See the end of The road", recipe) == [("see end", 1), ("end road", 1)]
    built_in = nd.Recipe(stopwords="en+zh", weights="tf")
    assert [token for token, _ in pairs("the cat and 我们", built_in)] == ["cat"]


def test_top_keeps_the_heaviest_of_equals_the_first() -> None:
    recipe = nd.Recipe(weights="tf", top=3)
    assert pairs("e d d c b b a", recipe) == [("d", 2), ("b", 2), ("e", 1)]
    assert pairs({"e": 1, "d": 2, "c": 1, "b": 2, "a": 1}, recipe) == [("d", 2), ("b", 2), ("e", 1)]


def test_scale_cuts_to_whole_weights() -> None:
    recipe = nd.Recipe(scale=2.5)
    assert pairs({"a": 1.0, "b": 0.39, "c": 3}, recipe) == [("a", 2), ("b", 0), ("c", 7)]
    assert nd.fingerprint({"a": 1.0, "b": 0.39}, recipe) is None
    assert pairs("a b a", nd.Recipe(weights="frequency", scale=10)) == [("a", 6), ("b", 3)]


@given(
    texts_of_every_script(most=900),
    st.sampled_from([DEFAULT, SECOND]),
)
def test_default_features_equal_the_reference(text: str, recipe: nd.Recipe) -> None:
    assert pairs(text, recipe) == reference.features(text, recipe)


@given(
    st.text(characters(), max_size=80) | texts_of_every_script(),
    st.sampled_from(["tf", "log", "log-length", "frequency"]),
    st.integers(1, 3),
    st.sampled_from([2, 3]),
)
def test_features_equal_the_reference(text: str, weights: Any, ngram: int, version: Any) -> None:
    recipe = nd.Recipe(version=version, weights=weights, ngram=ngram)
    assert pairs(text, recipe) == reference.features(text, recipe)


def test_the_class_of_a_joined_token_is_that_of_the_whole() -> None:
    (token, weight), *_ = pairs("가나다라마바사 아자차", DEFAULT.replace(ngram=2))
    assert (token, weight) == ("가나다라마바사 아자차", 1)


# ------------------------------------------------------------------------------------- handed over


@pytest.mark.parametrize(
    "given_",
    [
        ["a", "b", "a"],
        ("a", "b", "a"),
        (token for token in "aba"),
        iter(["a", "b", "a"]),
        {"a": 2, "b": 1},
        [("a", 2), ("b", 1)],
        [("a", 1.5), ("b", "1"), ["a", 0.5]],
        [("a", "2.0"), ("b", " 1 ")],
        ["a", ("b", 1), ("a", 1)],
        {"a": "2", "b": "1e0"},
        {"a": np.float32(2), "b": np.int8(1)},
        {"a": Decimal(2), "b": Fraction(1)},
        np.array(["a", "b", "a"]),
    ],
    ids=lambda value: repr(value)[:40] if isinstance(value, list | dict) else None,
)
def test_every_form_of_features(given_: Any) -> None:
    assert pairs(given_) == [("a", 2), ("b", 1)]


def test_counts_of_given_features() -> None:
    mixed: list[Any] = [("a", 3), "b", ("a", 4)]
    assert features(mixed, DEFAULT) == [Feature("a", 2, 7), Feature("b", 1, 1)]


def test_tokens_are_taken_as_they_are() -> None:
    tokens = ["Ab c", "", "ab c", "\0", "😀"]
    assert [token for token, _ in pairs(tokens)] == tokens


@pytest.mark.parametrize(
    ("weight", "shown"),
    [
        (math.nan, "nan"),
        (-1, "-1.0"),
        (-1e-300, "-1e-300"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (10**400, "inf"),
        ("nan", "nan"),
        ("-3", "-3.0"),
        ("1e400", "inf"),
        (np.float64("nan"), "nan"),
    ],
)
def test_weights_out_of_range(weight: Any, shown: str) -> None:
    message = rf"features\[1\] gives 'b' the weight {shown}; a weight must be from 0 to about 1.8e"
    for given_ in ([("a", 1), ("b", weight)], {"a": 1, "b": weight}):
        for run in (nd.fingerprint, nd.explain, lambda value: nd.similarity(value, "a")):
            with pytest.raises(ValueError, match=message):
                run(given_)


@pytest.mark.parametrize("weight", ["", "heavy", "1,5", None, [], 1j, {}])
def test_weights_that_are_no_numbers(weight: Any) -> None:
    with pytest.raises(TypeError, match=r"features\[1\] has the weight .*; a weight must be a num"):
        nd.fingerprint([("a", 1), ("b", weight)])


def test_weights_that_add_up_to_too_much() -> None:
    with pytest.raises(ValueError, match=r"features\[2\] gives 'a' the weight inf; a weight must"):
        nd.fingerprint([("a", 1.7e308), ("b", 1), ("a", 1.7e308)])
    with pytest.raises(ValueError, match=r"features\[1\] gives 'b' the weight inf; a weight must"):
        nd.fingerprint([("a", 1), ("b", 1.7e308)], nd.Recipe(scale=20))


@pytest.mark.parametrize("votes", ["exact", "signed-float"])
def test_the_largest_and_smallest_weights(votes: Any) -> None:
    recipe = nd.Recipe(votes=votes)
    for weight in (1.1e308, 5e-324, 1e-320, 2.0**-1022):
        given_ = {"a": weight, "b": weight / 2, "c": 0.0}
        expected = reference.fingerprint_features(given_, recipe)
        assert nd.fingerprint(given_, recipe) == expected
    # With one voter heavier than all the others, its hash is the fingerprint.
    heavy = {"a": 1e300, "b": 1e-300, "c": 1.0}
    assert nd.fingerprint(heavy, recipe) == token_hash("a", recipe)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ([5], r"features\[0\] is 5; it must be a token or a \(token, weight\) pair"),
        (["a", None], r"features\[1\] is None; it must be a token or"),
        ([("a", 1, 2)], r"features\[0\] is \('a', 1, 2\); it must be a token or"),
        ([("a",)], r"features\[0\] is \('a',\); it must be"),
        ([(5, 1)], r"features\[0\] has the token 5; a token must be a str"),
        ([(b"a", 1)], r"features\[0\] has the token b'a'; a token must be a str"),
        ({5: 1}, r"features\[0\] has the token 5; a token must be a str"),
        ({None: 1}, r"features\[0\] has the token None; a token must be a str"),
        ([b"x"], r"features\[0\] is b'x'; it must be a token or a \(token, weight\) pair"),
        (b"ab", r"text is bytes; decode it first, for example with text.decode\('utf-8'\)"),
        (bytearray(b"ab"), "text is bytes; decode it first"),
        (5, "text is of type int; pass a str, tokens,"),
        (None, "text is of type NoneType; pass a str, tokens,"),
    ],
)
def test_features_that_are_none(given_: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        nd.fingerprint(given_)
    with pytest.raises(TypeError, match=message):
        nd.similarity(given_, "a")


def test_what_an_iterator_raises_is_passed_on() -> None:
    def broken() -> Any:
        yield "a"
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        nd.fingerprint(broken())


# ------------------------------------------------------------------------------------------ hashes


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_hashes_equal_the_reference(token: str) -> None:
    for name, widest in [
        ("xxh3", 512),
        ("md5", 128),
        ("md5-first", 128),
        ("python", 512),
        ("lookup3", 64),
        ("lookup3-yanyiwu", 64),
    ]:
        for bits in {8, 64, widest, min(widest, 200)}:
            recipe = nd.Recipe(hash=name, bits=bits)  # type: ignore[arg-type]
            assert token_hash(token, recipe) == reference.token_hash(token, recipe), name


@pytest.mark.parametrize("preset", ["simhash", "lookup3", "characters"])
def test_weights_no_float_can_add_up(preset: str) -> None:
    given_ = [("a", 1.7e308), ("b", 1.7e308)]
    for run in (nd.fingerprint, nd.explain):
        with pytest.raises(ValueError, match=r"the weights add up to more than 1\.8e308"):
            run(given_, preset)
    small = nd.Recipe.preset(preset, votes="exact")
    assert nd.fingerprint(given_, small) == nd.fingerprint([("a", 1), ("b", 1)], small)
