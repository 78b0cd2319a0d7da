"""PDFs that take too long or too much are stopped, and the next one is read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from helpers import document_files
from helpers.batches import read
from neardup.files.documents import sandbox
from neardup.files.reading.formats import UnreadableDocumentError
from neardup.files.reading.inputs import read_text

MOST = 1 << 24
ONE = document_files.pdf([document_files.paragraphs_at([["hello world"]])])


def forms(levels: int, width: int = 10) -> bytes:
    """A page that shows a form that shows a form, and so on, each so many times."""
    page = document_files.pdf([b"/X Do " * width])
    objects = []
    for level in range(levels):
        shown = b"BT /F1 12 Tf (lol) Tj ET " if level == levels - 1 else b"/X Do " * width
        inner = b"/XObject << /X %d 0 R >> /Font << /F1 3 0 R >>" % (9 + level)
        head = b"<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << %s >> " % inner
        objects.append(head + b"/Length %d >>\nstream\n" % len(shown) + shown + b"\nendstream")
    page = document_files.pdf([b"/X Do " * width], objects=objects)
    # The table of places is off by what is added; PDFium makes it anew.
    return page.replace(b"/Font << /F1 3 0 R", b"/XObject << /X 8 0 R >> /Font << /F1 3 0 R", 1)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    # Every test starts with a process of its own, and none may take the machine down.
    sandbox._end()
    monkeypatch.setattr(sandbox, "PDF_SECONDS", 4.0)
    monkeypatch.setattr(sandbox, "PDF_MEMORY_BYTES", 1 << 30)


def process() -> int:
    worker = sandbox._Worker.current
    assert worker is not None
    return worker._process.pid


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_forms_are_read_if_they_are_few(short: None) -> None:
    assert sandbox.pdf_text_in_worker(forms(2, 2), MOST).count("lol") >= 1


def test_one_process_reads_many_files(short: None) -> None:
    assert sandbox.pdf_text_in_worker(ONE, MOST) == "hello world"
    pid = process()
    assert [sandbox.pdf_text_in_worker(ONE, MOST) for _ in range(20)] == ["hello world"] * 20
    with pytest.raises(UnreadableDocumentError, match=r"^is not a PDF, or is damaged") as raised:
        sandbox.pdf_text_in_worker(b"no PDF", MOST)
    assert raised.value.kind == "is damaged"
    assert process() == pid


def test_a_file_that_takes_too_long_is_reported_and_the_next_is_read(
    tmp_path: Path, short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(forms(9))
    begun = time.monotonic()
    (problem,) = read(path)[1]
    assert "takes too long: PDFium was stopped after 4 seconds" in problem or (
        "needs too much memory (more than 1.0 GiB)" in problem
    )
    assert time.monotonic() - begun < 20
    monkeypatch.setattr(sandbox, "PDF_SECONDS", 60.0)
    assert sandbox.pdf_text_in_worker(ONE, MOST) == "hello world"


def test_the_clock_counts_even_if_the_processor_rests(short: None) -> None:
    sandbox.pdf_text_in_worker(ONE, MOST)
    pid = process()
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(
        UnreadableDocumentError, match=r"^takes too long: PDFium was stopped after 4 seconds"
    ):
        sandbox.pdf_text_in_worker(ONE, MOST)
    assert not is_running(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="not every system limits memory")
def test_a_file_that_needs_too_much_memory_is_reported(
    short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "PDF_MEMORY_BYTES", 64 << 20)
    monkeypatch.setattr(sandbox, "PDF_SECONDS", 30.0)
    with pytest.raises(
        UnreadableDocumentError, match=r"^needs too much memory \(more than 0\.\d GiB\), or"
    ):
        sandbox.pdf_text_in_worker(document_files.pdf([b" " * 200_000_000]), MOST)
    monkeypatch.setattr(sandbox, "PDF_MEMORY_BYTES", 1 << 30)
    assert sandbox.pdf_text_in_worker(ONE, MOST) == "hello world"


def test_a_process_that_was_killed_is_replaced(short: None) -> None:
    sandbox.pdf_text_in_worker(ONE, MOST)
    pid = process()
    os.kill(pid, signal.SIGKILL)
    time.sleep(0.5)
    assert sandbox.pdf_text_in_worker(ONE, MOST) == "hello world"
    assert process() != pid


def test_the_error_names_the_signal_of_a_failed_process(short: None) -> None:
    sandbox.pdf_text_in_worker(ONE, MOST)
    pid = process()
    os.kill(pid, signal.SIGSTOP)
    killer = threading.Timer(1, os.kill, (pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(UnreadableDocumentError, match=r"or crashes PDFium \(SIGKILL\)"):
        sandbox.pdf_text_in_worker(ONE, MOST)
    killer.join()
    assert sandbox.pdf_text_in_worker(ONE, MOST) == "hello world"


def test_threads_and_forks(short: None) -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(sandbox.pdf_text_in_worker(ONE, MOST)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pid = process()
    child = os.fork()
    if not child:
        found.append(sandbox.pdf_text_in_worker(ONE, MOST))
        is_own = process() != pid
        sandbox._end()
        os._exit(0 if found == ["hello world"] * 5 and is_own else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert sandbox.pdf_text_in_worker(ONE, MOST) == "hello world"
    assert process() == pid


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_stops_the_program_leaves_no_process(tmp_path: Path, stop: signal.Signals) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(forms(9))
    code = (
        "import sys, threading, time\n"
        "from neardup.cli import streams\n"
        "from neardup.files.documents import sandbox\n"
        "streams.handle_signals()\n"
        "sandbox.PDF_SECONDS, sandbox.PDF_MEMORY_BYTES = 30.0, 1 << 30\n"
        "worker = sandbox._Worker()\n"
        "print(worker._process.pid, flush=True)\n"
        "sandbox.pdf_text_in_worker(open(sys.argv[1], 'rb').read(), 1 << 24)\n"
    )
    begun = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(
        begun, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as program:
        assert program.stdout is not None
        pid = int(program.stdout.readline())
        time.sleep(1)
        assert is_running(pid)
        asked = time.monotonic()
        program.send_signal(stop)
        program.wait(20)
    assert time.monotonic() - asked < 5
    until = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.1)
    assert not is_running(pid)


def test_a_program_that_ends_leaves_no_process(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(ONE)
    code = (
        "import sys\n"
        "from neardup.files.documents import sandbox\n"
        "from neardup.files.reading.inputs import read_text\n"
        "read_text(sys.argv[1])\n"
        "print(sandbox._Worker.current._process.pid)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ran.stderr == ""
    assert not is_running(int(ran.stdout))
    assert read_text(str(path)) == "hello world"


def test_a_response_larger_than_allowed_is_not_read(
    short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A malicious file may have taken over the worker."""
    for kind, size in ((sandbox.TEXT, MOST + 1), (sandbox.REASON, 1 << 20), (b"X", 1)):
        responses = [sandbox.RESPONSE.pack(kind, size)]
        monkeypatch.setattr(sandbox._Worker, "_receive", lambda *_, left=responses: left.pop())
        with pytest.raises(UnreadableDocumentError, match=r"or crashes PDFium"):
            sandbox.pdf_text_in_worker(ONE, MOST)
