"""neardup dedup: files without their near-duplicates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neardup.cli import options


def command(
    inputs: options.InputsArgument,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="Kept records, unchanged, in the inputs' format; - for standard output.",
        ),
    ],
    similarity: options.SimilarityOption = None,
    radius: options.RadiusOption = None,
    recall: options.RecallOption = None,
    keep: options.KeepOption = "first",
    linkage: options.LinkageOption = "star",
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="FILE|COLLECTION",
            help="Remove only what is near a record of these files, or a document of a collection "
            "(.neardup), and nothing else; may be given several times.",
        ),
    ] = None,
    removed: Annotated[
        Path | None,
        typer.Option(
            "--removed",
            metavar="FILE",
            help="Write what was removed, and for which record: .jsonl, .csv, .parquet.",
        ),
    ] = None,
    report: options.ReportOption = None,
    report_clusters: options.ReportClustersOption = None,
    lang: options.LangOption = None,
    quarantine: options.QuarantineOption = None,
    no_guard: options.NoGuardOption = False,
    text_column: options.TextColumnOption = None,
    id_column: options.IdColumnOption = None,
    lines: options.LinesOption = False,
    format: options.FormatOption = None,  # noqa: A002
    encoding: options.EncodingOption = None,
    delimiter: options.DelimiterOption = None,
    quoting: options.QuotingOption = None,
    no_header: options.NoHeaderOption = False,
    max_bytes: options.MaxBytesOption = None,
    max_document: options.MaxDocumentOption = None,
    as_what: options.AsOption = None,
    no_mask: options.NoMaskOption = None,
    within: options.WithinOption = None,
    recipe: options.RecipeOption = None,
    bits: options.BitsOption = None,
    engine: options.EngineOption = "local",
    master: options.MasterOption = None,
    threads: options.ThreadsOption = None,
    work_dir: options.WorkDirOption = None,
    resume: options.ResumeOption = False,
    strict: options.StrictOption = False,
    config: options.ConfigOption = None,
    as_json: options.SummaryOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Remove near-duplicates from files.

    Writes the records that are kept, byte for byte and in order. Every record removed reaches the
    similarity with the one kept for it, by the exact cosine of their words. What cannot be read is
    listed in a quarantine file, and the exit code is then 3.

    \b
    Examples:
      neardup dedup documents.jsonl -o kept.jsonl --report report.html
      neardup dedup "crawl/*.jsonl.gz" -o kept.jsonl.zst --keep longest
      neardup dedup new.parquet -o fresh.parquet --against old.parquet
      neardup dedup new.jsonl -o fresh.jsonl --against seen.neardup
    """
    from neardup import jobs
    from neardup.cli.inputs import reading_of
    from neardup.cli.job import run

    options.check_printed(as_json, out=out, removed=removed, report=report)
    return run(
        jobs.dedup,
        inputs,
        out,
        similarity=similarity,
        radius=radius,
        recall=recall,
        keep=keep,
        linkage=linkage,
        against=tuple(against or ()),
        removed=removed,
        report=report,
        report_clusters=report_clusters,
        lang=lang,
        quarantine=quarantine,
        guard=not no_guard,
        reading=reading_of(
            text_column,
            id_column,
            lines,
            format,
            encoding=encoding,
            delimiter=delimiter,
            quoting=quoting,
            no_header=no_header,
            max_bytes=max_bytes,
            max_document=max_document,
        ),
        as_what=as_what,
        no_mask=no_mask,
        within=options.only_one("--within", within),
        recipe=recipe,
        bits=bits,
        engine=engine,
        master=master,
        threads=threads,
        work_dir=work_dir,
        resume=resume,
        strict=strict,
        as_json=as_json,
        quiet=quiet,
    )
