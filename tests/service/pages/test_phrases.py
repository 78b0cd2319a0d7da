"""Every phrase is there in both languages, with the same values, and is used."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import neardup.service.pages
from neardup.reports.phrases import PHRASES as REPORT_PHRASES
from neardup.service.pages.learn_phrases import LEARN_PHRASES
from neardup.service.pages.phrases import PHRASES

HAN = re.compile("[\u4e00-\u9fff]")


def fields(phrase: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(phrase) if name}


def test_both_languages_have_the_same_values() -> None:
    for name, (english, chinese) in {**PHRASES, **LEARN_PHRASES}.items():
        forms = [english] if isinstance(english, str) else list(english)
        assert all(form.strip() for form in (*forms, chinese)), name
        for form in forms:
            # Only a count may be left out, in the singular.
            assert fields(form) | {"n"} == fields(chinese) | {"n"}, name
        assert HAN.search(chinese) or name == "page.api", name
        # Examples of Learn are Chinese words; no other English sentence has any.
        assert name in LEARN_PHRASES or not HAN.search("".join(forms)), name


def test_no_name_means_two_things() -> None:
    names = [*REPORT_PHRASES, *PHRASES, *LEARN_PHRASES]
    assert len(names) == len(set(names))


def test_chinese_has_no_space_before_a_percent_sign_and_its_own_punctuation() -> None:
    for name, (_, chinese) in {**PHRASES, **LEARN_PHRASES}.items():
        assert " %" not in chinese, name
        assert not re.search("[\u4e00-\u9fff][,;:!?]", chinese), name


def test_every_phrase_is_used() -> None:
    folder = Path(neardup.service.pages.__file__).parent.parent
    files = [*folder.rglob("*.py"), *folder.rglob("*.html")]
    used = "".join(path.read_text(encoding="utf-8") for path in files if "phrases" not in path.name)
    # Names that templates put together.
    composed = ("page.", "problem.", "examples.", "marks.", "mark.", "compare.", "aspect.")
    composed_learn = ("example.", "try.", "steps.tie_", "change.", "blocks.", "radius.", "hand.")
    for name in (*PHRASES, *LEARN_PHRASES):
        is_composed = name.startswith(composed if name in PHRASES else composed_learn)
        assert f'"{name}"' in used or f"'{name}'" in used or is_composed, name
