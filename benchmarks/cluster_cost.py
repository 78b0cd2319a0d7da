"""Cost model of a dedup on a Spark cluster: prints the tables of docs/scale.md.

    python benchmarks/cluster_cost.py

FIGURES are measured by `benchmarks/run.py --only spark` and `benchmarks/key_skew.py`. CLUSTER holds
the assumptions about machines. Everything else is computed from these two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

HOUR = 3600.0


@dataclass(frozen=True)
class Figures:
    """Figures measured on two cores.

    core_us         CPU time per record of a dozen words, DataFrames on Spark with its JVM, beyond
                    the first hundred thousand records, which excludes start-up; with 22 keys
    sail_core_us    the same on pysail
    text_core_ns    CPU time per byte of text: read, tokenise, sketch
    keys            join keys per record, at similarity 0.85 and recall 0.99
    record_bytes    bytes of a shuffle record before compression: key, part, side, row, registers
    shuffled        bytes per record that Spark wrote for shuffles, compressed; with 22 keys
    comparison_ns   time to compare the registers of two rows of a bucket
    strangers       probability that two unrelated texts share the key of a table, for records of a
                    dozen words out of 30,000: words equally frequent; words by Zipf's law
    candidates      pairs verified per record
    """

    core_us: float
    sail_core_us: float
    text_core_ns: float
    keys: int
    record_bytes: int
    shuffled: float
    comparison_ns: float
    strangers: tuple[float, float]
    candidates: float


@dataclass(frozen=True)
class Cluster:
    """Assumed machines: 64 of type r6id.4xlarge.

    use  share of the time that cores work on tasks
    """

    name: str = "64 × r6id.4xlarge"
    machines: int = 64
    cores: int = 16
    memory: float = 128 * 2**30
    disk: float = 950e9
    network: float = 1.25e9
    disk_speed: float = 0.5e9
    use: float = 0.7


FIGURES = Figures(
    core_us=81.6,
    sail_core_us=17.7,
    text_core_ns=12.3,
    keys=31,
    record_bytes=69,
    shuffled=1988.0,
    comparison_ns=1.0,
    strangers=(1.8e-5, 7.3e-4),
    candidates=0.13,
)
CLUSTER = Cluster()
COUNTS = (10**9, 10**10)
# Bytes of a text: a dozen words, and a page.
SIZES = (113, 3000)


@dataclass(frozen=True)
class Estimate:
    """An estimated run. Core-hours of the linear part and of comparisons of unrelated texts."""

    count: int
    size: int
    strangers: float
    linear: float
    compared: float
    shuffled: float
    hours: float


def estimate(count: int, size: int, strangers: float, figures: Figures, on: Cluster) -> Estimate:
    """Estimate a run whose stages do not overlap: an upper bound within the model."""
    linear = count * (figures.core_us * 1e-6 + size * figures.text_core_ns * 1e-9) / HOUR
    each = figures.keys * strangers * count / 2
    compared = count * each * figures.comparison_ns * 1e-9 / HOUR
    # Keys, and the texts of both sides of each candidate pair.
    shuffled = count * (figures.shuffled + 2 * figures.candidates * size)
    cores = on.machines * on.cores * on.use
    moved = shuffled / on.machines * (1 / on.network + 2 / on.disk_speed) / HOUR
    hours = (linear + compared) / cores + moved
    return Estimate(count, size, strangers, linear, compared, shuffled, hours)


def estimates(figures: Figures = FIGURES, on: Cluster = CLUSTER) -> Iterator[Estimate]:
    for count in COUNTS:
        for size in SIZES:
            for strangers in figures.strangers:
                yield estimate(count, size, strangers, figures, on)


def measured(figures: Figures = FIGURES) -> Iterator[str]:
    """Yield the table of measured figures."""
    low, high = figures.strangers
    yield "| measured on two cores | |\n|---|---|"
    time = f"{figures.core_us:g} µs"
    yield f"| CPU time per record of a dozen words, Spark 4.3 with its JVM, 22 keys | {time} |"
    yield f"| the same on pysail | {figures.sail_core_us:g} µs |"
    yield f"| CPU time per byte of text, to read and sketch it | {figures.text_core_ns:g} ns |"
    yield f"| join keys per record | {figures.keys} |"
    yield f"| bytes of a shuffle record, before compression | {figures.record_bytes} |"
    yield f"| bytes per record that Spark wrote for shuffles, 22 keys | {figures.shuffled:g} |"
    yield f"| time to compare two rows of a bucket | {figures.comparison_ns:g} ns |"
    yield f"| probability that two unrelated texts share the key of a table | {low:g} to {high:g} |"
    yield f"| pairs verified per record | {figures.candidates:g} |"


def tables(figures: Figures = FIGURES, on: Cluster = CLUSTER) -> Iterator[str]:
    """Yield the table of estimates."""
    yield (
        "| documents | bytes of each | two unrelated texts share a key | core-hours, linear "
        "| core-hours, unrelated pairs | shuffled | disk used per machine | hours on "
        f"{on.name} |\n|---|---|---|---|---|---|---|---|"
    )
    for found in estimates(figures, on):
        disk = found.shuffled / on.machines / on.disk
        yield (
            (
                f"| {found.count:.0e} | {found.size:,} | {found.strangers:.2g} "
                f"| {_two(found.linear)} | {_two(found.compared)} "
                f"| {_two(found.shuffled / 1e12)} TB | {disk:.0%} | {_two(found.hours)} |"
            )
            .replace("e+0", "e")
            .replace("e+", "e")
        )


def _two(number: float) -> str:
    """Round to two digits, as it is an estimate."""
    if number < 10:
        return f"{number:.2g}"
    digits = len(str(int(number))) - 2
    return f"{round(number, -digits):,.0f}"


def main() -> None:
    for line in (*measured(), "", *tables()):
        print(line)


if __name__ == "__main__":
    main()
