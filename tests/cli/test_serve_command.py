"""neardup serve: options become the settings of the service."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from neardup.service.settings import ServiceSettings


@pytest.mark.parametrize(
    ("options", "rate", "burst"),
    [
        ([], 0.0, 1),
        (["--rate", "2.5"], 2.5, 5),
        (["--host", "0.0.0.0", "--token-file", "tokens"], 200.0, 400),  # noqa: S104
        (["--host", "0.0.0.0", "--token-file", "tokens", "--rate", "0"], 0.0, 1),  # noqa: S104
    ],
)
def test_settings(
    run: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    rate: float,
    burst: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    nd.Collection.open(tmp_path / "seen.neardup").close()
    found: list[ServiceSettings] = []

    def serve(collection: nd.Collection, settings: ServiceSettings, **_: object) -> None:
        found.append(settings)

    monkeypatch.setattr("neardup.cli.serve._serve", serve)
    # Both change the process of the tests.
    monkeypatch.setattr("neardup.cli.serve._start_log", lambda _: None)
    monkeypatch.setattr("neardup.service.server.tune_malloc", lambda: None)
    limits = ["--max-body", "3", "--max-batch", "7", "--workers", "2", "--queue", "9"]
    assert run("serve", "seen.neardup", "--name", "a", "--name", "b", *limits, *options).code == 0
    (settings,) = found
    assert (settings.rate, settings.burst) == (rate, burst)
    assert settings.names == ("a", "b")
    assert (settings.max_body, settings.max_batch) == (3 << 20, 7)
    assert (settings.workers, settings.queue, settings.port) == (2, 9, 8765)
    assert not settings.read_only
