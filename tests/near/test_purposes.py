"""Purposes: one name for a similarity and the aspects that suit a kind of texts."""

from __future__ import annotations

import pytest

import neardup as nd
from helpers.differing_pairs import PAIRS
from neardup.cli import options
from neardup.near.question import PURPOSES, check_question


def test_corpus_is_the_default() -> None:
    assert check_question(None, None, None, bits=128, purpose="corpus") == check_question(
        None, None, None, bits=128
    )


@pytest.mark.parametrize("purpose", PURPOSES)
def test_what_is_given_wins(purpose: str) -> None:
    settings = PURPOSES[purpose]
    question = check_question(None, None, None, bits=128, purpose=purpose, fields=True)
    assert (question.similarity, question.all_distinguished) == (
        settings.similarity,
        settings.distinguish,
    )
    question = check_question(0.9, None, None, bits=128, purpose=purpose, distinguish="symbols")
    assert (question.similarity, question.distinguish) == (0.9, ("symbols",))
    question = check_question(None, 3, None, bits=128, purpose=purpose)
    assert (question.similarity, question.radius, question.fields) == (None, 3, False)
    assert set(question.distinguish) == {*settings.distinguish} - {"fields"}


def test_records_with_other_numbers_negations_or_order_are_kept() -> None:
    for name in ("not", "number", "sign", "order", "language", "chinese number"):
        left, right, *_ = PAIRS[name]
        kept = nd.dedup([left, right], purpose="records").kept.tolist()
        assert kept == [0, 1], name
    assert nd.dedup(
        ["Salt & Pepper mill, 2 pieces", "salt & pepper mill 2 pieces"], purpose="records"
    ).kept.tolist() == [0]


def test_reposted_news_is_found_from_a_lower_similarity() -> None:
    story = "The harbour street stays closed for traffic until the water main has been mended"
    repost = " ".join(story.split()[:9]) + " says our reporter"
    assert nd.dedup([story, repost]).kept.tolist() == [0, 1]
    assert nd.dedup([story, repost], purpose="news").kept.tolist() == [0]


def test_the_command_line_knows_all_purposes() -> None:
    assert tuple(PURPOSES) == options.PURPOSES


def test_a_wrong_purpose_is_named() -> None:
    with pytest.raises(
        ValueError, match="purpose is 'titles'; it must be one of corpus, news, rec"
    ):
        nd.dedup(["a b"], purpose="titles")
