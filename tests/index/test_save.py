"""`nd.Index` saved and opened."""

import os
import struct
from pathlib import Path
from typing import Any

import pytest
import xxhash

import neardup as nd
from reference.neighbours import WIDTHS, check_answers, clustered, filled, same

TEXTS = ["the cat sat on the mat", "", "the cat sat on a mat", "ice cream for all of us", "?!"]


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("names", [False, True])
def test_round_trip(bits: int, names: bool, tmp_path: Path) -> None:
    # A path may be a str.
    path: Any = str(tmp_path / "索引 ä.index") if names else tmp_path / "near.index"
    codes = clustered(bits, 300)
    ids: list[Any] = [f"n°{i}" if names else 3 * i - 100 for i in range(300)]
    entries = dict(zip(ids, codes, strict=True))
    index = nd.Index(bits)
    index.add(codes, ids)
    index.remove(ids[::7])
    for key in ids[::7]:
        del entries[key]
    index.save(path)
    opened = nd.Index.open(path)
    assert isinstance(opened, nd.Index)
    assert (opened.bits, opened.recipe) == (bits, None)
    opened.verify()
    queries: list[int | None] = [*clustered(bits, 20, seed=1)]
    for here in (opened, index):
        same(here, entries)
        check_answers(here, entries, queries, min(3, bits))
        check_answers(here, entries, queries, bits)
    assert opened.nbytes > 0
    assert opened.contains(codes[1]) is True
    assert opened.add(codes[0], ids="more" if names else 10**6) == ("more" if names else 10**6)


def test_an_empty_index_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "empty.index"
    index = nd.Index(72)
    index.save(path)
    opened = nd.Index.open(path)
    assert (len(opened), opened.bits) == (0, 72)
    assert opened.search(5, 72) == []
    opened.add([1, 2], ids=["a", "b"])
    opened.save(path)
    same(nd.Index.open(path), {"a": 1, "b": 2})
    opened.clear()
    opened.save(path)
    same(nd.Index.open(path), {})


def test_the_recipe_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "near.index"
    made = nd.fingerprints(TEXTS)
    index = nd.Index(recipe=made.recipe)
    index.add(made)
    index.save(path)
    opened = nd.Index.open(path)
    assert (opened.recipe, opened.bits) == (made.recipe.identity, 128)
    assert opened.contains(made).tolist() == made.signal.tolist()
    with pytest.raises(ValueError, match="recipe"):
        opened.search(nd.fingerprints(TEXTS, nd.Recipe(tie="one")))


def test_numbers_go_on_after_opening(tmp_path: Path) -> None:
    path = tmp_path / "near.index"
    index = nd.Index()
    index.add([1, 2, 3])
    index.remove(2)
    index.save(path)
    assert nd.Index.open(path).add(4) == 3


def test_saved_again_over_the_same_path(tmp_path: Path) -> None:
    path = tmp_path / "near.index"
    index, entries = filled()
    index.save(path)
    older = nd.Index.open(path)
    held = dict(entries)
    for turn in range(5):
        opened = nd.Index.open(path)
        same(opened, entries)
        new = clustered(64, 50, seed=turn + 10)
        for key, code in zip(map(int, opened.add(new)), new, strict=True):
            entries[key] = code
        gone = list(entries)[turn::9]
        assert opened.remove(gone) == len(gone)
        for key in gone:
            del entries[key]
        same(opened, entries)
        opened.save(path)
        # It goes on as it is, over the file it has just replaced.
        same(opened, entries)
        check_answers(opened, entries, [*new[:10]], 3)
        opened.verify()
    same(nd.Index.open(path), entries)
    # Whoever had the old file open still sees what it held.
    same(older, held)
    older.verify()
    assert os.listdir(tmp_path) == ["near.index"]


def test_an_open_index_changes_its_file_only_when_saved(tmp_path: Path) -> None:
    path = tmp_path / "near.index"
    index, entries = filled()
    index.save(path)
    deleted = nd.Index.open(path)
    saved = path.read_bytes()
    opened = nd.Index.open(path)
    opened.add(clustered(64, 100, seed=3))
    opened.remove([1, 2, 3])
    opened.compact()
    opened.clear()
    assert path.read_bytes() == saved
    same(nd.Index.open(path), entries)
    path.unlink()
    same(deleted, entries)
    check_answers(deleted, entries, [*clustered(64, 10, seed=1)], 3)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    index, entries = filled(count=20)
    with pytest.raises(OSError, match="missing"):
        index.save(tmp_path / "missing" / "near.index")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError, match="folder"):
        index.save(folder)
    assert os.listdir(tmp_path) == ["folder"]
    assert os.listdir(folder) == []
    same(index, entries)
    with pytest.raises(TypeError):
        index.save(5)  # type: ignore[arg-type]


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        nd.Index.open(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        nd.Index.open(tmp_path)
    path = tmp_path / "foreign.txt"
    assert issubclass(nd.CorruptIndexError, ValueError)
    for content in (b"", b"\0", b"{}", b"not an index " * 1000, os.urandom(5000), bytes(5000)):
        path.write_bytes(content)
        with pytest.raises(nd.CorruptIndexError, match=r"foreign\.txt"):
            nd.Index.open(path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    """The header: eight bytes of name, version, length (four bytes each), its checksum (eight)."""
    path = tmp_path / "newer.index"
    nd.Index(levels=2).save(path)
    data = bytearray(path.read_bytes())
    version, length = struct.unpack_from("<II", data, 8)
    struct.pack_into("<I", data, 8, version + 1)
    header = data[8:16] + data[24:length]
    struct.pack_into("<Q", data, 16, xxhash.xxh3_64_intdigest(bytes(header)))
    path.write_bytes(data)
    with pytest.raises(ValueError, match=rf"newer\.index.*version {version + 1}"):
        nd.Index.open(path)
