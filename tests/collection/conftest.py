"""What the tests of collections share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import neardup as nd

CAT = "the cat sat on the mat and looked at the moon over the harbour"
CAT_AGAIN = "The cat sat on the mat, and looked at the moon over the harbour!"
DOG = "a dog barked all night at nothing in particular, says the neighbour"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "seen.neardup"


@pytest.fixture
def seen(path: Path) -> Iterator[nd.Collection]:
    """A collection with three documents, one of them without a signal."""
    with nd.Collection.open(path) as collection:
        collection.add([("cat", CAT, {"year": 2020}), ("dog", DOG), ("word", "hello")])
        yield collection
