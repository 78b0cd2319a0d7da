"""Dedup on Spark: pysail, and Spark with its JVM, on two cores.

The local engine processes the same file in the same run; on one machine it should win. Spark ML's
MinHashLSH gets as many records as it joins in a few minutes. docs/scale.md uses these figures.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.planted_records import Records
from measure import Row, note
from suites.jobs import NEARDUP, Run, launch

ROOT = Path(__file__).parents[2]
JOB = Path(__file__).with_name("spark_job.py")
MINHASH = ROOT / "benchmarks" / "peers" / "spark_minhash.py"
JVM = ROOT / ".venv-spark" / "bin" / "python"
COUNTS, QUICK_COUNTS, LARGE = (10**5, 10**6), (10**4, 5 * 10**4), 10**7
GROWS = 1.5
# Records for MinHashLSH: increased until a run takes longer than PATIENCE seconds.
LEAST, PATIENCE = 10**3, 120.0


@dataclass(frozen=True)
class Measured:
    """A job on Spark: wall-clock and CPU seconds, peak bytes of all processes, shuffled bytes."""

    count: int
    seconds: float
    core_seconds: float
    peak: int
    shuffled: int | None
    kept: int

    @property
    def each(self) -> float:
        """Return the wall-clock microseconds per record."""
        return self.seconds / self.count * 1e6


def rows(records: Records, *, large: bool) -> Iterator[Row]:
    """Yield all rows of the section."""
    counts = QUICK_COUNTS if records.quick else (*COUNTS, *([LARGE] if large else []))
    engines = {"pysail": (Path(sys.executable), "sail")}
    if JVM.exists() and shutil.which("java"):
        engines["JVM"] = (JVM, "local[2]")
    else:
        yield Row("Spark with its JVM", "not measured: make .venv-spark/made; it needs Java 17")
    before: dict[str, Measured] = {}
    for count in counts:
        path = records.short(count)
        local = _local(path, records.folder / "local.jsonl")
        for name, (python, master) in engines.items():
            out = records.folder / f"{name}.jsonl"
            what = f"dedup --engine spark, {name}"
            found = _spark(python, master, "job", path, out, count)
            same = out.read_bytes() == (records.folder / "local.jsonl").read_bytes()
            yield from _rows(what, found, local, before.get(what), same=same, last=count == LARGE)
            before[what] = found
            out.unlink()
            if count == LARGE:
                continue
            what = f"DataFrames, {name}"
            table = _table(path)
            found = _spark(python, master, "frames", table, out, count)
            same = _same_kept(out, records.folder / "local.jsonl")
            yield from _rows(what, found, local, before.get(what), same=same, last=count == LARGE)
            before[what] = found
            shutil.rmtree(out)
            table.unlink()
        path.unlink()
    if "JVM" in engines:
        yield from _minhash(records)


def _table(path: Path) -> Path:
    """Write the records as Parquet, with their line number as column `line`."""
    import pyarrow as pa
    import pyarrow.json
    import pyarrow.parquet as pq

    table = pyarrow.json.read_json(path)
    found = path.with_suffix(".parquet")
    table = table.append_column("line", pa.array(range(table.num_rows), pa.int64()))
    pq.write_table(table, found, row_group_size=1 << 17)
    return found


def _same_kept(folder: Path, local: Path) -> bool:
    """Return whether DataFrames kept the same records as the local engine."""
    import pyarrow.dataset as ds

    kept = ds.dataset(folder / "kept", format="parquet").to_table(columns=["id", "line"])
    with local.open("rb") as lines:
        wanted = [json.loads(line)["id"] for line in lines]
    return bool(kept.sort_by("line")["id"].to_pylist() == wanted)


def _rows(
    name: str,
    found: Measured,
    local: Run,
    before: Measured | None,
    *,
    same: bool,
    last: bool,
) -> Iterator[Row]:
    what = f"{name}, {found.count:,} records of a dozen words"
    yield Row(
        what,
        f"{found.seconds:.3g} s, {found.core_seconds:.3g} core-seconds",
        f"local engine: {local.seconds:.3g} s",
        found.seconds / local.seconds,
    )
    yield Row(f"{what}: the same records kept", str(same).lower(), target="true", met=same)
    told = "not available"
    if found.shuffled is not None:
        told = f"{found.shuffled / found.count:,.0f} bytes a record"
    yield Row(f"{what}: shuffled", told)
    yield Row(
        f"{what}: peak memory of all processes",
        f"{found.peak / 1e6:,.0f} MB, {found.peak / found.count:,.0f} bytes a record",
        f"local engine: {local.peak / 1e6:,.0f} MB",
    )
    if before is not None:
        yield Row(
            f"{what}: cost of a record",
            f"{found.each:.3g} µs",
            f"{before.count:,}: {before.each:.3g} µs",
            found.each / before.each,
            f"≤ {GROWS:g}×" if last else "",
            found.each <= GROWS * before.each if last else None,
        )


def _local(path: Path, out: Path) -> Run:
    note(f"neardup dedup {path.name}")
    return launch([NEARDUP, "dedup", path, "--out", out, "--json", "--quiet"])


def _spark(python: Path, master: str, what: str, path: Path, out: Path, count: int) -> Measured:
    note(f"{what}, {path.name}, --master {master}")
    return Measured(count, **_told([python, "-W", "ignore", JOB, master, what, path, out]))


def _told(command: list[Any]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _minhash(records: Records) -> Iterator[Row]:
    """Find the most records that Spark ML joins in time, and its recall of the pairs."""
    count = LEAST
    while True:
        path, pairs = records.short(count), records.folder / "pairs.csv"
        launch([NEARDUP, "pairs", path, "--out", pairs, "--json", "--quiet"])
        with pairs.open(encoding="utf-8", newline="") as file:
            wanted = {frozenset((row["left"], row["right"])) for row in csv.DictReader(file)}
        note(f"MinHashLSH {path.name}")
        out = records.folder / "minhash.csv"
        started = time.monotonic()
        try:
            told = subprocess.run(
                [JVM, "-W", "ignore", MINHASH, path, out],
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=PATIENCE * 2,
                check=True,
            ).stdout
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
            kind = "failed" if isinstance(error, subprocess.CalledProcessError) else "was stopped"
            after = time.monotonic() - started
            yield Row(f"Spark ML MinHashLSH, {count:,} records", "", f"{kind} after {after:.0f} s")
            return
        found = json.loads(told)
        with out.open(encoding="utf-8", newline="") as file:
            seen = {frozenset(row) for row in csv.reader(file)}
        job = _spark(JVM, "local[2]", "job", path, records.folder / "kept.jsonl", count)
        share = len(wanted & seen) / max(1, len(wanted))
        yield Row(
            f"dedup --engine spark, JVM, {count:,} records of a dozen words",
            f"{job.seconds:.3g} s, all {len(wanted):,} pairs of the local engine",
            f"Spark ML MinHashLSH: {found['seconds']:.3g} s, {share:.3f} of these pairs",
            found["seconds"] / job.seconds,
        )
        path.unlink()
        if found["seconds"] > PATIENCE or (records.quick and count >= 10 * LEAST):
            return
        # Smaller steps near the limit, so that the last one is about the largest possible.
        count *= 10 if found["seconds"] < PATIENCE / 15 else 2
