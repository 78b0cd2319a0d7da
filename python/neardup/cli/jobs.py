"""neardup dedup, pairs and cluster: jobs on whole files, with progress, summary and exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.cli import DONE, UNREADABLE, console
from neardup.cli.command import CAPTURES, KEPT, FileName, command, only, option
from neardup.cli.options import (
    INPUTS,
    JobOptions,
    KeepOptions,
    ReportOptions,
    check_streams,
    out_option,
)

if TYPE_CHECKING:
    from neardup.jobs import Summary


@dataclass(frozen=True)
class DedupOptions:
    out: Path = out_option(
        required=True, help="Kept records, unchanged, in the inputs' format; - for standard output."
    )
    keeping: KeepOptions = field(default_factory=KeepOptions)
    against: tuple[str, ...] = option(
        "--against",
        default=(),
        metavar="FILE|COLLECTION",
        section=KEPT,
        type=FileName(),
        daily=True,
        help="Remove only records near one of these files or collections (.neardup), and none for "
        "being near each other; may be repeated.",
    )
    removed: Path | None = option(
        "--removed",
        metavar="FILE",
        daily=True,
        help="Write the removed records and the record each is near: .jsonl, .csv, .parquet.",
    )
    report: ReportOptions = field(default_factory=ReportOptions)


@command(INPUTS, own=DedupOptions, shared=JobOptions)
def dedup(inputs: tuple[str, ...], own: DedupOptions, shared: JobOptions) -> int:
    """Remove near-duplicates from files.

    Writes the kept records unchanged and in order. Every removed record reaches the similarity with
    the record kept for it. Records that cannot be read are listed in a quarantine file, and the
    exit code is then 3.

    \b
    Examples:
      neardup dedup documents.jsonl -o kept.jsonl --report report.html
      neardup dedup "crawl/*.jsonl.gz" -o kept.jsonl.zst --keep longest
      neardup dedup new.parquet -o fresh.parquet --against old.parquet
      neardup dedup new.jsonl -o fresh.jsonl --against seen.neardup
    """
    from neardup.jobs import dedup as job

    check_streams(
        inputs, shared.output.as_json, out=own.out, removed=own.removed, report=own.report.report
    )
    return _run(
        job,
        inputs,
        own.out,
        shared,
        against=own.against,
        removed=own.removed,
        **vars(own.keeping),
        **vars(own.report),
    )


@dataclass(frozen=True)
class PairsOptions:
    out: Path = out_option(required=True)
    equal: str = option(
        "--equal",
        default="all",
        metavar="all|first",
        section=KEPT,
        daily=True,
        help="Pairs of identical texts: all, or each text with the first only. [default: all]",
    )


@command(INPUTS, own=PairsOptions, report=only(ReportOptions, "report", "lang"), shared=JobOptions)
def pairs(
    inputs: tuple[str, ...], own: PairsOptions, report: ReportOptions, shared: JobOptions
) -> int:
    """List near-duplicate pairs.

    Writes a row for every pair: the ids left and right, the distance in bits, the similarity (exact
    cosine), what differs (numbers, negation, symbols, order), and how many words of the right text
    the left one lacks. Pairs of identical texts come first, then the others in the order of the
    inputs.

    Identical texts are pairs too: 20,000 copies of a line are 199,990,000 pairs. With --equal first
    a copy is paired with the first one only, and only the first one with other texts: 19,999 pairs.

    \b
    Examples:
      neardup pairs documents.jsonl -o pairs.csv
      neardup pairs documents.jsonl -o pairs.parquet --radius 3 --bits 64
      neardup pairs lines.txt --lines -o pairs.csv --equal first
    """
    from neardup.jobs import pairs as job

    check_streams(inputs, shared.output.as_json, out=own.out, report=report.report)
    return _run(
        job,
        inputs,
        own.out,
        shared,
        equal=own.equal,
        report=report.report,
        lang=report.lang,
    )


@dataclass(frozen=True)
class ClusterOptions:
    out: Path = out_option(required=True)
    keeping: KeepOptions = field(default_factory=KeepOptions)
    kinds: Path | None = option(
        "--kinds",
        metavar="FILE",
        section=CAPTURES,
        daily=True,
        help="Write a row for every kind of response, the largest first: .jsonl, .csv, .tsv or "
        ".parquet.",
    )
    labels: tuple[Path, ...] = option(
        "--labels",
        default=(),
        metavar="FILE.toml",
        section=CAPTURES,
        help="With --kinds: your own label rules, tried before the built-in ones; may be repeated.",
    )
    report: ReportOptions = field(default_factory=ReportOptions)


@command(INPUTS, own=ClusterOptions, shared=JobOptions)
def cluster(inputs: tuple[str, ...], own: ClusterOptions, shared: JobOptions) -> int:
    """Group near-duplicates, or similar HTTP responses.

    Writes a row for every document: id, cluster (a number), size, the id of the representative,
    what differs from it (numbers, negation, symbols, order), and how many words it lacks. A
    document without near-duplicates is a cluster of one.

    With captures of HTTP responses (--as http) a cluster is a kind of response. Rows then have url,
    status, title, server and length too. --kinds writes a row for every kind: cluster, size,
    status, title, server, shortest and longest length, representative and its url, number of hosts,
    label and its rule, and the lowest similarity. --report is then a page to browse the kinds by
    label, status, title, server and host, with samples of each.

    \b
    Examples:
      neardup cluster documents.jsonl -o clusters.csv
      neardup cluster pages/ -o clusters.parquet --linkage star --similarity 0.8
      neardup cluster crawl.warc.gz -o all.csv --kinds kinds.csv --report k.html
      neardup cluster httpx.jsonl --as http -o responses.csv --within host
    """
    from neardup.jobs import cluster as job

    check_streams(
        inputs, shared.output.as_json, out=own.out, kinds=own.kinds, report=own.report.report
    )
    return _run(
        job,
        inputs,
        own.out,
        shared,
        kinds=own.kinds,
        labels=own.labels,
        **vars(own.keeping),
        **vars(own.report),
    )


def _run(
    job: Callable[..., Summary], inputs: tuple[str, ...], out: Path, shared: JobOptions, **own: Any
) -> int:
    """Run a job, print its summary, and return the exit code."""
    from neardup.jobs import Options

    output = shared.output
    reading, recipe = shared.reading.reading(), None
    # Without these options the job itself decides whether the inputs are captures.
    if any((*vars(shared.recipe).values(), shared.captures.as_what, shared.captures.no_mask)):
        from neardup.cli.captures import choose

        given = [*inputs, *own.get("against", ())]
        reading, recipe = choose(given, reading, shared.recipe, shared.captures, quiet=output.quiet)

    options = Options(
        recipe=recipe,
        reading=reading,
        within=shared.captures.within,
        quarantine=output.quarantine,
        strict=output.strict,
        guard=not output.no_guard,
        **vars(shared.near),
        **vars(shared.purpose),
        **vars(shared.engine),
        **own,
    )
    try:
        summary = console.run_job(partial(job, inputs, out), options, quiet=output.quiet)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_how_to_continue(shared.engine.work_dir)) from None
    if summary is None:
        return UNREADABLE
    if output.as_json:
        print(json.dumps(summary.as_dict(), ensure_ascii=False))
    if not output.quiet:
        for line in summary.as_lines():
            console.error(line)
    return UNREADABLE if summary.unreadable else DONE


def _how_to_continue(work_dir: Path | None) -> str:
    if work_dir is None:
        return "nothing was written"
    return (
        "nothing was written; to continue, run the same command with --resume "
        f"(intermediate files are in {work_dir})"
    )
