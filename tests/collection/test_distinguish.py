"""distinguish= of a collection, the filter, the service and its client: as nd.dedup takes it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import neardup as nd
from helpers.differing_pairs import PAIRS, TEXTS
from neardup.collection import Outcome
from neardup.jobs.filter import Dropped, Filter
from neardup.service.background import serving
from neardup.text.differences import ASPECTS
from reference.differences import agreement

LIMITS: list[dict[str, Any]] = [{}, {"recall": 1.0}, {"radius": 40}]
CHOICES = [aspects for size in range(5) for aspects in itertools.combinations(ASPECTS, size)]
IDS = [str(at) for at in range(len(TEXTS))]


@pytest.fixture
def seen(tmp_path: Path) -> Iterator[nd.Collection]:
    with nd.Collection.open(tmp_path / "seen.neardup", durability="normal") as collection:
        yield collection


@pytest.mark.parametrize("by", LIMITS, ids=str)
@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_of_the_table(seen: nd.Collection, name: str, by: dict[str, Any]) -> None:
    left, right, aspects, lost = PAIRS[name]
    seen.add([("left", left)])
    (match,) = seen.check(right, **by)
    told = (",".join(aspects), lost)
    assert (match.id, match.differs, match.lost) == ("left", *told)
    (row,) = seen.check([right], **by).to_pylist()
    assert tuple(row.values())[1:] == match
    (found,) = seen.add([("right", right)], unless_duplicate=True, **by)
    assert found == Outcome("right", "duplicate", *match)
    for aspect in ASPECTS:
        differs = agreement(left, right, [aspect]) < 0.85
        assert bool(seen.check(right, distinguish=aspect, **by)) is not differs
        assert bool(seen.check([right], distinguish=[aspect], **by).num_rows) is not differs


@pytest.mark.parametrize("by", LIMITS, ids=str)
@pytest.mark.parametrize("distinguish", CHOICES, ids=",".join)
def test_documents_added_unless_duplicate_are_those_that_dedup_keeps(
    seen: nd.Collection, distinguish: tuple[str, ...], by: dict[str, Any]
) -> None:
    kept = nd.dedup(TEXTS, distinguish=distinguish, **by).kept.tolist()
    documents = list(zip(IDS, TEXTS, strict=True))
    limits = {"unless_duplicate": True, "distinguish": distinguish, **by}
    at_once = seen.add(documents, **limits)
    assert [int(x.id) for x in at_once if x.status == "added"] == kept
    seen.remove(IDS)
    one_by_one = [seen.add([document], **limits)[0] for document in documents]
    assert one_by_one == at_once
    for found in at_once:
        insisted = set(distinguish) - {"order"}
        assert not insisted & set((found.differs or "").split(","))


@pytest.mark.parametrize("by", LIMITS, ids=str)
@pytest.mark.parametrize("distinguish", [(), ("numbers",), ASPECTS])
def test_few_documents_are_in_memory_at_a_time(
    seen: nd.Collection,
    distinguish: tuple[str, ...],
    by: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen.add(list(zip(IDS, TEXTS, strict=True)))
    asked = {"distinguish": distinguish, **by}
    expected = [seen.check(text, **asked) for text in TEXTS], seen.check(TEXTS, **asked)
    monkeypatch.setattr("neardup.near.lookup.BATCH_PAIRS", 3)
    monkeypatch.setattr("neardup.collection.lookup.BATCH_PAIRS", 4)
    assert ([seen.check(text, **asked) for text in TEXTS], seen.check(TEXTS, **asked)) == expected


@pytest.mark.parametrize("by", LIMITS, ids=str)
@pytest.mark.parametrize("distinguish", [(), ("numbers",), ("negation", "order"), ASPECTS])
def test_a_filter_passes_on_what_dedup_keeps(
    distinguish: tuple[str, ...], by: dict[str, Any]
) -> None:
    written: list[bytes] = []
    dropped: list[Dropped] = []
    lines = [json.dumps({"id": id_, "text": x}) for id_, x in zip(IDS, TEXTS, strict=True)]
    stream = iter([*(f"{line}\n".encode() for line in lines), b""])
    with Filter(
        written.append, distinguish=distinguish, on_dropped=dropped.append, **by
    ) as filtering:
        counts = filtering.run(lambda _: next(stream))
    found = nd.dedup(TEXTS, distinguish=distinguish, **by)
    assert [int(json.loads(line)["id"]) for line in written] == found.kept.tolist()
    for aspect in ASPECTS:
        told = sum(aspect in (x.differs or "").split(",") for x in dropped)
        assert counts.differing[aspect] == told
    if not distinguish:
        assert min(counts.differing[aspect] for aspect in ASPECTS) > 0


def test_the_service_and_its_client_answer_as_the_collection(seen: nd.Collection) -> None:
    seen.add(list(zip(IDS, TEXTS, strict=True)))
    with serving(seen) as url, nd.Client(url) as client:
        for distinguish, by in itertools.product(CHOICES[::5], LIMITS):
            options = {"distinguish": distinguish, "n": 3, **by}
            expected = [seen.check(text, **options) for text in TEXTS]
            for found in (
                [client.check(text, **options) for text in TEXTS],
                client.check(TEXTS, **options),
                [x.matches for x in client.check_all(TEXTS, **options)],  # type: ignore[union-attr]
            ):
                assert [[*map(msgspec.structs.astuple, x)] for x in found] == expected
            clusters = client.clusters(distinguish=distinguish, limit=1000).clusters
            labels = nd.dedup(TEXTS, distinguish=distinguish).clusters.tolist()
            sizes = {x.representative: x.size for x in clusters}
            assert sizes == {str(x): labels.count(x) for x in labels if labels.count(x) > 1}
        near = [(f"{id_} again", text) for id_, text in zip(IDS, TEXTS, strict=True)]
        asked = {"unless_duplicate": True, "distinguish": "numbers,order"}
        at_once = client.add(near, **asked)  # type: ignore[arg-type]
        assert {x.status for x in at_once} == {"duplicate"}
        assert {x.differs for x in at_once} == {"", "symbols"}
        assert list(client.add_all(near, **asked)) == at_once  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="distinguish has 'tone'"):
            client.check("a text", distinguish="tone")
