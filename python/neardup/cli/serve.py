"""neardup serve: a collection over HTTP, with a page."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neardup.cli import console, options
from neardup.cli.collections import opened

if TYPE_CHECKING:
    from neardup.collection import Collection
    from neardup.service.settings import ServiceSettings

MEGABYTE = 1 << 20
# Requests a second of one client where others than this machine can ask.
REMOTE_RATE = 200.0
# Files that are open beside connections.
OTHER_FILES = 128


def command(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="[COLLECTION]",
            help="A folder whose name ends in .neardup [default: a demo, made of a sample].",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(metavar="H", help="The address to listen on; others need --token-file."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="P", help="The port; 0: one that is free.")
    ] = 8765,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Who may ask: lines of 'read TOKEN' or 'write TOKEN'. It is read again when it "
            "changes.",
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="A further name under which it is asked; may be repeated.",
        ),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Documents are neither added nor removed.")
    ] = False,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="N",
            help="Requests a second of one client; 0: no limit [default: on this machine no limit, "
            f"else {REMOTE_RATE:g}].",
        ),
    ] = None,
    max_body: Annotated[
        int, typer.Option(min=1, max=1024, metavar="MB", help="Megabytes of one request.")
    ] = 16,
    max_batch: Annotated[
        int, typer.Option(min=1, max=100_000, metavar="N", help="Documents of one request.")
    ] = 1000,
    workers: Annotated[
        int, typer.Option(min=1, max=256, metavar="N", help="Threads that answer.")
    ] = 4,
    queue: Annotated[
        int,
        typer.Option(
            min=1, max=100_000, metavar="N", help="Requests that may wait; more are answered 503."
        ),
    ] = 256,
    quiet: options.QuietOption = False,
) -> int:
    """Answer over HTTP whether a text was seen before, and show a page to try it.

    The URL is printed on standard output. It listens on this machine only, unless --host says
    otherwise. SIGTERM or Ctrl-C ends it, when what was accepted is answered.

    \b
    Examples:
      neardup serve
      neardup serve seen.neardup --port 9000
      neardup serve seen.neardup --host 0.0.0.0 --token-file tokens --name search.example.org
      curl -d '{"text": "the cat sat on the mat"}' -H 'Content-Type: application/json' \\
        http://127.0.0.1:8765/v1/check
    """
    _check_extra()
    from neardup.service import server
    from neardup.service.settings import ServiceSettings

    # Before there are threads, which would have heaps of their own by then.
    server.tune_malloc()

    settings = ServiceSettings(
        host=host,
        port=port,
        names=tuple(name or ()),
        token_file=token_file,
        read_only=read_only,
        max_body=max_body * MEGABYTE,
        max_batch=max_batch,
        workers=workers,
        queue=queue,
    )
    if not settings.is_local and token_file is None:
        raise typer.BadParameter(
            f"others than this machine can reach {host}, so tokens are needed: give --token-file",
            param_hint="--host",
        )
    chosen = rate if rate is not None else 0.0 if settings.is_local else REMOTE_RATE
    settings = settings.replace(
        rate=chosen, burst=max(1, int(2 * chosen)), connections=_connections(settings.connections)
    )
    _log(quiet)
    with _collection(path, read_only=read_only) as collection:
        _serve(collection, settings, demo=path is None, quiet=quiet)
    return 0


def _check_extra() -> None:
    """The packages are there, or one sentence says how to get them."""
    try:
        import neardup.service.server  # noqa: F401
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "neardup":
            raise
        raise ValueError(
            f"serving needs the package {error.name}, which is not installed; "
            "pip install 'neardup[serve]'"
        ) from None


def _serve(collection: Collection, settings: ServiceSettings, *, demo: bool, quiet: bool) -> None:
    from neardup.service.server import serve
    from neardup.service.state import Service

    service = Service(collection, settings, demo=demo)

    def ready(url: str) -> None:
        if not quiet:
            what = "a demo collection" if demo else str(collection.path.name)
            console.error(f"serving {what} of {len(collection):,} documents; Ctrl-C stops it")
        print(url, flush=True)

    try:
        serve(service, ready)
    finally:
        service.close()


@contextmanager
def _collection(path: Path | None, *, read_only: bool) -> Iterator[Collection]:
    with ExitStack() as stack:
        if path is None:
            from tempfile import TemporaryDirectory

            from neardup.service.state import demo_collection

            folder = stack.enter_context(TemporaryDirectory(prefix="neardup-"))
            found = stack.enter_context(demo_collection(Path(folder)))
        else:
            found = stack.enter_context(opened(path, read_only=read_only))
        if not read_only:
            # From here on nobody else writes; if somebody does already, it is told now.
            found.remove([])
        yield found


def _log(quiet: bool) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger("neardup")
    root.addHandler(handler)
    root.propagate = False
    root.setLevel(logging.WARNING if quiet else logging.INFO)


def _connections(most: int) -> int:
    """As many connections as this process may have files, which is asked for if it is too few."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + OTHER_FILES
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(1, min(most, soft - OTHER_FILES))
