"""Pages of collections that are not as usual: empty, without texts, with notes that are damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from helpers.service_pages import WORDS, check_harmless
from neardup.collection import Collection
from neardup.service.pages import check
from neardup.service.pages.marks import NOTES_NAME

PATHS = ("/check", f"/check?text={WORDS}", "/compare?left=a&right=b", "/collection", "/learn")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_empty_collection(serve: Callable[..., str], tmp_path: Path, language: str) -> None:
    with Collection.open(tmp_path / "empty.neardup") as collection:
        url = serve(collection)
        for path in PATHS:
            answer = httpx.get(url + path, headers={"Accept-Language": language})
            assert answer.status_code == 200
            check_harmless(answer.text)
            assert httpx.get(url + path.replace("?", ".json?")).status_code == 200
        found = httpx.get(f"{url}/check.json?text={WORDS}").json()
        assert found["nearest"] == []
        assert found["copied"]["share"] == 0


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_collection_without_texts(
    serve: Callable[..., str], tmp_path: Path, language: str
) -> None:
    with Collection.open(tmp_path / "bare.neardup", store_text=False) as collection:
        collection.add([("a", WORDS), ("b", f"{WORDS} in")])
        url = serve(collection)
        for path in PATHS:
            answer = httpx.get(url + path, headers={"Accept-Language": language})
            assert answer.status_code == 200
            check_harmless(answer.text)
        found = httpx.get(f"{url}/check.json?text={WORDS}").json()
        assert [each["id"] for each in found["nearest"]] == ["a", "b"]
        assert found["nearest"][0]["distance"] == 0
        assert found["copied"] is None
        # What would need a text is refused with a word about it.
        assert httpx.get(f"{url}/check?id=a").status_code == 409
        form = {"left": "a", "right": "b", "verdict": "same"}
        assert httpx.post(f"{url}/collection/marks", data=form).status_code == 409


def test_notes_that_cannot_be_read(serve: Callable[..., str], tmp_path: Path) -> None:
    with Collection.open(tmp_path / "c.neardup") as collection:
        collection.add([("a", WORDS), ("b", f"{WORDS} and more")])
        (tmp_path / "c.neardup" / NOTES_NAME).write_bytes(b"junk" * 1000)
        url = serve(collection)
        for path in (*PATHS, "/pair?id=a&source=b"):
            assert httpx.get(url + path).status_code == 200
        form = {"left": "a", "right": "b", "verdict": "same"}
        answer = httpx.post(f"{url}/collection/marks", data=form)
        assert answer.status_code == 503
        assert NOTES_NAME in answer.text
        assert httpx.get(f"{url}/collection/marks.csv").status_code == 503


def test_a_large_collection_without_runs_is_asked_for_the_nearest_only(
    serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "MAX_READ_THROUGH", 1)
    with Collection.open(tmp_path / "c.neardup") as collection:
        collection.add([("a", WORDS), ("b", f"{WORDS} and more"), ("c", "nothing like it at all")])
        url = serve(collection)
        found = httpx.get(f"{url}/check.json?text={WORDS}").json()["copied"]
        assert found["compared_with"] == "the nearest documents"
        assert [source["id"] for source in found["sources"]] == ["a", "b"]
        assert "nearest documents only" in httpx.get(f"{url}/check?text={WORDS}").text


@pytest.mark.parametrize("keeps", [True, False])
def test_all_near_documents_are_counted(
    serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, keeps: bool
) -> None:
    with Collection.open(tmp_path / "many.neardup", store_text=keeps) as collection:
        collection.add([(f"same {n}", WORDS) for n in range(30)])
        collection.add([(f"other {n}", f"{n} has nothing to do with it") for n in range(5)])
        url = serve(collection)
        api = httpx.post(f"{url}/v1/check", json={"text": WORDS}, params={"radius": 3}).json()
        found = httpx.get(f"{url}/check.json", params={"text": WORDS}, timeout=60).json()
        assert found["near"] == len(api["matches"]) == 30
        assert len(found["nearest"]) == check.MAX_NEAREST
        page = httpx.get(f"{url}/check", params={"text": WORDS}, timeout=60).text
        assert "30 documents are near it" in page
        if keeps:
            # Of a document itself only the others count.
            itself = httpx.get(f"{url}/check.json", params={"id": "same 7"}, timeout=60).json()
            assert itself["near"] == 29
        monkeypatch.setattr(check, "MAX_COUNTED", 20)
        found = httpx.get(f"{url}/check.json", params={"text": WORDS}, timeout=60).json()
        assert found["near"] == 20


def test_texts_that_are_too_long_are_reported(serve: Callable[..., str]) -> None:
    url = serve(max_body=3_000_000)
    long = "a b c d " * 280_000
    assert httpx.post(f"{url}/check", data={"text": long}).status_code == 413
    assert httpx.post(f"{url}/check", data={"text": long * 3}).status_code == 413
