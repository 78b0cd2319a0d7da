"""When something goes wrong on Spark: one line that names the cause, nothing half-written, nothing
left behind, and files of before as they were."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from helpers import corpora, spark_jvm
from helpers.job_inputs import JOBS, names
from helpers.processes import children, command_of
from neardup import jobs
from neardup.engines.spark import judging, read_worker
from neardup.engines.spark.errors import SparkFailedError

BEFORE = b"of before"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    records = [*corpora.records_of(1, 80), *corpora.records_of(2, 80)]
    corpora.write(tmp_path / "in.jsonl", records, "jsonl")
    for name in ("out.jsonl", "removed.csv", "report.html"):
        (tmp_path / name).write_bytes(BEFORE)
    return tmp_path


def unchanged(folder: Path) -> bool:
    """Whether all is as the fixture has left it."""
    written = [(folder / x).read_bytes() for x in ("out.jsonl", "removed.csv", "report.html")]
    return written == [BEFORE] * 3 and names(folder) == [
        *("in.jsonl", "out.jsonl", "removed.csv", "report.html")
    ]


def run(folder: Path, job: Any = jobs.dedup, **more: Any) -> jobs.Summary:
    options = jobs.Options(engine="spark", report=folder / "report.html", **more)
    found: jobs.Summary = job([str(folder / "in.jsonl")], folder / "out.jsonl", options)
    return found


def failing(said: str, kind: type[Exception] = RuntimeError) -> Callable[..., Iterator[Any]]:
    def fail(*arguments: Any) -> Iterator[Any]:
        raise kind(said)
        yield

    return fail


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("place", ["reading", "judging"])
def test_a_task_that_fails(
    job: Any, place: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place == "reading":
        monkeypatch.setattr(read_worker, "_read_unit", failing("no luck today"))
    else:
        monkeypatch.setattr(judging.PacketTask, "__call__", failing("no luck today"))
    expected = r"^Spark: a task failed: no luck today \(RuntimeError\)$"
    with pytest.raises(SparkFailedError, match=expected):
        run(folder, job)
    assert unchanged(folder)


def test_a_task_that_fails_after_some_were_done(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds before it are thrown away, and so is the work folder."""
    monkeypatch.setattr("neardup.engines.spark.judging.ROUND_BYTES", 500)
    monkeypatch.setattr("neardup.engines.spark.judging.PACKET_PAIRS", 3)
    real, calls = judging.PacketTask.__call__, []

    def sometimes(self: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        calls.append(1)
        if len(calls) > 4:
            raise RuntimeError("the fifth one")
        yield from real(self, batches)

    monkeypatch.setattr(judging.PacketTask, "__call__", sometimes)
    with pytest.raises(SparkFailedError, match="the fifth one"):
        run(folder, removed=folder / "removed.csv")
    assert len(calls) > 4
    assert unchanged(folder)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("[Errno 28] No space left on device", r"a disk of Spark is full .*set spark\.local\.dir"),
        ("MemoryError: Unable to allocate", "Spark ran out of memory; raise"),
    ],
)
def test_the_cause_is_named(
    said: str, expected: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_worker, "_read_unit", failing(said, OSError))
    with pytest.raises(SparkFailedError, match=expected):
        run(folder)
    assert unchanged(folder)


def test_a_file_that_workers_do_not_see(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver sees it: its disk is another one."""
    monkeypatch.setattr(os.path, "lexists", lambda _: False)
    real = open

    def absent(path: Any, *arguments: Any, **options: Any) -> Any:
        if str(path).endswith("in.jsonl"):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(read_worker, "open", absent, raising=False)
    with pytest.raises(SparkFailedError, match=r"in\.jsonl: no such file on a worker; put"):
        run(folder)
    assert unchanged(folder)


def test_workers_of_another_version(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = read_worker.ReadSettings.__init__

    def older(self: read_worker.ReadSettings, *arguments: Any) -> None:
        real(self, *arguments)
        object.__setattr__(self, "version", "0.0.1")

    monkeypatch.setattr(read_worker.ReadSettings, "__init__", older)
    with pytest.raises(
        SparkFailedError, match=r"a worker has neardup .*, but the driver has 0\.0\.1; inst"
    ):
        run(folder)
    assert unchanged(folder)


def test_a_changed_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = read_worker._read_unit

    def changed(*arguments: Any) -> Iterator[Any]:
        yield from real(*arguments)
        with open(folder / "in.jsonl", "ab") as file:
            file.write(b'{"id": "new", "text": "more of it"}\n')

    monkeypatch.setattr(read_worker, "_read_unit", changed)
    with pytest.raises(OSError, match=r"in\.jsonl: changed while the job ran; nothing was written"):
        run(folder)
    assert unchanged(folder)


SLOW = """
    import sys, time
    from neardup import cli
    from neardup.engines.spark import read_worker

    def slowly(*arguments):
        print("begun", flush=True)
        time.sleep(600)
        yield

    read_worker._read_unit = slowly
    cli.main(["dedup", "in.jsonl", "-o", "out.jsonl", "--engine", "spark"])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_by_a_signal(number: signal.Signals, folder: Path) -> None:
    code = textwrap.dedent(SLOW)
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "begun\n"
        began = time.monotonic()
        process.send_signal(number)
        told = process.stderr.read()
        code_of = process.wait(30)
    assert code_of == 128 + number
    assert told.splitlines()[-1].endswith("nothing was written")
    assert len(told.splitlines()) == 1
    assert time.monotonic() - began < 20
    assert unchanged(folder)


# The same with a JVM. Each takes a minute or two.


@pytest.fixture
def large(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for number in range(6):
        records = [
            record._replace(id=f"{number}-{record.id}")
            for record in corpora.records_of(number, 1500)
        ]
        corpora.write(tmp_path / "in" / f"{number}.jsonl", records, "jsonl")
    with (tmp_path / "in" / "3.jsonl").open("ab") as file:
        file.write(b"{bad\n")
    (tmp_path / "out.jsonl").write_bytes(BEFORE)
    return tmp_path


@pytest.mark.nightly
@pytest.mark.parametrize("command", ["dedup", "pairs", "cluster"])
def test_a_jvm_gives_the_same(command: str, large: Path) -> None:
    suffix = "jsonl" if command == "dedup" else "csv"
    given = [command, "in", "-o", f"jvm.{suffix}", "--engine", "spark", "--master", "local[2]"]
    process = spark_jvm.start([*given, "-q"], large)
    out, err = spark_jvm.ended(process, 900)
    assert (process.returncode, out, err) == (3, "", "")
    job = {"dedup": jobs.dedup, "pairs": jobs.pairs, "cluster": jobs.cluster}[command]
    os.chdir(large)
    job(["in"], f"local.{suffix}")
    one, two = ((large / f"{x}.{suffix}").read_bytes() for x in ("local", "jvm"))
    assert one == two


@pytest.fixture(autouse=True)
def back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path.cwd())


@pytest.mark.nightly
def test_an_executor_that_is_killed_does_not_stop_the_job(large: Path) -> None:
    given = ["dedup", "in", "-o", "out.jsonl", "--engine", "spark", "--master"]
    process = spark_jvm.start([*given, "local-cluster[2,1,1024]", "-q"], large)
    killed, end = 0, time.monotonic() + 600
    while not killed and process.poll() is None and time.monotonic() < end:
        # Its work folder is there when it begins to read.
        for pid in children(process.pid) if len(names(large)) > 2 else ():
            # One that has begun to work has a Python beside it.
            is_executor = "CoarseGrainedExecutorBackend" in command_of(pid)
            if is_executor and any("pyspark" in command_of(each) for each in children(pid)):
                os.kill(pid, signal.SIGKILL)
                killed = pid
                break
        time.sleep(0.05)
    out, err = spark_jvm.ended(process, 900)
    assert killed
    assert (process.returncode, out, err) == (3, "", "")
    os.chdir(large)
    jobs.dedup(["in"], "local.jsonl")
    assert (large / "out.jsonl").read_bytes() == (large / "local.jsonl").read_bytes()


def stopped(large: Path, err: str, expected: str) -> None:
    assert expected in err
    assert len(err.splitlines()) == 1
    assert (large / "out.jsonl").read_bytes() == BEFORE
    assert names(large) == ["in", "out.jsonl"]


@pytest.mark.nightly
def test_a_full_disk_under_the_shuffle(large: Path, tmp_path_factory: Any) -> None:
    given = ["dedup", "in", "-o", "out.jsonl", "--engine", "spark", "--master", "local[2]", "-q"]
    with spark_jvm.small_disk(tmp_path_factory.mktemp("small"), "1m") as small:
        process = spark_jvm.start(given, large, environment={"SPARK_LOCAL_DIRS": str(small)})
        _, err = spark_jvm.ended(process, 900)
    assert process.returncode == 1
    stopped(large, err, "a disk of Spark is full (no space left on device)")


@pytest.mark.nightly
@pytest.mark.parametrize("moment", ["the first task", "reading"])
def test_a_jvm_stopped_by_ctrl_c(moment: str, large: Path) -> None:
    given = ["dedup", "in", "-o", "out.jsonl", "--engine", "spark", "--master", "local[2]"]
    process = spark_jvm.start(given, large)

    def has_begun() -> bool:
        if moment == "reading":
            # Its work folder is there.
            return len(names(large)) > 2
        below = map(command_of, children(process.pid))
        return any("pyspark.daemon" in command for command in below)

    end = time.monotonic() + 300
    while not has_begun() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    below = children(process.pid)
    process.send_signal(signal.SIGINT)
    _, err = spark_jvm.ended(process, 120)
    assert process.returncode == 130
    stopped(large, err, "neardup: interrupted; nothing was written")
    end = time.monotonic() + 30
    while any(command_of(pid) for pid in below) and time.monotonic() < end:
        time.sleep(0.2)
    assert not [pid for pid in below if command_of(pid)]


ENDLESS = """
    import sys
    from neardup.cli import main
    from neardup.engines.spark import probe

    probe.PROBE_TIMEOUT = float(sys.argv[1])
    sys.argv = ["neardup", "dedup", "in", "-o", "out.jsonl"]
    sys.argv += ["--engine", "spark", "--master", "local[2]"]
    main()
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("worker", "expected"),
    [
        ("memory", "spark.executor.pyspark.memory is 1m, but a worker needs at least 640m"),
        ("absent", 'Spark: the workers cannot run Python as "/no/python"; set PYSPARK_PYTHON'),
        ("exit 1", "Spark: the Python of the workers exits at start; set PYSPARK_PYTHO"),
        ("exec sleep 60", "a worker started but did not load neardup within 5 seconds; check that"),
        (
            "other",
            "Spark: neardup is not installed on the workers; install it there, or ship its wheel",
        ),
    ],
)
def test_workers_that_can_never_begin(
    worker: str, expected: str, large: Path, tmp_path_factory: Any
) -> None:
    beside: Path = tmp_path_factory.mktemp("beside")
    # What this process has on its path the workers are not to have.
    environment = spark_jvm.own_environment()
    environment.pop("PYTHONPATH", None)
    if worker == "memory":
        settings = beside / "spark-defaults.conf"
        settings.write_text("spark.executor.pyspark.memory 1m\n", encoding="utf-8")
        environment["SPARK_CONF_DIR"] = str(beside)
    elif worker == "absent":
        environment["PYSPARK_PYTHON"] = "/no/python"
    else:
        python = beside / "python"
        # One without any package of ours: its own folder of packages is left out.
        line = f'exec {spark_jvm.python()} -S "$@"' if worker == "other" else worker
        python.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        python.chmod(0o700)
        environment["PYSPARK_PYTHON"] = str(python)
    found = subprocess.run(
        [spark_jvm.python(), "-c", textwrap.dedent(ENDLESS), "5" if "sleep" in worker else "120"],
        cwd=large,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert found.returncode == 1
    stopped(large, found.stderr, expected)
