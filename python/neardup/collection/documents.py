"""Documents in and out of a collection: `parse_documents` takes tuples, dicts and tables,
`PreparedBatch` computes fingerprints, sketches and rows to insert, `export_documents` writes a
file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup import _core
from neardup._util.strings import check_unicode
from neardup.collection.results import Stored
from neardup.collection.schema import MIN_PACKED_BYTES, pack_text, row_checksums, text_digest
from neardup.files import writing
from neardup.files.reading.formats import all_endings, ending

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.collection.segments import IndexEntries
    from neardup.text.recipe import Recipe


# Not every JSON reader could read deeper metadata back.
MAX_DEPTH = 100
NESTED = (Mapping, list, tuple)
ACCEPTED_FORMS = (
    'pass (id, text), (id, text, metadata), {"id": …, "text": …}, or an Arrow table of them'
)


class DocumentColumns(NamedTuple):
    """Documents by column; metadata is JSON."""

    ids: list[str]
    texts: list[str]
    metadata: list[str | None]


def parse_documents(documents: Any) -> DocumentColumns:
    """Return documents by column; raise TypeError or ValueError if an id or text is not a string,
    an id occurs twice, or metadata is not JSON.

    In dicts and tables, all values but id and text are metadata; see `extract_metadata`.
    """
    if isinstance(documents, str | bytes | Mapping):
        raise TypeError(f"documents is one {type(documents).__name__}; {ACCEPTED_FORMS}, in a list")
    if hasattr(documents, "__arrow_c_stream__") or hasattr(documents, "__arrow_c_array__"):
        columns = _from_table(documents)
    else:
        columns = _from_rows(documents)
    if len(set(columns.ids)) != len(columns.ids):
        _refuse_duplicates(columns.ids)
    return columns


def _from_rows(documents: Iterable[Any]) -> DocumentColumns:
    try:
        rows = documents if isinstance(documents, list) else list(documents)
    except TypeError:
        raise TypeError(
            f"documents is of type {type(documents).__name__}; {ACCEPTED_FORMS}"
        ) from None
    if set(map(type, rows)) == {tuple} and set(map(len, rows)) == {2}:
        # The usual form, checked without a Python loop.
        ids, texts = [row[0] for row in rows], [row[1] for row in rows]
        if set(map(type, ids)) == {str} == set(map(type, texts)):
            return DocumentColumns(ids, texts, [None] * len(ids))
    return _from_mixed(rows)


def _from_mixed(rows: list[Any]) -> DocumentColumns:
    ids, texts, metadata = [], [], []
    for at, document in enumerate(rows):
        extra: Any = None
        if isinstance(document, Mapping):
            if "id" not in document or "text" not in document:
                missing = "id" if "id" not in document else "text"
                raise ValueError(f"documents[{at}] has no {missing!r}; {ACCEPTED_FORMS}")
            id_, text = document["id"], document["text"]
            if len(document) > 2:
                rest = {x: y for x, y in document.items() if x not in ("id", "text")}
                extra = extract_metadata(rest)
        elif isinstance(document, tuple | list) and len(document) == 2:
            id_, text = document
        elif isinstance(document, tuple | list) and len(document) == 3:
            id_, text, extra = document
        else:
            raise TypeError(f"documents[{at}] is {_short(document)}; {ACCEPTED_FORMS}")
        if type(id_) is not str or type(text) is not str:
            id_, text = (
                _string(id_, f"the id of documents[{at}]"),
                _string(text, f"the text of documents[{at}]"),
            )
        ids.append(id_)
        texts.append(text)
        metadata.append(None if extra is None else metadata_json(extra, at))
    return DocumentColumns(ids, texts, metadata)


def _from_table(documents: Any) -> DocumentColumns:
    import pyarrow as pa

    table = documents if isinstance(documents, pa.Table) else pa.table(documents)
    for name in ("id", "text"):
        if name not in table.column_names:
            names = ", ".join(map(repr, table.column_names)) or "none"
            raise ValueError(f"the table has no column {name!r} (columns: {names}); rename one")
    ids, texts = (table.column(name).to_pylist() for name in ("id", "text"))
    for name, values in (("id", ids), ("text", texts)):
        for at, value in enumerate(values):
            if not isinstance(value, str):
                _string(value, f"row {at} of the column {name!r}")
    rest = table.drop_columns(["id", "text"])
    metadata: list[str | None] = [None] * len(ids)
    if rest.num_columns:
        metadata = [
            metadata_json(extract_metadata(row), at) for at, row in enumerate(rest.to_pylist())
        ]
    return DocumentColumns(ids, texts, metadata)


def extract_metadata(columns: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a document: all its columns other than id and text.

    A record that `export` wrote has a column "metadata" (an object or its JSON) and a column
    "fingerprint" (hexadecimal digits or null). Its metadata is unpacked, and its fingerprint left
    out, because it is computed again.
    """
    if "metadata" not in columns or not _is_fingerprint(columns.get("fingerprint", 0)):
        return columns
    inner = columns["metadata"]
    if isinstance(inner, str):
        try:
            inner = json.loads(inner)
        except (ValueError, RecursionError):
            return columns
    if not isinstance(inner, Mapping):
        return columns
    rest = {x: y for x, y in columns.items() if x not in ("metadata", "fingerprint")}
    return {**rest, **inner}


def _is_fingerprint(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip("0123456789abcdef"))


def metadata_json(metadata: Any, at: int) -> str | None:
    """Return metadata as JSON; raise if it cannot be stored."""
    if not isinstance(metadata, Mapping):
        raise TypeError(
            f"the metadata of documents[{at}] is {_short(metadata)}; it must be a dict, or None"
        )
    if not metadata:
        return None
    if nesting_depth(metadata) > MAX_DEPTH:
        raise ValueError(
            f"the metadata of documents[{at}] is nested more than {MAX_DEPTH} deep; flatten it, "
            "or store its inner part as a string of JSON"
        )
    try:
        found = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"the metadata of documents[{at}] cannot be stored as JSON: {error}; "
            "convert its values to strings, numbers, lists or dicts"
        ) from None
    for key in _keys(metadata):
        if not isinstance(key, str):
            raise TypeError(
                f"the metadata of documents[{at}] has the key {_short(key)}; keys must be strings"
            )
    return check_unicode(found, f"the metadata of documents[{at}]")


def nesting_depth(value: Any) -> int:
    """Return how deeply lists and dicts are nested, counting up to MAX_DEPTH + 1."""
    depth, level = 0, [value]
    while level and depth <= MAX_DEPTH:
        # By identity, each object once: a list may occur many times, or contain itself.
        inner = {id(part): part for each in level for part in _parts(each)}
        level = [part for part in inner.values() if isinstance(part, NESTED)]
        depth += 1
    return depth


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _keys(value: Any) -> Iterator[Any]:
    """Yield the keys of all dicts, at every depth: json silently converts numbers to strings."""
    if isinstance(value, Mapping):
        yield from value
    for part in _parts(value):
        if isinstance(part, NESTED):
            yield from _keys(part)


def _string(value: Any, name: str) -> str:
    if isinstance(value, str):
        return str(value)
    raise TypeError(
        f"{name} is {_short(value)}; it must be a str"
        + ("; convert it with str(…)" if isinstance(value, int) else "")
    )


def _refuse_duplicates(ids: Sequence[str]) -> None:
    first: dict[str, int] = {}
    for at, id_ in enumerate(ids):
        if (before := first.setdefault(id_, at)) != at:
            raise ValueError(
                f"the id {id_!r} occurs twice, in documents[{before}] and documents[{at}]; "
                "pass each id once, or add the two one after the other"
            )


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}…"


def export_documents(documents: Iterable[Stored], path: Path, bits: int, *, texts: bool) -> int:
    """Write documents to a file, with a column of texts if `texts`; return their number."""
    writing.check_output(path)
    path = writing.with_ending(path, ".jsonl")
    # Only JSON lines have objects; elsewhere metadata is a string of JSON.
    as_object = all_endings()[ending(path.name)] == "jsonl"
    columns = {"id": str, "text": str, "metadata": dict if as_object else str, "fingerprint": str}
    if not texts:
        del columns["text"]
    count = 0
    with writing.open_rows(path, columns, reversible=True) as write:
        for found in documents:
            code = None if found.fingerprint is None else f"{found.fingerprint:0{bits // 4}x}"
            metadata = found.metadata
            row = {"id": found.id, "text": found.text, "fingerprint": code}
            write({**row, "metadata": metadata if as_object else _json(metadata)})
            count += 1
    return count


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


class PreparedTexts(NamedTuple):
    """Fingerprints and sketches, a row for each text; `signal` is False where a text has neither.
    Without `sketches=True` there are no rows of sketches."""

    values: NDArray[np.uint64]
    signal: NDArray[np.bool_]
    sketches: NDArray[np.uint8]

    def of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Return fingerprints and sketches of some rows."""
        sketches = self.sketches[rows] if len(self.sketches) else self.sketches
        return self.values[rows], sketches


def prepare(texts: list[str], recipe: Recipe, *, sketches: bool) -> PreparedTexts:
    """Compute fingerprints and sketches of texts. Starts no threads for a single text."""
    import numpy as np

    pipeline = recipe.pipeline
    if len(texts) != 1:
        if sketches:
            return PreparedTexts(*pipeline.sketched(texts, None))
        return PreparedTexts(
            *pipeline.fingerprints(texts, None, None), np.zeros((0, _core.SKETCH_BYTES), np.uint8)
        )
    found = pipeline.sketch(texts[0]) if sketches else None
    code = (None if found is None else found[0]) if sketches else pipeline.fingerprint(texts[0])
    if code is None:
        none = np.zeros((1, (recipe.bits + 63) // 64), dtype=np.uint64)
        rows = np.zeros((int(sketches), _core.SKETCH_BYTES), dtype=np.uint8)
        return PreparedTexts(none, np.zeros(1, dtype=bool), rows)
    values = np.frombuffer(code, dtype="<u8").astype(np.uint64, copy=False)[None, :]
    sketch = b"" if found is None else found[1]
    rows = np.frombuffer(sketch, dtype=np.uint8).reshape(-1, _core.SKETCH_BYTES)
    return PreparedTexts(values, np.ones(1, dtype=bool), rows)


# Checksums computed, and texts compressed, before other threads get a turn.
CHECKSUM_ROWS, COMPRESSED_TEXTS = 1024, 16


class PreparedBatch:
    """Documents with distinct ids, and their fingerprints; if `texts` are stored, also sketches.

    Methods take `chosen`, the positions of the documents to store; those get consecutive keys from
    `first_key` on.
    """

    def __init__(self, documents: DocumentColumns, recipe: Recipe, *, texts: bool) -> None:
        import numpy as np

        self.documents = documents
        self.recipe = recipe
        self.texts = texts
        try:
            self.text_bytes = [text.encode() for text in documents.texts]
            self.id_bytes = [id_.encode() for id_ in documents.ids]
        except UnicodeEncodeError:
            for at, (id_, text) in enumerate(zip(documents.ids, documents.texts, strict=True)):
                check_unicode(id_, f"the id of documents[{at}]")
                check_unicode(text, f"the text of documents[{at}]")
            raise
        self.prepared = prepare(documents.texts, recipe, sketches=texts)
        rows = self.prepared.values.astype("<u8", copy=False).tobytes()
        step, width = (recipe.bits + 63) // 64 * 8, recipe.bits // 8
        self.codes: list[bytes | None] = [rows[at : at + width] for at in range(0, len(rows), step)]
        # Digests of texts without a signal, by position.
        self.digests: dict[int, bytes] = {}
        for at in np.flatnonzero(~self.prepared.signal).tolist():
            self.codes[at] = None
            digest = text_digest(documents.texts[at], self.text_bytes[at])
            if digest is not None:
                self.digests[at] = digest

    def __len__(self) -> int:
        return len(self.codes)

    def rows(
        self, chosen: list[int] | range, first_key: int, yield_turn: Callable[[], None]
    ) -> list[list[Any]]:
        """Return the chosen documents as columns for `Store.insert`. Calls `yield_turn` regularly,
        so that other threads can run."""
        ids, strings, metadata = self.documents
        columns: tuple[list[Any], ...]
        columns = (ids, self.id_bytes, self.codes, metadata, strings, self.text_bytes)
        if len(chosen) < len(self):
            columns = tuple([column[at] for at in chosen] for column in columns)
        ids, names, codes, metadata, strings, data = columns
        keys = list(range(first_key, first_key + len(ids)))
        stored: list[Any] = [None] * len(ids)
        if self.texts:
            stored, data = self._compress(strings, data, yield_turn)
        sums: list[int] = []
        for start in range(0, len(ids), CHECKSUM_ROWS):
            part = slice(start, start + CHECKSUM_ROWS)
            texts = data[part] if self.texts else None
            sums += row_checksums(keys[part], names[part], codes[part], metadata[part], texts)
            yield_turn()
        return [keys, ids, codes, sums, metadata, stored]

    @staticmethod
    def _compress(
        strings: list[str], data: list[bytes], yield_turn: Callable[[], None]
    ) -> tuple[list[str | bytes], list[bytes]]:
        """Return the texts as they are stored, long ones compressed, and the bytes of each."""
        stored: list[str | bytes] = [*strings]
        data = [*data]
        for at, length in enumerate(map(len, data)):
            if length >= MIN_PACKED_BYTES:
                stored[at] = packed = pack_text(strings[at], data[at])
                if type(packed) is bytes:
                    data[at] = packed
                if at % COMPRESSED_TEXTS == 0:
                    yield_turn()
        return stored, data

    def digests_of(self, chosen: list[int] | range, first_key: int) -> list[tuple[int, bytes]]:
        """Return keys and digests of the chosen documents without a signal."""
        if not self.digests:
            return []
        keys = enumerate(chosen, first_key)
        return [(key, self.digests[at]) for key, at in keys if at in self.digests]

    def sketches(self, chosen: list[int] | range) -> NDArray[np.uint8] | None:
        """Return the sketches of the chosen documents; None if texts are not stored."""
        if not self.texts:
            return None
        sketches = self.prepared.sketches
        return sketches if len(chosen) == len(self) else sketches[chosen]

    def index_entries(self, chosen: list[int] | range, first_key: int) -> IndexEntries:
        """Return keys, fingerprints and sketches of the chosen documents with a signal."""
        import numpy as np

        places = np.asarray(chosen, dtype=np.int64)
        has_signal = self.prepared.signal[places]
        values, sketches = self.prepared.of(places[has_signal])
        return first_key + np.flatnonzero(has_signal), values, sketches if self.texts else None
