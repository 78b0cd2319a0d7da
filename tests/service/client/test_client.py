"""The clients against a real service, and against ones that misbehave."""

from __future__ import annotations

import asyncio
import inspect
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

import neardup as nd
from neardup.service.background import serving
from neardup.service.client import calls
from neardup.service.errors import to_problem
from neardup.service.models import CheckedLineModel, DocumentModel, LineProblemModel
from neardup.service.state import demo_collection
from neardup.service.worker_pool import BusyError

SOUP = "wash the lentils and fry the onions, then let both simmer for half an hour"
ODD_IDS = ["a/b", "..", ".", "ü ?#%2F", "\u2028", "a\nb", "<script>"]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[nd.Collection, str]]:
    with demo_collection(tmp_path) as collection, serving(collection, max_batch=50) as url:
        yield collection, url


def test_a_client_answers_as_the_collection(served: tuple[nd.Collection, str]) -> None:
    collection, url = served
    texts = [document.text or "" for document in collection.documents()]
    with nd.Client(url) as client:
        for text in texts:
            found = client.check(text)
            assert list(map(msgspec.structs.astuple, found)) == collection.check(text)
        singly = [client.check(text, 0.5, n=2) for text in texts]
        assert client.check(iter(texts), 0.5, n=2) == singly
        lines = [*client.check_all(iter(texts * 20), 0.5, n=2)]
        assert [x.matches for x in lines] == singly * 20  # type: ignore[union-attr]
        assert client.stats().documents == len(collection)
        hits = client.search(SOUP, 3)
        assert [x.id for x in hits] == collection.search(SOUP, 3)["id"].to_pylist()
        assert client.compare(SOUP, SOUP.upper()).similarity == 1.0
        assert client.compare({"id": "short"}, {"id": "short"}).verdict == "identical"
        assert client.explain(SOUP, bits=16).bits == 16
        assert client.clusters(limit=1).clusters[0].size == 4


def test_documents_come_and_go(served: tuple[nd.Collection, str]) -> None:
    collection, url = served
    with nd.Client(url) as client:
        assert (
            client.add([("soup", SOUP), ("more", "we all scream", {"n": 1})])[0].status == "added"
        )
        assert client.add([{"id": "soup", "text": SOUP, "n": 2}])[0].status == "updated"
        assert client.get("soup").metadata == {"n": 2}  # type: ignore[union-attr]
        again = client.add([("again", f"{SOUP}!")], unless_duplicate=True, similarity=0.9)
        assert (again[0].status, again[0].dup_of) == ("duplicate", "soup")
        for id_ in ODD_IDS:
            assert client.get(id_) is None
            assert client.remove(id_) is False
            client.add([(id_, SOUP, {id_: id_})])
            assert client.get(id_).metadata == {id_: id_}  # type: ignore[union-attr]
            assert id_ in collection
        assert [x.id for x in client.documents()] == [*collection]
        assert [x.id for x in client.documents(newest=True)] == [*collection][::-1]
        assert [x.text for x in client.documents()] == [x.text for x in collection.documents()]
        first = client.page(10)
        second = client.page(1000, after=first.next)
        assert [x.id for x in first.documents + second.documents] == [*collection]
        for id_ in ODD_IDS:
            assert client.remove(id_) is True
            assert id_ not in collection


def test_many_documents_are_added_by_lines(served: tuple[nd.Collection, str]) -> None:
    collection, url = served
    with nd.Client(url) as client:
        given = ((f"d{n}", f"the text of number {n}") for n in range(1234))
        assert [x.status for x in client.add_all(given)] == ["added"] * 1234
        mixed = [*client.add_all([("ok", "a text"), ("", "no id"), ("fine", "a text")])]
        assert [x.status for x in mixed] == ["added", 422, "added"]
        assert "ok" in collection


def test_each_text_has_its_own_answer_however_long_it_is(served: tuple[nd.Collection, str]) -> None:
    _, url = served
    with nd.Client(url, timeout=120) as client:
        short = client.check_all([SOUP])
        expected = next(short).matches  # type: ignore[union-attr]
        for long in ("x " * 2_200_000, "y" * 30_000_000):
            found = [*client.check_all([SOUP, long, SOUP, long, SOUP])]
            assert [getattr(x, "status", None) for x in found] == [None, 413, None, 413, None]
            assert [x.line for x in found if isinstance(x, LineProblemModel)] == [2, 4]
            assert [x.matches for x in found if isinstance(x, CheckedLineModel)] == [expected] * 3


def test_a_problem_names_its_line_among_all(served: tuple[nd.Collection, str]) -> None:
    _, url = served
    given = [(f"d{n}", "a text") for n in range(1, 1301)]
    for wrong in (1, 500, 501, 601, 1300):
        given[wrong - 1] = ("", "no id")
    with nd.Client(url) as client:
        found = [*client.add_all(given)]
    assert [x.line for x in found if isinstance(x, LineProblemModel)] == [1, 500, 501, 601, 1300]
    assert [n for n, x in enumerate(found, 1) if isinstance(x, LineProblemModel)] == [
        *(1, 500, 501, 601, 1300)
    ]
    assert len(found) == 1300


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("unless_duplicate", [False, True])
def test_a_service_that_takes_shorter_lines_answers_each_too(
    tmp_path: Path, *, unless_duplicate: bool, is_async: bool
) -> None:
    """Where a line is too long the service may end its answers: the rest is sent again."""
    long = {3, 4, 20, 40}
    given = [(f"d{n}", f"{n} " * (900 if n in long else n + 5)) for n in range(1, 41)]
    options: dict[str, Any] = {"unless_duplicate": True, "similarity": 1.0}
    options = options if unless_duplicate else {}

    async def awaited(url: str) -> list[Any]:
        async with nd.AsyncClient(url) as client:
            return [x async for x in client.add_all(given, **options)]

    with nd.Collection.open(tmp_path / "short.neardup") as collection:
        with serving(collection, max_line=1000) as url, nd.Client(url) as client:
            found = asyncio.run(awaited(url)) if is_async else [*client.add_all(given, **options)]
            checked = [*client.check_all(text for _, text in given)]
        assert [x.status for x in found] == [
            413 if n in long else "added" for n, _ in enumerate(given, 1)
        ]
        assert [x.line for x in found if isinstance(x, LineProblemModel)] == sorted(long)
        assert [x.line for x in checked if isinstance(x, LineProblemModel)] == sorted(long)
        for (id_, _), one in zip(given, checked, strict=True):
            if isinstance(one, CheckedLineModel):
                assert id_ in [match.id for match in one.matches]


@pytest.mark.parametrize(("length", "count"), [(100_000, 150), (300, 250)])
def test_answers_longer_than_the_texts_do_not_make_both_wait(
    tmp_path: Path, length: int, count: int
) -> None:
    text = "x" * length
    with nd.Collection.open(tmp_path / "large.neardup", durability="normal") as collection:
        collection.add([(f"{n}-{'i' * 1000}", text) for n in range(100)])
        with serving(collection) as url, nd.Client(url, timeout=30, retries=0) as client:
            found = [*client.check_all(text for _ in range(count))]
    assert [len(x.matches) for x in found] == [100] * count  # type: ignore[union-attr]


def test_a_batch_is_limited_by_lines_and_bytes() -> None:
    sizes = [1, 70_000, 60_000, 4_000, 4_000, *[10] * 1200]
    batches = [*calls.check_all("x" * size for size in sizes)]
    assert [batch.first for batch in batches] == [1, 2, 3, 5, 505, 1005]
    assert [len(batch.lines) for batch in batches] == [1, 1, 2, 500, 500, 201]
    sent = b"".join(batch.call.body or b"" for batch in batches).splitlines()
    assert [len(json.loads(line)["text"]) for line in sent] == sizes


@pytest.mark.parametrize("count", [0, 1, 3])
def test_an_answer_of_another_length_raises(count: int) -> None:
    batch = next(calls.check_all(["a", "b"]))
    with pytest.raises(nd.ServiceError, match=f"{count} responses to 2 lines"):
        batch.results([CheckedLineModel(id=None, matches=[])] * count)


@pytest.mark.parametrize("status", [408, 413])
def test_lines_after_an_early_end_are_sent_one_by_one(status: int) -> None:
    batch = next(calls.check_all(["a", "b", "c"]))
    good, end = (
        CheckedLineModel(id=None, matches=[]),
        LineProblemModel(line=2, title="", status=status),
    )
    answers, rest = batch.results([good, end])
    assert answers == [good]
    assert [(one.first, one.lines) for one in rest] == [(2, batch.lines[1:2]), (3, batch.lines[2:])]


@pytest.mark.parametrize("status", [422, 503])
def test_another_problem_does_not_end_a_batch_early(status: int) -> None:
    batch = next(calls.check_all(["a", "b"]))
    with pytest.raises(nd.ServiceError, match="1 responses to 2 lines"):
        batch.results([LineProblemModel(line=1, title="", status=status)])


@pytest.mark.parametrize(
    ("given", "metadata"),
    [
        (("a", "x"), {}),
        (("a", "x", None), {}),
        (("a", "x", {"n": 1}), {"n": 1}),
        ({"id": "a", "text": "x"}, {}),
        ({"id": "a", "text": "x", "n": 1}, {"n": 1}),
        ({"id": "a", "text": "x", "metadata": {"n": 1}}, {"n": 1}),
        # One field beside others is a field like them.
        (
            {"id": "a", "text": "x", "metadata": {"n": 1}, "url": "y"},
            {"metadata": {"n": 1}, "url": "y"},
        ),
    ],
)
def test_all_other_fields_of_a_document_are_its_metadata(
    given: Any, metadata: dict[str, Any]
) -> None:
    assert calls.as_document(given) == {"id": "a", "text": "x", "metadata": metadata}


def test_an_add_without_an_answer_in_time_is_not_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = []
    with nd.Collection.open(tmp_path / "slow.neardup") as collection:
        add = collection.add

        def slow(rows: Any, **options: Any) -> Any:
            added.append(rows)
            time.sleep(1.5)
            return add(rows, **options)

        monkeypatch.setattr(collection, "add", slow)
        with (
            serving(collection, answer_seconds=0.5) as url,
            nd.Client(url) as client,
            pytest.raises(nd.ServiceError, match="may have been"),
        ):
            client.add([("a", SOUP)], unless_duplicate=True)
        assert len(added) == 1
        assert "a" in collection


def test_what_is_refused_is_raised(served: tuple[nd.Collection, str]) -> None:
    with nd.Client(served[1]) as client:
        with pytest.raises(nd.ServiceError, match=r"422 Unprocessable .*: invalid query") as raised:
            client.check("x", 7.0)
        assert raised.value.status == 422
        assert "similarity" in raised.value.errors[0]
        with pytest.raises(nd.ServiceError, match="413"):
            client.check(["x"] * 51)
        with pytest.raises(nd.ServiceError, match="404"):
            client.compare({"id": "nobody"}, "")
    with pytest.raises(ValueError, match="must begin with http"):
        nd.Client("localhost:8765")


def test_a_token_is_sent(served: tuple[nd.Collection, str], tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("read 0123456789abcdef\n", encoding="utf-8")
    tokens.chmod(0o600)
    with serving(served[0], token_file=tokens) as url:
        with nd.Client(url, token="0123456789abcdef") as client:  # noqa: S106
            assert client.stats().documents == 41
            with pytest.raises(nd.ServiceError, match="403"):
                client.add([("a", "b")])
        with nd.Client(url) as client, pytest.raises(nd.ServiceError, match="401"):
            client.stats()


def test_the_same_can_be_awaited(served: tuple[nd.Collection, str]) -> None:
    collection, url = served

    async def main() -> None:
        async with nd.AsyncClient(url) as client:
            text = collection.get("notice-harbour").text  # type: ignore[union-attr]
            assert text is not None
            checks = await asyncio.gather(*(client.check(text) for _ in range(20)))
            assert all(found == checks[0] for found in checks)
            assert (await client.check([text, ""]))[0] == checks[0]
            assert (await client.add([("soup", SOUP)]))[0].status == "added"
            given = [(f"d{n}", f"the text {n}") for n in range(600)]
            assert [x.status async for x in client.add_all(given)] == ["added"] * 600
            lines = [x async for x in client.check_all([text] * 600)]
            assert lines[-1].matches == checks[0]  # type: ignore[union-attr]
            assert [x.id async for x in client.documents()] == [*collection]
            assert (await client.get("soup")).text == SOUP  # type: ignore[union-attr]
            assert (await client.page(1)).documents[0].id == "notice-harbour"
            assert await client.remove("soup") is True
            assert await client.get("soup") is None
            assert (await client.stats()).documents == 641
            best = collection.search(SOUP, 1)["id"].to_pylist()
            assert [x.id for x in await client.search(SOUP, 1)] == best
            assert (await client.compare(SOUP, SOUP)).verdict == "identical"
            assert (await client.explain(SOUP)).signal
            assert (await client.clusters()).total > 0
            with pytest.raises(nd.ServiceError):
                await client.check("x", radius=1000)

    asyncio.run(main())


# -------------------------------------------------------------------------- services that misbehave

# A status, a refusal with this body, or None.
Step = int | bytes | None


@contextmanager
def misbehaving(steps: list[Step]) -> Iterator[tuple[str, list[float]]]:
    """A service that answers with these statuses, one after the other (None: it hangs up), then as
    it should; and the bodies it was sent."""
    seen: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            step = steps.pop(0) if steps else 200
            if step is None:
                self.close_connection = True
                return
            one = b'[{"id": "a", "status": "added"}]'
            body = (
                (one if "documents" in self.path else b'{"matches": []}') if step == 200 else b"-"
            )
            status, body = (503, step) if isinstance(step, bytes) else (step, body)
            self.send_response(status)
            self.send_header("Retry-After", "1")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long a client has waited, without waiting."""
    found: list[float] = []
    monkeypatch.setattr("neardup.service.client.client.time.sleep", found.append)
    monkeypatch.setattr(calls, "random", _Fixed())
    return found


class _Fixed:
    def random(self) -> float:
        return 1.0


def test_a_busy_service_is_asked_again_after_as_long_as_it_says(pauses: list[float]) -> None:
    with misbehaving([503, 429, 503]) as (url, seen), nd.Client(url) as client:
        assert client.check("x") == []
        assert len(seen) == 4
        assert pauses == [1.0, 1.0, 1.0]


def test_only_requests_that_were_not_processed_are_retried(pauses: list[float]) -> None:
    refused, late = (bytes(to_problem(x).response().body) for x in (BusyError(), TimeoutError()))
    with misbehaving([refused, 429, refused]) as (url, seen), nd.Client(url) as client:
        assert client.add([("a", "x")], unless_duplicate=True)[0].status == "added"
        assert len(seen) == 4
    for step in (late, 503, b'{"type": 1}'):
        with misbehaving([step, step]) as (url, seen), nd.Client(url) as client:
            with pytest.raises(nd.ServiceError, match="503"):
                client.add([("a", "x")], unless_duplicate=True)
            assert len(seen) == 1
            # An update twice is an update.
            assert client.add([("a", "x")])[0].status == "added"
            assert len(seen) == 3


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [("7", 7.0), ("86400", 30.0), ("0", 0.1), ("", 0.1), ("-5", 0.1), ("1.5", 0.1), ("soon", 0.1)],
)
def test_retry_after_is_a_number_of_seconds_up_to_a_limit(
    pauses: list[float], asked: str, seconds: float
) -> None:
    answer = httpx.Response(503, headers={"Retry-After": asked})
    waited = calls.RetryPolicy(1).after_response(0, calls.check("x"), answer)
    assert waited == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("error", "sent"),
    [
        (httpx.ConnectError("x"), False),
        (httpx.ConnectTimeout("x"), False),
        (httpx.ReadTimeout("x"), True),
        (httpx.WriteTimeout("x"), True),
        (httpx.RemoteProtocolError("x"), True),
    ],
)
def test_only_a_request_that_was_never_sent_is_always_sent_again(
    pauses: list[float], error: Exception, *, sent: bool
) -> None:
    wait = calls.RetryPolicy(1)
    once = calls.add([("a", "x")], unless_duplicate=True)
    assert wait.after_error(0, once, error) == (None if sent else pytest.approx(0.1))
    assert wait.after_error(0, calls.add([], unless_duplicate=False), error) is not None
    assert wait.after_error(0, once, ValueError()) is None


def test_patience_ends(pauses: list[float]) -> None:
    with misbehaving([503] * 10) as (url, seen), nd.Client(url, retries=2) as client:
        with pytest.raises(
            nd.ServiceError, match="503 unexpected response; is this a neardup service"
        ):
            client.check("x")
        assert len(seen) == 3


def test_a_broken_connection_is_made_again_where_that_does_no_harm(pauses: list[float]) -> None:
    with misbehaving([None, None]) as (url, seen), nd.Client(url) as client:
        assert client.check("x") == []
        assert client.add([("a", "x")])[0].status == "added"
        assert pauses == pytest.approx([0.1, 0.2])
        assert len(seen) == 4
    with misbehaving([None]) as (url, seen), nd.Client(url) as client:
        # It may have been stored, and would then be a duplicate of itself.
        with pytest.raises(httpx.TransportError):
            client.add([("a", "x")], unless_duplicate=True)
        assert len(seen) == 1


def test_a_service_that_is_not_there_is_waited_for(pauses: list[float]) -> None:
    with nd.Client("http://127.0.0.1:9", retries=3) as client:
        with pytest.raises(httpx.ConnectError):
            client.add([("a", "x")], unless_duplicate=True)
        assert pauses == pytest.approx([0.1, 0.2, 0.4])


@pytest.mark.parametrize("status", [301, 400, 404, 500, 502])
def test_other_answers_are_not_asked_for_again(status: int, pauses: list[float]) -> None:
    with misbehaving([status]) as (url, seen), nd.Client(url) as client:
        with pytest.raises(nd.ServiceError, match=str(status)):
            client.check("x")
        assert len(seen) == 1
        assert pauses == []


@pytest.mark.parametrize("package", ["httpx", "msgspec"])
def test_a_missing_package_is_named_with_its_extra(package: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None\nimport neardup as nd\nnd.Client()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'neardup[serve]'" in done.stderr.splitlines()[-1]


def test_both_clients_have_the_same_methods() -> None:
    def methods(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")} - {"close", "aclose"}

    assert methods(nd.Client) == methods(nd.AsyncClient)


def test_a_list_that_cannot_go_on_is_an_error() -> None:
    """What came before is not all: nobody is to take it for that."""
    lines = calls.NdjsonLines(DocumentModel)
    first = b'{"id":"a","text":"one","metadata":{},"fingerprint":null}\n{"id":"b","te'
    assert [document.id for document in lines.feed_complete(first)] == ["a"]
    rest = lines.feed_complete(
        b'xt":"two","metadata":{},"fingerprint":null}\n{"line":3,"title":"Busy","status":503}\n'
    )
    assert next(rest).id == "b"
    with pytest.raises(nd.ServiceError, match="503 Busy"):
        next(rest)


def test_both_clients_have_the_same_documented_methods() -> None:
    names = [name for name in vars(nd.Client) if not name.startswith("_") and name != "close"]
    assert {*names, "aclose"} == {name for name in vars(nd.AsyncClient) if name[0] != "_"}
    for name in names:
        method, awaited = getattr(nd.Client, name), getattr(nd.AsyncClient, name)
        parameters = [*inspect.signature(method).parameters.values()]
        assert parameters == [*inspect.signature(awaited).parameters.values()]
        assert parameters[0].name == "self"
        assert method.__doc__ == awaited.__doc__
        assert len(method.__doc__) > 20
        streams = name in ("add_all", "check_all", "documents")
        assert inspect.iscoroutinefunction(awaited) == (not streams)
    assert str(inspect.signature(nd.Client().get)).startswith("(id: 'str') -> ")
