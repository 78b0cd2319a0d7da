"""What happens to a collection when processes die, disks fill up and files rot."""

import errno
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from neardup import _core
from neardup.collection import opening, segments, session
from neardup.collection import segments as files
from neardup.collection.store import DATABASE, Store

CAT = "the cat sat on the mat and looked at the moon over the harbour"
WINDOW = 256
BATCH = 5

KILLED = """
import sys
import neardup as nd
from neardup.collection import segments

segments.TAIL_FINGERPRINTS = 20
path, side, round_ = sys.argv[1:]
with nd.Collection.open(path) as collection, open(side, "a") as acknowledged:
    number = 0
    while True:
        name = f"{round_}-{number}"
        texts = [f"round {round_} batch {number} document {at} of many" for at in range(5)]
        collection.add([(f"{name}-{at}", text) for at, text in enumerate(texts)])
        acknowledged.write(name + "\\n")
        acknowledged.flush()
        if number % 7 == 3:
            collection.remove([f"{name}-{at}" for at in range(5)])
            acknowledged.write("removed " + name + "\\n")
            acknowledged.flush()
        if number % 11 == 5:
            collection.compact()
        number += 1
"""


def killed(path: Path, side: Path, rounds: int) -> None:
    rng = random.Random(rounds)
    for round_ in range(rounds):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path), str(side), str(round_)]
        ) as child:
            # From the first acknowledged batch of the round on.
            deadline = time.monotonic() + 30
            while not (side.exists() and f"\n{round_}-" in "\n" + side.read_text()):
                assert child.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.01)
            time.sleep(rng.random() * 0.15)
            child.send_signal(signal.SIGKILL)
        check_acknowledged(path, side)


def check_acknowledged(path: Path, side: Path) -> None:
    lines = side.read_text().splitlines()
    removed = {line.removeprefix("removed ") for line in lines if line.startswith("removed ")}
    # What was being removed when the process died may be there or not.
    unsure = {line for line in lines if int(line.rpartition("-")[2]) % 7 == 3} - removed
    expected = {line for line in lines if " " not in line} - removed - unsure
    with nd.Collection.open(path) as collection:
        assert collection.verify() == []
        batches: dict[str, int] = {}
        for id_ in collection:
            batch = id_.rpartition("-")[0]
            batches[batch] = batches.get(batch, 0) + 1
        assert set(batches.values()) <= {BATCH}
        assert expected <= set(batches)
        assert not removed & set(batches)
        assert len(collection) == BATCH * len(batches)
        for batch in random.Random(len(lines)).sample(sorted(expected), min(5, len(expected))):
            round_, number = batch.split("-")
            text = f"round {round_} batch {number} document 3 of many"
            assert f"{batch}-3" in {match.id for match in collection.check(text, radius=0)}


def test_killed_at_any_moment(path: Path, tmp_path: Path) -> None:
    killed(path, tmp_path / "acknowledged", 6)


@pytest.mark.nightly
def test_killed_at_any_moment_hundreds_of_times(path: Path, tmp_path: Path) -> None:
    killed(path, tmp_path / "acknowledged", 400)


# ------------------------------------------------------------------------------ writes that fail


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Writing beyond so many bytes of any file fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def batch(number: int) -> list[tuple[str, str]]:
    return [(f"{number}-{at}", f"batch {number}, document {at}: {CAT}") for at in range(20)]


def whole_batches(collection: nd.Collection) -> set[int]:
    ids = list(collection)
    found = {int(id_.partition("-")[0]) for id_ in ids}
    assert len(ids) == 20 * len(found) == len(collection)
    return found


@pytest.mark.parametrize("size", [0, 1000, 5000, 20_000, 45_000, 100_000, 200_000])
def test_a_failing_write_takes_its_batch_back(
    path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 50)
    with nd.Collection.open(path) as collection:
        collection.add(batch(0))
        stored, failed = {0}, set()
        for number in range(1, 40):
            with files_up_to(size):
                try:
                    collection.add(batch(number))
                    stored.add(number)
                except OSError as error:
                    assert str(path) in str(error)  # noqa: PT017
                    failed.add(number)
            # Reading goes on.
            assert whole_batches(collection) == stored
            assert len(collection.check(batch(0)[3][1], 0.999, n=1)) == 1
        assert failed
        # And so does writing, as soon as there is room.
        collection.add(batch(100))
        assert collection.verify() == []
    with nd.Collection.open(path) as again:
        assert whole_batches(again) == stored | {100}
        assert again.verify() == []


def fill(collection: nd.Collection) -> set[int]:
    """Adds until there is no more room."""
    for number in range(100_000):
        try:
            collection.add(batch(number))
        except OSError as error:
            assert error.errno == errno.ENOSPC  # noqa: PT017
            assert "disk full; nothing of this call was stored" in str(error)  # noqa: PT017
            return set(range(number))
    raise AssertionError("the disk was never full")


def test_the_disk_is_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=10m", "tmpfs", str(disk)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        with nd.Collection.open(disk / "full.neardup") as collection:
            (disk / "ballast").write_bytes(bytes(6 << 20))
            stored = fill(collection)
            assert whole_batches(collection) == stored
            assert collection.check(batch(0)[0][1], n=1)
            (disk / "ballast").unlink()
            collection.add(batch(10**6))
            collection.remove([id_ for number in range(10) for id_, _ in batch(number)])
            collection.compact()
            assert collection.verify() == []
            assert whole_batches(collection) == (stored - set(range(10))) | {10**6}
    finally:
        # Whatever may still be open in a test that failed.
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.mark.parametrize("step", ["insert", "set_counts", "delete", "by_ids"])
def test_an_error_in_the_middle_of_a_transaction(
    seen: nd.Collection, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.EIO, "the cable came out")

    with monkeypatch.context() as patched:
        patched.setattr(Store, step, fail)
        with pytest.raises(OSError, match="the cable came out"):
            seen.add([("newer", CAT), ("cat", "new text for an old id")])
    assert list(seen) == ["cat", "dog", "word"]
    assert seen.check("new text for an old id") == []
    assert seen.verify() == []


def test_a_segment_that_cannot_be_written_is_no_error(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 50)
    monkeypatch.setattr(session, "TAIL_FINGERPRINTS", 50)
    with nd.Collection.open(path) as collection:
        with monkeypatch.context() as patched:

            def fail(*_: Any) -> None:
                raise OSError(errno.ENOSPC, "No space left on device")

            patched.setattr(segments, "file_stamp", fail)
            for number in range(5):
                collection.add(batch(number))
        assert collection.stats().segments == 0
        collection.add(batch(5))
        collection.add(batch(6))
        assert collection.stats().segments == 1
        assert whole_batches(collection) == set(range(7))
        assert collection.verify() == []
        assert len(list(path.glob("segment-*"))) == 2


@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("by_digest", lambda seen: seen.add([("x", "hello")], unless_duplicate=True)),
        ("fingerprints", lambda seen: seen.compact()),
        ("data_version", lambda seen: seen.add([("x", CAT)])),
    ],
)
def test_errors_of_the_database_name_the_collection(
    seen: nd.Collection, step: str, call: Callable[[nd.Collection], Any], path: Path
) -> None:
    def fail(*_: Any) -> None:
        raise sqlite3.DatabaseError("database disk image is malformed")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Store, step, fail)
        with pytest.raises(nd.CorruptCollectionError, match=f"{path}: damaged: .*malformed"):
            call(seen)
    assert seen.verify() == []


def test_a_failed_segment_does_not_fail_the_write(
    seen: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 3)
    with monkeypatch.context() as patched:
        patched.setattr(Store, "removed", fail)
        assert seen.add([("x", CAT)])[0].status == "added"
    assert list(seen) == ["cat", "dog", "word", "x"]
    assert seen.verify() == []


@pytest.mark.parametrize("options", [{}, {"unless_duplicate": True}])
def test_an_id_that_is_there_and_is_not_found(
    seen: nd.Collection, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Store, "by_ids", lambda *_: {})
        with pytest.raises(nd.CorruptCollectionError, match="exists that a look-up did not find"):
            seen.add([("cat", "something else altogether")], **options)
    assert seen.verify() == []


@pytest.mark.parametrize("step", ["apply", "_add_to_tail", "_remove_keys"])
def test_an_interruption_between_the_disk_and_the_memory(
    seen: nd.Collection, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was committed is committed; the next call knows it."""

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(segments.Segments, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            seen.add([("new", CAT), ("cat", "new text for an old id")])
    assert list(seen) == ["dog", "word", "new", "cat"]
    assert [match.id for match in seen.check("new text for an old id")] == ["cat"]
    assert [match.id for match in seen.check(CAT)] == ["new"]
    seen.add([("more", CAT)])
    assert len(seen) == 5
    assert seen.verify() == []


# --------------------------------------------------------------------------------- files that rot


def grown(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A small collection with two segments, a tail, removed and updated documents."""
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 40)
    texts = {f"id {at}": f"document {at} says {at * 7919} times: {CAT}" for at in range(100)}
    texts |= {"word": "hello", "long": " ".join(f"w{at}" for at in range(400))}
    with nd.Collection.open(path, nd.Recipe(bits=64)) as collection:
        rows = list(texts.items())
        for start in range(0, len(rows), 20):
            collection.add(rows[start : start + 20])
        collection.remove(["id 3", "id 99"])
        collection.add([("id 5", texts["id 5"] + " again")])
    for id_ in ("id 3", "id 99"):
        del texts[id_]
    texts["id 5"] += " again"
    return texts


def answers(path: Path) -> dict[str, Any]:
    with nd.Collection.open(path) as collection:
        return {
            "ids": sorted(collection),
            "len": len(collection),
            "texts": {found.id: found.text for found in collection.documents()},
            "near": collection.check(
                [f"document {at} says {at * 7919} times: {CAT}" for at in range(0, 100, 9)],
                radius=20,
            ).to_pylist(),
            "similar": collection.check(f"document 8 says {8 * 7919} times: {CAT}", 0.9),
            "equal": collection.check("hello"),
        }


def check_ids(path: Path, texts: dict[str, str]) -> None:
    """Each is found, or it is said that it cannot be: never taken for one that is not there."""
    with nd.Collection.open(path) as collection:
        for id_, text in texts.items():
            with suppress(nd.CorruptCollectionError):
                stored = collection.get(id_)
                assert stored is not None
                assert stored.text == text


def junked(path: Path, tmp_path: Path, every: int) -> None:
    rng = random.Random(7)
    expected = answers(path)
    outcomes = {"right": 0, "refused": 0}
    copy = tmp_path / "copy.neardup"
    for file in sorted(path.iterdir()):
        size = file.stat().st_size
        for start in range(rng.randrange(every) * WINDOW, size, every * WINDOW):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(path, copy)
            with (copy / file.name).open("r+b") as damaged:
                damaged.seek(start)
                damaged.write(rng.randbytes(min(WINDOW, size - start)))
            try:
                check_ids(copy, expected["texts"])
                found = answers(copy)
            except (nd.CollectionError, OSError):
                # Never for what can be made anew.
                assert file.name.startswith(DATABASE), (file.name, start)
                outcomes["refused"] += 1
                continue
            assert found == expected, (file.name, start)
            outcomes["right"] += 1
    assert outcomes["right"]
    assert outcomes["refused"]


def test_junk_in_some_places(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grown(path, monkeypatch)
    junked(path, tmp_path, 5)


@pytest.mark.nightly
def test_junk_everywhere(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grown(path, monkeypatch)
    junked(path, tmp_path, 1)


def test_files_cut_short(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grown(path, monkeypatch)
    expected = answers(path)
    copy = tmp_path / "copy.neardup"
    for file in sorted(path.glob("*[ex]")):
        for part in (0, 0.1, 0.5, 0.9, 0.999):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(path, copy)
            os.truncate(copy / file.name, int(file.stat().st_size * part))
            try:
                found = answers(copy)
            except nd.CollectionError:
                assert file.name == DATABASE
                continue
            assert found == expected, (file.name, part)


def test_a_log_that_rots_takes_the_last_batches_and_no_half_ones(
    path: Path, tmp_path: Path
) -> None:
    """SQLite knows by its checksums where the log ends; what comes after was never committed."""
    copy = tmp_path / "copy.neardup"
    with nd.Collection.open(path) as collection:
        for number in range(6):
            collection.add(batch(number))
        for start in range(0, (path / f"{DATABASE}-wal").stat().st_size, 20 * WINDOW):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(path, copy)
            (copy / f"{DATABASE}-shm").unlink()
            with (copy / f"{DATABASE}-wal").open("r+b") as damaged:
                damaged.seek(start)
                damaged.write(random.Random(start).randbytes(WINDOW))
            with nd.Collection.open(copy) as opened:
                found = whole_batches(opened)
                assert found == set(range(len(found)))
                assert opened.verify() == []


def test_a_damaged_segment_is_found_and_mended(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grown(path, monkeypatch)
    expected = answers(path)
    first = sorted(path.glob("segment-*"))[0]
    first.write_bytes(b"nothing of the kind")
    with nd.Collection.open(path) as collection:
        assert "is damaged or was replaced" in collection.verify()[0]
        collection.compact()
        assert collection.verify() == []
    assert answers(path) == expected


@pytest.mark.parametrize(
    "wrong",
    [
        "UPDATE segments SET first = first + 1",
        "UPDATE segments SET last = last + 1",
        "UPDATE segments SET number = (SELECT generation + 1 FROM counts), first = 7",
    ],
)
def test_a_wrong_table_of_segments_is_mended(
    path: Path, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown(path, monkeypatch)
    expected = answers(path)
    with closing(sqlite3.connect(path / DATABASE)) as database, database:
        database.execute(f"{wrong} WHERE number = (SELECT max(number) FROM segments)")  # noqa: S608
    assert answers(path) == expected
    with nd.Collection.open(path) as collection:
        assert collection.verify()
        collection.compact()
        assert collection.verify() == []
        assert collection.stats().segments == 1
    assert answers(path) == expected
    assert len(list(path.glob("segment-*"))) == 2


@pytest.mark.parametrize("place", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_damage_that_comes_out_when_it_is_read(
    path: Path, place: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Opening looks at little of a large file.
    monkeypatch.setattr(segments, "HEAD_BYTES", 100)
    texts = grown(path, monkeypatch)
    for file in path.glob("segment-*"):
        with file.open("r+b") as damaged:
            damaged.seek(int(file.stat().st_size * place))
            damaged.write(b"\xff" * 100)
    with nd.Collection.open(path) as collection:
        for id_ in ("id 8", "id 50", "id 98"):
            assert collection.check(texts[id_], 0.999, n=1)[0].id == id_
        # The next write mends what was found.
        collection.add([("more", CAT)])
        collection.compact()
        assert collection.verify() == []


def test_a_segment_of_another_collection_is_not_taken(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown(path, monkeypatch)
    expected = answers(path)
    with nd.Collection.open(tmp_path / "other.neardup", nd.Recipe(bits=64)) as other:
        other.add(batch(0))
        other.compact()
    (foreign,) = (tmp_path / "other.neardup").glob("segment-*.index")
    for file in path.glob("segment-*"):
        shutil.copy(foreign, file)
    assert answers(path) == expected


def test_strays_are_ignored_and_cleaned_by_the_next_writer(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown(path, monkeypatch)
    strays = ["segment-999.index", "segment-7.index.123-4.tmp"]
    for name in strays:
        (path / name).write_bytes(b"junk")
    (path / "notes.txt").write_text("of the user", encoding="utf-8")
    expected = answers(path)
    assert all((path / name).exists() for name in strays)
    with nd.Collection.open(path) as collection:
        collection.add([("x", CAT)])
    assert not any((path / name).exists() for name in strays)
    assert (path / "notes.txt").exists()
    assert expected["len"] == 100


@pytest.mark.parametrize("step", ["_sync_folder", "Store"])
def test_a_collection_is_made_whole_or_not_at_all(
    path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(opening, step, fail)
        with pytest.raises(OSError, match="No space left"):
            nd.Collection.open(path)
    (path / "collection.sqlite.new").write_bytes(b"half of one")
    with nd.Collection.open(path) as collection:
        collection.add(batch(0))
        assert collection.verify() == []


def test_what_verify_finds_in_a_segment(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is sound and says something else."""
    with nd.Collection.open(path, nd.Recipe(bits=64)) as collection:
        collection.add(batch(0))
        collection.compact()
        (file,) = path.glob("segment-*.index")
        index = _core.Index.open(str(file))
        words = index.get(5)
        assert words is not None
        wrong = nd.Index(recipe=nd.Recipe(bits=64))
        for key in range(1, 20):
            wrong.add((index.get(key) or [0])[0] ^ (key == 5), key)
        wrong.add(77, 99)
        wrong.save(file)
        size, sum_ = files.file_stamp(file)
        with collection._session.store.transaction():
            collection._session.store.connection.execute(
                "UPDATE segments SET size = ?, checksum = ?", (size, sum_)
            )
        found = collection.verify()
        assert found == [
            "segment 1: '0-4' has a wrong fingerprint",
            "segment 1: '0-19' is missing",
            "segment 1: key 99 belongs to no document",
        ]


def test_what_verify_finds_in_the_database(path: Path) -> None:
    with nd.Collection.open(path) as collection:
        collection.add(batch(0))
        collection.add([("word", "hello")])
        execute = collection._session.store.connection.execute
        with collection._session.store.transaction():
            execute("DELETE FROM documents WHERE id = '0-3'")
            execute("UPDATE digests SET digest = x'00'")
        problems = " ".join(collection.verify())
        assert "contains 20 documents (1 without a signal), expected 21 (1)" in problems
        assert "the checksum of the digest with key 21 does not match" in problems
        with collection._session.store.transaction():
            execute("UPDATE documents SET text = 'other' WHERE id = '0-7'")
        with pytest.raises(nd.CorruptCollectionError, match="the row with key 8 does not match"):
            collection.get("0-7")
        assert "the row with key 8" in " ".join(collection.verify())
        assert json.dumps(collection.verify())
