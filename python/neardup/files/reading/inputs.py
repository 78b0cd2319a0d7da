"""Inputs as a user names them (files, folders, patterns, URLs, "-") → files → batches of documents.

`expand` lists the files, `format_of` tells the format of each, `read_batches` reads one.
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import Enum, auto

from neardup.files.documents import whole_text
from neardup.files.reading.batch import (
    Batch,
    Note,
    Precompute,
    Reading,
    Report,
    Task,
    Unreadable,
)
from neardup.files.reading.encodings import AUTO, UTF8
from neardup.files.reading.formats import (
    PACKED,
    STDIN,
    Format,
    all_endings,
    all_families,
    all_formats,
    capture_by_name,
    format_by_name,
    is_capture,
    is_capture_format,
    is_document_format,
    is_known,
    is_url,
    name_of,
    name_parts,
)
from neardup.files.reading.locations import Progress, is_named_pipe
from neardup.files.reading.records import note_missing_ids
from neardup.files.reading.streams import beginning
from neardup.files.reading.text import read_plain_text

# Endings of skipped files that a message names.
MAX_ENDINGS = 6
TEXT = "text"
# Options of the command line, by field of Reading.
OPTIONS = {
    "encoding": "--encoding",
    "delimiter": "--delimiter",
    "quoting": "--quoting",
    "header": "--no-header",
}


def ignore(message: str) -> None:
    pass


def expand(inputs: Sequence[str], reading: Reading | None = None, note: Note = ignore) -> list[str]:
    """Replace folders and patterns by the files in them, sorted; each file is listed once.

    A folder gives its files with a known ending, also those of its subfolders; hidden files are
    skipped, and so are captures of HTTP responses (.warc, .har) where there are texts. If files are
    to be read as text or as captures, their names do not matter and all are listed. "-" and URLs
    stay as they are.

    note  receives a sentence about the files that were skipped
    """
    wanted = _Wanted.of(reading or Reading())
    found = [path for name in inputs for path in _expanded(name, wanted, note)]
    return list(dict.fromkeys(found))


def is_collection(name: str) -> bool:
    """Return whether an input is the folder of a collection."""
    return name.rstrip("/").endswith(".neardup") and os.path.isdir(name)


def captures_of(inputs: Sequence[str], reading: Reading) -> tuple[list[str], list[str]]:
    """Return the files of the inputs that are captures by format or name, and all others.

    Only folders and patterns are listed; an input that does not exist is reported when it is read.
    """
    if reading.viewing is not None:
        return list(inputs), []
    if reading.format is not None:
        is_captured = is_capture_format(reading.format)
        return (list(inputs), []) if is_captured else ([], list(inputs))
    files: list[str] = []
    for name in inputs:
        if glob.has_magic(name) or os.path.isdir(name):
            with suppress(OSError, ValueError):
                files += expand([name], reading)
        else:
            files.append(name)
    captures = [name for name in files if is_capture(name)]
    known = set(captures)
    return captures, [name for name in files if name not in known] if captures else files


class _Wanted(Enum):
    """Which files of a folder are read."""

    ALL = auto()
    TEXTS = auto()
    KNOWN = auto()  # texts, or captures if there are no texts

    @classmethod
    def of(cls, reading: Reading) -> _Wanted:
        if reading.format == TEXT or reading.viewing is not None:
            return cls.ALL
        is_open = reading.format is None or is_capture_format(reading.format)
        return cls.KNOWN if is_open else cls.TEXTS


def _expanded(name: str, wanted: _Wanted, note: Note) -> list[str]:
    if name == STDIN:
        return [name]
    if os.path.isdir(name):
        found, skipped = _walk(name, wanted)
        if not found:
            there = f" ({_count_endings(skipped)})" if skipped else ""
            raise ValueError(
                f"{name_of(name)}: no file to read in this folder{there}; of a folder, files "
                f"ending in {', '.join(all_endings())} are read, also with {' or '.join(PACKED)}; "
                "--format text reads all"
            )
        _note_skipped(name, skipped, note)
        return found
    if os.path.exists(name) or is_url(name):
        return [name]
    if glob.has_magic(name):
        return _matches(name, wanted, note)
    raise FileNotFoundError(f"{name_of(name)}: no such file")


def _matches(pattern: str, wanted: _Wanted, note: Note) -> list[str]:
    found: list[str] = []
    for path in sorted(glob.glob(pattern, recursive=True)):
        if os.path.isdir(path):
            inside, skipped = _walk(path, wanted)
            # With ** the pattern matches these files themselves as well.
            _note_skipped(path, [] if "**" in pattern else skipped, note)
            found += inside
        else:
            found.append(path)
    if not found:
        raise ValueError(f"{name_of(pattern)}: no file matches this pattern")
    return found


def _walk(folder: str, wanted: _Wanted) -> tuple[list[str], list[str]]:
    """Return the files of a folder to read, sorted, and those to skip."""

    def fail(error: OSError) -> None:
        raise error

    found: list[str] = []
    skipped: list[str] = []
    captures: list[str] = []
    for place, folders, files in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if name.startswith("."):
                continue
            if wanted is not _Wanted.ALL and is_capture(name):
                group = captures
            else:
                group = found if wanted is _Wanted.ALL or is_known(name) else skipped
            group.append(os.path.join(place, name))
    if found or wanted is _Wanted.TEXTS:
        return sorted(found), [*skipped, *captures]
    return sorted(captures), skipped


def _note_skipped(folder: str, skipped: Sequence[str], note: Note) -> None:
    if skipped:
        count = f"{len(skipped):,} file{'s' if len(skipped) > 1 else ''}"
        shown = os.path.join(name_of(folder), "")
        ways = []
        if any(not is_capture(path) for path in skipped):
            ways.append("--format text reads them")
        if any(map(is_capture, skipped)):
            ways.append("--as http reads captures")
        note(f"{shown}: skipped {count}: {_count_endings(skipped)}; {', '.join(ways)}")


def _count_endings(skipped: Sequence[str]) -> str:
    """Return how many files have each ending: 6 .html, 1 without ending."""
    counts = Counter(name_parts(path).whole_ending for path in skipped)
    order = sorted(counts, key=lambda name: (-counts[name], not name, name))
    shown = [f"{counts[name]:,} {name or 'without ending'}" for name in order]
    if len(shown) > MAX_ENDINGS:
        shown[MAX_ENDINGS:] = [f"{len(shown) - MAX_ENDINGS} other endings"]
    return ", ".join(shown)


def format_of(path: str, reading: Reading) -> Format:
    """Return the format of a file: as `reading` says, by its ending, or by its first bytes.

    A file that none of these tell is text, or with `Reading.viewing` a capture that is recognised
    when it is read.
    """
    name = reading.format
    if name is None and reading.viewing is not None:
        certain, family = capture_by_name(path), all_families()["capture"]
        name = certain or family.detect(beginning(path, reading)) or family.fallback
    elif name is None:
        format_ = format_by_name(path)
        if format_ is not None and format_.sniff is None:
            return format_
        if format_ is not None and format_.sniff is not None:
            name = format_.sniff(beginning(path, reading))
        elif not reading.lines:
            name = all_families()["document"].detect(beginning(path, reading))
    return all_formats()[name or TEXT]


def check_options(files: Sequence[str], reading: Reading) -> None:
    """Raise ValueError for an option that the format of no file has."""
    given = {
        "encoding": reading.encoding not in (None, UTF8, AUTO),
        "delimiter": reading.delimiter is not None,
        "quoting": reading.quoting is not None,
        "header": not reading.header,
    }
    for name in [name for name, is_given in given.items() if is_given]:
        formats = all_formats()
        if not any(name in formats[_format_by_name(path, reading)].options for path in files):
            known = [each.called for each in formats.values() if name in each.options]
            raise ValueError(
                f"{OPTIONS[name]} is for {', '.join(known)}, and no input is one; leave it out, "
                "or name their format with --format"
            )


def _format_by_name(path: str, reading: Reading) -> str:
    """Return the format without opening the file."""
    if reading.format is not None or path == STDIN:
        return reading.format or TEXT
    if reading.viewing is not None:
        return capture_by_name(path) or all_families()["capture"].fallback or TEXT
    format_ = format_by_name(path)
    return TEXT if format_ is None else format_.name


def read_batches(
    path: str,
    reading: Reading,
    report: Report,
    *,
    note: Note = ignore,
    progress: Progress | None = None,
    making: Precompute | None = None,
) -> Iterator[Batch]:
    """Yield the documents of one file, URL or standard input ("-") in batches of a few megabytes.

    report    receives each place that gives no document; reading goes on
    note      receives a sentence for each surprise, such as the encoding that was detected
    progress  receives the number of stored bytes read since its last call
    making    what to compute from the texts while they are read, which is faster; see `Batch.made`
    """
    task = Task(path, reading, report, note, progress, making)
    format_ = format_of(path, reading)
    batches = format_.read(task)
    if format_.has_ids:
        batches = note_missing_ids(batches, task, format_.unit)
    try:
        yield from batches
    except OSError as error:
        report(Unreadable(name_of(path), None, error.strerror or str(error)))


def read_text(path: str, reading: Reading | None = None, note: Note = ignore) -> str:
    """Return the text of one file; raise ValueError if it cannot be read.

    The file is plain text, a document, or has one record. If it has several, or none with a text,
    the whole file is the text, and `note` receives a sentence; not so Parquet, which is no text.

    reading  None for a command without --encoding, which advises iconv instead
    """
    how = reading or Reading()
    format_ = format_of(path, how)
    problems: list[Unreadable] = []
    task = Task(path, how, problems.append, note)
    if is_document_format(format_.name):
        found = whole_text(format_.name, task)
        if found is None:
            raise ValueError(str(problems[0]))
        return found
    # A pipe can be read only once.
    if format_.family == TEXT and format_.name != TEXT and not is_named_pipe(path):
        notes: list[str] = []
        texts: list[str] = []
        for batch in format_.read(replace(task, note=notes.append)):
            texts += batch.texts[:2].to_pylist()
            if len(texts) > 1:
                break
        if len(texts) == 1 and not problems:
            for each in notes:
                note(each)
            return texts[0]
        why = "has no record with a text"
        if texts:
            why = "has several records" if texts[1:] else "has a record that cannot be read"
        if format_.keeps == "rows":
            raise ValueError(f"{name_of(path)}: {why}; pass a file with one text")
        note(f"{name_of(path)}: {why}, so the file is read as one text, as it stands")
    return read_plain_text(path, reading, note)
