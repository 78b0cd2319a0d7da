"""Token files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from neardup.service import auth as reading
from neardup.service.auth import TokenFileError, Tokens

LONG = "0123456789abcdef"


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "tokens"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    path.chmod(mode)
    return path


def test_a_token_is_found_with_its_scope(tmp_path: Path) -> None:
    tokens = Tokens(written(tmp_path, f"# one\nread {LONG}1\nwrite {LONG}2"))
    first, second = tokens.find(f"{LONG}1"), tokens.find(f"{LONG}2")
    assert first is not None
    assert second is not None
    assert (first.scope, first.name) == ("read", "line 2")
    assert (second.scope, second.name) == ("write", "line 3")
    assert tokens.find(LONG) is None
    assert tokens.find("") is None
    assert tokens.find("\udcff") is None
    assert LONG not in repr(first)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no token in it"),
        ("# nothing\n", "no token in it"),
        (LONG, ":1: not a token"),
        (f"read {LONG}\nadmin {LONG}", ":2: not a token"),
        (f"read {LONG} more", ":1: not a token"),
        ("read short", "has 5 characters"),
        (f"read {LONG}é", "not a token"),
        ("read \udcff", "not UTF-8"),
        (f"read {LONG}\nwrite {LONG}", "there twice"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_without_its_tokens(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(TokenFileError, match=words) as raised:
        Tokens(written(tmp_path, text))
    assert LONG not in str(raised.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(TokenFileError, match="chmod 600"):
        Tokens(written(tmp_path, f"read {LONG}", mode))


def test_a_missing_file_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        Tokens(tmp_path / "nothing")


def test_a_change_within_a_second_and_of_the_same_size_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PATIENCE", -1.0)
    path = written(tmp_path, f"read {LONG}1")
    os.utime(path, ns=(0, 1_000_000_000))
    tokens = Tokens(path)
    path.write_text(f"read {LONG}2", encoding="utf-8")
    os.utime(path, ns=(0, 1_000_000_001))
    assert tokens.find(f"{LONG}1") is None
    assert tokens.find(f"{LONG}2") is not None
