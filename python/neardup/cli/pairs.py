"""neardup pairs: all near-duplicate pairs."""

from __future__ import annotations

from typing import Annotated

import typer

from neardup.cli import options


def command(
    inputs: options.InputsArgument,
    out: options.TableOption,
    similarity: options.SimilarityOption = None,
    radius: options.RadiusOption = None,
    recall: options.RecallOption = None,
    equal: Annotated[
        str,
        typer.Option(
            "--equal",
            metavar="all|first",
            help="Of texts that say the same: all pairs, or each with the first of them only.",
        ),
    ] = "all",
    report: options.ReportOption = None,
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
    """List near-duplicate pairs.

    Writes a row for every pair: the ids left and right, the distance in bits, and the similarity
    (exact cosine). Pairs of records that say the same come first, then the others by their places.

    Texts that say the same are pairs as well, each with each: 20,000 copies of a line are
    199,990,000 pairs. With --equal first each copy is paired with the first of its kind only,
    and only the first with other texts: 19,999 pairs.

    \b
    Examples:
      neardup pairs documents.jsonl -o pairs.csv
      neardup pairs documents.jsonl -o pairs.parquet --radius 3 --bits 64
      neardup pairs lines.txt --lines -o pairs.csv --equal first
    """
    from neardup import jobs
    from neardup.cli.inputs import reading_of
    from neardup.cli.job import run

    options.check_printed(as_json, out=out)
    return run(
        jobs.pairs,
        inputs,
        out,
        similarity=similarity,
        radius=radius,
        recall=recall,
        equal=equal,
        report=report,
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
