"""The one thread that writes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from neardup.service.settings import ServiceSettings
from neardup.service.state import Service
from neardup.service.worker_pool import BusyError
from neardup.service.writer import Writer

TEXT = "wash the lentils and fry the onions then let both simmer for half an hour"


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[nd.Collection]:
    with nd.Collection.open(tmp_path / "new.neardup") as collection:
        yield collection


def row(id_: str, text: str = TEXT, metadata: Any = None) -> tuple[str, str, Any]:
    return id_, text, metadata or {}


def test_many_requests_become_few_batches(collection: nd.Collection) -> None:
    writer = Writer(collection, 10_000)

    async def main() -> list[Any]:
        return await asyncio.gather(*(writer.add([row(f"d{n}")]) for n in range(500)))

    found = asyncio.run(main())
    writer.close()
    assert [one[0].id for one in found] == [f"d{n}" for n in range(500)]
    assert {one[0].status for one in found} == {"added"}
    assert len(collection) == 500
    # The first may be on its way before the others come.
    assert writer.batches <= 10
    assert writer.queued == 0


def test_writes_are_applied_in_order(collection: nd.Collection) -> None:
    writer = Writer(collection, 10_000)

    async def main() -> list[Any]:
        return await asyncio.gather(
            writer.add([row("a", "one"), row("b")]),
            writer.add([row("a", "two")]),
            writer.remove(["a", "nobody"]),
            writer.remove(["a"]),
            writer.add([row("a", "three")]),
            writer.add([row("c")], unless_duplicate=True),
            writer.add([row("d", "another text of other words")], unless_duplicate=True),
        )

    found = asyncio.run(main())
    writer.close()
    assert [[x if isinstance(x, bool) else x.status for x in one] for one in found] == [
        ["added", "added"],
        ["updated"],
        [True, False],
        [False],
        ["added"],
        ["duplicate"],
        ["added"],
    ]
    assert found[5][0].dup_of == "b"
    assert [*collection] == ["b", "a", "d"]


def test_one_that_is_refused_does_not_spoil_it_for_the_others(collection: nd.Collection) -> None:
    writer = Writer(collection, 10_000)

    async def main() -> Any:
        return await asyncio.gather(
            writer.add([row("a")]),
            writer.add([row("b"), row("b")]),
            writer.add([row("c", metadata={"x": object()})]),
            writer.add([row("d")]),
            return_exceptions=True,
        )

    found = asyncio.run(main())
    writer.close()
    assert isinstance(found[1], ValueError)
    assert isinstance(found[2], ValueError)
    assert [*collection] == ["a", "d"]


def test_a_disk_error_is_raised_in_every_waiting_call(
    collection: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer(collection, 10_000)

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(28, "disk full")

    monkeypatch.setattr(collection, "add", refuse)

    async def main() -> list[Any]:
        wishes = (writer.add([row(f"d{n}")]) for n in range(50))
        return await asyncio.gather(*wishes, return_exceptions=True)

    assert {type(one) for one in asyncio.run(main())} == {OSError}
    monkeypatch.undo()
    assert asyncio.run(writer.add([row("a")]))[0].status == "added"
    writer.close()


def test_no_more_documents_wait_than_allowed(collection: nd.Collection) -> None:
    writer = Writer(collection, 100)

    async def main() -> list[Any]:
        wishes = (writer.add([row(f"d{n}-{at}") for at in range(40)]) for n in range(10))
        return await asyncio.gather(*wishes, return_exceptions=True)

    found = asyncio.run(main())
    writer.close()
    refused = [one for one in found if isinstance(one, BusyError)]
    assert 0 < len(refused) < 10
    assert len(collection) == 40 * (10 - len(refused))


def test_no_more_bytes_wait_than_allowed(collection: nd.Collection) -> None:
    writer = Writer(collection, 10_000, 100_000)

    async def main() -> list[Any]:
        wishes = [writer.add([row(f"t{n}", "x" * 40_000)]) for n in range(5)]
        wishes += [writer.add([row(f"m{n}", metadata={"x": ["y"] * 10_000})]) for n in range(5)]
        return await asyncio.gather(*wishes, return_exceptions=True)

    found = asyncio.run(main())
    # Larger than all that may wait, but nothing else does.
    alone = asyncio.run(writer.add([row("alone", "x " * 100_000)]))
    writer.close()
    refused = [one for one in found if isinstance(one, BusyError)]
    assert 0 < len(refused) < 10
    assert alone[0].status == "added"
    assert len(collection) == 11 - len(refused)
    assert writer.queued_bytes == 0


@pytest.mark.parametrize("limit", [{"write_bytes": 1}, {"write_queue": 1}])
def test_a_service_limits_its_write_queue(collection: nd.Collection, limit: dict[str, Any]) -> None:
    service = Service(collection, ServiceSettings(**limit))

    async def main() -> list[Any]:
        adds = [service.add([row(f"d{n}")]) for n in range(20)]
        return await asyncio.gather(*adds, return_exceptions=True)

    found = asyncio.run(main())
    service.close()
    assert any(isinstance(one, BusyError) for one in found)


def test_a_queued_write_is_stored_when_its_caller_is_gone(collection: nd.Collection) -> None:
    writer = Writer(collection, 100)

    async def main() -> None:
        task = asyncio.ensure_future(writer.add([row("a")]))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(main())
    writer.close()
    assert "a" in collection

    async def late() -> None:
        with pytest.raises(BusyError):
            await writer.add([row("b")])

    asyncio.run(late())


def test_requests_that_come_one_after_the_other_gather(
    collection: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few at a time, as from clients that wait for their answers: as many again may join."""
    monkeypatch.setattr("neardup.service.writer.BATCH_INTERVAL_SECONDS", 0.5)
    writer = Writer(collection, 10_000)

    async def client(name: str, count: int, pause: float = 0.0) -> None:
        for n in range(count):
            await asyncio.sleep(pause)
            await writer.add([row(f"{name}-{n}")])

    async def main() -> float:
        await asyncio.gather(writer.add([row("a")]), writer.add([row("b")]), writer.add([row("c")]))
        before = writer.batches
        await asyncio.gather(*(client(f"client {n}", 4, 0.015 * n) for n in range(5)))
        assert writer.batches - before <= 6
        await asyncio.sleep(0.6)
        began = time.monotonic()
        await client("alone", 10)
        return time.monotonic() - began

    # One that writes alone is not held up each time.
    assert asyncio.run(main()) < 10 * 0.5
    writer.close()
    assert len(collection) == 33
