"""A corpus with itself, by similarity: sketches find candidates, the judge decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from queue import SimpleQueue
from typing import TYPE_CHECKING

from neardup import _core
from neardup._util.arrow import values_of
from neardup.near.clusters import clusters
from neardup.near.corpus import Stage, Tick, Verdicts
from neardup.near.matches import Clusters, Matches, Pairs, follow_twins
from neardup.near.pairs import pairs, pairs_plan
from neardup.near.question import Linkage
from neardup.text.fingerprint import Fingerprints

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.near.corpus import Corpus, Rows
    from neardup.near.matches import Matches
    from neardup.near.question import Question


class SketchJoin(Matches):
    """Pairs whose exact cosine is at least the similarity.

    order  rows, those that are to stand for others first [default: as they come]
    first  compare rows before this one only with those from it on [default: all with all]
    """

    def __init__(
        self,
        corpus: Corpus,
        question: Question,
        *,
        order: Rows | None = None,
        first: int = 0,
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
            first=first,
            threads=threads,
        )
        self.twins = self._join.twins
        self.plan = self._join.plan

    def _judged(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Verdicts]:
        """All candidates but those of dense buckets, and the verdicts on them."""
        texts, tables = self.plan["texts"], self.plan["tables"]
        done = 0

        def told(seen: int, candidates: int) -> None:
            nonlocal done
            if seen > done:
                self._stage(f"{looked}, {candidates:,} so far", tables, "tables")
                self.judge.tick(seen - done)
                done = seen

        looked = f"finding candidates among {texts:,} texts"
        self._stage(looked, tables or None, "tables")
        later, earlier = self._candidates(told)
        told(tables, len(later))
        self.counts.candidates += len(later)
        self._stage("comparing", len(later), "pairs")
        verdicts = self._verdicts(later, earlier)
        self.counts.verified += len(later)
        self.counts.edge = self._join.at_the_edge(verdicts.similarity)
        dense = self.plan["dense"] = self._join.dense
        if self.sample is not None:
            self.sample.take(earlier, later, verdicts.distance, verdicts.similarity)
        if dense:
            alike = f"comparing {len(dense):,} groups of many alike, up to {max(dense):,} texts"
            self._stage(alike, None, "pairs")
        return later, earlier, verdicts

    def _candidates(
        self, told: Callable[[int, int], object]
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Rows later and earlier in order; those that share texts lie side by side."""
        return self._join.candidates(self.threads, told)

    def _verdicts(self, later: NDArray[np.uint32], earlier: NDArray[np.uint32]) -> Verdicts:
        return self.judge.verdicts(later, earlier)

    def _near(self, verdicts: Verdicts) -> NDArray[np.bool_]:
        near: NDArray[np.bool_] = verdicts.similarity >= (self.question.similarity or 0.0)
        return near

    def pairs(self) -> Iterator[Pairs]:
        import numpy as np

        later, earlier, verdicts = self._judged()
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
        """The core calls back with some pairs at a time, on a thread of its own."""
        import threading

        import numpy as np

        if not self._join.dense:
            return
        batches: SimpleQueue[Pairs | BaseException | None] = SimpleQueue()
        room = threading.Semaphore(4)
        stopped = threading.Event()

        def take(
            later: NDArray[np.uint32],
            earlier: NDArray[np.uint32],
            similarity: NDArray[np.float64],
            distance: NDArray[np.uint16],
        ) -> None:
            while len(later) and not stopped.is_set() and not room.acquire(timeout=0.1):
                pass
            if stopped.is_set():
                raise InterruptedError
            if len(later):
                left, right = earlier.astype(np.int64), later.astype(np.int64)
                batches.put(Pairs(left, right, distance, similarity))

        def work() -> None:
            try:
                pipeline = self.corpus.recipe.pipeline
                self._join.dense_pairs(pipeline, self.corpus.texts, take, self.threads)
                batches.put(None)
            except BaseException as error:
                batches.put(error)

        thread = threading.Thread(target=work, name="neardup-dense", daemon=True)
        thread.start()
        try:
            while (batch := batches.get()) is not None:
                if isinstance(batch, BaseException):
                    raise batch
                room.release()
                self.counts.candidates += len(batch.left)
                self.counts.verified += len(batch.left)
                self.counts.add(batch.distance, batch.similarity)
                if self.sample is not None:
                    self.sample.take(batch.left, batch.right, batch.distance, batch.similarity)
                self.judge.tick(len(batch.left))
                yield batch
        finally:
            stopped.set()
            thread.join()

    def clusters(self, linkage: Linkage) -> Clusters:
        import numpy as np

        later, earlier, verdicts = self._judged()
        near = self._near(verdicts)
        self.counts.add(verdicts.distance[near], verdicts.similarity[near])
        told = later[near].astype(np.int64) << 32 | earlier[near]
        del later, earlier, near
        row, kept, similarity, distance = self._join.clusters(
            linkage,
            verdicts.similarity,
            verdicts.distance,
            self.corpus.recipe.pipeline,
            self.corpus.texts,
            self.threads,
        )
        # Of dense buckets only those pairs were looked at that link something.
        new = ~np.isnan(similarity) & ~np.isin(row.astype(np.int64) << 32 | kept, told)
        self.counts.candidates += int(new.sum())
        self.counts.verified += int(new.sum())
        self.counts.add(distance[new], similarity[new])
        if self.sample is not None:
            self.sample.take(kept[new], row[new], distance[new], similarity[new])
        if self.plan["dense"]:
            # Every linked row is in at least one pair.
            self.counts.pairs = max(self.counts.pairs, len(row))
        labels = np.arange(len(self.twins))
        labels[row] = kept
        found, apart = np.full(len(labels), np.nan), np.zeros(len(labels), dtype=np.int64)
        found[row], apart[row] = similarity, distance
        return follow_twins(self.twins, labels, found, apart)


# A corpus with itself, by radius: fingerprints that differ in a few bits, and nothing else.

# Bytes at the end of a sketch by which equal texts are known.
DIGEST = 16


class RadiusJoin(Matches):
    """Pairs whose fingerprints differ in at most `radius` bits; arguments as of `SketchJoin`."""

    def __init__(
        self,
        corpus: Corpus,
        question: Question,
        *,
        order: Rows | None = None,
        first: int = 0,
        threads: int | None = None,
        tick: Tick | None = None,
        stage: Stage | None = None,
    ) -> None:
        import numpy as np

        super().__init__(corpus, question, threads=threads, tick=tick, stage=stage)
        assert corpus.values is not None  # noqa: S101
        self.first = first
        rows = len(corpus.signal)
        # Where it stands in order → its row; the kernels take rows as they come.
        self._order = np.arange(rows) if order is None else order
        self._values = corpus.values if order is None else corpus.values[order]
        self._signal = corpus.signal if order is None else corpus.signal[order]
        # In the order of rows they are read in: a place in order, or a row.
        self._labels = clusters(self._fingerprints(), 0, threads=threads)
        self._equal_texts()
        self.twins = np.empty(rows, dtype=np.int64)
        self.twins[self._order] = self._order[self._labels]
        self.plan = {}

    def _fingerprints(self) -> Fingerprints:
        return Fingerprints(self._values, self._signal, self.corpus.recipe)

    def _equal_texts(self) -> None:
        """Makes equal texts without a signal twins, by the digest that the core gives them."""
        import numpy as np
        import pyarrow as pa

        from neardup._util.arrow import chunks

        places = np.flatnonzero(~self._signal)
        first: dict[bytes, int] = {}
        # Some at a time: all of a corpus may be such.
        for start in range(0, len(places), 1 << 14):
            part = places[start : start + (1 << 14)].tolist()
            texts = [self.corpus.texts.get(int(self._order[place])) for place in part]
            column = pa.chunked_array([pa.array(texts, pa.large_string())])
            _, sketches = self.corpus.recipe.pipeline.sketches_arrow(chunks(column), self.threads)
            for place, sketch in zip(part, sketches, strict=True):
                digest = sketch[_core.SKETCH_BYTES - DIGEST :].tobytes()
                if any(digest):
                    self._labels[place] = first.setdefault(digest, place)

    def pairs(self) -> Iterator[Pairs]:
        import numpy as np

        assert self.question.radius is not None  # noqa: S101
        self._stage("comparing", None, "pairs")
        if self.first >= len(self._labels):
            return
        alone = self._labels == np.arange(len(self._labels))
        units = Fingerprints(self._values, self._signal & alone, self.corpus.recipe)
        reader = pairs(
            units, self.question.radius, self.question.recall, stream=True, threads=self.threads
        )
        self.plan = json.loads(reader.schema.metadata[b"neardup"])
        for batch in reader:
            left, right, distance = map(values_of, batch.columns)
            left, right = self._order[left], self._order[right]
            self.counts.candidates += len(left)
            if self.first:
                across = (left < self.first) != (right < self.first)
                left, right, distance = left[across], right[across], distance[across]
            self.counts.add(distance, None)
            if self.sample is not None:
                self.sample.take(left, right, distance, None)
            self.judge.tick(len(left))
            yield Pairs(left, right, distance, None)

    def clusters(self, linkage: Linkage) -> Clusters:
        import numpy as np

        assert self.question.radius is not None  # noqa: S101
        self._stage("comparing", None, "pairs")
        asked = self.question.radius, self.question.recall
        self.plan = asdict(pairs_plan(self._fingerprints(), *asked))
        places = clusters(
            self._fingerprints(), asked[0], linkage=linkage, recall=asked[1], threads=self.threads
        )
        silent = ~self._signal
        places[silent] = self._labels[silent]
        rows = len(places)
        labels = np.empty(rows, dtype=np.int64)
        labels[self._order] = self._order[places]
        return self._told(labels)

    def _told(self, labels: Rows) -> Clusters:
        """These clusters, with the distances of rows to those that stand for them; counted."""
        import numpy as np

        rows = len(labels)
        self.counts.pairs = int(np.count_nonzero(labels != np.arange(rows)))
        linked = np.flatnonzero((labels != np.arange(rows)) & self.corpus.signal)
        distance = np.zeros(rows, dtype=np.int64)
        distance[linked] = self.judge.distances(labels[linked], linked)
        found = np.bincount(distance[linked]) if len(linked) else np.zeros(0, dtype=np.int64)
        self.counts.distances = found.tolist()
        if self.sample is not None:
            self.sample.take(labels[linked], linked, distance[linked], None)
        return Clusters(labels, np.full(rows, np.nan), distance)


# On this machine: all cores; texts are read again only when they are judged.


class Local:
    """The engine that needs nothing but this process."""

    session = None

    def opened(self, note: Callable[[str], object] | None = None) -> AbstractContextManager[None]:
        return nullcontext()

    def match(
        self,
        corpus: Corpus,
        question: Question,
        *,
        order: NDArray[np.int64] | None = None,
        first: int = 0,
        threads: int | None = None,
        tick: Callable[[int], object] | None = None,
        stage: Callable[[str, int | None, str], object] | None = None,
    ) -> Matches:
        kind = RadiusJoin if question.similarity is None else SketchJoin
        return kind(
            corpus,
            question,
            order=order,
            first=first,
            threads=threads,
            tick=tick,
            stage=stage,
        )
