"""Documents of a check, parsed from the forms that `check_copying` accepts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMS = "pass texts, (id, text), (id, text, author or metadata), or a Collection"


@runtime_checkable
class RunIndex(Protocol):
    """A corpus that finds documents by the hashes of their runs: a Collection.

    runs_minimum  words and characters of the shortest passage that its hashes can find
    """

    @property
    def runs_minimum(self) -> tuple[int, int]: ...
    def documents(self) -> Iterator[Any]: ...
    def sharing(self, runs: Iterable[NDArray[np.uint64]]) -> Iterator[tuple[int, Any]]:
        """Yield (position in `runs`, document) for each document that shares a hash."""


class CheckedDocument(NamedTuple):
    """A document of the check or of the corpus.

    named   whether the caller passed the id; otherwise it is the position
    record  the record it was read from, such as (file, position); None if unknown
    """

    id: str
    text: str
    author: object
    named: bool
    record: object = None

    def is_same_record(self, other: CheckedDocument) -> bool:
        return self.record is not None and self.record == other.record

    def looks_same(self, other: CheckedDocument) -> bool:
        """Return whether id and text are equal, and the records are not both known."""
        both_known = self.record is not None and other.record is not None
        return not both_known and self.named and other.named and self[:2] == other[:2]


def parse_documents(name: str, documents: Any) -> Iterator[CheckedDocument]:
    """Yield each document; raise TypeError or ValueError that names the first invalid one."""
    for at, document in enumerate(_iterate(name, documents)):
        yield parse_document(f"{name}[{at}]", at, document)


def split_corpus(name: str, corpus: Any) -> Iterator[RunIndex | Iterator[CheckedDocument]]:
    """Yield the parts of a corpus in order: each `RunIndex`, and the documents between them."""
    if isinstance(corpus, RunIndex):
        yield corpus
        return
    numbered = enumerate(_iterate(name, corpus))
    for is_index, part in groupby(numbered, key=lambda item: isinstance(item[1], RunIndex)):
        if is_index:
            yield from (index for _, index in part)
        else:
            yield (parse_document(f"{name}[{at}]", at, document) for at, document in part)


def _iterate(name: str, documents: Any) -> Iterator[Any]:
    if isinstance(documents, str | bytes | Mapping):
        raise TypeError(f"{name} is one {type(documents).__name__}; {FORMS}, in a list")
    # Iterating a Collection yields ids.
    items = documents.documents() if hasattr(documents, "documents") else documents
    try:
        return iter(items)
    except TypeError:
        raise TypeError(f"{name} is of type {type(documents).__name__}; {FORMS}") from None


def parse_document(name: str, position: int, document: Any) -> CheckedDocument:
    """Return the document. `name` names it in errors; `position` is the id of a bare text."""
    author: object = None
    record: object = None
    if isinstance(document, str):
        id_, text = str(position), document
    elif hasattr(document, "metadata") and hasattr(document, "text"):
        id_, text, author = document.id, document.text, document.metadata
        if text is None:
            raise ValueError(
                f"{name} ({id_!r}) has no text because its collection stores none; use a "
                "collection that stores texts, or pass the texts"
            )
    elif isinstance(document, tuple | list) and len(document) == 2:
        id_, text = document
    elif isinstance(document, tuple | list) and len(document) == 3:
        id_, text, author = document
    elif isinstance(document, tuple | list) and len(document) == 4:
        id_, text, author, record = document
    else:
        raise TypeError(f"{name} is of type {type(document).__name__}; {FORMS}")
    if isinstance(author, Mapping):
        author = author.get("author")
    for field, value in (("id", id_), ("text", text)):
        if not isinstance(value, str):
            raise TypeError(
                f"the {field} of {name} is of type {type(value).__name__}; it must be a str"
            )
    if _is_blank(author):
        author = None
    return CheckedDocument(id_, text, author, not isinstance(document, str), record)


def _is_blank(author: object) -> bool:
    """Return whether an author is missing or empty: empty cells of a table are not one author."""
    if isinstance(author, str):
        return not author.strip()
    if isinstance(author, Collection):
        return all(_is_blank(each) for each in author)
    return author is None
