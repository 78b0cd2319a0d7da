"""Compare two texts, then deduplicate examples/sample.jsonl: `make demo`."""

import csv
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

import neardup as nd
from neardup import jobs

SAMPLE = Path(__file__).with_name("sample.jsonl")
FOLDER = Path(__file__).parents[1] / "demo"
# Removed records to print: enough to show all languages and kinds of edits.
SHOWN = 10

console = Console(highlight=False)


def main(folder: Path = FOLDER) -> None:
    lines = SAMPLE.read_text("utf-8").splitlines()
    texts = {record["id"]: record["text"] for record in map(json.loads, lines)}
    show_two_texts(texts, "recipe-lentil", "recipe-lentil-with-advert")
    folder.mkdir(exist_ok=True)
    show_job(folder)
    show_removed(folder / "removed.csv")
    show_files(folder)


def step(number: int, title: str, says: str) -> None:
    console.print()
    console.rule(f"{number}. {title}")
    console.print(says, style="dim", soft_wrap=False)


def columns(*titles: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in titles:
        table.add_column(title, no_wrap=True)
    return table


def show_two_texts(texts: dict[str, str], left: str, right: str) -> None:
    step(
        1,
        "fingerprints of two texts",
        "A fingerprint has 128 bits, written as 32 hexadecimal digits. Similar texts have "
        "fingerprints that differ in few bits.",
    )
    table = columns("id", "fingerprint")
    for name in (left, right):
        value = nd.fingerprint(texts[name])
        table.add_row(name, "no signal" if value is None else f"{value:032x}")
    console.print(table)
    found = nd.compare(texts[left], texts[right])
    console.print(
        f"[bold]{found.verdict}[/]: {found.distance} bits apart, similarity "
        f"{found.similarity:.3f} (1 = the same words), shared passages:"
    )
    for passage in found.passages:
        shared = " ".join(texts[left][passage.left_start : passage.left_end].split())
        console.print(f"  [green]{escape(shared[:34])} … {escape(shared[-34:])}[/]")


def show_job(folder: Path) -> None:
    step(
        2,
        "near-duplicates removed from a file",
        "Sketches of the texts find candidate pairs; the exact similarity decides. Kept records "
        "are copied byte for byte.",
    )
    there = shown(folder)
    console.print(f"neardup dedup {shown(SAMPLE)} -o {there}/kept.jsonl \\", style="bold")
    console.print(f"  --removed {there}/removed.csv --report {there}/report.html", style="bold")
    options = jobs.Options(removed=folder / "removed.csv", report=folder / "report.html")
    found = jobs.dedup([str(SAMPLE)], folder / "kept.jsonl", options)
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(justify="right", style="bold")
    table.add_column()
    table.add_row(str(found.read), f"records read, {found.unreadable} unreadable")
    table.add_row(str(found.no_signal), "with too few words for a fingerprint, kept")
    table.add_row(str(found.verified), f"candidate pairs verified, threshold {found.similarity:g}")
    table.add_row(str(found.clusters), "clusters of near-duplicates")
    table.add_row(str(found.removed), "records removed", style="yellow")
    table.add_row(str(found.kept), "records kept", style="green")
    console.print(table)


def show_removed(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    step(
        3,
        "removed records",
        "Each removed record names the record kept in its place. Case and punctuation make no "
        "difference; an advert, other dates or a new header make a small one.",
    )
    table = columns("removed", "near-duplicate of")
    table.add_column("bits apart", justify="right")
    table.add_column("similarity", justify="right")
    # Every other row: the sample is sorted by kind of text.
    chosen = rows[::2][:SHOWN]
    for row in chosen:
        similarity = f"{float(row['similarity']):.3f}"
        table.add_row(escape(row["id"]), escape(row["dup_of"]), row["distance"], similarity)
    console.print(table)
    console.print(f"[dim]Showing {len(chosen)} of {len(rows)}; all are in {shown(path)}.[/]")


def show_files(folder: Path) -> None:
    report = folder / "report.html"
    step(
        4,
        "the report",
        "One self-contained HTML page: counts, distances, and the texts of the largest clusters "
        "side by side with their differences marked. Open it in a browser:",
    )
    # Not wrapped, so that it can be copied.
    console.print(report.resolve().as_uri(), style="bold", soft_wrap=True)
    console.print()
    console.rule("try next")
    print(".venv/bin/neardup dedup YOUR.jsonl -o kept.jsonl --report report.html")
    print(".venv/bin/neardup compare examples/soup.txt examples/soup-with-advert.txt")
    print(".venv/bin/neardup explain --bits 8 --text 'your own words'")
    print(".venv/bin/neardup --help")


def shown(path: Path) -> str:
    """Return a path relative to the current folder if it is inside."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
