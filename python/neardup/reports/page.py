"""The frame of every page: its language, its template, its script and what it may load."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from neardup._util.numbers import percentage
from neardup.reports.formatting import number, percent
from neardup.reports.phrases import PHRASES, Phrases

if TYPE_CHECKING:
    from jinja2 import Environment

LANGUAGES = ("en", "zh")
# Nothing is loaded and nothing runs, whatever the texts contain.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
# The script of pages with passages: a comparison, a check.
PASSAGES_SCRIPT = "page.js"


def check_language(language: str) -> None:
    """Raise ValueError if pages cannot be written in this language."""
    if language not in LANGUAGES:
        raise ValueError(f"lang is {language!r}; it must be one of {', '.join(LANGUAGES)}")


def language_of_locale() -> str:
    """Return the language of the environment if pages can be written in it, otherwise English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name, ""):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


@dataclass(frozen=True)
class Sentence:
    """A phrase by its name, and the values to fill in: a sentence of any language."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)


class Wording:
    """The phrases in one language; `more` are those of pages that bring their own."""

    def __init__(self, language: str, more: Phrases | None = None) -> None:
        check_language(language)
        self.language = language
        self.percent_sign = "%" if language == "zh" else " %"
        self.sentence_gap = "" if language == "zh" else " "
        self.comma = "、" if language == "zh" else ", "
        self._at = LANGUAGES.index(language)
        self._phrases = {**PHRASES, **more} if more else PHRASES

    def __call__(self, name: str, **values: Any) -> str:
        """Return a phrase with its values filled in, in the singular if n is 1."""
        phrase = self._phrases[name][self._at]
        if not isinstance(phrase, str):
            phrase = phrase[0] if values.get("n") == 1 else phrase[1]
        return phrase.format(**values)

    def say(self, sentence: Sentence) -> str:
        """Return a sentence in this language."""
        return self(sentence.name, **sentence.values)

    def share(self, value: float) -> str:
        return percentage(value, self.percent_sign)

    def percent(self, value: float) -> str:
        return percent(value, self.percent_sign)

    def label(self, group: str, name: str) -> str:
        """Return the phrase `group.name`; the name itself if there is none."""
        return self(f"{group}.{name}") if f"{group}.{name}" in self._phrases else name


def render_page(
    template: str, words: Wording, *, script_name: str = "", **values: Any
) -> Iterator[str]:
    """Yield a page in pieces; nothing but the script of that name may run in it."""
    if script_name:
        values |= {"policy": policy_with_script(script_name), "script": script(script_name)}
    else:
        values["policy"] = POLICY
    return environment().get_template(template).generate(words=words, number=number, **values)


@cache
def environment() -> Environment:
    # jinja2 is loaded only if a page is written.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("neardup.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def script(name: str = PASSAGES_SCRIPT) -> str:
    """Return the script of a page, exactly as it stands between its tags."""
    loader = environment().loader
    assert loader is not None  # noqa: S101
    # Browsers hash \n, whatever line ends the file has.
    return loader.get_source(environment(), name)[0].replace("\r\n", "\n")


@cache
def policy_with_script(name: str = PASSAGES_SCRIPT) -> str:
    """Return the policy that also allows this script, known by its hash, and no other."""
    digest = base64.b64encode(hashlib.sha256(script(name).encode()).digest()).decode()
    return f"{POLICY}; script-src 'sha256-{digest}'"
