"""A collection opened by a command, and what commands on one share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli.console import ProgressBar

if TYPE_CHECKING:
    from neardup.collection import Collection
    from neardup.files.writing import Columns

# By it a folder is known as a collection; imports would take long.
DATABASE = "collection.sqlite"
SUFFIX = ".neardup"

CollectionArgument = Annotated[
    Path, typer.Argument(metavar="COLLECTION", help="A folder whose name ends in .neardup.")
]


@contextmanager
def opened(path: Path, **how: Any) -> Iterator[Collection]:
    """The collection; only `create` makes one."""
    from neardup.collection import Collection

    if not path.name.endswith(SUFFIX):
        raise typer.BadParameter(
            f"{str(path)!r}: the name of a collection ends in .neardup", param_hint="COLLECTION"
        )
    if "recipe" not in how and not path.is_file() and not (path / DATABASE).exists():
        raise FileNotFoundError(
            f"{path}: no such collection; make it with: neardup index create {path}"
        )
    with Collection.open(path, **how) as collection:
        yield collection


def check_order(path: Path, inputs: Sequence[str], command: str) -> None:
    """Who names the collection behind the files is told so, and not what is wrong with each."""
    for name in inputs:
        if Path(name).name.endswith(SUFFIX) and not path.name.endswith(SUFFIX):
            raise typer.BadParameter(
                f"{str(path)!r} is no collection, and {name!r} among the inputs is one; name the "
                f"collection first: neardup index {command} {name} {path}",
                param_hint="COLLECTION",
            )


def check_limits(collection: Collection, **limits: Any) -> None:
    """Wrong limits are told before anything is read."""
    try:
        collection.check([], **limits)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def table(
    stack: ExitStack,
    path: Path | None,
    columns: Columns,
    files: list[str],
    option: str,
    *,
    guard: bool,
) -> Callable[[dict[str, Any]], object] | None:
    """A function that writes a row to a file, if there is one."""
    if path is None:
        return None
    from neardup.files import writing

    try:
        writing.check(path, files)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error
    return stack.enter_context(writing.open_rows(path, columns, guard=guard))


def progress(doing: str, quiet: bool) -> ProgressBar:
    """How many documents are done, on a terminal."""
    progress = ProgressBar(shown=not quiet and sys.stderr.isatty())
    progress.stage(doing, None, "documents")
    return progress
