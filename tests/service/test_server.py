"""The service as a process: it starts, stops, is killed, and says what is wrong in a sentence."""

from __future__ import annotations

import logging
import os
import platform
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

import neardup as nd
from neardup import cli

LOADER = Path(__file__).parents[1] / "helpers" / "document_loader.py"
SERVE = (sys.executable, "-m", "neardup", "serve")


@pytest.fixture(autouse=True)
def unchanged_logging() -> Iterator[None]:
    """Undo what `neardup serve` sets up: its handler writes to the output of this test."""
    log = logging.getLogger("neardup")
    before = log.handlers[:], log.propagate, log.level
    yield
    log.handlers[:], log.propagate, log.level = before


@contextmanager
def started(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves, and its URL."""
    process = subprocess.Popen(
        [*SERVE, *map(str, arguments), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), process.communicate()[1]
        yield process, url
    finally:
        process.kill()
        process.communicate()


def refused(*arguments: str | Path) -> str:
    """The one sentence of a service that does not start."""
    done = subprocess.run(
        [*SERVE, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    (line,) = done.stderr.strip().split("\n")
    return line


def test_without_an_argument_a_demo_is_shown_and_leaves_nothing() -> None:
    with started() as (process, url):
        assert httpx.get(url).status_code == 200
        found = httpx.get(f"{url}/v1/stats").json()
        assert (found["documents"], found["demo"]) == (41, True)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0
        assert "serving a demo collection of 41 documents" in errors
        folders = re.findall(r"/\S*neardup-\w+", errors)
        assert not any(Path(folder).exists() for folder in folders)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_accepted_requests_are_finished(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "seen.neardup"
    nd.Collection.open(path).close()
    slow = " ".join(f"w{n}" for n in range(500_000))
    answers: list[httpx.Response] = []
    with started(path) as (process, url):
        asked = [
            threading.Thread(
                target=lambda: answers.append(
                    httpx.post(f"{url}/v1/compare", json={"a": slow, "b": slow}, timeout=60)
                )
            )
            for _ in range(3)
        ]
        for thread in asked:
            thread.start()
        while _queue(url) < 3:
            assert all(thread.is_alive() for thread in asked)
            time.sleep(0.01)
        process.send_signal(number)
        for thread in asked:
            thread.join()
        assert [answer.status_code for answer in answers] == [200] * 3
        process.communicate(timeout=30)
        assert process.returncode == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(url)
    with nd.Collection.open(path) as collection:
        collection.add([("a", "nobody else writes any more")])


def _queue(url: str) -> float:
    found = re.search(r"^neardup_queue (\S+)$", httpx.get(f"{url}/metrics").text, re.M)
    assert found is not None
    return float(found[1])


def test_a_log_holds_neither_texts_nor_ids_nor_tokens(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("write secret-token-0123456789\n", encoding="utf-8")
    tokens.chmod(0o600)
    headers = {"Authorization": "Bearer secret-token-0123456789"}
    wrong = {"Authorization": "Bearer secret-guess-0123456789"}
    with started("--token-file", tokens) as (process, url):
        with httpx.Client(base_url=f"{url}/v1") as client:
            text = {"text": "secret words that nobody may see"}
            client.post("/check", json=text, headers=headers)
            client.post("/check?similarity=secret", json=text, headers=headers)
            client.post("/documents", json={"id": "secret-id", **text}, headers=headers)
            client.post("/documents", json={"id": "secret-id", "text": 1}, headers=headers)
            client.get("/documents/secret-id", headers=headers)
            client.get("/stats", headers=wrong)
            client.get("/secret-path", headers=headers)
            client.request("SECRET", "/stats", headers=headers)
        process.terminate()
        _, errors = process.communicate(timeout=30)
    assert "secret" not in errors.lower()
    assert re.search(r"127\.0\.0\.1 POST /v1/check 200 \d+\.\d ms token of line 1", errors)
    assert re.search(r"127\.0\.0\.1 GET none 401", errors)
    assert "GET /v1/documents/{id} 200" in errors


def test_why_it_does_not_start_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused_here(*arguments: str | Path) -> str:
        """As `refused`, of what is found before anything is started: without a process."""
        assert cli.run(["serve", *map(str, arguments)]) in (1, 2)
        printed = capsys.readouterr()
        assert printed.out == ""
        (line,) = printed.err.strip().split("\n")
        return line

    there = tmp_path / "there.neardup"
    nd.Collection.open(there).close()
    missing = tmp_path / "missing.neardup"
    assert "no such collection; create it: neardup index create" in refused_here(missing)
    open_host = refused_here(there, "--host", "0.0.0.0")  # noqa: S104
    assert "other machines can reach 0.0.0.0" in open_host
    assert "not an address of this machine" in refused_here(
        there, "--host", "127.0.0.1.invalid", "--token-file", _tokens(tmp_path)
    )
    assert "No such file" in refused_here(there, "--token-file", tmp_path / "none")
    open_file = _tokens(tmp_path)
    open_file.chmod(0o644)
    assert "chmod 600" in refused_here(there, "--token-file", open_file)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "choose another port with --port" in refused(there, "--port", port)
    with nd.Collection.open(there) as writer:
        writer.add([("a", "b")])
        assert f"its writer, process {os.getpid()}" in refused(there)
        with started(there, "--read-only") as (_, url):
            assert httpx.get(f"{url}/v1/stats").json()["documents"] == 1
            writer.add([("c", "another text that comes while it is served")])
            assert httpx.get(f"{url}/v1/stats").json()["documents"] == 2


def _tokens(folder: Path) -> Path:
    path = folder / "tokens"
    path.write_text("read 0123456789abcdef\n", encoding="utf-8")
    path.chmod(0o600)
    return path


def test_a_second_service_does_not_share_the_port(tmp_path: Path) -> None:
    with started() as (_, url):
        assert "cannot listen on 127.0.0.1:" in refused("--port", url.rpartition(":")[2])


@pytest.mark.parametrize("package", ["granian", "starlette", "msgspec", "prometheus_client"])
def test_a_missing_package_is_named_with_its_extra(package: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from neardup.cli import run; sys.exit(run(['serve']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "pip install 'neardup[serve]', or in a clone pip install -r requirements/serve.txt" in (
        done.stderr
    )


def test_helping_loads_nothing_of_the_service() -> None:
    code = (
        "import sys\nfrom neardup.cli import run\nrun(['serve', '--help'])\n"
        "print([x for x in ('granian', 'starlette', 'msgspec', 'httpx') if x in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def killed(path: Path, side: Path, rng: random.Random) -> None:
    """A service under load is killed, and the collection has all that was acknowledged."""
    with started(path, "--quiet") as (process, url):
        loaders = [
            subprocess.Popen(
                [sys.executable, str(LOADER), url, f"{side}-{name}", f"{name}-{rng.random()}"]
            )
            for name in ("a", "b")
        ]
        checker = threading.Thread(target=_check_until_it_is_gone, args=(url,))
        checker.start()
        sides = [Path(f"{side}-{name}") for name in ("a", "b")]
        begun = [_size(one) for one in sides]
        while any(_size(one) == size for one, size in zip(sides, begun, strict=True)):
            assert all(loader.poll() is None for loader in loaders)
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 1.0))
        process.kill()
        for loader in loaders:
            assert loader.wait(timeout=60) == 0
        checker.join()
    acknowledged = {line for one in sides for line in one.read_text("ascii").splitlines()}
    assert acknowledged
    with nd.Collection.open(path) as collection:
        assert not [id_ for id_ in acknowledged if collection.get(id_) is None]
        assert collection.verify() == []


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check_until_it_is_gone(url: str) -> None:
    with httpx.Client(base_url=url) as client:
        while True:
            try:
                answer = client.post("/v1/check", json={"text": "the text of a is 1 0"})
            except httpx.TransportError:
                return
            assert answer.status_code in (200, 503)


def test_a_service_that_is_killed_loses_nothing_it_has_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "seen.neardup"
    nd.Collection.open(path).close()
    killed(path, tmp_path / "acknowledged", random.Random(16))


@pytest.mark.nightly
def test_a_service_that_is_killed_fifty_times_loses_nothing(tmp_path: Path) -> None:
    path, rng = tmp_path / "seen.neardup", random.Random(50)
    nd.Collection.open(path).close()
    for _ in range(50):
        killed(path, tmp_path / "acknowledged", rng)


# Blocks of megabytes come and go among small ones that stay, as when segments are written. The
# first tells glibc by its size which ones to keep.
MALLOC_PROGRAM = """
import ctypes, sys
from neardup.service import server

def own():
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("RssAnon:"))
    return int(line.split()[1]) / 1024

if sys.argv[1] == "small":
    server.tune_malloc()
malloc, free = ctypes.CDLL(None).malloc, ctypes.CDLL(None).free
malloc.restype, free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
free(malloc(24 << 20))
before = own()
blocks = []
for _ in range(20):
    blocks.append(malloc(8 << 20))
    ctypes.memset(blocks[-1], 1, 8 << 20)
    malloc(200_000)
for block in blocks:
    free(block)
print(own() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_large_blocks_go_back_to_the_system() -> None:
    grown = {}
    for how in ("plain", "small"):
        command = [sys.executable, "-c", MALLOC_PROGRAM, how]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        grown[how] = float(done.stdout)
    assert grown["small"] < 5 < 50 < grown["plain"]
