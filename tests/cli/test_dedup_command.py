"""neardup dedup, pairs and cluster, as they are typed."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from helpers import corpora
from neardup import jobs
from neardup.jobs import Summary

TEXT = "Harbour Street will be closed to all motor traffic from Monday until Friday"
OTHER = "A letter from the seaside tells of gulls and rain and of a broken umbrella"
Run = Callable[..., Any]
COMMANDS = ["dedup", "pairs", "cluster"]
# Written as they are in the file: kept lines are these, byte for byte.
LINES = [
    json.dumps({"id": name, "text": text}) + "\n"
    for name, text in (("a", TEXT), ("b", OTHER), ("c", f"{TEXT}!"))
]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "in.jsonl"
    path.write_text("".join(LINES))
    return path


def test_dedup_says_what_it_did(run: Run, source: Path) -> None:
    done = run("dedup", "in.jsonl", "-o", "out.jsonl", "--removed", "r.csv", "--report", "r.html")
    assert (done.code, done.out) == (0, "")
    said = done.err.splitlines()
    assert said[0] == "neardup: kept 2, removed 1 (0 exact copies, 1 near-duplicate), unreadable 0"
    assert said[1] == "neardup: read 3 records"
    assert said[2] == "neardup: no pair had to be compared"
    assert said[3].endswith("MB of memory")
    assert said[4] == "neardup: wrote out.jsonl, r.csv, r.html"
    assert len(said) == 5
    assert Path("out.jsonl").read_text() == LINES[0] + LINES[1]
    (removed,) = corpora.rows(Path("r.csv"))
    of_match = ["id", "dup_of", "cluster", "distance", "similarity"]
    places = ("source", "line", "dup_source", "dup_line")
    assert list(removed) == [*of_match, *places, "differs", "lost"]
    assert (removed["id"], removed["dup_of"]) == ("c", "a")
    assert (removed["source"], removed["line"]) == ("in.jsonl", "3")
    assert (removed["dup_source"], removed["dup_line"]) == ("in.jsonl", "1")


def test_pairs_and_cluster_say_what_they_did(run: Run, source: Path) -> None:
    done = run("pairs", source, "-o", "pairs.csv")
    assert done.code == 0
    assert done.err.startswith("neardup: 1 pair (0 exact copies, 1 near-duplicate), unreadable 0\n")
    assert "kept" not in done.err
    (row,) = corpora.rows(Path("pairs.csv"))
    assert (row["left"], row["right"], row["similarity"]) == ("a", "c", "1")
    done = run("cluster", source, "-o", "clusters.jsonl")
    assert done.code == 0
    assert done.err.startswith(
        "neardup: 1 cluster with 2 records (1 representative, 0 exact copies, "
        "1 near-duplicate), unreadable 0\n"
    )
    assert [row["cluster"] for row in corpora.rows(Path("clusters.jsonl"))] == [0, 1, 0]


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_one_object(run: Run, source: Path, command: str) -> None:
    done = run(command, source, "-o", "out.jsonl", "--json", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert done.out.count("\n") == 1
    found: dict[str, Any] = json.loads(done.out)
    fields = {"job", "read", "reference", "unreadable", "no_signal", "candidates", "verified"}
    fields |= {"pairs", "clusters", "similarity", "recall", "recipe", "plan"}
    fields |= {"differs", "distinguish"}
    fields |= {"seconds", "stages", "peak_memory", "files", "exact", "near"}
    assert (found["exact"], found["near"]) == (0, 1)
    if command != "pairs":
        fields.add("templates")
        assert found["templates"] == {"clusters": 0, "records": 0}
    if command == "cluster":
        fields.add("clustered")
        assert found["clustered"] == 2
    if command == "dedup":
        fields |= {"kept", "removed", "lost"}
        assert (found["kept"], found["removed"]) == (2, 1)
    assert set(found) == fields
    assert (found["job"], found["read"], found["unreadable"]) == (command, 3, 0)
    assert (found["similarity"], found["recall"]) == (0.85, 0.99)
    assert found["files"] == ["out.jsonl"]
    assert set(found["stages"]) == {"read", "match", "write"}
    assert found["peak_memory"] > 0


@pytest.mark.parametrize("command", COMMANDS)
def test_quiet_is_silent(run: Run, source: Path, command: str) -> None:
    assert run(command, source, "-o", "out.jsonl", "-q") == (0, "", "")


@pytest.mark.parametrize("how", [["--distinguish", "order, numbers"], ["--config", "job.toml"]])
def test_distinguish_keeps_what_differs(run: Run, source: Path, how: list[str]) -> None:
    texts = [f"{TEXT} 5", f"{TEXT} 50", f"{TEXT} 5!"]
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    Path("job.toml").write_text('distinguish = ["numbers", "order"]')
    for command, rows in {"dedup": 2, "pairs": 1, "cluster": 3}.items():
        assert run(command, "in.jsonl", "-o", "out.jsonl", "-q", *how).code == 0
        assert len(corpora.rows(Path("out.jsonl"))) == rows


def test_a_wrong_aspect_names_the_choices(run: Run, source: Path) -> None:
    done = run("pairs", "in.jsonl", "-o", "out.jsonl", "--distinguish", "numbers,tone")
    assert (done.code, done.err) == (
        2,
        "neardup: Invalid value for --distinguish: distinguish has 'tone'; it must be one or more "
        "of numbers, negation, symbols, order. See 'neardup pairs --help'.\n",
    )


def test_chaining_is_warned_of(run: Run, source: Path) -> None:
    words = [f"word{n}" for n in range(24)]
    # Each is near the next, and the ends have little in common.
    texts = [" ".join(words[n : n + 12]) for n in range(12)]
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    asked = ("--recall", "1", "--similarity", "0.85", "--linkage", "connected")
    done = run("dedup", source, "-o", "out.jsonl", *asked)
    assert done.code == 0
    assert "kept 1, removed 11" in done.err
    assert "records are below similarity 0.85 to their representative (lowest 0.0" in done.err
    assert (
        "in a cluster of 12), linked by chains of pairs; --linkage star prevents this" in done.err
    )
    done = run("dedup", source, "-o", "out.jsonl", "--recall", "1", "--linkage", "star", "--json")
    assert "chain" not in done.err
    assert "weakest" not in json.loads(done.out)


def test_the_summary_of_an_unverified_job() -> None:
    asked = Summary("dedup", read=8, kept=1, removed=0, radius=3, reference=7, no_signal=2)
    assert asked.as_lines()[:3] == [
        "kept 1, removed 0, unreadable 0",
        "read 8 records, 7 of them to compare with; 2 with too few words to compare",
        "found all pairs of fingerprints at most 3 bits apart; texts were not compared",
    ]
    asked.distinguish = ["negation"]
    assert asked.as_lines()[2] == (
        "found all pairs of fingerprints at most 3 bits apart; texts that differ in negation were "
        "kept apart"
    )
    sampled = Summary("pairs", radius=1, recall=0.9)
    assert sampled.as_lines()[2].startswith(
        "found about 90 % of the pairs of fingerprints at most "
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            Summary(
                "dedup", similarity=0.85, recall=0.99, candidates=69686, estimated_recall=0.997
            ),
            "compared 69,686 pairs; estimated share found: 99.7 %",
        ),
        (
            Summary("dedup", similarity=0.85, candidates=1, estimated_recall=0.9999),
            "compared 1 pair; estimated share found: over 99.9 %",
        ),
        (
            Summary("dedup", similarity=0.9, recall=0.99, candidates=7, plan={"dense": [90, 4000]}),
            "compared 7 pairs and 2 dense groups; expected share found: 99 %",
        ),
        (
            Summary("dedup", similarity=0.9, recall=1.0, plan={"method": "inverted"}),
            "looked all records up in an inverted index; share found: 100 %",
        ),
        (
            Summary("dedup", similarity=0.9, recall=0.99, plan={"method": "inverted"}),
            "looked all records up in an inverted index; expected share found: 99 %",
        ),
    ],
)
def test_how_it_was_found(found: Summary, expected: str) -> None:
    assert found.as_lines()[2] == expected


def test_numbers_do_not_contradict_each_other(run: Run, source: Path) -> None:
    """Twins are no pairs that were looked at, and dense groups are no candidates."""
    template = "this is the page of the shop that sells the lamp with the number"
    lines = [json.dumps({"text": f"{template} {at % 150}"}) + "\n" for at in range(300)]
    source.write_text("".join(lines))
    done = run("dedup", source, "-o", "out.jsonl", "--json")
    found = json.loads(done.out)
    assert found["verified"] <= found["candidates"]
    assert found["exact"] + found["near"] == found["removed"]
    assert "pairs 0" not in done.err


def test_report_options(run: Run, source: Path) -> None:
    asked = ("--report", "r.html", "--lang", "zh", "--report-clusters", "1")
    assert run("cluster", source, "-o", "c.jsonl", *asked).code == 0
    assert "近似重复聚类报告" in Path("r.html").read_text(encoding="utf-8")
    assert run("pairs", source, "-o", "p.jsonl", "--report", "r.html", "--lang", "en").code == 0
    assert "Pairs of near-duplicates" in Path("r.html").read_text(encoding="utf-8")
    done = run("dedup", source, "-o", "out.jsonl", "--lang", "zh")
    assert done.code == 2
    assert "no report is written; name its file: --report FILE.html" in done.err


# ---- options from a file ----


def test_options_from_a_file(run: Run, source: Path) -> None:
    Path("job.toml").write_text(
        'input = ["in.jsonl"]\nout = "out.jsonl"\nsimilarity = 0.9\nkeep = "longest"\n'
        'text-column = "text"\nremoved = "r.jsonl"\nquiet = true\nthreads = 1\njson = true\n'
    )
    done = run("dedup", "--config", "job.toml")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["similarity"] == 0.9
    assert Path("out.jsonl").read_text() == LINES[1] + LINES[2]
    assert corpora.rows(Path("r.jsonl"))[0]["id"] == "a"


def test_the_command_line_wins_over_the_file(run: Run, source: Path) -> None:
    Path("job.toml").write_text('out = "out.jsonl"\nsimilarity = 0.9\nkeep = "longest"\n')
    arguments = ("-o", "mine.jsonl", "--keep", "first", "--similarity", "0.8", "--json", "-q")
    done = run("dedup", "in.jsonl", "--config", "job.toml", *arguments)
    assert done.code == 0
    assert json.loads(done.out)["similarity"] == 0.8
    assert not Path("out.jsonl").exists()
    assert Path("mine.jsonl").read_text() == LINES[0] + LINES[1]


def test_lists_in_the_file(run: Run, source: Path) -> None:
    Path("more.jsonl").write_text(json.dumps({"head": TEXT, "text": "x y z"}) + "\n")
    Path("old.jsonl").write_text(LINES[1])
    Path("job.toml").write_text(
        'input = ["in.jsonl", "more.jsonl"]\nagainst = ["old.jsonl"]\nout = "out.jsonl"\n'
        'text_column = ["head", "text"]\njson = true\nquiet = true\n'
    )
    done = run("dedup", "--config", "job.toml")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["read"], found["reference"], found["removed"]) == (5, 1, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('simlarity = 0.9\nout = "o.jsonl"', "no option 'simlarity'; there are "),
        ("config = 1", "no option 'config'"),
        ("similarity 0.9", "not TOML: "),
        ("\udcff", "not TOML: "),
        ('out = "o.jsonl"\nsimilarity = "much"', "similarity is 'much'; it must be a number"),
        ('out = "o.jsonl"\nsimilarity = true', "similarity is true; it must be a number"),
        ('out = "o.jsonl"\nstrict = "no"', "strict is 'no'; it must be true or false"),
        ('out = "o.jsonl"\nbits = 64.0', "bits is 64.0; it must be a whole number"),
        ('out = "o.jsonl"\ntext-column = ["text", 1]', "it must be a string or a list of strings"),
        ('out = "o.jsonl"\nthreads = 0', "'--threads'"),
        ('out = "o.jsonl"\nlines = "maybe"', "lines is 'maybe'; it must be true or false"),
        ('out = "o.jsonl"\nkeep = 3', "keep is 3; it must be a string"),
        ("out = 3", "out is 3; it must be a string"),
    ],
)
def test_a_bad_file_of_options_is_wrong_usage(
    run: Run, source: Path, content: str, message: str
) -> None:
    Path("job.toml").write_bytes(content.encode(errors="surrogateescape"))
    done = run("dedup", "in.jsonl", "--config", "job.toml")
    assert done.code == 2, done.err
    assert message in done.err
    assert not Path("o.jsonl").exists()


def test_a_file_of_options_that_is_not_there(run: Run, source: Path) -> None:
    done = run("dedup", "in.jsonl", "-o", "o.jsonl", "--config", "no.toml")
    assert done.code == 2
    assert "no.toml: No such file" in done.err


# ---- exit codes ----


def test_unreadable_records_are_reported_and_give_exit_code_3(run: Run, source: Path) -> None:
    with source.open("a") as file:
        file.write("bad\n[1]\n")
    done = run("dedup", "in.jsonl", "-o", "o.jsonl")
    assert done.code == 3
    assert "neardup: in.jsonl:4: not JSON" in done.err
    assert "neardup: in.jsonl:5: expected an object, got a list" in done.err
    assert "unreadable 2" in done.err
    assert "wrote o.jsonl, o.quarantine.jsonl" in done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_quiet_leaves_what_cannot_be_read_to_the_quarantine(
    run: Run, source: Path, command: str
) -> None:
    with source.open("a") as file:
        file.write("bad\n[1]\n")
    assert run(command, "in.jsonl", "-o", "o.jsonl", "-q") == (3, "", "")
    assert [row["line"] for row in corpora.rows(Path("o.quarantine.jsonl"))] == [4, 5]
    done = run(command, "in.jsonl", "-o", "o.jsonl", "-q", "--strict")
    assert done.code == 3
    assert done.err.startswith("neardup: 2 records could not be read, the first is in.jsonl:4: ")


def test_a_warning_is_a_line_unless_quiet(
    run: Run, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.jobs.sample.MIN_RECORDS", 2)
    monkeypatch.setattr("neardup.jobs.sample.LONG_SECONDS", 0.0)
    arguments = ("dedup", "in.jsonl", "-o", "o.jsonl", "--recall", "1")
    warning = "neardup: warning: similarity 0.85 with 3 records like these takes about 0 s; "
    assert warning in run(*arguments).err
    assert run(*arguments, "-q") == (0, "", "")


def test_interrupted_gives_130(run: Run, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("neardup.jobs.dedup", stop)
    done = run("dedup", "in.jsonl", "-o", "o.jsonl", "--work-dir", "work")
    assert done.code == 130
    assert done.err == (
        "neardup: interrupted; nothing was written; to continue, run the same command with "
        "--resume (intermediate files are in work)\n"
    )


def test_an_unexpected_error_is_one_line(
    run: Run, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("odd\nvery odd")

    monkeypatch.setattr("neardup.jobs.dedup", fail)
    done = run("dedup", "in.jsonl", "-o", "o.jsonl")
    assert done.code == 1
    assert done.err.startswith("neardup: unexpected RuntimeError: odd very odd (neardup 0.")
    assert "please report this line" in done.err
    assert done.err.count("\n") == 1
    monkeypatch.setenv("NEARDUP_DEBUG", "1")
    done = run("dedup", "in.jsonl", "-o", "o.jsonl")
    assert "Traceback" in done.err
    assert "RuntimeError: odd" in done.err


# ---- inputs ----


def test_standard_input(run: Run, source: Path) -> None:
    data = source.read_bytes()
    done = run("dedup", "-", "--format", "jsonl", "-o", "out.jsonl", "-q", stdin=data)
    assert done == (0, "", "")
    assert Path("out.jsonl").read_text() == LINES[0] + LINES[1]
    done = run("cluster", "-", "--lines", "-o", "c.jsonl", "-q", stdin=f"{TEXT}\n{TEXT}".encode())
    assert done.code == 0
    assert [row["id"] for row in corpora.rows(Path("c.jsonl"))] == ["stdin:1", "stdin:2"]


def test_patterns_and_folders(run: Run, source: Path) -> None:
    for name in ("x/1.jsonl", "x/deep/2.jsonl", "x/.hidden.jsonl", "y/3.jsonl", "y/notes.pdf"):
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"text": f"{TEXT} {name} {name} {name}"}) + "\n")
    done = run("cluster", "x", "y/*.jsonl", "in.json?", "in.jsonl", "-o", "c.jsonl", "-q")
    assert done.code == 0, done.err
    ids = [row["id"] for row in corpora.rows(Path("c.jsonl"))]
    assert ids == ["x/1.jsonl:1", "x/deep/2.jsonl:1", "y/3.jsonl:1", "a", "b", "c"]
    done = run("cluster", "z*.jsonl", "-o", "c.jsonl")
    assert done.code == 2
    assert "z*.jsonl: no file matches this pattern" in done.err


def test_against_and_columns(run: Run, source: Path) -> None:
    Path("new.csv").write_text(f"key,body\n1,{TEXT}\n2,{OTHER} {OTHER} twice\n3,ok\n")
    Path("old.csv").write_text(f"key,body\n9,{TEXT}\n")
    done = run(
        *("dedup", "new.csv", "--against", "old.csv", "-o", "out.csv", "--removed", "r.jsonl"),
        *("--text-column", "body", "--id-column", "key"),
    )
    assert done.code == 0, done.err
    assert "read 4 records, 1 of them to compare with" in done.err
    assert Path("out.csv").read_text() == f"key,body\n2,{OTHER} {OTHER} twice\n3,ok\n"
    (row,) = corpora.rows(Path("r.jsonl"))
    assert (row["id"], row["dup_of"]) == ("1", "9")


def test_foreign_text_on_the_terminal_is_escaped(run: Run, source: Path) -> None:
    name = "\x1b[31mred\u202e.jsonl"
    Path(name).write_text("bad\n")
    done = run("dedup", name, "-o", "out.jsonl")
    assert done.code == 1
    assert "not JSON" in done.err
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err


def test_the_same_answer_by_command_and_by_function(run: Run, tmp_path: Path) -> None:
    records = corpora.records_of(5)
    source = corpora.write(tmp_path / "in.csv", records, "csv")
    options = ("--similarity", "0.8", "--keep", "best:n", "--linkage", "star", "--bits", "64")
    assert run("dedup", source, "-o", tmp_path / "a.csv", "-q", *options).code == 0
    asked = jobs.Options(0.8, keep="best:n", linkage="star", recipe=nd.Recipe(bits=64))
    jobs.dedup([str(source)], tmp_path / "b.csv", asked)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
@pytest.mark.parametrize("job", COMMANDS)
def test_a_terminal_sees_how_far_the_work_is(tmp_path: Path, source: Path, job: str) -> None:
    import pty

    out = tmp_path / "out.jsonl"
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from neardup.cli import main; main()", job, str(source)]
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        process = subprocess.Popen(
            [*command, "-o", str(out)], stdout=theirs, stderr=theirs, close_fds=True
        )
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the end of a terminal is an error on Linux
            while data := terminal.read(4096):
                shown += data
    assert process.wait() == 0
    assert out.exists()
    assert b"reading" in shown
    assert b"comparing" in shown
    assert b"wrote" in shown
