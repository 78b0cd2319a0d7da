"""File formats: the registry, and what the name of a file tells.

Each format registers itself. `PROVIDERS` lists the modules of this package that do; captures of
HTTP responses are registered by importing `neardup.http.captures`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from neardup._util.extras import install_hint
from neardup._util.lazy import FORK_LOCK

if TYPE_CHECKING:
    from neardup.files.reading.batch import Batch, Task

STDIN = "-"
PACKED = {".gz": "gzip", ".zst": "zstd"}
DELIMITERS = {"csv": ",", "tsv": "\t"}


FamilyName = Literal["text", "document", "capture"]


@dataclass(frozen=True)
class Format:
    """A file format: how its files are recognised, and the function that reads them.

    name          as --format takes it
    called        as messages call its files
    endings       of file names, in lower case, the usual one first
    read          yields its documents in batches. What cannot be read goes to `Task.report`, and
                  reading goes on; an OSError ends the file, and the caller reports it
    keeps         how `dedup` writes the records it keeps: "lines" and "table" copy the spans of
                  the batches byte for byte, a table with its header; "rows" are those of Parquet;
                  "json" are spans of JSON; "texts" are written as a table of ids and texts, for
                  formats whose records are not in spans that could be copied
    rank          position in lists of formats, lowest first: below 20 for texts, below 30 for
                  documents, then captures
    family        the formats it is told apart from by content
    packable      whether such a file may be inside gzip or zstd
    options       the fields of Reading that only some formats have and this one obeys
    sniff         first bytes of a file with such an ending → name of the format it really has
    unit          what `Batch.lines` counts, as messages call it
    written       endings of the files that kept records go to, if it has no ending of its own
    has_ids       whether records may have ids of their own; otherwise ids are names and places
    record_start  first bytes of each record, if records are compressed one by one: then reading
                  continues after damaged data
    """

    name: str
    called: str
    endings: tuple[str, ...]
    read: Callable[[Task], Iterator[Batch]]
    keeps: Literal["lines", "table", "rows", "json", "texts"]
    rank: int
    family: FamilyName = "text"
    packable: bool = True
    options: frozenset[str] = frozenset()
    sniff: Callable[[bytes], str] | None = None
    unit: str = "line"
    written: tuple[str, ...] = ()
    has_ids: bool = True
    record_start: bytes = b""


def _recognise_nothing(data: bytes) -> None:
    return None


def _no_hint(record: Mapping[str, Any]) -> str:
    return ""


@dataclass(frozen=True)
class Family:
    """Formats that can be told apart by how a file begins.

    fallback     name of the format of a file whose beginning tells nothing
    detect       first bytes of a file → name of its format, or None
    records      what messages call the records that are written as texts
    record_hint  a JSON object without a text → advice, if it belongs to this family; else ""
    """

    fallback: str | None = None
    detect: Callable[[bytes], str | None] = _recognise_nothing
    records: str = "whole texts"
    record_hint: Callable[[Mapping[str, Any]], str] = _no_hint


# Modules that register formats, imported when the registry is first used.
PROVIDERS = (
    "neardup.files.reading.jsonl",
    "neardup.files.reading.json",
    "neardup.files.reading.csv",
    "neardup.files.reading.parquet",
    "neardup.files.reading.text",
    "neardup.files.documents",
)
# By name and by ending, both in the order of `Format.rank`.
_formats: dict[str, Format] = {}
_endings: dict[str, str] = {}
_capture_endings: dict[str, str] = {}
_families: dict[FamilyName, Family] = {}
_is_loaded = False


def register(format_: Format) -> None:
    """Make a format known. Called once by the module of each."""
    ranked = sorted([*_formats.values(), format_], key=lambda each: each.rank)
    _formats.clear()
    _formats.update((each.name, each) for each in ranked)
    _endings.clear()
    _endings.update((ending, each.name) for each in ranked for ending in each.endings)
    if format_.family == "capture":
        _capture_endings.update(dict.fromkeys(format_.endings, format_.name))


def register_family(name: FamilyName, family: Family) -> None:
    """Make known how the formats of a family are told apart."""
    _families[name] = family


def _load() -> None:
    global _is_loaded
    if not _is_loaded:
        for module in PROVIDERS:
            importlib.import_module(module)
        _is_loaded = True


def all_formats() -> Mapping[str, Format]:
    """Return all formats by name, in the order of `Format.rank`."""
    _load()
    return _formats


def all_endings() -> Mapping[str, str]:
    """Return the format names of all endings, in the order of `Format.rank`."""
    _load()
    return _endings


def all_families() -> Mapping[FamilyName, Family]:
    """Return all families of formats by name."""
    _load()
    return _families


def formats_of(family: FamilyName) -> list[Format]:
    """Return the formats of a family but for its fallback, in the order of `Format.rank`."""
    fallback = all_families()[family].fallback
    return [x for x in _formats.values() if x.family == family and x.name != fallback]


def is_capture_format(name: str | None) -> bool:
    """Return whether files of this format hold HTTP responses."""
    return name is not None and all_formats()[name].family == "capture"


def is_capture(path: str) -> bool:
    """Return whether the name of a file says that it holds HTTP responses."""
    _load()
    # Parsing twenty thousand names takes long, so a quick test comes first.
    lower = path.lower()
    return any(each in lower for each in _capture_endings) and capture_by_name(path) is not None


def capture_by_name(path: str) -> str | None:
    """Return the name of the capture format that the ending of a file tells, or None."""
    _load()
    return None if path == STDIN else _capture_endings.get(ending(path))


def is_document_format(name: str | None) -> bool:
    """Return whether a file of this format is one document: HTML, Word, PDF …"""
    return name is not None and name in all_formats() and _formats[name].family == "document"


def name_of(path: str) -> str:
    """Return the name of a file for ids and messages. A name that is not UTF-8 is escaped.

    A URL loses its user name and password: ids and messages are shown to others.
    """
    if path == STDIN:
        return "stdin"
    if "://" in path:
        path = re.sub(r"^([^:/?#]+://)[^/@]*@", r"\1", path)
    return path.encode("utf-8", "backslashreplace").decode()


def is_url(path: str) -> bool:
    return "://" in path


def packing(path: str) -> str | None:
    """Return "gzip", "zstd" or None, by the ending of a file."""
    return None if path == STDIN else PACKED.get(PurePosixPath(path).suffix.lower())


def ending(path: str) -> str:
    """Return the ending that tells the format, in lower case: .jsonl for a.JSONL.gz."""
    name = PurePosixPath(path)
    return (PurePosixPath(name.stem) if packing(path) else name).suffix.lower()


class NameParts(NamedTuple):
    """What the name of a file tells.

    shown         as ids and messages show it; see `name_of`
    ending        that tells the format, in lower case
    packing       "gzip", "zstd" or None
    whole_ending  with that of the compression: .jsonl.gz
    """

    shown: str
    is_url: bool
    ending: str
    packing: str | None
    whole_ending: str


def name_parts(path: str) -> NameParts:
    """Parse the name of a file."""
    own, how = ending(path), packing(path)
    whole = own + (PurePosixPath(path).suffix.lower() if how else "")
    return NameParts(name_of(path), is_url(path), own, how, whole)


def format_by_name(path: str) -> Format | None:
    """Return the format that the ending of a file tells, or None."""
    name = None if path == STDIN else all_endings().get(ending(path))
    return None if name is None else _formats[name]


def is_known(path: str) -> bool:
    """Return whether a file found in a folder is read."""
    format_ = format_by_name(path)
    return format_ is not None and (format_.packable or not packing(path))


class UnreadableDocumentError(Exception):
    """A file that gives no document. `kind` is the reason without the details of this file."""

    def __init__(self, reason: str, *, kind: str = "", hint: str = "") -> None:
        super().__init__(reason)
        self.kind = kind
        self.hint = hint


def import_package(module: str, called: str, extra: str = "documents") -> Any:
    """Import a module of an optional package; raise UnreadableDocumentError if it is missing.

    called  as messages call the files that need it
    extra   of neardup that installs it
    """
    name = module.partition(".")[0]
    try:
        with FORK_LOCK:
            return importlib.import_module(module)
    except ImportError as error:
        raise UnreadableDocumentError(
            f"reading {called} needs the package {name}, which is not installed"
            if isinstance(error, ModuleNotFoundError)
            else f"reading {called} needs the package {name}, which cannot be loaded ({error})",
            hint=install_hint(extra),
        ) from None
