"""Spark answers as the local engine does, pair for pair and representative for representative."""

from __future__ import annotations

from typing import Any

import pytest

from spark_cases import CORPORA, QUESTIONS, check_dedup, check_pairs, frame_of


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("question", QUESTIONS[:2], ids=str)
def test_the_defaults_on_every_corpus(spark: Any, corpus: str, question: dict[str, Any]) -> None:
    texts = CORPORA[corpus]()
    frame = frame_of(spark, texts, partitions=3, seed=1)
    check_dedup(frame, texts, question)
    if question == {}:
        check_pairs(frame, texts, question)
