"""Type stubs of the Rust core. Private: use the functions of `neardup`."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__version__: str

# Size of a sketch: 48 registers of a weighted MinHash, then a 16-byte digest of all features.
SKETCH_BYTES: int

def stable_hash(data: bytes) -> int:
    """Return the XXH3-64 of `data` with seed 0; it stands for word lists in recipe identities."""

class Pipeline:
    """A recipe ready to run: tables built, pattern compiled, dictionary loaded.

    `neardup.Recipe` has checked and converted the settings. Hashes and fingerprints are
    little-endian bytes, `(bits + 63) // 64 * 8` long.
    """

    def __init__(
        self,
        *,
        version: int,
        normalize: str,
        tokens: str,
        ngram: int,
        pattern: str | None,
        dictionary: str | None,
        stopwords: Sequence[str],
        weights: str,
        idf: tuple[int, dict[str, int]] | str | None,
        top: int | None,
        scale: float | None,
        hash: str,
        bits: int,
        tie: str,
        votes: str,
        min_features: int,
        shares: Sequence[tuple[str, float]] | None,
    ) -> None: ...
    def fingerprint(self, text: str) -> bytes | None:
        """Return the fingerprint of a text, or None without a signal."""
    def fingerprint_features(self, tokens: Sequence[str], weights: Sequence[float]) -> bytes | None:
        """Return the fingerprint of features; tokens must be distinct."""
    def fingerprints(
        self,
        texts: Sequence[str],
        threads: int | None,
        progress: Callable[[int, int], object] | None,
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Return values (n × words) and signal (n) of many texts. Releases the GIL."""
    def fingerprints_arrow(
        self,
        chunks: Sequence[tuple[int, int, Any, Any, Any, bool]],
        threads: int | None,
        progress: Callable[[int, int], object] | None,
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Return the same for Arrow string buffers, which are read in place.

        A chunk is (offset, length, validity | None, offsets, data, large).
        """
    def sketch(self, text: str) -> tuple[bytes, bytes] | None:
        """Return the fingerprint and the sketch of a text, or None without a signal."""
    def sketched(
        self, texts: Sequence[str | None], threads: int | None
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_], NDArray[np.uint8]]:
        """Return values, signal and sketches of many texts. Without a signal, a sketch is zeros and
        a digest of the text, or all zeros if the text has no letter or digit."""
    def sketches_arrow(
        self, chunks: Sequence[tuple[int, int, Any, Any, Any, bool]], threads: int | None
    ) -> tuple[NDArray[np.bool_], NDArray[np.uint8]]:
        """Return signal and sketches of Arrow string buffers, without fingerprints."""
    def make_json_lines(
        self,
        data: Any,
        columns: tuple[Sequence[str], str, bool],
        name: str,
        first: int,
        threads: int | None,
        *,
        sketches: bool,
    ) -> JsonLines:
        """Parse lines as `read_json_lines`; return sketches or fingerprints instead of texts."""
    def features(self, text: str) -> list[tuple[str, int, float]]:
        """Return the features of a text, (token, count, weight), in the order of the vote."""
    def hash(self, token: str) -> bytes:
        """Return the bits a token votes with."""
    def vote(self, hashes: Sequence[bytes], weights: Sequence[float]) -> tuple[bytes, list[float]]:
        """Return the fingerprint and the column sums, bit 0 first, of hashed features."""
    def similarity(self, left: str, right: str) -> float:
        """Return the exact cosine of two texts; NaN if one has no features."""
    def judge(
        self,
        texts: Texts,
        left: NDArray[np.uint32],
        right: NDArray[np.uint32],
        threads: int | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.uint16]]:
        """Return the exact cosine and the distance of pairs of rows. Each text is tokenized once,
        and all of them are in memory at the same time."""
    def agreement(
        self,
        texts: Texts,
        left: NDArray[np.uint32],
        right: NDArray[np.uint32],
        threads: int | None,
    ) -> NDArray[np.float64]:
        """Return how far pairs of rows agree under `distinguishing`: 0 if they differ so; if order
        counts, the share of words in the same order; else 1."""
    def distinguishing(
        self, aspects: Sequence[str], negation: Negation, threshold: float
    ) -> Pipeline:
        """Return a pipeline whose sketches, fingerprints and verdicts keep texts apart that differ
        in these aspects. Distances of texts that do not differ stay the same."""
    def judge_one(self, text: str, others: Sequence[str]) -> tuple[list[float], list[int]]:
        """Return the same for one text and each of a few others, on this thread."""
    def document_frequencies(
        self, texts: Sequence[str], threads: int | None
    ) -> tuple[int, dict[str, int]]:
        """Return the number of texts, and the number of texts with each token."""

def stable_hashes(data: Any, bounds: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the `stable_hash` of each string in a buffer; `bounds` has their offsets."""

def says_something(text: str) -> bool:
    """Return whether a text has a letter or digit. A text without a signal and without these has no
    near-duplicates."""

def cosine(
    left_tokens: Sequence[str],
    left_weights: Sequence[float],
    right_tokens: Sequence[str],
    right_weights: Sequence[float],
) -> float:
    """Return the exact cosine of two weighted bags; NaN if one has no weight."""

# Options of passages: minimum words, minimum characters, differing words to bridge, and seconds
# after which the result may be coarse.
PassageOptions = tuple[int, int, int, float | None]
# Passages (left start, left end, right start, right end, equal words, exact); runs of equal words
# (index of the passage, four positions as before); words, covered words and containment of the left
# text, and of the right text; whether the result is coarse. Positions are in characters.
SharedPassages = tuple[
    list[tuple[int, int, int, int, int, bool]],
    list[tuple[int, int, int, int, int]],
    tuple[int, int, float],
    tuple[int, int, float],
    bool,
]

def shared(left: str, right: str, question: PassageOptions) -> SharedPassages:
    """Return the passages two texts share, in the order of the left text."""

def shared_with_each(
    left: str, rights: Sequence[str], question: PassageOptions, threads: int | None
) -> list[SharedPassages]:
    """Return the passages a text shares with each of the others."""

def units(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the words of a text: start and end in characters, and whether the word is a character
    of a script without spaces."""

def standard_form(text: str) -> str:
    """Return a text in the form `normalize="standard"`, in which words of passages are equal."""

def winnow(
    texts: Sequence[str | None],
    min_words: int,
    min_chars: int,
    threads: int | None,
    *,
    every: bool = False,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the offsets of each text's hashes, and the hashes of runs of words, ascending in each
    text. Two texts that share a passage of the minimum length, word for word, share a hash.

    every  hash all runs, not only the winnowed ones
    """

class Texts:
    """Texts by row, in memory or in files, which are read on demand."""

    @staticmethod
    def in_memory(data: Any, ends: NDArray[np.int64]) -> Texts:
        """Use the texts of a buffer; `ends` has the end of each."""
    @staticmethod
    def in_files(
        files: Sequence[tuple[str, bool]], columns: Sequence[str], places: NDArray[np.int64]
    ) -> Texts:
        """Use texts in files; `places` has the number of the file, start and end of each row. In
        files with True this range is a line of JSON with the text in `columns`, else the text."""
    def __len__(self) -> int: ...
    def get(self, row: int) -> str: ...

class Negation:
    """Words that negate, and what differs between texts."""

    def __init__(
        self,
        *,
        words: Sequence[str],
        beginnings: Sequence[str],
        endings: Sequence[str],
        phrases: Sequence[str],
        others: Sequence[str],
    ) -> None: ...
    def differences(
        self,
        texts: Texts,
        left: NDArray[np.uint32],
        right: NDArray[np.uint32],
        threads: int | None,
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
        """Return for pairs of rows the aspects in which they differ, as bits (numbers, negation,
        symbols, order), and the number of words of the right text that the left one lacks."""
    def differences_one(self, text: str, others: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the same for one text and each of a few others, on this thread: the aspects, and
        the number of words of the text that each of them lacks."""
    def tokens(self, text: str) -> tuple[list[str], list[str], list[str], list[str]]:
        """Return the words, numbers, negations and symbols of a text."""

class Form:
    """The form of a template: words in order, and fields between them. It has a length: its number
    of fields."""

    def __len__(self) -> int: ...
    def cut(self, text: str) -> tuple[list[str], list[str]]:
        """Return the parts of a text before, between and behind the fields, and the fields."""

def find_forms(
    texts: Texts, rows: NDArray[np.uint32], ends: NDArray[np.uint32], threads: int | None
) -> list[Form | None]:
    """Return the form of each cluster that is a template. A cluster is some of its rows, its
    representative first; `ends` has the end of each."""

def fit_forms(
    forms: Sequence[Form],
    texts: Texts,
    rows: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    threads: int | None,
) -> list[int | None]:
    """Return for each cluster the place of the first form that nearly all of its rows fit."""

def field_values(
    forms: Sequence[Form],
    texts: Texts,
    rows: NDArray[np.uint32],
    form: NDArray[np.uint32],
    threads: int | None,
) -> NDArray[np.uint64]:
    """Return a hash of all fields of each row; `form` is the place of its form."""

class JsonLines:
    """The records of lines. A column is its bytes and the offsets of its values.

    lengths       bytes of each text
    made          signal, values and sketches, if they were requested instead of texts
    refused       lines that Python has to parse: number from 0, start, end
    """

    texts: tuple[bytes, NDArray[np.int64]] | None
    lengths: NDArray[np.int64]
    made: tuple[NDArray[np.bool_], NDArray[np.uint64], NDArray[np.uint8]] | None
    ids: tuple[bytes, NDArray[np.int64]]
    spans: NDArray[np.int64]
    lines: NDArray[np.int64]
    refused: list[tuple[int, int, int]]
    line_count: int

def count_lines(data: Any) -> int:
    """Return the number of line ends."""

def read_json_lines(
    data: Any,
    columns: tuple[Sequence[str], str, bool],
    name: str,
    first: int,
    threads: int | None,
) -> JsonLines:
    """Parse whole lines of JSON.

    columns  columns of the text, column of the id, and whether the id is required
    name     a record without an id has the id `name`:line, lines counted from `first`
    """

# Names of masking rules and of views; see neardup.http.views.
MASKS: tuple[str, ...]
VIEWS: tuple[str, ...]

_Response = tuple[str, int, Sequence[tuple[str, str]], bytes, str | None, str, str, int | None]

class Views:
    """Writes views of HTTP responses, with volatile parts masked.

    A response is (url, status, headers, body, within, final url, title, length of a missing body or
    None); the body is decompressed, and UTF-8 if it is text.
    """

    def __init__(self, views: Sequence[str], masks: Sequence[str]) -> None: ...
    def make(
        self,
        responses: Sequence[_Response],
        threads: int | None,
    ) -> tuple[bytes, NDArray[np.int64], list[str]]:
        """Return the concatenated views, their ends, and the titles. Releases the GIL."""
    def masked(self, response: _Response) -> tuple[str, str, list[tuple[str, str, str]]]:
        """Return the view, the title, and the masked parts: rule, original, line."""

class CorruptIndexError(ValueError):
    """A saved index is damaged, truncated, or not an index."""

# Radius, recall, and the probability that a bit differs in the pairs to find, if it is known.
Reach = tuple[int, float, float | None]

# Key bits of both levels; flips of the first level and of both, None if the table is not read.
PlannedTable: TypeAlias = tuple[tuple[int, int], tuple[int, int | None] | None]

class Index:
    """Fingerprints by id. Rows are C-contiguous and `(bits + 63) // 64` words wide."""

    bits: int
    recipe: str | None
    levels: int | None
    nbytes: int

    def __init__(self, bits: int, recipe: str | None, levels: int | None = None) -> None: ...
    @staticmethod
    def open(path: str) -> Index: ...
    def save(self, path: str) -> None: ...
    def __len__(self) -> int: ...
    def add(
        self,
        values: NDArray[np.uint64],
        ids: NDArray[np.int64] | list[str] | None,
        numbers: NDArray[np.uint32] | None,
        rows: int,
        recipe: str | None,
        threads: int | None,
    ) -> NDArray[np.int64] | list[str]:
        """Add fingerprints and return their ids. Without ids they continue from the highest;
        `numbers` are the positions among `rows` if some rows were left out."""
    def remove(self, ids: NDArray[np.int64] | list[str]) -> int: ...
    def search(
        self, values: NDArray[np.uint64], reach: Reach, recipe: str | None, threads: int | None
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64] | list[str], NDArray[np.uint16]]:
        """Return queries, ids and distances, query by query."""
    def nearest(
        self,
        values: NDArray[np.uint64],
        count: int,
        max_distance: int,
        recipe: str | None,
        threads: int | None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64] | list[str], NDArray[np.uint16]]: ...
    def contains(
        self, values: NDArray[np.uint64], radius: int, recipe: str | None, threads: int | None
    ) -> NDArray[np.bool_]: ...
    def get(self, id: int | str) -> list[int] | None: ...
    def ids(self) -> NDArray[np.int64] | list[str]: ...
    def clear(self) -> None: ...
    def compact(self) -> None: ...
    def verify(self) -> None: ...
    def plan(
        self, radius: int, recall: float
    ) -> list[tuple[int, list[PlannedTable] | None, int, float, float, float]]:
        """Return for each part: entries, tables or None for a scan, probes, candidates, candidates
        saved by the second level, nanoseconds."""

# Stands for the number of equal registers if the digests are equal: identical features.
TWIN: int

class SketchIndex:
    """Sketches (rows of SKETCH_BYTES bytes) by distinct keys.

    It has tables for the question (similarity, recall) it was created for. They also answer
    questions that need fewer of these tables; any other question scans all sketches. The result is
    always the candidates of the question's plan.

    entries  number of keys; removed ones count until the index is written again
    """

    recipe: str | None
    nbytes: int
    entries: int

    def __init__(self, similarity: float, recall: float, recipe: str | None) -> None: ...
    @staticmethod
    def open(path: str, similarity: float, recall: float) -> SketchIndex:
        """Map a saved index. If it has only the first tables for the question, searches build the
        others in memory, and `save` writes them."""
    def save(self, path: str) -> None: ...
    def add(self, rows: NDArray[np.uint8], keys: NDArray[np.int64]) -> None: ...
    def remove(self, keys: NDArray[np.int64]) -> None:
        """Remove keys; unknown keys are ignored."""
    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return all keys in order, and their sketches."""
    def verify(self) -> None: ...

def search_sketches(
    indexes: Sequence[SketchIndex],
    rows: NDArray[np.uint8],
    question: tuple[float, float],
    most: int | None,
    threads: int | None,
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint8]]:
    """Return queries, keys and numbers of equal registers (`TWIN` for twins) of the candidates in
    all indexes, sorted by query, registers (descending) and key. `most` limits the twins, and the
    equal sketches of each index."""

def search_sketch(
    indexes: Sequence[SketchIndex], sketch: bytes, question: tuple[float, float], most: int | None
) -> list[tuple[int, int]]:
    """Return the keys and numbers of equal registers of the candidates for one sketch."""

class TermIndex:
    """An inverted index of documents by term (hashed feature), ranked by TF-IDF cosine. Keys
    ascend; a file holds all documents of a range of keys.

    identity  of the texts and the recipe; a file of another identity is refused
    """

    nbytes: int

    def __init__(self, identity: str) -> None: ...
    def __len__(self) -> int:
        """The number of documents, without removed ones."""
    def add(
        self,
        pipeline: Pipeline,
        texts: Sequence[str | None],
        keys: NDArray[np.int64],
        threads: int | None,
    ) -> None:
        """Add documents; keys must be higher than all before. Missing texts are skipped."""
    def add_arrow(
        self,
        pipeline: Pipeline,
        chunks: Sequence[tuple[int, int, Any, Any, Any, bool]],
        keys: NDArray[np.int64],
        threads: int | None,
    ) -> None:
        """Add documents from Arrow string buffers, which are read in place."""
    def add_terms(
        self, bounds: NDArray[np.uint64], terms: NDArray[np.uint64], keys: NDArray[np.int64]
    ) -> None:
        """Add documents by their distinct terms; `bounds` are the offsets of each document's
        terms."""
    def sharing(self, terms: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the keys of the documents with at least one of these terms, ascending."""
    def remove(self, keys: NDArray[np.int64]) -> None:
        """Remove keys; unknown keys are ignored."""
    def search(
        self,
        pipeline: Pipeline,
        queries: Sequence[str],
        n: int,
        least: float,
        idf: str,
        threads: int | None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.float64]]:
        """Return queries, keys and cosines (above 0, at least `least`) of the best `n` documents
        of each query; ties by key."""
    def save(self, path: str, first: int, last: int, stamp: int) -> None:
        """Write the documents in this range of keys to a file, and map it instead."""
    def attach(self, path: str) -> tuple[int, int, int, int, str]:
        """Map a file of higher keys. Return the result of `covered`."""
    @staticmethod
    def covered(path: str) -> tuple[int, int, int, int, str]:
        """Return first and last key, documents, stamp and identity of a file."""
    def keys(self) -> NDArray[np.int64]:
        """Return all keys, without removed ones, ascending."""
    def verify(self) -> None: ...

def join_plan(
    values: NDArray[np.uint64], signal: NDArray[np.bool_] | None, reach: Reach
) -> dict[str, Any]:
    """Return the plan of a join: the fields of `neardup.JoinPlan`."""

def pairs(
    values: NDArray[np.uint64],
    signal: NDArray[np.bool_] | None,
    reach: Reach,
    equal: str,
    threads: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16], dict[str, Any]]:
    """Return left rows, right rows and distances, sorted, and the plan."""

class PairStream:
    """Batches of pairs, found on background threads; dropping it stops them."""

    plan: dict[str, Any]

    def __init__(
        self,
        values: NDArray[np.uint64],
        signal: NDArray[np.bool_] | None,
        reach: Reach,
        equal: str,
        threads: int | None,
    ) -> None: ...
    def next(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16]] | None:
        """Return the next batch, unsorted, or None at the end."""

def clusters(
    values: NDArray[np.uint64],
    signal: NDArray[np.bool_] | None,
    reach: Reach,
    linkage: str,
    threads: int | None,
) -> NDArray[np.int64]:
    """Return for each row the first row of its cluster."""

def near_plan(similarity: float, recall: float) -> dict[str, Any]:
    """Return the plan for a similarity: a candidate has `key` equal registers in one of `tables`,
    and `least` in all."""

class NearJoin:
    """A join of texts by their sketches.

    order  rows, the ones to keep first
    first  number of reference rows: they are compared only with the other rows
    """

    twins: NDArray[np.int64]
    plan: dict[str, Any]
    dense: list[int]
    whole: bool
    rows: NDArray[np.uint32]
    first: int

    def __init__(
        self,
        sketches: NDArray[np.uint8],
        signal: NDArray[np.bool_],
        similarity: float,
        recall: float,
        *,
        order: NDArray[np.uint32] | None = None,
        first: int = 0,
        threads: int | None = None,
    ) -> None: ...
    def candidates(
        self, threads: int | None, told: Callable[[int, int], object] | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the later and the earlier rows of the candidates; pairs with a common row are
        neighbours. `told` is called with the tables done and the candidates found so far."""
    def put(
        self,
        later: NDArray[np.uint32],
        earlier: NDArray[np.uint32],
        dense: list[tuple[int, NDArray[np.uint32]]],
        threads: int | None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Set candidates found elsewhere, as positions in `rows`, and return them as `candidates`
        does. `dense` are buckets whose pairs are not among them: a table, and its texts."""
    def forecast(
        self, pipeline: Pipeline, texts: Texts, threads: int | None
    ) -> tuple[Literal["sketches", "inverted"], float, float, float]:
        """Return the cheaper method, the seconds it takes about, the pairs it looks at, and the
        seconds of the other method (infinite if it is out of the question, 0 if unknown)."""
    def look_up(
        self,
        pipeline: Pipeline,
        texts: Texts,
        most: int,
        threads: int | None,
        told: Callable[[int], object],
    ) -> (
        tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], NDArray[np.uint16]]
        | None
    ):
        """Return all near pairs by an inverted index and set them as candidates: later and earlier
        rows, similarity, distance. None if there are more than `most`. `told` is called with the
        number of texts looked up so far."""
    def invert(self) -> None:
        """Set no candidates: `clusters` and `dense_pairs` then use an inverted index."""
    def at_the_edge(
        self,
        later: NDArray[np.uint32],
        earlier: NDArray[np.uint32],
        similarities: NDArray[np.float64],
    ) -> tuple[int, float]:
        """Return the number of pairs of rows just above the threshold, by their similarities, and
        the estimated number of all such pairs."""
    def clusters(
        self,
        linkage: str,
        similarities: NDArray[np.float64],
        distances: NDArray[np.uint16],
        pipeline: Pipeline,
        texts: Texts,
        threads: int | None,
        told: Callable[[int], object] | None = None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], NDArray[np.uint16]]:
        """Return for each linked text its row, the row it is linked with, similarity (NaN if it was
        not judged) and distance. Consumes the candidates."""
    def dense_pairs(
        self,
        pipeline: Pipeline,
        texts: Texts,
        take: Callable[..., object],
        threads: int | None,
    ) -> None:
        """Call `take` with the near pairs of dense buckets: later, earlier, similarity, distance.
        Consumes the buckets."""

# Rows in buckets: keys (of `sketch_keys` or `code_keys`), parts of buckets that were split, sides
# (rows of sides 0 and 1 are compared with each other; rows of side 2 all with all), and row
# numbers, which are the order of rows.
Places = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint8], NDArray[np.int64]]

def sketch_keys(
    registers: NDArray[np.uint8], question: tuple[float, float], threads: int | None
) -> NDArray[np.uint64]:
    """Return the keys of each row of 48 registers, one for each table of the plan: the number of
    the table and its bytes. A single key if the plan compares all pairs."""

def first_tables(
    registers: NDArray[np.uint8],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    question: tuple[float, float],
) -> NDArray[np.uint32]:
    """Return for each pair of rows the first table with both, or the number of tables."""

def fallen_sketches(
    places: Places,
    registers: NDArray[np.uint8],
    question: tuple[float, float],
    threads: int | None,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the candidates among rows with a common key, as indices of `places`: later and
    earlier, each pair once, at its first common key; and all indices of dense buckets, whose pairs
    are not listed."""

def code_keys(values: NDArray[np.uint64], bits: int, radius: int) -> NDArray[np.uint64]:
    """Return the keys of each fingerprint, one for each of radius + 1 blocks of its bits; a single
    key, so that all pairs are compared, if the blocks would be too short."""

def fallen_codes(
    places: Places,
    values: NDArray[np.uint64],
    bits: int,
    radius: int,
    threads: int | None,
    *,
    forest: bool = False,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint16]]:
    """Return the pairs within the radius among fingerprints with a common key: later, earlier,
    distance. With `forest`, only as many of each bucket as connect the same rows."""
