"""Two texts: cosine, verdict and shared passages."""

import math
import random
import subprocess
import sys
import textwrap
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import cosine_similarity

import neardup as nd
from neardup import _core
from neardup.text.comparison import DEFAULT_SIMILARITY, own_tokens, unit_of
from neardup.text.differences import differences
from neardup.text.features import features
from reference import fingerprint as reference

VOCABULARY = [
    "the",
    "cat",
    "sat",
    "Mat",
    "naïve",
    "on",
    "a",
    "我爱",
    "你好",
    "3.14",
    "don't",
    "quick",
]
texts = st.lists(st.sampled_from(VOCABULARY), max_size=40).map(" ".join)
CLOSE = 1e-12


def textbook(left: dict[str, float], right: dict[str, float]) -> float:
    """The cosine with exact sums, rounded only by the square root."""
    dot = sum(
        (Fraction(w) * Fraction(right.get(token, 0)) for token, w in left.items()), Fraction()
    )
    norms = [sum((Fraction(w) ** 2 for w in side.values()), Fraction()) for side in (left, right)]
    return math.sqrt(dot**2 / (norms[0] * norms[1]))


def bag(text: str, recipe: Any) -> dict[str, float]:
    return dict(reference.features(text, recipe))


# ------------------------------------------------------------------------------------------ cosine


@pytest.mark.parametrize(("weights", "binary"), [("tf", False), ("binary", True)])
@given(st.lists(texts, min_size=2, max_size=6))
def test_cosine_equals_scikit_learn(weights: Any, binary: bool, many: list[str]) -> None:
    recipe = nd.Recipe(weights=weights)
    many = [text for text in many if text.strip()]
    assume(len(many) >= 2)
    vectorizer = CountVectorizer(
        analyzer=lambda text: reference.tokens(text, recipe), binary=binary
    )
    expected = cosine_similarity(vectorizer.fit_transform(many))
    found = [[nd.similarity(a, b, recipe) for b in many] for a in many]
    assert np.allclose(found, expected, atol=CLOSE)


@pytest.mark.parametrize(
    "recipe",
    [
        nd.Recipe(),
        nd.Recipe.preset("default-2"),
        nd.Recipe(weights="log", ngram=2),
        nd.Recipe(weights="frequency"),
        nd.Recipe(weights="tf", top=3),
        nd.Recipe(weights="log", scale=3.5),
        nd.Recipe().fit(["the cat sat", "on the mat", "我爱 你好"]),
        nd.Recipe.preset("simhash"),
        nd.Recipe.preset("jieba-tfidf"),
    ],
    ids=lambda recipe: recipe.identity[:90],
)
@given(texts, texts)
def test_cosine_equals_the_exact_formula(recipe: nd.Recipe, a: str, b: str) -> None:
    left, right = bag(a, recipe), bag(b, recipe)
    found = nd.similarity(a, b, recipe)
    if left and right:
        assert abs(found - textbook(left, right)) < CLOSE
    else:
        assert found == (a == b)
    assert 0.0 <= found <= 1.0
    assert nd.similarity(b, a, recipe) == found
    # Features are a text in another form.
    pairs = [(feature.token, feature.weight) for feature in features(a, recipe)]
    if left and right and recipe.top is None and recipe.scale is None:
        assert nd.similarity(pairs, b, recipe) == found
        assert nd.similarity(dict(pairs), features_of(b, recipe), recipe) == found


def features_of(text: str, recipe: nd.Recipe) -> dict[str, float]:
    return {feature.token: feature.weight for feature in features(text, recipe)}


@given(texts)
def test_a_text_is_like_itself(text: str) -> None:
    assert nd.similarity(text, text) == pytest.approx(1.0, abs=CLOSE)
    # Where no pairs reach over a space, the order of words makes no difference.
    backwards = " ".join(reversed(text.split()))
    if text.strip():
        assert nd.similarity(text, backwards, "default-2") == pytest.approx(1.0, abs=CLOSE)


def test_cosine_does_not_depend_on_bits_or_hash() -> None:
    a, b = "the cat sat on the mat", "a cat sat on a naïve mat"
    expected = nd.similarity(a, b)
    for recipe in (
        nd.Recipe(bits=8),
        nd.Recipe(bits=512),
        nd.Recipe(hash="md5"),
        nd.Recipe(hash=len),
        nd.Recipe(min_features=100),
    ):
        assert nd.similarity(a, b, recipe) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("", "", 1.0),
        ("?!", "?!", 1.0),
        ("?!", "", 0.0),
        ("?", "!", 0.0),
        ("", "the cat", 0.0),
        ("the cat", "...", 0.0),
        ("alpha", "beta", 0.0),
        ([], [], 1.0),
        ([], ["a"], 0.0),
        ({"a": 0}, {"a": 0}, 1.0),
        ({"a": 0}, {"b": 0}, 0.0),
        ({"a": 0}, {"a": 1}, 0.0),
        ("", [], 1.0),
    ],
)
def test_nothing_is_like_nothing_but_itself(a: Any, b: Any, expected: float) -> None:
    assert nd.similarity(a, b) == nd.similarity(b, a) == expected


def test_cosine_of_ready_features() -> None:
    assert nd.similarity({"a": 3}, {"a": 4}) == 1.0
    assert nd.similarity({"a": 3, "b": 4}, ["a"]) == pytest.approx(0.6)
    mixed: list[Any] = ["a", "a", "a", ("b", "4")]
    assert nd.similarity(mixed, {"a": 1}) == pytest.approx(0.6)
    assert nd.similarity(iter("ab"), iter("bc")) == pytest.approx(0.5)


def test_bad_texts() -> None:
    with pytest.raises(ValueError, match="left text has a lone surrogate at position 1, so it is"):
        nd.similarity("é\ud800", "b")
    with pytest.raises(ValueError, match="right text has a lone surrogate at position 0, so it is"):
        nd.similarity("a", "\ud800")
    with pytest.raises(TypeError, match="text is of type NoneType; pass a str"):
        nd.similarity("a", None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="text is bytes; decode it first"):
        nd.similarity(b"a", "a")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="recipe is 'nope'; it must be one of"):
        nd.similarity("a", "a", "nope")


# ----------------------------------------------------------------------------------------- compare


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("the cat sat on the mat", "the cat sat on the mat", "identical"),
        ("", "", "identical"),
        ("?!", "?!", "identical"),
        ("The cat sat on the mat.", "the CAT sat, on the mat", "near-duplicate"),
        ("Straße und Haus", "STRASSE UND HAUS", "near-duplicate"),
        ("the quick brown fox", "nothing of the kind here", "different"),
        ("", "the cat", "different"),
        ("?", "!", "different"),
        # Too few features to be sure of anything.
        ("word", "Word", "different"),
    ],
)
def test_verdicts(a: str, b: str, verdict: str) -> None:
    found = nd.compare(a, b)
    assert found.verdict == verdict
    assert nd.compare(b, a).verdict == verdict
    assert found.similarity == nd.similarity(a, b)
    assert found.threshold == DEFAULT_SIMILARITY == 0.85
    assert found.recipe == nd.Recipe()
    left, right = nd.fingerprint(a), nd.fingerprint(b)
    expected = None if left is None or right is None else nd.distance(left, right)
    assert found.distance == expected


WORDS = [f"word{number}" for number in range(100)]
OTHERS = [f"other{number}" for number in range(2000)]
HAN = [chr(0x4E00 + number) for number in range(300)]
OTHER_HAN = [chr(0x6000 + number) for number in range(6000)]


@pytest.mark.parametrize(
    ("left", "right", "verdict", "container"),
    [
        # Insertions: near-duplicate or not, the right text contains the left one.
        ([*WORDS], [*WORDS[:50], *OTHERS[:20], *WORDS[50:]], "near-duplicate", "right"),
        ([*WORDS], [*WORDS[:50], *OTHERS[:60], *WORDS[50:]], "contained", "right"),
        ([*WORDS], [*OTHERS[:900], *WORDS, *OTHERS[900:]], "contained", "right"),
        ([*WORDS[:20]], [*WORDS], "contained", "right"),
        # A fifth of the contained text may differ, no more.
        ([*WORDS[:80], *OTHERS[:20]], [*WORDS[:80], *OTHERS[20:200]], "contained", "right"),
        ([*WORDS[:79], *OTHERS[:21]], [*WORDS[:79], *OTHERS[21:200]], "partly copied", None),
        # As much of its own in both: neither contains the other.
        ([*WORDS[:80], *OTHERS[:20]], [*WORDS[:80], *OTHERS[20:40]], "partly copied", None),
        ([*WORDS[:80], *OTHERS[:20]], [*WORDS[:80], *OTHERS[20:99]], "partly copied", None),
        ([*WORDS[:80], *OTHERS[:20]], [*WORDS[:80], *OTHERS[20:100]], "contained", "right"),
        # A word less and another is no containment.
        (["not", "fifty", *WORDS[:7]], ["five", *WORDS[:7]], "near-duplicate", None),
        # A tenth of a text, or 20 words.
        ([*WORDS[:10], *OTHERS[:90]], [*WORDS[:10], *OTHERS[90:900]], "partly copied", None),
        ([*WORDS[:10], *OTHERS[:91]], [*WORDS[:10], *OTHERS[91:900]], "different", None),
        ([*WORDS[:20], *OTHERS[:900]], [*WORDS[:20], *OTHERS[900:]], "partly copied", None),
        ([*WORDS[:19], *OTHERS[:900]], [*WORDS[:19], *OTHERS[900:]], "different", None),
        # The same words, however often: nothing is added.
        ([*WORDS], [*WORDS, *WORDS], "near-duplicate", None),
        ([*WORDS[:5]], [*WORDS], "different", None),
    ],
)
def test_verdicts_by_coverage(
    left: list[str], right: list[str], verdict: str, container: str | None
) -> None:
    a, b = " ".join(left), " ".join(right)
    found = nd.compare(a, b)
    assert (found.verdict, found.container) == (verdict, container)
    assert (found.words_left, found.words_right, found.unit) == (len(left), len(right), "words")
    swapped = {"left": "right", "right": "left", None: None}[container]
    back = nd.compare(b, a)
    assert (back.verdict, back.container) == (verdict, swapped)


@pytest.mark.parametrize(
    ("shared", "verdict"), [(39, "different"), (40, "partly copied"), (250, "partly copied")]
)
def test_chinese_verdicts_count_characters(shared: int, verdict: str) -> None:
    left = "".join([*HAN[:shared], *OTHER_HAN[:3000]])
    right = "".join([*HAN[:shared], *OTHER_HAN[3000:]])
    found = nd.compare(left, right)
    assert (found.verdict, found.unit, found.longest) == (verdict, "characters", shared)


def test_compare_has_what_differs() -> None:
    left, right = "Take 5 mg if a == b, not now", "take 50 mg if a != b now please"
    found = nd.compare(left, right)
    assert found.differences == differences(left, right)
    assert found.differences.aspects == ("numbers", "negation", "symbols")
    assert own_tokens(found.differences) == {
        "numbers": (("5",), ("50",)),
        "negation": (("not",), ()),
        "symbols": (("==",), ("!=",)),
        "words": (("5", "not"), ("50", "please")),
    }
    assert nd.compare("man bites dog", "dog bites man").differences.order
    assert nd.compare(left, left).differences.aspects == ()


def test_a_radius_decides() -> None:
    a, b = "one two three four five six", "one two three four five seven"
    distance = nd.compare(a, b, "simhash").distance
    assert distance
    for radius, verdict in [(0, "different"), (distance - 1, "different"), (64, "near-duplicate")]:
        found = nd.compare(a, b, "simhash", radius=radius)
        assert (found.verdict, found.radius, found.threshold) == (verdict, radius, None)
    assert nd.compare(a, b, "simhash", radius=distance).verdict == "near-duplicate"
    # Without a fingerprint there is no distance.
    assert nd.compare("?", "!", radius=128).verdict == "different"
    with pytest.raises(ValueError, match="radius is 65; it must be a whole number from 0 to 64"):
        nd.compare(a, b, "simhash", radius=65)
    with pytest.raises(ValueError, match="similarity and radius exclude each other"):
        nd.compare(a, b, similarity=0.85, radius=3)


@pytest.mark.parametrize(
    ("texts", "unit"),
    [
        (("", ""), "words"),
        (("?!", "…"), "words"),
        (("soup", "Straße, “naïve”, борщ, 안녕하세요, नमस्ते, مرحبا"), "words"),
        (("soup of the day " * 3, "汤"), "words"),
        (("汤" * 10, "soup of the day"), "words and characters"),
        (("昨天 GDP 增长百分之五", "今天 2026 年的报告说得很清楚"), "characters"),
        (("スープ", "สวัสดี"), "characters"),
        (("&#20170;&#x5929;", "tea"), "words and characters"),
    ],
)
def test_what_words_are(texts: tuple[str, str], unit: str) -> None:
    assert unit_of(*texts) == nd.compare(*texts).unit == unit


def test_no_character_of_a_script_without_spaces_is_overlooked() -> None:
    chars = [chr(code) for code in range(0x80, 0x110000) if not 0xD800 <= code < 0xE000]
    starts, _, is_character = _core.units("\n".join(chars))
    found = {chars[start // 2] for start in starts[is_character].tolist()}
    assert len(found) > 90_000
    assert {char for char in found if unit_of(char) != "characters"} == set()


def test_the_threshold_decides() -> None:
    a, b = "one two three four five six", "one two three four five seven"
    cosine = nd.similarity(a, b)
    assert 0 < cosine < 1
    for threshold, verdict in [
        (0, "near-duplicate"),
        (cosine, "near-duplicate"),
        (math.nextafter(cosine, 2), "different"),
        (1, "different"),
    ]:
        found = nd.compare(a, b, similarity=threshold)
        assert (found.verdict, found.threshold) == (verdict, threshold)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan, math.inf, 85])
def test_thresholds_out_of_range(threshold: float) -> None:
    with pytest.raises(ValueError, match=f"similarity is {threshold}; it must be a number from 0"):
        nd.compare("a", "b", similarity=threshold)


def test_compare_takes_texts_only() -> None:
    with pytest.raises(TypeError, match="a is of type list; it must be a str"):
        nd.compare(["a"], "b")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="b is of type NoneType; it must be a str"):
        nd.compare("a", None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has a lone surrogate at position 1"):
        nd.compare("a", "b\ud800")


def test_compare_with_another_recipe() -> None:
    found = nd.compare("the cat", "the cat sat", "weighted-tokens")
    assert found.recipe == nd.Recipe.preset("weighted-tokens")
    assert found.similarity == pytest.approx(math.sqrt(2 / 3))
    own = nd.compare("the cat", "the cat sat", nd.Recipe(hash=len, bits=8))
    assert own.distance is not None


# ---------------------------------------------------------------------------------------- passages


def test_compare_has_what_is_shared() -> None:
    a = "Tea was brought to the harbour by ship and the town drank it gladly ever after"
    b = "They say " + a.replace("harbour", "port")
    found, shared = nd.compare(a, b), nd.shared(a, b)
    for name in ("passages", "longest", "coarse"):
        assert getattr(found, name) == getattr(shared, name)
    for side in ("left", "right"):
        assert getattr(found, f"coverage_{side}") == getattr(shared, f"coverage_{side}") > 0.8
        assert getattr(found, f"containment_{side}") == getattr(shared, f"containment_{side}") > 0.6
    assert nd.compare(a, b, bridge=0, min_words=10).longest == 10
    assert nd.compare(a, b, bridge=0, min_words=11).passages == ()


def run_alone(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("words(1)", "words(2)"),
        ("words(1)", "words(1)[3_000_000:] + words(1)[:3_000_000]"),
        ("'a b ' * 1_250_000", "'a b c ' * 833_000"),
        ("'我' * 1_700_000", "'我' * 1_699_000 + '你'"),
        ("'a' + '\\u0301' * 2_500_000", "'b' + '\\u0301\\u0323' * 1_250_000"),
    ],
    ids=["strangers", "turned", "two words", "han", "marks"],
)
def test_five_megabytes_against_five(left: str, right: str) -> None:
    run_alone(f"""
        import random, time
        import neardup as nd
        def words(seed):
            rng = random.Random(seed)
            vocabulary = [f"w{{n}}" for n in range(5000)]
            return " ".join(rng.choices(vocabulary, k=900_000))
        a, b = {left}, {right}
        assert min(len(a.encode()), len(b.encode())) >= 4_900_000
        start = time.process_time()
        nd.compare(a, b)
        seconds = time.process_time() - start
        assert seconds < 8, seconds
    """)


def test_shuffled_sentences_are_found_again() -> None:
    rng = random.Random(5)
    sentences = [" ".join(f"s{i}w{j}" for j in range(8)) + "." for i in range(30)]
    turned = rng.sample(sentences, len(sentences))
    found = nd.compare(" ".join(sentences), " ".join(turned))
    assert (found.coverage_left, found.coverage_right) == (1.0, 1.0)


def test_a_text_is_exactly_as_similar_as_can_be_to_itself() -> None:
    assert nd.similarity("alpha beta", "beta alpha") == 1.0
    assert nd.compare("alpha beta", "beta alpha", similarity=1.0).verdict == "near-duplicate"


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0, 1e200, 1.7e308])
def test_the_size_of_weights_does_not_matter(size: float) -> None:
    half = nd.similarity({"a": size, "b": size}, {"a": size, "c": size})
    assert half == pytest.approx(0.5, abs=1e-15)
    assert nd.similarity({"a": size}, {"a": 2.0}) == pytest.approx(1.0, abs=1e-15)


def test_near_duplicates_have_a_signal_in_both_texts() -> None:
    long, short = "harbour street", "harbour"
    assert nd.fingerprint(long) is not None
    assert nd.fingerprint(short) is None
    assert nd.similarity(long, short) > 0.5
    assert nd.compare(long, short, similarity=0.5).verdict == "different"
    assert nd.compare(short, long, similarity=0.5).verdict == "different"
