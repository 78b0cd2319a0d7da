"""The same answers on Spark with its JVM: classic, behind Spark Connect, and when something goes
wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import spark_jvm


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_the_same_answers(kind: str) -> None:
    told = spark_jvm.run("spark_jvm_answers.py", kind)
    assert told.splitlines()[-1] == f"all of {kind}"


@pytest.mark.nightly
def test_the_same_answers_if_an_executor_is_killed(tmp_path: Path) -> None:
    told = spark_jvm.run("spark_jvm_faults.py", "killed", tmp_path)
    assert told.splitlines()[-1] == "all of killed"


@pytest.mark.nightly
def test_tasks_that_fail_records_of_poison_and_a_full_disk(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with spark_jvm.small_disk(tmp_path_factory.mktemp("small"), "256k") as small:
        told = spark_jvm.run("spark_jvm_faults.py", "failing", tmp_path, small)
    assert told.splitlines() == [
        "a task that fails once",
        "a task that always fails",
        "a poison record",
        "a full disk",
        "all of failing",
    ]
