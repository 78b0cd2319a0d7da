"""Recipes: the settings that turn a text into a fingerprint, and their identity."""

from __future__ import annotations

import copy
import dataclasses
import functools
import json
import os
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, cast, get_args

from neardup import _core
from neardup._util.arrow import as_column, is_arrow
from neardup._util.lazy import FORK_LOCK, lazy
from neardup._util.numbers import as_float, check_int, check_threads, is_real
from neardup._util.settings_file import read_settings
from neardup._util.strings import check_unicode, json_digest
from neardup.text.differences import Aspect, negation_words
from neardup.text.presets import HTTP_VIEWS, PRESETS
from neardup.text.views import Viewing, ViewWeights, check_masks
from neardup.text.vocabulary import Idf, Stopwords

Version = Literal[2, 3]
Normalize = Literal["standard", "fold", "nfkc_casefold", "nfkc", "casefold", "lower", "none"]
Tokens = Literal[
    "words", "chars", "jieba", "jieba-keywords", "whitespace", "lines", "regex", "http"
]
Weights = Literal["log", "log-length", "tf", "binary", "frequency", "tfidf", "shares"]
Hash = Literal["xxh3", "md5", "md5-first", "python", "lookup3", "lookup3-yanyiwu"]
Tie = Literal["mask", "zero", "one"]
Votes = Literal["exact", "signed-float", "half-float"]
HashFunction = Callable[[str], int | bytes]

# Part of every identity: increase it with any change that alters fingerprints.
VERSION: Version = 3
VERSIONS: tuple[int, ...] = get_args(Version)
MIN_BITS, MAX_BITS = 8, 512
_MAX_HASH_BITS = {"md5": 128, "md5-first": 128, "lookup3": 64, "lookup3-yanyiwu": 64}
MAX_NGRAM = 1000
MAX_SCALE = 1e9


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The settings that turn a text into a fingerprint.

    version       3, or 2 for fingerprints made before version 3: what "words" and "log-length" mean
    normalize     "standard", the default of version 3: Unicode compatibility form and case folding,
                  invisible characters dropped; optional marks (Arabic, Hebrew, Greek, Cyrillic),
                  digits of any script, traditional characters, spaces between Han characters and
                  HTML entities make no difference; "fold": nor do accents and spellings of Arabic
                  letters; "nfkc_casefold", the default of version 2; "nfkc"; "casefold"; "lower";
                  "none"
    tokens        "words": Unicode words; words and pairs of syllables (Korean); where a script has
                  no spaces, characters and pairs (Han, Kana) or windows of two and of six letters
                  (Thai, Lao, Tibetan, Burmese, Khmer);
                  "chars"; "jieba"; "jieba-keywords"; "whitespace"; "lines"; "regex";
                  "http": lines of a view of an HTTP response, made by `neardup.http`
    ngram         number of neighbouring tokens joined to one
    pattern       regular expression that matches a token, for "regex", or the parts of a text to
                  keep, for "chars"
    dictionary    jieba user dictionary: a file, or lines of "word [frequency [tag]]"
    stopwords     "en", "zh", "en+zh", a file with a word a line, or an iterable of words
    weights       "log" = 1 + ln tf, in sixteenths; "log-length": the same, less for words short of
                  five letters, which are the common ones, unless the text itself is short, and for
                  the parts of Korean and of scripts without spaces; more for numbers in texts of
                  some dozen words; "tf"; "binary";
                  "frequency" = tf / all tokens; "tfidf" with `idf`; "shares" with tokens "http":
                  "log-length" within each view, then each view scaled to its weight in `views`
    idf           "jieba", or document frequencies learned by `Recipe.fit`
    top           number of heaviest features to keep [default: all]
    scale         factor: weights become int(weight · scale)
    hash          "xxh3", "md5" (last bytes), "md5-first", "python", "lookup3", "lookup3-yanyiwu",
                  or a function from token to int or bytes
    bits          width of the fingerprint, a multiple of 8 from 8 to 512
    tie           bit of a column whose votes sum to 0: "mask" (even bits 1, odd bits 0),
                  "zero", "one"
    votes         "exact": integer sums, in any order; "signed-float" and "half-float" reproduce
                  the floating-point sums of older libraries
    min_features  minimum number of distinct features; a text with fewer has no fingerprint
    views         weights of the parts of a response: status, headers, title, tags, keys, text and
                  body; only with tokens "http"
    masks         names of the rules that mask volatile parts of a response [default: all]; only
                  with tokens "http"
    """

    version: Version = VERSION
    normalize: Normalize | None = None
    tokens: Tokens = "words"
    ngram: int = 1
    pattern: str | None = None
    dictionary: str | os.PathLike[str] | Iterable[str] | None = None
    stopwords: Stopwords | str | os.PathLike[str] | Iterable[str] | None = None
    weights: Weights = "log-length"
    idf: Idf | Literal["jieba"] | None = None
    top: int | None = None
    scale: float | None = None
    hash: Hash | HashFunction = "xxh3"
    bits: int = 128
    tie: Tie = "mask"
    votes: Votes = "exact"
    min_features: int = 2
    views: Mapping[str, float] | None = None
    masks: Iterable[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "version", check_int("version", self.version, 2, VERSION))
        if self.normalize is None:
            default = "nfkc_casefold" if self.version == 2 else "standard"
            object.__setattr__(self, "normalize", default)
        stopwords = Stopwords.of(self.stopwords)
        object.__setattr__(self, "stopwords", stopwords if stopwords and stopwords.words else None)
        object.__setattr__(self, "dictionary", _dictionary_lines(self.dictionary))
        for name, kind in _CHOICES.items():
            value = getattr(self, name)
            if not (name == "hash" and callable(value)) and value not in get_args(kind):
                raise ValueError(
                    f"{name} is {value!r}; it must be one of {', '.join(get_args(kind))}"
                    + (", or a function of the token" if name == "hash" else "")
                )
        for name, (minimum, maximum) in _INT_LIMITS.items():
            value = getattr(self, name)
            if name != "top" or value is not None:
                # NumPy numbers become Python's, so that equal recipes compare equal.
                object.__setattr__(self, name, check_int(name, value, minimum, maximum))
        if self.bits % 8:
            raise ValueError(
                f"bits is {self.bits}; it must be a multiple of 8 from {MIN_BITS} to {MAX_BITS}"
            )
        if self.pattern is not None and not isinstance(self.pattern, str):
            raise TypeError(f"pattern is {self.pattern!r}; it must be a str")
        if self.pattern is not None:
            check_unicode(self.pattern, "pattern")
        if self.scale is not None:
            object.__setattr__(self, "scale", _check_scale(self.scale))
        if self.idf is not None and self.idf != "jieba" and not isinstance(self.idf, Idf):
            raise ValueError(f'idf is {self.idf!r}; it must be "jieba", or come from Recipe.fit')
        if isinstance(self.hash, str) and self.bits > _MAX_HASH_BITS.get(self.hash, MAX_BITS):
            raise ValueError(
                f"bits is {self.bits}, but hash {self.hash!r} gives only "
                f'{_MAX_HASH_BITS[self.hash]}; use fewer bits, or hash "xxh3"'
            )
        self._set_views()
        # The core checks these settings; a wrong pattern must raise here, not at first use.
        if self._needs_core_check():
            self.pipeline  # noqa: B018

    def _set_views(self) -> None:
        """Fill in the defaults of `views` and `masks`, or raise if the tokens are not "http"."""
        if self.tokens == "http":
            if self.weights != "shares":
                raise ValueError(
                    f'weights is {self.weights!r}, but tokens "http" goes with weights "shares"; '
                    'start from Recipe.preset("http")'
                )
            view_weights = ViewWeights(HTTP_VIEWS if self.views is None else self.views)
            object.__setattr__(self, "views", view_weights)
            object.__setattr__(self, "masks", check_masks(self.masks))
            return
        if self.weights == "shares":
            raise ValueError(
                f'weights is "shares", which goes with tokens "http" only, not {self.tokens!r}'
            )
        for name in ("views", "masks"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f'{name} goes with tokens "http" only, not with {self.tokens!r}; leave it out, '
                    'or start from Recipe.preset("http")'
                )

    def viewing(self, within: str | None = None) -> Viewing:
        """Return the views and masks; responses are compared only within equal `within` values."""
        if not isinstance(self.views, ViewWeights):
            presets = [name for name in PRESETS if name.startswith("http")]
            raise ValueError(
                f"the recipe has tokens {self.tokens!r} and is not for HTTP responses; "
                f"use one of {', '.join(presets)}"
            )
        return Viewing(tuple(self.views), cast(tuple[str, ...], self.masks), within)

    def _needs_core_check(self) -> bool:
        return (
            self.pattern is not None
            or self.tokens in ("regex", "http")
            or self.dictionary is not None
            or (self.weights == "tfidf") != (self.idf is not None)
        )

    def __getstate__(self) -> dict[str, Any]:
        # A pipeline cannot be pickled; the other process builds it again.
        built = ("pipeline", "_distinguishing")
        return {name: value for name, value in vars(self).items() if name not in built}

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """Return a named recipe with `changes` to its fields; `Recipe.presets()` lists names."""
        if name not in PRESETS:
            raise ValueError(
                f"recipe is {name!r}; it must be one of {', '.join(PRESETS)}, or a .toml file"
            )
        return cls(**{**PRESETS[name].fields, **changes})

    @staticmethod
    def presets() -> dict[str, str]:
        """Return the names of all presets, each with its purpose."""
        return {name: preset.purpose for name, preset in PRESETS.items()}

    def replace(self, **changes: Any) -> Self:
        """Return a copy of this recipe with changed fields."""
        return dataclasses.replace(self, **changes)

    def fit(self, texts: Iterable[str], *, threads: int | None = None) -> Self:
        """Return this recipe with tf-idf weights learned from `texts`; missing ones are ignored."""
        check_threads(threads)
        if self.tokens == "http":
            raise ValueError('tokens "http" go with weights "shares"; fit is for other recipes')
        counting = self.replace(weights="tf", idf=None)
        column = as_column(texts)
        text_list = column.to_pylist() if is_arrow(column) else column
        _, counts = counting.pipeline.document_frequencies(text_list, threads)
        documents = sum(text is not None for text in text_list)
        if documents == 0:
            raise ValueError("texts is empty; fit needs at least one text")
        return self.replace(weights="tfidf", idf=Idf(documents, counts))

    @lazy
    def identity(self) -> str:
        """All settings that affect a fingerprint, in one line; only fingerprints of equal
        identities can be compared."""
        parts = [f"neardup{self.version}"]
        for field in dataclasses.fields(self)[1:]:
            value = getattr(self, field.name)
            if value is None or (field.name in ("ngram", "min_features") and value == 1):
                continue
            if field.name == "masks":
                value = ",".join(value) or "none"
            parts.append(f"{field.name}={_identity_part(value)}")
        return " ".join(parts)

    def distinguishing(self, aspects: tuple[Aspect, ...], threshold: float | None) -> Self:
        """Return this recipe with a pipeline whose sketches, fingerprints and verdicts keep texts
        apart that differ in these aspects.

        It has the same settings and identity. Its similarity is 0 for texts that differ so; with
        "order" it is at most the share of words in the same order, which is computed for pairs that
        reach the threshold only.
        """
        if not aspects:
            return self
        rule = aspects, threshold or 0.0
        known: dict[tuple[tuple[Aspect, ...], float], Self]
        known = vars(self).setdefault("_distinguishing", {})
        if rule not in known:
            # Not a new Recipe: that may build a pipeline at once, which knows no aspects.
            recipe = copy.copy(self)
            object.__setattr__(recipe, "_rule", rule)
            known[rule] = recipe
        return known[rule]

    @lazy
    def pipeline(self) -> _core.Pipeline:
        """The Rust pipeline with these settings; built on first use."""
        # The core takes locks while it loads jieba's dictionary.
        with FORK_LOCK:
            plain, rule = self._build_pipeline(), vars(self).get("_rule")
            if rule is None:
                return plain
            aspects, threshold = rule
            return plain.distinguishing(aspects, negation_words(), threshold)

    def _build_pipeline(self) -> _core.Pipeline:
        stopwords = cast(Stopwords | None, self.stopwords)
        lines = cast(tuple[str, ...] | None, self.dictionary)
        idf = self.idf
        return _core.Pipeline(
            version=self.version,
            normalize=cast(str, self.normalize),
            tokens=self.tokens,
            ngram=self.ngram,
            pattern=self.pattern,
            dictionary=None if lines is None else "\n".join(lines),
            stopwords=sorted(stopwords.words) if stopwords else [],
            weights=self.weights,
            idf=(idf.documents, dict(idf.counts)) if isinstance(idf, Idf) else idf,
            top=self.top,
            scale=self.scale,
            # A Python hash function is called by Python; the core then only counts and votes.
            hash=self.hash if isinstance(self.hash, str) else "xxh3",
            bits=self.bits,
            tie=self.tie,
            votes=self.votes,
            min_features=self.min_features,
            shares=None if self.views is None else list(self.views.items()),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recipe to a TOML file, including its word lists and document frequencies."""
        path, content = Path(path), self.to_toml()
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            temporary.write_text(content, encoding="utf-8")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def to_toml(self) -> str:
        """Return the TOML text that `save` writes."""
        if callable(self.hash):
            raise ValueError(
                f"hash is the function {_identity_part(self.hash)}; a function cannot be saved, "
                "only a recipe whose hash has a name"
            )
        import tomli_w

        settings: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Stopwords):
                value = sorted(value.words)
            elif isinstance(value, ViewWeights):
                value = dict(value)
            elif isinstance(value, Idf):
                value = {"documents": value.documents, "counts": dict(sorted(value.counts.items()))}
            if value is not None:
                settings[field.name] = value
        return tomli_w.dumps(settings)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a recipe from a TOML file: fields of Recipe, and `preset` to start from one."""
        try:
            content = read_settings(path, "recipe").decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{os.fspath(path)} is not a TOML file: {error}") from None
        return cls.from_toml(content, path)

    @classmethod
    def from_toml(cls, content: str, path: str | os.PathLike[str]) -> Self:
        """Parse a recipe in TOML; error messages name `path`."""
        import tomllib

        try:
            settings = tomllib.loads(content)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{os.fspath(path)} is not a TOML file: {error}") from None
        version = settings.get("version", VERSION)
        if type(version) is not int or version not in VERSIONS:
            raise ValueError(
                f"{os.fspath(path)} is of version {version!r}; this neardup reads "
                f"{' and '.join(map(str, VERSIONS))}; leave the version out for a recipe of "
                f"version {VERSION}, or use the neardup that wrote the file"
            )
        preset = settings.pop("preset", None)
        known = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(set(settings) - known)
        if unknown:
            raise ValueError(
                f"{os.fspath(path)} sets {unknown[0]!r}, which is not a field of a recipe; "
                f"it may set preset, {', '.join(sorted(known))}"
            )
        if isinstance(settings.get("idf"), dict):
            if set(settings["idf"]) != {"documents", "counts"}:
                raise ValueError(
                    f"{os.fspath(path)} sets idf to {', '.join(sorted(settings['idf']))}; "
                    "it must hold documents and counts"
                )
            settings["idf"] = Idf(**settings["idf"])
        return cls.preset(preset, **settings) if preset is not None else cls(**settings)


_INT_LIMITS = {
    "bits": (MIN_BITS, MAX_BITS),
    "ngram": (1, MAX_NGRAM),
    "min_features": (1, 1_000_000),
    "top": (1, 1_000_000),
}

_CHOICES: dict[str, Any] = {
    "normalize": Normalize,
    "tokens": Tokens,
    "weights": Weights,
    "hash": Hash,
    "tie": Tie,
    "votes": Votes,
}


@functools.cache
def _cached_preset(name: str) -> Recipe:
    return Recipe.preset(name)


def as_recipe(recipe: Recipe | str | os.PathLike[str] | None) -> Recipe:
    """Return a recipe from a Recipe, the name of a preset, a .toml file, or None (the default)."""
    if isinstance(recipe, Recipe):
        return recipe
    if recipe is None:
        return _cached_preset("default")
    if isinstance(recipe, os.PathLike) or (isinstance(recipe, str) and recipe.endswith(".toml")):
        return Recipe.load(recipe)
    if isinstance(recipe, str):
        return _cached_preset(recipe)
    raise TypeError(
        f"recipe is of type {type(recipe).__name__}; pass a Recipe, a preset's name or a .toml file"
    )


def _check_scale(value: object) -> float:
    if not is_real(value):
        raise TypeError(f"scale is {value!r}; it must be a number above 0")
    if not 0 < as_float(value) <= MAX_SCALE:
        raise ValueError(f"scale is {value}; it must be above 0 and at most {MAX_SCALE:g}")
    return float(value)


def _dictionary_lines(
    value: str | os.PathLike[str] | Iterable[str] | None,
) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str | os.PathLike):
        try:
            return tuple(read_settings(value, "dictionary").decode("utf-8-sig").splitlines())
        except UnicodeDecodeError as error:
            raise ValueError(f"dictionary {os.fspath(value)} is not UTF-8: {error}") from None
        except OSError as error:
            raise ValueError(
                f"dictionary {os.fspath(value)} cannot be read: {error.strerror}; "
                "pass a file, or a list of lines"
            ) from None
    if not isinstance(value, Iterable) or isinstance(value, bytes | bytearray):
        raise TypeError(
            f"dictionary is of type {type(value).__name__}; it must be a path, or lines of words"
        )
    lines = tuple(value)
    for index, line in enumerate(lines):
        if not isinstance(line, str):
            raise TypeError(f"dictionary[{index}] is {line!r}; a line must be a str")
        check_unicode(line, f"dictionary[{index}]")
    return lines


def _identity_part(value: object) -> str:
    if isinstance(value, Stopwords | Idf):
        return value.digest
    if isinstance(value, tuple):
        return json_digest(value)
    if isinstance(value, str):
        # Identities are parsed at spaces, so a pattern with a space or a leading quote is quoted.
        plain = value.isprintable() and " " not in value and not value.startswith('"')
        return value if plain else json.dumps(value).replace(" ", "\\u0020")
    if callable(value):
        name = f"{getattr(value, '__module__', '?')}.{getattr(value, '__qualname__', '?')}"
        # Lambdas, inner functions and methods of different objects share names. The id keeps two
        # different hash functions from having the same identity.
        owner = getattr(value, "__self__", None)
        bound = owner is not None and not isinstance(owner, types.ModuleType)
        unnamed = bound or "<" in name or "?" in name
        return f"{name}@{id(owner if bound else value):x}" if unnamed else name
    return str(value)
