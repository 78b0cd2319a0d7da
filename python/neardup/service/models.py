"""Types of the API, which decode requests, encode responses and generate the OpenAPI document.

A `…Model` is a JSON body; its component in the OpenAPI document has the same name without `Model`.
A `…Query` has the query parameters of an operation.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from neardup.text.differences import ASPECTS

MAX_ID = 1024

Fraction = Annotated[float, Meta(gt=0, le=1)]
Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID)]
Similarity = Annotated[
    Fraction | None,
    Meta(description="Minimum cosine similarity of a near document [default: 0.85]."),
]
Radius = Annotated[
    Annotated[int, Meta(ge=0, le=512)] | None,
    Meta(description="Instead of a similarity: maximum Hamming distance of the fingerprints."),
]
Recall = Annotated[
    Fraction | None,
    Meta(description="Share of documents at the threshold to find [default: 0.99]."),
]
Distinguish = Annotated[
    Annotated[str, Meta(pattern=f"^({'|'.join(ASPECTS)})(,({'|'.join(ASPECTS)}))*$")] | None,
    Meta(
        description="Aspects in which near documents must not differ, whatever their similarity, "
        f"joined by commas: {', '.join(ASPECTS)}."
    ),
]
Count = Annotated[int, Meta(ge=1, le=1000)]


class ResponseModel(Struct, frozen=True):
    """Base of response bodies."""


class RequestModel(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of request bodies and queries; unknown fields are errors."""


# Request bodies


class NewDocumentModel(RequestModel, frozen=True):
    """A document to store. It replaces a document with the same id."""

    id: Id
    text: str
    metadata: dict[str, Any] = {}


class TextModel(RequestModel, frozen=True):
    """A text to check, explain or search for."""

    text: str


class TextLineModel(RequestModel, frozen=True):
    """A text to check, in a line of NDJSON; the response has the same id."""

    text: str
    id: str | None = None


class ReferenceModel(RequestModel, frozen=True):
    """A document of the collection, by its id."""

    id: str


class PairModel(RequestModel, frozen=True):
    """Two texts to compare; each is a text or the id of a document."""

    a: str | ReferenceModel
    b: str | ReferenceModel


# Queries


class NearQuery(RequestModel, frozen=True):
    """The threshold of a near document."""

    similarity: Similarity = None
    radius: Radius = None
    recall: Recall = None
    distinguish: Distinguish = None


class CheckQuery(NearQuery, frozen=True):
    n: Annotated[Count, Meta(description="Maximum number of matches per text.")] = 100


class AddQuery(NearQuery, frozen=True):
    unless_duplicate: Annotated[
        bool, Meta(description="Do not store a document near a stored one.")
    ] = False


class CompareQuery(RequestModel, frozen=True):
    similarity: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None,
        Meta(description="Minimum cosine similarity of near-duplicates [default: 0.85]."),
    ] = None
    radius: Radius = None


class ExplainQuery(RequestModel, frozen=True):
    bits: Annotated[
        Annotated[int, Meta(ge=1, le=512)] | None,
        Meta(description="Width of the fingerprint in bits [default: that of the collection]."),
    ] = None


class SearchQuery(RequestModel, frozen=True):
    n: Annotated[int, Meta(ge=1, le=100, description="Maximum number of results.")] = 6
    by: Annotated[Literal["cosine", "simhash"], Meta(description="Ranking.")] = "cosine"


class ListQuery(RequestModel, frozen=True):
    limit: Annotated[
        Annotated[int, Meta(ge=1, le=1000)] | None,
        Meta(description="Maximum number of documents [default: 100; NDJSON: all]."),
    ] = None
    after: Annotated[
        Annotated[str, Meta(pattern="^[0-9]{1,18}(-[0-9]{1,18})?$")] | None,
        Meta(
            description="Cursor: `next` of the previous page. Consecutive pages repeat no id and "
            "miss no unchanged document. A document changed meanwhile comes with its old content "
            "or not at all; a document added meanwhile does not come."
        ),
    ] = None
    newest: Annotated[bool, Meta(description="Newest documents first.")] = False
    texts: Annotated[bool, Meta(description="Include the texts.")] = False


class ClusterQuery(RequestModel, frozen=True):
    similarity: Annotated[
        Annotated[float, Meta(ge=0.3, le=1)],
        Meta(description="Minimum cosine similarity of linked documents."),
    ] = 0.85
    distinguish: Distinguish = None
    limit: Annotated[int, Meta(ge=1, le=1000, description="Maximum number of clusters.")] = 20
    members: Annotated[
        int, Meta(ge=1, le=1000, description="Maximum number of ids listed per cluster.")
    ] = 20


# Response bodies


class MatchModel(ResponseModel, frozen=True):
    """A near document. `distance` is null for equal texts without signal, `similarity` for a query
    by radius.

    `differs` has what the similarity does not see: numbers, negation, symbols, order, joined by
    commas. `lost` is the number of words of the text that the document lacks. Both are null if the
    collection stores no texts.
    """

    id: str
    distance: int | None
    similarity: float | None
    differs: str | None = None
    lost: int | None = None


class CheckedModel(ResponseModel, frozen=True):
    """The documents near a text, the most similar first."""

    matches: list[MatchModel]


class CheckedLineModel(ResponseModel, frozen=True):
    """The documents near the text of a line, with the id of that line."""

    id: str | None
    matches: list[MatchModel]


class AddedModel(ResponseModel, frozen=True):
    """The outcome for a document: a "duplicate" was not stored, as `dup_of` is near it; `differs`
    and `lost` are as in a match."""

    id: str
    status: Literal["added", "updated", "duplicate"]
    dup_of: str | None = None
    distance: int | None = None
    similarity: float | None = None
    differs: str | None = None
    lost: int | None = None


class DocumentModel(ResponseModel, frozen=True):
    """A document of the collection; `fingerprint` is null without signal."""

    id: str
    metadata: dict[str, Any]
    fingerprint: str | None
    text: str | None = None


class PageModel(ResponseModel, frozen=True):
    """A page of documents; `next` is the cursor of the next page, null on the last one."""

    documents: list[DocumentModel]
    next: str | None


class PassageModel(ResponseModel, frozen=True):
    """A passage that both texts share; positions in characters."""

    left_start: int
    left_end: int
    right_start: int
    right_end: int
    words: int
    exact: bool


class DifferencesModel(ResponseModel, frozen=True):
    """What differs between two texts: numbers, words that negate, symbols and words that only `a`
    or only `b` has; `order` is true for the same words in another order."""

    aspects: list[Literal["numbers", "negation", "symbols", "order"]]
    numbers_a: list[str]
    numbers_b: list[str]
    negation_a: list[str]
    negation_b: list[str]
    symbols_a: list[str]
    symbols_b: list[str]
    words_a: list[str]
    words_b: list[str]
    order: bool


class ComparedModel(ResponseModel, frozen=True):
    """The comparison of two texts.

    `container` is the text that contains the other, also of near-duplicates. `unit` is what lengths
    count. `threshold` is null for a comparison by radius.
    """

    distance: int | None
    similarity: float
    verdict: Literal["identical", "near-duplicate", "contained", "partly copied", "different"]
    container: Literal["a", "b"] | None
    threshold: float | None
    radius: int | None
    fingerprint_a: str | None
    fingerprint_b: str | None
    coverage_a: float
    coverage_b: float
    containment_a: float
    containment_b: float
    longest: int
    words_a: int
    words_b: int
    unit: Literal["words", "characters", "words and characters"]
    differences: DifferencesModel
    coarse: bool
    passages: list[PassageModel]


class FeatureModel(ResponseModel, frozen=True):
    token: str
    count: int
    weight: float
    hash: str


class ExplainedModel(ResponseModel, frozen=True):
    """The features and votes behind a fingerprint; `columns` starts at bit 0."""

    recipe: str
    bits: int
    fingerprint: str | None
    signal: bool
    features: list[FeatureModel]
    columns: list[float]


class HitModel(ResponseModel, frozen=True):
    """A similar document; `score` is the cosine similarity, or the share of equal bits."""

    id: str
    score: float
    distance: int | None


class FoundModel(ResponseModel, frozen=True):
    results: list[HitModel]


class StatsModel(ResponseModel, frozen=True):
    """Statistics of the collection."""

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


class ClusterModel(ResponseModel, frozen=True):
    """Documents near `representative`, which was added first; `members` lists the first ids."""

    representative: str
    size: int
    members: list[str]


class ClustersModel(ResponseModel, frozen=True):
    """The largest clusters; `total` is the number of all."""

    similarity: float
    documents: int
    total: int
    clusters: list[ClusterModel]


# Problem type of a request that had no effect: it is safe to send it again.
NOT_TAKEN = "neardup:not-taken"


class ProblemModel(ResponseModel, frozen=True, omit_defaults=True):
    """Problem details of RFC 9457. The type "neardup:not-taken" says that the request had no effect
    and can be sent again; with any other 503, documents may have been stored."""

    title: str
    status: int
    type: str = "about:blank"
    detail: str = ""
    errors: list[str] = []


class LineProblemModel(ResponseModel, frozen=True, omit_defaults=True):
    """Problem details of one line of NDJSON, by its number."""

    line: int
    title: str
    status: int
    type: str = "about:blank"
    detail: str = ""
    errors: list[str] = []


class HealthModel(ResponseModel, frozen=True):
    status: Literal["ok"]


encoder = msgspec.json.Encoder()
