"""What the service takes and gives: it is parsed by these types, and documented from them.

An object in gives an object out, an array an array, lines give lines.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

MAX_ID = 1024

Share = Annotated[float, Meta(gt=0, le=1)]
Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID)]
Similarity = Annotated[
    Share | None, Meta(description="The cosine from which a document is near [default: 0.85].")
]
Radius = Annotated[
    Annotated[int, Meta(ge=0, le=512)] | None,
    Meta(description="Instead of a similarity: the bits in which fingerprints may differ."),
]
Recall = Annotated[
    Share | None, Meta(description="The share of documents of just that similarity to be found.")
]
Count = Annotated[int, Meta(ge=1, le=1000)]


class Model(Struct, frozen=True):
    """What goes out."""


class Given(Struct, frozen=True, forbid_unknown_fields=True):
    """What comes in: a field that is not known is a mistake."""


# ------------------------------------------------------------------------------------ what comes in


class NewDocument(Given, frozen=True):
    """A document to be stored. If its id is there already, it gets the new text."""

    id: Id
    text: str
    metadata: dict[str, Any] = {}


class Text(Given, frozen=True):
    """A text that is asked about."""

    text: str


class TextLine(Given, frozen=True):
    """A line with a text that is asked about; the answer has the same id."""

    text: str
    id: str | None = None


class Reference(Given, frozen=True):
    """A document of the collection."""

    id: str


class Pair(Given, frozen=True):
    """Two texts to be compared; each is a text, or the id of a document."""

    a: str | Reference
    b: str | Reference


class Near(Given, frozen=True):
    """What counts as near."""

    similarity: Similarity = None
    radius: Radius = None
    recall: Recall = None


class CheckOptions(Near, frozen=True):
    n: Annotated[Count, Meta(description="At most so many matches for a text.")] = 100


class AddOptions(Near, frozen=True):
    unless_duplicate: Annotated[
        bool, Meta(description="Leave out what is near a document that is there.")
    ] = False


class CompareOptions(Given, frozen=True):
    similarity: Annotated[
        Annotated[float, Meta(ge=0, le=1)],
        Meta(description="The cosine from which two texts are near-duplicates."),
    ] = 0.85


class ExplainOptions(Given, frozen=True):
    bits: Annotated[
        Annotated[int, Meta(ge=8, le=512, multiple_of=8)] | None,
        Meta(description="Width of the fingerprint [default: that of the collection]."),
    ] = None


class SearchOptions(Given, frozen=True):
    n: Annotated[int, Meta(ge=1, le=100, description="So many documents.")] = 6
    by: Annotated[Literal["cosine", "simhash"], Meta(description="What ranks them.")] = "cosine"


class ListOptions(Given, frozen=True):
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=1000)] | None,
        Meta(description="At most so many documents [default: 100; of lines: all]."),
    ] = None
    after: Annotated[
        Annotated[str, Meta(pattern="^[0-9]{1,18}(-[0-9]{1,18})?$")] | None,
        Meta(
            description="`next` of the page before. No id comes twice in pages that follow each "
            "other, and no document is missed that stays as it is. One that is changed meanwhile "
            "comes as it was, or not at all; one that is added meanwhile does not come."
        ),
    ] = None
    newest: Annotated[bool, Meta(description="The newest first.")] = False
    texts: Annotated[bool, Meta(description="With their texts.")] = False


class ClusterOptions(Given, frozen=True):
    similarity: Annotated[
        Annotated[float, Meta(ge=0.3, le=1)],
        Meta(description="The cosine from which two documents are linked."),
    ] = 0.85
    limit: Annotated[int, Meta(ge=1, le=1000, description="At most so many clusters.")] = 20
    members: Annotated[
        int, Meta(ge=1, le=1000, description="At most so many members of each are named.")
    ] = 20


# ----------------------------------------------------------------------------------- what comes out


class Match(Model, frozen=True):
    """A document that is near; `distance` is null for equal texts without a signal, `similarity`
    where a radius decided."""

    id: str
    distance: int | None
    similarity: float | None


class Checked(Model, frozen=True):
    """The documents near a text, the best first."""

    matches: list[Match]


class CheckedLine(Model, frozen=True):
    """The same in answer to a line, with the id that was given there."""

    id: str | None
    matches: list[Match]


class Added(Model, frozen=True):
    """What became of a document: "duplicate" was not stored, for `dup_of` is near it."""

    id: str
    status: Literal["added", "updated", "duplicate"]
    dup_of: str | None = None
    distance: int | None = None
    similarity: float | None = None


class Document(Model, frozen=True):
    """A document of the collection; `fingerprint` is null without a signal."""

    id: str
    metadata: dict[str, Any]
    fingerprint: str | None
    text: str | None = None


class Page(Model, frozen=True):
    """Some documents; `next` is null on the last page."""

    documents: list[Document]
    next: str | None


class Passage(Model, frozen=True):
    """Positions, in characters, of a stretch both texts have."""

    left_start: int
    left_end: int
    right_start: int
    right_end: int
    words: int
    exact: bool


class Compared(Model, frozen=True):
    """How alike two texts are."""

    distance: int | None
    similarity: float
    verdict: Literal["identical", "near-duplicate", "different"]
    threshold: float
    fingerprint_a: str | None
    fingerprint_b: str | None
    coverage_a: float
    coverage_b: float
    containment_a: float
    containment_b: float
    longest: int
    coarse: bool
    passages: list[Passage]


class Feature(Model, frozen=True):
    token: str
    count: int
    weight: float
    hash: str


class Explained(Model, frozen=True):
    """The vote behind a fingerprint; `columns` starts at bit 0."""

    recipe: str
    bits: int
    fingerprint: str | None
    signal: bool
    features: list[Feature]
    columns: list[float]


class Hit(Model, frozen=True):
    """A document that resembles the text; `score` is the cosine, or the share of equal bits."""

    id: str
    score: float
    distance: int | None


class Found(Model, frozen=True):
    results: list[Hit]


class Stats(Model, frozen=True):
    """Numbers of the collection."""

    name: str
    documents: int
    without_signal: int
    texts: bool
    recipe: str
    bits: int
    database_bytes: int
    segment_bytes: int
    postings_bytes: int
    read_only: bool
    demo: bool
    version: str


class Cluster(Model, frozen=True):
    """Documents near `representative`, the first that was added; the first of them by name."""

    representative: str
    size: int
    members: list[str]


class Clusters(Model, frozen=True):
    """The largest clusters, and how many there are."""

    similarity: float
    documents: int
    total: int
    clusters: list[Cluster]


# The type of a problem where nothing was done: the request may be sent again, whatever it was.
NOT_TAKEN = "neardup:not-taken"


class Problem(Model, frozen=True, omit_defaults=True):
    """What is wrong with a request, by RFC 9457. The type "neardup:not-taken" says that nothing was
    done, so that it may be sent again; other answers of 503 may come after a document was stored.
    """

    title: str
    status: int
    type: str = "about:blank"
    detail: str = ""
    errors: list[str] = []


class LineProblem(Model, frozen=True, omit_defaults=True):
    """What is wrong with a line, which is given by its number."""

    line: int
    title: str
    status: int
    type: str = "about:blank"
    detail: str = ""
    errors: list[str] = []


class Health(Model, frozen=True):
    status: Literal["ok"]


encoder = msgspec.json.Encoder()
