"""neardup dedup --against a collection: the same as against the files it was made of."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from neardup import jobs

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"


@pytest.fixture
def parts(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Old records in a file and in a collection, and new ones."""
    lines = SAMPLE.read_text("utf-8").splitlines(keepends=True)
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text("".join(lines[::2]), encoding="utf-8")
    new.write_text("".join(lines[1::2]), encoding="utf-8")
    collection = tmp_path / "old.neardup"
    with nd.Collection.open(collection) as seen:
        seen.add([json.loads(line) for line in lines[::2]])
    return old, collection, new


# What a collection has otherwise: a number as it is met, and no line.
OWN = ("cluster", "dup_source", "dup_line")


@pytest.mark.parametrize(
    "limits", [{}, {"similarity": 0.95}, {"radius": 20}, {"distinguish": "numbers,order"}]
)
def test_the_same_as_against_files(
    parts: tuple[Path, Path, Path], tmp_path: Path, limits: dict[str, Any]
) -> None:
    outputs = []
    for against in parts[:2]:
        out, removed = tmp_path / "kept.jsonl", tmp_path / "removed.jsonl"
        options = jobs.Options(against=[str(against)], removed=removed, **limits)
        summary = jobs.dedup([str(parts[2])], out, options)
        assert summary.reference == 21
        assert summary.removed
        rows = [json.loads(line) for line in removed.read_text("utf-8").splitlines()]
        # Documents of a collection are numbered as they are met, records of files as they lie.
        told = [{name: row[name] for name in row if name not in OWN} for row in rows]
        outputs.append((out.read_bytes(), told, summary.removed))
    assert outputs[0] == outputs[1]


def test_a_collection_is_enough_if_a_file_beside_it_cannot_be_read(
    parts: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, collection, new = parts
    (bad := tmp_path / "bad.jsonl").write_text("bad\n")
    alone, both = (
        jobs.dedup([str(new)], tmp_path / "kept.jsonl", jobs.Options(against=against))
        for against in ([str(collection)], [str(bad), str(collection)])
    )
    assert (both.removed, both.unreadable) == (alone.removed, 1)
    # The inputs are not compared with each other.
    assert (alone.candidates, both.candidates) == (0, 0)
    assert jobs.dedup([str(new)], tmp_path / "kept.jsonl").candidates


@pytest.mark.parametrize("recipe", [nd.Recipe(bits=64), nd.Recipe(version=2)], ids=["64", "2"])
def test_a_collection_of_another_recipe_is_read(
    parts: tuple[Path, Path, Path], tmp_path: Path, recipe: nd.Recipe
) -> None:
    old, _, new = parts
    other = tmp_path / "other.neardup"
    with nd.Collection.open(other, recipe) as seen:
        seen.add([json.loads(line) for line in old.read_text("utf-8").splitlines()])
    removed = [
        jobs.dedup([str(new)], tmp_path / "kept.jsonl", jobs.Options(against=[str(x)])).removed
        for x in (old, other)
    ]
    assert removed[0]
    assert removed[0] == removed[1]


def test_the_nearest_of_files_and_collections_is_named(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(10)]
    new, old = tmp_path / "new.jsonl", tmp_path / "old.jsonl"
    new.write_text(json.dumps({"id": "new", "text": " ".join(words)}) + "\n", "utf-8")
    old.write_text(json.dumps({"id": "file", "text": " ".join(words[1:])}) + "\n", "utf-8")
    seen = tmp_path / "seen.neardup"
    for text, nearest in ((" ".join(words), "stored"), (" ".join(words[2:]), "file")):
        with nd.Collection.open(seen) as collection:
            collection.add([("stored", text)])
        removed, report = tmp_path / "removed.jsonl", tmp_path / "report.html"
        options = jobs.Options(against=[str(old), str(seen)], removed=removed, report=report)
        assert jobs.dedup([str(new)], tmp_path / "kept.jsonl", options).kept == 0
        (row,) = (json.loads(line) for line in removed.read_text("utf-8").splitlines())
        assert (row["id"], row["dup_of"]) == ("new", nearest)
        assert nearest in report.read_text("utf-8")


@pytest.mark.parametrize("asked", [{}, {"radius": 3}], ids=str)
def test_of_two_collections_as_near_the_first_is_named(
    tmp_path: Path, asked: dict[str, Any]
) -> None:
    new, removed = tmp_path / "new.jsonl", tmp_path / "removed.jsonl"
    new.write_text(json.dumps({"id": "new", "text": "one text of a few words"}) + "\n", "utf-8")
    for name in ("first.neardup", "second.neardup"):
        with nd.Collection.open(tmp_path / name) as collection:
            collection.add([(name, "One text of a few words!")])
    paths = [str(tmp_path / name) for name in ("first.neardup", "second.neardup")]
    for against in (paths, paths[::-1]):
        options = jobs.Options(against=against, removed=removed, **asked)
        summary = jobs.dedup([str(new)], tmp_path / "kept.jsonl", options)
        (row,) = (json.loads(line) for line in removed.read_text("utf-8").splitlines())
        assert (row["dup_of"], row["dup_source"]) == (Path(against[0]).name, against[0])
        assert (summary.removed, summary.pairs) == (1, 1)


@pytest.mark.parametrize("kind", ["file", "collection"])
def test_equal_fingerprints_of_different_texts_are_not_called_equal(
    tmp_path: Path, kind: str
) -> None:
    recipe = nd.Recipe(bits=8)
    olds = [f"the harbour street is closed for traffic until day {n}" for n in range(60)]
    news = [text.replace("street", "bridge") for text in olds]
    for name, texts in (("old", olds), ("new", news)):
        rows = (json.dumps({"id": str(row), "text": text}) for row, text in enumerate(texts))
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    against = str(tmp_path / "old.jsonl")
    if kind == "collection":
        against = str(tmp_path / "old.neardup")
        with nd.Collection.open(against, recipe=recipe) as collection:
            collection.add([(str(row), text) for row, text in enumerate(olds)])
    options = jobs.Options(
        radius=0, recipe=recipe, against=[against], removed=tmp_path / "removed.jsonl"
    )
    jobs.dedup([str(tmp_path / "new.jsonl")], tmp_path / "out.jsonl", options)
    removed = [json.loads(line) for line in (tmp_path / "removed.jsonl").read_text().splitlines()]
    assert removed
    for row in removed:
        old, new = olds[int(row["dup_of"])], news[int(row["id"])]
        assert row["similarity"] == pytest.approx(nd.similarity(old, new, recipe))


def test_a_collection_and_a_file_together(parts: tuple[Path, Path, Path], tmp_path: Path) -> None:
    old, collection, new = parts
    options = jobs.Options(against=[str(collection), str(new), str(old)])
    summary = jobs.dedup([str(new)], tmp_path / "kept.jsonl", options)
    assert summary.reference == 21 + 20 + 21
    assert summary.kept == 0


def test_a_collection_named_twice_is_read_once(
    parts: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    _, collection, new = parts
    options = jobs.Options(against=[str(collection), f"{collection}/"])
    assert jobs.dedup([str(new)], tmp_path / "kept.jsonl", options).reference == 21


def test_a_collection_without_texts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "codes.neardup"
    nd.Collection.open(path, store_text=False).close()
    options = jobs.Options(against=[str(path)], radius=3)
    with pytest.raises(jobs.RefusedError, match=r"stores no texts.*neardup index check"):
        jobs.dedup([str(SAMPLE)], tmp_path / "kept.jsonl", options)


def compacted_and_added_to(path: Path) -> None:
    with nd.Collection.open(path) as seen:
        seen.compact()
        seen.add([("more", "a document that was not there before")])


def made_anew(path: Path) -> None:
    """As many documents, with other texts."""
    with nd.Collection.open(path) as seen:
        ids = list(seen)
    shutil.rmtree(path)
    with nd.Collection.open(path) as seen:
        seen.add([(id_, f"another text for {id_}") for id_ in ids])


@pytest.mark.parametrize("change", [compacted_and_added_to, made_anew])
def test_a_run_that_is_resumed_knows_a_changed_collection(
    parts: tuple[Path, Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
) -> None:
    _, collection, new = parts
    work = tmp_path / "work"
    options = {"against": [str(collection)], "work_dir": work}
    with monkeypatch.context() as patched:

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr("neardup.jobs.job.Job.match", stop)
        with pytest.raises(KeyboardInterrupt):
            jobs.dedup([str(new)], tmp_path / "kept.jsonl", jobs.Options(**options))  # type: ignore[arg-type]
    again = jobs.Options(**options, resume=True)  # type: ignore[arg-type]
    change(collection)
    with pytest.raises(ValueError, match="the earlier run differs in against"):
        jobs.dedup([str(new)], tmp_path / "kept.jsonl", again)
