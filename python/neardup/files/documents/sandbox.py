"""Documents read in another process that has limits and can be killed.

A few kilobytes can unpack to gigabytes, or keep a parser busy for minutes, in a call that no signal
interrupts. A thread cannot be killed, and shares its memory with all others.

PDFs: `pdf_text_in_worker`. A worker process is started for the first PDF and reads all that follow;
after a timeout or a crash the next PDF gets a new one. Requests and responses are plain bytes over
pipes: a text or a reason.

Untrusted documents (uploads): `sandboxed_text`. Each gets a process of its own, with lower
limits.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from neardup.files.documents import whole_text
from neardup.files.reading.batch import Reading, Task, Unreadable
from neardup.files.reading.formats import UnreadableDocumentError, all_formats, import_package

# Limits for one PDF; they grow with its size, since long books are legitimate.
PDF_SECONDS = 60.0
PDF_SECONDS_PER_BYTE = 1 / (1 << 20)
PDF_MEMORY_BYTES = 2 << 30
PDF_MEMORY_PER_BYTE = 4

# Size of the file, most bytes of text, seconds, bytes of memory.
REQUEST = struct.Struct(">QQdQ")
# Kind of the response, its size.
RESPONSE = struct.Struct(">cQ")
TEXT, REASON = b"T", b"R"
MAX_REASON_BYTES = 1 << 16
CHUNK_BYTES = 1 << 20
# How often the worker checks that its parent is alive.
WATCH_SECONDS = 0.5
WORKER_COMMAND = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from neardup.files.documents.sandbox import serve_pdfs; serve_pdfs(int(sys.argv[2]))"
)

_LOCK = threading.Lock()


def pdf_text_in_worker(data: bytes, most: int) -> str:
    """Return the text of a PDF as `pdf_text` does, read by the worker process within its limits."""
    import_package("pypdfium2", "PDF")
    if not sys.executable or getattr(sys, "frozen", False):
        # A frozen program has no interpreter to start.
        from neardup.files.documents import pdf

        return pdf.pdf_text(data, most)
    with _LOCK:
        worker = _Worker.current
        if worker is not None and worker.has_ended:
            # It was killed between two files, so the next one is not to blame.
            worker.stop()
            worker = None
        worker = worker or _Worker()
        try:
            kind, answer = worker.ask(data, most)
        except BaseException:
            # A late response would be taken for that of the next file.
            worker.stop()
            raise
    if kind == TEXT:
        return answer.decode("utf-8", "replace")
    result = json.loads(answer)
    raise UnreadableDocumentError(
        str(result["reason"]), kind=str(result["kind"]), hint=str(result["hint"])
    )


class _Worker:
    """The worker process, seen from this one."""

    current: _Worker | None = None

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", WORKER_COMMAND, json.dumps(sys.path), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            # Ctrl-C goes to this process only, which then kills the worker.
            start_new_session=True,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the PDF worker has no pipes")
        self._to, self._from = self._process.stdin, self._process.stdout
        for pipe in (self._to, self._from):
            os.set_blocking(pipe.fileno(), False)
        _Worker.current = self

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, data: bytes, most: int) -> tuple[bytes, bytes]:
        seconds = PDF_SECONDS + PDF_SECONDS_PER_BYTE * len(data)
        memory = PDF_MEMORY_BYTES + PDF_MEMORY_PER_BYTE * len(data)
        deadline = time.monotonic() + seconds
        try:
            with suppress(BrokenPipeError):  # _receive finds out why
                self._send(REQUEST.pack(len(data), most, seconds, memory), deadline)
                self._send(data, deadline)
            kind, size = RESPONSE.unpack(self._receive(RESPONSE.size, deadline))
            # A malicious file may have taken over the worker.
            if kind not in (TEXT, REASON) or size > (most if kind == TEXT else MAX_REASON_BYTES):
                raise EOFError
            return kind, self._receive(size, deadline)
        except TimeoutError:
            raise _too_long(seconds) from None
        except EOFError:
            code = self.stop()
            if code == -signal.SIGXCPU:
                raise _too_long(seconds) from None
            raise _too_much(memory, code) from None

    def _send(self, data: bytes, deadline: float) -> None:
        left = memoryview(data)
        while left:
            self._wait(self._to, selectors.EVENT_WRITE, deadline)
            with suppress(BlockingIOError):
                left = left[os.write(self._to.fileno(), left[:CHUNK_BYTES]) :]

    def _receive(self, size: int, deadline: float) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            self._wait(self._from, selectors.EVENT_READ, deadline)
            with suppress(BlockingIOError):
                data = os.read(self._from.fileno(), min(size - len(parts), CHUNK_BYTES))
                if not data:
                    raise EOFError
                parts += data
        return bytes(parts)

    def _wait(self, pipe: object, event: int, deadline: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, event)  # type: ignore[arg-type]
            while not selector.select(max(deadline - time.monotonic(), 0)):
                if time.monotonic() >= deadline:
                    raise TimeoutError

    def stop(self) -> int:
        """Kill the process unless it has ended by itself; return its exit code."""
        if _Worker.current is self:
            _Worker.current = None
        try:
            # The pipe closes a little before the exit code is there.
            code = self._process.wait(WATCH_SECONDS) if _is_closed(self._from) else None
        except subprocess.TimeoutExpired:
            code = None
        if code is None:
            self._process.kill()
            code = self._process.wait()
        self.close_pipes()
        return code

    def close_pipes(self) -> None:
        for pipe in (self._to, self._from):
            with suppress(OSError):
                pipe.close()

    def leave(self) -> None:
        """Forget the worker in a forked child: it belongs to the parent."""
        self.close_pipes()
        self._process.returncode = 0

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def _is_closed(pipe: object) -> bool:
    try:
        return not os.read(pipe.fileno(), 1)  # type: ignore[attr-defined]
    except (OSError, ValueError):
        return False


def _too_long(seconds: float) -> UnreadableDocumentError:
    return UnreadableDocumentError(
        f"takes too long: PDFium was stopped after {seconds:,.0f} seconds",
        kind="takes too long",
        hint="print it to a new PDF, or save its text",
    )


def _too_much(memory: int, code: int) -> UnreadableDocumentError:
    try:
        how = signal.Signals(-code).name
    except ValueError:
        how = f"exit code {code}"
    return UnreadableDocumentError(
        f"needs too much memory (more than {memory / (1 << 30):.1f} GiB), or crashes PDFium "
        f"({how})",
        kind="needs too much memory, or crashes PDFium",
        hint="print it to a new PDF, or save its text",
    )


@atexit.register
def _end() -> None:
    # Without the lock: a thread may hold it and wait for a response.
    if (worker := _Worker.current) is not None:
        _Worker.current = None
        worker.kill()
        if _LOCK.acquire(blocking=False):
            worker.close_pipes()
            _LOCK.release()


def _forked() -> None:
    _LOCK.release()
    if (worker := _Worker.current) is not None:
        _Worker.current = None
        worker.leave()


os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_forked)


# ---- in the worker process ----


def serve_pdfs(parent: int) -> None:
    """Read PDFs from standard input and write their texts, until the parent closes the pipe."""
    requests, responses = os.fdopen(0, "rb", closefd=False), os.fdopen(os.dup(1), "wb")
    # A library may print: send that to standard error.
    os.dup2(2, 1)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    from neardup.files.documents import pdf

    while len(head := requests.read(REQUEST.size)) == REQUEST.size:
        size, most, seconds, memory = REQUEST.unpack(head)
        limit_resources(seconds, memory)
        try:
            try:
                kind, answer = TEXT, pdf.pdf_text(_read_exactly(requests, size), most).encode()
            except UnreadableDocumentError as why:
                result = {"reason": str(why), "kind": why.kind, "hint": why.hint}
                kind, answer = REASON, json.dumps(result).encode()
        except MemoryError:
            # Nothing is reliable now; the parent sees that the process has ended.
            os._exit(1)
        responses.write(RESPONSE.pack(kind, len(answer)))
        responses.write(answer)
        responses.flush()


def _read_exactly(requests: BinaryIO, size: int) -> bytes:
    data = requests.read(size)
    if len(data) < size:
        os._exit(0)  # the parent is gone
    return data


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(0)


def limit_resources(seconds: float, memory: int, written: int | None = None) -> None:
    """Limit the further CPU time and memory of this process, and the size of files it writes."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + seconds) + 1)
    # Loaded libraries do not count. Not every system has this limit.
    _lower(resource.RLIMIT_AS, _address_space() + memory)
    _lower(resource.RLIMIT_CORE, 0)
    if written is not None:
        _lower(resource.RLIMIT_FSIZE, written)


def _lower(which: int, limit: int) -> None:
    import resource

    with suppress(ValueError, OSError):
        _, most = resource.getrlimit(which)
        if most != resource.RLIM_INFINITY:
            limit = min(limit, most)
        resource.setrlimit(which, (limit, most))


def _address_space() -> int:
    """Return the bytes of address space in use; 0 where the system does not report them."""
    with suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0


# ---- untrusted documents ----

# CPU time, and wall time after which the process is killed.
CPU_SECONDS, LAST_SECONDS = 5.0, 25.0
# Beside the interpreter's own.
MEMORY_BYTES = 512 << 20
# Of a compressed document, markup included.
MAX_UNPACKED_BYTES = 32 << 20

SANDBOX_COMMAND = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from neardup.files.documents.sandbox import serve_document; serve_document(*sys.argv[2:])"
)


class DocumentTooLongError(Exception):
    """A text of `count` characters, more than the limit."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


def sandboxed_text(kind: str, data: bytes, most: int) -> str:
    """Return the text of a document, read in a process of its own.

    Raise `UnreadableDocumentError`, or `DocumentTooLongError` if it has more than `most`
    characters.
    """
    # Never use the name that the uploader gave the file.
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        path = Path(folder) / f"file{all_formats()[kind].endings[0]}"
        path.write_bytes(data)
        if not sys.executable or getattr(sys, "frozen", False):
            # A frozen program has no interpreter to start.
            result = _read_document(kind, path, most)
        else:
            result = _run_sandbox(kind, path, most)
    if "count" in result:
        raise DocumentTooLongError(int(result["count"]))
    if "reason" in result:
        # A page has no command-line options, so leave out the advice to use one.
        reason = str(result["reason"])
        reason = reason.partition("; ")[0] if "--max-document" in reason else reason
        raise UnreadableDocumentError(reason, hint=str(result["hint"]))
    return str(result["text"])


def _run_sandbox(kind: str, path: Path, most: int) -> dict[str, Any]:
    answer = path.with_name("answer")
    command = [sys.executable, "-c", SANDBOX_COMMAND]
    with answer.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603
            [*command, json.dumps(sys.path), kind, str(path), str(most)],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.DEVNULL,
            # Ctrl-C goes to this process only, which finishes the request first.
            start_new_session=True,
        )
        try:
            code = process.wait(LAST_SECONDS)
        except subprocess.TimeoutExpired:
            code = -signal.SIGXCPU
        finally:
            process.kill()
            process.wait()
    if code == -signal.SIGXCPU:
        raise UnreadableDocumentError(
            "takes too long to read", hint="save its text to a file and use that"
        )
    if code:
        raise UnreadableDocumentError(
            "needs too much memory, or crashes its parser",
            hint="save its text to a file and use that",
        )
    found: dict[str, Any] = json.loads(answer.read_bytes())
    return found


def serve_document(kind: str, path: str, most: str) -> None:
    """Read one document in the sandbox process and write its text, or the reason, as JSON."""
    answer = os.fdopen(os.dup(1), "wb")
    # A library may print: send that to standard error.
    os.dup2(2, 1)
    # An escaped character takes at most six bytes.
    limit_resources(CPU_SECONDS, MEMORY_BYTES, written=6 * int(most) + (1 << 16))
    try:
        result = json.dumps(_read_document(kind, Path(path), int(most)), ensure_ascii=False)
        answer.write(result.encode())
        answer.flush()
    except (MemoryError, OSError):
        # Nothing is reliable now; the parent sees the exit code.
        os._exit(1)
    os._exit(0)


def _read_document(kind: str, path: Path, most: int) -> dict[str, Any]:
    problems: list[Unreadable] = []
    try:
        if kind == "pdf":
            # Not in a worker: this process is the sandbox already.
            from neardup.files.documents.pdf import pdf_text

            text: str | None = pdf_text(path.read_bytes(), MAX_UNPACKED_BYTES)
        else:
            reading = Reading(max_document=MAX_UNPACKED_BYTES)
            text = whole_text(kind, Task(str(path), reading, problems.append, lambda _: None))
    except UnreadableDocumentError as why:
        return {"reason": str(why), "hint": why.hint}
    if text is None:
        return {"reason": problems[0].reason, "hint": problems[0].hint}
    return {"count": len(text)} if len(text) > most else {"text": text}
