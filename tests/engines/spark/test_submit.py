"""The program of docs/scale.md under spark-submit: a day, and the next one against it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from helpers import spark_jvm

SAMPLE = spark_jvm.ROOT / "examples" / "sample.jsonl"
PROGRAM = spark_jvm.ROOT / "examples" / "spark_dedup.py"


def submitted(folder: Path, master: str, *arguments: str) -> str:
    python = Path(spark_jvm.python())
    process = subprocess.Popen(
        [
            *(str(python.parent / "spark-submit"), "--master", master),
            *("--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=4"),
            *("--conf", "spark.driver.host=127.0.0.1"),
            *(str(PROGRAM), *arguments),
        ],
        cwd=folder,
        env={
            **spark_jvm.own_environment(),
            "PYSPARK_PYTHON": str(python),
            "PYTHONPATH": str(spark_jvm.ROOT / "python"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    out, err = spark_jvm.ended(process, 900)
    assert process.returncode == 0, err[-3000:]
    return out.splitlines()[-1]


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


@pytest.mark.nightly
def test_two_days(tmp_path: Path) -> None:
    records = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    first = [{"id": record["id"], "text": record["text"]} for record in records]
    pq.write_table(pa.Table.from_pylist(first), tmp_path / "first.parquet")
    new = "entirely new words of today that nobody has written before"
    second = [
        {"id": "new", "text": new},
        {"id": "old", "text": first[0]["text"].upper()},
        {"id": "new again", "text": new},
    ]
    pq.write_table(pa.Table.from_pylist(second), tmp_path / "second.parquet")
    one, two = tmp_path / "one", tmp_path / "two"
    told = submitted(tmp_path, "local-cluster[2,1,1024]", "first.parquet", str(one))
    assert told == "{'rows': 41, 'kept': 22, 'removed': 19, 'unreadable': 0, 'known': 0}"
    # Ids say who is first.
    ordered = sorted(first, key=lambda record: record["id"])
    local = nd.dedup([record["text"] for record in ordered])
    expected = {ordered[at]["id"] for at in local.kept.tolist()}
    assert {row["id"] for row in rows(one / "kept")} == expected
    arguments = ("second.parquet", str(two), "--against", str(one / "sketches"))
    told = submitted(tmp_path, "local[2]", *arguments)
    assert told == "{'rows': 2, 'kept': 1, 'removed': 1, 'unreadable': 0, 'known': 1}"
    assert [row["id"] for row in rows(two / "kept")] == ["new"]
    removed = {row["id"]: row["dup_of"] for row in rows(two / "removed")}
    assert removed == {"new again": "new", "old": first[0]["id"]}
