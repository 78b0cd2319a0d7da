"""Find near-duplicate pairs of a file with Spark ML's MinHashLSH. Runs in .venv-spark.

    python spark_minhash.py IN OUT

A record is the set of its words, hashed to 2^20 columns; approxSimilarityJoin joins the table with
itself. Writes left and right ids to OUT and prints {"seconds", "pairs"} as JSON; the seconds leave
out the start-up of Spark.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import time

TABLES = 3
# Records of twelve words of which one differs share 11 of 13 distinct words.
DISTANCE = 1 - 11 / 13 + 0.01


def main() -> None:
    path, out = sys.argv[1:]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.ml.feature import HashingTF, MinHashLSH, RegexTokenizer
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    spark = (
        SparkSession.builder.master(f"local[{os.cpu_count()}]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.maxResultSize", "0")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    spark.range(10).count()
    started = time.perf_counter()
    texts = spark.read.json(path).select("id", "text")
    words = RegexTokenizer(inputCol="text", outputCol="words", pattern=r"\W+").transform(texts)
    sets = HashingTF(inputCol="words", outputCol="set", numFeatures=1 << 20, binary=True)
    rows = sets.transform(words.where(F.size("words") > 0)).select("id", "set").cache()
    made = MinHashLSH(inputCol="set", outputCol="hashes", numHashTables=TABLES, seed=1).fit(rows)
    joined = made.approxSimilarityJoin(rows, rows, DISTANCE, "distance")
    near = joined.where("datasetA.id < datasetB.id")
    found = near.select(F.col("datasetA.id").alias("a"), F.col("datasetB.id").alias("b")).collect()
    seconds = time.perf_counter() - started
    with open(out, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows((row["a"], row["b"]) for row in found)
    spark.stop()
    print(json.dumps({"seconds": seconds, "pairs": len(found)}))


if __name__ == "__main__":
    main()
