"""Inputs that nothing tells the state of: URLs, whose content may be another at any time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers import corpora
from helpers.batches import unpack
from helpers.job_inputs import Stopper, interrupt, names
from neardup import jobs
from neardup.files.reading import locations

KINDS = pytest.mark.parametrize("kind", ["jsonl", "csv", "jsonl.gz", "parquet"])


def put(path: Path, kind: str, seed: int) -> None:
    records = corpora.records_of(seed, 60)
    if kind == "parquet":
        corpora.write_parquet(path, records)
    else:
        form, dot, packing = kind.partition(".")
        corpora.write(path, records, form, dot + packing)


def content(path: Path) -> object:
    return corpora.rows(path) if path.suffix == ".parquet" else unpack(path)


@KINDS
@pytest.mark.parametrize("stage", ["comparing", "writing"])
def test_records_are_copied_from_the_downloaded_file(tmp_path: Path, kind: str, stage: str) -> None:
    source, out, plain = (tmp_path / f"{name}.{kind}" for name in ("in", "out", "plain"))
    put(source, kind, 1)
    jobs.dedup([str(source)], plain)
    expected = content(plain)
    act = Stopper(stage, lambda: put(source, kind, 2))
    jobs.dedup([source.as_uri()], out, jobs.Options(progress=act))
    assert content(out) == expected
    assert names(tmp_path) == sorted(path.name for path in (source, out, plain))


@KINDS
def test_a_url_is_fetched_once(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    put(source, kind, 1)
    fetched: list[str] = []
    fetch = locations._open_url

    def noted(url: str) -> Any:
        fetched.append(url)
        return fetch(url)

    monkeypatch.setattr(locations, "_open_url", noted)
    jobs.dedup([source.as_uri()], out)
    assert fetched == [source.as_uri()]


@KINDS
def test_resuming_with_a_url_reads_it_again(tmp_path: Path, kind: str) -> None:
    source, out, plain = (tmp_path / f"{name}.{kind}" for name in ("in", "out", "plain"))
    work = tmp_path / "work"
    put(source, kind, 1)
    options = jobs.Options(work_dir=work, progress=Stopper("comparing", interrupt))
    with pytest.raises(KeyboardInterrupt):
        jobs.dedup([source.as_uri()], out, options)
    assert (work / "state.json").exists()
    put(source, kind, 2)
    told: list[str] = []
    again = jobs.Options(work_dir=work, resume=True, on_warning=told.append)
    jobs.dedup([source.as_uri()], out, again)
    jobs.dedup([str(source)], plain)
    assert content(out) == content(plain)
    assert told == [
        f"{source.as_uri()}: it is unknown whether this input has changed since the earlier run; "
        "all inputs are read again"
    ]


def test_data_fetched_before_a_connection_broke_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    put(source, "jsonl", 1)
    whole = source.read_bytes()

    class Breaking:
        def __init__(self) -> None:
            self._given = False

        def __enter__(self) -> Breaking:
            return self

        def __exit__(self, *error: object) -> None: ...

        def read(self, size: int) -> bytes:
            if self._given:
                raise OSError("the connection is gone")
            self._given = True
            return whole[: whole.index(b"\n", len(whole) // 2) + 1]

    monkeypatch.setattr(locations, "_open_url", lambda url: Breaking())
    found = jobs.dedup(["https://example.org/in.jsonl"], out)
    assert found.unreadable == 1
    assert found.read > 20
    assert len(corpora.rows(out)) == found.kept
    assert whole.startswith(out.read_bytes()[:40])


def test_a_full_disk_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "in.jsonl"
    put(source, "jsonl", 1)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(ValueError, match=r"in\.jsonl: cannot be copied to .*: No space left"):
        jobs.dedup([source.as_uri()], tmp_path / "out.jsonl")
    assert names(tmp_path) == ["in.jsonl"]


def test_a_file_replaced_by_one_of_equal_size_and_time_is_noticed(tmp_path: Path) -> None:
    import os

    source, other = tmp_path / "in.jsonl", tmp_path / "other.jsonl"
    put(source, "jsonl", 1)

    def act() -> None:
        lines = source.read_bytes().splitlines(keepends=True)
        other.write_bytes(b"".join(lines[::-1]))
        os.utime(other, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
        os.replace(other, source)

    with pytest.raises(OSError, match="changed while the job ran"):
        jobs.dedup(
            [str(source)], tmp_path / "out.jsonl", jobs.Options(progress=Stopper("comparing", act))
        )
