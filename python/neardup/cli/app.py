"""The commands by name, and shell completion.

A command's module is imported when the command runs or its help is listed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from neardup.cli import DONE
from neardup.cli.command import Group, argument, command, run_commands

# Section of the list → command → module and attribute.
COMMANDS = {
    "Files": {
        "dedup": "jobs.dedup",
        "pairs": "jobs.pairs",
        "cluster": "jobs.cluster",
        "filter": "filter.filter_stream",
        "check": "check.check",
        "search": "search.search",
    },
    "Collections": {"index": "index.commands", "serve": "serve.serve"},
    "Single texts and recipes": {
        "compare": "compare.compare",
        "fingerprint": "fingerprint.fingerprint",
        "explain": "explain.explain",
        "recipes": "recipes.recipes",
    },
    "HTTP responses": {"http": "http.commands"},
    "Shell": {"completion": "app.completion"},
}
COMPLETION_VARIABLE = "_NEARDUP_COMPLETE"


class Root(Group):
    """All commands, listed in sections."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.list_commands(ctx)))
        for title, section in COMMANDS.items():
            found = ((name, self.get_command(ctx, name)) for name in section)
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (name.ljust(width), each.get_short_help_str(80))
                        for name, each in found
                        if each
                    ]
                )


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from neardup._core import __version__

        print(f"neardup {__version__}")
        ctx.exit()


root = Root(
    "neardup",
    modules={name: place for section in COMMANDS.values() for name, place in section.items()},
    help="""Find texts that are the same but for small changes.

    \b
    Examples:
      neardup dedup documents.jsonl -o kept.jsonl --report report.html
      neardup index add seen.neardup documents.jsonl --unless-duplicate
      crawler | neardup filter --in seen.neardup > new.jsonl
      neardup search draft.txt --in documents.jsonl
      neardup compare a.txt b.txt --html compared.html
      neardup check essays/ --html report
      neardup cluster crawl.warc.gz -o responses.csv --kinds kinds.csv
      neardup serve seen.neardup

    'neardup COMMAND -h' shows the daily options of a command, --help all of them; 'neardup
    --version' shows the version.
    """,
)
root.params.append(
    click.Option(
        ["--version"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_show_version,
        help="Show the version and exit.",
    )
)


@command(
    argument("shell", "bash|zsh|fish", "Your shell.", type=click.Choice(["bash", "zsh", "fish"]))
)
def completion(shell: str) -> int:
    """Print a script that completes commands, options and file names.

    \b
    Add the line of your shell to its start-up file:
      bash  ~/.bashrc                    eval "$(neardup completion bash)"
      zsh   ~/.zshrc, after compinit     eval "$(neardup completion zsh)"
      fish  ~/.config/fish/config.fish   neardup completion fish | source
    """
    from click.shell_completion import ShellComplete, get_completion_class

    class_ = get_completion_class(shell)
    assert class_ is not None  # noqa: S101
    script = class_(root, {}, "neardup", COMPLETION_VARIABLE)
    # Without bash's own check of its version, which starts a bash.
    print(ShellComplete.source(script))
    return DONE


def invoke(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code.

    Closed pipes, Ctrl-C and unexpected errors are left to the caller.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not stop the work.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, "neardup", COMPLETION_VARIABLE, instruction)
    return run_commands(root, arguments or ["--help"])
