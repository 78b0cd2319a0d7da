"""The first stage of a job: read the inputs, fingerprint each batch, and write the corpus.

A corpus that an earlier run has completed in the same work folder is used again if the job resumes.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from neardup.files.reading.batch import Precompute, Precomputed
from neardup.files.reading.formats import name_of
from neardup.files.reading.inputs import is_collection, read_batches
from neardup.files.reading.records import DuplicateIds
from neardup.jobs import reference
from neardup.jobs.options import NothingReadError, UnreadableError
from neardup.jobs.spool import (
    MAX_OPEN_FILES,
    SpooledCorpus,
    Stamp,
    bounds_of,
    file_stamp,
    open_corpus,
    spooling,
)
from neardup.jobs.work_folder import STATE, clear
from neardup.near.corpus import precompute

if TYPE_CHECKING:
    from neardup.engines.spark.read_driver import DistributedReader
    from neardup.files.reading.batch import Batch, Unreadable
    from neardup.files.reading.records import DuplicateIds
    from neardup.jobs.job import Job

T = TypeVar("T")
# Version of the files of a work folder.
VERSION = 8
# Batches read ahead of the one that is fingerprinted.
PREFETCHED_BATCHES = 2
# How long to wait for the reading thread when it is not needed any more.
JOIN_SECONDS = 1.0


def read_corpus(job: Job, folder: Path) -> SpooledCorpus:
    """Read the inputs of a job into its work folder, or use what an earlier run has read there."""
    files = [*job.against, *job.inputs]
    stamps = {path: file_stamp(path) for path in files}
    state = _state(job, stamps)
    resumed = job.options.resume and _is_complete(job, folder, state)
    if not resumed:
        if job.options.work_dir is not None:
            clear(folder)
        spool_files(job, folder, files, stamps)
    corpus = open_corpus(
        folder, job.recipe, job.reading.text_columns, stamps, sketched=job.is_sketched
    )
    if resumed and job.options.on_problem is not None:
        for problem in corpus.unread(corpus.unreadable):
            job.options.on_problem(problem)
    _refuse_unread(job, corpus)
    if job.groups is not None:
        job.groups.check(job.inputs)
    if not resumed:
        (folder / STATE).write_text(json.dumps(state), encoding="utf-8")
    return corpus


def spool_files(job: Job, folder: Path, files: Sequence[str], stamps: Mapping[str, Stamp]) -> None:
    """Read files into the spool: those to compare with, then the inputs."""
    sizes = [stamps[path][0] for path in files]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    job.stage("reading", total, "bytes")
    duplicates = DuplicateIds()
    # Only clusters are described by the facts of their responses.
    with spooling(folder, job.recipe, facts=job.name == "cluster") as spool:

        def report(problem: Unreadable) -> None:
            spool.problem(problem)
            if job.options.on_problem is not None:
                job.options.on_problem(problem)

        spread = _spread(job, files)
        for number, path in enumerate(files):
            if number and number == len(job.against):
                spool.end_reference()
            is_input = number >= len(job.against)
            in_place = spool.begin_file(path)
            coming: AbstractContextManager[Iterator[Batch]]
            if spread is not None and spread.has(number):
                found = spread.batches(number, report, job.note, job.advance)
                coming = nullcontext(found)
            elif not is_input and is_collection(path):
                coming = nullcontext(reference.batches(path))
            else:
                coming = prefetched(
                    read_batches(
                        path,
                        job.reading,
                        report,
                        note=job.note,
                        progress=job.advance,
                        making=_precompute(job) if in_place else None,
                    )
                )
            with coming as batches:
                for batch in batches:
                    if is_input:
                        duplicates.see(batch.ids)
                    if job.groups is not None:
                        job.groups.see(batch)
                    spool.add(batch, batch.made or _fingerprint(job, batch))
            if job.options.strict and spool.unreadable:
                break
    if duplicates.count:
        job.note(_duplicate_ids(job, duplicates))


def _spread(job: Job, files: Sequence[str]) -> DistributedReader | None:
    """Let Spark's workers read the files they can read; None without Spark."""
    if job.engine.session is None:
        return None
    from neardup.engines.spark.read_driver import DistributedReader
    from neardup.engines.spark.read_worker import ReadSettings

    return DistributedReader(
        job.engine.session,
        files,
        ReadSettings(job.reading, job.question, job.recipe),
        skip=is_collection,
        max_in_place=MAX_OPEN_FILES,
    )


def _precompute(job: Job) -> Precompute | None:
    """Let the reader fingerprint texts while it parses them, which is faster.

    Not with a hash function in Python, and not with a limit of threads.
    """
    is_native = job.is_sketched or not callable(job.recipe.hash)
    if is_native and job.options.threads is None:
        return Precompute(job.recipe.pipeline, job.is_sketched)
    return None


def _fingerprint(job: Job, batch: Batch) -> Precomputed:
    import numpy as np

    signal, sketches, values = precompute(
        job.question, batch.texts, job.recipe, job.options.threads
    )
    return Precomputed(signal, values, sketches, np.diff(bounds_of(batch.texts)))


def _duplicate_ids(job: Job, duplicates: DuplicateIds) -> str:
    count = f"{duplicates.count:,} record{' has' if duplicates.count == 1 else 's have'}"
    message = f"{count} the id of an earlier record, first {duplicates.first!r}"
    if job.options.removed is not None:
        message += "; the column line of --removed distinguishes them"
    return message


@contextmanager
def prefetched(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """Iterate in a background thread, two items ahead."""
    ready: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(PREFETCHED_BATCHES)
    stopped = threading.Event()

    def put(item: T | None, error: BaseException | None) -> None:
        while not stopped.is_set():
            with suppress(queue.Full):
                ready.put((item, error), timeout=0.1)
                return

    def produce() -> None:
        try:
            for item in items:
                put(item, None)
                if stopped.is_set():
                    return
            put(None, None)
        except BaseException as error:
            put(None, error)

    def consume() -> Iterator[T]:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item

    thread = threading.Thread(target=produce, name="neardup-reader", daemon=True)
    thread.start()
    try:
        yield consume()
    finally:
        stopped.set()
        # With a limit: the thread may wait for a silent pipe, and Ctrl-C must end the job at once.
        thread.join(JOIN_SECONDS)


def _refuse_unread(job: Job, corpus: SpooledCorpus) -> None:
    """Raise if no record could be read, or in a strict job if any could not be read."""
    is_complete = len(corpus.files) == len(job.against) + len(job.inputs)
    no_inputs = corpus.rows == corpus.reference and corpus.unreadable > corpus.unread_reference
    no_reference = not corpus.reference and corpus.unread_reference > 0
    if is_complete and no_inputs:
        _refuse_nothing(job, corpus, "no record could be read", 1 + corpus.unread_reference)
    if is_complete and no_reference and not job.collections:
        _refuse_nothing(job, corpus, "no record to compare with could be read", 1)
    if job.options.strict and corpus.unreadable:
        count = "1 record" if corpus.unreadable == 1 else f"{corpus.unreadable:,} records"
        raise UnreadableError(
            f"{count} could not be read, the first is {_problem(corpus, 1)}; "
            "nothing was written, because the job is strict"
        )


def _refuse_nothing(job: Job, corpus: SpooledCorpus, what: str, number: int) -> None:
    """Raise NothingReadError: an empty output would replace a good one of an earlier run."""
    corpus.check_unchanged()
    first = _problem(corpus, number)
    job.write_quarantine(corpus)
    except_for = "".join(f" but {path}, which lists all problems" for path in job.summary.files)
    raise NothingReadError(f"{what}: {first}; nothing was written{except_for}")


def _problem(corpus: SpooledCorpus, number: int) -> Unreadable:
    return corpus.unread(number)[-1]


def _state(job: Job, stamps: Mapping[str, Stamp]) -> dict[str, Any]:
    """Return all that must be equal for a corpus to be used again."""
    reading, viewing = job.reading, job.viewing
    return {
        "version": VERSION,
        "recipe": job.recipe.identity,
        "compared by": "similarity" if job.is_sketched else "radius",
        "distinguish": list(job.question.distinguish),
        "reading": [*reading.text_columns, reading.id_column, reading.key_column],
        "lines": [reading.lines, reading.format],
        "cells": [reading.delimiter, reading.quoting, reading.header],
        "encoding": reading.encoding,
        "limits": [reading.max_bytes, reading.max_document],
        # The name of the job, because only some store the facts of responses.
        "views": viewing and [job.name, list(viewing[0]), list(viewing[1]), viewing[2]],
        "inputs": [[path, *stamps[path]] for path in job.inputs],
        "against": [
            [path, *(reference.stamp(path) if is_collection(path) else stamps[path])]
            for path in (*job.against, *job.collections)
        ],
    }


def _is_complete(job: Job, folder: Path, state: dict[str, Any]) -> bool:
    """Return whether a work folder holds this corpus; raise ValueError if it is of another job."""
    try:
        known = json.loads((folder / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(known, dict):
        return False
    for name, value in state.items():
        if known.get(name) != value:
            raise ValueError(
                f"{folder}: the earlier run differs in {name}: {known.get(name)!r}, "
                f"now {value!r}; run without --resume to start again"
            )
    for path, *stamp in [*state["against"], *state["inputs"]]:
        if None in stamp:
            job.warn(
                f"{name_of(path)}: it is unknown whether this input has changed since the earlier "
                "run; all inputs are read again"
            )
            return False
    return True
