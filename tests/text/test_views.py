"""Recipes for HTTP responses: a view cut into tokens, each part of it counting in its share."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from helpers.timing import assert_linear
from neardup.text.features import features
from neardup.text.views import MASKS, VIEWS, Viewing, ViewWeights
from reference import fingerprint as reference

HTTP = nd.Recipe.preset("http")
PRESETS = ("http", "http-structure", "http-text", "http-headers")
PAGE = """status 404
header server nginx/1.18.0
header date
title 404 Not Found
tags 0html 1head 2title 1body 2center 3h1 2hr 2center
text 404 Not Found
text nginx/1.18.0"""

values = st.text("ab1 汉漢か한국٣ก.-/:;=>[]‹›_", max_size=14)
lines = st.builds(
    lambda name, value: f"{name} {value}",
    st.sampled_from([*("status", "header", "title", "tags", "keys", "text", "body", "other")]),
    values,
) | st.lists(
    st.builds(lambda depth, tag: f"{depth}{tag}", st.integers(0, 5), st.sampled_from(["a", "b.c"])),
    max_size=12,
).map(lambda tags: f"tags {' '.join(tags)}")
groups = st.sampled_from(["", "within example.com\n", f"within {'long' * 40}\n", "within \n"])
views = st.builds(
    lambda group, found: group + "\n".join(found), groups, st.lists(lines, max_size=9)
)


def weights(text: str, recipe: nd.Recipe = HTTP) -> dict[str, float]:
    return {feature.token: feature.weight for feature in features(text, recipe)}


def share(found: dict[str, float], view: str) -> float:
    squares = {token: weight * weight for token, weight in found.items()}
    of_view = sum(w for token, w in squares.items() if reference.view_of(token) == view)
    return of_view / sum(squares.values())


# ------------------------------------------------------------------------------- against the twin


@given(views, st.sampled_from(PRESETS))
def test_features_equal_the_reference(text: str, name: str) -> None:
    recipe = nd.Recipe.preset(name)
    assert weights(text, recipe) == dict(reference.features(text, recipe))


@given(views, st.sampled_from(["xxh3", "md5", "lookup3"]), st.sampled_from([8, 64, 128, 256]))
def test_every_road_gives_the_same(text: str, name: Any, bits: int) -> None:
    recipe = HTTP.replace(hash=name, bits=min(bits, {"md5": 128, "lookup3": 64}.get(name, 512)))
    found = features(text, recipe)
    code = nd.fingerprint(text, recipe)
    assert nd.explain(text, recipe).value == code
    pairs = [(feature.token, feature.weight) for feature in reversed(found)]
    assert nd.fingerprint(pairs, recipe) == code
    assert list(nd.fingerprints([text, None, text], recipe)) == [code, None, code]
    assert list(nd.fingerprints([pairs], recipe)) == [code]


@given(views, views)
def test_similarity_is_the_cosine_of_the_features(left: str, right: str) -> None:
    one, two = weights(left), weights(right)
    if not one or not two:
        return
    dot = sum(weight * two.get(token, 0.0) for token, weight in one.items())
    norm = math.hypot(*one.values()) * math.hypot(*two.values())
    assert nd.similarity(left, right, HTTP) == pytest.approx(dot / norm, abs=1e-9)


@given(views, st.randoms(use_true_random=False))
def test_the_order_of_lines_does_not_matter(text: str, rng: Any) -> None:
    first, *rest = text.split("\n")
    rng.shuffle(rest)
    other = "\n".join([first, *rest])
    assert weights(other) == weights(text)
    assert nd.fingerprint(other, HTTP) == nd.fingerprint(text, HTTP)


# ------------------------------------------------------------------------------------ what counts


def test_the_features_of_a_page() -> None:
    found = weights(PAGE)
    assert set(found) >= {
        "status=404",
        *("header=server", "header=server=nginx", "header=server=0.0.0"),
        *("title: 404 not found", "title=404", "title=not", "title=found"),
        *("path=html>body>center", "path=body>center>h1", "tags=html head title"),
        *("404", "found", "nginx", "0.0.0"),
    }
    assert "header=date" not in found
    there = {view: HTTP.views[view] for view in ("status", "headers", "title", "tags", "text")}  # type: ignore[index]
    tags = sum(reference.view_of(token) == "tags" for token in found)
    left = there["tags"] * 256 / (tags**2 + 256)
    there["tags"] -= left
    there["text"] += left
    for view, part in there.items():
        assert share(found, view) == pytest.approx(part / sum(there.values()), abs=0.002)


@pytest.mark.parametrize("number", [1, 10, 1000, 100_000])
def test_a_view_has_its_share_whatever_its_length(number: int) -> None:
    recipe = HTTP.replace(views={"status": 1, "text": 3})
    words = " ".join(f"word{at}" for at in range(number))
    found = weights(f"status 200\ntext {words}", recipe)
    assert share(found, "status") == pytest.approx(0.25, abs=0.01)
    assert math.hypot(*found.values()) == pytest.approx(1000, rel=0.01)


def test_the_status_distinguishes_pages() -> None:
    assert nd.similarity(PAGE, PAGE.replace("status 404", "status 200"), HTTP) < 0.85


def test_a_plain_text_counts_as_text() -> None:
    text = "The quick brown fox jumps over the lazy dog"
    found = weights(text)
    plain = {feature.token for feature in features(text, nd.Recipe())}
    assert plain <= set(found)
    assert weights(f"text {text}") == found


def test_neighbours_are_joined_where_tags_do_not_count() -> None:
    text = "The quick brown fox jumps over the lazy dog"
    joined = {"the quick brown", "the lazy dog"}
    assert set(weights(text, nd.Recipe.preset("http-text"))) >= joined
    assert not joined & set(weights(text))


@pytest.mark.parametrize("text", ["", "\n\n", "status", "header ", "tags \nkeys\nbody", "text ?!"])
def test_a_view_of_nothing_has_no_signal(text: str) -> None:
    assert weights(text) == {}
    assert nd.fingerprint(text, HTTP) is None


def test_groups_are_never_alike_and_change_nothing_within() -> None:
    assert nd.similarity(PAGE, PAGE.replace("1.18.0", "1.20.1"), HTTP) == 1
    other = PAGE.replace("nginx", "openresty")
    alike = nd.similarity(PAGE, other, HTTP)
    assert 0.5 < alike < 1
    left, right = (f"within {host}\n{PAGE}" for host in ("a.example", "b.example"))
    assert nd.similarity(left, right, HTTP) == 0
    assert nd.similarity(left, f"within a.example\n{other}", HTTP) == alike
    assert nd.similarity(left, PAGE, HTTP) == 0


def test_views_that_were_not_asked_for_do_not_count() -> None:
    recipe = nd.Recipe.preset("http-headers")
    assert set(map(reference.view_of, weights(PAGE, recipe))) == {"status", "headers"}
    assert weights("text a plain text", recipe) == {}


@pytest.mark.parametrize(
    "make",
    [
        lambda size: "tags " + " ".join(f"{depth}div" for depth in range(size)),
        lambda size: f"tags 0{'x' * size} {'1b ' * size}",
        lambda size: f"header {'x' * size} {'w ' * size}",
        lambda size: f"within {'x' * size}\ntext {'w v ' * size}",
        lambda size: "text " + "a b " * size,
        lambda size: "tags " + "9" * size + "a",
    ],
    ids=["deep tags", "a long tag", "a long header", "a long group", "two words", "a long depth"],
)
def test_hostile_views_take_linear_time(make: Callable[[int], str]) -> None:
    assert nd.fingerprint(make(5000), HTTP) is not None
    assert_linear(lambda text: nd.fingerprint(text, HTTP), make, 30_000)


# -------------------------------------------------------------------------------- recipes, identity


def test_viewing() -> None:
    assert HTTP.viewing() == Viewing(tuple(HTTP.views or ()), MASKS, None)
    assert HTTP.viewing("host").within == "host"
    bare = nd.Recipe.preset("http-text", masks=["uuids", "dates"])
    assert bare.viewing() == Viewing(("title", "text"), ("dates", "uuids"), None)
    with pytest.raises(
        ValueError, match="has tokens 'words' and is not for HTTP responses; use one of"
    ):
        nd.Recipe().viewing()


def test_views_and_masks_are_in_the_identity() -> None:
    recipe = HTTP.replace(views={"text": 3, "status": 1.5}, masks=["echo", "dates"])
    assert recipe.identity.endswith(" views=status:1.5,text:3 masks=dates,echo")
    assert HTTP.replace(masks=[]).identity.endswith(" masks=none")
    assert HTTP.identity.endswith(f" masks={','.join(MASKS)}")
    assert "views" not in nd.Recipe().identity
    assert "masks" not in nd.Recipe().identity


def test_equal_recipes_are_equal() -> None:
    one = HTTP.replace(views={"text": np.float32(3), "status": 1}, masks=iter(["echo", "dates"]))
    two = HTTP.replace(views={"status": 1.0, "text": 3}, masks=("dates", "echo", "dates"))
    assert one == two
    assert hash(one) == hash(two)
    assert one.identity == two.identity
    assert one != HTTP
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301
    assert nd.Recipe(tokens="http", weights="shares") == HTTP


@pytest.mark.parametrize("name", PRESETS)
def test_toml_and_back(name: str, tmp_path: Path) -> None:
    recipe = nd.Recipe.preset(name, masks=["dates"], bits=64)
    recipe.save(tmp_path / "recipe.toml")
    loaded = nd.Recipe.load(tmp_path / "recipe.toml")
    assert loaded == recipe
    assert loaded.identity == recipe.identity


def test_a_file_may_change_shares() -> None:
    content = 'preset = "http"\nmasks = ["ips"]\n[views]\ntext = 1\nstatus = 1\n'
    recipe = nd.Recipe.from_toml(content, "own.toml")
    assert recipe.views == {"status": 1, "text": 1}
    assert recipe.masks == ("ips",)


def test_shares_cannot_be_changed() -> None:
    shares = ViewWeights({"text": 1, "status": 2})
    assert list(shares) == ["status", "text"]
    assert repr(shares) == "ViewWeights({'status': 2, 'text': 1})"
    with pytest.raises(AttributeError, match="weights of views are part of a recipe"):
        shares.x = 1
    with pytest.raises(TypeError):
        shares["text"] = 3  # type: ignore[index]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"views": {"words": 1}}, ValueError, "views has 'words'; it may have status, headers, "),
        ({"views": {}}, ValueError, "views is empty; it must have some of status"),
        ({"views": ["text"]}, TypeError, "views is .* it must map names of views to weights"),
        ({"views": {"text": "1"}}, TypeError, "views gives text the weight '1'; it must be a numb"),
        ({"views": {"text": True}}, TypeError, "views gives text the weight True"),
        (
            {"views": {"text": 0}},
            ValueError,
            "views gives text the weight 0; it must be a number a",
        ),
        ({"views": {"text": math.nan}}, ValueError, "views gives text the weight nan"),
        ({"views": {"text": 10**400}}, ValueError, "it must be a number above 0 and at most 1e"),
        ({"masks": ["date"]}, ValueError, "masks has 'date'; it may have dates, timestamps, "),
        ({"masks": "dates"}, TypeError, "masks is 'dates'; it must be a list of names: dates"),
        ({"masks": [["dates"]]}, ValueError, r"masks has \['dates'\]; it may have dates"),
        ({"masks": 3}, TypeError, "masks is 3; it must be a list of names"),
        ({"ngram": 2}, ValueError, 'ngram is 2, but tokens "http" are joined as each view needs'),
        ({"stopwords": "en"}, ValueError, 'stopwords do not go with tokens "http"'),
        ({"pattern": "a"}, ValueError, 'pattern goes with tokens "regex"'),
        ({"weights": "log"}, ValueError, "weights is 'log', but tokens \"http\" goes with weights"),
        (
            {"tokens": "words"},
            ValueError,
            'weights is "shares", which goes with tokens "http" only',
        ),
    ],
)
def test_wrong_settings(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        nd.Recipe.preset("http", **changes)


def test_views_and_masks_go_with_responses_only() -> None:
    for name, value in (("views", {"text": 1}), ("masks", ["dates"])):
        with pytest.raises(ValueError, match=f'{name} goes with tokens "http" only, not with'):
            nd.Recipe(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r'tokens "http" go with weights "shares"; fit is for oth'):
        HTTP.fit(["a text"])


def test_shares_are_of_the_views_the_core_knows() -> None:
    for view in VIEWS:
        recipe = HTTP.replace(views={view: 1})
        assert set(map(reference.view_of, weights(f"{PAGE}\nkeys a:b\nbody empty", recipe))) == {
            view
        }
