"""Rows about captures of HTTP responses: `neardup cluster FILE.warc --as http` as it is called.

Speed is of uncompressed WARC a core: bytes of the file by the processor time of the command, its
start and all its processes and threads included.
"""

from __future__ import annotations

import dataclasses
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import peers
from jobs import NEARDUP, Run, launch
from measure import Row, at_least, megabytes, note

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from made_captures import Made, made
from made_captures.agreement import agreement, httpx_clusters
from made_captures.formats import warc_records

WORKER = Path(__file__).with_name("peer_captures.py")
# Pages of 20 to 150 kB, half of it rules and scripts, as pages are.
PAGE_SIZE = 10
PAGES, QUICK_PAGES = 2500, 400
ROUNDS, QUICK_ROUNDS = 3, 1
# The words of so many pages are what the slow one does in half a minute.
SLOW_PAGES = 150
SPEEDS = {"http-text": 60e6, "http": 25e6}
TIMES = 30
GROWTH, QUICK_GROWTH = (10**4, 10**5), (2000, 10**4)
FEW = 1000
GROWS = 1.5
MEMORY = 1e9


def rows(folder: Path, *, quick: bool) -> Iterator[Row]:
    """All rows of the section."""
    note("making large pages")
    pages = unpacked(made(0, count=QUICK_PAGES if quick else PAGES, size=PAGE_SIZE))
    path = _write(folder / "pages.warc", pages)
    few = _write(folder / "few.warc", pages[:SLOW_PAGES])
    rounds = QUICK_ROUNDS if quick else ROUNDS
    yield from _speeds(path, len(pages), rounds)
    yield from _against(few, rounds)
    yield from _growth(folder, quick=quick)
    yield from _quality(folder)


def unpacked(pages: Sequence[Made]) -> list[Made]:
    """As large crawls are stored: bodies as they are, whatever they were packed in."""
    packing = ("content-encoding", "transfer-encoding", "content-length")
    found = []
    for page in pages:
        kept = tuple(pair for pair in page.response.headers if pair[0].lower() not in packing)
        headers = (*kept, ("Content-Length", str(len(page.response.body))))
        response = dataclasses.replace(page.response, headers=headers)
        found.append(dataclasses.replace(page, response=response, coding=""))
    return found


def _write(path: Path, pages: Sequence[Made]) -> Path:
    with path.open("wb") as file:
        file.writelines(warc_records(pages))
    return path


def _cluster(path: Path, recipe: str = "http") -> Run:
    note(f"neardup cluster {path.name}, {recipe}")
    out = path.with_suffix(".clusters.jsonl")
    how = ["--as", "http", "--recipe", recipe, "--json", "--quiet"]
    return launch([NEARDUP, "cluster", path, "-o", out, *how])


def _peer(task: str, path: Path) -> Run:
    note(f"{task} {path.name}")
    return launch([peers.PYTHON, "-W", "ignore", WORKER, task, path])


def _speed(path: Path, run: Run) -> float:
    return path.stat().st_size / run.core_seconds


def _speeds(path: Path, count: int, rounds: int) -> Iterator[Row]:
    """Ours and the ceilings, by turns."""
    ours: dict[str, list[Run]] = {recipe: [] for recipe in SPEEDS}
    ceilings: dict[str, list[Run]] = {"fastwarc": [], "lexbor": []}
    for _ in range(rounds):
        for recipe, runs in ours.items():
            runs.append(_cluster(path, recipe))
        for task, runs in ceilings.items():
            runs.append(_peer(task, path))
    what = f"WARC to clusters, {path.stat().st_size / 1e6:,.0f} MB, {count:,} responses"
    names = {"fastwarc": "FastWARC reading alone", "lexbor": "that and lexbor parsing alone"}
    beside = ", ".join(
        f"{names[task]}: {megabytes(statistics.median(_speed(path, run) for run in runs))}"
        for task, runs in ceilings.items()
    )
    for recipe, runs in ours.items():
        speed = statistics.median(_speed(path, run) for run in runs)
        clock = statistics.median(run.seconds for run in runs)
        yield Row(
            f"{what}, recipe {recipe}, a core",
            f"{megabytes(speed)} of processor time; {clock:.3g} s by the clock: {runs[-1].stages}",
            beside,
            statistics.median(
                x.core_seconds / y.core_seconds
                for x, y in zip(ceilings["lexbor"], runs, strict=True)
            ),
            f"≥ {megabytes(SPEEDS[recipe])}",
            speed >= SPEEDS[recipe],
        )
    peak = max(run.peak for runs in ours.values() for run in runs)
    yield Row(
        f"{what}: peak memory",
        f"{peak / 1e6:,.0f} MB",
        target=f"< {MEMORY / 1e6:,.0f} MB",
        met=peak < MEMORY,
    )


def _against(path: Path, rounds: int) -> Iterator[Row]:
    """The start of the command counts, which is much of it where there is little to do."""
    for recipe in SPEEDS:
        pairs = [(_cluster(path, recipe), _peer("simhash", path)) for _ in range(rounds)]
        speeds = [[_speed(path, run) for run in runs] for runs in zip(*pairs, strict=True)]
        yield at_least(
            f"WARC to clusters, {path.stat().st_size / 1e6:.3g} MB, recipe {recipe}, a core",
            megabytes(statistics.median(speeds[0])),
            f"warcio and simhash.Simhash of words, no clusters: "
            f"{megabytes(statistics.median(speeds[1]))}",
            statistics.median(y.core_seconds / x.core_seconds for x, y in pairs),
            TIMES,
        )


def _growth(folder: Path, *, quick: bool) -> Iterator[Row]:
    """A response should cost the same however many there are; the start is taken off."""
    counts = QUICK_GROWTH if quick else GROWTH
    start = _cluster(_many(folder, FEW))
    smallest = 0.0
    for count in counts:
        path = _many(folder, count)
        run = _cluster(path)
        each = (run.core_seconds - start.core_seconds) / (count - FEW) * 1e6
        smallest = smallest or each
        last = count == counts[-1]
        yield Row(
            f"WARC to clusters, {count:,} responses of 5 kB, {path.stat().st_size / 1e6:,.0f} MB",
            f"{run.seconds:.3g} s ({run.stages}), {each:.3g} µs of a core for each beyond {FEW:,}",
            f"{counts[0]:,}: {smallest:.3g} µs" if last else "",
            each / smallest if last else None,
            f"≤ {GROWS:g}×" if last else "",
            each <= GROWS * smallest if last else None,
        )
        yield Row(
            f"WARC to clusters, {count:,} responses of 5 kB: peak memory",
            f"{run.peak / 1e6:,.0f} MB",
            target=f"< {MEMORY / 1e6:,.0f} MB",
            met=run.peak < MEMORY,
        )
        path.unlink()


def _many(folder: Path, count: int) -> Path:
    """So many responses, made in parts: a part is never in memory with another."""
    note(f"making {count:,} responses")
    path = folder / f"responses-{count}.warc"
    part = min(count, 10_000)
    with path.open("wb") as file:
        for seed in range(count // part):
            file.writelines(warc_records(unpacked(made(seed, count=part))))
    return path


def _quality(folder: Path) -> Iterator[Row]:
    """Found kinds, with httpx's own way beside it."""
    for name, held_out in (("tuning", False), ("held out", True)):
        pages = made(0, held_out=held_out)
        path = _write(folder / "kinds.warc", pages)
        _cluster(path)
        out = path.with_suffix(".clusters.jsonl")
        kinds = [page.kind for page in pages]
        ours = agreement(kinds, _clusters(out))
        theirs = agreement(kinds, httpx_clusters(pages))
        yield Row(
            f"kinds of {len(pages):,} responses, templates of {name}",
            str(ours),
            f"httpx -fd: {theirs}",
            target="ARI ≥ 0.97",
            met=ours.ari >= 0.97,
        )


def _clusters(path: Path) -> list[int]:
    with path.open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    found.sort(key=lambda row: int(row["id"].rpartition(":")[2]))
    return [row["cluster"] for row in found]
