"""The results of a collection's methods."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple


class Outcome(NamedTuple):
    """What `add` did with a document.

    status  "added"; "updated": the id existed and now has this text; "duplicate": not stored,
            because a near document is stored
    dup_of  the id of the nearest one, with its distance and similarity as in `Match`
    """

    id: str
    status: Literal["added", "updated", "duplicate"]
    dup_of: str | None = None
    distance: int | None = None
    similarity: float | None = None


class Stored(NamedTuple):
    """A document of a collection.

    text         None if the collection stores no texts
    fingerprint  None when the text has no signal
    """

    id: str
    text: str | None
    metadata: dict[str, Any]
    fingerprint: int | None


@dataclass(frozen=True)
class Stats:
    """Numbers of a collection.

    documents       all of them; `without_signal` have too few words for a fingerprint
    segments        mapped files, with `segment_entries` fingerprints
    tail            fingerprints since the last segment, in memory and in SQLite only
    removed         fingerprints in segments whose documents were removed
    search, runs    whether postings are stored in files: of features, for `search` by cosine; of
                    runs, for checks for copying
    database_bytes, segment_bytes, postings_bytes   on disk
    """

    path: str
    documents: int
    without_signal: int
    texts: bool
    recipe: str
    bits: int
    format: int
    segments: int
    segment_entries: int
    tail: int
    removed: int
    database_bytes: int
    segment_bytes: int
    search: bool
    runs: bool
    postings_bytes: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
