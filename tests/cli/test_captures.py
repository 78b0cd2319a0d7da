"""Captures of HTTP responses on the command line, as a user meets them."""

import base64
import csv
import gzip
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers import httpx_captures

Run = Callable[..., Any]


@pytest.fixture
def scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return httpx_captures.write(Path("scan.jsonl"), httpx_captures.mixed())


def har(path: Path, rows: list[dict[str, Any]]) -> Path:
    entries = [
        {
            "request": {"url": row["url"], "method": "GET"},
            "response": {
                "status": row["status_code"],
                "headers": [
                    {"name": "Server", "value": row["webserver"]},
                    {"name": "Content-Type", "value": row["content_type"]},
                ],
                "content": {"mimeType": row["content_type"], "text": row["body"]},
            },
        }
        for row in rows
    ]
    content = json.dumps({"log": {"version": "1.2", "entries": entries}}).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def table(path: str) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_cluster_says_how_many_kinds_there_are(run: Run, scan: Path) -> None:
    done = run("cluster", scan, "--as", "http", "-o", "all.csv", "--kinds", "kinds.csv")
    assert done.code == 0, done.err
    assert "17 responses of 5 kinds; 1 kind has one response, unreadable 0" in done.err
    assert "wrote all.csv, kinds.csv" in done.err
    assert [int(row["size"]) for row in table("kinds.csv")] == httpx_captures.KINDS
    rows = table("all.csv")
    facts = ["url", "status", "title", "server", "length"]
    assert list(rows[0])[4:] == [*facts, "differs", "lost"]
    assert len(rows) == 17


def test_the_summary_in_json(run: Run, scan: Path) -> None:
    done = run("cluster", scan, "--as", "http", "-o", "all.csv", "--json", "--quiet")
    found = json.loads(done.out)
    assert (found["kinds"], found["alone"], found["read"]) == (5, 1, 17)
    assert "tokens=http" in found["recipe"]


@pytest.mark.parametrize("name", ["site.har", "site.HAR", "site.har.gz"])
def test_names_of_captures_tell_what_they_are(run: Run, scan: Path, name: str) -> None:
    har(Path(name), httpx_captures.mixed())
    done = run("cluster", name, "-o", "all.csv")
    assert done.code == 0, done.err
    assert f"note: {name} is a capture of HTTP responses, and read as such (--as http)" in done.err
    assert {int(row["size"]) for row in table("all.csv")} == set(httpx_captures.KINDS)
    for said in (["--as", "http"], ["--format", "har"]):
        assert "note" not in run("cluster", name, "-o", "all.csv", *said).err
    assert run("cluster", name, "-o", "all.csv", "--quiet").err == ""


def test_several_captures_are_reported_at_once(run: Run, scan: Path) -> None:
    Path("folder").mkdir()
    for name in "ab":
        har(Path("folder") / f"{name}.har", httpx_captures.mixed())
    done = run("cluster", "folder", "-o", "all.csv")
    assert "folder/a.har and 1 more are captures of HTTP responses" in done.err
    assert len(table("all.csv")) == 34


def test_captures_and_texts_are_not_mixed(run: Run, scan: Path) -> None:
    har(Path("site.har"), httpx_captures.mixed())
    done = run("cluster", "site.har", scan, "-o", "all.csv")
    assert done.code == 2
    assert "site.har is a capture of HTTP responses by its name, and scan.jsonl is not" in done.err
    assert "--as http" in done.err
    done = run("cluster", "site.har", scan, "-o", "all.csv", "--as", "http")
    assert done.code == 0, done.err
    # The same pages from both files are of the same kinds.
    assert {int(row["size"]) for row in table("all.csv")} == {
        2 * size for size in httpx_captures.KINDS
    }


def test_a_folder_of_texts_may_have_a_capture_in_it(run: Run, scan: Path) -> None:
    Path("folder").mkdir()
    Path("folder/a.txt").write_text("some text of a folder")
    har(Path("folder/site.har"), httpx_captures.mixed())
    done = run("cluster", "folder", "-o", "all.csv")
    assert done.code == 0, done.err
    assert "folder/: skipped 1 file: 1 .har; --as http reads captures" in done.err
    assert [row["id"] for row in table("all.csv")] == ["folder/a.txt"]


def test_within_what_is_not_there_names_what_is(run: Run, scan: Path) -> None:
    done = run("cluster", scan, "--as", "http", "-o", "all.csv", "--within", "hots")
    assert done.code == 1
    assert "within is 'hots', and no response has it; there are url, host, ip, status" in done.err
    assert "webserver" in done.err


def test_options_from_a_file(run: Run, scan: Path) -> None:
    Path("job.toml").write_text(
        'input = "scan.jsonl"\nout = "all.csv"\nas = "http"\nwithin = "host"\nno-mask = "ips"\n'
    )
    done = run("cluster", "--config", "job.toml")
    assert done.code == 0, done.err
    assert len({row["cluster"] for row in table("all.csv")}) == 8


def test_without_masks_pages_differ(run: Run, scan: Path) -> None:
    masked = run("pairs", scan, "--as", "http", "-o", "a.jsonl", "--similarity", "1", "--json")
    bare = ("--no-mask", "all")
    plain = run(
        "pairs", scan, "--as", "http", "-o", "b.jsonl", "--similarity", "1", "--json", *bare
    )
    assert json.loads(masked.out)["exact"] > json.loads(plain.out)["exact"]
    assert "masks" in json.loads(plain.out)["recipe"]


def test_pairs(run: Run, scan: Path) -> None:
    done = run("pairs", scan, "--as", "http", "-o", "pairs.csv", "--id-column", "url")
    assert done.code == 0, done.err
    assert len(table("pairs.csv")) == sum(n * (n - 1) // 2 for n in httpx_captures.KINDS)
    assert table("pairs.csv")[0]["left"].startswith("https://")


def test_dedup_keeps_lines_byte_for_byte(run: Run, scan: Path) -> None:
    lines = scan.read_bytes().splitlines(keepends=True)
    lines[0] = b"  " + lines[0].replace(b'", "', b'",  "')
    scan.write_bytes(b"".join(lines))
    done = run("dedup", scan, "--as", "http", "-o", "kept.jsonl", "--removed", "gone.jsonl")
    assert done.code == 0, done.err
    kept = Path("kept.jsonl").read_bytes().splitlines(keepends=True)
    assert len(kept) == len(httpx_captures.KINDS)
    assert set(kept) <= set(lines)
    assert kept[0] == lines[0]
    gone = [json.loads(line) for line in Path("gone.jsonl").read_text().splitlines()]
    assert len(gone) == 17 - len(kept)
    assert {row["source"] for row in gone} == {"scan.jsonl"}


def test_dedup_within_a_host(run: Run, scan: Path) -> None:
    run("dedup", scan, "--as", "http", "-o", "kept.jsonl", "--within", "host")
    assert len(Path("kept.jsonl").read_bytes().splitlines()) == 8


def test_fingerprint(run: Run, scan: Path) -> None:
    done = run("fingerprint", scan, "--as", "http", "--id-column", "url")
    assert done.code == 0, done.err
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert len(rows) == 17
    assert len({code for _, code in rows}) >= 4
    done = run("fingerprint", "-", "--as", "http", stdin=scan.read_bytes())
    assert [line.split("\t")[1] for line in done.out.splitlines()] == [code for _, code in rows]
    assert done.out.startswith("stdin:1\t")


def test_search_finds_the_same_kind(run: Run, scan: Path) -> None:
    httpx_captures.write(Path("one.jsonl"), [httpx_captures.shop(77)])
    done = run("search", "one.jsonl", "--in", scan, "--as", "http", "-n", 5, "--json")
    assert done.code == 0, done.err
    found = [json.loads(line) for line in done.out.splitlines()]
    assert {row["id"] for row in found} == {f"scan.jsonl:{n}" for n in range(7, 12)}
    done = run("search", "--text", "the willow flowers", "--in", scan, "--as", "http", "--json")
    assert json.loads(done.out.splitlines()[0])["id"] == "scan.jsonl:17"
    done = run("search", scan, "--in", scan, "--as", "http", "--json")
    assert "has more than one response; the first one is searched for" in done.err


def test_check_compares_what_people_read(run: Run, scan: Path) -> None:
    page = httpx_captures.BLOG.replace("<title>Notes on bees</title>", "<title>My bees</title>")
    page = page.replace('class="post"', 'class="x y"').replace("<aside>", "<aside><p>Mine</p>")
    copy = httpx_captures.write(
        Path("copy.jsonl"), [httpx_captures.line("https://copy.test/", page)]
    )
    done = run("check", copy, "--against", scan, "--as", "http", "--json")
    assert done.code == 0, done.err
    (document,) = json.loads(done.out)["findings"]
    assert document["share"] > 0.7
    assert {source["source"] for source in document["sources"]} == {"scan.jsonl:17"}


def test_a_collection_of_responses(run: Run, scan: Path) -> None:
    assert run("index", "create", "seen.neardup", "--as", "http").code == 0
    done = run("index", "add", "seen.neardup", scan, "--as", "http", "--id-column", "url")
    assert "added 17" in done.err, done.err
    run("index", "export", "seen.neardup", "-o", "out.jsonl")
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    first = next(row for row in rows if row["id"] == "https://h0.test/x0")
    assert first["metadata"] == {
        "url": "https://h0.test/x0",
        "status": 404,
        "title": "404 Not Found",
        "server": "nginx",
    }
    assert first["text"].startswith("status 404\nheader ")
    httpx_captures.write(
        Path("new.jsonl"), [httpx_captures.shop(99), httpx_captures.line("https://n.test/", "<p>x")]
    )
    done = run("index", "check", "seen.neardup", "new.jsonl", "--as", "http", "--json")
    found = [json.loads(line) for line in done.out.splitlines()]
    assert {row["query"] for row in found} == {"new.jsonl:1"}
    assert len(found) == 5
    done = run("search", "new.jsonl", "--in", "seen.neardup", "--as", "http", "--json")
    assert json.loads(done.out.splitlines()[0])["id"].startswith("https://shop.test/")
    again = ("--as", "http", "--unless-duplicate")
    done = run("index", "add", "seen.neardup", "new.jsonl", *again)
    assert "added 1, updated 0, duplicates 1" in done.err
    bare = run("index", "add", "seen.neardup", "new.jsonl", "--as", "http", "--no-metadata")
    assert bare.code == 0


def test_a_collection_of_texts_takes_no_responses(run: Run, scan: Path) -> None:
    run("index", "create", "texts.neardup")
    for command in (["index", "add", "texts.neardup"], ["index", "check", "texts.neardup"]):
        done = run(*command, scan, "--as", "http")
        assert done.code == 2
        assert "the collection is one of texts" in done.err
        assert "neardup index create NAME.neardup --as http" in done.err
    done = run("search", scan, "--in", "texts.neardup", "--as", "http")
    assert "the collection is one of texts" in done.err
    done = run("filter", scan, "--in", "texts.neardup", "--as", "http")
    assert (done.code, "the collection has texts" in done.err) == (2, True)
    run("index", "create", "http.neardup", "--as", "http", "--no-mask", "ips")
    Path("t.jsonl").write_text('{"text": "one two three four"}\n')
    done = run("index", "add", "http.neardup", "t.jsonl")
    assert "add --as http if they are captures" in done.err
    assert run("search", scan, "--in", "http.neardup", "--as", "http", "--no-mask", "ips").code == 2


def test_a_new_collection_has_the_recipe_asked_for(run: Run, scan: Path) -> None:
    done = run("index", "create", "a.neardup", "--recipe", "default", "--as", "http")
    assert "'default' is a recipe for texts" in done.err
    assert run("index", "create", "b.neardup", "--no-mask", "ips").code == 2
    done = run("index", "create", "c.neardup", "--recipe", "http", "--no-mask", "ips", "--json")
    assert done.code == 0, done.err


# ---- filter ----


def test_filter_passes_one_of_each_kind(run: Run, scan: Path) -> None:
    done = run("filter", scan, "--as", "http", "--seen", "gone.jsonl", "--id-column", "url")
    assert done.code == 0, done.err
    lines = scan.read_text().splitlines()
    assert done.out.splitlines() == [lines[at] for at in (0, 6, 11, 14, 16)]
    assert "read 17, passed on 5, seen before 12, unreadable 0" in done.err
    gone = [json.loads(line) for line in Path("gone.jsonl").read_text().splitlines()]
    assert gone[0]["id"] == "https://h1.test/x1"
    assert gone[0]["dup_of"] == "https://h0.test/x0"


def test_filter_remembers_in_a_collection_of_responses(run: Run, scan: Path) -> None:
    lines = scan.read_bytes().splitlines(keepends=True)
    first = run("filter", "--as", "http", "--in", "seen.neardup", stdin=b"".join(lines[:8]))
    assert len(first.out.splitlines()) == 2, first.err
    rest = run("filter", "--as", "http", "--in", "seen.neardup", stdin=b"".join(lines[8:]))
    assert len(rest.out.splitlines()) == 3, rest.err
    done = run("filter", "--as", "http", "--in", "seen.neardup", "--recipe", "http-text")
    assert done.code != 0


def test_filter_tells_what_cannot_be_read(run: Run, scan: Path) -> None:
    lines = scan.read_bytes().splitlines(keepends=True)
    given = [b"\n", b"junk\n", b'{"a": 1}\n', b"\xff\n", lines[0], lines[1]]
    done = run("filter", "--as", "http", stdin=b"".join(given))
    assert done.code == 3
    assert done.out.encode() == lines[0]
    assert "read 2, passed on 1, seen before 1, unreadable 3" in done.err
    assert "stdin:2: not JSON" in done.err
    assert "stdin:3: not a result of httpx" in done.err
    strict = run("filter", "--as", "http", "--strict", stdin=lines[16] + b"junk\n" + lines[0])
    assert strict.code == 3
    assert strict.out.encode() == lines[16]


def test_filter_tells_that_bodies_are_missing(run: Run, scan: Path) -> None:
    rows = [httpx_captures.blog(), httpx_captures.not_found(1)]
    for row in rows:
        del row["body"]
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    done = run("filter", "--as", "http", stdin=data)
    assert "httpx ran without -irr" in done.err
    assert len(done.out.splitlines()) == 2


@pytest.mark.parametrize("shape", ["stored", "base64", "chain"])
def test_filter_finds_bodies_wherever_httpx_put_them(run: Run, scan: Path, shape: str) -> None:
    given = b""
    for row in (httpx_captures.blog(), httpx_captures.not_found(1), httpx_captures.not_found(2)):
        body = row.pop("body")
        message = f"HTTP/1.1 {row['status_code']} OK\r\nServer: nginx\r\n\r\n{body}".encode()
        if shape == "stored":
            path = Path(f"{len(given)}.txt")
            path.write_bytes(message)
            row["stored_response_path"] = str(path)
        elif shape == "base64":
            row["raw_header"] = base64.b64encode(message.partition(b"\r\n\r\n")[0]).decode()
            row["body"] = base64.b64encode(body.encode()).decode()
        else:
            row["chain"] = [{"response": message.decode()}]
        given += json.dumps(row).encode() + b"\n"
    done = run("filter", "--as", "http", stdin=given)
    assert done.code == 0, done.err
    assert done.out.encode() == b"".join(given.splitlines(keepends=True)[:2])
    assert "without -irr" not in done.err


def test_filter_calls_records_by_their_titles(run: Run, scan: Path) -> None:
    rows = [httpx_captures.blog() | {"body": "<title>Mine</title><p>One two three.</p>"}] * 2
    given = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    run("filter", "--as", "http", "--seen", "gone.jsonl", "--id-column", "title", stdin=given)
    (gone,) = map(json.loads, Path("gone.jsonl").read_text().splitlines())
    assert (gone["id"], gone["dup_of"]) == ("Mine", "Mine")


@pytest.mark.parametrize(
    ("line", "scanner"),
    [
        (
            b'{"type":"response","url":"http://a/","path":"/","wildcard":false,"status":200,'
            b'"content_length":1,"line_count":1,"word_count":1}\n',
            "feroxbuster",
        ),
        (b'{"input":{"FUZZ":"eA=="},"position":1,"status":200,"url":"http://a/x"}\n', "ffuf"),
        (b'{"input":{"FUZZ":"eA=="},"position":1,"status":200}\n', "ffuf"),
    ],
)
def test_filter_refuses_results_of_other_scanners(
    run: Run, scan: Path, line: bytes, scanner: str
) -> None:
    done = run("filter", "--as", "http", stdin=line)
    assert done.out == ""
    assert f"stdin:1: is JSON of {scanner}, which has no responses in it" in done.err
    assert "save responses with httpx -irr -json" in done.err


def test_filter_takes_no_whole_capture(run: Run, scan: Path) -> None:
    har(Path("site.har"), httpx_captures.mixed())
    done = run("filter", "site.har", "--as", "http")
    assert done.code == 2
    assert "filter reads lines; use neardup dedup --as http" in done.err


def test_filter_never_waits_for_more_than_is_there(scan: Path) -> None:
    lines = scan.read_bytes().splitlines(keepends=True)
    with subprocess.Popen(
        [sys.executable, "-m", "neardup", "filter", "--as", "http"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as ran:
        assert ran.stdin is not None
        assert ran.stdout is not None
        for line in (lines[0], lines[6], lines[16]):
            ran.stdin.write(line)
            ran.stdin.flush()
            deadline, found = time.monotonic() + 50, b""
            while not found.endswith(b"\n") and time.monotonic() < deadline:
                if select.select([ran.stdout], [], [], 1)[0]:
                    found += os.read(ran.stdout.fileno(), 1 << 16)
            assert found == line
        # Half a line is none yet, and what is seen before gives nothing.
        ran.stdin.write(lines[1] + lines[11][:20])
        ran.stdin.flush()
        assert not select.select([ran.stdout], [], [], 1)[0]
        ran.stdin.write(lines[11][20:])
        ran.stdin.close()
        assert ran.stdout.read() == lines[11]
    assert ran.returncode == 0


# ---- http ----


def test_preview(run: Run, scan: Path) -> None:
    done = run("http", "preview", scan)
    assert done.code == 0, done.err
    assert "scan.jsonl:1  https://h0.test/x0" in done.out
    assert "label: not found (rule not-found: The status says" in done.out
    assert "   status 404\n" in done.out
    assert "   title 404 Not Found\n" in done.out
    assert "scan.jsonl:3  " in done.out
    assert "scan.jsonl:4  " not in done.out


def test_preview_shows_masked_parts(run: Run, scan: Path) -> None:
    done = run("http", "preview", scan, "--at", 8, "--json")
    found = json.loads(done.out)
    assert (found["id"], found["number"], found["url"]) == (
        "scan.jsonl:8",
        8,
        "https://shop.test/item/1",
    )
    masked = {each["rule"]: each for each in found["masked"]}
    assert masked["dates"]["count"] >= 1
    assert any("2026-11-02" in text for text in masked["dates"]["originals"])
    assert "2026-11-02" not in "\n".join(found["view"])
    shown = run("http", "preview", scan, "--at", 8).out
    assert "masked:" in shown
    assert "2026-11-02" in shown.partition("masked:")[2]
    plain = json.loads(run("http", "preview", scan, "--at", 8, "--json", "--no-mask", "dates").out)
    assert "dates" not in {each["rule"] for each in plain["masked"]}
    assert "2026-11-02" in "\n".join(plain["view"])


def test_preview_by_another_recipe(run: Run, scan: Path) -> None:
    found = json.loads(run("http", "preview", scan, "-n", 1, "--recipe", "http-text", "--json").out)
    assert not any(line.startswith(("status", "header", "tags")) for line in found["view"])
    assert found["status"] == 404


def test_preview_of_hostile_pages_is_safe_lines(run: Run, scan: Path) -> None:
    page = "<title>\x1b[31mred</title><p>\u202eevil \x07bell words</p>" + "<p>more</p>" * 100
    rows = [httpx_captures.line("https://a.test/\x1b[2J", page, server="x\x1b]0;y\x07")]
    httpx_captures.write(Path("bad.jsonl"), rows)
    done = run("http", "preview", "bad.jsonl")
    assert done.code == 0, done.err
    assert not {"\x1b", "\x07", "\u202e"} & set(done.out)
    assert "more lines; --full shows them" in done.out
    assert len(run("http", "preview", "bad.jsonl", "--full").out.splitlines()) > 100


def test_preview_of_a_file_that_is_no_capture(run: Run, scan: Path) -> None:
    Path("plain.txt").write_text("nothing of the kind\n")
    done = run("http", "preview", "plain.txt")
    assert (done.code, "holds no HTTP responses" in done.err) == (1, True), done.err


def test_preview_tells_bad_records_and_goes_on(run: Run, scan: Path) -> None:
    Path("some.jsonl").write_bytes(scan.read_bytes().splitlines(keepends=True)[0] + b"junk\n")
    done = run("http", "preview", "some.jsonl")
    assert done.code == 3
    assert "some.jsonl:1  " in done.out
    assert "some.jsonl:2: not JSON" in done.err


def test_masks_and_labels_are_listed(run: Run) -> None:
    masks = run("http", "masks").out
    assert masks.splitlines()[0].startswith("dates ")
    assert set(json.loads(run("http", "masks", "--json").out)) >= {"dates", "echo", "tokens"}
    labels = run("http", "labels").out
    assert any(line.startswith("soft 404 ") for line in labels.splitlines())
    assert {"rule", "label", "why"} == set(json.loads(run("http", "labels", "--json").out)[0])


def test_unreadable_ones_of_a_kind_are_reported_together(run: Run, scan: Path) -> None:
    """Reasons that differ: what is true of all is said, and places are numbers."""
    failed = [{"url": "http://a/", "failed": True, "error": f"cause {n}"} for n in range(2)]
    text = "\n".join(map(json.dumps, failed))
    Path("failed.jsonl").write_text(f"{text}\n{scan.read_text('utf-8')}", "utf-8")
    ran = run("fingerprint", "failed.jsonl", "--as", "http", "-o", "codes.csv")
    assert ran.code == 3
    assert "neardup: failed.jsonl: no response in 2 records, first at number 1\n" in ran.err


@pytest.mark.parametrize("command", ["fingerprint", "filter"])
def test_results_of_httpx_read_as_texts_are_known(run: Run, scan: Path, command: str) -> None:
    ran = run(command, scan)
    assert ran.code != 0
    assert "no column 'text'" in ran.err
    assert "looks like results of httpx: add --as http" in ran.err
    Path("other.jsonl").write_text('{"url": "http://a/", "body": "b"}\n')
    assert "httpx" not in run(command, "other.jsonl").err


def test_captures_under_other_names_are_known(run: Run, scan: Path) -> None:
    Path("har.json").write_text('{"log": {"version": "1.2", "entries": []}}')
    assert "looks like HAR: add --as http" in run("fingerprint", "har.json").err
    Path("items.xml").write_text('<?xml version="1.0"?>\n<items burpVersion="2"></items>')
    ran = run("fingerprint", "items.xml")
    assert "items.xml looks like XML of Burp, and is read as one text; add --as http" in ran.err
    Path("menu.xml").write_text("<items><item>Soup</item></items>")
    assert "Burp" not in run("fingerprint", "menu.xml").err


def test_scanners_without_bodies_are_known_without_being_asked_for(run: Run, scan: Path) -> None:
    ferox = {"type": "response", "url": "http://a/", "wildcard": False, "line_count": 1}
    Path("ferox.json").write_text(json.dumps(ferox))
    Path("ffuf.json").write_text(json.dumps({"commandline": "ffuf -u FUZZ", "results": []}))
    for name, scanner in (("ferox.json", "feroxbuster"), ("ffuf.json", "ffuf")):
        for more in ([], ["--as", "http"]):
            ran = run("cluster", name, "-o", "out.jsonl", *more)
            assert ran.code == 1
            assert f"JSON of {scanner}, which has no responses in it" in ran.err
            assert "save responses with httpx -irr -json, as WARC, or as raw files" in ran.err


def test_kept_responses_are_called_so(run: Run, scan: Path) -> None:
    Path("s.har").write_text('{"log": {"version": "1.2", "entries": []}}')
    ran = run("dedup", "s.har", "-o", "d.har")
    assert ran.code != 0
    assert "the inputs are responses, and they are written as a table" in ran.err


def test_preview_and_list_take_rules_of_your_own(run: Run, scan: Path) -> None:
    Path("own.toml").write_text(
        "[[rule]]\nname='mine'\nlabel='ours'\nwhy='Any.'\nstatus=[0,'2xx','3xx','4xx','5xx']\n"
    )
    ran = run("http", "preview", scan, "-n", 1, "--labels", "own.toml", "--json")
    assert json.loads(ran.out)["label"] == "ours"
    listed = json.loads(run("http", "labels", "--labels", "own.toml", "--json").out)
    assert listed[0] == {"rule": "mine", "label": "ours", "why": "Any."}
    ran = run("http", "labels", "--labels", "missing.toml")
    assert ran.code == 1
    assert "missing.toml" in ran.err
