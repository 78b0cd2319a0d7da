"""neardup cluster: which record belongs to which cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neardup.cli import options


def command(
    inputs: options.InputsArgument,
    out: options.TableOption,
    similarity: options.SimilarityOption = None,
    radius: options.RadiusOption = None,
    recall: options.RecallOption = None,
    keep: options.KeepOption = "first",
    linkage: options.ClusterLinkageOption = None,
    kinds: Annotated[
        Path | None,
        typer.Option(
            "--kinds",
            metavar="FILE",
            help="With --as http: write a row for every kind of response, the largest first: "
            ".jsonl, .csv, .tsv or .parquet.",
        ),
    ] = None,
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            "--labels",
            metavar="FILE.toml",
            help="With --kinds: rules for labels of your own, which come before those that are "
            "known; may be given several times.",
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
    """Group near-duplicates.

    Writes a row for every document: id, cluster (a number), size, and the id of the representative.
    A document that is alone is a cluster of one.

    Of captures of HTTP responses (--as http) a cluster is a kind of answer. A row has also url,
    status, title, server and length; --kinds writes a row for every kind: cluster, size, status,
    title, server, shortest and longest length, representative and its url, hosts (how many), label
    and the rule that gave it, and the lowest similarity within. --report is then a page to look
    through them: by label, status, title, server and host, with samples of each.

    \b
    Examples:
      neardup cluster documents.jsonl -o clusters.csv
      neardup cluster pages/ -o clusters.parquet --linkage star --similarity 0.8
      neardup cluster crawl.warc.gz -o all.csv --kinds kinds.csv --report k.html
      neardup cluster httpx.jsonl --as http -o responses.csv --within host
    """
    from neardup import jobs
    from neardup.cli.inputs import reading_of
    from neardup.cli.job import run

    options.check_printed(as_json, out=out, kinds=kinds, report=report)
    return run(
        jobs.cluster,
        inputs,
        out,
        similarity=similarity,
        radius=radius,
        recall=recall,
        keep=keep,
        linkage=linkage,
        kinds=kinds,
        labels=tuple(labels or ()),
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
