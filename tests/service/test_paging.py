"""Pages and lists while documents change: what comes, what comes twice, what is missed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.types import Message

import neardup as nd
from neardup.service import answers, models, ndjson
from neardup.service.state import Service

IDS = [f"d{n}" for n in range(12)]
# What happens between two pages: ids that are added or changed, and ids that are removed.
CHANGES = st.lists(
    st.tuples(st.lists(st.sampled_from(IDS), unique=True), st.lists(st.sampled_from(IDS))),
    max_size=8,
)


def named(id_: str, version: int) -> tuple[str, str]:
    return id_, f"the text of {id_} in its version {version}"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all examples: to make a collection takes longer than to page through it."""
    path = tmp_path_factory.mktemp("paged") / "paged.neardup"
    with nd.Collection.open(path, durability="normal") as collection:
        service = Service(collection)
        yield service
        service.close()


@settings(max_examples=60, deadline=None)
@given(
    before=st.lists(st.sampled_from(IDS), unique=True),
    changes=CHANGES,
    limit=st.integers(1, 5),
    newest=st.booleans(),
)
def test_no_id_comes_twice_and_what_stays_is_not_missed(
    shared: Service,
    before: list[str],
    changes: list[tuple[list[str], list[str]]],
    limit: int,
    newest: bool,
) -> None:
    collection = shared.collection
    collection.remove(IDS)
    collection.add([named(id_, 0) for id_ in before])
    # The naive model: what there was, and what was touched before its page was read.
    touched: set[str] = set()
    seen: list[tuple[str, str | None]] = []
    left, after = list(changes), None
    while True:
        page = answers.documents(shared, limit=limit, after=after, newest=newest, texts=True)
        seen += [(one.id, one.text) for one in page.documents]
        after = page.next
        if after is None:
            break
        assert len(page.documents) == limit
        if left:
            added, removed = left.pop(0)
            collection.remove(removed)
            collection.add([named(id_, len(left) + 1) for id_ in added])
            touched |= {*added, *removed} - {id_ for id_, _ in seen}
    expected = [named(id_, 0) for id_ in before if id_ not in touched]
    assert seen == expected[:: -1 if newest else 1]


def listed(service: Service, change: Any, **options: Any) -> list[dict[str, Any]]:
    """The lines of a list; `change` is called when the first of them were sent."""
    sent: list[bytes] = []

    async def send(message: Message) -> None:
        if body := message.get("body"):
            sent.append(body)
            if len(sent) == 1:
                change()

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    asyncio.run(
        ndjson.stream_documents(service, models.ListQuery(texts=True, **options), receive, send)
    )
    return [json.loads(line) for line in b"".join(sent).splitlines()]


@pytest.mark.parametrize("newest", [False, True])
def test_a_list_of_lines_includes_later_changes(tmp_path: Path, newest: bool) -> None:
    with nd.Collection.open(tmp_path / "listed.neardup") as collection:
        collection.add([named(f"d{n}", 0) for n in range(100)])
        service = Service(collection)

        def change() -> None:
            collection.add([named("d3", 1), named("d70", 1), named("new", 1)])
            collection.remove("d50")

        found = [(one["id"], one["text"]) for one in listed(service, change, newest=newest)]
        service.close()
    if newest:
        # What is changed goes to where the list began, and does not come any more.
        assert found == [named(f"d{n}", 0) for n in range(99, -1, -1) if n not in (3, 50, 70)]
    else:
        whole = [named(f"d{n}", 0) for n in range(100) if n not in (50, 70)]
        assert found == [*whole, named("d3", 1), named("d70", 1), named("new", 1)]


def test_a_list_from_a_page_on_ends_where_the_pages_do(tmp_path: Path) -> None:
    with nd.Collection.open(tmp_path / "listed.neardup") as collection:
        collection.add([named(f"d{n}", 0) for n in range(100)])
        service = Service(collection)
        first = answers.documents(service, limit=10)
        collection.add([named("d3", 1), named("d70", 1), named("new", 1)])
        found = [one["id"] for one in listed(service, lambda: None, after=first.next)]
        service.close()
    assert found == [f"d{n}" for n in range(10, 100) if n != 70]


def test_a_list_reads_pages_of_about_a_megabyte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[int] = []
    documents = answers.documents

    def recorded(*args: Any, **options: Any) -> models.PageModel:
        limits.append(options["limit"])
        return documents(*args, **options)

    monkeypatch.setattr(answers, "documents", recorded)
    with nd.Collection.open(tmp_path / "listed.neardup", durability="normal") as collection:
        collection.add([(f"long-{n}", f"{n} " + "x" * 300_000) for n in range(20)])
        collection.add([(f"short-{n}", f"text {n}") for n in range(60)])
        service = Service(collection)
        assert len(listed(service, lambda: None)) == 80
        service.close()
    # After twenty long documents a page has three; short ones double it again.
    assert limits == [20, 3, 6, 12, 24, 48]
