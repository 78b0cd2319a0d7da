"""Exact copies and near-duplicates: counted as their definition says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from helpers import corpora
from neardup import jobs

TEXT = "Harbour Street will be closed to all motor traffic from Monday until Friday"
LOUD = TEXT.upper() + "!"
EDITED = TEXT.replace("Friday", "Sunday")
OTHER = "A letter from the seaside tells of gulls and rain and of a broken umbrella"
TEXTS = st.lists(
    st.sampled_from([TEXT, TEXT.upper(), LOUD, EDITED, OTHER, "hi", "Hi", "…", ""]), max_size=12
)
ASKED = {
    "default": jobs.Options(),
    "longest": jobs.Options(keep="longest"),
    "low": jobs.Options(similarity=0.3, linkage="connected"),
    "high": jobs.Options(similarity=1.0),
    "radius": jobs.Options(radius=20),
}


def write(folder: Path, texts: Sequence[str]) -> str:
    path = folder / "in.jsonl"
    lines = (json.dumps({"id": str(at), "text": text}) + "\n" for at, text in enumerate(texts))
    path.write_text("".join(lines))
    return str(path)


@pytest.mark.parametrize("options", ASKED.values(), ids=ASKED)
@given(texts=TEXTS)
@settings(max_examples=15, deadline=None)
def test_copies_are_equal_to_another_record(
    options: jobs.Options, texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("copies")
    source = write(folder, texts)
    removed = folder / "removed.jsonl"
    found = jobs.dedup([source], folder / "out.jsonl", _with(options, removed=removed))
    rows = corpora.rows(removed)
    # Texts without a letter or digit are kept, all of them.
    words = [text for text in texts if any(char.isalnum() for char in text)]
    copies = len(words) - len(set(words))
    assert (found.exact, found.near) == (copies, len(rows) - copies)

    clusters = folder / "clusters.jsonl"
    found = jobs.cluster([source], clusters, options)
    rows = corpora.rows(clusters)
    beside = [row for row in rows if row["id"] != row["representative"]]
    assert (found.exact, found.near) == (copies, len(beside) - copies)
    assert found.clustered == sum(row["size"] > 1 for row in rows)


@pytest.mark.parametrize("equal", ["all", "first"])
@given(texts=TEXTS)
@settings(max_examples=15, deadline=None)
def test_copies_among_pairs(
    equal: str, texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("copies")
    out = folder / "pairs.jsonl"
    found = jobs.pairs([write(folder, texts)], out, jobs.Options(equal=equal))
    rows = corpora.rows(out)
    same = [row for row in rows if texts[int(row["left"])] == texts[int(row["right"])]]
    assert (found.exact, found.near) == (len(same), len(rows) - len(same))


@given(texts=TEXTS, reference=TEXTS, radius=st.sampled_from([None, 20]))
@settings(max_examples=15, deadline=None)
def test_copies_of_a_reference(
    texts: list[str],
    reference: list[str],
    radius: int | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("copies")
    (folder / "seen").mkdir()
    options = jobs.Options(against=[write(folder / "seen", reference)], radius=radius)
    found = jobs.dedup([write(folder, texts)], folder / "out.jsonl", options)
    known = {text for text in reference if any(char.isalnum() for char in text)}
    copies = sum(text in known for text in texts)
    assert (found.exact, found.near) == (copies, (found.removed or 0) - copies)


def test_copies_of_a_collection(tmp_path: Path) -> None:
    with nd.Collection.open(tmp_path / "seen.neardup") as collection:
        collection.add([("a", TEXT), ("b", OTHER)])
    source = write(tmp_path, [TEXT, LOUD, EDITED, OTHER, "something else that nobody has seen"])
    options = jobs.Options(against=[str(tmp_path / "seen.neardup")])
    found = jobs.dedup([source], tmp_path / "out.jsonl", options)
    assert (found.kept, found.removed, found.exact, found.near) == (1, 4, 2, 2)


def _with(options: jobs.Options, **changes: object) -> jobs.Options:
    from dataclasses import replace

    return replace(options, **changes)  # type: ignore[arg-type]
