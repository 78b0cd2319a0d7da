"""PDFs read in another process, which may be stopped.

A few kilobytes can keep PDFium busy for ever, in a call that no signal ends, and take all memory.
So it gets a process with limits of time and memory. One is started for the first PDF and serves
all that follow; after a file that was too much for it the next file gets a new one. The two talk
in plain bytes over pipes: what comes back is no more than a text or a reason.
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
import threading
import time
from contextlib import suppress
from typing import BinaryIO

from neardup.files.documents.prose import UnreadableDocumentError
from neardup.files.reading.extra import package

# For one file, and so much more for each of its bytes: long books are no attack.
SECONDS = 60.0
SECONDS_A_BYTE = 1 / (1 << 20)
MEMORY = 2 << 30
MEMORY_A_BYTE = 4

# Sizes of the file and of its text, seconds and bytes of memory; the kind of an answer, its size.
QUESTION = struct.Struct(">QQdQ")
ANSWER = struct.Struct(">cQ")
TEXT, REASON = b"T", b"R"
MOST_REASON = 1 << 16
STEP = 1 << 20
# How often the other process looks whether it is still wanted.
WATCH = 0.5
BEGIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from neardup.files.documents.pdf_worker import serve; serve(int(sys.argv[2]))"
)

_ONE = threading.Lock()


def text_of(data: bytes, most: int) -> str:
    """As `pdf.text_of`, within the limits."""
    package("pypdfium2", "PDF")
    if not sys.executable or getattr(sys, "frozen", False):
        # There is no interpreter to start.
        from neardup.files.documents import pdf

        return pdf.text_of(data, most)
    with _ONE:
        worker = _Worker.current
        if worker is not None and worker.has_ended:
            # Something else ended it. That is no fault of this file.
            worker.stop()
            worker = None
        worker = worker or _Worker()
        try:
            kind, answer = worker.ask(data, most)
        except BaseException:
            # Whatever ended it: what it would still say is no answer to the next file.
            worker.stop()
            raise
    if kind == TEXT:
        return answer.decode("utf-8", "replace")
    told = json.loads(answer)
    raise UnreadableDocumentError(
        str(told["reason"]), kind=str(told["kind"]), hint=str(told["hint"])
    )


class _Worker:
    """The other process, as this one sees it."""

    current: _Worker | None = None

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", BEGIN, json.dumps(sys.path), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            # Ctrl-C is for this process, which ends the other.
            start_new_session=True,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("a process without pipes")
        self._to, self._from = self._process.stdin, self._process.stdout
        for pipe in (self._to, self._from):
            os.set_blocking(pipe.fileno(), False)
        _Worker.current = self

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, data: bytes, most: int) -> tuple[bytes, bytes]:
        seconds = SECONDS + SECONDS_A_BYTE * len(data)
        memory = MEMORY + MEMORY_A_BYTE * len(data)
        deadline = time.monotonic() + seconds
        try:
            with suppress(BrokenPipeError):  # why it has ended is told below
                self._send(QUESTION.pack(len(data), most, seconds, memory), deadline)
                self._send(data, deadline)
            kind, size = ANSWER.unpack(self._receive(ANSWER.size, deadline))
            # The other process may have been taken over by the file.
            if kind not in (TEXT, REASON) or size > (most if kind == TEXT else MOST_REASON):
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
                left = left[os.write(self._to.fileno(), left[:STEP]) :]

    def _receive(self, size: int, deadline: float) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            self._wait(self._from, selectors.EVENT_READ, deadline)
            with suppress(BlockingIOError):
                data = os.read(self._from.fileno(), min(size - len(parts), STEP))
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
        """Ends the process. How it ended: what it did before it was stopped counts."""
        if _Worker.current is self:
            _Worker.current = None
        try:
            # Its end is seen a little after that of its pipe.
            code = self._process.wait(WATCH) if _is_ended(self._from) else None
        except subprocess.TimeoutExpired:
            code = None
        if code is None:
            self._process.kill()
            code = self._process.wait()
        self.forget()
        return code

    def forget(self) -> None:
        for pipe in (self._to, self._from):
            with suppress(OSError):
                pipe.close()

    def leave(self) -> None:
        """In a forked process: it is not ours."""
        self.forget()
        self._process.returncode = 0

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def _is_ended(pipe: object) -> bool:
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
        f"needs too much memory (more than {memory / (1 << 30):.1f} GiB), or makes PDFium fail "
        f"({how})",
        kind="needs too much memory, or makes PDFium fail",
        hint="print it to a new PDF, or save its text",
    )


@atexit.register
def _end() -> None:
    # Not behind the lock: a thread may be waiting for an answer.
    if (worker := _Worker.current) is not None:
        _Worker.current = None
        worker.kill()
        if _ONE.acquire(blocking=False):
            worker.forget()
            _ONE.release()


def _forked() -> None:
    _ONE.release()
    if (worker := _Worker.current) is not None:
        _Worker.current = None
        worker.leave()


os.register_at_fork(before=_ONE.acquire, after_in_parent=_ONE.release, after_in_child=_forked)


# ---- the other process ----


def serve(parent: int) -> None:
    """Answers until there is nobody to ask."""
    questions, answers = os.fdopen(0, "rb", closefd=False), os.fdopen(os.dup(1), "wb")
    # What a library prints is no answer.
    os.dup2(2, 1)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    from neardup.files.documents import pdf

    while len(head := questions.read(QUESTION.size)) == QUESTION.size:
        size, most, seconds, memory = QUESTION.unpack(head)
        limit(seconds, memory)
        try:
            try:
                kind, answer = TEXT, pdf.text_of(_read(questions, size), most).encode()
            except UnreadableDocumentError as why:
                told = {"reason": str(why), "kind": why.kind, "hint": why.hint}
                kind, answer = REASON, json.dumps(told).encode()
        except MemoryError:
            # Nothing more is sure here. The one who asked sees that it has ended.
            os._exit(1)
        answers.write(ANSWER.pack(kind, len(answer)))
        answers.write(answer)
        answers.flush()


def _read(questions: BinaryIO, size: int) -> bytes:
    data = questions.read(size)
    if len(data) < size:
        os._exit(0)  # nobody waits for an answer
    return data


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(0)


def limit(seconds: float, memory: int, written: int | None = None) -> None:
    """So much more processor time and memory for this process; and bytes of a file it writes."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + seconds) + 1)
    # What is there already is mostly libraries. Not every system has such a limit.
    _lower(resource.RLIMIT_AS, _size() + memory)
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


def _size() -> int:
    """Bytes of the address space in use, where that can be known."""
    with suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0
