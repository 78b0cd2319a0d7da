"""neardup serve: a collection over HTTP, with a page."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup._util.extras import install_hint
from neardup.cli import DONE, console
from neardup.cli.command import FILE_PATH, LIMITS, SERVICE, argument, command, only, option
from neardup.cli.inputs import open_collection
from neardup.cli.options import OutputOptions

if TYPE_CHECKING:
    from neardup.collection import Collection
    from neardup.service.settings import ServiceSettings

MEGABYTE = 1 << 20
# Requests per second from one client if other machines can reach the service.
REMOTE_RATE = 200.0
# Open files beside connections.
OTHER_FILES = 128


@dataclass(frozen=True)
class ServeOptions:
    SECTION = SERVICE

    host: str = option(
        "--host",
        default="127.0.0.1",
        metavar="H",
        help="Address to listen on; addresses that other machines reach need --token-file. "
        "[default: 127.0.0.1]",
    )
    port: int = option(
        "--port",
        default=8765,
        metavar="P",
        min=0,
        max=65535,
        help="Port to listen on; 0 for any free one. [default: 8765]",
    )
    token_file: Path | None = option(
        "--token-file",
        metavar="FILE",
        help="Tokens that clients need: lines of 'read TOKEN' or 'write TOKEN'. Reloaded when it "
        "changes.",
    )
    names: tuple[str, ...] = option(
        "--name",
        default=(),
        metavar="NAME",
        help="Further host name under which the service is reached; may be repeated.",
    )
    read_only: bool = option(
        "--read-only", default=False, help="Refuse to add and remove documents."
    )


@dataclass(frozen=True)
class LimitOptions:
    SECTION = LIMITS

    rate: float | None = option(
        "--rate",
        metavar="N",
        min=0.0,
        help="Requests per second from one client; 0 for no limit. [default: none for a local "
        f"host, else {REMOTE_RATE:g}]",
    )
    max_body: int = option(
        "--max-body",
        default=16,
        metavar="MB",
        min=1,
        max=1024,
        help="Largest request, in megabytes. [default: 16]",
    )
    max_batch: int = option(
        "--max-batch",
        default=1000,
        metavar="N",
        min=1,
        max=100_000,
        help="Most documents in a request. [default: 1000]",
    )
    workers: int = option(
        "--workers",
        default=4,
        metavar="N",
        min=1,
        max=256,
        help="Threads that handle requests. [default: 4]",
    )
    queue: int = option(
        "--queue",
        default=256,
        metavar="N",
        min=1,
        max=100_000,
        help="Requests that wait for a thread; more get status 503. [default: 256]",
    )


@command(
    argument(
        "path",
        "[COLLECTION]",
        "Folder whose name ends in .neardup. [default: a demo made of the sample]",
        type=FILE_PATH,
    ),
    own=ServeOptions,
    limits=LimitOptions,
    output=only(OutputOptions, "quiet"),
)
def serve(path: Path | None, own: ServeOptions, limits: LimitOptions, output: OutputOptions) -> int:
    """Serve a collection over HTTP, with a page to try it.

    Prints the URL on standard output. It listens on this machine only, unless --host says
    otherwise. SIGTERM or Ctrl-C stops it after the accepted requests are answered.

    \b
    Examples:
      neardup serve
      neardup serve seen.neardup --port 9000
      neardup serve seen.neardup --host 0.0.0.0 --token-file tokens
      curl http://127.0.0.1:8765/v1/check -H 'Content-Type: application/json' \\
        -d '{"text": "the cat sat on the mat"}'
    """
    _check_extra()
    from neardup.service import server
    from neardup.service.settings import ServiceSettings

    # Before there are threads, which would have heaps of their own.
    server.tune_malloc()

    settings = ServiceSettings(
        host=own.host,
        port=own.port,
        names=own.names,
        token_file=own.token_file,
        read_only=own.read_only,
        max_body=limits.max_body * MEGABYTE,
        max_batch=limits.max_batch,
        workers=limits.workers,
        queue=limits.queue,
    )
    if not settings.is_local and own.token_file is None:
        raise click.BadParameter(
            f"other machines can reach {own.host}, so clients need tokens; add --token-file FILE",
            param_hint="--host",
        )
    default_rate = 0.0 if settings.is_local else REMOTE_RATE
    rate = default_rate if limits.rate is None else limits.rate
    settings = settings.replace(
        rate=rate, burst=max(1, int(2 * rate)), connections=_allow_files(settings.connections)
    )
    _start_log(output.quiet)
    with _open(path, read_only=own.read_only) as collection:
        _serve(collection, settings, demo=path is None, quiet=output.quiet)
    return DONE


def _check_extra() -> None:
    """Raise an error that says how to install the packages if one is missing."""
    try:
        import neardup.service.server  # noqa: F401
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "neardup":
            raise
        raise ValueError(
            f"serving needs the package {error.name}, which is not installed; "
            f"{install_hint('serve')}"
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
def _open(path: Path | None, *, read_only: bool) -> Iterator[Collection]:
    with ExitStack() as stack:
        if path is None:
            from tempfile import TemporaryDirectory

            from neardup.service.state import demo_collection

            folder = stack.enter_context(TemporaryDirectory(prefix="neardup-"))
            found = stack.enter_context(demo_collection(Path(folder)))
        else:
            found = stack.enter_context(open_collection(path, read_only=read_only))
        if not read_only:
            # Takes the write lock now, so that another writer is reported before the start.
            found.remove([])
        yield found


def _start_log(quiet: bool) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger("neardup")
    root.addHandler(handler)
    root.propagate = False
    root.setLevel(logging.WARNING if quiet else logging.INFO)


def _allow_files(connections: int) -> int:
    """Raise the limit of open files, and return how many connections it allows."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + OTHER_FILES
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(1, min(connections, soft - OTHER_FILES))
