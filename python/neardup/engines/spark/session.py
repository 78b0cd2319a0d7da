"""Spark sessions: pysail in this process, Spark Connect, or a classic session with a JVM.

Nothing of Spark is imported before a session is opened.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from neardup._util.extras import install_hint
from neardup.engines.spark.errors import (
    NoSparkError,
    SparkFailedError,
    explained,
    failure_message,
    is_spark_error,
)
from neardup.engines.spark.probe import (
    SAIL,
    check_master,
    check_reachable,
    check_worker_memory,
    check_workers,
)

INSTALL_CLIENT = install_hint("spark")
INSTALL_CLASSIC = "pip install 'pyspark>=4,<5'"
# Seconds to wait for a session to stop.
STOP_TIMEOUT = 5.0
MIN_JAVA = 17
# Maximum megabytes for the JVM of a local master.
MAX_JVM_MEGABYTES = 8192
# Memory limits of a container.
CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
# The setting for the bytes of a file that one task reads.
SPLIT_SETTING = "spark.sql.files.maxPartitionBytes"
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
# A JVM started here logs nothing: a job reports a failure in one line.
LOG4J_SETTINGS = "rootLogger.level = off\n"


@dataclass(frozen=True)
class SparkConnection:
    """An open session.

    kind      "sail" and "connect" use the protocol of Spark Connect, "classic" a JVM
    is_local  whether the workers are on this machine and see the same files
    cores     approximate number of concurrent tasks
    """

    spark: Any
    kind: str
    is_local: bool
    cores: int


@contextmanager
def open_session(
    master: str | None = None, note: Callable[[str], object] | None = None
) -> Iterator[SparkConnection]:
    """Open a session, and close it at the end of the `with` block.

    master  sc://HOST[:PORT], local[N], local-cluster[…], spark://HOST:PORT, yarn, k8s://…, or
            "sail" [default: the active session of this process, which is not closed, else sail]
    note    called if a cluster assigns no executor for a while
    """
    check_master(master)
    with _ignore_warnings():
        if master is None and (active := _active_session()) is not None:
            yield active
            return
        opened = _open(master or SAIL, note)
        try:
            yield opened
        except KeyboardInterrupt:
            # A server in this process would delay the exit until its tasks are done; it ends with
            # the process. Jobs on other servers are cancelled.
            atexit.unregister(_stop_server)
            if opened.kind != SAIL:
                _call_with_timeout(opened.spark.interruptAll)
                _call_with_timeout(opened.spark.stop)
            raise
        except BaseException:
            _stop(opened)
            raise
        _stop(opened)


def _stop(opened: SparkConnection) -> None:
    """Stop a session in this thread, whose active session it may be."""
    with suppress(Exception):
        opened.spark.stop()


def _call_with_timeout(call: Callable[[], object]) -> None:
    """Make a call in another thread; ignore errors, and stop waiting after a few seconds."""

    def work() -> None:
        with suppress(Exception), _ignore_warnings():
            call()

    thread = threading.Thread(target=work, name="neardup-spark-end", daemon=True)
    thread.start()
    thread.join(STOP_TIMEOUT)


def _abandon(spark: Any) -> None:
    """Stop a session whose workers do not respond; kill its JVM if that waits for them too."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    _call_with_timeout(spark.sparkContext.cancelAllJobs)
    _call_with_timeout(spark.stop)
    process = getattr(gateway, "proc", None)
    if process is not None and SparkContext._active_spark_context is not None:
        process.kill()
        process.wait()
        _call_with_timeout(spark.stop)
        SparkContext._gateway = SparkContext._jvm = None


def _open(master: str, note: Callable[[str], object] | None) -> SparkConnection:
    if master == SAIL:
        return _open_sail()
    scheme = master.partition("://")[0] if "://" in master else ""
    if scheme == "sc":
        return _open_connect(master)
    return _open_classic(master, scheme, note)


@contextmanager
def _ignore_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        # Both clients warn about pandas 3, which is not used here.
        warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="pyspark|google|grpc")
        warnings.filterwarnings("ignore", category=ResourceWarning)
        # A JVM that does not respond is killed, and an error reports it.
        warnings.filterwarnings("ignore", message="Unable to cleanly shutdown Spark JVM")
        yield


def _active_session() -> SparkConnection | None:
    """Return the active session of the caller, if there is one."""
    if "pyspark" not in sys.modules:
        return None
    with suppress(Exception):
        from pyspark.sql import SparkSession

        spark = SparkSession.getActiveSession()
        if spark is not None and not getattr(spark, "is_stopped", False):
            return _describe_session(spark)
    return None


def _describe_session(spark: Any) -> SparkConnection:
    """Return the connection of a session that the caller has opened."""
    if "connect" in type(spark).__module__:
        is_local = getattr(spark.client, "host", "") in LOCAL_HOSTS
        return SparkConnection(spark, "connect", is_local, os.cpu_count() or 1)
    context = spark.sparkContext
    return SparkConnection(
        spark, "classic", context.master.startswith("local"), context.defaultParallelism
    )


def _installed_version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _check_packages() -> None:
    """Raise NoSparkError if both packages of Spark are installed: they have the same modules."""
    if _installed_version("pyspark") and _installed_version("pyspark-client"):
        raise NoSparkError(
            "pyspark and pyspark-client are both installed and overwrite each other's files; "
            "uninstall both, then install one: pyspark-client for sc:// and sail, pyspark for all "
            "other masters"
        )


def _has_module(module: str) -> bool:
    with suppress(ImportError, ValueError):
        return importlib.util.find_spec(module) is not None
    return False


def _check_client() -> None:
    _check_packages()
    if not _has_module("pyspark"):
        raise NoSparkError(f"Spark needs the package pyspark-client; install it: {INSTALL_CLIENT}")
    for module, package in (("grpc", "grpcio"), ("grpc_status", "grpcio-status")):
        if not _has_module(module):
            raise NoSparkError(
                f"Spark Connect needs the package {package}; install it: {INSTALL_CLIENT}"
            )


_server_lock = threading.Lock()
_server: list[Any] = []


def _open_sail() -> SparkConnection:
    """Open a session on a pysail server in this process, which needs no JVM."""
    if not _has_module("pysail"):
        raise NoSparkError(
            f"--engine spark without --master needs the package pysail; install it: "
            f"{INSTALL_CLIENT}; or use another Spark: --master sc://HOST or --master 'local[*]'"
        )
    _check_client()
    # Otherwise it logs each step to standard error.
    os.environ.setdefault("RUST_LOG", "error")
    try:
        from pysail.spark import SparkConnectServer
    except ImportError as error:
        raise NoSparkError(
            f"the package pysail cannot be loaded ({error}): {INSTALL_CLIENT}"
        ) from error
    with _server_lock:
        # One server for all jobs of the process: it takes a second to start.
        if not _server:
            server = SparkConnectServer("127.0.0.1", 0)
            server.start(background=True)
            _server.append(server)
            atexit.register(_stop_server)
        _, port = _server[0].listening_address
    spark = _create_remote(f"sc://127.0.0.1:{port}")
    return SparkConnection(spark, SAIL, True, os.cpu_count() or 1)


def _stop_server() -> None:
    with suppress(Exception):
        _server.pop().stop()


def _open_connect(master: str) -> SparkConnection:
    _check_client()
    _import_connect()
    with _explain_open_errors(master):
        host = check_reachable(master)
        spark = _create_remote(master)
        _check_version(spark.version)
        check_worker_memory(spark)
    return SparkConnection(spark, "connect", host in LOCAL_HOSTS, os.cpu_count() or 1)


def _create_remote(url: str) -> Any:
    return _import_connect().builder.remote(url).create()


def _import_connect() -> Any:
    """Import the client of Spark Connect."""
    try:
        with _name_main_module():
            from pyspark.sql.connect.session import SparkSession
    except ImportError as error:
        raise NoSparkError(f"Spark Connect cannot be loaded ({error}): {INSTALL_CLIENT}") from error
    return SparkSession


@contextmanager
def _name_main_module() -> Iterator[None]:
    """Give `__main__` a file: without one (`python -c`) the client looks for a JVM and exits."""
    main = sys.modules["__main__"]
    nameless = getattr(main, "__spec__", None) is None and not hasattr(main, "__file__")
    if nameless:
        main.__file__ = "-c"
    try:
        yield
    finally:
        if nameless:
            del main.__file__


def _check_version(theirs: str) -> None:
    import pyspark

    own = str(pyspark.__version__)
    if own.partition(".")[0] != theirs.partition(".")[0]:
        raise NoSparkError(
            f"the server runs Spark {theirs}, but the client is version {own}; install a matching "
            f"one: pip install 'pyspark-client=={theirs.partition('.')[0]}.*'"
        )


def _open_classic(
    master: str, scheme: str, note: Callable[[str], object] | None = None
) -> SparkConnection:
    _check_packages()
    if not _has_module("pyspark") or not _has_module("py4j"):
        raise NoSparkError(
            f"--master {master} needs the package pyspark; install it in an environment without "
            f"pyspark-client: {INSTALL_CLASSIC}. sc://HOST needs only the client"
        )
    java_version()
    if scheme:
        check_reachable(master)
    if master == "yarn" and not any(
        os.environ.get(x) for x in ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
    ):
        raise NoSparkError(
            "--master yarn needs the settings of the cluster; set HADOOP_CONF_DIR to their folder"
        )
    # By default workers run the first python3 on PATH, which may not have neardup.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    before = signal.getsignal(signal.SIGINT)
    folder = Path(tempfile.mkdtemp(prefix="neardup-spark-"))
    try:
        (folder / "log4j2.properties").write_text(LOG4J_SETTINGS, encoding="ascii")
        with _explain_open_errors(master):
            spark = _start_jvm(master, folder / "log4j2.properties")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        # Spark installs its own handler for Ctrl-C; ours cleans up and cancels the jobs.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)
    try:
        check_worker_memory(spark)
        check_workers(spark, note)
    except BaseException:
        _abandon(spark)
        raise
    return SparkConnection(
        spark, "classic", master.startswith("local"), spark.sparkContext.defaultParallelism
    )


def _start_jvm(master: str, log: Path) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("neardup")
    for name, value in (
        ("spark.ui.showConsoleProgress", "false"),
        ("spark.driver.maxResultSize", "0"),
        ("spark.sql.execution.arrow.pyspark.enabled", "true"),
        # A JVM out of memory may hang; if it exits, the failure is reported.
        (
            "spark.driver.extraJavaOptions",
            f"-XX:+ExitOnOutOfMemoryError -Dlog4j2.configurationFile=file:{log}",
        ),
    ):
        builder = builder.config(name, value)
    if not _is_configured(SPLIT_SETTING):
        # A row becomes twenty times its bytes: larger tasks would spill to disk.
        builder = builder.config(SPLIT_SETTING, "16m")
    if master.startswith("local"):
        builder = builder.config("spark.ui.enabled", os.environ.get("NEARDUP_SPARK_UI", "false"))
        if (memory := _jvm_memory()) is not None:
            builder = builder.config("spark.driver.memory", memory)
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.driver.host", "127.0.0.1")
    with _silence_stderr():
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _jvm_memory() -> str | None:
    """Return the memory for the JVM of a local master; None if the user has set it.

    A quarter of the machine's memory, the default of the JVM. Spark's default, a gigabyte, is too
    little for ten million records, and a JVM out of memory may hang.
    """
    arguments = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    if os.environ.get("SPARK_DRIVER_MEMORY") or "--driver-memory" in arguments:
        return None
    if _is_configured("spark.driver.memory"):
        return None
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in CGROUP_LIMITS:
        # A container may have less than the machine; "max" means no limit.
        with suppress(OSError, ValueError):
            there = min(there, int(Path(path).read_text("ascii")))
    return f"{max(1024, min(there >> 22, MAX_JVM_MEGABYTES))}m"


def _is_configured(name: str) -> bool:
    """Return whether a setting is in the user's spark-defaults.conf."""
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (os.path.join(home, "conf") if home else None)
    if folder is not None:
        with suppress(OSError):
            settings = Path(folder, "spark-defaults.conf").read_text("utf-8", errors="replace")
            return re.search(rf"^\s*{re.escape(name)}[\s=:]", settings, re.MULTILINE) is not None
    return False


@contextmanager
def _silence_stderr() -> Iterator[None]:
    """Discard standard error in the `with` block: a JVM prints warnings before it reads its logging
    settings."""
    if os.environ.get("NEARDUP_DEBUG", "0") not in ("", "0"):
        yield
        return
    with suppress(OSError):
        sys.stderr.flush()
    saved, devnull = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(devnull)


def java_version() -> int:
    """Return the version of the Java that Spark would run; raise NoSparkError if it is unusable."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if not java or not os.path.exists(java):
        where = f"JAVA_HOME is {home}, which has none" if home else "there is none on PATH"
        raise NoSparkError(
            f"Spark needs Java {MIN_JAVA} or newer, and {where}; install it (on Debian: apt-get "
            "install openjdk-17-jre-headless), or use --master sc://HOST, which needs no Java"
        )
    try:
        output = subprocess.run(  # noqa: S603
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        ).stderr
    except (OSError, subprocess.SubprocessError) as error:
        raise NoSparkError(f"Spark needs Java, but {java} cannot be run: {error}") from error
    found = re.search(r'version "(?:1\.)?(\d+)', output)
    if found is None:
        raise NoSparkError(f"Spark needs Java {MIN_JAVA}, but {java} does not print its version")
    version = int(found[1])
    if version < MIN_JAVA:
        raise NoSparkError(
            f"Spark 4 needs Java {MIN_JAVA} or newer, but {java} is version {version}; set "
            "JAVA_HOME to a newer one"
        )
    return version


@contextmanager
def _explain_open_errors(master: str) -> Iterator[None]:
    try:
        yield
    except NoSparkError:
        raise
    except Exception as error:
        if not is_spark_error(error):
            raise
        raise SparkFailedError(
            f"--master {master}: cannot open a session: {failure_message(error)}"
        ) from error


__all__ = [
    "NoSparkError",
    "SparkConnection",
    "check_master",
    "explained",
    "java_version",
    "open_session",
]
