"""The types that methods of `Collection` return."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple


class Outcome(NamedTuple):
    """The result of `add` for one document.

    status  "added"; "updated": the id existed and now has this text; "duplicate": not stored,
            because a near document is stored
    dup_of  of a duplicate: the id of the nearest stored document, with its distance and similarity
            as in `Match`
    differs, lost   of a duplicate: what differs from that document, as in `Match`; None if the
            collection stores no texts
    """

    id: str
    status: Literal["added", "updated", "duplicate"]
    dup_of: str | None = None
    distance: int | None = None
    similarity: float | None = None
    differs: str | None = None
    lost: int | None = None


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
    """Statistics of a collection.

    documents       number of documents; `without_signal` of them have too few words for a
                    fingerprint
    format          version of the database schema
    segments        number of segments, with `segment_entries` fingerprints
    tail            number of fingerprints that are in no segment yet
    removed         number of removed keys that the next rewrite of segments drops
    search, runs    whether postings are stored in files: of features, for `search` by cosine; of
                    runs, for checks for copying
    database_bytes, segment_bytes, postings_bytes   sizes on disk
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
