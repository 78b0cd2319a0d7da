"""A file that appears only when it is complete."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from neardup.files.writing.new_file import open_new


def test_a_signal_while_the_file_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def stopped(*arguments: Any, **options: Any) -> int:
        os.close(real(*arguments, **options))
        assert len(list(tmp_path.iterdir())) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "open", stopped)
    with pytest.raises(KeyboardInterrupt), open_new(tmp_path / "out.csv"):
        raise AssertionError("nothing could be written")
    assert list(tmp_path.iterdir()) == []
