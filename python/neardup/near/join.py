"""Joins of a corpus with itself, on this machine: by similarity and by radius.

By similarity, sketches find candidates and the judge computes their exact cosines. By radius, the
distance of fingerprints decides, and no text is compared. A bucket of very many similar texts is
dense: the core streams its pairs, or links its rows, without a list of candidates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from queue import SimpleQueue
from typing import TYPE_CHECKING

from neardup import _core
from neardup._util.arrow import array_values, string_buffers
from neardup.near.clusters import clusters, gather_pairs, link_rows
from neardup.near.corpus import Stage, Tick, Verdicts
from neardup.near.matches import Clusters, Forecast, Matches, Pairs, follow_twins
from neardup.near.pairs import pairs, pairs_plan
from neardup.near.question import Linkage, Question
from neardup.text.comparison import DEFAULT_SIMILARITY
from neardup.text.fingerprint import Fingerprints

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.near.corpus import Corpus, Rows

# The last bytes of a sketch: a digest of the features, or of the text if it has no signal.
DIGEST_BYTES = 16
# Fewer texts are joined by sketches at once, unless all pairs are wanted.
MIN_FORECAST_TEXTS = 1000
# A forecast of so many seconds is told.
TOLD_SECONDS = 5
# Near pairs that the inverted join lists at most; more are linked, or streamed, as they are found.
MIN_LISTED = 1 << 17
LISTED_PER_TEXT = 8
# Texts without a signal whose digests are computed at a time.
DIGEST_BATCH_ROWS = 1 << 14


class LocalEngine:
    """The engine that joins in this process, on all cores. `match` returns a join."""

    session = None

    def opened(self, note: Callable[[str], object] | None = None) -> AbstractContextManager[None]:
        return nullcontext()

    def match(
        self,
        corpus: Corpus,
        question: Question,
        *,
        order: Rows | None = None,
        reference_rows: int = 0,
        threads: int | None = None,
        tick: Tick | None = None,
        stage: Stage | None = None,
    ) -> Matches:
        join = RadiusJoin if question.similarity is None else SketchJoin
        return join(
            corpus,
            question,
            order=order,
            reference_rows=reference_rows,
            threads=threads,
            tick=tick,
            stage=stage,
        )


class SketchJoin(Matches):
    """Pairs whose exact cosine reaches the similarity threshold.

    Which pairs these are follows from the question and the two texts alone: those that the tables
    of the plan can find (`_core.near_plan`), all at a recall of 1. How they are found depends on
    the texts: by sketches, or by an inverted index of the features where that is cheaper.

    order           all rows, the ones to keep first [default: by row number]
    reference_rows  the first rows are a reference: compare only pairs of a reference row and
                    another row [default: 0, compare all rows with each other]
    """

    def __init__(
        self,
        corpus: Corpus,
        question: Question,
        *,
        order: Rows | None = None,
        reference_rows: int = 0,
        threads: int | None = None,
        tick: Tick | None = None,
        stage: Stage | None = None,
    ) -> None:
        import numpy as np

        super().__init__(corpus, question, threads=threads, tick=tick, stage=stage)
        assert corpus.sketches is not None  # noqa: S101
        assert question.similarity is not None  # noqa: S101
        self._join = _core.NearJoin(
            corpus.sketches,
            corpus.signal,
            question.similarity,
            question.recall,
            order=None if order is None else order.astype(np.uint32),
            first=reference_rows,
            threads=threads,
        )
        self.twins = self._join.twins
        self.plan = self._join.plan
        self._forecast: Forecast | None = None

    def forecast(self) -> Forecast | None:
        if self._forecast is None:
            method, seconds, candidates, _ = self._join.forecast(
                self.corpus.recipe.pipeline, self.corpus.texts, self.threads
            )
            self._forecast = Forecast(method, seconds, candidates)
        return self._forecast

    def _choose(self) -> str:
        """Choose how to find the pairs; return what to say of the time it takes."""
        self.plan["dense"] = []
        if self.plan["texts"] < MIN_FORECAST_TEXTS or (expected := self.forecast()) is None:
            return ""
        self.plan.update(
            method=expected.method,
            expected_seconds=float(f"{expected.seconds:.2g}"),
            expected_candidates=int(float(f"{expected.candidates:.2g}")),
        )
        return f", {duration(expected.seconds)}" if expected.seconds >= TOLD_SECONDS else ""

    def _judged_candidates(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Verdicts]:
        """Return candidates as later and earlier rows, and their verdicts."""
        told = self._choose()
        if self.plan["method"] == "inverted":
            return self._looked_up(told)
        return self._candidates_by_sketches(told)

    def _candidates_by_sketches(
        self, told: str
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Verdicts]:
        """Return the candidates outside of dense buckets, and their verdicts."""
        texts, tables = self.plan["texts"], self.plan["tables"]
        name = f"finding candidates among {texts:,} texts{told}"
        done = 0

        def progress(tables_done: int, candidates: int) -> None:
            nonlocal done
            if tables_done > done:
                self._stage(f"{name}, {candidates:,} so far", tables, "tables")
                self.judge.tick(tables_done - done)
                done = tables_done

        self._stage(name, tables or None, "tables")
        later, earlier = self._candidates(progress)
        progress(tables, len(later))
        self.counts.candidates += len(later)
        self._stage("comparing", len(later), "pairs")
        verdicts = self._verdicts(later, earlier)
        self.counts.verified += len(later)
        self._count_edge(later, earlier, verdicts.similarity)
        dense = self.plan["dense"] = self._join.dense
        if self.sample is not None:
            self.sample.take(earlier, later, verdicts.distance, verdicts.similarity)
        if dense:
            name = f"comparing {len(dense):,} dense groups, up to {max(dense):,} texts each"
            self._stage(name, None, "pairs")
        return later, earlier, verdicts

    def _looked_up(self, told: str) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Verdicts]:
        """Return the near pairs and their verdicts by an inverted index; none if they are too many
        to be listed."""
        import numpy as np

        texts = self.plan["texts"]
        self._stage(f"looking up {texts:,} texts{told}", texts, "texts")
        most = MIN_LISTED + LISTED_PER_TEXT * texts
        found = self._join.look_up(
            self.corpus.recipe.pipeline, self.corpus.texts, most, self.threads, self._progress()
        )
        if found is None:
            self._join.invert()
            none = np.zeros(0, dtype=np.uint32)
            return none, none, Verdicts(np.zeros(0), np.zeros(0, dtype=np.uint16))
        later, earlier, similarity, distance = found
        verdicts = Verdicts(similarity, self.judge.distances_by_recipe(later, earlier, distance))
        self.counts.candidates += len(later)
        self.counts.verified += len(later)
        self._count_edge(later, earlier, similarity)
        if self.sample is not None:
            self.sample.take(earlier, later, verdicts.distance, verdicts.similarity)
        return later, earlier, verdicts

    def _progress(self) -> Callable[[int], None]:
        """Return a function that takes the number of texts done so far, and ticks."""
        done = 0

        def progress(texts_done: int) -> None:
            nonlocal done
            if texts_done > done:
                self.judge.tick(texts_done - done)
                done = texts_done

        return progress

    def _count_edge(
        self,
        later: NDArray[np.uint32],
        earlier: NDArray[np.uint32],
        similarity: NDArray[np.float64],
    ) -> None:
        found, expected = self._join.at_the_edge(later, earlier, similarity)
        self.counts.edge = self.counts.edge[0] + found, self.counts.edge[1] + expected

    def _candidates(
        self, progress: Callable[[int, int], object]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return later and earlier rows of candidates; pairs with a common row are neighbours."""
        return self._join.candidates(self.threads, progress)

    def _verdicts(self, later: NDArray[np.uint32], earlier: NDArray[np.uint32]) -> Verdicts:
        return self.judge.verdicts(later, earlier)

    def _near(self, verdicts: Verdicts) -> NDArray[np.bool_]:
        near: NDArray[np.bool_] = verdicts.similarity >= (self.question.similarity or 0.0)
        return near

    def pairs(self) -> Iterator[Pairs]:
        import numpy as np

        told = self._choose()
        if self.plan["method"] == "inverted":
            self._stage(f"looking up {self.plan['texts']:,} texts{told}", None, "pairs")
            self._join.invert()
            yield from self._dense_pairs()
            return
        later, earlier, verdicts = self._candidates_by_sketches(told)
        near = self._near(verdicts)
        found = Pairs(
            earlier[near].astype(np.int64),
            later[near].astype(np.int64),
            verdicts.distance[near],
            verdicts.similarity[near],
        )
        del later, earlier, verdicts, near
        self.counts.add(found.distance, found.similarity)
        yield found
        yield from self._dense_pairs()

    def _dense_pairs(self) -> Iterator[Pairs]:
        """Yield the pairs of dense buckets, which the core finds in a background thread."""
        import threading

        import numpy as np

        if not (self._join.dense or self._join.whole):
            return
        batches: SimpleQueue[Pairs | BaseException | None] = SimpleQueue()
        # Backpressure: at most four batches wait in the queue.
        free_slots = threading.Semaphore(4)
        stopped = threading.Event()

        def put_batch(
            later: NDArray[np.uint32],
            earlier: NDArray[np.uint32],
            similarity: NDArray[np.float64],
            distance: NDArray[np.uint16],
        ) -> None:
            while len(later) and not stopped.is_set() and not free_slots.acquire(timeout=0.1):
                pass
            if stopped.is_set():
                raise InterruptedError
            if len(later):
                left, right = earlier.astype(np.int64), later.astype(np.int64)
                distance = self.judge.distances_by_recipe(left, right, distance)
                batches.put(Pairs(left, right, distance, similarity))

        def find_pairs() -> None:
            try:
                pipeline = self.corpus.recipe.pipeline
                self._join.dense_pairs(pipeline, self.corpus.texts, put_batch, self.threads)
                batches.put(None)
            except BaseException as error:
                batches.put(error)

        thread = threading.Thread(target=find_pairs, name="neardup-dense", daemon=True)
        thread.start()
        try:
            while (batch := batches.get()) is not None:
                if isinstance(batch, BaseException):
                    raise batch
                free_slots.release()
                self.counts.candidates += len(batch.left)
                self.counts.verified += len(batch.left)
                self.counts.add(batch.distance, batch.similarity)
                if batch.similarity is not None:
                    later, earlier = batch.right.astype(np.uint32), batch.left.astype(np.uint32)
                    self._count_edge(later, earlier, batch.similarity)
                if self.sample is not None:
                    self.sample.take(batch.left, batch.right, batch.distance, batch.similarity)
                self.judge.tick(len(batch.left))
                yield batch
        finally:
            stopped.set()
            thread.join()

    def clusters(self, linkage: Linkage) -> Clusters:
        import numpy as np

        later, earlier, verdicts = self._judged_candidates()
        near = self._near(verdicts)
        self.counts.add(verdicts.distance[near], verdicts.similarity[near])
        counted_pairs = later[near].astype(np.int64) << 32 | earlier[near]
        del later, earlier, near
        whole = self._join.whole
        if whole:
            self._stage(f"linking {self.plan['texts']:,} texts", self.plan["texts"], "texts")
        row, kept, similarity, distance = self._join.clusters(
            linkage,
            verdicts.similarity,
            verdicts.distance,
            self.corpus.recipe.pipeline,
            self.corpus.texts,
            self.threads,
            self._progress(),
        )
        distance = self.judge.distances_by_recipe(row, kept, distance)
        # The core judges further pairs to link the rows of dense buckets, as few as possible.
        new = ~np.isnan(similarity) & ~np.isin(row.astype(np.int64) << 32 | kept, counted_pairs)
        self.counts.candidates += int(new.sum())
        self.counts.verified += int(new.sum())
        self.counts.add(distance[new], similarity[new])
        self._count_edge(row[new], kept[new], similarity[new])
        if self.sample is not None:
            self.sample.take(kept[new], row[new], distance[new], similarity[new])
        if self.plan["dense"] or whole:
            # Every linked row is in at least one pair.
            self.counts.pairs = max(self.counts.pairs, len(row))
        labels = np.arange(len(self.twins))
        labels[row] = kept
        row_similarity = np.full(len(labels), np.nan)
        row_distance = np.zeros(len(labels), dtype=np.int64)
        row_similarity[row], row_distance[row] = similarity, distance
        return follow_twins(self.twins, labels, row_similarity, row_distance)


def duration(seconds: float) -> str:
    """Say about how long something takes."""
    if seconds < 90:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:,.0f} min" if seconds < 5400 else f"about {seconds / 3600:,.1f} h"


class RadiusJoin(Matches):
    """Pairs whose fingerprints differ in at most `radius` bits; arguments as for `SketchJoin`.

    To distinguish texts by order, the share of words in the same order must reach
    DEFAULT_SIMILARITY: a radius is no share.
    """

    def __init__(
        self,
        corpus: Corpus,
        question: Question,
        *,
        order: Rows | None = None,
        reference_rows: int = 0,
        threads: int | None = None,
        tick: Tick | None = None,
        stage: Stage | None = None,
    ) -> None:
        import numpy as np

        super().__init__(corpus, question, threads=threads, tick=tick, stage=stage)
        assert corpus.values is not None  # noqa: S101
        self.reference_rows = reference_rows
        rows = len(corpus.signal)
        # The core has no keep order: it gets the rows in this order, and numbers them by place.
        self._order = np.arange(rows) if order is None else order
        self._values = corpus.values if order is None else corpus.values[order]
        self._signal = corpus.signal if order is None else corpus.signal[order]
        # For each place the first place with an equal fingerprint, or an equal text.
        if question.has_twins_by_fingerprint(corpus.recipe.bits):
            self._twin_places = clusters(self._fingerprints(), 0, threads=threads)
            self._link_equal_texts(np.flatnonzero(~self._signal))
        else:
            self._twin_places = np.arange(rows)
            self._link_equal_texts(self._twin_places)
        self.twins = np.empty(rows, dtype=np.int64)
        self.twins[self._order] = self._order[self._twin_places]
        self.plan = {}

    def _fingerprints(self) -> Fingerprints:
        return Fingerprints(self._values, self._signal, self.corpus.recipe)

    def _link_equal_texts(self, places: Rows) -> None:
        """Find the twins of the texts at these places by the digests in their sketches."""
        import pyarrow as pa

        first_place: dict[bytes, int] = {}
        for start in range(0, len(places), DIGEST_BATCH_ROWS):
            part = places[start : start + DIGEST_BATCH_ROWS].tolist()
            texts = [self.corpus.texts.get(int(self._order[place])) for place in part]
            column = pa.chunked_array([pa.array(texts, pa.large_string())])
            _, sketches = self.corpus.recipe.pipeline.sketches_arrow(
                string_buffers(column), self.threads
            )
            for place, sketch in zip(part, sketches, strict=True):
                digest = sketch[_core.SKETCH_BYTES - DIGEST_BYTES :].tobytes()
                # A text without a letter or digit has a digest of zeros, and no twin.
                if any(digest):
                    self._twin_places[place] = first_place.setdefault(digest, place)

    def pairs(self) -> Iterator[Pairs]:
        import numpy as np

        assert self.question.radius is not None  # noqa: S101
        self._stage("comparing", None, "pairs")
        if self.reference_rows >= len(self._twin_places):
            return
        is_own_twin = self._twin_places == np.arange(len(self._twin_places))
        distinct = Fingerprints(self._values, self._signal & is_own_twin, self.corpus.recipe)
        reader = pairs(
            distinct, self.question.radius, self.question.recall, stream=True, threads=self.threads
        )
        self.plan = json.loads(reader.schema.metadata[b"neardup"])
        for batch in reader:
            left, right, distance = map(array_values, batch.columns)
            left, right = self._order[left], self._order[right]
            self.counts.candidates += len(left)
            if self.reference_rows:
                across = (left < self.reference_rows) != (right < self.reference_rows)
                left, right, distance = left[across], right[across], distance[across]
            if self.question.distinguish:
                agree = self.judge.agreement(left, right) >= DEFAULT_SIMILARITY
                left, right, distance = left[agree], right[agree], distance[agree]
            self.counts.add(distance, None)
            if self.sample is not None:
                self.sample.take(left, right, distance, None)
            self.judge.tick(len(left))
            yield Pairs(left, right, distance, None)

    def clusters(self, linkage: Linkage) -> Clusters:
        import numpy as np

        radius, recall = self.question.radius, self.question.recall
        assert radius is not None  # noqa: S101
        if self.question.distinguish:
            return self._verified_clusters(linkage)
        self._stage("comparing", None, "pairs")
        self.plan = asdict(pairs_plan(self._fingerprints(), radius, recall))
        places = clusters(
            self._fingerprints(), radius, linkage=linkage, recall=recall, threads=self.threads
        )
        no_signal = ~self._signal
        places[no_signal] = self._twin_places[no_signal]
        labels = np.empty(len(places), dtype=np.int64)
        labels[self._order] = self._order[places]
        return self._with_distances(labels)

    def _verified_clusters(self, linkage: Linkage) -> Clusters:
        """Link the pairs that agree in the distinguished aspects."""
        import numpy as np

        # The sample is of pairs with representatives, as without `distinguish`.
        sample, self.sample = self.sample, None
        found = gather_pairs(self.pairs(), judged=False)
        self.sample = sample
        count = len(self.twins)
        linked = link_rows(found.left, found.right, count, linkage, self._order)
        unknown = np.full(count, np.nan), np.zeros(count, dtype=np.int64)
        return self._with_distances(follow_twins(self.twins, linked.labels, *unknown).labels)

    def _with_distances(self, labels: Rows) -> Clusters:
        """Return these clusters with distances to the representatives; update the counts."""
        import numpy as np

        rows = len(labels)
        self.counts.pairs = int(np.count_nonzero(labels != np.arange(rows)))
        linked = np.flatnonzero((labels != np.arange(rows)) & self.corpus.signal)
        distance = np.zeros(rows, dtype=np.int64)
        distance[linked] = self.judge.distances(labels[linked], linked)
        histogram = np.bincount(distance[linked]) if len(linked) else np.zeros(0, dtype=np.int64)
        self.counts.distances = histogram.tolist()
        if self.sample is not None:
            self.sample.take(labels[linked], linked, distance[linked], None)
        return Clusters(labels, np.full(rows, np.nan), distance)
