"""JSON lines: an object a line, the text in one column, the id in another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from neardup.sources import document
from neardup.sources.document import Document, Report, Unreadable, name_of, open_binary

DEFAULT_ID = "id"


def read_jsonl(
    path: str, report: Report, *, text_column: str = "text", id_column: str | None = None
) -> Iterator[Document]:
    """The documents of a JSON lines file. Blank lines are skipped.

    Without `id_column` the id is the column "id" where there is one, else file:line; a column
    asked for by name has to be there.
    """
    source = name_of(path)
    with open_binary(path) as file:
        for number, line in document.numbered_lines(file, path, report, option="--jsonl"):
            if not line.strip():
                continue
            decoded = document.decode(line)
            if not isinstance(decoded, str):
                report(document.not_utf8(path, number, decoded))
                continue
            try:
                record = _record(decoded)
                text = _text(record, text_column)
                name = _id(record, id_column)
            except _Bad as bad:
                report(Unreadable(source, number, str(bad), bad.kind))
            else:
                yield Document(f"{source}:{number}" if name is None else name, text)


class _Bad(Exception):
    """Why a line gives no document; `kind` is the same without the place inside the line."""

    def __init__(self, reason: str, kind: str = "") -> None:
        super().__init__(reason)
        self.kind = kind


def _record(text: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        # Some of Python's messages end in "at" themselves.
        kind = f"not JSON ({error.msg.removesuffix(' at')}"
        raise _Bad(f"{kind} at character {error.pos})", kind) from None
    except RecursionError:
        raise _Bad("not JSON (nested too deeply)") from None
    except ValueError as error:  # an integer of thousands of digits
        raise _Bad(f"not JSON ({error})") from None
    if not isinstance(record, dict):
        raise _Bad(f"not an object but {_kind(record)}")
    return record


def _text(record: dict[str, Any], column: str) -> str:
    if column not in record:
        raise _Bad(f"no column {column!r} (there is {_columns(record)})")
    value = record[column]
    if not isinstance(value, str):
        raise _Bad(f"column {column!r} is not a string but {_kind(value)}")
    return _encodable(value, column)


def _id(record: dict[str, Any], column: str | None) -> str | None:
    if column is None and record.get(DEFAULT_ID) is None:
        return None
    name = DEFAULT_ID if column is None else column
    if name not in record:
        raise _Bad(f"no column {name!r} (there is {_columns(record)})")
    value = record[name]
    if isinstance(value, str):
        return _encodable(value, name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _Bad(f"column {name!r} is neither a string nor an integer but {_kind(value)}")


def _encodable(value: str, column: str) -> str:
    # JSON can spell half a surrogate pair, which is no character: nothing could write it back.
    try:
        value.encode()
    except UnicodeEncodeError as error:
        code = ord(value[error.start])
        kind = f"column {column!r} holds a lone surrogate"
        raise _Bad(f"{kind} (U+{code:04X} at character {error.start})", kind) from None
    return value


def _columns(record: dict[str, Any], most: int = 8) -> str:
    names = [repr(name) for name in record]
    if len(names) > most:
        names[most:] = [f"{len(names) - most} more"]
    return ", ".join(names) or "none"


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {list: "a list", dict: "an object", str: "a string", int: "a number"}
    return names.get(type(value), "a number")
