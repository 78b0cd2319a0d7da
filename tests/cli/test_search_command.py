"""neardup search."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup._util.strings import cell_width

TEXTS = {
    "cat": "the cat sat on the mat and looked at the dog",
    "dog": "the dog sat on the log and looked at the cat",
    "ice": "we all scream for ice cream in the summer",
    "zh": "垃圾分类模式要全面铺开，部分小区试行垃圾费按袋计量征收",
}
QUERY = "a cat on a mat"
Run = Callable[..., Any]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    lines = [json.dumps({"id": id_, "text": text}) for id_, text in TEXTS.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    path = tmp_path / "all.neardup"
    with nd.Collection.open(path) as made:
        made.add(TEXTS.items())
    return path


def expected(by: Any = "cosine", **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = nd.search(QUERY, TEXTS, by=by, **options).to_pylist()
    return found


@pytest.mark.parametrize("by", ["cosine", "simhash"])
@pytest.mark.parametrize("place", ["documents", "collection"])
def test_the_same_as_the_library(
    run: Run, place: str, by: str, request: pytest.FixtureRequest
) -> None:
    ran = run(
        "search", "--text", QUERY, "--in", request.getfixturevalue(place), "--by", by, "--json"
    )
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 0
    assert [{x: row[x] for x in ("id", "score", "distance")} for row in found] == expected(by)
    assert [row["rank"] for row in found] == list(range(1, len(found) + 1))
    assert [row["excerpt"] for row in found] == [TEXTS[row["id"]][:60] for row in found]
    assert f"found {len(found)} of 4 documents" in ran.err


def test_shown_to_a_person(run: Run, documents: Path) -> None:
    ran = run("search", "--text", QUERY, "--in", documents, "-n", 1)
    best = expected()[0]
    assert ran.out == f"  1 {best['score']:.4f} {best['distance']:4}  cat  {TEXTS['cat']}\n"


def test_a_file_and_standard_input(run: Run, documents: Path, tmp_path: Path) -> None:
    (tmp_path / "query.txt").write_text(QUERY)
    from_file = run("search", tmp_path / "query.txt", "--in", documents)
    assert from_file.out == run("search", "--text", QUERY, "--in", documents).out
    assert from_file.out == run("search", "-", "--in", documents, stdin=QUERY.encode()).out
    from_lines = documents.read_bytes()
    there = run("search", "--text", QUERY, "--in", "-", "--format", "jsonl", stdin=from_lines)
    assert there.out == from_file.out


def test_several_inputs(run: Run, documents: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.csv"
    more.write_text("id,text\nmat,a cat on a mat\n")
    ran = run("search", "--text", QUERY, "--in", documents, "--in", more, "-n", 1, "--json")
    assert json.loads(ran.out)["id"] == "mat"


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv", "parquet"])
def test_tables(run: Run, documents: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"found.{ending}"
    ran = run("search", "--text", QUERY, "--in", documents, "-o", out, "--json")
    assert json.loads(ran.out) == {"documents": 4, "found": len(expected()), "unreadable": 0}
    if ending == "parquet":
        rows = pq.read_table(out).to_pylist()
    elif ending == "jsonl":
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    else:
        with out.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t" if ending == "tsv" else ","))
    assert [row["id"] for row in rows] == [row["id"] for row in expected()]
    assert [float(row["score"]) for row in rows] == [row["score"] for row in expected()]
    assert list(rows[0]) == ["rank", "id", "score", "distance", "excerpt"]


def test_options_reach_the_search(run: Run, documents: Path) -> None:
    cases: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        (("--idf", "gensim"), {"idf": "gensim"}),
        (("--recipe", "simhash", "--by", "simhash"), {"recipe": "simhash", "by": "simhash"}),
        (("--bits", "64"), {"recipe": nd.Recipe(bits=64)}),
        (("-n", "2", "--threads", "1"), {"n": 2}),
    ]
    for options, given in cases:
        ran = run("search", "--text", QUERY, "--in", documents, "--json", *options)
        found = [json.loads(line) for line in ran.out.splitlines()]
        wanted = expected(**given)
        assert [(row["id"], row["score"]) for row in found] == [
            (row["id"], row["score"]) for row in wanted
        ]


def test_nothing_in_common(run: Run, documents: Path) -> None:
    ran = run("search", "--text", "unknown", "--in", documents)
    assert (ran.code, ran.out) == (0, "")
    assert "found 0 of 4 documents" in ran.err
    assert ran.err.endswith("neardup: no document shares a word with the text\n")
    assert run("search", "--text", "unknown", "--in", documents, "--quiet").err == ""


@pytest.mark.parametrize("kept", [False, True])
def test_nothing_found_says_why(run: Run, tmp_path: Path, kept: bool) -> None:
    def told(text: str, documents: list[str], *options: str) -> str:
        lines = "".join(json.dumps({"text": each}) + "\n" for each in documents)
        path = tmp_path / "d.jsonl"
        path.write_text(lines)
        if kept:
            path = tmp_path / f"{len(list(tmp_path.iterdir()))}.neardup"
            with nd.Collection.open(path) as made:
                made.add([(str(at), each) for at, each in enumerate(documents)])
        ran = run("search", "--text", text, "--in", path, *options)
        assert (ran.code, ran.out) == (0, "")
        last: str = ran.err.splitlines()[-1]
        return last.removeprefix("neardup: ")

    cat = [TEXTS["cat"], TEXTS["ice"]]
    assert told("cat", []) == "there are no documents to search"
    assert told("?!", cat) == "the text has no words"
    assert told("cat", cat, "--by", "simhash") == (
        "the text has too few words for a fingerprint; search by cosine: --by cosine"
    )
    assert told(TEXTS["cat"], ["cat"], "--by", "simhash") == (
        "no document has enough words for a fingerprint; search by cosine: --by cosine"
    )
    assert told("cat", ["cat"] * 2, "--idf", "gensim") == (
        "no document shares a word with the text that other documents lack"
    )


def test_wide_characters_stay_in_their_columns(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    texts = {"小区垃圾": TEXTS["zh"] * 5, "b": f"{TEXTS['zh']} and more"}
    path.write_text("".join(json.dumps({"id": x, "text": y}) + "\n" for x, y in texts.items()))
    ran = run("search", "--text", TEXTS["zh"], "--in", path)
    lines = ran.out.splitlines()
    assert len(lines) == 2
    assert {cell_width(line[: line.index("垃圾分类")]) for line in lines} == {17 + 8 + 2}
    assert max(map(cell_width, lines)) <= 27 + 60
    assert any(line.endswith("…") for line in lines)


def test_hostile_texts_stay_on_their_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "hostile.jsonl"
    path.write_text(json.dumps({"id": "a\x1b[2J", "text": "cat\n\u202emat\x07 \x00" * 50}) + "\n")
    ran = run("search", "--text", "cat mat", "--in", path)
    assert len(ran.out.splitlines()) == 1
    assert not set("\x1b\u202e\x07\x00") & set(ran.out)


def test_unreadable_records_are_reported(run: Run, documents: Path) -> None:
    documents.write_text(documents.read_text() + "{broken\n")
    ran = run("search", "--text", QUERY, "--in", documents)
    assert ran.code == 3
    assert len(ran.out.splitlines()) == len(expected())
    assert "documents.jsonl:5" in ran.err
    documents.write_text("{broken\n")
    ran = run("search", "--text", QUERY, "--in", documents)
    assert (ran.code, ran.out) == (1, "")
    assert "no record could be read" in ran.err


def test_what_is_not_there(run: Run, tmp_path: Path, documents: Path) -> None:
    for arguments in (
        ("nosuch.txt", "--in", documents),
        ("--text", "a", "--in", tmp_path / "nosuch.neardup"),
    ):
        ran = run("search", *arguments)
        assert (ran.code, ran.out) == (1, "")
        assert "nosuch" in ran.err


def test_a_collection_without_texts(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "codes.neardup"
    with nd.Collection.open(path, store_text=False) as made:
        made.add(TEXTS.items())
    ran = run("search", "--text", QUERY, "--in", path)
    assert ran.code == 1
    assert "stores no texts" in ran.err
    ran = run("search", "--text", QUERY, "--in", path, "--by", "simhash", "--json")
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert [row["id"] for row in found] == [row["id"] for row in expected("simhash")]
    assert {row["excerpt"] for row in found} == {None}


def test_a_collection_made_for_search(run: Run, tmp_path: Path, documents: Path) -> None:
    path = tmp_path / "kept.neardup"
    made = run("index", "create", path, "--search")
    assert made.code == 0
    assert "ready for search" in made.err
    assert run("index", "add", path, documents).code == 0
    with nd.Collection.open(path, read_only=True) as collection:
        assert collection.keeps_search
    ran = run("search", "--text", QUERY, "--in", path, "--json")
    found = [json.loads(line)["id"] for line in ran.out.splitlines()]
    assert found == [row["id"] for row in expected()]
    refused = run("index", "create", tmp_path / "x.neardup", "--search", "--no-text")
    assert refused.code == 2
    assert "leave --no-text out" in refused.err
