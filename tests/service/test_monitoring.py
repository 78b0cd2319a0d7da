"""Health checks and metrics."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from neardup.service import answers


@contextmanager
def held(url: str, many: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Send requests that are not answered until the end of the `with` statement."""
    gate, begun = threading.Event(), threading.Semaphore(0)
    stats = answers.stats

    def slow(*args: Any) -> Any:
        begun.release()
        gate.wait(60)
        return stats(*args)

    monkeypatch.setattr(answers, "stats", slow)
    threads = [
        threading.Thread(target=httpx.get, args=(f"{url}/v1/stats",), kwargs={"timeout": 60})
        for _ in range(many)
    ]
    for thread in threads:
        thread.start()
    try:
        assert begun.acquire(timeout=20)
        yield
    finally:
        gate.set()
        for thread in threads:
            thread.join()


def test_monitoring_neither_waits_for_workers_nor_takes_a_place(
    serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = serve(workers=1, queue=1)
    with held(url, 1, monkeypatch):
        for _ in range(3):
            assert httpx.get(f"{url}/readyz", timeout=10).status_code == 200
            assert b"neardup_queue 1" in httpx.get(f"{url}/metrics", timeout=10).content


def test_a_full_queue_is_not_ready(
    serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = serve(workers=1, queue=0)
    with held(url, 1, monkeypatch):
        answer = httpx.get(f"{url}/readyz", timeout=10)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert httpx.get(f"{url}/metrics", timeout=10).status_code == 200
    assert httpx.get(f"{url}/readyz", timeout=10).status_code == 200


def test_clients_cannot_create_labels(served: str) -> None:
    assert httpx.request("BREW", f"{served}/v1/stats").status_code == 405
    httpx.get(f"{served}/a/path/of/the/client")
    text = httpx.get(f"{served}/metrics").text
    assert 'neardup_requests_total{method="other",route="/v1/stats",status="405"} 1.0' in text
    assert "BREW" not in text
    assert "of/the/client" not in text
