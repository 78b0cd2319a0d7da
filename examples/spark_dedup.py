"""Deduplicate a table on a Spark cluster, as a program for spark-submit.

    spark-submit … examples/spark_dedup.py IN OUT [--similarity 0.85] [--against SKETCHES…]

IN and OUT are folders of Parquet with the columns id and text, on any storage of Spark: s3a://,
hdfs://, a shared disk. OUT/kept has the kept records; OUT/removed the removed ones, each with the
record kept in its place, which may be of an earlier run; OUT/sketches the sketches of kept records,
for --against in later runs, together with those of all runs before. docs/scale.md has the complete
command line and explains its settings.
"""

from __future__ import annotations

import argparse
import sys

from neardup.engines import spark as near
from neardup.engines.spark.errors import explained


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("input", metavar="IN")
    parser.add_argument("output", metavar="OUT")
    parser.add_argument("--similarity", type=float, default=0.85)
    parser.add_argument(
        "--against", metavar="SKETCHES", nargs="+", help="OUT/sketches of earlier runs"
    )
    options = parser.parse_args()

    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("neardup").getOrCreate()
    try:
        with explained():
            documents = spark.read.parquet(options.input)
            known = None
            if options.against is not None:
                sketches = spark.read.parquet(*options.against)
                compared = near.against(documents, sketches, options.similarity)
                documents, known = compared.kept, compared.removed
            found = near.dedup(documents, options.similarity)
            gone = found.removed.drop("cluster")
            gone = gone if known is None else gone.unionByName(known)
            found.kept.write.parquet(f"{options.output}/kept")
            gone.write.parquet(f"{options.output}/removed")
            near.sketches(found.kept, texts=True).write.parquet(f"{options.output}/sketches")
            counts = found.counts()
            print({**counts, "known": 0 if known is None else known.count()})
    except OSError as error:
        print(f"spark_dedup: {error}", file=sys.stderr)
        return 1
    finally:
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
