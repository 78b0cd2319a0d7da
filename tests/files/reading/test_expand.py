"""Folders and patterns become files."""

from pathlib import Path

import pytest

import neardup.http.captures  # noqa: F401  registers .warc and .har
from neardup.files.reading import inputs
from neardup.files.reading.batch import Reading
from neardup.files.reading.inputs import captures_of, expand


def test_expand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (
        *("in/b.jsonl", "in/a.CSV.gz", "in/deep/c.parquet", "in/deep/d.md.zst", "in/e.png"),
        *("in/.hidden.txt", "in/.git/f.txt", "in/g.parquet.gz", "empty/x.png", "odd[1].log"),
    ):
        Path(name).parent.mkdir(exist_ok=True, parents=True)
        Path(name).write_text("")
    known = ["in/a.CSV.gz", "in/b.jsonl", "in/deep/c.parquet", "in/deep/d.md.zst"]
    assert expand(["in"]) == known
    assert expand(["in/b.jsonl", "in"]) == ["in/b.jsonl", known[0], *known[2:]]
    assert expand(["in/*.png", "in/**/*.md.zst"]) == ["in/e.png", known[3]]
    assert expand(["in/*"]) == [*known, "in/e.png", "in/g.parquet.gz"]
    assert expand(["-", "s3://bucket/*", "odd[1].log"]) == ["-", "s3://bucket/*", "odd[1].log"]
    with pytest.raises(FileNotFoundError, match=r"none\.jsonl: no such file"):
        expand(["none.jsonl"])
    with pytest.raises(
        ValueError, match=r"empty: no file to read in this folder \(1 \.png\); .* \.jsonl, "
    ):
        expand(["empty"])
    with pytest.raises(ValueError, match=r"\*\.csv: no file matches this pattern"):
        expand(["*.csv"])


def test_skipped_files_of_a_folder_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"{n}.htm5" for n in range(6)] + [f"{n}.tex" for n in range(3)]
    names += ["a.log", "README", "b.parquet.gz", ".hidden.htm5", "deep/c.HTM5", "a.txt", "b.jsonl"]
    for name in names:
        path = Path("notes", name)
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("")
    told: list[str] = []
    assert expand(["notes"], None, told.append) == ["notes/a.txt", "notes/b.jsonl"]
    assert told == [
        "notes/: skipped 13 files: 7 .htm5, 3 .tex, 1 .log, 1 .parquet.gz, 1 without ending; "
        "--format text reads them"
    ]
    told.clear()
    every = expand(["notes"], Reading(format="text"), told.append)
    assert (len(every), told) == (15, [])
    for n in range(9):
        Path("notes", f"x.e{n}").write_text("")
    expand(["notes/", "no*"], None, told.append)
    assert told[0] == told[1]
    assert "1 .e0, 1 .e1, 1 .e2, 1 .e3, 8 other endings; --format" in told[0]


def test_captures_among_texts_of_a_folder_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mixed/a.txt", "mixed/deep/b.HAR", "mixed/c.warc.gz", "only/d.har", "only/e.warc"):
        Path(name).parent.mkdir(exist_ok=True, parents=True)
        Path(name).write_text("")
    told: list[str] = []
    assert expand(["mixed"], None, told.append) == ["mixed/a.txt"]
    assert told == ["mixed/: skipped 2 files: 1 .har, 1 .warc.gz; --as http reads captures"]
    Path("mixed/f.png").write_text("")
    expand(["mixed"], None, told.append)
    assert told[1].endswith("; --format text reads them, --as http reads captures")
    told.clear()
    # All that there is is not left out, nor what is named.
    assert expand(["only", "mixed/c.warc.gz"], None, told.append) == [
        *("only/d.har", "only/e.warc", "mixed/c.warc.gz")
    ]
    assert told == []
    with pytest.raises(
        ValueError, match=r"only: no file to read in this folder \(1 \.har, 1 \.war"
    ):
        expand(["only"], Reading(format="jsonl"))


def test_captures_are_known_by_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mixed").mkdir()
    for name in ("mixed/a.txt", "mixed/b.har", "c.HAR.gz", "x.har.txt", "d[1].warc"):
        Path(name).write_text("")
    plain = Reading()
    assert captures_of(["mixed", "x.har.txt", "-"], plain) == (
        [],
        ["mixed/a.txt", "x.har.txt", "-"],
    )
    assert captures_of(["c.HAR.gz", "d[1].warc"], plain) == (["c.HAR.gz", "d[1].warc"], [])
    assert captures_of(["mixed/*"], plain) == (["mixed/b.har"], ["mixed/a.txt"])
    assert captures_of(["c.HAR.gz"], Reading(format="text"))[0] == []
    assert captures_of(["x.log"], Reading(format="warc")) == (["x.log"], [])


def test_plain_names_are_not_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "expand", pytest.fail)
    names = [f"{n}.txt" for n in range(100)]
    assert captures_of(names, Reading()) == ([], names)
