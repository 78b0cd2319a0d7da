"""What the commands on whole files share: progress, problems, the summary, the exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from neardup.cli import console
from neardup.cli.options import recipe_of
from neardup.cli.progress import Progress

if TYPE_CHECKING:
    from neardup.jobs import Summary
    from neardup.sources import Reading

DONE, UNREADABLE = 0, 3


def run(
    job: Callable[..., Summary],
    inputs: Sequence[str],
    out: Path,
    *,
    recipe: str | None,
    bits: int | None,
    reading: Reading,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Run a job and say what it did."""
    from neardup import jobs
    from neardup.cli.inputs import Notes

    if list(inputs).count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read only once", param_hint="INPUT")
    problems = console.Problems()
    with Progress(shown=not quiet and sys.stderr.isatty()) as progress:
        notes = Notes(quiet=quiet, before=progress.stop)
        chosen = jobs.Options(
            recipe=recipe_of(recipe, bits),
            reading=reading,
            # The exit code, the summary and the quarantine file tell of them all the same.
            on_problem=None if quiet else problems,
            on_warning=notes,
            on_note=notes,
            progress=progress,
            **options,
        )
        try:
            found = job(inputs, out, chosen)
        except jobs.RefusedError as error:
            raise typer.BadParameter(str(error)) from error
        except jobs.UnreadableError as error:
            progress.stop()
            problems.close()
            console.error(str(error))
            return UNREADABLE
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_left(chosen.work_dir)) from None
    problems.close()
    notes.close()
    if as_json:
        print(json.dumps(found.as_dict(), ensure_ascii=False))
    if not quiet:
        for line in lines_of(found):
            console.error(line)
    return UNREADABLE if found.unreadable else DONE


def _left(work_dir: Path | None) -> str:
    if work_dir is None:
        return "nothing was written"
    return f"nothing was written; go on with the same command and --resume (work in {work_dir})"


def lines_of(found: Summary) -> list[str]:
    """The summary for a person."""
    read = f"read {found.read:,}"
    if found.reference:
        read += f" ({found.reference:,} to compare with)"
    lines = [
        f"{read}, unreadable {found.unreadable:,}, without signal {found.no_signal:,}, "
        f"pairs {found.pairs:,}, clusters {found.clusters:,}"
    ]
    if found.job == "pairs":
        lines = [lines[0].rpartition(",")[0]]
    if found.kept is not None and found.removed is not None:
        lines.append(f"kept {found.kept:,}, removed {found.removed:,}")
    lines.append(_how(found))
    if (weak := found.weakest) is not None:
        lines.append(
            f"{weak['below']:,} records are below {found.similarity:g} similarity to the one that "
            f"stands for them (lowest {weak['similarity']:.2f}, {weak['id']!r} for "
            f"{weak['kept']!r} in a cluster of {weak['size']:,}); they were linked by a chain. "
            "Use --linkage star."
        )
    lines.append(f"{found.seconds:.1f} seconds, {found.peak_memory / 1e6:,.0f} MB of memory")
    lines.append(f"wrote {', '.join(found.files)}")
    return lines


def _how(found: Summary) -> str:
    """What was asked for, how it was looked for, and how much of it was found."""
    plan = found.plan
    if found.similarity is not None:
        how = "each with each"
        if plan.get("method") == "sketches":
            how = f"{plan.get('tables', 0)} tables of sketches"
        line = (
            f"similarity {found.similarity:g}, {found.verified:,} verified, recall {found.recall:g}"
        )
        if found.estimated_recall is not None:
            line += f", estimated {found.estimated_recall:.3f}"
        return f"{line} ({how})"
    how = {
        "equal": "equal fingerprints only",
        "all-pairs": "each with each",
        "blocks": "exact, by blocks",
        "sampled": f"sampled, {plan.get('tables', 0)} sorts",
    }.get(plan.get("method", ""), "")
    return f"not verified, radius {found.radius}, recall {found.recall:g} ({how})"
