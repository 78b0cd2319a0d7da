"""Documents as people have them, in every command that reads files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers import document_files

SOUP = (
    "Rinse the lentils until the water runs clear and chop the onion and the carrots as small as "
    "you like them, then warm the oil in a heavy pot and let the onion turn soft and golden."
)
NOTICE = (
    "Harbour Street will be closed to all traffic between the customs house and the fish market "
    "from Monday until Friday while crews replace the old water main under the road."
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same text in every format, and another one in two."""
    made = tmp_path / "class"
    made.mkdir()
    words = SOUP.split()
    lines = [" ".join(words[at : at + 8]) for at in range(0, len(words), 8)]
    files = {
        "a.txt": SOUP.encode(),
        "b.html": document_files.html(f"<h1>Soup</h1><p>{SOUP}</p><script>no()</script>"),
        "c.docx": document_files.docx(document_files.word_paragraphs(SOUP)),
        "d.odt": document_files.odt(f"<text:p>{SOUP}</text:p>"),
        "e.epub": document_files.epub({"a.xhtml": f"<p>{SOUP}</p>"}),
        "f.rtf": document_files.rtf(SOUP + r"\par"),
        "g.pdf": document_files.pdf([document_files.paragraphs_at([lines])]),
        "h.docx": document_files.docx(document_files.word_paragraphs(NOTICE)),
        "i.pdf": document_files.pdf([document_files.paragraphs_at([[NOTICE]])]),
    }
    for name, data in files.items():
        (made / name).write_bytes(data)
    return made


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_dedup_keeps_texts_of_any_format_together(
    run: Callable[..., Any], folder: Path, tmp_path: Path
) -> None:
    out, removed = tmp_path / "kept.jsonl", tmp_path / "removed.jsonl"
    ran = run("dedup", folder, "-o", out, "--removed", removed)
    assert (ran.code, ran.out) == (0, "")
    assert rows(out) == [
        {"id": str(folder / "a.txt"), "text": SOUP},
        {"id": str(folder / "h.docx"), "text": NOTICE},
    ]
    gone = [(Path(row["id"]).name, Path(row["dup_of"]).name) for row in rows(removed)]
    assert gone == [
        (f"{name}", "a.txt") for name in ["b.html", "c.docx", "d.odt", "e.epub", "f.rtf", "g.pdf"]
    ] + [("i.pdf", "h.docx")]


def test_a_kept_page_is_its_visible_text(
    run: Callable[..., Any], folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "kept.csv"
    assert run("dedup", folder / "b.html", "-o", out).code == 0
    assert out.read_text("utf-8").splitlines()[0] == "id,text"
    assert "no()" not in out.read_text("utf-8")
    ran = run("dedup", folder / "b.html", "-o", tmp_path / "kept.html")
    assert ran.code == 2
    assert "the inputs are whole texts, and they are written as a table of ids" in ran.err.replace(
        "\n", " "
    )


def test_documents_and_records_are_not_kept_in_one_file(
    run: Callable[..., Any], folder: Path, tmp_path: Path
) -> None:
    (folder / "z.jsonl").write_text(json.dumps({"text": SOUP}) + "\n")
    ran = run("dedup", folder, "-o", tmp_path / "kept.jsonl")
    assert ran.code == 2
    assert "run once per format" in " ".join(ran.err.split())


def test_pairs_and_cluster(run: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    pairs, clusters = tmp_path / "pairs.jsonl", tmp_path / "clusters.jsonl"
    assert run("pairs", folder, "-o", pairs).code == 0
    assert len(rows(pairs)) == 7 * 6 // 2 + 1
    assert run("cluster", folder, "-o", clusters).code == 0
    assert [row["size"] for row in rows(clusters)] == [7] * 7 + [2] * 2


def test_fingerprint(run: Callable[..., Any], folder: Path) -> None:
    ran = run("fingerprint", folder / "a.txt", folder / "c.docx", folder / "d.odt", "--quiet")
    codes = {line.split("\t")[1] for line in ran.out.splitlines()}
    assert (ran.code, len(codes)) == (0, 1)


def test_a_collection(run: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "seen.neardup"
    assert run("index", "create", path).code == 0
    ran = run("index", "add", path, folder, "--unless-duplicate", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["added"] == 2
    ran = run("index", "check", path, folder / "g.pdf")
    assert ran.code == 0
    assert str(folder / "a.txt") in ran.out


def test_compare_and_explain(run: Callable[..., Any], folder: Path) -> None:
    ran = run("compare", folder / "c.docx", folder / "g.pdf", "--json")
    assert (ran.code, json.loads(ran.out)["verdict"]) == (0, "identical")
    assert run("explain", folder / "f.rtf", "--json").code == 0


def test_filter_says_what_to_use(run: Callable[..., Any], folder: Path) -> None:
    ran = run("filter", folder / "c.docx")
    assert ran.code == 2
    told = " ".join(ran.err.replace("│", " ").split())
    assert "is one document (Word documents), and filter reads records line by line" in told
    assert "neardup index add --unless-duplicate, or neardup dedup" in told


def test_what_cannot_be_read_is_quarantined_and_counted(
    run: Callable[..., Any], folder: Path, tmp_path: Path
) -> None:
    (folder / "scan.pdf").write_bytes(document_files.pdf([b""]))
    (folder / "cut.docx").write_bytes((folder / "c.docx").read_bytes()[:200])
    (folder / "old.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100))
    out = tmp_path / "kept.jsonl"
    ran = run("dedup", folder, "-o", out)
    assert ran.code == 3
    assert "unreadable 3" in ran.err
    bad = {Path(row["source"]).name: row for row in rows(tmp_path / "kept.quarantine.jsonl")}
    assert set(bad) == {"scan.pdf", "cut.docx", "old.docx"}
    assert {row["line"] for row in bad.values()} == {None}
    assert "has no text in its 1 page" in bad["scan.pdf"]["reason"]
    assert "is damaged or truncated" in bad["cut.docx"]["reason"]
    assert "97–2003 document (.doc)" in bad["old.docx"]["reason"]
    strict = tmp_path / "strict.jsonl"
    assert run("dedup", folder, "-o", strict, "--strict").code == 3
    assert not strict.exists()


def test_compare_says_why_there_is_no_text(run: Callable[..., Any], tmp_path: Path) -> None:
    scan = tmp_path / "scan.pdf"
    scan.write_bytes(document_files.pdf([b""]))
    ran = run("compare", scan, scan)
    assert ran.code == 1
    assert "scan.pdf: has no text in its 1 page: they are empty, or drawn; run OCR" in ran.err
