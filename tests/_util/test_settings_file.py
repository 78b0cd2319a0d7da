"""Files of settings that never end, or are far too large."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import neardup as nd
from neardup._util import settings_file

ZERO = Path("/dev/zero")
WAYS: dict[str, Callable[[Path], object]] = {
    "stopwords": lambda path: nd.Recipe(stopwords=path),
    "dictionary": lambda path: nd.Recipe(tokens="jieba", dictionary=path),
    "recipe": nd.Recipe.load,
}


@pytest.mark.parametrize("name", WAYS)
def test_only_regular_files(tmp_path: Path, name: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (ZERO, pipe):
        with pytest.raises(
            ValueError, match=f"^{name} '{path}' is not a regular file but a pipe or"
        ):
            WAYS[name](path)
    with pytest.raises((ValueError, OSError), match=r"directory"):
        WAYS[name](tmp_path)


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("over", [0, 1])
def test_a_limit(tmp_path: Path, name: str, over: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_file, "MAX_BYTES", 20)
    path = tmp_path / "a.toml"
    path.write_text(
        "# 1\nbits = 64".ljust(20 + over) if name == "recipe" else "x\n" * 10 + "y" * over
    )
    if over:
        with pytest.raises(
            ValueError, match=f"^{name} '.*a.toml' is larger than the limit of 0 MiB; is"
        ):
            WAYS[name](path)
    else:
        WAYS[name](path)
