"""Token files, and the address by which a client is counted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from neardup.service import auth
from neardup.service.auth import TokenFile, TokenFileError, client_key

LONG = "0123456789abcdef"


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "tokens"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    path.chmod(mode)
    return path


def test_a_token_is_found_with_its_scope(tmp_path: Path) -> None:
    tokens = TokenFile(written(tmp_path, f"# one\nread {LONG}1\nwrite {LONG}2"))
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
        ("", "contains no token"),
        ("# nothing\n", "contains no token"),
        (LONG, ":1: not a token"),
        (f"read {LONG}\nadmin {LONG}", ":2: not a token"),
        (f"read {LONG} more", ":1: not a token"),
        ("read short", "has 5 characters"),
        (f"read {LONG}é", "not a token"),
        ("read \udcff", "not UTF-8"),
        (f"read {LONG}\nwrite {LONG}", "the same token"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_without_its_tokens(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(TokenFileError, match=words) as raised:
        TokenFile(written(tmp_path, text))
    assert LONG not in str(raised.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(TokenFileError, match="chmod 600"):
        TokenFile(written(tmp_path, f"read {LONG}", mode))


def test_the_error_for_a_missing_file_names_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        TokenFile(tmp_path / "nothing")


def test_a_change_within_a_second_and_of_the_same_size_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "RELOAD_SECONDS", -1.0)
    path = written(tmp_path, f"read {LONG}1")
    os.utime(path, ns=(0, 1_000_000_000))
    tokens = TokenFile(path)
    path.write_text(f"read {LONG}2", encoding="utf-8")
    os.utime(path, ns=(0, 1_000_000_001))
    assert tokens.find(f"{LONG}1") is None
    assert tokens.find(f"{LONG}2") is not None


@pytest.mark.parametrize(
    ("host", "client"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.9.9.9", "127.9.9.9"),
        ("::1", "::1"),
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_client_addresses(host: str, client: str) -> None:
    assert client_key(host) == client


def test_what_is_no_address_stays_as_it_is() -> None:
    assert client_key("unknown") == "unknown"
