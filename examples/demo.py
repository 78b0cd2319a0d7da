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
SHOWN = 11
SIMILARITY = 0.85
# Of 128 bits: near-duplicates of that similarity lie within it in 99 of 100 cases.
RADIUS = 33

console = Console(highlight=False)


def main() -> None:
    lines = SAMPLE.read_text("utf-8").splitlines()
    texts = {record["id"]: record["text"] for record in map(json.loads, lines)}
    values = dict(zip(texts, nd.fingerprints(list(texts.values())), strict=True))
    show_fingerprints(texts, values)
    show_pairs(texts, values)
    show_comparison(texts, "recipe-lentil", "recipe-lentil-with-advert")
    show_explanation()
    console.rule("try next")
    print(".venv/bin/neardup compare examples/soup.txt examples/soup-with-advert.txt")
    print(".venv/bin/neardup explain --bits 8 --text 'your own words'")
    print(".venv/bin/neardup --help")


def step(number: int, title: str, says: str) -> None:
    console.print()
    console.rule(f"{number}. {title}")
    console.print(says, style="dim", soft_wrap=False)


def show_fingerprints(texts: dict[str, str], values: dict[str, int | None]) -> None:
    step(
        1,
        f"{len(texts)} documents become fingerprints",
        "A fingerprint is 128 bits, written as 32 hexadecimal digits. Texts that differ little get "
        "fingerprints that differ in few bits; capitals and punctuation make no difference.",
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("id", "begins", "fingerprint"):
        table.add_column(title, no_wrap=True)
    for name, text in list(texts.items())[:SHOWN]:
        table.add_row(name, escape(set_cell_size(" ".join(text.split()), 14)), digits(values[name]))
    console.print(table)
    without = [name for name, value in values.items() if value is None]
    console.print(
        f"[dim]Showing {SHOWN} of {len(texts)}. Too few words for a fingerprint: "
        f"{', '.join(without)} ({texts[without[0]]!r}).[/]"
    )


def show_pairs(texts: dict[str, str], values: dict[str, int | None]) -> None:
    step(
        2,
        "which of them are near-duplicates?",
        f"Pairs of fingerprints at most {RADIUS} bits apart are candidates. The exact similarity "
        f"of the two texts (1 = the same words) then decides: {SIMILARITY} or more.",
    )
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("left", "right"):
        table.add_column(title, no_wrap=True)
    table.add_column("bits apart", justify="right")
    table.add_column("similarity", justify="right")
    compared = found = candidates = 0
    for (left, a), (right, b) in combinations(values.items(), 2):
        if a is None or b is None:
            continue
        compared += 1
        distance = nd.distance(a, b)
        if distance > RADIUS:
            continue
        candidates += 1
        similarity = nd.similarity(texts[left], texts[right])
        near = similarity >= SIMILARITY
        found += near
        style = None if near else "yellow"
        verdict = f"{similarity:.3f}" + ("" if near else " no")
        table.add_row(left, right, str(distance), verdict, style=style)
    console.print(table)
    console.print(
        f"[dim]{compared} pairs of fingerprints, {candidates} candidates, {found} near.[/]"
    )


def show_comparison(texts: dict[str, str], left: str, right: str) -> None:
    step(
        3,
        "what do two of them share?",
        f"{left} and {right}, side by side: what both have, word for word.",
    )
    found = nd.compare(texts[left], texts[right], similarity=SIMILARITY)
    console.print(
        f"{found.verdict}: similarity {found.similarity:.3f}, {found.distance} bits apart, "
        f"{len(found.passages)} shared passages:"
    )
    for passage in found.passages:
        shared = " ".join(texts[left][passage.left_start : passage.left_end].split())
        console.print(f"  [green]{escape(shared[:34])} … {escape(shared[-34:])}[/]")


def show_explanation() -> None:
    step(
        4,
        "how does a text become bits?",
        "By a vote, here for a fingerprint of only 8 bits. Every word has a hash; each bit of it "
        "is a vote for 1 or for 0. Chinese has no spaces, so pairs of characters stand for words.",
    )
    print(nd.explain("the quick brown fox and 那只敏捷的狐狸", nd.Recipe(bits=8)))
    console.print()


def digits(value: int | None) -> str:
    return "[yellow]no signal[/]" if value is None else f"{value:0{nd.Recipe().bits // 4}x}"


if __name__ == "__main__":
    main()
