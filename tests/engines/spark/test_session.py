"""A session wherever Spark runs; what is missing is one sentence with the way out."""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from helpers.processes import run_alone
from neardup.engines.spark import session as sessions
from neardup.engines.spark.errors import (
    SparkFailedError,
    WorkerError,
    explained,
    failure_message,
    is_spark_error,
)
from neardup.engines.spark.session import NoSparkError, open_session


def lengths(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"rows": pa.array([batch.num_rows])})


def test_sail_in_this_process_is_what_is_there_without_a_master() -> None:
    told = run_alone(
        """
        from neardup.engines.spark.session import open_session
        with open_session() as opened:
            print(opened.kind, opened.is_local, opened.cores >= 1)
            print(opened.spark.range(5).count())
        with open_session("sail") as again:
            print(again.spark.range(7).count())
        """
    )
    assert told.split() == ["sail", "True", "True", "5", "7"]


def test_a_session_that_is_active_is_taken_and_left_open(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql import SparkSession

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: spark)
    with open_session() as opened:
        assert opened.spark is spark
        assert opened.is_local
    assert opened.spark.range(3).count() == 3


def test_a_session_that_was_stopped_is_not_taken() -> None:
    with open_session("sail") as before:
        pass
    with open_session() as opened:
        assert opened.spark is not before.spark
        assert opened.spark.range(3).count() == 3


def test_a_server_of_spark_connect() -> None:
    with open_session("sail"):
        _, port = sessions._server[0].listening_address
        with open_session(f"sc://localhost:{port}") as opened:
            assert (opened.kind, opened.is_local) == ("connect", True)
            rows = opened.spark.range(9).mapInArrow(lengths, "rows long").collect()
            assert sum(row["rows"] for row in rows) == 9


@pytest.mark.parametrize(
    "master", ["", "http://a", "local[", "sc:host", "spark", "LOCAL", "sail://x", "k8s:x"]
)
def test_what_is_no_master_is_refused(master: str) -> None:
    expected = f"master is {re.escape(repr(master))}; use sc://HOST:PORT"
    with pytest.raises(ValueError, match=expected), open_session(master):
        pass


@pytest.mark.parametrize(
    "master", ["sc://127.0.0.1:{}", "spark://127.0.0.1:{}", "k8s://127.0.0.1:{}"]
)
def test_a_host_that_does_not_answer(
    master: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sessions, "_has_module", lambda _: True)
    monkeypatch.setattr(sessions, "java_version", lambda: 17)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = master.format(port)
    expected = f"--master {url}: cannot connect to 127.0.0.1 port {port} .*is Spark running there"
    with pytest.raises(SparkFailedError, match=expected), open_session(url):
        pass


def test_a_host_that_speaks_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def __getattr__(self, name: str) -> object:
            from pyspark.errors import PySparkException

            raise PySparkException("not a server of Spark")

    monkeypatch.setattr(sessions, "check_reachable", lambda _: "here")
    monkeypatch.setattr(sessions, "_create_remote", lambda _: Refusing())
    expected = "--master sc://here: cannot open a session: not a server of Spark"
    with pytest.raises(SparkFailedError, match=expected), open_session("sc://here"):
        pass


def test_a_master_without_a_host() -> None:
    with (
        pytest.raises(NoSparkError, match=r"has no host; use sc://HOST:PORT"),
        open_session("sc://:1"),
    ):
        pass
    with pytest.raises(NoSparkError, match=r"--master sc://a:b"), open_session("sc://a:b"):
        pass


def without(*names: str) -> Callable[[str], bool]:
    return lambda module: module not in names


@pytest.mark.parametrize(
    ("master", "missing", "expected"),
    [
        (
            None,
            "pysail",
            "needs the package pysail.*pip install 'neardup\\[spark\\]'.*--master sc://",
        ),
        ("sail", "pyspark", "needs the package pyspark-client.*pip install 'neardup\\[spark\\]'"),
        ("sc://a", "pyspark", "needs the package pyspark-client.*pip install 'neardup\\[spark\\]'"),
        ("sc://a", "grpc", "needs the package grpcio; .*pip install 'neardup\\[spark\\]'"),
        (
            "local[2]",
            "py4j",
            "--master local\\[2\\] needs the package pyspark; install it.*pip inst",
        ),
        ("yarn", "pyspark", "--master yarn needs the package pyspark; install it"),
    ],
)
def test_a_missing_package(
    master: str | None, missing: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_active_session", lambda: None)
    monkeypatch.setattr(sessions, "_has_module", without(missing))
    with pytest.raises(NoSparkError, match=expected), open_session(master):
        pass


def test_two_packages_that_overwrite_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_installed_version", lambda _: "4.2.0")
    for master in ("sail", "sc://a", "local[2]"):
        with (
            pytest.raises(NoSparkError, match=r"both installed.*uninstall both"),
            open_session(master),
        ):
            pass


def test_a_server_of_another_major_version() -> None:
    import pyspark

    sessions._check_version(f"{pyspark.__version__.partition('.')[0]}.99.0")
    with pytest.raises(NoSparkError, match=r"runs Spark 3.5.1, .*pip install 'pyspark-client==3"):
        sessions._check_version("3.5.1")


def java(folder: Path, said: str) -> Path:
    (folder / "bin").mkdir()
    path = folder / "bin" / "java"
    path.write_text(f"#!/bin/sh\necho '{said}' >&2\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            'openjdk version "11.0.2" 2019-01-15',
            "needs Java 17 or newer, but .* is version 11; set JAVA_HOME",
        ),
        ('java version "1.8.0_292"', "needs Java 17 or newer, but .* is version 8; set JAVA_HOME"),
        ("nothing of the kind", "does not print its version"),
    ],
)
def test_a_java_that_is_too_old(
    said: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "_has_module", lambda _: True)
    monkeypatch.setattr(sessions, "_installed_version", lambda _: None)
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path, said)))
    with pytest.raises(NoSparkError, match=expected), open_session("local[2]"):
        pass


def test_a_java_that_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path, 'openjdk version "17.0.15" 2025-04-15')))
    assert sessions.java_version() == 17


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_has_module", lambda _: True)
    monkeypatch.setattr(sessions, "_installed_version", lambda _: None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(NoSparkError, match=r"JAVA_HOME is .*, which has none; install it"):
        sessions.java_version()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(
            NoSparkError, match=r"needs Java 17 or newer, and there is none on PATH.*sc://HOST"
        ),
        open_session("local[*]"),
    ):
        pass


def test_yarn_without_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_has_module", lambda _: True)
    monkeypatch.setattr(sessions, "_installed_version", lambda _: None)
    monkeypatch.setattr(sessions, "java_version", lambda: 17)
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NoSparkError, match=r"set HADOOP_CONF_DIR"), open_session("yarn"):
        pass


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "Traceback:\n File\nneardup.engines.spark.errors.WorkerError: no such file; go\n",
            "no such file; go",
        ),
        (
            "x\nModuleNotFoundError: No module named 'neardup'\n",
            "neardup is not installed on the workers; inst",
        ),
        (
            "ModuleNotFoundError: No module named 'numpy'",
            "the package numpy is not installed on the workers",
        ),
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker",
            "another Python version than the driver; set PYSPARK_PY",
        ),
        (
            'java.io.IOException: Cannot run program "/no/python": error=2, No such file',
            'the workers cannot run Python as "/no/python"; set PYSPARK_PYTHON to a Python with',
        ),
        (
            "EOFException occurred while reading the port number from pyspark.daemon's stdout",
            "the Python of the workers exits at start; set PYSPARK_PYTHON",
        ),
        (
            "ImportError: libarrow.so: failed to map segment from shared object",
            "a worker had too little memory to load its packages; set spark.executor.pyspark",
        ),
        (
            "SparkException: Python worker exited unexpectedly (crashed). Consider setting",
            "a Python worker died, perhaps out of memory",
        ),
        ("java.io.IOException: No space left on device", "a disk of Spark is full (no space left"),
        ("ExecutorLostFailure (executor 1 exited)", "Spark lost executors and retried in vain"),
        ("java.lang.OutOfMemoryError: Java heap space", "Spark ran out of memory; raise"),
        (
            "py4j.protocol.Py4JNetworkError: Answer from Java side is empty",
            "the JVM of Spark ran out of memory or was killed; give it more",
        ),
        (
            "RESOURCE_EXHAUSTED: message larger than max",
            "larger than the Spark server accepts; use DataFrames",
        ),
        (
            "StatusCode.UNAVAILABLE: Connection refused",
            "the connection to the Spark server was lost",
        ),
        (
            "Traceback:\n  File\nValueError: poison here\n",
            "a task failed: poison here (ValueError)",
        ),
        (
            "KeyError: 'a'\nDuring handling of the above\nValueError: no column a\n",
            "a task failed: no column a (ValueError)",
        ),
        ("Job aborted, most recent failure: odd things\n at a.b.C", "a task failed: odd things"),
        ("\n  first words\nmore", "first words"),
        ("x" * 1000, "x" * 300 + "…"),
        ("", "RuntimeError"),
    ],
)
def test_what_spark_says_in_one_line(said: str, expected: str) -> None:
    told = failure_message(RuntimeError(said))
    assert told.strip().startswith(expected.strip()) or expected in told
    assert "\n" not in told


def test_only_what_is_of_spark_is_explained() -> None:
    from pyspark.errors import PySparkException

    for error in (OSError("a"), ValueError("b"), KeyError("c"), WorkerError("d")):
        with pytest.raises(type(error)), explained():
            raise error
        assert not is_spark_error(error)
    with pytest.raises(SparkFailedError, match=r"^Spark: it failed$"), explained():
        raise PySparkException("it failed")
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(SparkFailedError, match=r"^Spark: a disk of Spark is full"), explained():
        raise full


def test_nothing_of_spark_is_imported_before_a_session_is_opened() -> None:
    told = run_alone(
        """
        import sys
        import neardup.engines.spark.engine, neardup.engines.spark.read_driver, neardup.engines
        neardup.engines.engine("spark", "local[2]")
        print([x for x in sys.modules if x.partition(".")[0] in ("pyspark", "pysail", "grpc")])
        """
    )
    assert told.strip() == "[]"


def test_workers_take_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_has_module", lambda _: True)
    monkeypatch.setattr(sessions, "_installed_version", lambda _: None)
    monkeypatch.setattr(sessions, "java_version", lambda: 17)
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.delenv("PYSPARK_DRIVER_PYTHON", raising=False)
    seen = []

    def jvm(master: str, log: Path) -> None:
        seen.append((master, os.environ["PYSPARK_PYTHON"], log.read_text(encoding="ascii")))
        raise OSError("no JVM in this test")

    monkeypatch.setattr(sessions, "_start_jvm", jvm)
    with pytest.raises(OSError, match=r"no JVM"), open_session("local[3]"):
        pass
    assert seen == [("local[3]", sys.executable, sessions.LOG4J_SETTINGS)]


@pytest.mark.parametrize(
    ("environment", "defaults", "expected"),
    [
        ({}, None, True),
        ({}, "# spark.driver.memory 2g\nspark.driver.memoryOverhead 1g\n", True),
        ({}, "spark.executor.cores 2\n  spark.driver.memory=2g\n", False),
        ({}, "spark.driver.memory 2g", False),
        ({"SPARK_DRIVER_MEMORY": "3g"}, None, False),
        ({"PYSPARK_SUBMIT_ARGS": "--driver-memory 3g pyspark-shell"}, None, False),
    ],
)
def test_the_memory_of_a_jvm_is_set_only_by_default(
    environment: dict[str, str],
    defaults: str | None,
    expected: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SPARK_DRIVER_MEMORY", "PYSPARK_SUBMIT_ARGS", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if defaults is not None:
        (tmp_path / "spark-defaults.conf").write_text(defaults, encoding="utf-8")
    found = sessions._jvm_memory()
    assert (found is not None) == expected
    if found is not None:
        assert 1024 <= int(found.removesuffix("m")) <= sessions.MAX_JVM_MEGABYTES


@pytest.mark.parametrize(
    ("machine", "container", "expected"),
    [
        (16, "max", "4096m"),
        (16, str(8 << 30), "2048m"),
        (1, "max", "1024m"),
        (999, "max", "8192m"),
        (16, None, "4096m"),
    ],
)
def test_a_local_jvm_gets_a_quarter_of_the_memory(
    machine: int,
    container: str | None,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SPARK_DRIVER_MEMORY", "PYSPARK_SUBMIT_ARGS", "SPARK_HOME", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    limit = tmp_path / "memory.max"
    if container is not None:
        limit.write_text(f"{container}\n", encoding="ascii")
    monkeypatch.setattr(sessions, "CGROUP_LIMITS", (str(limit),))
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": machine << 18}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    assert sessions._jvm_memory() == expected
