"""Fingerprints and comparisons of the small sample corpus beside this file: `make demo`."""

import json
from itertools import combinations
from pathlib import Path

from rich.cells import set_cell_size
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import neardup as nd

SAMPLE = Path(__file__).with_name("sample.jsonl")
SIMILARITY = 0.85
# Far enough to catch every pair of that similarity; the exact similarity then judges.
RADIUS = 36

console = Console(highlight=False)


def main() -> None:
    lines = SAMPLE.read_text("utf-8").splitlines()
    texts = {record["id"]: record["text"] for record in map(json.loads, lines)}
    values = dict(zip(texts, nd.fingerprints(list(texts.values())), strict=True))
    show_fingerprints(texts, values)
    show_pairs(texts, values)
    show_comparison(texts, "recipe-lentil", "recipe-lentil-with-advert")
    show_explanation()


def show_fingerprints(texts: dict[str, str], values: dict[str, int | None]) -> None:
    console.rule(f"{len(texts)} documents and their fingerprints")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("id", "begins", "fingerprint"):
        table.add_column(title, no_wrap=True)
    for name, text in texts.items():
        value = values[name]
        code = "[yellow]no signal[/]" if value is None else f"{value:0{nd.Recipe().bits // 4}x}"
        table.add_row(name, escape(set_cell_size(" ".join(text.split()), 14)), code)
    console.print(table)


def show_pairs(texts: dict[str, str], values: dict[str, int | None]) -> None:
    console.rule(f"near-duplicates: similarity at least {SIMILARITY}")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("left", "right"):
        table.add_column(title, no_wrap=True)
    table.add_column("bits apart", justify="right")
    table.add_column("similarity", justify="right")
    compared = judged = 0
    for (left, a), (right, b) in combinations(values.items(), 2):
        if a is None or b is None:
            continue
        compared += 1
        distance = nd.distance(a, b)
        if distance > RADIUS:
            continue
        judged += 1
        similarity = nd.similarity(texts[left], texts[right])
        if similarity >= SIMILARITY:
            table.add_row(left, right, str(distance), f"{similarity:.3f}")
    console.print(table)
    console.print(
        f"[dim]{compared} pairs of fingerprints, {judged} within {RADIUS} bits and so compared "
        f"exactly, {table.row_count} near[/]"
    )


def show_comparison(texts: dict[str, str], left: str, right: str) -> None:
    console.rule(f"{left} and {right}")
    found = nd.compare(texts[left], texts[right], similarity=SIMILARITY)
    console.print(
        f"{found.verdict}: similarity {found.similarity:.3f}, {found.distance} bits apart, "
        f"{len(found.passages)} shared passages:"
    )
    for passage in found.passages:
        shared = " ".join(texts[left][passage.left_start : passage.left_end].split())
        console.print(f"  [green]{escape(shared[:34])} … {escape(shared[-34:])}[/]")


def show_explanation() -> None:
    console.rule("how a fingerprint of 8 bits is voted")
    print(nd.explain("the quick brown fox and 那只敏捷的狐狸", nd.Recipe(bits=8)))


if __name__ == "__main__":
    main()
