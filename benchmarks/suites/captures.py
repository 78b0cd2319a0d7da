"""HTTP captures: throughput, memory and quality of `neardup cluster FILE.warc --as http`.

Throughput is bytes of uncompressed WARC per CPU second of the command, all processes and threads.
The cost of a capture of a few responses is subtracted, for neardup and for the peers: it is
start-up and has a row of its own.
"""

from __future__ import annotations

import dataclasses
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from measure import Row, at_least, megabytes, note
from peers import environment
from suites.jobs import NEARDUP, Run, launch

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from helpers.capture_files import warc_records
from helpers.made_captures import Made, made
from helpers.made_captures.agreement import agreement, httpx_clusters
from helpers.made_captures.formats import sent

READERS = environment.HERE / "warc_readers.py"
# Pages of 20 to 150 kB, half of them style sheets and scripts, as real pages are.
PAGE_SIZE = 10
PAGES, QUICK_PAGES = 2500, 400
ROUNDS, QUICK_ROUNDS = 3, 1
# As many pages as the slowest peer processes in half a minute.
SLOW_PAGES = 150
SPEEDS = {"http-text": 60e6, "http": 25e6}
TIMES = 30
GROWTH, QUICK_GROWTH = (10**4, 10**5), (2000, 10**4)
FEW = 1000
FIRST = 5
GROWS = 1.5
MEMORY = 1e9


def rows(folder: Path, *, quick: bool) -> Iterator[Row]:
    """Yield all rows of the section."""
    note("making large pages")
    pages = unpacked(made(0, count=QUICK_PAGES if quick else PAGES, size=PAGE_SIZE))
    path = _write(folder / "pages.warc", pages)
    slow = _write(folder / "slow.warc", pages[-SLOW_PAGES:])
    first = _write(folder / "first.warc", pages[:FIRST])
    rounds = QUICK_ROUNDS if quick else ROUNDS
    yield from _speeds(path, slow, first, len(pages), rounds)
    yield from _growth(folder, quick=quick)
    yield from _quality(folder)


def unpacked(pages: Sequence[Made]) -> list[Made]:
    """Remove content and transfer encodings, as large crawls do."""
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
        file.writelines(warc_records(sent(pages)))
    return path


def _cluster(path: Path, recipe: str = "http") -> Run:
    note(f"neardup cluster {path.name}, {recipe}")
    out = path.with_suffix(".clusters.jsonl")
    how = ["--as", "http", "--recipe", recipe, "--json", "--quiet"]
    return launch([NEARDUP, "cluster", path, "-o", out, *how])


def _peer(task: str, path: Path) -> Run:
    note(f"{task} {path.name}")
    return launch([environment.PYTHON, "-W", "ignore", READERS, task, path])


@dataclasses.dataclass
class Measured:
    """Runs of one program on a file, and on its first few responses."""

    path: Path
    first: Path
    runs: list[Run] = dataclasses.field(default_factory=list)
    starts: list[Run] = dataclasses.field(default_factory=list)

    def add(self, run: Run, start: Run) -> None:
        self.runs.append(run)
        self.starts.append(start)

    @property
    def start(self) -> float:
        """Return the CPU seconds of start-up: the least of all rounds."""
        return min(run.core_seconds for run in self.starts)

    @property
    def speeds(self) -> list[float]:
        size = self.path.stat().st_size - self.first.stat().st_size
        return [size / max(run.core_seconds - self.start, 1e-3) for run in self.runs]

    @property
    def speed(self) -> float:
        return statistics.median(self.speeds)


def _speeds(path: Path, slow: Path, first: Path, count: int, rounds: int) -> Iterator[Row]:
    """Compare both recipes with reading alone, parsing alone and the usual way, alternately."""
    ours = {recipe: Measured(path, first) for recipe in SPEEDS}
    others = {task: Measured(path, first) for task in ("fastwarc", "lexbor")}
    others["simhash"] = Measured(slow, first)
    for _ in range(rounds):
        for recipe, mine in ours.items():
            mine.add(_cluster(path, recipe), _cluster(first, recipe))
        for task, theirs in others.items():
            theirs.add(_peer(task, theirs.path), _peer(task, first))
    what = f"WARC to clusters, {path.stat().st_size / 1e6:,.0f} MB, {count:,} responses"
    ceilings = (
        f"FastWARC, reading only: {megabytes(others['fastwarc'].speed)}, "
        f"reading and parsing by lexbor: {megabytes(others['lexbor'].speed)}"
    )
    for recipe, mine in ours.items():
        run = mine.runs[-1]
        yield Row(
            f"{what}, recipe {recipe}, one core",
            f"{megabytes(mine.speed)} of CPU time; {run.seconds:.3g} s by the clock: {run.stages}",
            ceilings,
            _ratio(mine, others["lexbor"]),
            f"≥ {megabytes(SPEEDS[recipe])}",
            mine.speed >= SPEEDS[recipe],
        )
        yield at_least(
            f"{what}, recipe {recipe}, one core",
            megabytes(mine.speed),
            f"warcio and simhash.Simhash of words, no clusters, on {SLOW_PAGES} of them: "
            f"{megabytes(others['simhash'].speed)}",
            _ratio(mine, others["simhash"]),
            TIMES,
        )
        yield Row(
            f"{what}, recipe {recipe}: start-up",
            f"{mine.start:.3g} s of CPU time for {FIRST} responses",
            f"warcio and simhash: {others['simhash'].start:.3g} s",
        )
    peak = max(run.peak for mine in ours.values() for run in mine.runs)
    yield Row(
        f"{what}: peak memory",
        f"{peak / 1e6:,.0f} MB",
        target=f"< {MEMORY / 1e6:,.0f} MB",
        met=peak < MEMORY,
    )


def _ratio(mine: Measured, theirs: Measured) -> float:
    """Return the median ratio of a round: whatever slows a round slows both."""
    return statistics.median(x / y for x, y in zip(mine.speeds, theirs.speeds, strict=True))


def _growth(folder: Path, *, quick: bool) -> Iterator[Row]:
    """Measure the cost per response as the capture grows, without start-up."""
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
            f"{run.seconds:.3g} s ({run.stages}), {each:.3g} µs of CPU for each beyond {FEW:,}",
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
    """Write `count` responses in parts, one part in memory at a time."""
    note(f"making {count:,} responses")
    path = folder / f"responses-{count}.warc"
    part = min(count, 10_000)
    with path.open("wb") as file:
        for seed in range(count // part):
            file.writelines(warc_records(sent(unpacked(made(seed, count=part)))))
    return path


def _quality(folder: Path) -> Iterator[Row]:
    """Compare the clusters with the true kinds, beside the clusters of httpx."""
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
