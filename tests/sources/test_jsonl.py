"""JSON lines as documents, and every way a line can be wrong."""

from pathlib import Path

import pytest

from neardup import sources
from neardup.sources import Unreadable


def read(
    path: Path, text_column: str = "text", id_column: str | None = None
) -> tuple[list[tuple[str, str]], list[str]]:
    problems: list[Unreadable] = []
    found = [
        (each.id, each.text)
        for each in sources.read(
            [str(path)], report=problems.append, text_column=text_column, id_column=id_column
        )
    ]
    return found, [str(problem).removeprefix(f"{path}:") for problem in problems]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


def test_columns_and_ids(path: Path) -> None:
    path.write_text(
        '\ufeff{"id": "x", "text": "one"}\r\n\n{"text": "two", "n": [1]}\n'
        '{"id": 7, "text": ""}\n{"id": null, "text": "four"}',
        encoding="utf-8",
    )
    expected = [("x", "one"), (f"{path}:3", "two"), ("7", ""), (f"{path}:5", "four")]
    assert read(path) == (expected, [])


def test_other_columns(path: Path) -> None:
    path.write_text('{"url": "u", "body": "b"}\n{"body": "c"}\n')
    assert read(path, text_column="body", id_column="url") == (
        [("u", "b")],
        ["2: no column 'url' (there is 'body')"],
    )


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".JSONL"])
def test_known_by_their_ending(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text('{"text": "t"}\n')
    assert read(path)[0] == [(f"{path}:1", "t")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "\xce\xd2"}', "not UTF-8 (byte 0xce at offset 10)"),
        (b'{"text": ', "not JSON (Expecting value at character 9)"),
        (b'{"text": "abc', "not JSON (Unterminated string starting at character 9)"),
        (b'{"text": "a\tb"}', "not JSON (Invalid control character at character 11)"),
        (b"plain words", "not JSON (Expecting value at character 0)"),
        (b"[" * 100_000, "not JSON (nested too deeply)"),
        (b'{"text": ' + b"9" * 5000 + b"}", "not JSON (Exceeds the limit"),
        (b'["text"]', "not an object but a list"),
        (b"null", "not an object but null"),
        (b'"text"', "not an object but a string"),
        (b"1.5", "not an object but a number"),
        (b"{}", "no column 'text' (there is none)"),
        (b'{"body": "x", "url": "u"}', "no column 'text' (there is 'body', 'url')"),
        (b'{"text": null}', "column 'text' is not a string but null"),
        (b'{"text": 3}', "column 'text' is not a string but a number"),
        (b'{"text": {"a": 1}}', "column 'text' is not a string but an object"),
        (
            b'{"text": "ab\\ud800"}',
            "column 'text' holds a lone surrogate (U+D800 at character 2)",
        ),
        (b'{"id": "\\udfff", "text": ""}', "column 'id' holds a lone surrogate"),
        (b'{"id": true, "text": ""}', "column 'id' is neither a string nor an integer but true"),
        (b'{"id": 1.5, "text": ""}', "column 'id' is neither a string nor an integer but a num"),
    ],
)
def test_a_bad_line_is_reported_and_the_others_go_on(path: Path, line: bytes, reason: str) -> None:
    path.write_bytes(b'{"text": "before"}\n' + line + b'\n{"text": "after \\ud83d\\ude00"}\n')
    found, problems = read(path)
    assert [text for _, text in found] == ["before", "after 😀"]
    assert len(problems) == 1
    assert problems[0].startswith(f"2: {reason}")


def test_places_inside_a_line_do_not_make_another_kind(path: Path) -> None:
    path.write_bytes(b'{"text": "a\n{"text" :"ab\n\xce\n {\xd2\n')
    problems: list[Unreadable] = []
    assert list(sources.read([str(path)], report=problems.append)) == []
    kinds = [problem.kind for problem in problems]
    assert kinds == ["not JSON (Unterminated string starting"] * 2 + ["not UTF-8"] * 2


def test_many_columns_are_not_all_listed(path: Path) -> None:
    path.write_text('{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1}')
    assert read(path)[1][0].endswith("'g', 'h', 2 more)")
