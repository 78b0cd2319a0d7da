"""The commands put together, and what becomes of their errors."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from neardup.cli import console

# As they are listed. Only the one that is asked for is loaded.
COMMANDS = (
    *("dedup", "pairs", "cluster", "filter", "check", "search", "index"),
    *("serve", "http", "fingerprint", "compare", "explain", "recipes"),
)

# Commands that have commands of their own.
GROUPS = ("index", "http")

# The base of every complaint about arguments; typer has moved it between modules.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def app_of(arguments: Sequence[str]) -> typer.Typer:
    """The command that is asked for; all of them where that is not clear."""
    app = typer.Typer(
        name="neardup",
        # Both would import rich, which takes longer than everything else in `neardup --help`.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(root)
    for name in arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS:
        module = importlib.import_module(f"neardup.cli.{name}")
        if name in GROUPS:
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(module.command)
    return app


def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Find texts that are the same but for small changes.

    \b
    Examples:
      neardup dedup documents.jsonl -o kept.jsonl --report report.html
      neardup index add seen.neardup documents.jsonl --unless-duplicate
      crawler | neardup filter --in seen.neardup > new.jsonl
      neardup search draft.txt --in documents.jsonl
      neardup compare a.txt b.txt --html compared.html
      neardup check essays/ --html report
      neardup serve seen.neardup
      neardup cluster crawl.warc.gz -o responses.csv --kinds kinds.csv
      neardup fingerprint documents.jsonl -o fingerprints.csv
      neardup explain --bits 8 --text "the quick brown fox"
      neardup recipes
    """
    if version:
        from neardup._core import __version__

        print(f"neardup {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def invoke(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; closed pipes, Ctrl-C and what nobody has
    thought of go to the caller."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not stop the work.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    command = typer.main.get_command(app_of(arguments))
    try:
        # Not command.main(), which has its own codes for closed pipes and Ctrl-C.
        with command.make_context("neardup", list(arguments)) as context:
            code = command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    except UsageError as error:
        if _is_help(error):
            console.lines(str(error))
        else:
            console.error(_usage(error))
        return 2
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        if not console.reason(error):
            raise
        console.failed(error)
        return 1
    return code if isinstance(code, int) else 0


def _is_help(error: Exception) -> bool:
    """Whether a group was called without a command: the message then is its help."""
    return type(error).__name__ == "NoArgsIsHelpError"


def _usage(error: Exception) -> str:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "neardup"
    end = "" if message.endswith((".", "?")) else "."
    return f"{message}{end} See '{path} --help'."
