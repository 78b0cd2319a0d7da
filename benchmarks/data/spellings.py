"""The same text written otherwise: marks, digits, entities, spaces and other letters."""

from __future__ import annotations

import html.entities
import importlib.util
import random
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

Change = Callable[[str, random.Random], str]

WIDE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
HARAKAT = "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652"
NIQQUD = "\u05b0\u05b1\u05b4\u05b5\u05b6\u05b7\u05b8\u05b9\u05bb\u05bc"
# Letters that do not join the next one take no tatweel.
JOINED = re.compile("([بتثجحخسشصضطظعغفقكلمنهيیک])(?=[\u0621-\u064a])")
SIMPLER = str.maketrans("أإآةى", "اااهي")
ARABIC_LETTERS = str.maketrans("یک", "يك")
GERMAN = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
)
# The other particle of the same ending: a consonant or a vowel.
PARTICLES = {"은": "이", "이": "은", "는": "가", "가": "는", "을": "은", "를": "는", "에": "에서"}
TRADITIONAL = "traditional characters"
PARTICLE = re.compile(r"(?<=[가-힣])[은는이가을를에](?=[\s.,]|$)")


@dataclass(frozen=True)
class Spelling:
    """A way to write a text otherwise, and the languages it is tried in."""

    name: str
    languages: str
    change: Change


def after(letters: str, marks: str, share: float) -> Change:
    """Return a change that puts one of the marks behind a share of the letters."""
    pattern = re.compile(f"[{letters}]")
    return lambda text, rng: pattern.sub(
        lambda found: found[0] + (rng.choice(marks) if rng.random() < share else ""), text
    )


def before(letters: str, mark: str, share: float) -> Change:
    """Return a change that puts the mark before a share of the letters inside words."""
    pattern = re.compile(rf"(?<=\w)[{letters}]")
    return lambda text, rng: pattern.sub(
        lambda found: (mark if rng.random() < share else "") + found[0], text
    )


def tatweel(text: str, rng: random.Random) -> str:
    """Stretch one in five of the letters that can be."""
    return JOINED.sub(
        lambda found: found[0] + ("ـ" * rng.randint(1, 3) if rng.random() < 0.2 else ""), text
    )


def stress(text: str, rng: random.Random) -> str:
    """Mark the stress of each word of two or more vowels."""

    def mark(word: re.Match[str]) -> str:
        vowels = [at for at, letter in enumerate(word[0]) if letter in "аеиоуыэюя"]
        at = rng.choice(vowels) + 1 if len(vowels) > 1 else 0
        return f"{word[0][:at]}\u0301{word[0][at:]}" if at else word[0]

    return re.sub(r"[а-яё]+", mark, text)


def digits(zero: str) -> Change:
    """Return a change that writes ASCII digits as those from `zero`, and others as ASCII."""

    def change(text: str, rng: random.Random) -> str:
        return re.sub(
            r"\d",
            lambda found: (
                chr(ord(zero) + int(found[0])) if found[0].isascii() else str(int(found[0]))
            ),
            text,
        )

    return change


def entities(named: bool) -> Change:
    """Return a change that writes letters beyond ASCII as entities of HTML."""

    def entity(letter: str) -> str:
        name = html.entities.codepoint2name.get(ord(letter)) if named else None
        return f"&{name};" if name else f"&#{ord(letter)};"

    return lambda text, rng: re.sub(r"[^\W\x00-\x7f]", lambda found: entity(found[0]), text)


def plain(text: str, rng: random.Random) -> str:
    """Remove accents."""
    parts = unicodedata.normalize("NFD", text.translate(str.maketrans("đĐ", "dD")))
    kept = "".join(part for part in parts if not unicodedata.combining(part))
    return unicodedata.normalize("NFC", kept)


def greek_capitals(text: str, rng: random.Random) -> str:
    parts = unicodedata.normalize("NFD", text).replace("\u0301", "")
    return unicodedata.normalize("NFC", parts).upper()


def turkish_capitals(text: str, rng: random.Random) -> str:
    return text.replace("i", "İ").replace("ı", "I").upper()


def full_width(text: str, rng: random.Random) -> str:
    return re.sub(r"[A-Za-z0-9]", lambda found: chr(ord(found[0]) + 0xFEE0), text)


def particles(text: str, rng: random.Random) -> str:
    return PARTICLE.sub(lambda found: PARTICLES[found[0]], text)


def spaces(every: int) -> Change:
    """Return a change that puts a space behind every n-th run of Han and Kana characters."""
    pattern = re.compile(f"([{WIDE}]{{{every}}})(?=[{WIDE}])")
    return lambda text, rng: pattern.sub(r"\1 ", text)


def without_spaces(share: float) -> Change:
    return lambda text, rng: re.sub(" ", lambda _: "" if rng.random() < share else " ", text)


def traditional() -> Change | None:
    """Return a change to traditional characters, one by one, if OpenCC is installed."""
    if not importlib.util.find_spec("opencc"):
        return None
    converter = importlib.import_module("opencc").OpenCC("s2t")
    return lambda text, rng: "".join(map(converter.convert, text))


def spellings() -> list[Spelling]:
    """Return all ways to write a text otherwise that can be tried here."""
    converted = traditional()
    return [
        Spelling("niqqud added", "he", after("א-ת", NIQQUD, 0.8)),
        Spelling("harakat added", "ar", after("\u0621-\u064a", HARAKAT, 0.8)),
        Spelling("tatweel added", "ar fa", tatweel),
        Spelling("hamza, ة and ى simplified", "ar", lambda text, rng: text.translate(SIMPLER)),
        Spelling(
            "ya and kaf in Arabic letters", "fa", lambda text, rng: text.translate(ARABIC_LETTERS)
        ),
        Spelling("capitals without tonos", "el", greek_capitals),
        Spelling("Turkish capitals", "tr", turkish_capitals),
        Spelling("stress marks added", "ru", stress),
        Spelling("other digits", "ar", digits("٠")),
        Spelling("other digits", "fa", digits("۰")),
        Spelling("other digits", "hi", digits("०")),
        Spelling("other digits", "th", digits("๐")),
        Spelling("full-width digits", "en", digits("０")),
        Spelling("full-width letters", "en", full_width),
        Spelling("accents removed", "fr es vi de", plain),
        Spelling("ae, oe, ue, ss", "de", lambda text, rng: text.translate(GERMAN)),
        Spelling("&nbsp; for spaces", "en fr ru ko", lambda text, rng: text.replace(" ", "&nbsp;")),
        Spelling("named entities", "fr", entities(named=True)),
        Spelling("numeric entities", "fr ru zh", entities(named=False)),
        *([Spelling(TRADITIONAL, "zh", converted)] if converted else []),
        Spelling("spaces between all characters", "zh ja", spaces(1)),
        Spelling("a space behind every third", "zh ja", spaces(3)),
        Spelling("one space in five missing", "ko", without_spaces(0.2)),
        Spelling("all spaces missing", "ko", without_spaces(1)),
        Spelling("other particles", "ko", particles),
        Spelling("soft hyphens", "en de", before("a-zäöüß", "\u00ad", 0.2)),
        Spelling("zero-width spaces", "km", before("\u1780-\u17a2", "\u200b", 0.2)),
        Spelling("zero-width spaces", "th", before("ก-ฮเ-ไ", "\u200b", 0.2)),
    ]
