"""The column of authors: whether there is one, and which inputs lack it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._util.numbers import as_float, is_real
from neardup.files import reading as sources
from neardup.files.reading.batch import Reading
from neardup.files.reading.document import STDIN
from neardup.files.reading.records import DEFAULT_ID, columns_of
from neardup.jobs import reference
from neardup.jobs.captures import reading_with_views
from neardup.jobs.options import (
    NothingReadError,
    Progress,
    RefusedError,
    Silent,
    UnreadableError,
    peak_memory,
    refuse_bad_options,
)
from neardup.text.views import view_prose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.collection import Collection, Stored
    from neardup.copying.findings import Copying, Finding
    from neardup.files.reading import Unreadable


# Names in a note.
AUTHORS_SHOWN = 3
# Documents of a collection that are looked at: an author is in all of them or in none.
SAMPLE = 1000


class Authors:
    """Sees who has an author.

    column  of the author; None: nobody asks
    """

    def __init__(self, column: str | None, reading: Reading) -> None:
        self._column = column
        self._reading = reading
        # Those that gave documents, and whether one of these has an author.
        self._seen: dict[str, bool] = {}

    def see(self, name: str, authors: Iterable[object]) -> None:
        """The authors of some documents of an input, None where there is none."""
        found = [author is not None for author in authors]
        if self._column is not None and found:
            self._seen[name] = self._seen.get(name, False) or any(found)

    def see_stored(self, name: str, documents: Iterator[Any]) -> None:
        """The documents of a collection."""
        if self._column is not None:
            some = islice(documents, SAMPLE)
            self.see(name, (found.metadata.get(self._column) for found in some))

    def check(self) -> None:
        """Refuses a column that nothing has of all that was seen."""
        if not self._seen or any(self._seen.values()):
            return
        there = self._columns()
        told = "the inputs have no columns" if there is None else f"there is {columns_of(there)}"
        raise NothingReadError(
            f"no column {self._column!r} ({told}), which --author-column names; nothing was written"
        )

    def lacking(self) -> str | None:
        """A sentence on the inputs without authors, if there are some."""
        names = [sources.name_of(name) for name, has in self._seen.items() if not has]
        if not names:
            return None
        shown = ", ".join(names[:AUTHORS_SHOWN]) + (", …" if len(names) > AUTHORS_SHOWN else "")
        inputs = "1 input" if len(names) == 1 else f"{len(names):,} inputs"
        return (
            f"no column {self._column!r} in {inputs}, whose texts count as those of others: {shown}"
        )

    def _columns(self) -> Sequence[str] | None:
        """The columns of the first record, None if the inputs are no records."""
        name = next(iter(self._seen))
        if name == STDIN:
            # It has been read.
            return None
        reading = replace(self._reading, others=True, key_column=None)
        for batch in sources.read_batches(name, reading, lambda _: None):
            if batch.others is None:
                return None
            taken = (reading.id_column or DEFAULT_ID, *reading.text_columns)
            return [*taken, *batch.others[0]]
        return None


# Documents checked for copying: read, compared, and written down as pages and a table.

THRESHOLD = 0.3
# Of responses, what nobody reads is not copied.
PROSE = "http-text"
PAGE = (".html", ".htm")
# Names in a note.
SHOWN = 3
# Of what could not be read so much is listed.
PROBLEMS = 50
# A row for each document and source; a document without sources has one row, without a source.
COLUMNS: Mapping[str, type] = {
    "id": str,
    "share": float,
    "unquoted": float,
    "largest": float,
    "source": str,
    "source_share": float,
    "source_own_share": float,
    "words": int,
    "longest": int,
    "similarity": float,
}


@dataclass(frozen=True)
class CheckOptions:
    """What a check is asked to do.

    against     files or collections to compare with [default: the inputs with each other]
    threshold   the share from which a document is counted and marked
    rules       what does not count, by name, as `neardup.copying.check.check_rules` takes it
    template    text files: what documents share with them does not count
    author_column  the column of the author: what authors share with their own texts does not count
    exclude     ids of sources that are left out
    out         a table to write
    html        pages to write: a file that ends in .html, or else a folder
    html_folder  html is a folder, however its name ends
    lang        the language of the pages: en, zh [default: that of the locale, or English]
    anonymise   whether documents go by numbers, everywhere but in their texts
    guard, strict, reading, on_problem, on_note, progress   as for `Options`
    """

    against: Sequence[str] = ()
    threshold: float = THRESHOLD
    rules: Mapping[str, Any] = field(default_factory=dict)
    template: Sequence[str] = ()
    author_column: str | None = None
    exclude: Sequence[str] = ()
    out: Path | None = None
    html: Path | None = None
    html_folder: bool = False
    lang: str | None = None
    anonymise: bool = False
    guard: bool = True
    strict: bool = False
    reading: Reading = field(default_factory=Reading)
    on_problem: Callable[[Unreadable], object] | None = None
    on_note: Callable[[str], object] | None = None
    progress: Progress = field(default_factory=Silent)


@dataclass(frozen=True)
class Checked:
    """What a check found and did.

    reference    documents there were only to compare with
    unreadable   records that could not be read
    problems     the first of them; with `anonymise` their files go by numbers
    above        documents whose share reaches the threshold
    peak_memory  bytes
    files        what was written
    """

    copying: Copying
    threshold: float
    reference: int
    unreadable: int
    problems: Sequence[Unreadable]
    above: int
    seconds: float
    peak_memory: int
    files: Sequence[str]

    def as_dict(self) -> dict[str, Any]:
        """For JSON: everything but the texts and the places of passages."""
        from dataclasses import asdict

        return {
            "documents": len(self.copying.findings),
            "reference": self.reference,
            "unreadable": self.unreadable,
            "problems": [
                {"source": each.source, "line": each.line, "reason": each.reason}
                for each in self.problems
            ],
            "too_short": self.copying.too_short,
            "among": self.copying.among,
            "itself": len(self.copying.itself),
            "threshold": self.threshold,
            "above": self.above,
            "settings": dict(self.copying.settings),
            "findings": [
                {
                    "id": finding.id,
                    "words": finding.words,
                    "characters": finding.characters,
                    **asdict(finding.figures),
                    "by_characters": asdict(finding.by_characters),
                    "sources": [
                        {name: value for name, value in row.items() if name not in _OF_DOCUMENT}
                        for row in rows_of(finding)
                        if row["source"] is not None
                    ],
                }
                for finding in self.copying.findings
            ],
            "seconds": round(self.seconds, 3),
            "peak_memory": self.peak_memory,
            "files": list(self.files),
        }


_OF_DOCUMENT = ("id", "share", "unquoted", "largest")


def rows_of(finding: Finding) -> Iterator[dict[str, Any]]:
    """The rows of a document in the table; see `COLUMNS`."""
    figures = finding.figures
    values = (finding.id, figures.share, figures.unquoted, figures.largest)
    if not finding.sources:
        empty = [None] * (len(COLUMNS) - len(values))
        yield dict(zip(COLUMNS, (*values, *empty), strict=True))
    for each in finding.sources:
        source = (each.id, each.share, each.own_share, each.words, each.longest, each.similarity)
        yield dict(zip(COLUMNS, (*values, *source), strict=True))


def check(inputs: Sequence[str], options: CheckOptions | None = None) -> Checked:
    """Checks the documents of files for copying, and writes what was asked for."""
    return _Check(inputs, options or CheckOptions()).run()


class _Asked:
    """A collection as a check asks it: its authors are in a column of the user's choice."""

    def __init__(self, collection: Collection, column: str | None) -> None:
        self._collection = collection
        self._column = column
        self.runs_minimum = collection.runs_minimum
        # Of responses only what a person reads can be copied.
        self._is_of_responses = collection.recipe.tokens == "http"

    def documents(self) -> Iterator[tuple[Any, ...]]:
        return map(self._document, self._collection.documents())

    def sharing(self, runs: Iterable[NDArray[np.uint64]]) -> Iterator[tuple[int, tuple[Any, ...]]]:
        return ((row, self._document(found)) for row, found in self._collection.sharing(runs))

    def _document(self, found: Stored) -> tuple[Any, ...]:
        text = found.text or ""
        if self._is_of_responses:
            text = view_prose(text)
        if self._column is None:
            return found.id, text
        return found.id, text, found.metadata.get(self._column)


class _Check:
    def __init__(self, inputs: Sequence[str], options: CheckOptions) -> None:
        self._options = options
        self._started = time.perf_counter()
        self._unreadable = 0
        self._problems: list[Unreadable] = []
        self._authors = Authors(options.author_column, options.reading)
        self._reference = 0
        self._ids: set[str] = set()
        with refuse_bad_options():
            _check_share("threshold", options.threshold)
            for name in inputs:
                if reference.is_collection(name):
                    raise RefusedError(
                        f"{name}: is a collection, and goes behind --against: neardup check INPUT "
                        f"--against {name}"
                    )
            reading = reading_with_views(
                options.reading, [*inputs, *options.against], PROSE, self._note
            )
            reading = replace(reading, threads=options.rules.get("threads"))
            options = self._options = replace(options, reading=reading)
            self._inputs = sources.expand(list(inputs), reading, self._note)
            self._against = reference.expand(list(options.against), reading, self._note)
            files = [name for name in self._against if not reference.is_collection(name)]
            sources.check_options([*self._inputs, *files], options.reading)
            if [*self._inputs, *self._against].count(STDIN) > 1:
                raise RefusedError("standard input (-) can be read only once")
            self._check_collections()
            self._check_outputs()

    def run(self) -> Checked:
        found = self._found()
        if self._options.strict and self._unreadable:
            raise UnreadableError(f"{self._unreadable:,} unreadable; nothing was written")
        for id_ in self._options.exclude:
            if id_ not in self._ids:
                self._note(f"exclude: there is no document {id_!r} to leave out")
        if self._options.anonymise:
            found = self._anonymised(found)
            self._problems = self._numbered(self._problems)
        self._tell_itself(found)
        self._tell_nothing(found)
        if told := self._authors.lacking():
            self._note(told)
        files = self._written(found)
        shares = [finding.figures.share for finding in found.findings]
        return Checked(
            copying=found,
            threshold=self._options.threshold,
            reference=self._reference,
            unreadable=self._unreadable,
            problems=tuple(self._problems),
            above=sum(_reaches(share, self._options.threshold) for share in shares),
            seconds=time.perf_counter() - self._started,
            peak_memory=peak_memory(),
            files=files,
        )

    # ---- what is compared ----

    def _found(self) -> Copying:
        from neardup.copying.check import check_copying, check_rules

        options = self._options
        rules = dict(options.rules)
        if options.template:
            rules["template"] = [sources.text_of(path) for path in options.template]
        if options.exclude:
            rules["exclude"] = tuple(options.exclude)
        with refuse_bad_options():
            # Wrong settings are told before anything is read.
            check_rules(**rules)
        options.progress.stage("reading", None, "documents")
        documents = list(self._documents(self._inputs))
        if not documents and self._problems:
            first = self._problems[0]
            raise NothingReadError(f"no record could be read: {first}; nothing was written")
        self._authors.check()
        return check_copying(
            documents,
            self._others() if self._against else None,
            **rules,
            on_note=self._note,
            on_progress=self._compared,
        )

    def _compared(self, done: int, total: int) -> None:
        if done == 1:
            self._options.progress.stage("comparing", total, "documents")
        self._options.progress.advance(1)

    def _others(self) -> Iterator[Any]:
        """Documents, and collections that find them."""
        self._options.progress.stage("looking for sources", None, "documents")
        for name in self._against:
            if reference.is_collection(name):
                with self._opened(name) as collection:
                    self._reference += len(collection)
                    self._authors.see_stored(name, collection.documents())
                    self._ids.update(x for x in self._options.exclude if x in collection)
                    yield _Asked(collection, self._options.author_column)
                continue
            for document in self._documents([name]):
                self._reference += 1
                yield document

    def _documents(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Ids and texts, and the authors if there are some."""
        for name in names:
            for document in self._read(name):
                self._ids.add(document[0])
                self._options.progress.advance(1)
                yield document

    def _read(self, name: str) -> Iterator[tuple[Any, ...]]:
        # The same file may be written in several ways.
        file = name if name == STDIN or "://" in name else os.path.realpath(name)
        column = self._options.author_column
        reading = replace(self._options.reading, key_column=column, keeps=False)
        for batch in sources.read_batches(name, reading, self._problem, note=self._note):
            ids, texts = batch.ids.to_pylist(), batch.texts.to_pylist()
            if reading.viewing is not None:
                texts = [view_prose(text) for text in texts]
            authors = [None] * len(ids) if batch.key is None else batch.key.to_pylist()
            self._authors.see(name, authors)
            lines = batch.lines.tolist()
            for id_, text, author, line in zip(ids, texts, authors, lines, strict=True):
                yield id_, text or "", author, (file, line)

    def _opened(self, name: str) -> Collection:
        from neardup import Collection

        collection = Collection.open(name, read_only=True)
        if not collection.stores_text:
            collection.close()
            raise RefusedError(
                f"{name}: keeps no texts, so passages cannot be looked for in it; name the "
                "files it was made of, or a collection made without --no-text"
            )
        return collection

    def _check_collections(self) -> None:
        """Before anything is read."""
        for name in self._against:
            if reference.is_collection(name):
                with self._opened(name) as collection:
                    recipe = collection.recipe
                reference.check_prose(name, recipe, self._options.reading.viewing)

    def _problem(self, problem: Unreadable) -> None:
        self._unreadable += 1
        if len(self._problems) < PROBLEMS:
            self._problems.append(problem)
        if self._options.on_problem is not None:
            self._options.on_problem(problem)

    def _note(self, message: str) -> None:
        if self._options.on_note is not None:
            self._options.on_note(message)

    def _tell_itself(self, found: Copying) -> None:
        if not (count := len(found.itself)):
            return
        shown = ", ".join(map(repr, found.itself[:SHOWN])) + (", …" if count > SHOWN else "")
        self._note(
            f"{count:,} documents of --against have the id and the text of the one they are "
            f"compared with and were taken for it: {shown}"
            if count > 1
            else "a document of --against has the id and the text of the one it is compared with "
            f"and was taken for it: {shown}"
        )

    def _tell_nothing(self, found: Copying) -> None:
        """That nothing could be found, because there was nothing to compare."""
        if not found.findings:
            self._note("the inputs have no document: nothing was checked")
        elif self._against and not self._reference:
            self._note("--against has no text: nothing was compared")
        elif not self._against and len(found.findings) == 1:
            self._note(
                "there is only one document, and nothing to compare it with; name texts with "
                "--against"
            )

    def _numbered(self, problems: Sequence[Unreadable]) -> list[Unreadable]:
        """The same without names of files: they go by their places among those named."""
        from neardup.reports.page import Wording

        words = Wording(self._language)
        files = map(sources.name_of, [*self._inputs, *self._against])
        numbers = {name: n for n, name in reversed(list(enumerate(files, 1)))}
        return [
            each._replace(source=words("name.file", n=numbers.get(each.source, "?")))
            for each in problems
        ]

    def _anonymised(self, found: Copying) -> Copying:
        from neardup.copying.findings import anonymise
        from neardup.reports.page import Wording

        words = Wording(self._language)
        names = {name: words(f"name.{name}", n="{n}") for name in ("document", "source")}
        return anonymise(found, **names)

    # ---- what is written ----

    @property
    def _language(self) -> str:
        from neardup.reports.page import language_of_locale

        return self._options.lang or language_of_locale()

    def _check_outputs(self) -> None:
        from neardup.files import writing
        from neardup.reports.page import LANGUAGES

        options = self._options
        inputs = [*self._inputs, *self._against]
        if options.out is not None:
            writing.check(options.out, inputs)
        if options.html is not None:
            if self._is_file(options.html):
                writing.check(options.html, inputs, endings=PAGE)
            else:
                writing.check_folder(options.html)
        if options.out is not None and options.html is not None:
            paths = (options.out, options.html)
            names = {writing.shown(path) or os.path.abspath(path) for path in paths}
            if len(names) == 1:
                raise ValueError(f"{options.out}: named for two outputs; give each its own file")
        if options.lang is not None:
            if options.lang not in LANGUAGES:
                raise ValueError(
                    f"lang is {options.lang!r}; it must be one of {', '.join(LANGUAGES)}"
                )
            if options.html is None and not options.anonymise:
                raise ValueError(
                    f"lang is {options.lang!r}, but no page is written; name its file: --html "
                    "FILE.html"
                )

    def _written(self, found: Copying) -> list[str]:
        from contextlib import ExitStack

        from neardup.files import writing

        options = self._options
        files = []
        with ExitStack() as stack:
            # What is entered first is placed last: a table and its pages appear together.
            stack.enter_context(writing.together())
            if options.out is not None:
                options.progress.stage("writing the table", None, "documents")
                with writing.open_rows(options.out, COLUMNS, guard=options.guard) as write:
                    for finding in found.findings:
                        for row in rows_of(finding):
                            write(row)
                files.append(writing.shown(options.out) or str(options.out))
            if options.html is not None:
                options.progress.stage("writing the pages", None, "documents")
                self._write_pages(options.html, found)
                files.append(writing.shown(options.html) or str(options.html))
        return files

    def _is_file(self, path: Path) -> bool:
        from neardup.files.writing import is_stdout

        if self._options.html_folder:
            return False
        return is_stdout(path) or path.suffix.lower() in PAGE

    def _write_pages(self, path: Path, found: Copying) -> None:
        from neardup.files import writing
        from neardup.reports.copying import CopyingReport, render_file, render_folder

        names = {"inputs": self._inputs, "against": self._against}
        report = CopyingReport(
            found,
            self._language,
            self._options.threshold,
            anonymous=self._options.anonymise,
            unreadable=self._unreadable,
            problems=[(each.source, each.line, each.reason) for each in self._problems],
            # Names of files are often names of people.
            settings={}
            if self._options.anonymise
            else {name: _listed(files) for name, files in names.items() if files},
        )
        if self._is_file(path):
            with writing.open_new(path) as file:
                for piece in render_file(report):
                    file.write(piece.encode())
            return
        with writing.open_folder(path) as folder:
            for name, pieces in render_folder(report):
                with (folder / name).open("wb") as page:
                    page.writelines(piece.encode() for piece in pieces)


def _listed(names: Sequence[str], most: int = 10) -> str:
    shown = [sources.name_of(name) for name in names[:most]]
    return ", ".join(shown) + (", …" if len(names) > most else "")


def _check_share(name: str, value: object) -> None:
    limits = "it must be a number from 0 to 1: 0.3 for 30 %"
    if not is_real(value):
        raise RefusedError(f"{name} is {value!r}; {limits}")
    if not 0 <= as_float(value) <= 1:
        raise RefusedError(f"{name} is {value}; {limits}")


def _reaches(share: float, threshold: float) -> bool:
    return share >= threshold - 1e-9
