"""neardup dedup, pairs and cluster with --engine spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers import corpora
from helpers.job_inputs import GOOD, write
from helpers.processes import run_alone, shell

from .conftest import Run

pytest.importorskip("pysail", reason="the package pysail is missing: pip install 'neardup[spark]'")
COMMANDS = ("dedup", "pairs", "cluster")
FOR_SPARK = "'local[2]', but the engine is 'local'; use --engine spark"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command(command: str, run: Run, tmp_path: Path) -> None:
    path = corpora.write(tmp_path / "in.jsonl", corpora.records_of(3, 60), "jsonl")
    suffix = "jsonl" if command == "dedup" else "csv"
    told = {}
    for engine in ("local", "spark"):
        out = tmp_path / f"{engine}.{suffix}"
        done = run(command, path, "-o", out, "--engine", engine, "--json", "--quiet")
        assert (done.code, done.err) == (0, "")
        told[engine] = json.loads(done.out)
        for changing in ("seconds", "stages", "peak_memory", "files"):
            told[engine].pop(changing)
    assert told["local"] == told["spark"]
    if command != "pairs":
        one, two = ((tmp_path / f"{x}.{suffix}").read_bytes() for x in ("local", "spark"))
        assert one == two


def test_unreadable_records_are_reported_and_the_exit_code_is_3(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", *GOOD, b"{bad\n", b'{"text": 3}\n')
    told = []
    for engine in ("local", "spark"):
        done = run("dedup", path, "-o", tmp_path / "out.jsonl", "--engine", engine)
        assert done.code == 3
        told.append([line for line in done.err.splitlines() if "seconds" not in line])
    assert told[0] == told[1]
    assert any("in.jsonl:4: not JSON" in line for line in told[1])


@pytest.mark.parametrize(
    ("command", "options", "code", "told"),
    [
        *((command, "--master local[2]", 2, FOR_SPARK) for command in COMMANDS),
        ("dedup", "--engine flink", 2, "engine is 'flink'; use one of local, spark"),
        ("dedup", "--engine spark --master ftp://a", 2, "'ftp://a'; use sc://HOST:PORT"),
        (
            *("dedup", "--engine spark --master sc://127.0.0.1:1", 1),
            "--master sc://127.0.0.1:1: cannot connect to 127.0.0.1 port 1",
        ),
        ("dedup", "--engine spark", 1, "pip install 'neardup[spark]'"),
    ],
)
def test_why_it_does_not_run_is_one_sentence(
    *,
    command: str,
    options: str,
    code: int,
    told: str,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "--master" not in options:
        # No client of Spark is installed.
        monkeypatch.setattr("neardup.engines.spark.session._active_session", lambda: None)
        monkeypatch.setattr("neardup.engines.spark.session._has_module", lambda _: False)
    path, out = write(tmp_path / "in.jsonl", *GOOD), write(tmp_path / "out.jsonl", b"of before")
    done = run(command, path, "-o", out, *options.split())
    assert done.code == code
    assert told in done.err
    assert len(done.err.splitlines()) == 1
    assert out.read_bytes() == b"of before"


def test_a_config_file(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", *GOOD)
    config = tmp_path / "job.toml"
    config.write_text('engine = "spark"\nmaster = "sail"\n', encoding="utf-8")
    done = run("dedup", path, "-o", tmp_path / "out.jsonl", "--config", config, "--json", "-q")
    assert (done.code, json.loads(done.out)["kept"]) == (0, 2)


def test_nothing_of_spark_is_loaded_by_local_jobs(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", *GOOD)
    told = run_alone(
        f"""
        import sys
        from neardup import cli
        cli.run(["dedup", {str(path)!r}, "-o", {str(tmp_path / "out.jsonl")!r}, "-q"])
        print([x for x in sys.modules if "spark" in x or "pysail" in x or x == "grpc"])
        """
    )
    assert told.strip() == "[]"


def test_standard_output_holds_nothing_but_records(tmp_path: Path) -> None:
    write(tmp_path / "in.jsonl", *GOOD)
    done = shell(tmp_path, "neardup dedup in.jsonl -o - --engine spark -q")
    assert done.returncode == 0
    assert done.stdout == b"".join(GOOD[:2])
    assert done.stderr == b""
