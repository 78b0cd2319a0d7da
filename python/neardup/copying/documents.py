"""What is passed to a check → documents with ids, texts and authors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from neardup.copying.runs import RunIndex

FORMS = "pass texts, (id, text), (id, text, author or metadata), or a Collection"


class CheckedDocument(NamedTuple):
    """A document as it is compared; `named` if the id is its own and not its place.

    record  which record of which file it is, None if that is not known
    """

    id: str
    text: str
    author: object
    named: bool
    record: object = None

    def is_record(self, other: CheckedDocument) -> bool:
        """Whether both are known to be one and the same record."""
        return self.record is not None and self.record == other.record

    def is_taken_for(self, other: CheckedDocument) -> bool:
        """Whether nothing tells the two apart: id and text are equal, and where one of them comes
        from is not known."""
        known = self.record is not None and other.record is not None
        return not known and self.named and other.named and self[:2] == other[:2]


def parts_of(name: str, documents: Any) -> Iterator[RunIndex | Iterator[CheckedDocument]]:
    """Documents, one after the other, and corpora that find them by their runs."""
    if isinstance(documents, RunIndex):
        yield documents
        return
    numbered = enumerate(_each(name, documents))
    for is_kept, part in groupby(numbered, key=lambda item: isinstance(item[1], RunIndex)):
        if is_kept:
            yield from (corpus for _, corpus in part)
        else:
            yield (given(f"{name}[{at}]", at, document) for at, document in part)


def documents_of(name: str, documents: Any) -> Iterator[CheckedDocument]:
    """What was passed, one by one, checked."""
    for at, document in enumerate(_each(name, documents)):
        yield given(f"{name}[{at}]", at, document)


def _each(name: str, documents: Any) -> Iterator[Any]:
    if isinstance(documents, str | bytes | Mapping):
        raise TypeError(f"{name} is one {type(documents).__name__}; {FORMS}, in a list")
    # A Collection is iterated by ids.
    listed = documents.documents() if hasattr(documents, "documents") else documents
    try:
        return iter(listed)
    except TypeError:
        raise TypeError(f"{name} is of type {type(documents).__name__}; {FORMS}") from None


def given(name: str, at: int, document: Any) -> CheckedDocument:
    author: object = None
    record: object = None
    if isinstance(document, str):
        id_, text = str(at), document
    elif hasattr(document, "metadata") and hasattr(document, "text"):
        id_, text, author = document.id, document.text, document.metadata
        if text is None:
            raise ValueError(
                f"{name} ({id_!r}) has no text: its collection stores none; add the documents to "
                "one that does, or pass their texts"
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
    for what, value in (("id", id_), ("text", text)):
        if not isinstance(value, str):
            raise TypeError(
                f"the {what} of {name} is of type {type(value).__name__}; it must be a str"
            )
    return CheckedDocument(id_, text, _known(author), not isinstance(document, str), record)


def _known(author: object) -> object:
    """The author, or None: a cell that was left empty is nobody, and not the same person again."""
    if isinstance(author, str):
        return author if author.strip() else None
    if isinstance(author, Collection):
        return author if any(_known(each) is not None for each in author) else None
    return author


def strings_of(name: str, values: Any) -> list[str]:
    if isinstance(values, str):
        return [values]
    try:
        found = list(values)
    except TypeError:
        raise TypeError(f"{name} is {values!r}; it must be a str or several") from None
    for at, value in enumerate(found):
        if not isinstance(value, str):
            raise TypeError(f"{name}[{at}] is of type {type(value).__name__}; it must be a str")
    return found
