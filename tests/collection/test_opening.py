"""Where a collection lies, how it is made, who may write, and how its readers end."""

from __future__ import annotations

import fcntl
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import neardup as nd
from neardup.collection.opening import LOCK_NAME, WriterLock, recorded_recipe
from neardup.collection.schema import CollectionSettings


def test_a_relative_path_means_the_folder_it_meant_when_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        with nd.Collection.open("seen.neardup") as collection:
            collection.add([(name, f"a text that is {name} and nowhere else")])
    monkeypatch.chdir(tmp_path / "here")
    with nd.Collection.open("seen.neardup") as collection:
        monkeypatch.chdir(tmp_path / "there")
        assert list(collection) == ["here"]
        assert [document.id for document in collection.documents()] == ["here"]
        assert collection.path == tmp_path / "here" / "seen.neardup"
        assert collection.verify() == []
        collection.add([("more", "another text that is here")])
        assert collection.export("all.jsonl") == 2
        collection.compact()
        assert collection.stats().documents == 2
    assert (tmp_path / "there" / "all.jsonl").exists()
    with nd.Collection.open(tmp_path / "there" / "seen.neardup") as collection:
        assert list(collection) == ["there"]


def test_both_folders_are_flushed_when_a_collection_is_made(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[Path] = []
    fsync = os.fsync

    def noted(handle: int) -> None:
        place = Path(os.readlink(f"/proc/self/fd/{handle}"))
        # The name has to be there before the folder that holds it is flushed.
        assert (path / "collection.sqlite").exists()
        flushed.append(place)
        fsync(handle)

    monkeypatch.setattr("os.fsync", noted)
    nd.Collection.open(path).close()
    assert [place for place in flushed if place.is_dir()] == [path, path.parent]


def test_a_lock_file_that_is_unlinked_before_it_is_locked_is_locked_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock, removals = fcntl.flock, iter([True, True])

    def late(handle: int, how: int) -> None:
        if next(removals, False):
            (tmp_path / LOCK_NAME).unlink()
        flock(handle, how)

    monkeypatch.setattr("fcntl.flock", late)
    lock = WriterLock(tmp_path)
    lock.acquire()
    monkeypatch.undo()
    # Nobody else gets it, also not by the file that has the name now.
    with pytest.raises(nd.LockedCollectionError, match=f"its writer, process {os.getpid()}"):
        WriterLock(tmp_path).acquire()
    lock.release()
    WriterLock(tmp_path).acquire()


def test_iterators_that_are_not_finished_end_quietly_with_the_interpreter(path: Path) -> None:
    code = (
        "import logging, sys, neardup as nd\n"
        "seen = nd.Collection.open(sys.argv[1])\n"
        "seen.add([(str(n), f'text number {n} of many') for n in range(9)])\n"
        # Modules of others are taken down late.
        "logging.ids, logging.documents = iter(seen), seen.documents()\n"
        "next(logging.ids), next(logging.documents)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_a_limit_on_the_size_of_files_is_reported(path: Path) -> None:
    code = (
        "import resource, sys, neardup as nd\n"
        "seen = nd.Collection.open(sys.argv[1])\n"
        "seen.add([('a', 'the first text of all')])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))\n"
        "try:\n"
        "    for n in range(1000):\n"
        "        seen.add([(f'{n} {m}', f'text number {m} of {n}') for m in range(100)])\n"
        "except OSError as error:\n"
        "    print(error)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)\n"
        "seen.add([('z', 'the last text of all')])\n"
        "print(seen.verify(), 'a' in seen, 'z' in seen)\n"
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    ran = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, timeout=60, text=True
    )
    assert ran.stderr == ""
    told, found = ran.stdout.splitlines()
    assert "the file size limit of this process, 300,000 bytes (ulimit -f)" in told
    assert "nothing of this call was stored; raise the limit" in told
    assert found == "[] True True"


def test_metadata_that_is_nested_too_deep_is_refused(seen: nd.Collection) -> None:
    def nested(levels: int) -> dict[str, object]:
        found: object = 1
        for level in range(levels - 1):
            found = [found] if level % 2 else {"in": found}
        return {"in": found}

    seen.add([("deep", "a text of some words", nested(100))])
    found = seen.get("deep")
    assert found is not None
    assert found.metadata == nested(100)
    for levels in (101, 100_000):
        with pytest.raises(ValueError, match=r"documents\[0\] is nested more than 100 deep; flatt"):
            seen.add([("deeper", "a text", nested(levels))])
    within: list[object] = []
    within += [within, within]
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        seen.add([("itself", "a text", {"in": within})])
    assert "deeper" not in seen


def test_a_collection_of_an_older_recipe_is_not_called_damaged(tmp_path: Path) -> None:
    for version in (1, 4):
        recorded = f"neardup{version} tokens=words bits=128"
        settings = CollectionSettings(recorded, f"version = {version}\n", True)
        message = rf"version {version}, and this neardup has 2 and 3; export it with the neardup"
        with pytest.raises(nd.CollectionError, match=message) as caught:
            recorded_recipe(tmp_path / "old.neardup", settings)
        assert not isinstance(caught.value, nd.CorruptCollectionError)


def test_a_collection_of_version_2_answers_as_before(path: Path) -> None:
    second = nd.Recipe.preset("default-2")
    text = "대한민국의 수도는 서울이다 and 3 more WORDS of it"
    with nd.Collection.open(path, recipe="default-2") as collection:
        collection.add([("a", text), ("b", "a quite different text about ships and harbours")])
    # Opened without a recipe, as an old one is.
    with nd.Collection.open(path) as collection:
        assert collection.recipe == second
        assert collection.recipe.identity.startswith("neardup2 normalize=nfkc_casefold ")
        found = collection.check(text.lower())
        assert [(match.id, match.distance) for match in found] == [("a", 0)]
        similar = f"{text} again"
        outcome = collection.add([("c", similar)], unless_duplicate=True)[0]
        assert (outcome.status, outcome.dup_of) == ("duplicate", "a")
        assert outcome.similarity == pytest.approx(nd.similarity(text, similar, second))
        assert outcome.similarity != pytest.approx(nd.similarity(text, similar))
    with pytest.raises(nd.CollectionError, match=r"neardup2 .*neardup3"):
        nd.Collection.open(path, recipe="default")
