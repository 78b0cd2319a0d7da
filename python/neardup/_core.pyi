"""The Rust core as Python sees it. Private: use the functions of `neardup`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

# A sketch: 48 registers of a weighted MinHash, then 16 bytes of a digest of all features.
SKETCH_BYTES: int

def stable_hash(data: bytes) -> int:
    """XXH3-64 of `data`, seed 0: names stop-word lists and tables inside a recipe's identity."""

class Pipeline:
    """A recipe made ready to run: tables built, pattern compiled, dictionary loaded.

    All settings are already in the forms the core knows; `neardup.Recipe` checks and converts.
    Hashes and fingerprints cross the border as little-endian bytes, `(bits + 63) // 64 * 8` long.
    """

    def __init__(
        self,
        *,
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
        """The fingerprint of one text, or None when it has no signal."""
    def fingerprint_features(self, tokens: Sequence[str], weights: Sequence[float]) -> bytes | None:
        """The fingerprint of features the caller made. Equal tokens must have been merged."""
    def fingerprints(
        self,
        texts: Sequence[str],
        threads: int | None,
        progress: Callable[[int, int], object] | None,
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Values (n × words) and signal (n) of many texts, on all cores, without the GIL."""
    def fingerprints_arrow(
        self,
        chunks: Sequence[tuple[int, int, Any, Any, Any, bool]],
        threads: int | None,
        progress: Callable[[int, int], object] | None,
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """As `fingerprints`, read in place from Arrow string buffers.

        A chunk is (offset, length, validity | None, offsets, data, large).
        """
    def sketch(self, text: str) -> tuple[bytes, bytes] | None:
        """Fingerprint and sketch of one text, or None when it has no signal."""
    def sketched(
        self, texts: Sequence[str | None], threads: int | None
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_], NDArray[np.uint8]]:
        """Values, signal and sketches of many texts. Without a signal a sketch holds the digest of
        the text itself, or zeros if it has neither letter nor digit."""
    def sketches_arrow(
        self, chunks: Sequence[tuple[int, int, Any, Any, Any, bool]], threads: int | None
    ) -> tuple[NDArray[np.bool_], NDArray[np.uint8]]:
        """Signal and sketches, read in place as by `fingerprints_arrow`; no votes are cast."""
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
        """As `read_json_lines`, with sketches, or else fingerprints, in place of the texts."""
    def features(self, text: str) -> list[tuple[str, int, float]]:
        """The features of a text: (token, count, weight), in the order the vote takes them."""
    def hash(self, token: str) -> bytes:
        """The bits a token votes with."""
    def vote(self, hashes: Sequence[bytes], weights: Sequence[float]) -> tuple[bytes, list[float]]:
        """The fingerprint and the column sums (bit 0 first) of hashed, weighted features."""
    def similarity(self, left: str, right: str) -> float:
        """The exact cosine of the features of two texts; NaN when either has none."""
    def judge(
        self,
        texts: Texts,
        left: NDArray[np.uint32],
        right: NDArray[np.uint32],
        threads: int | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.uint16]]:
        """Exact cosine and distance of pairs of rows. Each text is cut into words once, and all of
        them are in memory meanwhile."""
    def judge_one(self, text: str, others: Sequence[str]) -> tuple[list[float], list[int]]:
        """As `judge`, one text with each of a few others, on this thread."""
    def document_frequencies(
        self, texts: Sequence[str], threads: int | None
    ) -> tuple[int, dict[str, int]]:
        """How many texts hold each token: what a tf-idf recipe is fitted on."""

def stable_hashes(data: Any, bounds: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The same of each of the strings that lie one after the other in a buffer."""

def says_something(text: str) -> bool:
    """Whether a text holds a letter or digit: without a signal and without them nothing is like
    it."""

def cosine(
    left_tokens: Sequence[str],
    left_weights: Sequence[float],
    right_tokens: Sequence[str],
    right_weights: Sequence[float],
) -> float:
    """The exact cosine of two weighted bags; NaN when either has no weight."""

# The fewest words and characters of a passage, how many differing ones are bridged, and seconds
# after which the answer may be coarse.
Sharing = tuple[int, int, int, float | None]
# Passages (left start, left end, right start, right end, equal words, whether nothing differs), the
# stretches of equal words (number of the passage, places), words, covered ones and containment of
# the left text and of the right one, and whether the answer is coarse. Places are in characters.
Found = tuple[
    list[tuple[int, int, int, int, int, bool]],
    list[tuple[int, int, int, int, int]],
    tuple[int, int, float],
    tuple[int, int, float],
    bool,
]

def shared(left: str, right: str, question: Sharing) -> Found:
    """What two texts share, in the order of the left one."""

def shared_with_each(
    left: str, rights: Sequence[str], question: Sharing, threads: int | None
) -> list[Found]:
    """What a text shares with each of some others."""

def units(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """What passages are made of: where each word begins and ends, in characters, and whether it is
    a character of a script without spaces."""

def winnow(
    texts: Sequence[str | None],
    min_words: int,
    min_chars: int,
    threads: int | None,
    *,
    every: bool = False,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Hashes of runs, ascending in each text: where those of each begin and the last end, and the
    hashes. Texts that share a passage of the minimum length, word for word, share one of them.
    `every`: of all runs instead."""

class Texts:
    """Texts by row, in memory or in files; files are read when a text is asked for."""

    @staticmethod
    def in_memory(data: Any, ends: NDArray[np.int64]) -> Texts:
        """One after the other in a buffer, each known by where it ends."""
    @staticmethod
    def in_files(
        files: Sequence[tuple[str, bool]], columns: Sequence[str], places: NDArray[np.int64]
    ) -> Texts:
        """For each row the number of a file, start and end. In files with True a place is a line of
        JSON and its text in these columns; in others it is the text."""
    def __len__(self) -> int: ...
    def get(self, row: int) -> str: ...

class JsonLines:
    """The records of lines. A column is its bytes and where each value begins and the last ends.

    lengths       bytes of each text
    made          signal, values, sketches, where something was made; then there are no texts
    refused       lines that need a closer look: number from 0, start, end
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
    """How many line ends there are."""

def read_json_lines(
    data: Any,
    columns: tuple[Sequence[str], str, bool],
    name: str,
    first: int,
    threads: int | None,
) -> JsonLines:
    """Records of whole lines; `columns` are those of the text, that of the id, and whether a record
    must have one; else it is called `name`:line, counted from `first`."""

# The names of rules that mask, and of views; neardup.http.views says what each is.
MASKS: tuple[str, ...]
VIEWS: tuple[str, ...]

_Response = tuple[str, int, Sequence[tuple[str, str]], bytes, str | None, str, str, int | None]

class Views:
    """Makes views of HTTP responses: which lines, and what is masked in them.

    A response is (url, status, headers, body, within, final url, title, length of a body that is
    not there, else None); the body is decoded, UTF-8 if it is text.
    """

    def __init__(self, views: Sequence[str], masks: Sequence[str]) -> None: ...
    def make(
        self,
        responses: Sequence[_Response],
        threads: int | None,
    ) -> tuple[bytes, NDArray[np.int64], list[str]]:
        """Views one after the other, where each ends, and titles; on all cores, without the GIL."""
    def masked(self, response: _Response) -> tuple[str, str, list[tuple[str, str, str]]]:
        """The view of one, its title, and of all that was masked: rule, original, line."""

class CorruptIndexError(ValueError):
    """A saved index is damaged, cut short, or not an index."""

# Radius, recall, and the chance that a bit of what is looked for differs, where it is known.
Reach = tuple[int, float, float | None]

class Index:
    """Codes of one width under ids. Rows are C-contiguous and `(bits + 63) // 64` words wide."""

    bits: int
    recipe: str | None
    nbytes: int

    def __init__(self, bits: int, recipe: str | None) -> None: ...
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
        """Adds rows. Without ids they count on from the highest; `numbers` are the rows' places
        among `rows` where some are left out."""
    def remove(self, ids: NDArray[np.int64] | list[str]) -> int: ...
    def search(
        self, values: NDArray[np.uint64], reach: Reach, recipe: str | None, threads: int | None
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64] | list[str], NDArray[np.uint16]]:
        """Queries, ids and distances, row by row."""
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
    ) -> list[tuple[int, list[tuple[int, int | None]] | None, int, float, float]]:
        """For each part: entries, the tables' key bits and flips or None for a scan, probes,
        candidates, nanoseconds."""

# What stands for the number of equal registers where digests are equal: the same features.
TWIN: int

class SketchIndex:
    """Sketches (rows of SKETCH_BYTES bytes) under keys, each of which is given once.

    Tables are kept for the question (similarity, recall) it is made for; those that need fewer of
    the same are answered by them too, all others by a look at every sketch. The answers are the
    candidates of the question's plan in any case.

    entries  keys, with some that were removed until the index is written anew
    """

    recipe: str | None
    nbytes: int
    entries: int

    def __init__(self, similarity: float, recall: float, recipe: str | None) -> None: ...
    @staticmethod
    def open(path: str) -> SketchIndex: ...
    def save(self, path: str) -> None: ...
    def add(self, rows: NDArray[np.uint8], keys: NDArray[np.int64]) -> None: ...
    def remove(self, keys: NDArray[np.int64]) -> None:
        """Takes keys out; those that are not there make no difference."""
    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """All keys in order, and their sketches."""
    def verify(self) -> None: ...

def search_sketches(
    indexes: Sequence[SketchIndex],
    rows: NDArray[np.uint8],
    question: tuple[float, float],
    most: int | None,
    threads: int | None,
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint8]]:
    """Queries, keys and equal registers (`TWIN` for twins) of the candidates in all the indexes,
    query by query, the most registers first, then by key. Of twins at most the first `most` keys,
    of other equal sketches the first `most` of each index."""

def search_sketch(
    indexes: Sequence[SketchIndex], sketch: bytes, question: tuple[float, float], most: int | None
) -> list[tuple[int, int]]:
    """Keys and equal registers of the candidates for one sketch, as `search_sketches`."""

class TermIndex:
    """Documents by the terms (hashed features) of their texts, under ascending keys, to be ranked
    by TF-IDF cosine. Files hold all documents of a range of keys.

    identity  says of what texts the postings are, and by what recipe; files of another are refused
    """

    nbytes: int

    def __init__(self, identity: str) -> None: ...
    def __len__(self) -> int:
        """Documents that were not removed."""
    def add(
        self,
        pipeline: Pipeline,
        texts: Sequence[str | None],
        keys: NDArray[np.int64],
        threads: int | None,
    ) -> None:
        """Adds documents whose keys follow all that are there; a missing text is no document."""
    def add_arrow(
        self,
        pipeline: Pipeline,
        chunks: Sequence[tuple[int, int, Any, Any, Any, bool]],
        keys: NDArray[np.int64],
        threads: int | None,
    ) -> None:
        """The same, read in place as by `Pipeline.fingerprints_arrow`."""
    def add_terms(
        self, bounds: NDArray[np.uint64], terms: NDArray[np.uint64], keys: NDArray[np.int64]
    ) -> None:
        """The same of documents whose terms are known, each once: where those of each begin, and
        the last ones end; and the terms."""
    def sharing(self, terms: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Keys of the documents that have one of these terms at least, ascending."""
    def remove(self, keys: NDArray[np.int64]) -> None:
        """Takes keys out; those that are not there make no difference."""
    def search(
        self,
        pipeline: Pipeline,
        queries: Sequence[str],
        n: int,
        least: float,
        idf: str,
        threads: int | None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.float64]]:
        """Queries, keys and cosines above 0, at least `least`: query by query the best `n`, then by
        key."""
    def save(self, path: str, first: int, last: int, stamp: int) -> None:
        """Writes what has keys in this range, and maps the file in its place."""
    def attach(self, path: str) -> tuple[int, int, int, int, str]:
        """Maps a file behind what is there. Returns what `covered` says."""
    @staticmethod
    def covered(path: str) -> tuple[int, int, int, int, str]:
        """First and last key, documents, stamp and identity of a file."""
    def keys(self) -> NDArray[np.int64]:
        """All that were not removed, ascending."""
    def verify(self) -> None: ...

def join_plan(
    values: NDArray[np.uint64], signal: NDArray[np.bool_] | None, reach: Reach
) -> dict[str, Any]:
    """What a join of these rows would do; the fields of `neardup.pairs.Plan`."""

def pairs(
    values: NDArray[np.uint64],
    signal: NDArray[np.bool_] | None,
    reach: Reach,
    equal: str,
    threads: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint16], dict[str, Any]]:
    """Left rows, right rows, distances, sorted; and the plan."""

class PairStream:
    """Pairs in batches, found on threads of its own; dropping it stops them."""

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
        """The next batch in no order, or None at the end."""

def clusters(
    values: NDArray[np.uint64],
    signal: NDArray[np.bool_] | None,
    reach: Reach,
    linkage: str,
    threads: int | None,
) -> NDArray[np.int64]:
    """For each row the first row of its cluster."""

def near_plan(similarity: float, recall: float) -> dict[str, Any]:
    """How pairs of a similarity are found: `key` registers in one of `tables`, `least` in all."""

class NearJoin:
    """Texts by their sketches, to be joined by similarity.

    order  rows, those that are to stand for others first
    first  rows before this one are compared only with those from it on
    """

    twins: NDArray[np.int64]
    plan: dict[str, Any]
    dense: list[int]
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
        """Rows later and earlier in order; those that share texts lie side by side. `told` is
        called now and then with the tables that are done and the candidates found so far."""
    def put(
        self,
        later: NDArray[np.uint32],
        earlier: NDArray[np.uint32],
        dense: list[tuple[int, NDArray[np.uint32]]],
        threads: int | None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """As `candidates`, where they were found elsewhere: numbers of texts, which are places in
        `rows`. `dense` are buckets whose pairs are not among them: a table, and its texts."""
    def at_the_edge(self, similarities: NDArray[np.float64]) -> tuple[int, float]:
        """Of the candidates, judged so: pairs just above the similarity, and how many there are."""
    def clusters(
        self,
        linkage: str,
        similarities: NDArray[np.float64],
        distances: NDArray[np.uint16],
        pipeline: Pipeline,
        texts: Texts,
        threads: int | None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], NDArray[np.uint16]]:
        """For each text that is linked the row, the row it is linked with, similarity (NaN if it
        was not judged) and distance. The candidates are gone afterwards."""
    def dense_pairs(
        self,
        pipeline: Pipeline,
        texts: Texts,
        take: Callable[..., object],
        threads: int | None,
    ) -> None:
        """Calls `take` with the near pairs of dense buckets: later, earlier, similarity, distance.
        The buckets are gone afterwards."""

# Where rows fell: keys (of `sketch_keys` or `code_keys`), parts of buckets that were cut, sides
# (rows of sides 0 and 1 are compared with each other; those of side 2 all with all), and row
# numbers, by which one comes before another.
Places = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint8], NDArray[np.int64]]

def sketch_keys(
    registers: NDArray[np.uint8], question: tuple[float, float], threads: int | None
) -> NDArray[np.uint64]:
    """The keys of each row of 48 registers, one a table of the plan: the number of the table and
    the bytes there. A single key where all pairs are compared."""

def first_tables(
    registers: NDArray[np.uint8],
    left: NDArray[np.uint32],
    right: NDArray[np.uint32],
    question: tuple[float, float],
) -> NDArray[np.uint32]:
    """The number of the first table that holds each pair of rows, or that of all tables."""

def fallen_sketches(
    places: Places,
    registers: NDArray[np.uint8],
    question: tuple[float, float],
    threads: int | None,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """The candidates among rows that fell together, as numbers of places: later and earlier, each
    pair under the first key it has in common; and all places of buckets too dense to be told pair
    by pair."""

def code_keys(values: NDArray[np.uint64], bits: int, radius: int) -> NDArray[np.uint64]:
    """The keys of each fingerprint, one for each of radius + 1 blocks of its bits; a single key
    where blocks would be short and all pairs are compared."""

def fallen_codes(
    places: Places,
    values: NDArray[np.uint64],
    bits: int,
    radius: int,
    threads: int | None,
    *,
    forest: bool = False,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint16]]:
    """The pairs within the radius among fingerprints that fell together: later, earlier, distance;
    with `forest` only so many of each bucket as connect what all of them do."""
