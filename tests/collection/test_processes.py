"""A collection between threads and processes: one writer, many readers, forks."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

import neardup as nd
from helpers.processes import run_alone
from neardup.collection import opening, segments
from neardup.collection.store import DATABASE

CAT = "the cat sat on the mat and looked at the moon over the harbour"


def alone(code: str, path: Path) -> str:
    return run_alone(
        code, before=f"import os, sys, neardup as nd\npath = {str(path)!r}\nCAT = {CAT!r}\n"
    ).strip()


def test_a_second_writer_is_refused_by_name_and_may_read(path: Path) -> None:
    with nd.Collection.open(path) as first:
        first.add([("a", CAT)])
        with nd.Collection.open(path) as second:
            assert len(second) == 1
            for write in (
                lambda: second.add([("b", CAT)]),
                lambda: second.remove("a"),
                second.compact,
            ):
                with pytest.raises(
                    nd.LockedCollectionError, match=f"its writer, process {os.getpid()}"
                ):
                    write()
        code = """
with nd.Collection.open(path) as other:
    try:
        other.add([("b", CAT)])
    except nd.LockedCollectionError as error:
        print(len(other), error)
"""
        assert f"locked by its writer, process {os.getpid()}" in alone(code, path)
    with nd.Collection.open(path) as third:
        third.add([("b", CAT)])
        assert len(third) == 2


def test_a_killed_writer_leaves_no_lock(path: Path) -> None:
    code = """
collection = nd.Collection.open(path)
collection.add([("a", CAT)])
print("added", flush=True)
os.kill(os.getpid(), 9)
"""
    before = f"import os, neardup as nd\npath = {str(path)!r}\nCAT = {CAT!r}\n"
    done = subprocess.run([sys.executable, "-c", before + code], capture_output=True, check=False)
    assert done.returncode == -9
    assert (path / "lock").exists()
    with nd.Collection.open(path) as collection:
        assert collection.add([("b", CAT)])[0].status == "added"
        assert list(collection) == ["a", "b"]


def test_opening_waits_while_another_process_makes_the_collection(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made.neardup"
    nd.Collection.open(made).close()
    path.mkdir()
    other = opening.WriterLock(path)
    other.acquire()
    finish = threading.Timer(0.3, os.rename, (made / DATABASE, path / DATABASE))
    finish.start()
    with nd.Collection.open(path) as collection:
        assert len(collection) == 0
    finish.join()
    # If nothing comes of it, it is refused.
    (path / DATABASE).unlink()
    monkeypatch.setattr(opening, "CREATION_TIMEOUT_SECONDS", 0.05)
    with pytest.raises(nd.LockedCollectionError, match=f"its writer, process {os.getpid()}"):
        nd.Collection.open(path)
    other.release()
    nd.Collection.open(path).close()


def test_a_reader_in_another_process_sees_what_is_committed(path: Path) -> None:
    with nd.Collection.open(path) as writer:
        writer.add([("a", CAT)])
        code = """
with nd.Collection.open(path, read_only=True) as reader:
    for line in sys.stdin:
        found = reader.check(CAT, radius=3)
        print(len(reader), *[match.id for match in found], flush=True)
"""
        before = f"import sys, neardup as nd\npath = {str(path)!r}\nCAT = {CAT!r}\n"
        with subprocess.Popen(
            [sys.executable, "-c", before + code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as other:
            assert other.stdin is not None
            assert other.stdout is not None

            def asked() -> list[str]:
                assert other.stdin is not None
                assert other.stdout is not None
                other.stdin.write("?\n")
                other.stdin.flush()
                return other.stdout.readline().split()

            assert asked() == ["1", "a"]
            writer.add([("b", CAT)])
            assert asked() == ["2", "a", "b"]
            writer.remove("a")
            assert asked() == ["1", "b"]
            writer.compact()
            assert asked() == ["1", "b"]
            writer.add([("b", "something else altogether"), ("c", CAT)])
            assert asked() == ["2", "c"]
            writer.compact()
            writer.add([("d", CAT)])
            assert asked() == ["3", "c", "d"]
            other.stdin.close()
            assert other.wait(30) == 0


def test_readers_go_on_during_compaction(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "TAIL_FINGERPRINTS", 50)
    with nd.Collection.open(path, durability="normal") as writer:
        writer.add([(f"{at}", f"{CAT} number {at}") for at in range(300)])
        stop = threading.Event()
        errors: list[BaseException] = []
        counts: list[int] = []

        def read() -> None:
            try:
                with nd.Collection.open(path, read_only=True) as reader:
                    while not stop.is_set():
                        assert 300 <= len(reader) <= 400
                        assert len(reader.check(f"{CAT} number 7", 0.999, n=1)) == 1
                        ids = list(reader)
                        assert len(set(ids)) == len(ids) >= 300
                        counts.append(len(ids))
            except BaseException as error:
                errors.append(error)

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        for number in range(20):
            writer.add([(f"more {number} {at}", f"{CAT} more {number}") for at in range(5)])
            writer.remove([f"more {number} {at}" for at in range(5)])
            writer.add([(f"{number}", f"{CAT} number {number}")])
            writer.compact()
        stop.set()
        for reader in readers:
            reader.join()
        assert not errors, errors
        assert counts
        assert writer.verify() == []


def test_compaction_does_not_wait_for_a_reader_in_the_middle(path: Path) -> None:
    with nd.Collection.open(path) as collection:
        collection.add([(f"{at}", f"{CAT} number {at}") for at in range(300)])
        ids = iter(collection)
        assert next(ids) == "0"
        started = time.monotonic()
        collection.remove("7")
        collection.compact()
        assert time.monotonic() - started < 5
        assert len(list(ids)) == 299
        assert len(collection) == 299


def test_many_threads_use_one_collection(path: Path) -> None:
    with nd.Collection.open(path, durability="normal") as collection:
        errors: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for at in range(20):
                    collection.add([(f"{number}-{at}", f"{CAT} {number} and {at}")])
                    assert f"{number}-{at}" in collection
                    assert collection.check(f"{CAT} {number} and {at}", n=1)[0].distance == 0
                    if at % 5 == 4:
                        collection.remove(f"{number}-{at}")
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors, errors
        assert len(collection) == 4 * 16
        assert collection.verify() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_must_open_it_again(path: Path) -> None:
    code = """
import warnings
warnings.simplefilter("ignore")
collection = nd.Collection.open(path)
collection.add([("a", CAT)])
child = os.fork()
if child == 0:
    for call in (lambda: len(collection), lambda: collection.add([("b", CAT)]), collection.verify,
                 lambda: list(collection)):
        try:
            call()
        except RuntimeError as error:
            print("open the collection again in this process" in str(error), flush=True)
    with nd.Collection.open(path) as own:
        print(list(own), flush=True)
        try:
            own.add([("b", CAT)])
        except nd.LockedCollectionError:
            print("refused", flush=True)
    collection.close()
    # Not os._exit: the child ends as a whole program does.
    sys.exit(0)
print(os.waitpid(child, 0)[1])
collection.add([("c", CAT)])
collection.close()
with nd.Collection.open(path) as again:
    print(list(again), again.verify())
"""
    assert alone(code, path).splitlines() == [
        *["True"] * 4,
        "['a']",
        "refused",
        "0",
        "['a', 'c'] []",
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_lock_ends_with_the_parent_and_not_with_its_child(path: Path) -> None:
    code = """
import time, warnings
warnings.simplefilter("ignore")
middle = os.fork()
if middle == 0:
    collection = nd.Collection.open(path)
    collection.add([("a", CAT)])
    if os.fork() == 0:
        os.close(1)
        os.close(2)
        time.sleep(5)
    os._exit(0)
os.waitpid(middle, 0)
with nd.Collection.open(path) as own:
    print(own.add([("b", CAT)])[0].status)
"""
    assert alone(code, path) == "added"


def test_a_forgotten_collection_lets_go(path: Path) -> None:
    collection = nd.Collection.open(path)
    collection.add([("a", CAT)])
    del collection
    with nd.Collection.open(path) as again:
        again.add([("b", CAT)])


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become somebody else")
def test_a_folder_that_cannot_be_written_to() -> None:
    # Not in tmp_path: another run of pytest makes its base folder private again.
    with tempfile.TemporaryDirectory() as base:
        Path(base).chmod(0o755)
        check_as_somebody_else(Path(base) / "seen.neardup")


def check_as_somebody_else(path: Path) -> None:
    code = """
with nd.Collection.open(path) as collection:
    collection.add([("a", CAT)])
    collection.check([CAT + "!"])
    collection.verify()

def read():
    child = os.fork()
    if child == 0:
        # All modules are loaded: nobody may read where they are.
        os.setuid(65534)
        try:
            with nd.Collection.open(path, read_only=True) as collection:
                print(collection.check(CAT), collection.verify(), list(collection), flush=True)
        except OSError as error:
            print(type(error).__name__, "chmod -R a-w" in str(error), error.filename, flush=True)
        os._exit(0)
    os.waitpid(child, 0)

with nd.Collection.open(path) as collection:
    collection.add([("a", CAT)])
    read()
read()
os.chmod(path, 0o555)
os.chmod(path + "/collection.sqlite", 0o444)
read()
os.chmod(path, 0o755)
os.setuid(65534)
try:
    nd.Collection.open(path).add([("b", CAT)])
except OSError as error:
    print(type(error).__name__, error.filename)
try:
    nd.Collection.open(os.path.dirname(path) + "/new.neardup")
except OSError as error:
    print(type(error).__name__)
"""
    found = "[Match(id='a', distance=0, similarity=1.0, differs='', lost=0)] [] ['a']"
    assert alone(code, path).splitlines() == [
        found,
        # The owner may change it at any time.
        f"PermissionError True {path}",
        found,
        f"PermissionError {path}",
        "PermissionError",
    ]


def test_what_is_gone_or_another_is_not_written_to(path: Path) -> None:
    moved = path.with_name("moved.neardup")
    with nd.Collection.open(path) as collection:
        collection.add([("a", "one two three")])
        path.rename(moved)
        with pytest.raises(nd.CollectionError, match="moved, removed or replaced"):
            collection.add([("b", "four five six")])
        with nd.Collection.open(path) as other:
            other.add([("c", "seven eight nine")])
            with pytest.raises(nd.CollectionError, match="open it again"):
                collection.compact()
        moved.rename(path.with_name("again.neardup"))
    with nd.Collection.open(path) as other:
        assert (list(other), other.verify()) == (["c"], [])


def test_rows_end_with_the_collection(path: Path) -> None:
    collection = nd.Collection.open(path)
    collection.add([(str(n), f"text number {n}") for n in range(20)])
    ids = iter(collection)
    assert next(ids) == "0"
    child = os.fork()
    if child == 0:
        try:
            next(ids)
        except RuntimeError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert next(ids) == "1"
    collection.close()
    with pytest.raises(nd.CollectionError, match="is closed"):
        next(ids)


def test_verifying_while_another_compacts(path: Path) -> None:
    with nd.Collection.open(path) as writer, nd.Collection.open(path, read_only=True) as reader:
        writer.add([(str(n), f"text number {n} and more") for n in range(3000)])
        stop = threading.Event()

        def compact() -> None:
            while not stop.is_set():
                writer.compact()

        thread = threading.Thread(target=compact)
        thread.start()
        try:
            assert [reader.verify() for _ in range(10)] == [[]] * 10
        finally:
            stop.set()
            thread.join()


def test_a_batch_is_compared_as_if_it_were_there_already(path: Path) -> None:
    texts = [(str(n), f"alpha {n} beta {n % 7} gamma {n % 31} delta") for n in range(1000)]
    with nd.Collection.open(path) as collection:
        batched = collection.add(texts, unless_duplicate=True)
    other = path.with_name("one.neardup")
    with nd.Collection.open(other) as collection:
        single = [collection.add([text], unless_duplicate=True)[0] for text in texts]
    assert batched == single
