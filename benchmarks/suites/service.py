"""The service: checks over HTTP, one by one and in batches, and concurrent adds.

The load generator runs on the same machine and competes for its cores.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import neardup as nd
from measure import Row, at_most, note
from suites.collection import BATCH, _by, _documents

if TYPE_CHECKING:
    from data.planted_records import Records

SIZE, QUICK_SIZE = 10**6, 2 * 10**4
LOAD = Path(__file__).parents[1] / "load_generator.py"
# Texts to check, and texts per batch.
ASKED, AT_ONCE = 20_000, 100
CONNECTIONS, FEW_CONNECTIONS = 16, 4
SECONDS, QUICK_SECONDS = 20.0, 2.0
LONG_SECONDS, QUICK_LONG_SECONDS = 300.0, 10.0
ADDS, CHECKS = 500, 1000


def rows(records: Records) -> Iterator[Row]:
    """Yield all rows of the section."""
    size = QUICK_SIZE if records.quick else SIZE
    path, folder = records.short(size), records.folder / "served.neardup"
    note("making the collection")
    with nd.Collection.open(folder, durability="normal") as collection:
        for batch in _by(_documents(path), BATCH):
            collection.add(batch)
        collection.compact()
    texts = [text for _, text in islice(_documents(path), ASKED)]
    path.unlink()
    seconds = QUICK_SECONDS if records.quick else SECONDS
    long = QUICK_LONG_SECONDS if records.quick else LONG_SECONDS
    with serving(folder) as (process, url):
        yield from _rows(
            records.folder, f"service, {size:,} documents", url, process, texts, seconds, long
        )
    shutil.rmtree(folder)


def _rows(
    folder: Path,
    what: str,
    url: str,
    process: subprocess.Popen[str],
    texts: Sequence[str],
    seconds: float,
    long: float,
) -> Iterator[Row]:
    constant = _written(folder / "constant", ["GET\t/healthz"])
    single = _written(folder / "single", [_check({"text": text}) for text in texts])
    many = [_check([*texts[at : at + AT_ONCE]]) for at in range(0, len(texts), AT_ONCE)]
    batches = _written(folder / "batches", many)
    adds = _written(folder / "adds", [*_adds(texts)])
    # Warm up: the first requests read the files.
    _load(url, single, CONNECTIONS, seconds / 4)
    ceiling = _load(url, constant, CONNECTIONS, seconds)
    checks = _load(url, single, CONNECTIONS, seconds)
    most, rate = _rate(ceiling), _rate(checks)
    yield Row(
        f"{what}: single checks over {CONNECTIONS} connections",
        f"{rate:,.0f} a second{_failed(checks)}",
        f"a constant: {most:,.0f} a second",
        rate / most,
        "≥ 1,500",
        rate >= 1500 and not checks["errors"],
    )
    yield at_most(f"{what}: their 99th percentile", checks["p99"] * 1e3, "ms", 20)
    found = _load(url, batches, FEW_CONNECTIONS, seconds)
    in_batches = _rate(found) * AT_ONCE
    yield Row(
        f"{what}: checks in batches of {AT_ONCE}",
        f"{in_batches:,.0f} a second{_failed(found)}",
        f"a constant: {most:,.0f} requests a second",
        _rate(found) / most,
        "≥ 20,000",
        in_batches >= 20_000 and not found["errors"],
    )
    yield from _beside(what, url, process, (single, adds), long)


def _beside(
    what: str, url: str, process: subprocess.Popen[str], files: tuple[Path, Path], long: float
) -> Iterator[Row]:
    """Measure adds and checks at fixed rates, concurrently, for minutes."""
    note(f"{ADDS} adds a second beside {CHECKS} checks for {long:g} s")
    loads = [
        _start(url, file, CONNECTIONS, long, rate)
        for file, rate in zip(files, (CHECKS, ADDS), strict=True)
    ]
    time.sleep(long / 10)
    before = resident(process.pid)
    checks, adds = (_end(load) for load in loads)
    after = resident(process.pid)
    named = f"{what}: {ADDS} adds a second beside {CHECKS} checks for {long:g} s"
    for kind, found, wanted in (("checks", checks, CHECKS), ("adds", adds, ADDS)):
        rate = _rate(found)
        yield Row(
            f"{named}: {kind}",
            f"{rate:,.0f} a second, {found['errors']} errors{_failed(found)}, "
            f"99th percentile {found['p99'] * 1e3:.3g} ms, longest {found['most'] * 1e3:.3g} ms",
            target="no error",
            met=not found["errors"] and rate >= 0.98 * wanted,
        )
    yield at_most(
        f"{named}: memory at the end, against a tenth of the time",
        after / before,
        "×",
        1.2,
        more=f", {before / 1e6:.0f} MB and {after / 1e6:.0f} MB",
    )


def _check(body: object) -> str:
    return f"POST\t/v1/check\t{json.dumps(body, ensure_ascii=False)}"


def _adds(texts: Sequence[str]) -> Iterator[str]:
    """Yield requests that add documents, each made of two texts and near no query."""
    words = [text.split() for text in texts]
    for at in range(len(texts)):
        text = " ".join([*words[at - 7][:6], *words[at][6:], "{n}"])
        yield f"POST\t/v1/documents\t{json.dumps({'id': 'new-{n}', 'text': text})}"


def _written(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _load(url: str, file: Path, connections: int, seconds: float) -> dict[str, Any]:
    return _end(_start(url, file, connections, seconds, 0))


def _start(
    url: str, file: Path, connections: int, seconds: float, rate: float
) -> subprocess.Popen[str]:
    arguments = [url, str(file), str(connections), str(seconds), str(rate)]
    return subprocess.Popen(
        [sys.executable, str(LOAD), *arguments], stdout=subprocess.PIPE, text=True
    )


def _end(load: subprocess.Popen[str]) -> dict[str, Any]:
    output, _ = load.communicate()
    found: dict[str, Any] = json.loads(output)
    return found


def _failed(found: dict[str, Any]) -> str:
    """Format the errors by kind; empty if there are none."""
    kinds = "; ".join(f"{count:,} × {kind}" for kind, count in found["kinds"].items())
    return f" ({kinds})" if kinds else ""


def _rate(found: dict[str, Any]) -> float:
    rate: float = found["requests"] / found["seconds"]
    return rate


@contextmanager
def serving(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the service of a collection in a process; yield it and its URL."""
    command = [sys.executable, "-m", "neardup", "serve", str(folder), "--port", "0", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def resident(pid: int) -> int:
    """Return the anonymous memory of a process, without mapped files."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        (line,) = (line for line in status if line.startswith("RssAnon:"))
    return int(line.split()[1]) * 1024
