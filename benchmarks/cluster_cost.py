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
    """Measured, on two cores.

    core_us         processor time a record of a dozen words, DataFrames, Spark with its JVM: what
                    each cost beyond the first hundred thousand, so that the start does not count
    sail_core_us    the same on pysail
    text_core_ns    processor time a byte of text: reading, cutting into words, sketching
    keys            join keys a record, at similarity 0.85 and recall 0.99
    record_bytes    bytes of a record of the shuffle before it is packed: key, part, side, row,
                    registers
    shuffled        bytes a record that Spark wrote for shuffles, packed
    comparison_ns   comparing the registers of two rows of a bucket
    strangers       the chance that two unrelated texts share the key of a table: records of a
                    dozen words of 30,000 equally frequent ones; the same by Zipf's law
    candidates      pairs judged for each record
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
    """Assumed: 64 machines of the kind r6id.4xlarge.

    use  the share of the time that cores work on tasks
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
    sail_core_us=17.1,
    text_core_ns=12.3,
    keys=22,
    record_bytes=69,
    shuffled=1988.0,
    comparison_ns=1.0,
    strangers=(1.8e-5, 2.4e-4),
    candidates=0.13,
)
CLUSTER = Cluster()
COUNTS = (10**9, 10**10)
# Bytes of a text: a dozen words, and a page.
SIZES = (113, 3000)


@dataclass(frozen=True)
class Estimate:
    """A run on a cluster. Core-hours of what is linear, and of comparisons with strangers."""

    count: int
    size: int
    strangers: float
    linear: float
    compared: float
    shuffled: float
    hours: float


def estimate(count: int, size: int, strangers: float, figures: Figures, on: Cluster) -> Estimate:
    """Stage after stage, nothing at the same time: an upper estimate of what is modelled."""
    linear = count * (figures.core_us * 1e-6 + size * figures.text_core_ns * 1e-9) / HOUR
    each = figures.keys * strangers * count / 2
    compared = count * each * figures.comparison_ns * 1e-9 / HOUR
    # Keys, and the texts of candidates, both sides.
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
    """The table of what was measured."""
    low, high = figures.strangers
    yield "| measured on two cores | |\n|---|---|"
    time = f"{figures.core_us:g} µs"
    yield f"| processor time a record of a dozen words, Spark 4.3 with its JVM | {time} |"
    yield f"| the same on pysail | {figures.sail_core_us:g} µs |"
    yield f"| processor time a byte of text, to read and sketch it | {figures.text_core_ns:g} ns |"
    yield f"| join keys a record | {figures.keys} |"
    yield f"| bytes of a key with what goes along, before it is packed | {figures.record_bytes} |"
    yield f"| bytes a record that Spark wrote for its shuffles | {figures.shuffled:g} |"
    yield f"| comparing two rows of a bucket | {figures.comparison_ns:g} ns |"
    yield f"| the chance that two strangers share the key of a table | {low:g} to {high:g} |"
    yield f"| pairs judged for each record | {figures.candidates:g} |"


def tables(figures: Figures = FIGURES, on: Cluster = CLUSTER) -> Iterator[str]:
    """The table of docs/scale.md."""
    yield (
        "| documents | bytes of each | two strangers share a key | core-hours, linear "
        "| core-hours, strangers | shuffled | disk used of each machine | hours on "
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
    """Two digits: it is an estimate."""
    if number < 10:
        return f"{number:.2g}"
    digits = len(str(int(number))) - 2
    return f"{round(number, -digits):,.0f}"


def main() -> None:
    for line in (*measured(), "", *tables()):
        print(line)


if __name__ == "__main__":
    main()
