"""A document of a stranger, read in a process of its own, which has limits and can be stopped.

A few kilobytes can unpack to gigabytes, or keep a parser busy for minutes. A thread cannot be
stopped, and its memory is that of all.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from neardup.files.documents.pdf_worker import limit
from neardup.files.documents.prose import UnreadableDocumentError
from neardup.files.documents.whole_files import KINDS, whole_text
from neardup.files.reading.batch import Reading, Task
from neardup.files.reading.document import Unreadable

# Of processor time, and until it is stopped in any case.
SECONDS, LAST_SECONDS = 5.0, 25.0
# Beside what the interpreter takes.
MEMORY = 512 << 20
# What a packed file may hold, markup included.
UNPACKED = 32 << 20

BEGIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from neardup.files.documents.sandbox import serve; serve(*sys.argv[2:])"
)


class DocumentTooLongError(Exception):
    """The text has more characters than were asked for: so many."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


def text_of(kind: str, data: bytes, most: int) -> str:
    """The text of a file of this kind; raises `NotReadError`, or `TooLongError` if it has more than
    `most` characters."""
    # The name is ours, not the stranger's.
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        path = Path(folder) / f"file{KINDS[kind][1][0]}"
        path.write_bytes(data)
        if not sys.executable or getattr(sys, "frozen", False):
            # There is no interpreter to start.
            told = _read(kind, path, most)
        else:
            told = _asked(kind, path, most)
    if "count" in told:
        raise DocumentTooLongError(int(told["count"]))
    if "reason" in told:
        # What is said of options is for the command line.
        reason = str(told["reason"])
        reason = reason.partition("; ")[0] if "--max-document" in reason else reason
        raise UnreadableDocumentError(reason, hint=str(told["hint"]))
    return str(told["text"])


def _asked(kind: str, path: Path, most: int) -> dict[str, Any]:
    answer = path.with_name("answer")
    with answer.open("wb") as file:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-c", BEGIN, json.dumps(sys.path), kind, str(path), str(most)],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for this process, which finishes what it has begun.
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
            "takes too long to read", hint="save its text, and bring that"
        )
    if code:
        raise UnreadableDocumentError(
            "needs too much memory, or makes its reader fail", hint="save its text, and bring that"
        )
    found: dict[str, Any] = json.loads(answer.read_bytes())
    return found


# ---- the other process ----


def serve(kind: str, path: str, most: str) -> None:
    """Reads one file, and writes what is to be told."""
    answer = os.fdopen(os.dup(1), "wb")
    # What a library prints is no answer.
    os.dup2(2, 1)
    # A character takes six bytes at most, escaped.
    limit(SECONDS, MEMORY, written=6 * int(most) + (1 << 16))
    try:
        told = json.dumps(_read(kind, Path(path), int(most)), ensure_ascii=False)
        answer.write(told.encode())
        answer.flush()
    except (MemoryError, OSError):
        # Nothing more is sure here. The one who asked sees how it has ended.
        os._exit(1)
    os._exit(0)


def _read(kind: str, path: Path, most: int) -> dict[str, Any]:
    problems: list[Unreadable] = []
    try:
        if kind == "pdf":
            # Its own reader would start another process.
            from neardup.files.documents.pdf import text_of as pdf_text

            text: str | None = pdf_text(path.read_bytes(), UNPACKED)
        else:
            reading = Reading(max_document=UNPACKED)
            text = whole_text(kind, Task(str(path), reading, problems.append, lambda _: None))
    except UnreadableDocumentError as why:
        return {"reason": str(why), "hint": why.hint}
    if text is None:
        return {"reason": problems[0].reason, "hint": problems[0].hint}
    return {"count": len(text)} if len(text) > most else {"text": text}
