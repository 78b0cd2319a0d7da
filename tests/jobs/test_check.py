"""A check of files: what is read, what is written, what is refused."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from helpers.html_page import check_harmless
from neardup import jobs
from neardup.cli.check import lines_of
from neardup.jobs.check import MAX_PROBLEMS
from neardup.jobs.options import CHECK_COLUMNS, CheckOptions, check_rows

SHARED = "the old lighthouse keeper climbed the narrow stairs every evening to light the lamp"
ESSAYS = {
    "first": f"{SHARED} and nobody in the village thought much about it until he stopped",
    "second": f"My grandmother used to say that {SHARED} before the war came",
    "third": "A recipe for soup needs water, salt, three carrots and a good deal of patience",
}


def write(path: Path, essays: dict[str, str] = ESSAYS, **columns: dict[str, str]) -> str:
    with path.open("w", encoding="utf-8") as file:
        for id_, text in essays.items():
            more = {name: values[id_] for name, values in columns.items()}
            file.write(json.dumps({"id": id_, "text": text, **more}) + "\n")
    return str(path)


@pytest.fixture
def essays(tmp_path: Path) -> str:
    return write(tmp_path / "essays.jsonl")


def sources(found: jobs.Checked) -> dict[str, list[str]]:
    return {each.id: [x.id for x in each.sources] for each in found.copying.findings}


def test_inputs_with_each_other(essays: str) -> None:
    found = jobs.check([essays])
    assert found.copying.among
    assert sources(found) == {"first": ["second"], "second": ["first"], "third": []}
    assert (found.reference, found.unreadable, found.above, found.files) == (0, 0, 2, [])
    first = found.copying.findings[0]
    assert first.figures.share == pytest.approx(14 / len(ESSAYS["first"].split()))


def test_against_files_and_collections(tmp_path: Path, essays: str) -> None:
    with nd.Collection.open(tmp_path / "old.neardup", nd.Recipe()) as collection:
        collection.add([("old", f"{SHARED} long ago")])
    text = tmp_path / "story.txt"
    text.write_text(f"Once {SHARED}.")
    against = (str(tmp_path / "old.neardup"), str(text))
    found = jobs.check([essays], CheckOptions(against=against))
    assert not found.copying.among
    assert found.reference == 2
    assert set(sources(found)["first"]) == {"old", str(text)}
    assert sources(found)["third"] == []


def test_a_collection_without_texts_is_refused(tmp_path: Path, essays: str) -> None:
    path = tmp_path / "old.neardup"
    with nd.Collection.open(path, nd.Recipe(), store_text=False) as collection:
        collection.add([("old", SHARED)])
    with pytest.raises(jobs.RefusedError, match="stores no texts, so passages cannot be found"):
        jobs.check([essays], CheckOptions(against=(str(path),)))


def test_authors_may_use_their_own_texts(tmp_path: Path) -> None:
    same = {"first": "li", "second": "li", "third": "wang"}
    path = write(tmp_path / "essays.jsonl", author=same)
    found = jobs.check([path], CheckOptions(author_column="author"))
    assert found.above == 0
    assert jobs.check([path]).above == 2


def test_rules_are_handed_on(tmp_path: Path, essays: str) -> None:
    template = tmp_path / "task.txt"
    template.write_text(SHARED)
    assert jobs.check([essays], CheckOptions(template=(str(template),))).above == 0
    assert sources(jobs.check([essays], CheckOptions(exclude=("second",))))["first"] == []
    assert jobs.check([essays], CheckOptions(rules={"min_words": 30})).above == 0


def test_an_excluded_id_that_is_not_there_is_reported(essays: str) -> None:
    notes: list[str] = []
    jobs.check([essays], CheckOptions(exclude=("fourth",), on_note=notes.append))
    assert notes == ["--exclude: no document has the id 'fourth'"]


def test_an_id_that_is_there_twice_is_reported_once(tmp_path: Path, essays: str) -> None:
    notes: list[str] = []
    twice = write(tmp_path / "again.jsonl")
    found = jobs.check([essays, twice], CheckOptions(on_note=notes.append))
    (note,) = notes
    assert note.startswith("documents: duplicate id 'first', and 2 more ids; such")
    assert [x.place for x in found.copying.findings[0].sources] == [3, 1, 4]
    notes.clear()
    jobs.check([essays], CheckOptions(against=(essays, twice), on_note=notes.append))
    (note,) = notes
    assert note.startswith("against: duplicate id 'first', and 1 more id; such")


class Heard:
    """Stages with their totals, and how far each came."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int | None, int]] = []

    def stage(self, name: str, total: int | None, unit: str) -> None:
        assert unit == "documents"
        self.stages.append((name, total, 0))

    def advance(self, count: int) -> None:
        name, total, done = self.stages[-1]
        self.stages[-1] = name, total, done + count


def test_progress_has_an_end_in_sight(essays: str) -> None:
    among, against = Heard(), Heard()
    jobs.check([essays], CheckOptions(progress=among))
    assert among.stages == [("reading", None, 3), ("comparing", 3, 3)]
    jobs.check([essays], CheckOptions(against=(essays,), progress=against))
    assert against.stages == [
        ("reading", None, 3),
        ("looking for sources", None, 3),
        ("comparing", 3, 3),
    ]


def test_blank_authors_are_not_one_author(tmp_path: Path) -> None:
    for blank in ("", "  "):
        path = write(tmp_path / "essays.jsonl", author=dict.fromkeys(ESSAYS, blank))
        assert jobs.check([path], CheckOptions(author_column="author")).above == 2


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_the_table(tmp_path: Path, essays: str, ending: str) -> None:
    out = tmp_path / f"table.{ending}"
    found = jobs.check([essays], CheckOptions(out=out))
    expected = [row for each in found.copying.findings for row in check_rows(each)]
    assert [row["source"] for row in expected] == ["second", "first", None]
    assert found.files == [str(out)]
    if ending == "parquet":
        table = pq.read_table(out)
        assert table.to_pylist() == expected
        kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
        assert table.schema == pa.schema([(x, kinds[kind]) for x, kind in CHECK_COLUMNS.items()])
    elif ending == "jsonl":
        assert [json.loads(line) for line in out.read_text().splitlines()] == expected
    else:
        with out.open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows == [
            {name: "" if value is None else str(value) for name, value in row.items()}
            for row in expected
        ]


def test_the_columns_of_the_table(essays: str) -> None:
    assert list(CHECK_COLUMNS) == [
        *("id", "share", "unquoted", "largest"),
        *("source", "source_share", "source_own_share", "words", "longest", "similarity"),
    ]
    first = jobs.check([essays]).copying.findings[0]
    (row,) = check_rows(first)
    (source,) = first.sources
    assert row["share"] == first.figures.share == row["source_share"] == source.share
    assert (row["words"], row["longest"]) == (14, 14)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_as_a_folder_and_as_a_file(tmp_path: Path, essays: str, language: str) -> None:
    folder, file = tmp_path / "report", tmp_path / "report.html"
    jobs.check([essays], CheckOptions(html=folder, lang=language))
    jobs.check([essays], CheckOptions(html=file, lang=language))
    names = sorted(each.name for each in folder.iterdir() if each.suffix == ".html")
    assert names == [
        *("document-1.html", "document-2.html", "document-3.html", "index.html"),
        *("pair-1-1.html", "pair-2-1.html"),
    ]
    for page in (*folder.glob("*.html"), file):
        check_harmless(page.read_text("utf-8"))
    assert ("文本复制检测报告" in file.read_text("utf-8")) == (language == "zh")


def test_names_are_nowhere_when_documents_are_anonymous(tmp_path: Path) -> None:
    essays = {f"{name}-li-hua": text for name, text in ESSAYS.items()}
    path = write(tmp_path / "wang-class.jsonl", essays)
    out, html = tmp_path / "table.csv", tmp_path / "report.html"
    found = jobs.check(
        [path], CheckOptions(out=out, html=html, anonymise=True, exclude=("third-li-hua",))
    )
    for written in (out.read_text(), html.read_text(), json.dumps(found.as_dict()["findings"])):
        assert "li-hua" not in written
        assert "wang-class" not in written
    assert sources(found) == {
        "document 1": ["document 2"],
        "document 2": ["document 1"],
        "document 3": [],
    }
    options = CheckOptions(html=tmp_path / "zh.html", anonymise=True, lang="zh")
    assert "文档 1" in sources(jobs.check([path], options))


def test_a_table_and_its_pages_appear_together_or_not_at_all(
    tmp_path: Path, essays: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    out, html = tmp_path / "table.csv", tmp_path / "report"
    monkeypatch.setattr("neardup.reports.copying.render_folder", fail)
    with pytest.raises(OSError, match="No space left"):
        jobs.check([essays], CheckOptions(out=out, html=html))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["essays.jsonl"]


def test_unreadable_records(tmp_path: Path) -> None:
    path = tmp_path / "essays.jsonl"
    write(path)
    path.write_text(path.read_text() + "not JSON\n")
    told: list[Any] = []
    out = tmp_path / "table.csv"
    found = jobs.check([str(path)], CheckOptions(on_problem=told.append, out=out))
    assert (found.unreadable, len(told)) == (1, 1)
    out.unlink()
    with pytest.raises(jobs.UnreadableError, match="1 unreadable; nothing was written"):
        jobs.check([str(path)], CheckOptions(strict=True, out=out))
    path.write_text("not JSON\n")
    with pytest.raises(jobs.NothingReadError, match=r"no record could be read: .*essays\.jsonl:1"):
        jobs.check([str(path)], CheckOptions(out=out))
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1.5}, "threshold is 1.5; it must be a number from 0 to 1"),
        ({"threshold": "x"}, "threshold is 'x'; it must be a number from 0 to 1"),
        ({"threshold": True}, "threshold is True; it must be a number from 0 to 1"),
        ({"lang": "fr", "html": Path("a.html")}, "lang is 'fr'; it must be one of en, zh"),
        ({"lang": "zh"}, "lang is 'zh', but no page is written"),
        ({"out": Path("table.doc")}, "'table.doc': unknown ending"),
        ({"html": Path("no/report")}, "no/report: the folder .* does not exist"),
        ({"rules": {"min_words": 0}}, "min_words is 0; it must be a whole number from 1"),
        ({"rules": {"common": -1}}, "common is -1"),
    ],
)
def test_what_is_refused(
    essays: str,
    options: dict[str, Any],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(jobs.RefusedError, match=message):
        jobs.check([essays], CheckOptions(**options))


def test_an_input_is_not_overwritten(essays: str) -> None:
    with pytest.raises(jobs.RefusedError, match="is also an input and would be overwritten"):
        jobs.check([essays], CheckOptions(out=Path(essays)))


def test_no_documents(tmp_path: Path) -> None:
    path = tmp_path / "none.jsonl"
    path.write_text("")
    html = tmp_path / "report.html"
    found = jobs.check([str(path)], CheckOptions(html=html))
    assert found.copying.findings == ()
    check_harmless(html.read_text("utf-8"))


def test_a_copy_with_the_same_id_in_another_file_is_a_copy(tmp_path: Path, essays: str) -> None:
    notes: list[str] = []
    other = write(tmp_path / "last-year.jsonl")
    found = jobs.check([essays], CheckOptions(against=(other,), on_note=notes.append))
    assert [each.figures.share for each in found.copying.findings] == [1.0, 1.0, 1.0]
    assert sources(found)["third"] == ["third"]
    assert (found.as_dict()["itself"], notes) == (0, [])


@pytest.mark.parametrize("how", ["dots", "link", "relative"])
def test_a_file_is_itself_however_its_path_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    folder = tmp_path / "essays"
    folder.mkdir()
    for name, text in ESSAYS.items():
        (folder / f"{name}.txt").write_text(text)
    (tmp_path / "linked").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    against = {"dots": f"{folder}/../essays/", "link": "linked", "relative": "./essays"}[how]
    found = jobs.check([str(folder)], CheckOptions(against=(against,)))
    assert [len(names) for names in sources(found).values()] == [1, 1, 0]
    among = jobs.check([str(folder), against])
    # The same file twice: each finds the other essay twice, and not itself.
    assert [len(names) for names in sources(among).values()] == [2, 2, 0] * 2


def test_records_of_one_file_with_equal_ids_are_distinguished(tmp_path: Path) -> None:
    path = tmp_path / "twice.jsonl"
    line = json.dumps({"id": "a", "text": SHARED}) + "\n"
    path.write_text(line * 2)
    found = jobs.check([str(path)], CheckOptions(against=(str(path),)))
    assert [[x.id for x in each.sources] for each in found.copying.findings] == [["a"], ["a"]]


@pytest.mark.parametrize("anonymise", [False, True])
def test_a_document_of_the_collection_with_the_same_id_is_reported(
    tmp_path: Path, essays: str, anonymise: bool
) -> None:
    with nd.Collection.open(tmp_path / "old.neardup", nd.Recipe()) as collection:
        collection.add([*ESSAYS.items(), ("other", ESSAYS["third"])])
    notes: list[str] = []
    html = tmp_path / "report.html"
    options = CheckOptions(
        against=(str(tmp_path / "old.neardup"),),
        html=html,
        lang="en",
        anonymise=anonymise,
        on_note=notes.append,
    )
    found = jobs.check([essays], options)
    assert found.as_dict()["itself"] == 3
    if anonymise:
        ids = "'document 1', 'document 2', 'document 3'"
    else:
        ids = "'first', 'second', 'third'"
        assert sources(found)["third"] == ["other"]
    assert notes == [
        "3 documents of --against with the id and the text of an input count as that input, "
        f"not as a source: {ids}"
    ]
    assert "3 reference texts have the same id and the same text" in html.read_text("utf-8")


@pytest.mark.parametrize("ending", ["jsonl", "csv", "txt"])
def test_an_author_column_that_nothing_has_is_refused(tmp_path: Path, ending: str) -> None:
    path, out = tmp_path / f"essays.{ending}", tmp_path / "table.csv"
    if ending == "jsonl":
        write(path, author=dict.fromkeys(ESSAYS, "Li"))
    else:
        path.write_text("id,text,author\na,some words,Li\n")
    there = "the inputs have no columns" if ending == "txt" else "columns: 'id', 'text', 'author'"
    with pytest.raises(jobs.NothingReadError) as refused:
        jobs.check([str(path)], CheckOptions(author_column="auther", out=out))
    assert str(refused.value) == (
        f"no column 'auther' ({there}), which --author-column names; nothing was written"
    )
    assert not out.exists()


def test_inputs_without_the_author_column_are_reported(tmp_path: Path, essays: str) -> None:
    notes: list[str] = []
    signed = write(tmp_path / "signed.jsonl", author=dict.fromkeys(ESSAYS, "Li"))
    old = str(tmp_path / "old.neardup")
    with nd.Collection.open(old, nd.Recipe()) as collection:
        collection.add([("old", f"{SHARED} long ago")])
    options = CheckOptions(author_column="author", on_note=notes.append)
    jobs.check([signed], options)
    assert notes == []
    jobs.check([signed, essays], replace(options, against=(old,)))
    # The ids are there twice as well.
    assert [note for note in notes if "author" in note] == [
        "no column 'author' in 2 inputs, whose texts count as those of other authors: "
        f"{essays}, {old}"
    ]


def test_a_share_of_just_the_threshold_counts(essays: str) -> None:
    share = min(x.figures.share for x in jobs.check([essays]).copying.findings if x.figures.share)
    exact, beyond = (
        jobs.check([essays], CheckOptions(threshold=limit)).above for limit in (share, share + 1e-6)
    )
    assert exact > beyond


@pytest.mark.parametrize("anonymise", [False, True])
def test_what_could_not_be_read_is_listed(tmp_path: Path, essays: str, anonymise: bool) -> None:
    bad = tmp_path / "wang.jsonl"
    bad.write_text('{"id": "x"}\n' * (MAX_PROBLEMS + 5))
    html = tmp_path / "report.html"
    found = jobs.check(
        [essays, str(bad)], CheckOptions(html=html, lang="en", anonymise=anonymise)
    ).as_dict()
    assert (found["unreadable"], len(found["problems"])) == (MAX_PROBLEMS + 5, MAX_PROBLEMS)
    name = "file 2" if anonymise else str(bad)
    reason = "no column 'text' (columns: 'id')"
    assert found["problems"][1] == {"source": name, "line": 2, "reason": reason}
    page = html.read_text("utf-8")
    assert "Unreadable records" in page
    assert f"Showing {MAX_PROBLEMS} of {MAX_PROBLEMS + 5}." in page
    assert name in page
    assert ("wang" in page) != anonymise


def test_another_encoding_is_reported_without_kept_records(tmp_path: Path) -> None:
    notes: list[str] = []
    path = tmp_path / "essay.txt"
    path.write_text(SHARED, "utf-16")
    jobs.check([str(path), str(path)], CheckOptions(on_note=notes.append))
    assert notes[0] == f"{path}: read as utf-16-le (byte order mark)"


def test_nothing_to_compare_is_reported(tmp_path: Path, essays: str) -> None:
    def told(inputs: list[str], *against: str) -> list[str]:
        notes: list[str] = []
        jobs.check(inputs, CheckOptions(against=against, on_note=notes.append))
        return notes

    one = write(tmp_path / "one.jsonl", {"first": ESSAYS["first"]})
    empty = write(tmp_path / "empty.jsonl", {})
    assert told([one]) == [
        "there is only one document, and nothing to compare it with; name texts with --against"
    ]
    assert told([one], empty) == ["--against has no documents; nothing was compared"]
    assert told([empty]) == ["the inputs have no documents; nothing was checked"]
    assert told([one], essays) == told([essays]) == []


@pytest.mark.parametrize(
    ("text", "is_short"),
    [
        ("", True),
        ("one two three four five", True),
        ("one two three four five six", False),
        ("老灯塔守护人每天晚上都爬", True),
        ("老灯塔守护人每天晚上都爬上", False),
        ("one two three 老灯塔守护人每", False),
        ("one two 老灯塔守护人", True),
    ],
)
def test_documents_too_short_for_a_passage_are_counted(
    tmp_path: Path, text: str, is_short: bool
) -> None:
    path = write(tmp_path / "essays.jsonl", {**ESSAYS, "short": text})
    html = tmp_path / "report.html"
    found = jobs.check([path], CheckOptions(html=html, lang="en"))
    assert found.as_dict()["too_short"] == is_short
    assert ("1 document is too short to be checked" in html.read_text("utf-8")) == is_short
    assert ("; 1 has too few words for a passage" in lines_of(found)[0]) == is_short
