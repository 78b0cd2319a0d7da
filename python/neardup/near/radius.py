"""A corpus with itself, by radius: fingerprints that differ in a few bits, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from neardup import _core
from neardup._util.arrow import values_of
from neardup.near.clusters import Linkage, clusters
from neardup.near.judge import Stage, Tick
from neardup.near.matches import Clusters, Matches, Pairs
from neardup.near.pairs import pairs, pairs_plan
from neardup.text.fingerprint import Fingerprints

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup.near.corpus import Corpus
    from neardup.near.question import Question

    Rows = NDArray[np.int64]


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
