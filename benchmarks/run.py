"""Measure speed, memory and quality of neardup against other tools, and write RESULTS.md.

    python benchmarks/run.py [--data DIR] [--quick] [--large] [--only NAME ...]

Every figure is a ratio against another program or library, on the same texts and the same machine.
Both alternate, so that a busy machine slows both. The report goes to stdout and, if all sections
run, to benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import recipe_quality
from data import corpora
from data.codes import Codes
from data.planted_records import Records
from measure import HEADER, Row, note
from peers import environment
from suites import (
    captures,
    collection,
    fingerprinting,
    footprint,
    index,
    jobs,
    low_similarity,
    ranking,
    self_join,
    service,
    spark,
)

RESULTS = Path(__file__).parent / "RESULTS.md"
RUNS_WITH = ("neardup", "numpy", "pyarrow")

SECTIONS: dict[str, Callable[[fingerprinting.Texts], Iterator[Row]]] = {
    "cores": fingerprinting.cores,
    "default": fingerprinting.default,
    "simhash": fingerprinting.simhash,
    "jieba": fingerprinting.jieba,
    "votes": fingerprinting.votes,
    "memory": lambda _: footprint.memory(),
    "startup": lambda _: footprint.startup(),
    "latency": fingerprinting.latency,
    "presets": fingerprinting.presets,
}
# Measured on fingerprints: uniform ones, and fingerprints of real texts.
CODES: dict[str, Callable[[index.Scale], Iterator[Row]]] = {
    "search": index.search,
    "levels": index.levels,
    "build": index.build,
    "index": index.footprint,
    "join": self_join.join,
    "sampled": self_join.sampled,
}
# Sections with inputs of their own.
JOBS = "jobs"
LOW = "low"
COLLECTION = "collection"
RANKING = "ranking"
CAPTURES = "captures"
SERVICE = "service"
SPARK = "spark"
QUALITY = "quality"
# Recipes compared in every run; recipe_quality.py compares more of them, on more texts.
COMPARED = ("default", "words, 1 + ln tf", "words, no stop words", "word 3-grams")


def machine() -> Iterator[str]:
    yield f"- {_processor()}, {fingerprinting.CORES} cores, {_memory() / 2**30:.0f} GiB"
    yield f"- {platform.system()} {platform.release()}, Python {platform.python_version()}"
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    yield f"- {rustc.stdout.strip() or 'no rustc'}"
    yield "- " + ", ".join(f"{name} {version(name)}" for name in RUNS_WITH)
    yield "- peers: " + ", ".join(environment.versions())


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def report(options: argparse.Namespace, folder: Path) -> Iterator[str]:
    data: Path | None = options.data
    scale = 5 if options.quick else 1
    started = time.monotonic()
    yield "# Benchmark results\n"
    command = f"make bench{' DATA=folder' if data else ''}"
    yield f"{datetime.date.today()}, `{command}`{', quick' if options.quick else ''}."
    yield "A ratio is the median over rounds in which neardup and the peer alternate; against wc"
    yield "and between vote loops it compares the best rounds. One thread is measured in CPU time,"
    yield "so that other load matters less; two threads and jobs on files by the clock. A job is a"
    yield "process of its own and its start-up counts.\n"
    yield from machine()
    yield "- texts: " + "; ".join(f"{x}: {y}" for x, y in corpora.sources(data).items())
    codes = Codes(data, folder)
    yield f"- codes: {' and '.join(codes.sources())}; a tenth have a planted neighbour"

    rounds = 3 if options.quick else 7
    yield f"\n{HEADER}"
    if any(name in options.only for name in SECTIONS):
        note("texts")
        texts = fingerprinting.Texts(
            english=corpora.english(data, 20_000 // scale),
            chinese=corpora.chinese(data, 20_000 // scale),
            poems=corpora.poems(data, 20_000 // scale),
            rounds=rounds,
        )
        for name in SECTIONS:
            if name in options.only:
                note(f"{name}, after {time.monotonic() - started:.0f} s")
                yield from (row.markdown() for row in SECTIONS[name](texts))
    measured = index.Scale(codes, rounds, quick=options.quick, large=options.large)
    for name in CODES:
        if name in options.only:
            note(f"{name}, after {time.monotonic() - started:.0f} s")
            yield from (row.markdown() for row in CODES[name](measured))
    if JOBS in options.only:
        note(f"{JOBS}, after {time.monotonic() - started:.0f} s")
        records = Records(data, folder, quick=options.quick)
        yield from (row.markdown() for row in jobs.rows(records, large=options.large))
    if LOW in options.only:
        note(f"{LOW}, after {time.monotonic() - started:.0f} s")
        records = Records(data, folder, quick=options.quick)
        low = low_similarity.rows(records, folder, quick=options.quick, large=options.large)
        yield from (row.markdown() for row in low)
    if COLLECTION in options.only:
        note(f"{COLLECTION}, after {time.monotonic() - started:.0f} s")
        records = Records(data, folder, quick=options.quick)
        yield from (row.markdown() for row in collection.rows(records, large=options.large))
    if RANKING in options.only:
        note(f"{RANKING}, after {time.monotonic() - started:.0f} s")
        yield from (row.markdown() for row in ranking.rows(data, folder, quick=options.quick))
    if CAPTURES in options.only:
        note(f"{CAPTURES}, after {time.monotonic() - started:.0f} s")
        yield from (row.markdown() for row in captures.rows(folder, quick=options.quick))
    if SERVICE in options.only:
        note(f"{SERVICE}, after {time.monotonic() - started:.0f} s")
        records = Records(data, folder, quick=options.quick)
        yield from (row.markdown() for row in service.rows(records))
    if SPARK in options.only:
        note(f"{SPARK}, after {time.monotonic() - started:.0f} s")
        records = Records(data, folder, quick=options.quick)
        yield from (row.markdown() for row in spark.rows(records, large=options.large))
    if QUALITY in options.only:
        note(f"{QUALITY}, after {time.monotonic() - started:.0f} s")
        yield "\n# Quality of recipes"
        yield from recipe_quality.tables(data, 1500 // scale, [128], COMPARED)


def main() -> None:
    names = [*SECTIONS, *CODES, JOBS, LOW, COLLECTION, RANKING, CAPTURES, SERVICE, SPARK, QUALITY]
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, help="folder with the .jsonl.gz files of real text")
    parser.add_argument(
        "--quick", action="store_true", help="use fewer texts and rounds; targets mean little then"
    )
    parser.add_argument(
        "--large",
        action="store_true",
        help="add a self-join and an index of 1e8 codes, jobs and a collection of 1e7 records, "
        "and near pairs of 1e6 records at similarity 0.7",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=names,
        metavar="NAME",
        default=names,
        help=f"run these sections only: {', '.join(names)}",
    )
    options = parser.parse_args()
    environment.install()
    lines = []
    # Codes and records take some gigabytes.
    with tempfile.TemporaryDirectory() as folder:
        for line in report(options, Path(folder)):
            print(line, flush=True)
            lines.append(line)
    if options.only == names:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
