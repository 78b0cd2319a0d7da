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
from neardup.text.comparison import DEFAULT_SIMILARITY
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
    backwards = " ".join(reversed(text.split()))
    if text.strip():
        assert nd.similarity(text, backwards) == pytest.approx(1.0, abs=CLOSE)


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
