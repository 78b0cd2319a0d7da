"""Formulas of the older libraries that presets reproduce.

Each is written straight from the original and knows no `Recipe`, so a preset is never compared with
itself.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, cast

import jieba
import jieba.analyse

from reference import fingerprint
from reference.fingerprint import python_hash


@functools.cache
def _extractor() -> Any:
    return jieba.analyse.TFIDF()


def jieba_tfidf(text: str, stopwords: Iterable[str] = ()) -> str:
    """Top-20 jieba keywords, int(weight * 20), python-style hash: 64 digits, or "00"."""
    extractor = _extractor()
    extractor.stop_words = extractor.STOP_WORDS | set(stopwords)
    keywords = extractor.extract_tags("|".join(jieba.cut(text)), topK=20, withWeight=True)
    if not keywords:
        return "00"
    columns = [0] * 64
    for word, weight in keywords:
        digits = f"{python_hash(word, 128):b}".zfill(64)[-64:]
        for i, digit in enumerate(digits):
            columns[i] += int(weight * 20) * (1 if digit == "1" else -1)
    return "".join("1" if total > 0 else "0" for total in columns)


def weighted_tokens(tokens: Sequence[Any], bits: int = 128) -> int:
    """Tokens or (token, weight) with weights as int or str; a tie is a one."""
    columns = [0] * bits
    for item in tokens:
        token, weight = (item, 1) if isinstance(item, str) else (item[0], int(item[1]))
        value = python_hash(token, bits)
        for i in range(bits):
            columns[i] += weight if value >> i & 1 else -weight
    return sum(1 << i for i in range(bits) if columns[i] >= 0)


def characters(text: str, bit_len: int = 64) -> str:
    """Characters by their share of the text; the first digits of md5, most significant first."""
    counts = Counter(text)
    columns = [0.0] * bit_len
    for char, count in counts.items():
        weight = count / len(text)
        digits = f"{int(hashlib.md5(char.encode()).hexdigest(), 16):0128b}"[:bit_len]
        for i, digit in enumerate(digits):
            columns[i] += weight if digit == "1" else -weight
    return "".join("1" if total > 0 else "0" for total in columns)


def lookup3(features: Iterable[tuple[str, float]]) -> int:
    """Weighted features, lookup3 with the second word on top."""
    return _signed_sum([(fingerprint.lookup3(token, 64), w) for token, w in features])


def lookup3_yanyiwu(features: Iterable[tuple[str, float]]) -> int:
    """Weighted features, lookup3 with the first word on top."""
    return _signed_sum(
        [(fingerprint.lookup3_yanyiwu(token, 64), weight) for token, weight in features]
    )


def _signed_sum(hashed: Sequence[tuple[int, float]]) -> int:
    columns = [0.0] * 64
    for value, weight in hashed:
        for i in range(64):
            columns[i] += weight if value >> i & 1 else -weight
    return sum(1 << i for i in range(64) if columns[i] > 0)


def simhash_1e0ng(features: Iterable[tuple[str, float]], bits: int = 64) -> int:
    """Weighted features, the last bits of md5; a one needs more than half of all weight."""
    columns = [0.0] * bits
    total = 0.0
    for token, weight in features:
        value = int(hashlib.md5(token.encode()).hexdigest(), 16)
        total += weight
        for i in range(bits):
            if value >> i & 1:
                columns[i] += weight
    return sum(1 << i for i in range(bits) if columns[i] > total / 2)


def simhash_1e0ng_text(text: str, bits: int = 64) -> int:
    """Letters and digits in lower case, windows of four characters, counted."""
    letters = "".join(re.findall(r"[\w\u4e00-\u9fcc]+", text.lower()))
    windows = [letters[i : i + 4] for i in range(max(len(letters) - 3, 1))]
    return simhash_1e0ng(cast(Iterable[tuple[str, float]], Counter(windows).items()), bits)
