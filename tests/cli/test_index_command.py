"""neardup index: the collection on the command line."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neardup as nd

CAT = "the cat sat on the mat and looked at the moon over the harbour"
DOG = "a dog barked all night at nothing in particular, says the neighbour"
Run = Callable[..., Any]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "old.jsonl", [("cat", CAT), ("dog", DOG)])


@pytest.fixture
def new(tmp_path: Path) -> Path:
    documents = [("cat 2", CAT.upper()), ("fish", "fish do not say very much, as is well known")]
    return jsonl(tmp_path / "new.jsonl", documents)


@pytest.fixture
def seen(run: Run, tmp_path: Path, old: Path) -> Path:
    path = tmp_path / "seen.neardup"
    assert run("index", "create", path, "--quiet").code == 0
    assert run("index", "add", path, old, "--quiet").code == 0
    return path


def jsonl(path: Path, documents: list[tuple[str, str]]) -> Path:
    lines = [json.dumps({"id": id_, "text": text}) + "\n" for id_, text in documents]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_create(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.neardup"
    ran = run("index", "create", path, "--bits", "64", "--no-text", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["bits"] == 64
    assert json.loads(ran.out)["texts"] is False
    again = run("index", "create", path)
    assert again.code == 2
    assert "already exists" in again.err
    wrong = run("index", "create", tmp_path / "x")
    assert wrong.code == 2
    assert "must end in .neardup" in wrong.err
    made = run("index", "create", tmp_path / "y.neardup")
    assert "with texts, 128 bits: neardup3 normalize=standard" in made.err


def test_a_collection_of_version_2(run: Run, old: Path, new: Path, tmp_path: Path) -> None:
    path, kept = tmp_path / "second.neardup", tmp_path / "kept.jsonl"
    made = run("index", "create", path, "--recipe", "default-2")
    assert "with texts, 128 bits: neardup2 normalize=nfkc_casefold" in made.err
    assert run("index", "add", path, old, "--quiet").code == 0
    edited = jsonl(tmp_path / "edited.jsonl", [("e", CAT.replace("moon", "sun"))])
    # It is asked by its own recipe, also where none is named.
    found = json.loads(run("index", "check", path, edited, "-o", "-.jsonl", "-q").out)
    expected = nd.similarity(CAT, json.loads(edited.read_text())["text"], "default-2")
    assert found["similarity"] == pytest.approx(expected)
    assert expected != pytest.approx(nd.similarity(CAT, json.loads(edited.read_text())["text"]))
    assert run("filter", edited, "--in", path, "--quiet").out == ""
    # A job asks by its own recipe: the texts are read, or looked up.
    for recipe, told in (("default", "no pair had"), ("default-2", "looked each record up")):
        ran = run("dedup", new, "--against", path, "--recipe", recipe, "-o", kept)
        assert "kept 1, removed 1" in ran.err
        assert told in ran.err
    assert json.loads(run("index", "stats", path, "--json").out)["recipe"].startswith("neardup2 ")


def test_add(run: Run, seen: Path, old: Path, new: Path, tmp_path: Path) -> None:
    ran = run("index", "add", seen, old, new, "--json")
    assert ran.code == 0
    found = json.loads(ran.out)
    del found["seconds"]
    assert found == {"added": 2, "updated": 2, "duplicates": 0, "documents": 4, "unreadable": 0}
    assert "added 2, updated 2, duplicates 0, unreadable 0, documents now 4" in ran.err
    missing = run("index", "add", tmp_path / "none.neardup", new)
    assert missing.code == 1
    assert "no such collection; create it: neardup index create" in missing.err
    (tmp_path / "none.neardup").mkdir()
    empty = run("index", "add", tmp_path / "none.neardup", new)
    assert empty.code == 1
    assert "no such collection; create it: neardup index create" in empty.err
    assert not list((tmp_path / "none.neardup").iterdir())


def test_add_unless_duplicate(run: Run, seen: Path, new: Path, tmp_path: Path) -> None:
    out = tmp_path / "duplicates.csv"
    ran = run("index", "add", seen, new, "--unless-duplicate", "--duplicates", out)
    assert ran.code == 0
    assert "added 1, updated 0, duplicates 1" in ran.err
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["id", "dup_of", "distance", "similarity", "source", "differs", "lost"],
        ["cat 2", "cat", "0", "1.0", str(new), "", "0"],
    ]
    for options in (["--radius", "3"], ["--similarity", "0.9"], ["--duplicates", out]):
        refused = run("index", "add", seen, new, *options)
        assert refused.code == 2
        assert "needs --unless-duplicate" in refused.err
    wrong = run("index", "add", seen, new, "--unless-duplicate", "--similarity", "3")
    assert wrong.code == 2
    assert "similarity is 3.0" in wrong.err


def test_what_differs_is_told_and_insisted_on(run: Run, seen: Path, tmp_path: Path) -> None:
    near = jsonl(tmp_path / "near.jsonl", [("5", f"{CAT} 5"), ("not", f"not {CAT}")])
    told = "1 of 2 {} differs in numbers, 1 in negation; --distinguish numbers,negation {}\n"
    found = run("index", "check", seen, near, "--similarity", "0.7")
    assert [line.split("\t")[4:] for line in found.out.splitlines()] == [
        ["numbers", "1"],
        ["negation", "1"],
    ]
    assert told.format("matches", "leaves them out") in found.err
    asked = ("index", "add", seen, near, "--similarity", "0.7", "--unless-duplicate")
    assert told.format("duplicates", "stores them") in run(*asked).err
    some = run("index", "check", seen, near, "--similarity", "0.7", "--distinguish", "negation")
    assert some.out.split("\t")[0] == "5"
    assert "1 of 1 matches differs in numbers; --distinguish numbers,negation leaves" in some.err
    assert "added 2" in run(*asked, "--distinguish", "numbers,negation").err
    refused = run("index", "add", seen, near, "--distinguish", "numbers")
    assert "needs --unless-duplicate" in refused.err


def test_an_id_given_twice_is_an_update(run: Run, seen: Path, tmp_path: Path) -> None:
    twice = jsonl(tmp_path / "twice.jsonl", [("a", CAT), ("b", DOG), ("a", DOG)])
    ran = run("index", "add", seen, twice)
    assert "added 2, updated 1" in ran.err
    with nd.Collection.open(seen, read_only=True) as collection:
        stored = collection.get("a")
        assert stored is not None
        assert stored.text == DOG


def test_documents_known_by_their_place_are_reported_when_they_are_replaced(
    run: Run, seen: Path, old: Path
) -> None:
    first = run("index", "add", seen, "-", "--lines", stdin=b"some words\nother words\n")
    assert "note" not in first.err
    again = run("index", "add", seen, "-", "--lines", stdin=b"a line of text\nand another line\n")
    assert "updated 2" in again.err
    assert "note: 2 of the updated have no id but a position ('stdin:1')" in again.err
    assert "note" not in run("index", "add", seen, old).err
    assert "The next document read from there replaces it" in " ".join(
        run("index", "add", "--help").out.split()
    )


def test_unreadable_records_are_reported(run: Run, seen: Path, tmp_path: Path) -> None:
    path = tmp_path / "dirty.jsonl"
    path.write_text('{"id": "a", "text": "fine words these are"}\nnot JSON\n', encoding="utf-8")
    for command in (["add"], ["check"]):
        ran = run("index", *command, seen, path)
        assert ran.code == 3
        assert f"{path}:2: not JSON" in ran.err
        assert "unreadable 1" in ran.err


def test_other_formats(run: Run, seen: Path, tmp_path: Path) -> None:
    table = tmp_path / "more.csv"
    table.write_text("name,body\nx,some words of a table\n", encoding="utf-8")
    ran = run("index", "add", seen, table, "--text-column", "body", "--id-column", "name")
    assert "added 1" in ran.err
    ran = run("index", "add", seen, "-", "--lines", stdin=b"a line of text\nand another line\n")
    assert "added 2" in ran.err
    assert run("index", "stats", seen, "--json").out.startswith("{")


def test_check(run: Run, seen: Path, new: Path, tmp_path: Path) -> None:
    out = tmp_path / "matches.jsonl"
    ran = run("index", "check", seen, new, "-o", out, "--json")
    assert ran.code == 0
    assert json.loads(ran.out) == {"documents": 2, "near": 1, "matches": 1, "unreadable": 0}
    row = {"query": "cat 2", "id": "cat", "distance": 0, "similarity": 1.0}
    row |= {"differs": "", "lost": 0}
    assert json.loads(out.read_text("utf-8")) == row
    printed = run("index", "check", seen, new, "--radius", "3", "-n", "1")
    assert printed.out == "cat 2\tcat\t0\t-\t-\t0\n"
    assert "documents 2, near one in the collection 1, matches 1" in printed.err
    as_json = run("index", "check", seen, new, "--json", "--quiet")
    assert (json.loads(as_json.out), as_json.err) == (row, "")
    for options, message in (
        (["-o", new], "is also an input"),
        (["-o", "x.txt"], "unknown ending"),
        (["--radius", "999"], "radius is 999"),
        (["--radius", "3", "--similarity", "0.9"], "exclude each other"),
    ):
        refused = run("index", "check", seen, new, *options)
        assert refused.code == 2
        assert message in refused.err


def test_check_without_texts_says_what_helps(run: Run, new: Path, tmp_path: Path) -> None:
    path = tmp_path / "codes.neardup"
    run("index", "create", path, "--no-text")
    ran = run("index", "check", path, new)
    assert ran.code == 2
    assert "stores no texts" in ran.err


def test_remove(run: Run, seen: Path, tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("dog\nnobody\ncat\n", encoding="utf-8")
    ran = run("index", "remove", seen, "cat", "--from", ids, "--json")
    assert json.loads(ran.out) == {"removed": 2, "not_found": 1, "documents": 0}
    assert run("index", "remove", seen).code == 2


def test_remove_from_a_file_with_odd_ids(run: Run, seen: Path, tmp_path: Path) -> None:
    odd = ["with\x0ca page", "with\u2028a line", "with\ra return", "plain"]
    run("index", "add", seen, jsonl(tmp_path / "odd.jsonl", [(id_, CAT) for id_ in odd]))
    ids = tmp_path / "ids.txt"
    ids.write_bytes("\r\n\n".join([*odd, ""]).encode())
    ran = run("index", "remove", seen, "--from", ids, "--json")
    assert json.loads(ran.out) == {"removed": 4, "not_found": 0, "documents": 2}


def test_stats_verify_compact_export(run: Run, seen: Path, tmp_path: Path) -> None:
    shown = run("index", "stats", seen)
    assert shown.code == 0
    assert "documents        2" in shown.out
    assert "search           False" in shown.out
    assert "postings bytes   0" in shown.out
    assert run("index", "compact", seen).err.endswith("MB now\n")
    assert json.loads(run("index", "compact", seen, "--json").out)["after"] > 0
    well = run("index", "verify", seen)
    assert (well.code, well.err) == (0, "neardup: no problems found\n")
    out = tmp_path / "all.parquet"
    ran = run("index", "export", seen, "-o", out)
    assert (ran.code, ran.err) == (0, f"neardup: wrote 2 documents to {out}\n")
    assert run("index", "export", seen, "-o", tmp_path / "x.doc").code == 2
    (segment,) = seen.glob("segment-*.index")
    segment.write_bytes(b"junk")
    broken = run("index", "verify", seen)
    assert broken.code == 1
    assert "is damaged or was replaced" in broken.err
    assert json.loads(run("index", "verify", seen, "--json").out)["problems"]
    assert run("index", "compact", seen, "--quiet").code == 0
    assert run("index", "verify", seen, "--quiet").code == 0


def test_a_second_writer_is_refused(run: Run, seen: Path, new: Path) -> None:
    with nd.Collection.open(seen) as writer:
        writer.add([("x", DOG)])
        ran = run("index", "add", seen, new)
        assert ran.code == 1
        assert "locked by its writer" in ran.err
        assert run("index", "check", seen, new, "--quiet").code == 0


def test_a_full_disk_says_how_many_are_in(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    from neardup.cli import inputs
    from neardup.collection.errors import NOTHING_STORED

    path, source = tmp_path / "seen.neardup", tmp_path / "in.txt"
    source.write_text("".join(f"line number {n} of the file\n" for n in range(25)))
    run("index", "create", path)
    monkeypatch.setattr(inputs, "BATCH_SIZE", 10)
    real, calls = nd.Collection.add, list[int]()

    def add(self: nd.Collection, documents: Any, **options: Any) -> Any:
        calls.append(len(documents))
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, f"disk full; {NOTHING_STORED}", str(path))
        return real(self, documents, **options)

    monkeypatch.setattr(nd.Collection, "add", add)
    ran = run("index", "add", path, source, "--lines")
    assert (ran.code, calls) == (1, [10, 10, 5])
    assert ran.err == (
        f"neardup: {path}: disk full; 20 documents of this run are stored and stay, the others "
        "are not\n"
    )
    with nd.Collection.open(path, read_only=True) as collection:
        assert len(collection) == 20


def test_a_collection_that_is_ready_for_checks(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "c.neardup"
    made = run("index", "create", path, "--runs")
    assert made.code == 0
    assert "with texts, ready for check," in made.err
    with nd.Collection.open(path) as collection:
        assert collection.keeps_runs
    refused = run("index", "create", tmp_path / "x.neardup", "--runs", "--no-text")
    assert refused.code == 2
    assert "--runs" in refused.err
    assert not (tmp_path / "x.neardup").exists()
