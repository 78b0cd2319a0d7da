"""Clusters take long: whoever waits for them holds up nobody else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from neardup.service import answers as clustering
from neardup.service.state import SLOW_QUEUE, Service, demo_collection


class Gate(threading.Event):
    """Nothing is clustered until it is set; `reached` is set when someone is there."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    found = Gate()
    made = clustering._cluster_collection

    def waiting(service: Service, *question: Any) -> clustering.Clustering:
        found.reached.set()
        found.wait(60)
        return made(service, *question)

    monkeypatch.setattr(clustering, "_cluster_collection", waiting)
    return found


def asked(url: str, similarity: float) -> httpx.Response:
    return httpx.get(f"{url}/v1/clusters", params={"similarity": similarity}, timeout=60)


def test_checks_go_on_while_many_wait_for_clusters(serve: Callable[..., str], gate: Gate) -> None:
    url = serve(workers=2)
    many = 1 + SLOW_QUEUE + 4
    with ThreadPoolExecutor(many) as pool:
        found = [pool.submit(asked, url, 0.5 + n / 100) for n in range(many)]
        # As many as do not fit are refused at once, the others wait.
        while sum(each.done() for each in found) < 4:
            time.sleep(0.01)
        try:
            for _ in range(3):
                checked = httpx.post(f"{url}/v1/check", json={"text": "a few words"}, timeout=20)
                assert checked.status_code == 200
            assert sum(each.done() for each in found) == 4
        finally:
            gate.set()
        answers = [each.result() for each in found]
    refused = [each for each in answers if each.status_code != 200]
    assert [each.status_code for each in refused] == [503] * 4
    assert all(each.headers["Retry-After"] == "1" for each in refused)


def test_clusters_that_are_there_are_not_waited_for(serve: Callable[..., str], gate: Gate) -> None:
    url = serve()
    gate.set()
    before = asked(url, 0.9).json()
    gate.clear()
    gate.reached.clear()
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(asked, url, 0.6)
        try:
            assert gate.reached.wait(60)
            assert asked(url, 0.9).json() == before
            assert not other.done()
        finally:
            gate.set()
        assert other.result().status_code == 200


def test_what_is_given_up_does_not_hold_up_checks(serve: Callable[..., str], gate: Gate) -> None:
    url = serve(workers=1, answer_seconds=1.0)
    try:
        refused = asked(url, 0.6)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        assert httpx.post(f"{url}/v1/check", json={"text": "words"}, timeout=20).status_code == 200
    finally:
        gate.set()


def test_clusters_of_the_current_documents_are_cached(tmp_path: Path) -> None:
    with demo_collection(tmp_path) as collection:
        service = Service(collection)
        for at in range(clustering.CACHED_CLUSTERINGS + 2):
            clustering.compute_clustering(service, (0.5 + at / 100, ()))
        assert len(service.clustering_cache) == clustering.CACHED_CLUSTERINGS
        assert clustering.cached_clustering(service, (0.5, ())) is None
        assert clustering.cached_clustering(service, (0.52, ())) is not None
        collection.add([("new", "a document of its own")])
        assert clustering.cached_clustering(service, (0.52, ())) is None
        found = clustering.compute_clustering(service, (0.52, ()))
        assert [*service.clustering_cache.values()] == [found]
        service.close()
