"""What the commands on whole files share: progress, problems, the summary, the exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from neardup.cli import console
from neardup.cli.captures import choose
from neardup.cli.console import ProgressBar

if TYPE_CHECKING:
    from neardup.files.reading.batch import Reading
    from neardup.jobs import Summary

DONE, UNREADABLE = 0, 3


def run(
    job: Callable[..., Summary],
    inputs: Sequence[str],
    out: Path,
    *,
    recipe: str | None,
    bits: int | None,
    as_what: str | None,
    no_mask: Sequence[str] | None,
    reading: Reading,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Run a job and say what it did."""
    from neardup import jobs
    from neardup.cli.inputs import InputNotes

    if list(inputs).count("-") > 1:
        raise typer.BadParameter("standard input (-) can be read only once", param_hint="INPUT")
    reading, made = choose(
        [*inputs, *options.get("against", ())],
        reading,
        recipe=recipe,
        bits=bits,
        as_what=as_what,
        no_mask=no_mask,
        tell=None if quiet else console.error,
    )
    problems = console.problems_of(reading)
    with ProgressBar(shown=not quiet and sys.stderr.isatty()) as progress:
        notes = InputNotes(quiet=quiet, before=progress.stop)
        chosen = jobs.Options(
            recipe=made,
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
    """The summary for a person: what was found, then how."""
    lines = [f"{_found(found)}, unreadable {found.unreadable:,}", _read(found), _how(found)]
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


def _found(found: Summary) -> str:
    """What people want to know first."""
    copies = _counted(found.exact, "exact copy", "exact copies")
    kinds = f"{copies}, {_counted(found.near, 'near-duplicate')}"
    if found.kept is not None and found.removed is not None:
        removed = f"removed {found.removed:,}"
        return f"kept {found.kept:,}, {removed}" + (f" ({kinds})" if found.removed else "")
    if found.job == "pairs":
        return _counted(found.pairs, "pair") + (f" ({kinds})" if found.pairs else "")
    if found.kinds is not None:
        responses = _counted(found.read, "response")
        alone = ""
        if found.alone:
            odd = "an odd one" if found.alone == 1 else "odd ones"
            alone = f"; {found.alone:,} of them {odd} (alone)"
        return f"{responses} of {_counted(found.kinds, 'kind')}{alone}"
    if not found.clusters:
        return "no clusters"
    held = f"{_counted(found.clusters, 'cluster')} with {found.clustered or 0:,} records"
    return f"{held} (beside the representatives {kinds})"


def _read(found: Summary) -> str:
    line = f"read {_counted(found.read, 'record')}"
    if found.reference:
        line += f", {found.reference:,} of them to compare with"
    if found.no_signal:
        line += f"; {found.no_signal:,} with too few words to compare"
    return line


def _how(found: Summary) -> str:
    """How it was looked for, and how much of it was found."""
    from neardup.jobs.options import NEARLY_ALL

    plan = found.plan
    if found.similarity is None:
        reach = f"pairs of fingerprints at most {_counted(found.radius or 0, 'bit')} apart"
        share = "all" if found.recall == 1 else f"about {_percent(found.recall)} of the"
        return f"found {share} {reach}; texts were not compared"
    at = f"of the pairs at {found.similarity:g}"
    if plan.get("method") == "all-pairs":
        return f"compared each record with every other; all {at} found"
    checked = f"checked {_counted(found.candidates, 'candidate pair')}"
    if not found.candidates:
        # Texts that say the same are known without a look at them.
        checked = "no pair had to be checked"
    if asked := plan.get("collections"):
        looked_up = f"looked each record up in {_counted(asked, 'collection')}"
        checked = f"{checked}; {looked_up}" if found.candidates else looked_up
    if dense := plan.get("dense"):
        groups = _counted(len(dense), "group")
        checked += f" and {groups} of many records alike, up to {max(dense):,}"
    if found.estimated_recall is None:
        return f"{checked}; {_percent(found.recall)} {at} are expected to be found"
    if found.estimated_recall > NEARLY_ALL:
        return f"{checked}; nearly all {at} found"
    return f"{checked}; about {_percent(found.estimated_recall)} {at} found"


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
