"""JSONL files of any size with planted near-duplicates, identical in every run.

The id says what a record is: "d17" is an original, "c5-17" a copy of it with 5 % of the words
changed, as is "c5-17-20" where an original may have several. Copies come after their originals.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate, islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from data import corpora
from data.codes import SOURCES, long_lines
from measure import note

# Lines of a text, and words of a generated line.
LINES = (5, 50)
LINE_WORDS = 11
# Share of records that are copies of one of the last RECENT originals.
COPIES = 0.1
RECENT = 5000
# Percent of words replaced: in copies of the large file, and in copies for the peers.
CHANGED = 4
EDITS = (2, 5, 10)
# Words of a short record. A copy has one replaced: a cosine of about 11/12.
SHORT_WORDS = 12
VOCABULARY = 30_000
CHUNK = 1 << 16
MADE_UP = 20_000


class Records:
    """Generator of record files.

    data    folder of the corpora; without it lines are generated
    folder  output folder
    quick   fewer generated lines
    """

    def __init__(self, data: Path | None, folder: Path, *, quick: bool) -> None:
        self.data = data
        self.folder = folder
        self.quick = quick

    @property
    def source(self) -> str:
        """Describe the source of texts."""
        return f"lines of {' and '.join(SOURCES)}" if self._real else "generated lines"

    @property
    def corpora(self) -> list[Path]:
        """Return all .jsonl.gz files of the data folder."""
        return sorted(self.data.glob("*.jsonl.gz")) if self.data else []

    def texts(self, size: int) -> Path:
        """Write about `size` bytes of texts of 5 to 50 lines, a tenth of them copies."""
        return self._write(f"texts-{size}.jsonl", self._texts(size))

    def edited(self, count: int) -> Path:
        """Write `count` texts; a tenth are copies, edited at the rates of EDITS in turn."""
        return self._write(f"edited-{count}.jsonl", self._edited(count))

    def short(self, count: int) -> Path:
        """Write `count` records of a dozen words, a tenth of them copies."""
        return self._write(f"short-{count}.jsonl", _short(count))

    def _write(self, name: str, parts: Iterator[bytes]) -> Path:
        path = self.folder / name
        if not path.exists():
            note(f"making {name}")
            with path.open("wb", buffering=1 << 20) as file:
                file.writelines(parts)
        return path

    @property
    def _real(self) -> bool:
        data = self.data
        return data is not None and all((data / f"{x}.jsonl.gz").exists() for x in SOURCES)

    @cached_property
    def _lines(self) -> list[bytes]:
        """Return lines escaped for JSON, so that texts need no further escaping."""
        if self.data and self._real:
            lines = long_lines(self.data)
        else:
            lines = _cut(corpora.english(None, MADE_UP // 5 if self.quick else MADE_UP))
        different = dict.fromkeys(lines)
        return [json.dumps(line, ensure_ascii=False)[1:-1].encode() for line in different]

    def _new_texts(self, seed: int) -> Iterator[bytes]:
        """Yield texts endlessly, drawn by NumPy in thousands, since a file may have a gigabyte."""
        draws = np.random.default_rng(seed)
        lines = self._lines
        while True:
            sizes = draws.integers(*LINES, size=1000, endpoint=True).tolist()
            numbers = iter(draws.integers(0, len(lines), sum(sizes)).tolist())
            for size in sizes:
                # The space keeps words apart for peers that split at spaces only.
                yield b" \\n".join([lines[number] for number in islice(numbers, size)])

    def _texts(self, size: int) -> Iterator[bytes]:
        rng = random.Random(11)
        new = self._new_texts(11)
        recent: list[tuple[int, bytes]] = []
        written = number = 0
        while written < size:
            if recent and rng.random() < COPIES:
                original, text = rng.choice(recent)
                name = b"c%d-%d-%d" % (CHANGED, original, number)
                text = _replace(text, self._lines, rng)
            else:
                text, name = next(new), b"d%d" % number
                if len(recent) < RECENT:
                    recent.append((number, text))
                else:
                    recent[number % RECENT] = number, text
            line = b'{"id": "%s", "text": "%s", "n": %d}\n' % (name, text, number)
            written += len(line)
            number += 1
            yield line

    def _edited(self, count: int) -> Iterator[bytes]:
        rng = random.Random(12)
        originals = islice(self._new_texts(12), count - int(count * COPIES))
        texts = [json.loads(b'"%s"' % text) for text in originals]
        foreign = [corpora.UNIT.findall(text) for text in texts[:500]]
        # One copy per original, so that chaining copies is no advantage.
        chosen = rng.sample(range(len(texts)), count - len(texts))
        for number, text in enumerate(texts):
            yield _line(f"d{number}", text)
        for at, number in enumerate(chosen):
            percent = EDITS[at % len(EDITS)]
            copy = corpora.edit(texts[number], percent / 100, foreign, rng)
            yield _line(f"c{percent}-{number}", copy)


def planted(name: str) -> tuple[int, str] | None:
    """Return the percent of changed words and the original's id, or None for an original."""
    if not name.startswith("c"):
        return None
    percent, original, *_ = name[1:].split("-")
    return int(percent), f"d{original}"


def _line(name: str, text: str) -> bytes:
    return json.dumps({"id": name, "text": text}, ensure_ascii=False).encode() + b"\n"


def _cut(texts: list[str]) -> Iterator[str]:
    for text in texts:
        words = text.split()
        for start in range(0, len(words) - LINE_WORDS, LINE_WORDS):
            yield " ".join(words[start : start + LINE_WORDS])


def _replace(text: bytes, lines: list[bytes], rng: random.Random) -> bytes:
    words = text.split(b" ")
    for _ in range(max(1, len(words) * CHANGED // 100)):
        words[rng.randrange(len(words))] = rng.choice(lines).partition(b" ")[0]
    return b" ".join(words)


def _short(count: int) -> Iterator[bytes]:
    """Yield short records, assembled in NumPy and Arrow, since there may be ten million."""
    draws = np.random.default_rng(13)
    draw, words = _zipf(draws)
    for start in range(0, count, CHUNK):
        rows = draw((min(CHUNK, count - start), SHORT_WORDS))
        # The last tenth of each chunk are copies of records before it.
        copies = int(len(rows) * COPIES)
        first = len(rows) - copies
        originals = draws.permutation(first)[:copies]
        rows[first:] = rows[originals]
        rows[np.arange(first, len(rows)), draws.integers(0, SHORT_WORDS, copies)] = draw((copies,))
        numbers = pa.array(np.arange(start, start + len(rows))).cast(pa.string())
        sources = pa.array(start + originals).cast(pa.string())
        ids = pa.concat_arrays(
            [
                pc.binary_join_element_wise("d", numbers[:first], ""),
                pc.binary_join_element_wise("c8", sources, numbers[first:], "-"),
            ]
        )
        yield _short_lines(ids, words, rows)


def _short_lines(ids: pa.Array, words: pa.Array, rows: NDArray[np.int64]) -> bytes:
    starts = np.arange(0, rows.size + 1, SHORT_WORDS, dtype=np.int32)
    lists = pa.ListArray.from_arrays(starts, words.take(pa.array(rows.ravel())))
    texts = pc.binary_join(lists, " ")
    lines = pc.binary_join_element_wise('{"id": "', ids, '", "text": "', texts, '"}\n', "")
    # The data buffer of a string array holds all lines in order.
    joined: bytes = lines.buffers()[2].to_pybytes()
    return joined


def _zipf(
    draws: np.random.Generator,
) -> tuple[Callable[[tuple[int, ...]], NDArray[np.int64]], pa.Array]:
    """Return a sampler of word numbers by Zipf's law, and the words; frequent ones are short."""
    rng = random.Random(14)
    sizes = (min(12, 2 + int(rank**0.2 + rng.random() * 2)) for rank in range(VOCABULARY))
    words = ["".join(rng.choices("etaoinshrdlucmfwyp", k=size)) for size in sizes]
    heights = np.array(list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY))))
    heights /= heights[-1]

    def draw(shape: tuple[int, ...]) -> NDArray[np.int64]:
        return np.searchsorted(heights, draws.random(shape), side="right").clip(max=VOCABULARY - 1)

    return draw, pa.array(words)
