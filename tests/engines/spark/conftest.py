"""A session of Spark on pysail, in this process, for all tests of a worker."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from helpers import spark_client


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    os.environ.setdefault("RUST_LOG", "error")
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    spark_client.load()
    server = SparkConnectServer(port=0)
    server.start(background=True)
    _, port = server.listening_address
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
    yield session
    session.stop()
    server.stop()
