"""A collection as something to compare with: its documents, in the batches a job reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from neardup import sources
from neardup.sources.batch import make

if TYPE_CHECKING:
    from neardup.sources import Batch


def is_collection(path: str) -> bool:
    return path.rstrip("/").endswith(".neardup") and os.path.isdir(path)


def expand(names: Sequence[str]) -> list[str]:
    """As `sources.expand`, but a collection stays what it is, and must be one to compare with."""
    from neardup import Collection

    found: list[str] = []
    for name in names:
        if is_collection(name):
            with Collection.open(name, read_only=True) as collection:
                if not collection.stores_text:
                    raise ValueError(
                        f"{name}: keeps no texts, which a job has to read; look its documents up "
                        f"by radius instead: neardup index check {name} INPUT --radius K"
                    )
            found.append(name.rstrip("/"))
        else:
            found += sources.expand([name])
    return list(dict.fromkeys(found))


def batches(path: str) -> Iterator[Batch]:
    """All documents of a collection as of this moment."""
    import numpy as np

    from neardup import Collection

    with Collection.open(path, read_only=True) as collection:
        documents = (
            sources.Document(found.id, found.text or "") for found in collection.documents()
        )
        for some in sources.batches(documents):
            # They lie in no file from which records are copied.
            nowhere = np.zeros((len(some), 2), dtype=np.int64)
            yield make([x.id for x in some], [x.text for x in some], nowhere, nowhere[:, 0], None)


def stamp(path: str) -> tuple[int, int]:
    """Other numbers whenever the documents of a collection have changed, or it is another one."""
    from neardup import Collection

    with Collection.open(path, read_only=True) as collection:
        return collection.moment
