"""Every kind of capture gives the same documents, at defaults."""

import gzip
from pathlib import Path

import pytest

from helpers.capture_files import VIEWING, WRITERS, Answer, answers, read
from neardup import http
from neardup.files.reading.batch import Reading
from neardup.files.reading.inputs import read_batches
from neardup.http.columns import RESPONSE_COLUMNS


@pytest.mark.parametrize("kind", WRITERS)
def test_each_kind_gives_the_same_responses(tmp_path: Path, kind: str) -> None:
    path = WRITERS[kind](tmp_path, answers())
    found = list(http.responses(path))
    assert [each.url for each in found] == [each.url for each in answers()]
    assert [each.status for each in found] == [each.status for each in answers()]
    assert [each.headers for each in found] == [each.headers for each in answers()]
    assert [each.body for each in found] == [each.body for each in answers()]
    assert [each.length for each in found] == [len(each.body) for each in answers()]
    if kind != "raw":
        assert {each.ip for each in found} == {"192.0.2.7"}


@pytest.mark.parametrize("kind", ["warc", "burp", "raw"])
def test_a_length_is_that_of_the_unpacked_body(tmp_path: Path, kind: str) -> None:
    body = b"<p>Some words.</p>" * 50
    packed = gzip.compress(body)
    headers = (("Content-Encoding", "gzip"), ("Content-Length", str(len(packed))))
    path = WRITERS[kind](tmp_path, [Answer("http://a.example/", 200, headers, packed)])
    (found,) = http.responses(path)
    assert (found.body, found.length, found.is_whole) == (body, len(body), True)


@pytest.mark.parametrize("kind", WRITERS)
def test_each_kind_gives_the_same_views_and_facts(tmp_path: Path, kind: str) -> None:
    expected, _, _ = read(WRITERS["warc"](tmp_path, answers()))
    path = WRITERS[kind](tmp_path, answers())
    batches, problems, notes = read(path)
    assert (problems, notes) == ([], [])
    (batch,), (other,) = batches, expected
    assert batch.ids.to_pylist() == [f"{path}:{n}" for n in range(1, len(answers()) + 1)]
    assert batch.texts.to_pylist() == other.texts.to_pylist()
    assert batch.facts is not None
    assert other.facts is not None
    assert tuple(batch.facts.schema.names) == RESPONSE_COLUMNS
    for name in RESPONSE_COLUMNS:
        if name != "ip":
            assert batch.facts[name].to_pylist() == other.facts[name].to_pylist(), name


def test_the_id_may_be_a_fact(tmp_path: Path) -> None:
    (batch,), problems, _ = read(WRITERS["har"](tmp_path, answers()), id_column="url")
    assert batch.ids.to_pylist() == [each.url for each in answers()]
    assert problems == []


def test_the_id_may_be_the_title(tmp_path: Path) -> None:
    path = WRITERS["har"](tmp_path, answers())
    (batch,), problems, _ = read(path, id_column="title")
    assert batch.ids.to_pylist() == ["One", "你好", *(f"{path}:{at}" for at in (3, 4, 5, 6))]
    assert problems == []


def test_an_id_that_no_capture_has_is_reported(tmp_path: Path) -> None:
    batches, problems, _ = read(WRITERS["har"](tmp_path, answers()), id_column="nonsense")
    assert batches == []
    assert len(problems) == len(answers())
    assert "no column 'nonsense' (columns: url, host, ip, status" in problems[0]


def test_what_a_scanner_says_may_be_a_key_and_a_group(tmp_path: Path) -> None:
    path = WRITERS["httpx"](tmp_path, answers())
    reading = Reading(viewing=VIEWING._replace(within="input"), key_column="length")
    (batch,) = read_batches(str(path), reading, lambda problem: None)
    assert batch.facts is not None
    assert batch.key is not None
    assert batch.facts["input"].to_pylist()[:3] == ["a.example", "a.example", "b.example"]
    assert batch.key.to_pylist() == [len(each.body) for each in answers()]


def test_the_text_of_a_file_that_is_no_capture_says_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("just a text", encoding="utf-8")
    batches, problems, _ = read(path)
    assert batches == []
    assert problems == [
        f"{path}: holds no HTTP responses: WARC, HAR, JSON lines of httpx, XML of Burp and raw "
        "HTTP/1.x messages are read, also with .gz or .zst"
    ]


@pytest.mark.parametrize(
    ("text", "scanner"),
    [
        (
            '{"type":"response","url":"http://a/","path":"/","wildcard":false,"status":200,'
            '"content_length":1,"line_count":1,"word_count":1}\n',
            "feroxbuster",
        ),
        (
            '{"commandline":"ffuf -u http://a/FUZZ","time":"now","results":[{"input":{"FUZZ":"x"},'
            '"status":200,"length":1,"words":1,"lines":1}]}',
            "ffuf",
        ),
        ('{"input":{"FUZZ":"x"},"status":200,"length":1,"url":"http://a/x"}\n' * 2, "ffuf"),
    ],
)
def test_results_without_bodies_are_refused(tmp_path: Path, text: str, scanner: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    batches, problems, _ = read(path)
    assert batches == []
    assert problems == [
        f"{path}: is JSON of {scanner}, which has no responses in it, only their status and sizes; "
        "save responses with httpx -irr -json, as WARC, or as raw files"
    ]


def test_many_responses_come_in_order_and_in_several_batches(tmp_path: Path) -> None:
    one = answers()[0]
    many = [
        Answer(f"http://a.example/{n}", 200, one.headers[:2], b"<p>x</p>" * 40000)
        for n in range(80)
    ]
    path = WRITERS["warc"](tmp_path, many)
    batches, problems, _ = read(path, id_column="url")
    assert problems == []
    assert len(batches) > 2
    assert [x for batch in batches for x in batch.ids.to_pylist()] == [each.url for each in many]
    assert [x for batch in batches for x in batch.lines.tolist()] == list(range(1, 81))


def test_without_a_report_the_first_problem_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.har"
    path.write_text('{"log": {"entries": [{"request": {}}]}}', encoding="utf-8")
    with pytest.raises(ValueError, match="has no response, at byte 21; pass report= to go on"):
        list(http.responses(path))
