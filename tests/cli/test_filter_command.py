"""neardup filter: a stream without what was seen before."""

from __future__ import annotations

import errno
import gzip
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup.files.reading import batch
from neardup.files.reading.batch import Reading
from neardup.jobs.filter import PENDING, CutError, Filter, Pending, read_lines

Run = Callable[..., Any]
# Seconds; a busy machine may take half a minute to start a process.
PATIENCE = 300
TEXT = "Harbour Street will be closed to all motor traffic from Monday until Friday"
OTHER = "A letter from the seaside tells of gulls and rain and of a broken umbrella"
RECORDS = [
    f'{{"id": "a", "text": "{TEXT}"}}\n'.encode(),
    f'{{"text":  "{OTHER}", "id": "b"}}\r\n'.encode(),
    f'{{"id": "c", "text": "{TEXT.upper()}!"}}\n'.encode(),
]


def test_new_records_go_through_byte_for_byte(run: Run) -> None:
    ran = run("filter", stdin=b"".join(RECORDS))
    assert ran.code == 0
    assert ran.out.encode() == RECORDS[0] + RECORDS[1]
    assert ran.err == "neardup: read 3, passed on 2, seen before 1, unreadable 0\n"


def test_it_is_dedup_one_by_one(run: Run, tmp_path: Path) -> None:
    sample = Path(__file__).parents[2] / "examples" / "sample.jsonl"
    ran = run("filter", sample, "-q")
    lines = sample.read_text("utf-8").splitlines(keepends=True)
    kept = nd.dedup([json.loads(line)["text"] for line in lines]).kept
    assert ran.out == "".join(lines[at] for at in kept)
    assert ran.err == ""


def test_what_differs_is_told_and_insisted_on(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "seen.jsonl"
    lines = "".join(f"{line}\n" for line in (TEXT, f"{TEXT} 5", f"{TEXT} 6", TEXT.upper()))
    ran = run("filter", "--lines", "--seen", log, stdin=lines.encode())
    assert ran.out == f"{TEXT}\n"
    assert ran.err.splitlines()[1:] == [
        "neardup: 2 of 3 seen before differ in numbers; --distinguish numbers passes them on"
    ]
    dropped = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(x["differs"], x["lost"]) for x in dropped] == [("numbers", 1)] * 2 + [("", 0)]
    ran = run("filter", "--lines", "--distinguish", "numbers,order", stdin=lines.encode())
    assert ran.out.splitlines() == [TEXT, f"{TEXT} 5", f"{TEXT} 6"]
    assert len(ran.err.splitlines()) == 1
    wrong = run("filter", "--lines", "--distinguish", "tone", stdin=lines.encode())
    assert wrong.code == 2
    assert "Invalid value for --distinguish: distinguish has 'tone'" in wrong.err


def test_a_collection_remembers(run: Run, tmp_path: Path) -> None:
    seen, log = tmp_path / "seen.neardup", tmp_path / "seen.jsonl"
    assert run("filter", "--in", seen, "-q", stdin=b"".join(RECORDS[:2])).out
    ran = run("filter", "--in", seen, "--seen", log, stdin=b"".join(RECORDS))
    assert (ran.code, ran.out) == (0, "")
    dropped = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(row["id"], row["line"], row["dup_of"]) for row in dropped] == [
        ("a", 1, "a"),
        ("b", 2, "b"),
        ("c", 3, "a"),
    ]
    with nd.Collection.open(seen, read_only=True) as collection:
        assert list(collection) == ["a", "b"]
        assert collection.verify() == []


def test_seen_records_are_remembered(run: Run, tmp_path: Path) -> None:
    """An id that comes with another text, and lines without an id, replace nothing."""
    seen = tmp_path / "seen.neardup"
    changed = f'{{"id": "a", "text": "{OTHER}"}}\n'.encode()
    assert run("filter", "--in", seen, "-q", stdin=RECORDS[0] + changed).out.count("\n") == 2
    assert run("filter", "--in", seen, "-q", stdin=RECORDS[0] + changed).out == ""
    other = tmp_path / "lines.neardup"
    for text in (TEXT, OTHER):
        assert run("filter", "--lines", "--in", other, "-q", stdin=f"{text}\n".encode()).out
    for text in (TEXT, OTHER):
        assert not run("filter", "--lines", "--in", other, "-q", stdin=f"{text}\n".encode()).out


def test_unreadable_records_are_reported_and_not_passed_on(run: Run) -> None:
    ran = run("filter", stdin=RECORDS[0] + b"bad\n\n[1]\n" + RECORDS[1])
    assert ran.code == 3
    assert ran.out.encode() == RECORDS[0] + RECORDS[1]
    assert "stdin:2: not JSON" in ran.err
    assert "stdin:4: expected an object" in ran.err
    assert ran.err.splitlines()[-1].endswith("unreadable 2")
    ran = run("filter", "--strict", stdin=RECORDS[0] + b"bad\n" + RECORDS[1])
    assert (ran.code, ran.out.encode()) == (3, RECORDS[0])
    assert len(ran.err.splitlines()) == 1
    assert "stdin:2: not JSON" in ran.err
    ran = run("filter", "--lines", stdin=b"\xff\nab cd\n\0\n")
    assert (ran.code, ran.out) == (3, "ab cd\n")


def test_a_collection_without_texts_and_of_another_recipe(run: Run, tmp_path: Path) -> None:
    bare = tmp_path / "bare.neardup"
    run("index", "create", bare, "--no-text", "-q")
    ran = run("filter", "--in", bare, stdin=RECORDS[0])
    assert (ran.code, "stores no texts" in ran.err) == (1, True)
    assert run("filter", "--in", bare, "--radius", 3, "-q", stdin=b"".join(RECORDS)).out
    ran = run("filter", "--in", bare, "--bits", 64, "--radius", 3, stdin=RECORDS[0])
    assert (ran.code, "created with the recipe" in ran.err) == (1, True)


@settings(max_examples=60)
@given(st.lists(st.sampled_from([b"a", b"\n", b"bb\n", b"\r\n", b"cccc"])), st.integers(1, 9))
def test_lines_are_those_of_the_whole(parts: list[bytes], size: int) -> None:
    data = b"".join(parts)
    pieces = iter([data[at : at + size] for at in range(0, len(data), size)])
    found = [line for some in read_lines(lambda _: next(pieces, b"")) for line in some]
    expected = data.split(b"\n")
    ends = [line + b"\n" for line in expected[:-1]] + ([expected[-1]] if expected[-1] else [])
    assert [line.data for line in found] == ends
    assert [line.number for line in found] == list(range(1, len(ends) + 1))


def test_a_line_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "MAX_BYTES", 10)
    for size in (1, 7, 100):
        data = b"a" * 10 + b"\n" + b"b" * 11 + b"\n" + b"c\n" + b"d" * 30
        pieces = iter([data[at : at + size] for at in range(0, len(data), size)])
        found = [line.data for some in read_lines(lambda _: next(pieces, b"")) for line in some]  # noqa: B023
        assert found == [b"a" * 10 + b"\n", None, b"c\n", None]


@settings(max_examples=15)
@given(st.integers(0, 1 << 30), st.integers(1, 2000))
def test_batches_change_no_answer(seed: int, size: int) -> None:
    chance = random.Random(seed)
    words = TEXT.split() + OTHER.split()
    texts = [" ".join(chance.choices(words, k=chance.choice((3, 12)))) for _ in range(25)]
    data = "".join(f"{chance.choice(texts)}\n" for _ in range(60)).encode()

    def filtered(step: int) -> bytes:
        pieces = iter([data[at : at + step] for at in range(0, len(data), step)])
        out = bytearray()
        with Filter(out.extend, reading=Reading(lines=True), similarity=0.7) as found:
            found.run(lambda _: next(pieces, b""))
        return bytes(out)

    assert filtered(size) == filtered(len(data))


# ---- packed files, encodings and limits ----


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_the_error_for_a_damaged_file_names_the_place(
    run: Run, tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"x.jsonl{ending}"
    noise = random.Random(1).randbytes(100_000).hex()
    data = RECORDS[0] + RECORDS[1] + f'{{"text": "{noise}"}}\n'.encode()
    with pa.CompressedOutputStream(str(path), "gzip" if ending == ".gz" else "zstd") as file:
        for at in range(0, len(data), 1000):
            file.write(data[at : at + 1000])
            file.flush()
    whole = path.read_bytes()
    assert run("filter", path, "-q").out.encode() == data
    path.write_bytes(whole[: len(whole) - len(whole) // 8])
    ran = run("filter", path)
    assert (ran.code, ran.out.encode()) == (3, RECORDS[0] + RECORDS[1])
    assert f"{path}:3: the " in ran.err
    assert "damaged or truncated" in ran.err
    assert ran.err.endswith("read 2, passed on 2, seen before 0, unreadable 1\n")
    ran = run("filter", path, "--strict")
    assert (ran.code, len(ran.err.splitlines())) == (3, 1)


def test_another_encoding_is_reported_for_compressed_and_plain_files(
    run: Run, tmp_path: Path
) -> None:
    data = b"".join(RECORDS).decode().encode("utf-16")
    plain, packed = tmp_path / "x.jsonl", tmp_path / "x.jsonl.gz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    command = "iconv -f utf-16-le -t UTF-8"
    for name, hint in (
        (plain, f"use {command} {plain}\n"),
        (packed, f"use zcat {packed} | {command}\n"),
        ("-", f"pipe it through {command}\n"),
    ):
        ran = run("filter", name, stdin=data)
        assert (ran.code, ran.out) == (3, "")
        told, counts = ran.err.splitlines(keepends=True)
        assert told.endswith(f": is utf-16-le by its byte order mark, not UTF-8; {hint}")
        assert counts.endswith("read 0, passed on 0, seen before 0, unreadable 1\n")


def test_hints_name_no_option_there_is_not(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x y.txt"
    path.write_bytes(("中文的文本，没有空格，这里有很多字。" * 20 + "\n").encode("gb18030"))
    ran = run("filter", "--lines", path)
    assert ran.code == 3
    assert f"use iconv -f gb18030 -t UTF-8 '{path}'" in ran.err
    ran = run("filter", "--lines", stdin=b"\xff\n")
    assert "pipe it through iconv -f ENCODING -t UTF-8, with an encoding such as" in ran.err
    ran = run("filter", "--lines", "--max-document", 8, stdin=b"123456789\n12345678\n")
    assert (ran.code, ran.out) == (3, "12345678\n")
    assert "stdin:1: the line is longer than 8 bytes; raise --max-document" in ran.err
    assert run("filter", "--max-document", "2G").code == 2
    packed = tmp_path / "x.txt.gz"
    packed.write_bytes(gzip.compress(b"ab cd\n" * 100_000))
    ran = run("filter", "--lines", "--max-bytes", "1K", packed)
    assert (ran.code, ran.out) == (3, "ab cd\n")
    assert "raise --max-bytes" in ran.err


# ---- pipes and signals ----


@contextmanager
def started(*arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-m", "neardup", "filter", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.flush()


def line_from(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], PATIENCE)[0], "no line came"
    return process.stdout.readline()


@pytest.mark.parametrize("kept", [False, True])
def test_a_record_does_not_wait_for_the_next(tmp_path: Path, kept: bool) -> None:
    with started(*(["--in", tmp_path / "seen.neardup"] if kept else []), "-q") as process:
        for record in RECORDS[:2]:
            feed(process, record)
            assert line_from(process) == record
        feed(process, RECORDS[2] + RECORDS[2])
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err) == (0, b"", b"")


def test_an_input_that_does_not_wait_is_waited_for() -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with (
        open(writer, "wb", buffering=0) as sink,
        subprocess.Popen(
            [sys.executable, "-m", "neardup", "filter", "-q"], stdin=reader, stdout=subprocess.PIPE
        ) as process,
    ):
        os.close(reader)
        sink.write(RECORDS[0])
        assert line_from(process) == RECORDS[0]
        # It has nothing to read now, which is not the end.
        time.sleep(0.3)
        sink.write(RECORDS[1])
        sink.close()
        assert process.communicate(timeout=60)[0] == RECORDS[1]
        assert process.returncode == 0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_run_has_lost_nothing(run: Run, tmp_path: Path, sent: signal.Signals) -> None:
    seen = tmp_path / "seen.neardup"
    with started("--in", seen) as process:
        feed(process, RECORDS[0])
        assert line_from(process) == RECORDS[0]
        process.send_signal(sent)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (128 + sent, b"")
    assert err.endswith(b"; 1 records were written and stored\n")
    assert run("filter", "--in", seen, "-q", stdin=b"".join(RECORDS)).out.encode() == RECORDS[1]


LONG = f'{{"id": "long", "text": "{" ".join(map(str, range(60_000)))}"}}\n'.encode()


@contextmanager
def inside_long_record(seen: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run that waits for its reader in the middle of a record, and has got a signal there."""
    with started("--in", seen) as process:
        feed(process, LONG + RECORDS[1])
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], 60)[0]
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        yield process


def test_a_record_that_has_begun_is_finished(run: Run, tmp_path: Path) -> None:
    seen = tmp_path / "seen.neardup"
    with inside_long_record(seen) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, LONG)
    assert err == b"neardup: interrupted; 1 records were written and stored\n"
    again = run("filter", "--in", seen, "-q", stdin=LONG + RECORDS[1])
    assert again.out.encode() == RECORDS[1]


def test_a_second_signal_does_not_wait_for_the_reader(run: Run, tmp_path: Path) -> None:
    seen = tmp_path / "seen.neardup"
    with inside_long_record(seen) as process:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        out, err = process.communicate()
    assert 0 < len(out) < len(LONG)
    assert LONG.startswith(out)
    assert b"; 0 records were written" in err
    assert err.endswith(b"the last record is incomplete in the output\n")
    # Fed again it is new, and begins on a line of its own.
    again = run("filter", "--in", seen, "-q", stdin=LONG + RECORDS[1])
    assert again.out.encode() == b"\n" + LONG + RECORDS[1]


def test_a_closed_pipe_rolls_back_unwritten_records(run: Run, tmp_path: Path) -> None:
    seen = tmp_path / "seen.neardup"
    with started("--in", seen) as process:
        feed(process, RECORDS[0])
        assert line_from(process) == RECORDS[0]
        assert process.stdout is not None
        process.stdout.close()
        feed(process, RECORDS[1])
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
    # It never came out, so that it is new.
    assert run("filter", "--in", seen, "-q", stdin=b"".join(RECORDS)).out.encode() == RECORDS[1]


class Killed(BaseException):
    """As if the process ended here: nothing is tidied up."""


@pytest.mark.parametrize("when", ["noted", "stored", "written"])
def test_a_killed_run_has_lost_nothing(
    tmp_path: Path, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen.neardup"
    out: list[bytes] = []

    def kill(*_: Any, **__: Any) -> Any:
        raise Killed

    def put(data: bytes) -> None:
        if when == "stored":
            raise Killed
        out.append(data)

    with monkeypatch.context() as patched:
        patched.setattr(nd.Collection, "remove", lambda *_: 0)
        patched.setattr(Pending, "clear", lambda _: None)
        if when == "noted":
            patched.setattr(nd.Collection, "add", kill)
        with Filter(put, collection=seen) as first, suppress(Killed):
            pieces = iter(RECORDS[:1])
            first.run(lambda _: next(pieces, b""))
    again: list[bytes] = []
    with Filter(again.append, collection=seen) as second:
        pieces = iter(RECORDS)
        counts = second.run(lambda _: next(pieces, b""))
    # It cannot be known whether the first run stopped inside a record.
    assert again == [b"\n", *RECORDS[:2]]
    assert counts.repeated == (0 if when == "noted" else 1)
    assert (seen / PENDING).read_bytes() == b""


def test_nothing_is_glued_to_half_a_record(tmp_path: Path) -> None:
    """A full disk, and the next run adds to the same file."""
    seen, out = tmp_path / "seen.neardup", bytearray()

    def put(data: bytes) -> None:
        if b"seaside" in data:
            out.extend(data[:10])
            raise CutError(OSError(errno.ENOSPC, "No space left on device"))
        out.extend(data)

    for add in (put, out.extend):
        pieces = iter([b"".join(RECORDS)])
        with Filter(add, collection=seen) as filtering, suppress(OSError):
            filtering.run(lambda _: next(pieces, b""))  # noqa: B023
        assert filtering.counts.is_cut == (add is put)
        assert (seen / PENDING).read_bytes() == (b"\n" if add is put else b"")
    assert bytes(out) == RECORDS[0] + RECORDS[1][:10] + b"\n" + RECORDS[1]


def test_a_note_is_on_the_disk_before_anything_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, synced = tmp_path / "seen.neardup", list[bytes]()
    fsync, add = os.fsync, nd.Collection.add

    def spy(number: int) -> None:
        fsync(number)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(number), (seen / PENDING).stat()):
                synced.append((seen / PENDING).read_bytes())

    def adding(*args: Any, **options: Any) -> Any:
        assert Pending(seen / PENDING).read()
        assert synced[-1:] == [(seen / PENDING).read_bytes()]
        return add(*args, **options)

    monkeypatch.setattr(os, "fsync", spy)
    monkeypatch.setattr(nd.Collection, "add", adding)
    pieces = iter(RECORDS)
    with Filter(lambda _: None, collection=seen) as filtering:
        filtering.run(lambda _: next(pieces, b""))
    assert synced


def test_half_a_note_is_no_note(tmp_path: Path) -> None:
    note = Pending(tmp_path / PENDING)
    assert note.read() == []
    note.note(["a", "b"], [b"x\n", b"\xff\n"])
    assert note.read() == [("a", b"x\n"), ("b", b"\xff\n")]
    data = (tmp_path / PENDING).read_bytes()
    for size in range(len(data)):
        (tmp_path / PENDING).write_bytes(data[:size])
        assert note.read() in ([], [("a", b"x\n")], [("a", b"x\n"), ("b", b"\xff\n")])


def test_only_one_filter_at_a_time(run: Run, tmp_path: Path) -> None:
    seen = tmp_path / "seen.neardup"
    with Filter(lambda _: None, collection=seen):
        ran = run("filter", "--in", seen, stdin=RECORDS[0])
    assert ran.code == 1
    assert len(ran.err.splitlines()) == 1
    assert str(os.getpid()) in ran.err
