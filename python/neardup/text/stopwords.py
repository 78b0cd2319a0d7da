"""Stop words: common words left out of a text, since they pull every text the same way."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from neardup._util.digest import digest
from neardup._util.lazy import lazy
from neardup._util.settings_file import read_settings

BUILT_IN = ("en", "zh")


@dataclass(frozen=True)
class Stopwords:
    """A set of words to leave out. Two are equal when their words are, whatever they are called."""

    label: str = field(compare=False)
    words: frozenset[str]

    @lazy
    def digest(self) -> str:
        """Names the words inside a recipe's identity: 16 hex digits, the same on every machine."""
        return digest(sorted(self.words))

    @classmethod
    def of(
        cls, value: Stopwords | str | os.PathLike[str] | Iterable[str] | None
    ) -> Stopwords | None:
        """Stop words from what a user may write.

        None, a `Stopwords`, built-in names joined by "+" ("en", "zh", "en+zh"), a UTF-8 file with
        a word a line, or an iterable of words.
        """
        if value is None or isinstance(value, cls):
            return value
        if isinstance(value, str):
            names = sorted(set(value.split("+")))
            if all(name in BUILT_IN for name in names):
                return cls("+".join(names), frozenset().union(*map(_built_in, names)))
            if not os.path.exists(value):
                folder = os.path.abspath(os.path.dirname(value))
                raise ValueError(
                    f"stopwords is {value!r}; it must be a built-in list ({_choices()}), "
                    "a file with a word a line, or the words themselves as a list; "
                    f"there is no such file (looked in {folder})"
                )
            return cls._of_file(Path(value))
        if isinstance(value, os.PathLike):
            return cls._of_file(Path(value))
        if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray | memoryview):
            return cls("custom", _clean(enumerate(value)))
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
        return cls(path.name, _clean(enumerate(text.split("\n"))))

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def __repr__(self) -> str:
        return f"Stopwords({self.label!r}, {len(self.words)} words)"


@functools.cache
def _built_in(name: str) -> frozenset[str]:
    text = Path(__file__).with_name("stopwords").joinpath(f"{name}.txt").read_text("utf-8")
    return _clean(enumerate(text.split("\n")))


def _clean(words: Iterable[tuple[int, str]]) -> frozenset[str]:
    kept = set()
    for index, word in words:
        if not isinstance(word, str):
            raise TypeError(
                f"stopwords[{index}] is {word!r}; a stop word must be a str, "
                f"not {type(word).__name__}"
            )
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"stopwords[{index}] is {word!r}; a stop word must not hold a lone surrogate"
            ) from None
        if word := word.strip():
            kept.add(word)
    return frozenset(kept)


def _choices() -> str:
    return ", ".join(f'"{name}"' for name in BUILT_IN) + ', or both as "en+zh"'
