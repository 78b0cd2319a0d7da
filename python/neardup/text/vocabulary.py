"""Word lists of recipes: stop words, and document frequencies for tf-idf weights."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from neardup._util.lazy import lazy
from neardup._util.numbers import check_int, is_int
from neardup._util.settings_file import read_settings
from neardup._util.strings import check_unicode, json_digest

BUILTIN_LISTS = ("en", "zh")


@dataclass(frozen=True)
class Stopwords:
    """A set of words to ignore. `label` is for display; two sets with equal words are equal."""

    label: str = field(compare=False)
    words: frozenset[str]

    @lazy
    def digest(self) -> str:
        """Digest of the words, 16 hex digits; part of a recipe's identity."""
        return json_digest(sorted(self.words))

    @classmethod
    def of(
        cls, value: Stopwords | str | os.PathLike[str] | Iterable[str] | None
    ) -> Stopwords | None:
        """Return stop words from any form a user may pass.

        None, a `Stopwords`, built-in names joined by "+" ("en", "zh", "en+zh"), a UTF-8 file with
        a word a line, or an iterable of words.
        """
        if value is None or isinstance(value, cls):
            return value
        if isinstance(value, str):
            names = sorted(set(value.split("+")))
            if all(name in BUILTIN_LISTS for name in names):
                return cls("+".join(names), frozenset().union(*map(_builtin_words, names)))
            if not os.path.exists(value):
                folder = os.path.abspath(os.path.dirname(value))
                raise ValueError(
                    f"stopwords is {value!r}; it must be a built-in list ({_choices()}), "
                    "a file with a word a line, or a list of words; "
                    f"there is no such file in {folder}"
                )
            return cls._of_file(Path(value))
        if isinstance(value, os.PathLike):
            return cls._of_file(Path(value))
        if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray | memoryview):
            return cls("custom", _word_set(enumerate(value)))
        raise TypeError(
            f"stopwords is of type {type(value).__name__}; it must be a built-in list "
            f"({_choices()}), a path, or an iterable of words"
        )

    @classmethod
    def _of_file(cls, path: Path) -> Stopwords:
        try:
            text = read_settings(path, "stopwords").decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise ValueError(
                f"stopwords is {str(path)!r}, and line {line} of it is not UTF-8; save it as UTF-8"
            ) from None
        except OSError as error:
            raise ValueError(
                f"stopwords is {str(path)!r}, which cannot be read ({error.strerror}); "
                f"it must be a file with a word a line, or a built-in list ({_choices()})"
            ) from error
        return cls(path.name, _word_set(enumerate(text.split("\n"))))

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def __repr__(self) -> str:
        return f"Stopwords({self.label!r}, {len(self.words)} words)"


@functools.cache
def _builtin_words(name: str) -> frozenset[str]:
    text = Path(__file__).with_name("stopwords").joinpath(f"{name}.txt").read_text("utf-8")
    return _word_set(enumerate(text.split("\n")))


def _word_set(words: Iterable[tuple[int, str]]) -> frozenset[str]:
    unique = set()
    for index, word in words:
        if not isinstance(word, str):
            raise TypeError(
                f"stopwords[{index}] is {word!r}; a stop word must be a str, "
                f"not {type(word).__name__}"
            )
        if word := check_unicode(word, f"stopwords[{index}]").strip():
            unique.add(word)
    return frozenset(unique)


def _choices() -> str:
    return ", ".join(f'"{name}"' for name in BUILTIN_LISTS) + ', or both as "en+zh"'


@dataclass(frozen=True)
class Idf:
    """Document frequencies that a tf-idf recipe was fitted on: number of texts with each token.

    The weight of a token is tf · (1 + ln((1 + documents) / (1 + documents with the token))).
    """

    documents: int
    counts: Mapping[str, int]

    def __post_init__(self) -> None:
        documents = check_int("documents of idf", self.documents, 1, 2**48)
        if not isinstance(self.counts, Mapping):
            raise TypeError(f"counts of idf is {self.counts!r}; it must map tokens to numbers")
        has_numpy_ints = False
        for token, count in self.counts.items():
            if not isinstance(token, str):
                raise TypeError(f"counts of idf has the token {token!r}; a token must be a str")
            if not token.isascii():
                check_unicode(token, f"counts of idf: the token {token!r}")
            # A count above `documents` would make the weight negative.
            if not is_int(count) or not 0 <= count.__index__() <= documents:
                raise ValueError(
                    f"counts of idf has {count!r} for {token!r}; "
                    f"it must be a whole number from 0 to documents, {documents}"
                )
            has_numpy_ints = has_numpy_ints or type(count) is not int
        object.__setattr__(self, "documents", documents)
        if has_numpy_ints:
            # The digest is computed from JSON, which has no NumPy integers.
            plain = {token: count.__index__() for token, count in self.counts.items()}
            object.__setattr__(self, "counts", plain)

    @lazy
    def digest(self) -> str:
        return json_digest([self.documents, sorted(self.counts.items())])

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Idf(documents={self.documents}, tokens={len(self.counts)})"
