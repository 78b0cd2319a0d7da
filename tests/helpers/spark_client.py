"""Import the client of Spark Connect safely under pytest-xdist."""

from neardup.engines.spark.session import _name_main_module


def load() -> None:
    """Without a main module that has a name the client takes itself to be under its own tests, asks
    for a whole Spark and ends the process. Once loaded it does not ask again."""
    with _name_main_module():
        import pyspark.sql.connect.session  # noqa: F401
