"""Check the cases of tests/engines/spark on Spark with its JVM, as a script:

.venv-spark/bin/python tests/helpers/spark_jvm_answers.py classic|connect
"""

from __future__ import annotations

import os
import sys
from typing import Any

from helpers.differing_pairs import TEXTS as DIFFERING
from helpers.spark_cases import (
    CORPORA,
    check_dedup,
    check_pairs,
    expected_against,
    frame_of,
    listed,
    mixed,
    sample,
    templates,
)
from neardup.engines import spark as sp
from neardup.engines.spark import Limits


def session(kind: str) -> Any:
    # Otherwise workers use the first Python on the path.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    named = builder.remote("local[2]") if kind == "connect" else builder.master("local[2]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
    }
    for name, value in settings.items():
        named = named.config(name, value)
    return named.getOrCreate()


def refused(documents: Any) -> str:
    """Return the error message if texts of a reference are missing."""
    texts = documents.where("id < 0")
    edited = documents.selectExpr("id", "concat(text, ' again') AS text")
    try:
        sp.against(edited, sp.sketches(documents), 0.5, reference_texts=texts)
    except ValueError as error:
        return str(error)
    return "nothing"


def main(kind: str) -> None:
    spark = session(kind)
    tight = Limits(task_bytes=64 << 10, bucket_rows=32, group_rows=96, few_edges=200)
    for name in ("nothing", "edges", "sample", "chain"):
        texts = CORPORA[name]()
        frame = frame_of(spark, texts, partitions=3, seed=1)
        check_dedup(frame, texts, {})
        print(name, flush=True)
    texts = mixed(1, 40)
    frame = frame_of(spark, texts, partitions=2, seed=2)
    check_pairs(frame, texts, {})
    check_dedup(frame, texts, {"linkage": "connected", "keep": "best:key"})
    check_dedup(frame, texts, {"radius": 8, "keep": "longest"})
    check_pairs(frame, texts, {"radius": 8})
    print("mixed", flush=True)
    texts = templates(80)
    frame = frame_of(spark, texts, partitions=4, seed=3)
    check_dedup(frame, texts, {}, limits=tight)
    check_pairs(frame, texts, {"recall": 1.0}, limits=tight)
    print("templates", flush=True)
    texts = list(DIFFERING)
    frame = frame_of(spark, texts, partitions=2, seed=4)
    check_dedup(frame, texts, {"distinguish": "numbers"})
    check_dedup(frame, texts, {"distinguish": "symbols,order", "radius": 30})
    check_pairs(frame, texts, {})
    print("what differs", flush=True)
    documents = frame_of(spark, sample())
    found = sp.against(documents, sp.sketches(documents, texts=True))
    assert listed(found.removed.toArrow()) == expected_against(sample(), sample(), {})
    print("sketches", flush=True)
    named = documents.withColumnRenamed("key", "a.key")
    assert sp.fingerprint(named).where("fingerprint IS NOT NULL").count() == 40
    assert "reference_texts has no text with the id " in refused(documents)
    rows = [(0, b"one two three four"), (1, b"\xff bad"), (2, b"one two three four")]
    bad = sp.dedup(spark.createDataFrame(rows, "id long, text binary"))
    assert listed(bad.unreadable.toArrow()) == [(1, "not UTF-8")]
    assert bad.counts() == {"rows": 3, "kept": 2, "removed": 1, "unreadable": 1}
    print("all of", kind)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
