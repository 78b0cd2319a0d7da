from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from neardup import _core
from neardup.threshold import firm_flip_chance, quantile, threshold


@pytest.mark.parametrize("bits", [8, 64, 128, 512])
@pytest.mark.parametrize("chance", [0.0, 0.01, 0.18, 0.45, 0.5, 1.0])
@pytest.mark.parametrize("probability", [1e-6, 0.3, 0.99, 0.9955, 1.0])
def test_quantiles_are_those_of_the_binomial_distribution(
    bits: int, chance: float, probability: float
) -> None:
    expected = int(stats.binom.ppf(probability, bits, chance))
    if probability == 1:
        expected = bits  # nothing may be lost, however unlikely
    assert quantile(bits, chance, probability) == expected


@pytest.mark.parametrize("cosine", [0.3, 0.7, 0.85, 0.95, 1.0])
def test_firm_bits_differ_as_often_as_two_normal_numbers_say(cosine: float) -> None:
    rng = np.random.default_rng(1)
    x, noise = rng.standard_normal((2, 2_000_000))
    y = cosine * x + math.sqrt(1 - cosine * cosine) * noise
    firm = (np.abs(x) > _core.FIRM) & (np.abs(y) > _core.FIRM)
    measured = float(np.mean(firm & (np.sign(x) != np.sign(y))))
    assert firm_flip_chance(cosine) == pytest.approx(measured, abs=5e-4)


def test_the_default_finds_what_it_promises_at_the_similarity_itself() -> None:
    limits = threshold(None, None, None, bits=128, rows=10**8)
    assert limits.similarity == 0.85
    flip = math.acos(0.85) / math.pi
    within = stats.binom.cdf(limits.radius, 128, flip)
    assert limits.firm is not None
    firm = stats.binom.cdf(limits.firm, 128, firm_flip_chance(0.85))
    assert within * firm * limits.recall >= 0.99
    assert limits.radius == 34


def test_a_small_corpus_is_searched_further() -> None:
    few, many = (threshold(0.9, None, None, bits=128, rows=rows).radius for rows in (100, 10**7))
    assert few > many + 5


def test_nothing_may_be_lost_at_a_recall_of_one() -> None:
    limits = threshold(0.9, None, 1.0, bits=128, rows=10**6)
    assert (limits.radius, limits.recall, limits.firm) == (128, 1.0, None)


def test_a_radius_is_taken_as_it_is() -> None:
    assert threshold(None, 3, None, bits=64, rows=10).radius == 3
    assert threshold(None, 3, 0.9, bits=64, rows=10).recall == 0.9
    assert threshold(None, 3, None, bits=64, rows=10).similarity is None
