"""Jobs on files: speed, memory and recall of `neardup dedup`, run as a command.

Start-up and writing of files count, for neardup and for the peers.
"""

from __future__ import annotations

import compileall
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import neardup
from data.planted_records import Records, planted
from measure import Row, at_least, megabytes, note
from peers import environment

Command = Sequence[str | Path]

NEARDUP = Path(sys.executable).parent / "neardup"
LAUNCH = Path(__file__).parents[1] / "launch.py"
MINHASH = environment.HERE / "rensa_minhash.py"

SIZE, QUICK_SIZE = 10**9, 50 * 10**6
SPEED = 150e6
MEMORY = 1e9

GROWTH = (10**5, 10**6)
QUICK_GROWTH = (10**5, 4 * 10**5)
LARGE_GROWTH = 10**7
GROWS = 1.5
FEW = 1000


@dataclass(frozen=True)
class Run:
    """A finished command: wall-clock and CPU seconds, peak bytes of memory, output."""

    seconds: float
    core_seconds: float
    peak: int
    output: str

    @property
    def summary(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.output)
        return found

    @property
    def stages(self) -> str:
        return ", ".join(f"{name} {took:.3g} s" for name, took in self.summary["stages"].items())


@dataclass(frozen=True)
class Peer:
    """A program to compare with.

    count   input records: as many as it processes in under a minute
    rounds  repetitions; a slow one has one
    run     run it on an input, with a folder for output
    kept    read the ids it kept from that folder
    """

    name: str
    count: int
    quick_count: int
    rounds: int
    target: float
    run: Callable[[Path, Path], Run]
    kept: Callable[[Path], list[str]]


def rows(records: Records, *, large: bool) -> Iterator[Row]:
    """Yield all rows of the section."""
    # Compile modules, as an installer does.
    compileall.compile_dir(Path(neardup.__file__).parent, quiet=1)
    yield from _large_file(records)
    yield from _corpora(records)
    for peer in PEERS:
        yield from _against(records, peer)
    yield from _growth(records, large=large)


def _large_file(records: Records) -> Iterator[Row]:
    path = records.texts(QUICK_SIZE if records.quick else SIZE)
    runs = [_dedup(path, records.folder / "kept.jsonl") for _ in range(1 if records.quick else 3)]
    what = f"dedup, {path.stat().st_size / 1e6:,.0f} MB of JSONL, {records.source}"
    yield from _speed_and_memory(what, path, runs)
    path.unlink()


def _corpora(records: Records) -> Iterator[Row]:
    """Measure the files of --data, decompressed first: decompression is not measured."""
    for packed in records.corpora:
        path = records.folder / packed.stem
        with gzip.open(packed) as source, path.open("wb") as target:
            shutil.copyfileobj(source, target)
        runs = [_dedup(path, records.folder / "kept.jsonl") for _ in range(3)]
        what = f"dedup, {path.name}, {path.stat().st_size / 1e6:,.0f} MB"
        yield from _speed_and_memory(what, path, runs)
        path.unlink()


def _speed_and_memory(what: str, path: Path, runs: Sequence[Run]) -> Iterator[Row]:
    size = path.stat().st_size
    middle = sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]
    speed = size / middle.seconds
    found = middle.summary
    yield Row(
        f"{what}, all cores",
        f"{megabytes(speed)}; {middle.seconds:.3g} s: {middle.stages}",
        f"{found['read']:,} records, {found['removed']:,} removed",
        target=f"≥ {megabytes(SPEED)}",
        met=speed >= SPEED,
    )
    peak = max(run.peak for run in runs)
    yield Row(
        f"{what}: peak memory",
        f"{peak / 1e6:,.0f} MB",
        target=f"< {MEMORY / 1e6:,.0f} MB",
        met=peak < MEMORY,
    )


def _against(records: Records, peer: Peer) -> Iterator[Row]:
    count = peer.quick_count if records.quick else peer.count
    path = records.edited(count)
    out = records.folder / "peer"
    kept = records.folder / "kept.jsonl"
    ours, theirs = [], []
    for _ in range(1 if records.quick else peer.rounds):
        # Output of an earlier round would be reused.
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        theirs.append(peer.run(path, out))
        ours.append(_dedup(path, kept))
    what = f"dedup, {count:,} records with edited copies, {records.source}"
    size = path.stat().st_size
    yield at_least(
        what,
        f"{_speed(size, ours)}; {ours[-1].stages}",
        f"{peer.name}: {_speed(size, theirs)}",
        statistics.median(y.seconds / x.seconds for x, y in zip(ours, theirs, strict=True)),
        peer.target,
    )
    yield _recall_row(what, path, kept, peer, out)
    shutil.rmtree(out)


def _speed(size: int, runs: Sequence[Run]) -> str:
    middle = statistics.median(run.seconds for run in runs)
    peak = max(run.peak for run in runs)
    return f"{megabytes(size / middle)}, {middle:.3g} s, {peak / 1e6:,.0f} MB of memory"


def _recall_row(what: str, path: Path, kept: Path, peer: Peer, out: Path) -> Row:
    there = _ids(path)
    ours, theirs = _found(there, _ids(kept)), _found(there, peer.kept(out))
    return Row(
        f"{what}: share of copies found",
        str(ours),
        f"{peer.name}: {theirs}",
        target="≥ the peer's",
        met=ours.share >= theirs.share,
    )


@dataclass(frozen=True)
class Found:
    """Counts of planted and found copies by percent of changed words, and of other removals."""

    copies: Counter[int]
    found: Counter[int]
    others: int

    @property
    def share(self) -> float:
        return self.found.total() / self.copies.total()

    def __str__(self) -> str:
        rates = sorted(self.copies)
        each = ", ".join(f"{x} % edited {self.found[x] / self.copies[x]:.3f}" for x in rates)
        return f"{self.share:.3f} ({each}); {self.others:,} others removed"


def _found(there: Sequence[str], kept: Sequence[str]) -> Found:
    """Count a copy as found if it or its original was removed: text-dedup keeps the later one."""
    gone = set(there) - set(kept)
    copies, found = Counter[int](), Counter[int]()
    for name in there:
        if copy := planted(name):
            percent, original = copy
            copies[percent] += 1
            found[percent] += name in gone or original in gone
    return Found(copies, found, len(gone) - found.total())


def _growth(records: Records, *, large: bool) -> Iterator[Row]:
    """Measure the cost per record as the file grows.

    The cost of a job on FEW records is subtracted: it would make the small file look expensive and
    hide growth.
    """
    counts = QUICK_GROWTH if records.quick else (*GROWTH, *([LARGE_GROWTH] if large else []))
    start = _best(records, FEW)
    what = "records of a dozen words"
    yield Row(f"dedup, {FEW:,} {what}", f"{start.seconds:.3g} s, {start.peak / 1e6:,.0f} MB")
    smallest = 0.0
    for count in counts:
        run = _best(records, count)
        each = (run.seconds - start.seconds) / (count - FEW) * 1e6
        smallest = smallest or each
        compared, last = count > counts[0], count == counts[-1]
        yield Row(
            f"dedup, {count:,} {what}, all cores",
            f"{run.seconds:.3g} s ({run.stages}), {each:.3g} µs for each beyond {FEW:,}",
            f"{counts[0]:,}: {smallest:.3g} µs" if compared else "",
            each / smallest if compared else None,
            f"≤ {GROWS:g}×" if last else "",
            each <= GROWS * smallest if last else None,
        )
        added = (run.peak - start.peak) / (count - FEW)
        yield Row(
            f"dedup, {count:,} {what}: peak memory",
            f"{run.peak / 1e6:,.0f} MB, {added:.3g} bytes for each beyond {FEW:,}",
        )


def _best(records: Records, count: int) -> Run:
    """Return the fastest of three runs, since a difference of times amplifies noise."""
    path = records.short(count)
    rounds = 1 if count >= LARGE_GROWTH else 3
    runs = [_dedup(path, records.folder / "kept.jsonl") for _ in range(rounds)]
    path.unlink()
    return min(runs, key=lambda run: run.seconds)


def _dedup(path: Path, out: Path) -> Run:
    note(f"neardup dedup {path.name}")
    return launch([NEARDUP, "dedup", path, "--out", out, "--json", "--quiet"])


def _text_dedup(path: Path, out: Path) -> Run:
    """Run its command with its defaults: 64 bits, distance 3, 4 blocks, character 3-grams.

    The cache goes to the output folder, or a second run would read the results of the first.
    """
    note(f"text-dedup {path.name}")
    cache = out / "cache"
    where = {"PYTHONPATH": str(environment.APART), "HF_HOME": str(cache), "HF_HUB_OFFLINE": "1"}
    source: Command = [
        "--path",
        "json",
        "--data_files",
        path,
        "--split",
        "train",
        "--column",
        "text",
    ]
    ways: Command = [
        "--output",
        out / "kept",
        "--cache_dir",
        cache,
        "--num_proc",
        str(os.cpu_count()),
    ]
    return launch([environment.PYTHON, "-m", "text_dedup.simhash", *source, *ways], **where)


def _text_dedup_kept(out: Path) -> list[str]:
    ids: list[str] = []
    for path in sorted((out / "kept").glob("*.arrow")):
        with pa.ipc.open_stream(path) as batches:
            ids += batches.read_all().column("id").to_pylist()
    return ids


def _rensa(path: Path, out: Path) -> Run:
    note(f"rensa {path.name}")
    return launch([environment.PYTHON, MINHASH, path, out / "kept.jsonl"])


def launch(command: Command, **environment: str) -> Run:
    """Run a command through launch.py, which measures it."""
    done = subprocess.run(
        [sys.executable, LAUNCH, *command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed: {done.stderr[-2000:]}")
    return Run(**json.loads(done.stdout))


def _ids(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line)["id"] for line in lines]


PEERS = (
    Peer(
        "text-dedup SimHash",
        count=6_000,
        quick_count=1_500,
        rounds=1,
        target=50,
        run=_text_dedup,
        kept=_text_dedup_kept,
    ),
    Peer(
        "rensa MinHash",
        count=60_000,
        quick_count=10_000,
        rounds=3,
        target=8,
        run=_rensa,
        kept=lambda out: _ids(out / "kept.jsonl"),
    ),
)
