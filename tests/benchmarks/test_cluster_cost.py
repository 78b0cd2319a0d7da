"""docs/scale.md has the tables that its model computes, and the model adds up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cluster_cost
import key_skew

DOCS = Path(__file__).parents[2] / "docs" / "scale.md"


def test_the_tables_of_the_docs_are_those_of_the_model() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for line in (*cluster_cost.measured(), *cluster_cost.tables()):
        assert line in text


def test_the_model_is_linear_but_for_strangers() -> None:
    one = cluster_cost.estimate(10**9, 100, 0.0, cluster_cost.FIGURES, cluster_cost.CLUSTER)
    ten = cluster_cost.estimate(10**10, 100, 0.0, cluster_cost.FIGURES, cluster_cost.CLUSTER)
    assert abs(ten.hours / one.hours - 10) < 1e-9
    assert one.compared == 0
    few = cluster_cost.estimate(10**9, 100, 1e-5, cluster_cost.FIGURES, cluster_cost.CLUSTER)
    many = cluster_cost.estimate(10**10, 100, 1e-5, cluster_cost.FIGURES, cluster_cost.CLUSTER)
    assert abs(many.compared / few.compared - 100) < 1e-9
    twice = replace(cluster_cost.CLUSTER, machines=128)
    halved = cluster_cost.estimate(10**9, 100, 1e-5, cluster_cost.FIGURES, twice)
    assert abs(few.hours / halved.hours - 2) < 1e-9


def test_keys_of_a_record_are_those_of_the_plan() -> None:
    assert key_skew.keys_of(["some words of a text", "other ones here"]).shape == (
        2,
        cluster_cost.FIGURES.keys,
    )


def test_skew_is_seen_and_cut() -> None:
    even, uneven = key_skew.skew(2000, 0.0), key_skew.skew(2000, 0.5)
    # Words of a Zipf law alone put up to a quarter of all texts into one bucket, a template half.
    assert uneven.largest > 800 > 500 > even.largest
    assert uneven.q > even.q
    assert uneven.cut < uneven.whole
    # The chance is a share of all pairs: it does not grow with them.
    assert 0.5 < key_skew.skew(6000, 0.0).q / even.q < 2


def test_q_against_counting_every_pair() -> None:
    chances = []
    for vocabulary in range(key_skew.VOCABULARIES):
        keys = key_skew.keys_of(key_skew.texts(120, 0.1, vocabulary))
        rows, tables = keys.shape
        pairs = sum(int((keys[:at] == keys[at]).sum()) for at in range(rows))
        chances.append(pairs / tables / (rows * (rows - 1) / 2))
    assert abs(key_skew.skew(120, 0.1).q - sum(chances) / len(chances)) < 1e-12
