"""Texts that say nothing, and texts that say the same."""

from __future__ import annotations

import time
from pathlib import Path

from helpers import corpora
from helpers.job_inputs import OTHER, TEXT, line, write
from neardup import jobs


def test_texts_without_words_are_no_cluster(tmp_path: Path) -> None:
    texts = ["", "", " ", "…", "…", "?!?!", "?!?!", "ok", "ok", "yes"] * 50
    source = write(tmp_path / "in.jsonl", *(line(text=text) for text in texts))
    out, clusters = tmp_path / "out.jsonl", tmp_path / "clusters.jsonl"
    for linkage in ("connected", "star"):
        found = jobs.dedup([str(source)], out, jobs.Options(linkage=linkage))
        assert found.no_signal == len(texts)
        kept = [row["text"] for row in corpora.rows(out)]
        # Only texts with a word, and equal to another, are removed.
        assert kept == [*texts[:8], "yes", *(texts[:7] * 49)]
    jobs.cluster([str(source)], clusters)
    sizes = {row["size"] for row in corpora.rows(clusters)}
    assert sizes == {1, 50, 100}


def test_the_same_text_50_000_times_takes_linear_time_and_memory(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", line(text=TEXT) * 50_000, line(text=OTHER))
    out, removed = tmp_path / "out.jsonl", tmp_path / "removed.parquet"
    started = time.perf_counter()
    found = jobs.dedup([str(source)], out, jobs.Options(removed=removed))
    assert time.perf_counter() - started < 15
    assert (found.kept, found.removed) == (2, 49_999)
    assert found.candidates <= 1
    assert found.verified <= 50_001
    assert out.read_bytes() == line(text=TEXT) + line(text=OTHER)
    pairs = tmp_path / "pairs.parquet"
    assert jobs.pairs([str(source)], pairs, jobs.Options(equal="first")).pairs == 49_999
