"""Near-duplicates of a table on a cluster: the program that spark-submit runs.

    spark-submit … examples/spark_dedup.py IN OUT [--similarity 0.85] [--against SKETCHES]

IN and OUT are folders of Parquet with the columns id and text, wherever Spark reads and writes:
s3a://, hdfs://, a shared disk. OUT/kept has the records that stay, OUT/removed which were removed
and for which, OUT/sketches what tomorrow's records are compared with (--against).
docs/scale.md has the whole command line, and what its settings are for.
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
    parser.add_argument("--against", metavar="SKETCHES", help="OUT/sketches of an earlier run")
    options = parser.parse_args()

    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("neardup").getOrCreate()
    try:
        with explained():
            documents = spark.read.parquet(options.input)
            if options.against is not None:
                # Only what is near a record of yesterday is removed.
                known = spark.read.parquet(options.against)
                compared = near.against(documents, known, options.similarity)
                documents = compared.kept
            found = near.dedup(documents, options.similarity)
            found.kept.write.parquet(f"{options.output}/kept")
            found.removed.write.parquet(f"{options.output}/removed")
            near.sketches(found.kept, texts=True).write.parquet(f"{options.output}/sketches")
            print(found.counts())
    except OSError as error:
        print(f"spark_dedup: {error}", file=sys.stderr)
        return 1
    finally:
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
