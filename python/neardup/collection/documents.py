"""Documents as callers hand them over: tuples, dicts, Arrow tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup import _core
from neardup._util.strings import check_unicode
from neardup.collection.schema import LEAST_PACKED, checksums, digest_of, packed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.text.recipe import Recipe


# Deeper metadata is refused: not every JSON reader could read it back.
MOST_DEPTH = 100
NESTED = (Mapping, list, tuple)
FORMS = 'pass (id, text), (id, text, metadata), {"id": …, "text": …}, or an Arrow table of them'


class DocumentColumns(NamedTuple):
    """One list for each: ids, texts, and metadata as JSON."""

    ids: list[str]
    texts: list[str]
    metadata: list[str | None]


def as_documents(documents: Any) -> DocumentColumns:
    """What was passed, checked: ids are different strings, texts are strings, all of them Unicode.

    Of dicts and tables, all but id and text is metadata; see `metadata_of`.
    """
    if isinstance(documents, str | bytes | Mapping):
        raise TypeError(f"documents is one {type(documents).__name__}; {FORMS}, in a list")
    if hasattr(documents, "__arrow_c_stream__") or hasattr(documents, "__arrow_c_array__"):
        found = _from_table(documents)
    else:
        found = _from_rows(documents)
    if len(set(found.ids)) != len(found.ids):
        _refuse_repeats(found.ids)
    return found


def _from_rows(documents: Iterable[Any]) -> DocumentColumns:
    try:
        given = documents if isinstance(documents, list) else list(documents)
    except TypeError:
        raise TypeError(f"documents is of type {type(documents).__name__}; {FORMS}") from None
    if set(map(type, given)) == {tuple} and set(map(len, given)) == {2}:
        # What most callers pass, without a look at each.
        ids, texts = [row[0] for row in given], [row[1] for row in given]
        if set(map(type, ids)) == {str} == set(map(type, texts)):
            return DocumentColumns(ids, texts, [None] * len(ids))
    return _from_mixed(given)


def _from_mixed(given: list[Any]) -> DocumentColumns:
    ids, texts, metadata = [], [], []
    for at, document in enumerate(given):
        extra: Any = None
        if isinstance(document, Mapping):
            if "id" not in document or "text" not in document:
                missing = "id" if "id" not in document else "text"
                raise ValueError(f"documents[{at}] has no {missing!r}; {FORMS}")
            id_, text = document["id"], document["text"]
            if len(document) > 2:
                rest = {x: y for x, y in document.items() if x not in ("id", "text")}
                extra = metadata_of(rest)
        elif isinstance(document, tuple | list) and len(document) == 2:
            id_, text = document
        elif isinstance(document, tuple | list) and len(document) == 3:
            id_, text, extra = document
        else:
            raise TypeError(f"documents[{at}] is {_short(document)}; {FORMS}")
        if type(id_) is not str or type(text) is not str:
            id_, text = (
                _string(id_, f"the id of documents[{at}]"),
                _string(text, f"the text of documents[{at}]"),
            )
        ids.append(id_)
        texts.append(text)
        metadata.append(None if extra is None else as_json(extra, at))
    return DocumentColumns(ids, texts, metadata)


def _from_table(documents: Any) -> DocumentColumns:
    import pyarrow as pa

    table = documents if isinstance(documents, pa.Table) else pa.table(documents)
    for name in ("id", "text"):
        if name not in table.column_names:
            there = ", ".join(map(repr, table.column_names)) or "none"
            raise ValueError(f"the table has no column {name!r} (there is {there}); rename one")
    ids, texts = (table.column(name).to_pylist() for name in ("id", "text"))
    for name, values in (("id", ids), ("text", texts)):
        for at, value in enumerate(values):
            if not isinstance(value, str):
                _string(value, f"row {at} of the column {name!r}")
    rest = table.drop_columns(["id", "text"])
    metadata: list[str | None] = [None] * len(ids)
    if rest.num_columns:
        metadata = [as_json(metadata_of(row), at) for at, row in enumerate(rest.to_pylist())]
    return DocumentColumns(ids, texts, metadata)


def metadata_of(columns: dict[str, Any]) -> dict[str, Any]:
    """What is kept of the columns beside id and text: all of them.

    What `export` has written is taken back as it was: of a record with the columns "metadata" (an
    object, or JSON of one) and "fingerprint" (hexadecimal digits, or nothing), the first is not a
    value but holds them, and the second is left out, as it is computed anew.
    """
    if "metadata" not in columns or not _is_code(columns.get("fingerprint", 0)):
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


def _is_code(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip("0123456789abcdef"))


def as_json(metadata: Any, at: int) -> str | None:
    """Metadata as it is stored."""
    if not isinstance(metadata, Mapping):
        raise TypeError(
            f"the metadata of documents[{at}] is {_short(metadata)}; it must be a dict, or None"
        )
    if not metadata:
        return None
    if depth_of(metadata) > MOST_DEPTH:
        raise ValueError(
            f"the metadata of documents[{at}] is nested more than {MOST_DEPTH} deep; flatten it, "
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


def depth_of(value: Any) -> int:
    """How deeply lists and dicts are nested, counted up to MOST_DEPTH + 1."""
    depth, level = 0, [value]
    while level and depth <= MOST_DEPTH:
        # Each once, however often it is there: one may even hold itself.
        inner = {id(part): part for each in level for part in _parts(each)}
        level = [part for part in inner.values() if isinstance(part, NESTED)]
        depth += 1
    return depth


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _keys(value: Any) -> Iterator[Any]:
    """All keys of what JSON can hold: it would turn numbers into strings."""
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
        + (": str(…) makes one of a number" if isinstance(value, int) else "")
    )


def _refuse_repeats(ids: Sequence[str]) -> None:
    first: dict[str, int] = {}
    for at, id_ in enumerate(ids):
        if (before := first.setdefault(id_, at)) != at:
            raise ValueError(
                f"the id {id_!r} is given twice, by documents[{before}] and documents[{at}]; "
                "a batch is stored at once, so give each id once, or add the two one by one"
            )


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}…"


# Texts → fingerprints and sketches.


class Prepared(NamedTuple):
    """A row for each text; sketches have none where they were not wanted."""

    values: NDArray[np.uint64]
    signal: NDArray[np.bool_]
    sketches: NDArray[np.uint8]

    def of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Fingerprints and sketches of some."""
        sketches = self.sketches[rows] if len(self.sketches) else self.sketches
        return self.values[rows], sketches


def prepared(texts: list[str], recipe: Recipe, *, sketches: bool) -> Prepared:
    """A single text is done at once, and not handed to other threads."""
    import numpy as np

    pipeline = recipe.pipeline
    if len(texts) != 1:
        if sketches:
            return Prepared(*pipeline.sketched(texts, None))
        return Prepared(
            *pipeline.fingerprints(texts, None, None), np.zeros((0, _core.SKETCH_BYTES), np.uint8)
        )
    found = pipeline.sketch(texts[0]) if sketches else None
    code = (None if found is None else found[0]) if sketches else pipeline.fingerprint(texts[0])
    if code is None:
        none = np.zeros((1, (recipe.bits + 63) // 64), dtype=np.uint64)
        rows = np.zeros((int(sketches), _core.SKETCH_BYTES), dtype=np.uint8)
        return Prepared(none, np.zeros(1, dtype=bool), rows)
    values = np.frombuffer(code, dtype="<u8").astype(np.uint64, copy=False)[None, :]
    sketch = b"" if found is None else found[1]
    rows = np.frombuffer(sketch, dtype=np.uint8).reshape(-1, _core.SKETCH_BYTES)
    return Prepared(values, np.ones(1, dtype=bool), rows)


# A batch that is to be added: made ready, and made into rows.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.text.recipe import Recipe

    Coded = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint8] | None]


# Rows made before others get a turn, and texts packed.
AT_ONCE, PACKED_AT_ONCE = 1024, 16


class PreparedBatch:
    """Documents of different ids, with their fingerprints, and sketches if texts are stored."""

    def __init__(self, documents: DocumentColumns, recipe: Recipe, *, texts: bool) -> None:
        import numpy as np

        self.documents = documents
        self.recipe = recipe
        self.texts = texts
        try:
            self.data = [text.encode() for text in documents.texts]
            self.names = [id_.encode() for id_ in documents.ids]
        except UnicodeEncodeError:
            for at, (id_, text) in enumerate(zip(documents.ids, documents.texts, strict=True)):
                check_unicode(id_, f"the id of documents[{at}]")
                check_unicode(text, f"the text of documents[{at}]")
            raise
        self.made = prepared(documents.texts, recipe, sketches=texts)
        rows = self.made.values.astype("<u8", copy=False).tobytes()
        step, width = (recipe.bits + 63) // 64 * 8, recipe.bits // 8
        self.codes: list[bytes | None] = [rows[at : at + width] for at in range(0, len(rows), step)]
        # Of texts without a signal, by their place.
        self.digests: dict[int, bytes] = {}
        for at in np.flatnonzero(~self.made.signal).tolist():
            self.codes[at] = None
            digest = digest_of(documents.texts[at], self.data[at])
            if digest is not None:
                self.digests[at] = digest

    def __len__(self) -> int:
        return len(self.codes)

    def rows(
        self, chosen: list[int] | range, first: int, breathe: Callable[[], None]
    ) -> list[list[Any]]:
        """The chosen documents as columns of the store, in its order, with keys from `first` on.
        Calls `breathe` now and then, so that other threads can run."""
        ids, strings, metadata = self.documents
        columns: tuple[list[Any], ...]
        columns = (ids, self.names, self.codes, metadata, strings, self.data)
        if len(chosen) < len(self):
            columns = tuple([column[at] for at in chosen] for column in columns)
        ids, names, codes, metadata, strings, data = columns
        keys = list(range(first, first + len(ids)))
        stored: list[Any] = [None] * len(ids)
        if self.texts:
            stored, data = self._packed(strings, data, breathe)
        sums: list[int] = []
        for start in range(0, len(ids), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            texts = data[part] if self.texts else None
            sums += checksums(keys[part], names[part], codes[part], metadata[part], texts)
            breathe()
        return [keys, ids, codes, sums, metadata, stored]

    @staticmethod
    def _packed(
        strings: list[str], data: list[bytes], breathe: Callable[[], None]
    ) -> tuple[list[str | bytes], list[bytes]]:
        """The texts as they are stored, and the bytes of that."""
        stored: list[str | bytes] = [*strings]
        data = [*data]
        for at, length in enumerate(map(len, data)):
            if length >= LEAST_PACKED:
                stored[at] = small = packed(strings[at], data[at])
                if type(small) is bytes:
                    data[at] = small
                if at % PACKED_AT_ONCE == 0:
                    breathe()
        return stored, data

    def digests_of(self, chosen: list[int] | range, first: int) -> list[tuple[int, bytes]]:
        """The digests of the chosen documents that have no signal, with the same keys."""
        if not self.digests:
            return []
        keys = enumerate(chosen, first)
        return [(key, self.digests[at]) for key, at in keys if at in self.digests]

    def sketches(self, chosen: list[int] | range) -> NDArray[np.uint8] | None:
        """The sketches of the chosen documents, where texts are kept."""
        if not self.texts:
            return None
        sketches = self.made.sketches
        return sketches if len(chosen) == len(self) else sketches[chosen]

    def coded(self, chosen: list[int] | range, first: int) -> Coded:
        """Keys, fingerprints and sketches of the chosen documents that have a signal."""
        import numpy as np

        places = np.asarray(chosen, dtype=np.int64)
        there = self.made.signal[places]
        values, sketches = self.made.of(places[there])
        return first + np.flatnonzero(there), values, sketches if self.texts else None
