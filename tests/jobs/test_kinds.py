"""Kinds of response: every response in one cluster, a row a kind, and what each row says."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import httpx_captures
from helpers.processes import run_alone
from neardup import jobs
from neardup.files.reading.batch import Reading
from neardup.http.columns import ResponseColumns
from neardup.http.kinds import KIND_COLUMNS, _count_hosts
from neardup.text.recipe import Recipe

VIEWING = Recipe.preset("http").viewing()


def options(**more: Any) -> jobs.Options:
    return jobs.Options(reading=Reading(viewing=VIEWING), **more)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return httpx_captures.write(tmp_path / "scan.jsonl", httpx_captures.mixed())


def test_the_kinds_of_a_capture(tmp_path: Path, capture: Path) -> None:
    out, kinds = tmp_path / "out.jsonl", tmp_path / "kinds.jsonl"
    summary = jobs.cluster([str(capture)], out, options(kinds=kinds))
    rows, found = rows_of(out), rows_of(kinds)
    assert len(rows) == len(httpx_captures.mixed())
    assert [row["id"] for row in rows] == [f"{capture}:{n}" for n in range(1, len(rows) + 1)]
    assert [row["size"] for row in found] == httpx_captures.KINDS
    assert (summary.kinds, summary.alone) == (5, 1)
    assert summary.files == [str(out), str(kinds)]
    not_found, shop, api, empty, blog = found
    assert list(not_found) == list(KIND_COLUMNS)
    assert not_found["status"] == 404
    assert not_found["title"] == "404 Not Found"
    assert not_found["server"] == "nginx"
    assert not_found["hosts"] == 3
    assert not_found["representative"] == f"{capture}:1"
    assert not_found["url"] == "https://h0.test/x0"
    assert (not_found["label"], not_found["rule"]) == ("not found", "not-found")
    assert shop["shortest"] <= shop["longest"]
    assert (shop["label"], shop["hosts"], shop["server"]) == (None, 1, "Apache")
    assert (api["label"], api["rule"]) == ("JSON error", "json-error")
    assert (empty["label"], empty["shortest"], empty["longest"]) == ("empty", 0, 0)
    assert (blog["label"], blog["similarity"], blog["size"]) == (None, None, 1)
    for kind in found[:-1]:
        assert 0.85 <= kind["similarity"] <= 1


def test_rows_and_kinds_tell_the_same(tmp_path: Path, capture: Path) -> None:
    """The naive twin: all that a kind says is counted again from the rows."""
    out, kinds = tmp_path / "out.jsonl", tmp_path / "kinds.jsonl"
    jobs.cluster([str(capture)], out, options(kinds=kinds))
    rows, found = rows_of(out), rows_of(kinds)
    by_id = {row["id"]: row for row in rows}
    sizes = Counter(row["cluster"] for row in rows)
    assert sorted(sizes.values(), reverse=True) == [kind["size"] for kind in found]
    for kind in found:
        members = [row for row in rows if row["cluster"] == kind["cluster"]]
        lengths = [row["length"] for row in members]
        assert {row["size"] for row in members} == {kind["size"]}
        assert {row["representative"] for row in members} == {kind["representative"]}
        assert (min(lengths), max(lengths)) == (kind["shortest"], kind["longest"])
        assert len({row["url"].split("/")[2] for row in members}) == kind["hosts"]
        own = by_id[kind["representative"]]
        for name in ("url", "status", "title", "server"):
            assert kind[name] == own[name]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".jsonl.gz"])
def test_every_form_of_table(tmp_path: Path, capture: Path, ending: str) -> None:
    out, kinds = tmp_path / f"out{ending}", tmp_path / f"kinds{ending}"
    jobs.cluster([str(capture)], out, options(kinds=kinds))
    if ending == ".parquet":
        assert pq.read_table(kinds).column("size").to_pylist() == httpx_captures.KINDS
        facts = ["url", "status", "title", "server", "length"]
        assert pq.read_table(out).column_names[-7:] == [*facts, "differs", "lost"]
    elif ending in (".csv", ".tsv"):
        with kinds.open(newline="") as file:
            found = list(csv.DictReader(file, delimiter="," if ending == ".csv" else "\t"))
        assert [int(row["size"]) for row in found] == httpx_captures.KINDS


def test_cells_that_a_spreadsheet_would_run(tmp_path: Path) -> None:
    page = (
        "<html><head><title>=HYPERLINK(1)</title></head><body><p>A few words here</p></body></html>"
    )
    rows = [httpx_captures.line("https://a.test/", page, server="+cmd")]
    capture = httpx_captures.write(tmp_path / "scan.jsonl", rows)
    for guard, mark in ((True, "'"), (False, "")):
        jobs.cluster(
            [str(capture)], tmp_path / "out.csv", options(kinds=tmp_path / "kinds.csv", guard=guard)
        )
        for name in ("out.csv", "kinds.csv"):
            with (tmp_path / name).open(newline="") as file:
                (row,) = csv.DictReader(file)
            assert (row["title"], row["server"]) == (f"{mark}=HYPERLINK(1)", f"{mark}+cmd")


def test_within_a_host_nothing_is_joined_across(tmp_path: Path, capture: Path) -> None:
    out = tmp_path / "out.jsonl"
    kinds = tmp_path / "kinds.jsonl"
    jobs.cluster([str(capture)], out, options(within="host", kinds=kinds))
    found = rows_of(kinds)
    assert {kind["hosts"] for kind in found} == {1}
    # Three hosts of two each, the shop, the API, two empty ones, a blog.
    assert [kind["size"] for kind in found] == [5, 3, 2, 2, 2, 1, 1, 1]


def test_within_a_status(tmp_path: Path) -> None:
    page = httpx_captures.NGINX.format("Hello")
    rows = [httpx_captures.line(f"https://a.test/{n}", page, status=200 + n % 2) for n in range(6)]
    capture = httpx_captures.write(tmp_path / "scan.jsonl", rows)
    out = tmp_path / "out.jsonl"
    jobs.cluster([str(capture)], out, options(within="status"))
    assert {row["size"] for row in rows_of(out)} == {3}


def test_within_a_column_of_the_capture(tmp_path: Path) -> None:
    rows = [
        httpx_captures.line(
            f"https://a{n}.test/", httpx_captures.BLOG, cdn_name=f"cdn{n % 2}", tech=["Hugo"]
        )
        for n in range(4)
    ]
    capture = httpx_captures.write(tmp_path / "scan.jsonl", rows)
    out = tmp_path / "out.jsonl"
    jobs.cluster([str(capture)], out, options(within="cdn_name"))
    assert [row["cluster"] for row in rows_of(out)] == [0, 1, 0, 1]


def test_within_a_column_that_is_not_there(tmp_path: Path, capture: Path) -> None:
    out = tmp_path / "out.jsonl"
    with pytest.raises(ValueError, match=r"within is 'cdn'.*no response has it; there are url, h"):
        jobs.cluster([str(capture)], out, options(within="cdn"))
    assert not out.exists()


@pytest.mark.parametrize("within", ["title", "length"])
def test_within_what_responses_are_not_grouped_by(
    tmp_path: Path, capture: Path, within: str
) -> None:
    with pytest.raises(jobs.RefusedError, match=f"within is '{within}'.*use host, ip, status"):
        jobs.cluster([str(capture)], tmp_path / "o.jsonl", options(within=within))


def test_outputs_appear_together_or_not_at_all(
    tmp_path: Path, capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from neardup.http.kinds import Kinds

    def fail(self: Kinds) -> None:
        raise OSError(28, "No space left on device")

    out, kinds = tmp_path / "out.jsonl", tmp_path / "kinds.jsonl"
    out.write_text("old\n")
    monkeypatch.setattr(Kinds, "tables", fail)
    with pytest.raises(OSError, match="No space"):
        jobs.cluster([str(capture)], out, options(kinds=kinds))
    assert out.read_text() == "old\n"
    assert not kinds.exists()


def test_one_file_for_two_outputs_is_refused(tmp_path: Path, capture: Path) -> None:
    out = tmp_path / "out.jsonl"
    with pytest.raises(jobs.RefusedError, match="named for two outputs"):
        jobs.cluster([str(capture)], out, options(kinds=out))
    with pytest.raises(jobs.RefusedError, match="is also an input"):
        jobs.cluster([str(capture)], out, options(kinds=capture))


def test_own_labels(tmp_path: Path, capture: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[[rule]]\nname = 'bees'\nlabel = 'bee keeping'\ntitle = 'bees$'\n")
    kinds = tmp_path / "kinds.jsonl"
    jobs.cluster([str(capture)], tmp_path / "o.jsonl", options(kinds=kinds, labels=[own]))
    assert [kind["rule"] for kind in rows_of(kinds)][-1] == "bees"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"labels": [Path("a.toml")]}, "no output has labels"),
        ({"labels": [Path("a.toml")], "kinds": Path("k.csv")}, "a.toml: No such file"),
        ({"kinds": Path("k.txt")}, "unknown ending"),
        ({"within": ""}, "within is empty"),
        ({"recipe": "default"}, "http"),
    ],
)
def test_what_is_refused(
    tmp_path: Path,
    capture: Path,
    more: dict[str, Any],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(jobs.RefusedError, match=message):
        jobs.cluster([str(capture)], tmp_path / "o.csv", options(**more))


@pytest.mark.parametrize("name", ["within", "kinds", "labels"])
def test_texts_have_no_kinds(tmp_path: Path, name: str) -> None:
    value: Any = {"within": "host", "kinds": Path("k.csv"), "labels": [Path("l.toml")]}[name]
    (tmp_path / "a.jsonl").write_text('{"text": "one two three"}\n')
    asked = jobs.Options(**{name: value})
    with pytest.raises(jobs.RefusedError, match=f"{name} is .* --as http"):
        jobs.cluster([str(tmp_path / "a.jsonl")], tmp_path / "o.csv", asked)


@pytest.mark.parametrize("job", [jobs.pairs, jobs.dedup])
def test_kinds_are_for_cluster(tmp_path: Path, capture: Path, job: Any) -> None:
    expected = f"kinds is for cluster, and this is {job.__name__}"
    with pytest.raises(jobs.RefusedError, match=expected):
        job([str(capture)], tmp_path / "o.jsonl", options(kinds=tmp_path / "k.csv"))


def test_a_capture_without_responses(tmp_path: Path) -> None:
    (tmp_path / "scan.jsonl").write_text("\n")
    out, kinds = tmp_path / "out.csv", tmp_path / "kinds.csv"
    reading = Reading(viewing=VIEWING, format="httpx")
    asked = jobs.Options(reading=reading, kinds=kinds)
    summary = jobs.cluster([str(tmp_path / "scan.jsonl")], out, asked)
    assert (summary.read, summary.kinds, summary.alone) == (0, 0, 0)
    assert kinds.read_text().splitlines() == [",".join(KIND_COLUMNS)]


def test_a_stopped_run_goes_on(tmp_path: Path, capture: Path) -> None:
    work = tmp_path / "work"
    once = tmp_path / "once.jsonl"
    jobs.cluster([str(capture)], once, options(kinds=tmp_path / "k1.jsonl"))

    class Stop(Exception):
        pass

    def stop(job: Any, *rest: Any) -> None:
        raise Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neardup.jobs.job.Job.match", stop)
        with pytest.raises(Stop):
            jobs.cluster([str(capture)], once, options(work_dir=work))
    assert (work / "facts.arrow").exists()
    again = options(kinds=tmp_path / "k2.jsonl", work_dir=work, resume=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neardup.jobs.read.spool_files", stop)
        jobs.cluster([str(capture)], tmp_path / "again.jsonl", again)
    assert (tmp_path / "again.jsonl").read_bytes() == once.read_bytes()
    assert (tmp_path / "k2.jsonl").read_bytes() == (tmp_path / "k1.jsonl").read_bytes()


def facts(rows: list[tuple[str, int]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "host": pa.array([host for host, _ in rows], pa.large_string()),
            "status": pa.array([status for _, status in rows], pa.int32()),
        }
    )


@given(
    st.lists(st.lists(st.tuples(st.sampled_from(["", "a", "b", "ü"]), st.integers(0, 3)))),
    st.data(),
)
def test_facts_are_taken_as_from_a_list(
    parts: list[list[tuple[str, int]]], data: st.DataObject
) -> None:
    every = [row for part in parts for row in part]
    found = ResponseColumns([facts(part) for part in parts])
    assert len(found) == len(every)
    at = data.draw(st.lists(st.integers(0, len(every) - 1), max_size=20)) if every else []
    hosts, statuses = found.take(np.array(at, dtype=np.int64), "host", "status")
    assert hosts.to_pylist() == [every[row][0] for row in at]
    assert statuses.to_pylist() == [every[row][1] or None for row in at]
    assert found.number("status").tolist() == [status for _, status in every]
    codes = found.codes("host").tolist()
    assert [code < 0 for code in codes] == [not host for host, _ in every]
    for (left, _), one in zip(every, codes, strict=True):
        for (right, _), other in zip(every, codes, strict=True):
            assert (one == other) == (left == right)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 4))))
def test_count_hosts_are_counted_as_in_sets(rows: list[tuple[int, int]]) -> None:
    labels = np.array([min(label, len(rows) - 1) for label, _ in rows], dtype=np.int64)
    hosts = np.array([host for _, host in rows], dtype=np.int64)
    found = _count_hosts(hosts, labels)
    for label in range(len(rows)):
        there = {host for at, (_, host) in enumerate(rows) if labels[at] == label and host >= 0}
        assert found[label] == len(there)


def test_memory_stays_small() -> None:
    """A hundred thousand responses: of each a few numbers are in memory, and no more."""
    run_alone(
        """
        import json, tempfile, pathlib
        import neardup.http.captures.reader
        from neardup import jobs
        from neardup.text.recipe import Recipe
        from neardup.files.reading.batch import Reading
        def peak():
            with open("/proc/self/status") as lines:
                return next(int(x.split()[1]) for x in lines if x.startswith("VmHWM")) / 1024
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            def make(path, count):
                with path.open("w") as file:
                    for n in range(count):
                        words = " ".join(f"{word}{n % 40}" for word in "abcdefgh")
                        row = {"url": f"http://h{n % 500}.test/", "status_code": 200}
                        row["body"] = f"<title>{words}</title><p>{words} {n:032x}</p>"
                        file.write(json.dumps(row) + "\\n")
                return str(path)
            asked = jobs.Options(reading=Reading(viewing=Recipe.preset("http").viewing()),
                kinds=folder / "kinds.csv")
            # What is in memory of a batch is no matter here.
            neardup.http.captures.reader.BATCH_BYTES = 1 << 19
            neardup.jobs.cluster.__globals__["BATCH_ROWS"] = 1 << 12
            jobs.cluster([make(folder / "few.jsonl", 10_000)], folder / "few.csv", asked)
            before = peak()
            found = jobs.cluster([make(folder / "many.jsonl", 100_000)], folder / "many.csv", asked)
            assert found.read == 100_000
            assert sum(1 for _ in (folder / "many.csv").open()) == 100_001
            grown = peak() - before
            assert grown < 70, f"{grown} MB more for 90,000 responses more"
            assert found.kinds == 40
        """,
        seconds=300,
    )


def test_documents_of_a_collection_are_in_no_group(tmp_path: Path, capture: Path) -> None:
    from neardup import Collection

    path = tmp_path / "seen.neardup"
    Collection.open(path, "http").close()
    asked = options(within="host", against=[str(path)])
    with pytest.raises(jobs.RefusedError, match=r"within is 'host', and .* is a collection"):
        jobs.dedup([str(capture)], tmp_path / "kept.jsonl", asked)
