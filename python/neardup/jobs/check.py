"""neardup check: documents compared for copying, written as a table and as pages."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup._util.numbers import as_float, is_real
from neardup.files import writing
from neardup.files.reading.batch import Reading
from neardup.files.reading.formats import STDIN, name_of
from neardup.files.reading.inputs import (
    check_options,
    expand,
    is_collection,
    read_batches,
    read_text,
)
from neardup.files.reading.records import DEFAULT_ID, list_columns
from neardup.jobs import reference
from neardup.jobs.captures import reading_with_views
from neardup.jobs.job import check_language
from neardup.jobs.options import (
    CHECK_COLUMNS,
    Checked,
    CheckOptions,
    NothingReadError,
    UnreadableError,
    check_rows,
    peak_memory,
    refuse_bad_options,
)
from neardup.text.views import view_prose

if TYPE_CHECKING:
    from neardup.copying.findings import Copying
    from neardup.files.reading.batch import Unreadable

# The recipe for captures: only text that people read is compared.
CAPTURE_RECIPE = "http-text"
PAGE_ENDINGS = (".html", ".htm")
# Names in a note.
MAX_NAMES = 3
# Names in the settings of a page.
MAX_LISTED = 10
# Unreadable records listed in the result.
MAX_PROBLEMS = 50
# Documents of a collection that are searched for an author.
AUTHOR_SAMPLE = 1000


def check(inputs: Sequence[str], options: CheckOptions | None = None) -> Checked:
    """Check the documents of files for copying, and write the table and the pages.

    inputs  files, folders, patterns, URLs, or "-" for standard input
    """
    return _Check(inputs, options or CheckOptions()).run()


class _Check:
    """One run of a check: read, compare, describe, write."""

    @refuse_bad_options()
    def __init__(self, inputs: Sequence[str], options: CheckOptions) -> None:
        self._options = options
        self._started = time.perf_counter()
        self._unreadable = 0
        self._problems: list[Unreadable] = []
        self._reference = 0
        # Ids of `CheckOptions.exclude` that exist.
        self._excluded: set[str] = set()
        _check_threshold(options.threshold)
        for name in inputs:
            if is_collection(name):
                raise ValueError(
                    f"{name}: a collection cannot be checked, only compared with: neardup check "
                    f"INPUT --against {name}"
                )
        reading = reading_with_views(
            options.reading, inputs, options.against, CAPTURE_RECIPE, self._note
        )
        self._reading = replace(
            reading,
            threads=options.rules.get("threads"),
            key_column=options.author_column,
            keeps=False,
        )
        self._authors = _Authors(options.author_column, self._reading)
        self._inputs = expand(list(inputs), reading, self._note)
        self._collections: set[str] = set()
        self._against = list(dict.fromkeys(self._expand(options.against)))
        files = [name for name in self._against if name not in self._collections]
        check_options([*self._inputs, *files], reading)
        if [*self._inputs, *files].count(STDIN) > 1:
            raise ValueError("standard input (-) can be read only once")
        self._check_outputs()

    def _expand(self, names: Sequence[str]) -> Iterator[str]:
        for name in names:
            if is_collection(name):
                path = name.rstrip("/")
                reference.check_prose(path, self._reading.viewing)
                self._collections.add(path)
                yield path
            else:
                yield from expand([name], self._reading, self._note)

    def run(self) -> Checked:
        options = self._options
        rules = self._copying_rules()
        found = self._compare(list(self._read_inputs()), rules)
        if options.strict and self._unreadable:
            raise UnreadableError(
                f"{self._unreadable:,} unreadable; nothing was written, because the job is strict"
            )
        if options.anonymise:
            found = self._anonymise(found)
        self._note_results(found)
        files = self._write(found)
        shares = [finding.figures.share for finding in found.findings]
        return Checked(
            copying=found,
            threshold=options.threshold,
            reference=self._reference,
            unreadable=self._unreadable,
            problems=tuple(self._problems),
            # Shares are sums of floats: 0.3 may be a little less.
            above=sum(share >= options.threshold - 1e-9 for share in shares),
            seconds=time.perf_counter() - self._started,
            peak_memory=peak_memory(),
            files=files,
        )

    # ---- read and compare ----

    def _copying_rules(self) -> dict[str, Any]:
        """Return the options of `check_copying`; raise RefusedError if one is wrong."""
        from neardup.copying.check import check_rules

        options = self._options
        rules = dict(options.rules)
        if options.template:
            rules["template"] = [read_text(path, note=self._note) for path in options.template]
        if options.exclude:
            rules["exclude"] = tuple(options.exclude)
        with refuse_bad_options():
            check_rules(**rules)
        return rules

    def _read_inputs(self) -> Iterator[tuple[Any, ...]]:
        self._stage("reading", None, "documents")
        count = 0
        for name in self._inputs:
            for document in self._read(name):
                count += 1
                yield document
        if not count and self._problems:
            raise NothingReadError(
                f"no record could be read: {self._problems[0]}; nothing was written"
            )
        self._authors.check()

    def _read_against(self) -> Iterator[Any]:
        """Return the documents of files, and collections that look sources up themselves."""
        options = self._options
        self._stage("looking for sources", None, "documents")
        for name in self._against:
            if name not in self._collections:
                for document in self._read(name):
                    self._reference += 1
                    yield document
                continue
            with reference.open_collection(name) as collection:
                self._reference += len(collection)
                self._authors.see_collection(name, collection.documents())
                self._excluded.update(x for x in options.exclude if x in collection)
                yield reference.SourceCollection(collection, options.author_column)

    def _read(self, name: str) -> Iterator[tuple[Any, ...]]:
        """Return id, text, author and position of the documents of a file."""
        # One file may be named in several ways.
        file = name if name == STDIN or "://" in name else os.path.realpath(name)
        exclude = set(self._options.exclude)
        for batch in read_batches(name, self._reading, self._problem, note=self._note):
            ids, texts = batch.ids.to_pylist(), batch.texts.to_pylist()
            if self._reading.viewing is not None:
                texts = [view_prose(text) for text in texts]
            authors = [None] * len(ids) if batch.key is None else batch.key.to_pylist()
            self._authors.see(name, authors)
            self._excluded.update(exclude.intersection(ids))
            lines = batch.lines.tolist()
            for id_, text, author, line in zip(ids, texts, authors, lines, strict=True):
                self._advance()
                yield id_, text or "", author, (file, line)

    def _compare(self, documents: list[tuple[Any, ...]], rules: dict[str, Any]) -> Copying:
        from neardup.copying.check import check_copying

        def advance(done: int, total: int) -> None:
            if done == 1:
                self._stage("comparing", total, "documents")
            self._advance()

        return check_copying(
            documents,
            self._read_against() if self._against else None,
            **rules,
            on_note=self._note,
            on_progress=advance,
        )

    def _problem(self, problem: Unreadable) -> None:
        self._unreadable += 1
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(problem)
        if self._options.on_problem is not None:
            self._options.on_problem(problem)

    def _stage(self, name: str, total: int | None, unit: str) -> None:
        if self._options.progress is not None:
            self._options.progress.stage(name, total, unit)

    def _advance(self) -> None:
        if self._options.progress is not None:
            self._options.progress.advance(1)

    # ---- describe ----

    def _note(self, message: str) -> None:
        if self._options.on_note is not None:
            self._options.on_note(message)

    def _note_results(self, found: Copying) -> None:
        """Note options without effect, and why nothing could be found."""
        for id_ in self._options.exclude:
            if id_ not in self._excluded:
                self._note(f"--exclude: no document has the id {id_!r}")
        if count := len(found.itself):
            names = _listed([repr(each) for each in found.itself], MAX_NAMES)
            self._note(
                f"{count:,} document{'s' if count > 1 else ''} of --against with the id and the "
                f"text of an input count{'' if count > 1 else 's'} as that input, not as a "
                f"source: {names}"
            )
        if not found.findings:
            self._note("the inputs have no documents; nothing was checked")
        elif self._against and not self._reference:
            self._note("--against has no documents; nothing was compared")
        elif not self._against and len(found.findings) == 1:
            self._note(
                "there is only one document, and nothing to compare it with; name texts with "
                "--against"
            )
        if lacking := self._authors.lacking():
            self._note(lacking)

    def _anonymise(self, found: Copying) -> Copying:
        """Replace the names of documents and files by numbers."""
        from neardup.copying.findings import anonymise
        from neardup.reports.page import Wording

        words = Wording(self._language)
        files = map(name_of, [*self._inputs, *self._against])
        # Reversed, so that a name that occurs twice gets its first number.
        numbers = {name: n for n, name in reversed(list(enumerate(files, 1)))}
        self._problems = [
            each._replace(source=words("name.file", n=numbers.get(each.source, "?")))
            for each in self._problems
        ]
        names = {name: words(f"name.{name}", n="{n}") for name in ("document", "source")}
        return anonymise(found, **names)

    @property
    def _language(self) -> str:
        from neardup.reports.page import language_of_locale

        return self._options.lang or language_of_locale()

    # ---- write ----

    @property
    def _is_one_page(self) -> bool:
        path = self._options.html
        if path is None or self._options.html_folder:
            return False
        return writing.is_stdout(path) or path.suffix.lower() in PAGE_ENDINGS

    def _check_outputs(self) -> None:
        options = self._options
        inputs = [*self._inputs, *self._against]
        if options.out is not None:
            writing.check_output(options.out, inputs)
        if options.html is not None:
            if self._is_one_page:
                writing.check_output(options.html, inputs, endings=PAGE_ENDINGS)
            else:
                writing.check_folder(options.html)
        if options.out is not None and options.html is not None:
            paths = (options.out, options.html)
            names = {writing.stdout_label(path) or os.path.abspath(path) for path in paths}
            if len(names) == 1:
                raise ValueError(f"{options.out}: is named for two outputs; give each its own file")
        if options.lang is not None:
            check_language(options.lang)
            if options.html is None and not options.anonymise:
                raise ValueError(
                    f"lang is {options.lang!r}, but no page is written; name its file: --html "
                    "FILE.html"
                )

    def _write(self, found: Copying) -> list[str]:
        options = self._options
        with ExitStack() as stack:
            stack.enter_context(writing.together())
            if options.out is not None:
                self._stage("writing the table", None, "documents")
                with writing.open_rows(options.out, CHECK_COLUMNS, guard=options.guard) as write:
                    for finding in found.findings:
                        for row in check_rows(finding):
                            write(row)
            if options.html is not None:
                self._stage("writing the pages", None, "documents")
                self._write_pages(options.html, found)
        return [
            writing.stdout_label(path) or str(path) for path in (options.out, options.html) if path
        ]

    def _write_pages(self, path: Path, found: Copying) -> None:
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
            else {
                name: _listed(list(map(name_of, files)), MAX_LISTED)
                for name, files in names.items()
                if files
            },
        )
        if self._is_one_page:
            with writing.open_new(path) as file:
                for piece in render_file(report):
                    file.write(piece.encode())
            return
        with writing.open_folder(path) as folder:
            for name, pieces in render_folder(report):
                with (folder / name).open("wb") as page:
                    page.writelines(piece.encode() for piece in pieces)


class _Authors:
    """Which inputs have the column of authors.

    column  None if authors are not compared
    """

    def __init__(self, column: str | None, reading: Reading) -> None:
        self._column = column
        self._reading = reading
        # Input → whether any of its documents has an author.
        self._seen: dict[str, bool] = {}

    def see(self, name: str, authors: Iterable[object]) -> None:
        """Note the authors of some documents of an input; None for a document without one."""
        found = [author is not None for author in authors]
        if self._column is not None and found:
            self._seen[name] = self._seen.get(name, False) or any(found)

    def see_collection(self, name: str, documents: Iterator[Any]) -> None:
        if self._column is not None:
            some = islice(documents, AUTHOR_SAMPLE)
            self.see(name, (found.metadata.get(self._column) for found in some))

    def check(self) -> None:
        """Raise NothingReadError if no document has an author."""
        if not self._seen or any(self._seen.values()):
            return
        names = self._column_names()
        there = "the inputs have no columns" if names is None else f"columns: {list_columns(names)}"
        raise NothingReadError(
            f"no column {self._column!r} ({there}), which --author-column names; "
            "nothing was written"
        )

    def lacking(self) -> str | None:
        """Return a note on the inputs without authors."""
        names = [name_of(name) for name, has in self._seen.items() if not has]
        if not names:
            return None
        inputs = "1 input" if len(names) == 1 else f"{len(names):,} inputs"
        return (
            f"no column {self._column!r} in {inputs}, whose texts count as those of other "
            f"authors: {_listed(names, MAX_NAMES)}"
        )

    def _column_names(self) -> Sequence[str] | None:
        """Return the columns of the first record; None if inputs are whole texts."""
        name = next(iter(self._seen))
        if name == STDIN:
            # It cannot be read again.
            return None
        reading = replace(self._reading, others=True, key_column=None)
        for batch in read_batches(name, reading, lambda _: None):
            if batch.others is None:
                return None
            taken = (reading.id_column or DEFAULT_ID, *reading.text_columns)
            return [*taken, *batch.others[0]]
        return None


def _listed(names: Sequence[str], most: int) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _check_threshold(value: object) -> None:
    if not is_real(value) or not 0 <= as_float(value) <= 1:
        raise ValueError(f"threshold is {value!r}; it must be a number from 0 to 1: 0.3 for 30 %")
