"""Every phrase is there in both languages, and speaks of the same things."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import neardup.service.pages
from neardup.reports.phrases import PHRASES as CATALOGUE
from neardup.service.pages.learn import LEARN_PHRASES
from neardup.service.pages.phrases import COLLECTION_PHRASES, PHRASES

ALL = (CATALOGUE, PHRASES, COLLECTION_PHRASES, LEARN_PHRASES)


def fields(phrase: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(phrase) if name}


def test_both_languages_speak_of_the_same() -> None:
    for name, (english, chinese) in {**PHRASES, **COLLECTION_PHRASES}.items():
        forms = [english] if isinstance(english, str) else list(english)
        assert all(form.strip() for form in (*forms, chinese)), name
        for form in forms:
            assert fields(form) - {"n"} <= fields(chinese) | {"n"}, name
            assert fields(chinese) <= fields(form) | {"n"}, name
        # A sentence of one language has not slipped into the other.
        assert not re.search("[\u4e00-\u9fff]", "".join(forms)), name


def test_no_name_means_two_things() -> None:
    names = [name for catalogue in ALL for name in catalogue]
    assert len(names) == len(set(names))


def test_every_phrase_is_said_somewhere() -> None:
    folder = Path(neardup.service.pages.__file__).parent.parent
    files = [*folder.rglob("*.py"), *folder.rglob("*.html")]
    said = "".join(path.read_text(encoding="utf-8") for path in files if "phrases" not in path.name)
    made = ("page.", "problem.", "examples.", "marks.", "mark.", "compare.")
    for name in (*PHRASES, *COLLECTION_PHRASES):
        assert f'"{name}"' in said or f"'{name}'" in said or name.startswith(made), name
