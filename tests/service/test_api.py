"""The API by HTTP: what it answers is what the library answers."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

import neardup as nd
from neardup.service import answers, models
from neardup.service.background import serving
from neardup.service.state import demo_collection

LINES = {"Content-Type": "application/x-ndjson"}
# Of every length and script, hostile ones among them.
TEXTS = [
    "",
    " ",
    "…",
    "ok",
    "the cat sat on the mat",
    "红烧牛肉的做法：牛肉切块，冷水下锅，加姜片焯水。",
    "ซุปถั่วแดงสำหรับสี่คน",
    "<script>alert(1)</script>\u2028'; DROP TABLE documents; --",
    "\x00\x01\x7f\u202e\ufeff",
    "😀" * 50,
    "word " * 5000,
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[nd.Collection]:
    with demo_collection(tmp_path_factory.mktemp("demo")) as collection:
        yield collection


@pytest.fixture(scope="module")
def client(demo: nd.Collection) -> Iterator[httpx.Client]:
    with serving(demo) as url, httpx.Client(base_url=url) as client:
        yield client


def problem(response: httpx.Response, status: int, words: str = "") -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = response.json()
    assert found["status"] == status
    assert words in found["detail"] + " ".join(found.get("errors", ()))
    return found


def matches(found: list[nd.Match[str]]) -> list[dict[str, Any]]:
    return [match._asdict() for match in found]


@pytest.mark.parametrize(
    "options", [{}, {"similarity": 0.5}, {"radius": 40}, {"similarity": 0.3, "n": 2}]
)
def test_a_check_answers_as_the_collection(
    demo: nd.Collection, client: httpx.Client, options: dict[str, Any]
) -> None:
    texts = [*TEXTS, *(document.text or "" for document in demo.documents())]
    singly = [client.post("/v1/check", params=options, json={"text": x}).json() for x in texts]
    assert [one["matches"] for one in singly] == [matches(demo.check(x, **options)) for x in texts]
    many = client.post("/v1/check", params=options, json=texts).json()
    assert many == singly
    mixed = client.post("/v1/check", params=options, json=[{"text": x} for x in texts]).json()
    assert mixed == singly
    lines = "\n\n".join(json.dumps({"id": str(at), "text": x}) for at, x in enumerate(texts))
    answer = client.post("/v1/check", params=options, content=lines, headers=LINES)
    assert answer.headers["content-type"] == "application/x-ndjson"
    found = [json.loads(line) for line in answer.text.strip().split("\n")]
    assert found == [{"id": str(at), **one} for at, one in enumerate(singly)]


def test_comparing_explaining_and_searching_answer_as_the_library(
    demo: nd.Collection, client: httpx.Client
) -> None:
    for a, b in zip(TEXTS, [*TEXTS[1:], "the cat sat on a mat"], strict=True):
        found = client.post("/v1/compare", json={"a": a, "b": b}).json()
        expected = nd.compare(a, b, demo.recipe)
        assert found["similarity"] == expected.similarity
        assert found["distance"] == expected.distance
        assert found["verdict"] == expected.verdict
        assert found["container"] == {"left": "a", "right": "b", None: None}[expected.container]
        assert (found["words_a"], found["words_b"]) == (expected.words_left, expected.words_right)
        assert (found["unit"], found["threshold"], found["radius"]) == (expected.unit, 0.85, None)
        differences = found["differences"]
        assert differences["aspects"] == list(expected.differences.aspects)
        assert differences["numbers_b"] == list(expected.differences.numbers[1])
        assert differences["words_a"] == list(expected.differences.added)
        assert differences["words_b"] == list(expected.differences.lost)
        assert [list(x.values()) for x in found["passages"]] == [
            list(vars(x).values()) for x in expected.passages
        ]
        for bits in (6, 16):
            explained = client.post("/v1/explain", params={"bits": bits}, json={"text": a}).json()
            assert explained == nd.explain(a, demo.recipe, bits=bits).to_dict()
        for by in ("cosine", "simhash"):
            hits = client.post("/v1/search", params={"by": by, "n": 4}, json={"text": a}).json()
            rows = demo.search(a, 4, by).to_pylist()
            assert hits["results"] == [
                {name: row[name] for name in ("id", "score", "distance")} for row in rows
            ]


def test_comparing_by_radius(demo: nd.Collection, client: httpx.Client) -> None:
    pair = {"a": TEXTS[0], "b": f"{TEXTS[0]} and more"}
    for radius in (0, 128):
        found = client.post("/v1/compare", params={"radius": radius}, json=pair).json()
        expected = nd.compare(pair["a"], pair["b"], demo.recipe, radius=radius)
        assert (found["verdict"], found["radius"], found["threshold"]) == (
            expected.verdict,
            radius,
            None,
        )
    both = client.post("/v1/compare", params={"radius": 3, "similarity": 0.9}, json=pair)
    problem(both, 422, "similarity and radius exclude each other")


def test_documents_can_be_compared_by_their_ids(client: httpx.Client) -> None:
    by_id = {"a": {"id": "notice-harbour"}, "b": {"id": "notice-harbour-web"}}
    texts = {x: client.get(f"/v1/documents/{y['id']}").json()["text"] for x, y in by_id.items()}
    assert client.post("/v1/compare", json=by_id).json() == (
        client.post("/v1/compare", json=texts).json()
    )
    missing = client.post("/v1/compare", json={"a": "", "b": {"id": "nobody"}})
    problem(missing, 404, "no document has this id")


def test_pages_show_every_document_once_in_both_directions(
    demo: nd.Collection, client: httpx.Client
) -> None:
    for newest in (False, True):
        for limit in (1, 7, 41, 42, 1000):
            seen: list[str] = []
            after: str | None = None
            while True:
                options: dict[str, Any] = {"limit": limit, "newest": newest}
                options |= {} if after is None else {"after": after}
                page = client.get("/v1/documents", params=options).json()
                seen += [one["id"] for one in page["documents"]]
                after = page["next"]
                if after is None:
                    break
                assert len(page["documents"]) == limit
            assert seen == [*demo][:: -1 if newest else 1]


def test_all_documents_come_as_lines(demo: nd.Collection, client: httpx.Client) -> None:
    answer = client.get(
        "/v1/documents", params={"texts": True}, headers={"Accept": "application/x-ndjson"}
    )
    found = [json.loads(line) for line in answer.text.strip().split("\n")]
    assert [(one["id"], one["text"]) for one in found] == [
        (one.id, one.text) for one in demo.documents()
    ]
    few = client.get(
        "/v1/documents", params={"limit": 3}, headers={"Accept": "application/x-ndjson"}
    )
    assert [json.loads(line)["id"] for line in few.text.strip().split("\n")] == [*demo][:3]


def test_numbers_and_clusters(demo: nd.Collection, client: httpx.Client) -> None:
    stats = client.get("/v1/stats").json()
    assert stats["documents"] == len(demo)
    assert stats["recipe"] == demo.recipe.identity
    assert stats["name"] == "demo.neardup"
    found = client.get("/v1/clusters", params={"similarity": 0.85}).json()
    texts = [one.text for one in demo.documents()]
    labels = nd.dedup(texts, 0.85, recipe=demo.recipe).clusters.tolist()
    groups: dict[int, list[str]] = {}
    for id_, label in zip(demo, labels, strict=True):
        groups.setdefault(label, []).append(id_)
    expected = {tuple(group) for group in groups.values() if len(group) > 1}
    assert {tuple(one["members"]) for one in found["clusters"]} == expected
    assert found["total"] == len(expected)
    sizes = [one["size"] for one in found["clusters"]]
    assert sizes == sorted(sizes, reverse=True)
    few = client.get("/v1/clusters", params={"limit": 1, "members": 1}).json()
    assert few["clusters"][0]["size"] == sizes[0]
    assert len(few["clusters"][0]["members"]) == 1


def test_documents_are_added_updated_and_removed(serve: Callable[..., str], tmp_path: Path) -> None:
    with nd.Collection.open(tmp_path / "new.neardup") as collection:
        url = serve(collection, max_batch=5)
        soup = "wash the lentils and fry the onions, then let both simmer for half an hour"
        with httpx.Client(base_url=f"{url}/v1") as client:
            one = client.post(
                "/documents", json={"id": "a/ü ?#%2F..", "text": soup, "metadata": {"n": [1, None]}}
            )
            assert one.json()["status"] == "added"
            assert collection.get("a/ü ?#%2F..") is not None
            many = client.post(
                "/documents?unless_duplicate=true&similarity=0.9",
                json=[{"id": "b", "text": f"{soup}!"}, {"id": "c", "text": "we all scream"}],
            ).json()
            assert [(x["id"], x["status"], x["dup_of"]) for x in many] == [
                ("b", "duplicate", "a/ü ?#%2F.."),
                ("c", "added", None),
            ]
            again = client.post("/documents", json={"id": "c", "text": "and shout"}).json()
            assert again["status"] == "updated"
            path = "/documents/a%2F%C3%BC%20%3F%23%252F.."
            assert client.get(path).json()["metadata"] == {"n": [1, None]}
            assert client.delete(path).status_code == 204
            problem(client.delete(path), 404)
            problem(client.get(path), 404)
            assert [*collection] == ["c"]
            over = [{"id": str(n), "text": "x"} for n in range(6)]
            problem(client.post("/documents", json=over), 413, "send at most 5")
            twice = [{"id": "d", "text": "x"}] * 2
            problem(client.post("/documents", json=twice), 422, "occurs twice")
            assert [*collection] == ["c"]


def test_lines_are_answered_one_by_one_however_many(
    serve: Callable[..., str], tmp_path: Path
) -> None:
    with nd.Collection.open(tmp_path / "new.neardup") as collection:
        url = serve(collection, max_batch=50, max_line=1000)
        documents = [
            json.dumps({"id": f"d{n % 900}", "text": f"the text of number {n} is this"})
            for n in range(1000)
        ]
        documents[17] = "{not json"
        documents[18] = '{"id": "x"}'
        documents[19] = json.dumps({"id": "deep", "text": "", "metadata": {"a": nested(200)}})
        documents[20] = '{"id": "\xff", "text": "not UTF-8 when it is sent"}'
        answer = httpx.post(
            f"{url}/v1/documents", content="\n".join(documents).encode("latin-1"), headers=LINES
        )
        found = [json.loads(line) for line in answer.text.strip().split("\n")]
        assert len(found) == 1000
        wrong = {one["line"]: one["status"] for one in found if "line" in one}
        assert wrong == {18: 400, 19: 422, 20: 422, 21: 400}
        assert [one["status"] for one in found[900:]] == [
            "updated" if n not in (17, 18, 19, 20) else "added" for n in range(100)
        ]
        assert len(collection) == 900
        assert collection.get("d99").text == "the text of number 999 is this"  # type: ignore[union-attr]
        long = httpx.post(f"{url}/v1/documents", content=b'{"id": "' + b"x" * 2000, headers=LINES)
        assert json.loads(long.text)["status"] == 413


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"text": "\xff"}', 400),
        (b'{"text": "\xed\xa0\x80"}', 400),
        (b'{"text": "\\ud800"}', 400),
        (b"[" * 100_000, 422),
        (b'{"text": 1}', 422),
        (b'{"text": null}', 422),
        (b'{"text": "x", "more": 1}', 422),
        (b'"text"', 422),
        (b"[[]]", 422),
        (b"NaN", 400),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(
    client: httpx.Client, body: bytes, status: int
) -> None:
    answer = client.post("/v1/check", content=body, headers={"Content-Type": "application/json"})
    problem(answer, status)


@pytest.mark.parametrize(
    ("body", "at"), [(b'{"text":"\xff"}', 9), (b'{"text":"\xc3\xa9\xff"}', 11), (b"\xff", 0)]
)
def test_the_error_names_the_byte_that_is_not_utf8(
    client: httpx.Client, body: bytes, at: int
) -> None:
    answer = client.post("/v1/check", content=body, headers={"Content-Type": "application/json"})
    assert answer.json()["errors"] == [f"invalid UTF-8 at byte {at}"]


@pytest.mark.parametrize(("depth", "status"), [(50, 200), (200, 422), (100_000, 400)])
def test_deep_metadata_is_refused(served: str, depth: int, status: int) -> None:
    inner = b"[" * depth + b"]" * depth
    body = b'{"id": "deep", "text": "x", "metadata": {"a": %b}}' % inner
    answer = httpx.post(
        f"{served}/v1/documents", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == status
    if status == 200:
        httpx.delete(f"{served}/v1/documents/deep")


@pytest.mark.parametrize(
    "query",
    [
        "similarity=0",
        "similarity=1.1",
        "similarity=nan",
        "similarity=x",
        "radius=-1",
        "radius=1.5",
        "radius=3&similarity=0.9",
        "n=0",
        "n=1001",
        "n=1&n=2",
        "n=null",
        "similarity=null",
        "similarity=%200.9",
        "unknown=1",
        "%ff=1",
        "&".join(f"a{n}=1" for n in range(100)),
    ],
)
def test_options_that_are_wrong_are_refused(client: httpx.Client, query: str) -> None:
    answer = client.post(f"/v1/check?{query}", json={"text": "x"})
    assert answer.status_code in (400, 422)
    problem(answer, answer.status_code)


def test_methods_paths_and_types(client: httpx.Client) -> None:
    refused = client.put("/v1/documents", json={})
    problem(refused, 405)
    assert refused.headers["allow"] == "GET, HEAD, POST"
    problem(client.get("/v1/nothing"), 404)
    problem(client.get("/v1"), 404)
    problem(client.get("/v1/stats/"), 404)
    problem(client.post("/v1/check", content=b"text=x"), 415)
    problem(client.post("/v1/check", json={"text": "x"}, headers={"Accept": "text/html"}), 406)
    for accept, status in (
        ("application/json;q=0", 406),
        ("*/*; q=0.0, text/html", 406),
        ("text/html, */*;q=0.1", 200),
        ("application/*", 200),
        ("", 200),
    ):
        assert client.get("/v1/stats", headers={"Accept": accept}).status_code == status, accept
    problem(client.get("/v1/stats?n=1"), 422, "takes no query parameters")
    assert client.head("/v1/stats").status_code == 200
    assert client.head("/v1/stats").content == b""


def test_metadata_of_any_json_comes_back(serve: Callable[..., str], tmp_path: Path) -> None:
    metadata = {"big": 2**70, "small": 1e-300, "text": "\u2028</script>", "none": None, "": []}
    with nd.Collection.open(tmp_path / "new.neardup") as collection:
        collection.add([("a", "the cat sat on the mat", metadata)])
        url = serve(collection)
        assert httpx.get(f"{url}/v1/documents/a").json()["metadata"] == metadata
        assert httpx.get(f"{url}/v1/documents").json()["documents"][0]["metadata"] == metadata
        sent = {"id": "b", "text": "x", "metadata": metadata}
        assert httpx.post(f"{url}/v1/documents", json=sent).json()["status"] == "added"
        assert collection.get("b").metadata == metadata  # type: ignore[union-attr]


def test_a_collection_without_texts_says_what_it_cannot(
    serve: Callable[..., str], tmp_path: Path
) -> None:
    with nd.Collection.open(tmp_path / "codes.neardup", store_text=False) as collection:
        url = f"{serve(collection)}/v1"
        added = httpx.post(f"{url}/documents", json={"id": "a", "text": "the cat sat on the mat"})
        assert added.status_code == 200
        body = {"text": "the cat sat on the mat"}
        assert httpx.post(f"{url}/check?radius=3", json=body).json()["matches"][0]["id"] == "a"
        for answer in (
            httpx.post(f"{url}/check", json=body),
            httpx.post(f"{url}/search", json=body),
            httpx.get(f"{url}/clusters"),
            httpx.post(f"{url}/compare", json={"a": "", "b": {"id": "a"}}),
        ):
            assert str(tmp_path) not in answer.text
            problem(answer, 409, "no texts")


def test_a_long_text_is_not_explained(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "word " * (answers.MAX_EXPLAINED_CHARACTERS // 5)
    assert client.post("/v1/explain", json={"text": text}).status_code == 200
    long = client.post("/v1/explain", json={"text": f"{text}x"})
    problem(long, 413, "100001 characters; explain takes at most 100000")
    # A character that stands for eighteen: what counts is what the text becomes.
    monkeypatch.setattr(answers, "MAX_EXPLAINED_FEATURES", 50)
    words = " ".join(f"word{n}" for n in range(51))
    problem(
        client.post("/v1/explain", json={"text": words}), 413, "features; explain takes at most 50"
    )


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/explain", {"text": "a few words"}),
        ("/v1/check", ["a few words"]),
        ("/v1/compare", {"a": "a few words", "b": "some words"}),
        ("/v1/documents?texts=true", None),
        ("/v1/documents/short", None),
    ],
)
def test_answers_that_may_be_long_are_encoded_by_threads(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, path: str, body: Any
) -> None:
    threads = []

    class Encoder:
        def encode(self, value: Any) -> bytes:
            threads.append(threading.current_thread().name)
            return msgspec.json.encode(value)

    monkeypatch.setattr(models, "encoder", Encoder())
    answer = client.get(path) if body is None else client.post(path, json=body)
    assert answer.status_code == 200
    assert [re.fullmatch(r"neardup-\d+", name) is not None for name in threads] == [True]


def test_too_many_documents_are_not_clustered(serve: Callable[..., str]) -> None:
    problem(httpx.get(f"{serve(max_clustered=40)}/v1/clusters"), 409, "has 41 documents")


def test_clusters_are_made_again_when_a_document_changes(served: str) -> None:
    url = f"{served}/v1"
    before = httpx.get(f"{url}/clusters").json()
    assert httpx.get(f"{url}/clusters").json() == before
    text = httpx.get(f"{url}/documents/short").json()["text"]
    httpx.post(f"{url}/documents", json={"id": "short again", "text": text})
    assert httpx.get(f"{url}/clusters").json()["total"] == before["total"] + 1
    httpx.delete(f"{url}/documents/short%20again")
    assert httpx.get(f"{url}/clusters").json() == before


def test_health_and_metrics(served: str) -> None:
    assert httpx.get(f"{served}/healthz").json() == {"status": "ok"}
    assert httpx.get(f"{served}/readyz").json() == {"status": "ok"}
    httpx.post(f"{served}/v1/check", json={"text": "secret words that nobody may see"})
    httpx.get(f"{served}/v1/documents/secret-id")
    numbers = httpx.get(f"{served}/metrics")
    assert numbers.headers["content-type"].startswith("text/plain")
    assert "neardup_documents 41.0" in numbers.text
    wanted = 'neardup_requests_total{method="POST",route="/v1/check",status="200"}'
    assert wanted in numbers.text
    assert "secret" not in numbers.text
