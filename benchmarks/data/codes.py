"""Millions of fingerprints with planted neighbours: uniform ones, and ones of real texts.

Made once per run and saved as .npy files, so that processes can share them.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import neardup as nd
from measure import note

Array = NDArray[np.uint64]

SOURCES = ("newsgroups", "reuters")
# Shorter lines (quoting marks, signatures) repeat too often.
FEWEST_WORDS = 5
# Lines of a text: as long as a short post, with bits as uneven, so that unrelated texts agree on 16
# bits twice as often as by chance. Four lines would flatter the engine.
LINES = 12
# Texts joined and fingerprinted at a time: about 50 MB.
CHUNK = 1 << 16
# The share of codes that have a planted neighbour.
PLANTED = 0.1
# Two texts of this cosine differ in each bit with probability FLIPPED.
COSINE = 0.9
FLIPPED = math.acos(COSINE) / math.pi


@dataclass
class Codes:
    """Source and cache of codes.

    data    folder of the corpora; without it there are uniform codes only
    folder  output folder
    """

    data: Path | None
    folder: Path

    @property
    def kinds(self) -> list[str]:
        real = self.data and all((self.data / f"{name}.jsonl.gz").exists() for name in SOURCES)
        return ["uniform", "real"] if real else ["uniform"]

    def sources(self) -> list[str]:
        """Describe the kinds of codes."""
        real = f"those of texts made of {LINES} random lines of {' and '.join(SOURCES)}"
        return ["uniform ones", real][: len(self.kinds)]

    @staticmethod
    def name(kind: str, count: int) -> str:
        """Name some codes in the report."""
        of = {"uniform": "uniform codes", "real": "codes of real texts"}[kind]
        digits = len(str(count)) - 1
        return f"1e{digits} {of}" if count == 10**digits and digits > 3 else f"{count:,} {of}"

    def plain(self, kind: str, bits: int, count: int) -> Path:
        """Return the file of codes without planted neighbours."""
        path = self.folder / f"{kind}-{bits}-{count}.npy"
        if not path.exists():
            note(f"making {count:,} {kind} codes of {bits} bits")
            np.save(path, self._make(kind, bits, count, seed=4))
        return path

    def near(self, kind: str, bits: int, count: int, most: int = 3) -> Path:
        """Return the file of codes of which a tenth are others with up to `most` bits flipped."""
        path = self.folder / f"{kind}-{bits}-{count}-near{most}.npy"
        if not path.exists():
            codes = np.load(self.plain(kind, bits, count))
            rng = np.random.default_rng(5)
            copies, originals = _partners(rng, count)
            codes[copies] = flip_some(rng, codes[originals], bits, most)
            np.save(path, codes)
        return path

    def planted(self, kind: str, bits: int, count: int) -> tuple[Path, Path]:
        """Return codes of which a tenth are copies at COSINE, and each row's partner or -1."""
        path = self.folder / f"{kind}-{bits}-{count}-cosine.npy"
        partners = path.with_suffix(".partners.npy")
        if not path.exists():
            codes = np.load(self.plain(kind, bits, count))
            rng = np.random.default_rng(6)
            copies, originals = _partners(rng, count)
            codes[copies] = codes[originals] ^ _random_flips(rng, len(copies), bits)
            partner = np.full(count, -1, dtype=np.int64)
            partner[copies], partner[originals] = originals, copies
            np.save(path, codes)
            np.save(partners, partner)
        return path, partners

    def queries(self, kind: str, bits: int, count: int, stored: Array) -> Array:
        """Return queries: half are new codes, half are within three bits of stored ones."""
        made = self._make(kind, bits, count, seed=7)
        rng = np.random.default_rng(8)
        half = count // 2
        chosen = rng.integers(0, len(stored), half)
        made[:half] = flip_some(rng, stored[chosen], bits, 3)
        rng.shuffle(made)
        return made

    def _make(self, kind: str, bits: int, count: int, seed: int) -> Array:
        rng = np.random.default_rng(seed)
        if kind == "uniform":
            return rng.integers(0, 2**64, (count, bits // 64), dtype=np.uint64)
        recipe = nd.Recipe(bits=bits)
        made = np.empty((count, bits // 64), dtype=np.uint64)
        for start in range(0, count, CHUNK):
            size = min(CHUNK, count - start)
            found = nd.fingerprints(self._texts(rng, size), recipe)
            assert found.signal.all()
            made[start : start + size] = found.values
        return made

    def _texts(self, rng: np.random.Generator, count: int) -> pa.Array:
        chosen = rng.integers(0, len(self._lines), (LINES, count))
        columns = [self._lines.take(pa.array(places)) for places in chosen]
        return pc.binary_join_element_wise(*columns, "\n")

    @cached_property
    def _lines(self) -> pa.Array:
        assert self.data
        # A dict drops repeated lines.
        return pa.array(list(dict.fromkeys(long_lines(self.data))))


def flip_some(rng: np.random.Generator, codes: Array, bits: int, most: int) -> Array:
    """Flip one to `most` random bits of each code; a bit drawn twice is flipped back."""
    flipped = codes.copy()
    rows = np.arange(len(codes))
    times = rng.integers(1, most + 1, len(codes))
    for turn in range(most):
        place = rng.integers(0, bits, len(codes))
        bit = np.where(turn < times, np.uint64(1), np.uint64(0)) << (place % 64).astype(np.uint64)
        flipped[rows, place // 64] ^= bit
    return flipped


def _partners(rng: np.random.Generator, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    chosen = rng.permutation(count)[: 2 * int(count * PLANTED)]
    return chosen[::2], chosen[1::2]


def _random_flips(rng: np.random.Generator, count: int, bits: int) -> Array:
    """Return rows whose bits are set with probability FLIPPED."""
    made = np.empty((count, bits // 64), dtype=np.uint64)
    for start in range(0, count, CHUNK):
        rows = made[start : start + CHUNK]
        flips = rng.random((len(rows), bits), dtype=np.float32) < FLIPPED
        rows[:] = np.packbits(flips, axis=1, bitorder="little").view("<u8")
    return made


def long_lines(data: Path) -> Iterator[str]:
    """Yield the lines of the corpora with at least FEWEST_WORDS words, repeats included."""
    for source in SOURCES:
        with gzip.open(data / f"{source}.jsonl.gz", "rt", encoding="utf-8") as texts:
            for text in texts:
                for line in json.loads(text)["text"].splitlines():
                    if len(line.split()) >= FEWEST_WORDS:
                        yield line.strip()
