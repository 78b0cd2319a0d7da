"""Templates: which clusters are made from one form, and keeping them apart by their fields."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from helpers.records import FORMS, Form, edited_copies, revised_copies
from neardup import _core
from neardup._util.arrow import string_column
from neardup.near.corpus import texts_and_lengths
from neardup.near.templates import SAMPLE_MEMBERS, find_templates
from reference.templates import fields_of


def test_a_template_is_told_with_its_form_and_fields() -> None:
    texts = FORMS["weather"](random.Random(1), 40)
    (template,) = nd.dedup(texts, 0.6).templates(texts, samples=3)
    assert (template.row, template.records) == (0, 40)
    assert template.form.startswith("Weather report for <*>: the temperature at noon was <*> ")
    assert len(template.fields) == template.form.count("<*>") == 4
    assert all(len(values) == len(set(values)) == 3 for values in template.fields)
    assert texts[0] == _filled(template.form, [values[0] for values in template.fields])


def _filled(form: str, values: list[str]) -> str:
    for value in values:
        form = form.replace("<*>", value, 1)
    return form


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("linkage", ["star", "connected"])
def test_records_of_one_form_are_kept_apart(make: Form, linkage: str) -> None:
    texts = make(random.Random(2), 120)
    copies = [f"{text.upper()} !" for text in texts[:20]]
    found = nd.dedup([*texts, *copies], 0.7, linkage=linkage, distinguish="fields")  # type: ignore[arg-type]
    assert set(range(len(texts))) - set(found.kept.tolist()) == set()
    assert found.removed["dup_of"].to_pylist() == list(range(20))
    assert found.distinguish == ("fields",)
    assert nd.dedup([*texts, *copies], 0.7).kept.size < 120


@pytest.mark.parametrize("make", [edited_copies, revised_copies])
@pytest.mark.parametrize("size", [4, 6, 30])
def test_edited_copies_are_no_template(make: Callable[..., list[str]], size: int) -> None:
    for seed in range(12):
        texts = make(random.Random(seed), size)
        found = nd.dedup(texts, 0.6, linkage="connected")
        assert not found.templates(texts), seed
        apart = nd.dedup(texts, 0.6, linkage="connected", distinguish="fields")
        assert np.array_equal(apart.clusters, found.clusters)


def test_the_first_in_keep_order_represents_equal_fields() -> None:
    form = "Parcel {} was sent to {} and will arrive within three working days from now".format
    towns = ["Rome", "Oslo", "Bern", "Graz", "Riga"]
    texts = [form(number, town) for number, town in enumerate(towns, 10)]
    texts += [f"{text}, thank you" for text in texts]
    found = nd.dedup(texts, 0.6, keep="longest", distinguish="fields")
    assert found.kept.tolist() == [5, 6, 7, 8, 9]
    assert found.clusters.tolist() == [5, 6, 7, 8, 9] * 2
    assert found.removed["similarity"].to_pylist() == [
        pytest.approx(nd.similarity(texts[at], texts[at + 5])) for at in range(5)
    ]


COLOURS = ["green", "black", "white", "brown", "violet", "yellow", "purple", "crimson"]


def test_a_member_unlike_the_one_kept_stays() -> None:
    """Two members with equal fields, both near the representative, but not near each other."""
    words = [f"word{chr(97 + at)}" for at in range(20)]
    form = " ".join(words)
    texts = [f"{form} colour {colour}" for colour in COLOURS]
    first = " ".join(["other", "thing", *words[2:]]) + " colour orange"
    second = " ".join([*words[:-2], "newer", "piece"]) + " colour orange"
    texts += [first, second]
    assert nd.similarity(first, second) < 0.86
    assert min(nd.similarity(texts[0], each) for each in (first, second)) > 0.86
    assert nd.dedup(texts, 0.86).kept.tolist() == [0]
    assert nd.dedup(texts, 0.86, distinguish="fields").kept.tolist() == list(range(10))
    linked = nd.dedup(texts, 0.86, linkage="connected", distinguish="fields")
    assert linked.kept.tolist() == list(range(9))
    # Copies of it have it for their representative, in keep order.
    texts += [second, first, f"{second}!"]
    found = nd.dedup(texts, 0.86, distinguish="fields")
    assert found.clusters.tolist() == [*range(10), 9, 8, 9]
    assert found.removed["similarity"].to_pylist() == pytest.approx([1, 1, 1])
    longest = nd.dedup(texts, 0.86, distinguish="fields", keep="longest")
    assert longest.clusters.tolist()[8:] == [8, 12, 12, 8, 12]
    # The same by distance.
    texts = [
        *texts[:8],
        first.replace("thing", "newer"),
        second.replace("newer piece", "thing small"),
    ]
    texts += texts[8:]
    first, second = texts[8:10]
    codes = [nd.fingerprint(text) for text in texts]
    assert max(nd.distance(codes[0], code) for code in codes) == 24
    assert nd.distance(codes[8], codes[9]) == 26
    found = nd.dedup(texts, radius=24, distinguish="fields")
    assert found.clusters.tolist() == [*range(10), 8, 9]


def test_with_a_radius_and_other_aspects() -> None:
    texts = FORMS["parcel"](random.Random(3), 60)
    assert nd.dedup(texts, radius=20).kept.size < 60
    assert nd.dedup(texts, radius=20, distinguish="fields").kept.size == 60
    found = nd.dedup(texts, 0.6, distinguish="negation,fields,order", pairs=True)
    assert found.distinguish == ("negation", "order", "fields")
    assert found.kept.size == 60
    assert found.at(0.7).kept.size == 60


def test_small_clusters_are_recognised_by_the_form_of_a_large_one() -> None:
    rng = random.Random(4)
    texts = FORMS["parcel"](rng, 8)
    labels = np.array([0, 0, 0, 0, 0, 0, 6, 6, 8, 8])
    texts += edited_copies(rng, 2)
    rows, _ = texts_and_lengths(string_column(texts))
    found = find_templates(labels, np.full(10, np.nan), rows)
    assert found.roots.tolist() == [0, 6]
    assert (found.sizes.tolist(), found.records, len(found.forms)) == ([6, 2], 8, 1)
    # Copies of one record do not differ, so they are no template.
    similarity = np.array([np.nan] * 7 + [1.0] + [np.nan] * 2)
    assert find_templates(labels, similarity, rows).roots.tolist() == [0]


def test_copies_do_not_crowd_out_the_members_that_differ() -> None:
    texts = FORMS["parcel"](random.Random(5), 6)
    texts += [texts[0]] * (20 * SAMPLE_MEMBERS)
    (template,) = nd.dedup(texts, 0.6).templates(texts)
    assert template.records == len(texts)
    assert nd.dedup(texts, 0.6, distinguish="fields").kept.tolist() == list(range(6))


def test_edge_cases() -> None:
    assert nd.dedup([]).templates([]) == []
    assert nd.dedup([], distinguish="fields").kept.size == 0
    texts = ["one two three", None, "", "four"]
    assert nd.dedup(texts, distinguish="fields").kept.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="texts has 1 texts; the run had 4: pass the same"):
        nd.dedup(texts).templates(["one"])
    with pytest.raises(ValueError, match=r"has .field.; it must be .* order, fields"):
        nd.dedup(texts, distinguish="field")
    with pytest.raises(ValueError, match="samples is 0"):
        nd.dedup(texts).templates(texts, samples=0)


def test_a_frame_keeps_templates_apart() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": FORMS["parcel"](random.Random(6), 30)})
    assert len(nd.dedup_frame(frame, similarity=0.6, distinguish="fields")) == 30


@st.composite
def clusters(draw: st.DrawFn) -> list[str]:
    """Texts of one form, edited here and there."""
    word = st.sampled_from("abcdefgh")
    form = draw(st.lists(word, min_size=5, max_size=9))
    places = draw(st.sets(st.integers(0, len(form)), min_size=1, max_size=2))
    least, texts = draw(st.integers(0, 1)), []
    for _ in range(draw(st.integers(4, 8))):
        text = list(form)
        for place in sorted(places, reverse=True):
            text[place:place] = draw(
                st.lists(st.sampled_from("uvwxyzab"), min_size=least, max_size=2)
            )
        if draw(st.integers(0, 3)) == 0:
            at = draw(st.integers(0, len(text) - 1))
            text[at : at + 1] = draw(st.lists(word, max_size=2))
        texts.append(" ".join(text))
    return [text for text in texts if text] or ["a"]


@given(clusters())
def test_equals_the_reference(texts: list[str]) -> None:
    rows, _ = texts_and_lengths(string_column(texts))
    labels = np.zeros(len(texts), dtype=np.int64)
    found = find_templates(labels, np.full(len(texts), np.nan), rows)
    expected = fields_of(texts)
    assert (len(found) == 1) == (expected is not None)
    if expected is not None:
        assert found.forms[0].cut(texts[0])[1] == expected[0]
        every = np.arange(len(texts), dtype=np.uint32)
        values = _core.field_values(found.forms, rows, every, every * 0, None)
        for (left, one), (right, other) in itertools.combinations(
            zip(values.tolist(), expected, strict=True), 2
        ):
            assert (left == right) == (one == other)
