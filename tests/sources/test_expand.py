"""Folders and patterns become files."""

from pathlib import Path

import pytest

from neardup import sources


def test_expand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (
        *("in/b.jsonl", "in/a.CSV.gz", "in/deep/c.parquet", "in/deep/d.md.zst", "in/e.png"),
        *("in/.hidden.txt", "in/.git/f.txt", "in/g.parquet.gz", "empty/x.png", "odd[1].log"),
    ):
        Path(name).parent.mkdir(exist_ok=True, parents=True)
        Path(name).write_text("")
    known = ["in/a.CSV.gz", "in/b.jsonl", "in/deep/c.parquet", "in/deep/d.md.zst"]
    assert sources.expand(["in"]) == known
    assert sources.expand(["in/b.jsonl", "in"]) == ["in/b.jsonl", known[0], *known[2:]]
    assert sources.expand(["in/*.png", "in/**/*.md.zst"]) == ["in/e.png", known[3]]
    assert sources.expand(["in/*"]) == [*known, "in/e.png", "in/g.parquet.gz"]
    assert sources.expand(["-", "s3://bucket/*", "odd[1].log"]) == [
        "-",
        "s3://bucket/*",
        "odd[1].log",
    ]
    with pytest.raises(FileNotFoundError, match=r"none\.jsonl: no such file"):
        sources.expand(["none.jsonl"])
    with pytest.raises(ValueError, match=r"empty: no file to read in this folder; .* \.jsonl, "):
        sources.expand(["empty"])
    with pytest.raises(ValueError, match=r"\*\.csv: no file matches this pattern"):
        sources.expand(["*.csv"])
