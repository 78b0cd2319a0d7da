"""The cases of tests/engines/spark on Spark with its JVM, in a process of its own:

.venv-spark/bin/python tests/spark_on_jvm.py classic|connect
"""

from __future__ import annotations

import os
import sys
from typing import Any

from neardup.engines import spark as sp
from neardup.engines.spark import Limits
from spark_cases import (
    CORPORA,
    check_dedup,
    check_pairs,
    frame_of,
    listed,
    mixed,
    sample,
    templates,
)


def session(kind: str) -> Any:
    # Without it workers take whichever Python is found first.
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
    documents = frame_of(spark, sample())
    found = sp.against(documents, sp.sketches(documents, texts=True))
    removed = listed(found.removed.toArrow())
    assert removed == [(at, at, removed[at][2], 1.0) for at in range(len(sample()))]
    print("all of", kind)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
