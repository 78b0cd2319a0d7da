"""Normalising and word cutting against Python's and uniseg's own Unicode tables."""

import functools
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import uniseg.wordbreak
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from helpers.scripts import characters, texts_of_every_script
from neardup.text.features import features
from reference import fingerprint as reference

FORMS = ["standard", "fold", "nfkc_casefold", "nfkc", "casefold", "lower", "none"]
# A text no longer than the window is one token: the normalised text itself.
LONGEST = 1000

SAMPLES = {
    "de": "Fußgänger überquerten die Straße; 3,5 Mio. ÖPNV-Fahrgäste zahlten 1.234,50 €.",
    "fr": "L’été dernier, j’ai vu « l’œuvre » d’Hélène : c'était aujourd'hui même… à 20 h 30 !",
    "ru": "Съешь же ещё этих мягких французских булок, да выпей чаю. И́мя — Ёлка-2024.",
    "ar": "ذهبَ الطالبُ إلى المدرسةِ في السّاعة ٨:٣٠، وكتبَ ١٢٣٫٥ كلمة.",
    "he": "צה\"ל וג'ירפה בתל־אביב: שָׁלוֹם, מה שלומך?",
    "hi": "हिन्दी में क्‍या लिखा है? १२,३४५ रुपये और विद्या।",
    "ko": "대한민국의 수도는 서울이다. 한국어 단어 3개와 ㅋㅋㅋ, 각",
    "ja": "東京タワーは１９５８年に完成した。ｶﾞﾗｽ、パーティー、コーヒー々",
    "th": "ภาษาไทยไม่มีช่องว่าง แต่มีวรรค 123 และ ๑๒๓ครับ",
    "lo": "ພາສາລາວ ບໍ່ມີຍະຫວ່າງ",
    "km": "ភាសាខ្មែរ មិនមានដកឃ្លា។",
    "my": "မြန်မာဘာသာစကား၊ စာ",
    "zh": "我爱自然语言处理，NLP很有趣！第3章：2024年。㐀𠀀𠀁",
    "vi": "Tiếng Việt có nhiều dấu: Nguyễn, đường phố, tổ hợp e\u0302\u0301.",
    "tr": "İstanbul'da IŞIK ile ılık su; KİTAP, ı İ i I.",
    "el": "Ο ΟΔΥΣΣΕΥΣ ΚΑΙ Ο ΣΙΣΥΦΟΣ, ΆΙ, ᾳ ᾼ.",
    "emoji": "👩‍👩‍👧 went 🇩🇪🇫🇷 2️⃣ times 👍🏽 o️k a\u200db ☕︎café",
    "marks": "can't e.g. x_1 __ a.b.c 3.14 1,000;2 a:b 'quoted' a\u00adb \u0301 a\u0000b\r\nc",
}


@functools.cache
def assigned() -> list[str]:
    """Every character this Python's tables know, but private ones."""
    every = map(chr, range(sys.maxunicode + 1))
    return [char for char in every if unicodedata.category(char) not in ("Cn", "Cs", "Co")]


def chunks(items: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def normalized(text: str, form: str) -> str:
    recipe = whole_text(form)
    found = features(text, recipe)
    assert len(found) <= 1
    return found[0].token if found else ""


@functools.cache
def whole_text(form: str) -> nd.Recipe:
    return nd.Recipe.preset("default", normalize=form, tokens="chars", ngram=LONGEST)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("template", ["{}|", "a{}\u0301|", "\u1112{}\u11a8\u0345|", "É{}ß"])
def test_every_character_normalises_as_unicodedata_says(template: str, form: str) -> None:
    for chunk in chunks(assigned(), 50):
        text = "".join(template.format(char) for char in chunk)
        expected = reference.normalize(text, form)
        assert len(expected) <= LONGEST
        if normalized(text, form) != expected:
            for char in chunk:
                part = template.format(char)
                assert (ascii(part), normalized(part, form)) == (
                    ascii(part),
                    reference.normalize(part, form),
                )
            raise AssertionError(f"only together: {text!a}")


@pytest.mark.parametrize("form", FORMS)
@given(
    text=st.text(characters(), max_size=50)
    | texts_of_every_script(most=100).map(lambda text: text[:300])
    | st.text(
        "bZİıéάὰЖёѐѝ\u0300\u0301\u0307\u0308\xad\u064b\u05b8שالأة٣३漢语汉⻓ｶﾞ&#x12; \n\u3000한e"
    )
    | st.text("漢かー \u3000\n\x1ca", max_size=20)
    | st.lists(st.sampled_from(["&", "amp", ";", "#", "x", "65", "lt", "nbsp"])).map("".join)
    | st.text("aZÉß\u0301\u0323\u0345\u00ad\u200dΣσς가\u1161\u11a8Ａ，İıﬀ①Å\u3099か", max_size=50)
)
def test_mixed_text_normalises_as_unicodedata_says(form: str, text: str) -> None:
    assert normalized(text, form) == reference.normalize(text, form)


def cut(text: str, form: str, version: Any = 3) -> list[tuple[str, int]]:
    recipe = nd.Recipe(version=version, normalize=form, weights="tf")  # type: ignore[arg-type]
    return [(feature.token, feature.count) for feature in features(text, recipe)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("language", SAMPLES)
def test_words_of_a_language(language: str, form: str) -> None:
    text = SAMPLES[language]
    expected = Counter(reference.words(reference.normalize(text, form), 3))
    assert expected
    assert cut(text, form) == list(expected.items())
    older = Counter(reference.words(reference.normalize(text, form), 2))
    assert cut(text, form, 2) == list(older.items())


@pytest.mark.parametrize("language", ["de", "fr", "ru", "ar", "he", "hi", "ko", "vi", "tr", "el"])
def test_spaced_languages_are_cut_by_uax_29_alone(language: str) -> None:
    text = SAMPLES[language]
    expected = [
        word for word in uniseg.wordbreak.words(text) if any(char.isalnum() for char in word)
    ]
    # Korean was in version 2.
    assert cut(text, "none", 2 if language == "ko" else 3) == list(Counter(expected).items())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fußgänger ÜBER 1.234,50 €", ["fussgänger", "über", "1.234,50"]),
        ("L’été, c'est aujourd'hui", ["l’été", "c'est", "aujourd'hui"]),
        ("Ёлка-2024", ["ёлка", "2024"]),
        ("٨:٣٠ و", ["٨", "٣٠", "و"]),
        ("צה\"ל וג'", ['צה"ל', "וג'"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("한국어 서울", ["한국어", "한", "한국", "국", "국어", "어", "어서", "서", "서울", "울"]),
        ("3시에, NLP는", ["3", "시", "시에", "에", "nlp", "는"]),
        ("ㅋㅋㅋ", ["ᄏᄏᄏ"]),
        ("東京タワー", ["東", "東京", "京", "京タ", "タ", "タワ", "ワ", "ワー", "ー"]),
        ("ｶﾞﾗｽ", ["ガ", "ガラ", "ラ", "ラス", "ス"]),
        ("ไทย 1", ["ไท", "ทย", "1"]),
        ("ไทยแลนด์", ["ไท", "ทย", "ยแ", "แล", "ลน", "นด", "ด์", "ไทยแลน", "ทยแลนด", "ยแลนด์"]),
        ("བོད་ ཡིག", ["བོ", "ོད", "ད་", "ཡི", "ིག"]),
        ("我爱NLP处理，好", ["我", "我爱", "爱", "nlp", "处", "处理", "理", "好"]),
        ("e\u0302\u0301 Việt", ["ế", "việt"]),
        ("😀 👩‍👩‍👧 🇩🇪 ☕", []),
        ("a\u00adb\u200bc", ["abc"]),
        ("a\u0000b", ["a", "b"]),
        ("\ufeffBOM", ["bom"]),
    ],
)
def test_known_words(text: str, expected: list[str]) -> None:
    assert [token for token, _ in cut(text, "nfkc_casefold")] == expected


def test_korean_words_of_version_2() -> None:
    assert cut("대한민국의 서울, 3시에", "none", 2) == [
        ("대한민국의", 1),
        ("서울", 1),
        ("3시에", 1),
    ]


@pytest.mark.parametrize("space", [" ", "\n", "\u3000", " \t\xa0"])
def test_pairs_of_syllables_reach_over_white_space_only(space: str) -> None:
    assert cut(f"한{space}국", "none") == [("한", 1), ("한국", 1), ("국", 1)]
    for between in (",", ". ", "a", " 1 ", "漢", "\x1c"):
        found = dict(cut(f"한{between}{space}국", "none"))
        assert {"한", "국"} <= set(found)
        assert "한국" not in found


def test_half_width_sound_marks_stay_in_the_run() -> None:
    assert [token for token, _ in cut("ｶﾞﾊﾟ", "none")] == ["ｶ", "ｶﾞ", "ﾞ", "ﾞﾊ", "ﾊ", "ﾊﾟ", "ﾟ"]


def test_every_character_cuts_words_as_uniseg_says() -> None:
    # Most letters, numbers and symbols behave alike; one in a hundred of them is enough.
    rare = [
        char
        for number, char in enumerate(assigned())
        if unicodedata.category(char)[0] not in "LNS" or number % 100 == 0 or char < "\u0250"
    ]
    # A letter to word breaking since Unicode 17; uniseg has the tables of 16.
    rare.remove("\N{CEDILLA}")
    for chunk in chunks(rare, 200):
        # Between two letters, and with a mark between two digits.
        text = "".join(f"b{char}c 1{char}\u03012\n" for char in chunk)
        if cut(text, "none") != list(Counter(reference.words(text, 3)).items()):
            for char in chunk:
                for part in (f"b{char}c", f"1{char}\u03012"):
                    assert (hex(ord(char)), cut(part, "none")) == (
                        hex(ord(char)),
                        list(Counter(reference.words(part, 3)).items()),
                    )
            raise AssertionError(f"only together: {text!a}")


@pytest.mark.parametrize("space", [chr(code) for code in range(0x3001) if chr(code).isspace()])
def test_whitespace_is_pythons(space: str) -> None:
    recipe = nd.Recipe(normalize="none", tokens="whitespace", weights="tf")
    assert [feature.token for feature in features(f"a{space}b", recipe)] == ["a", "b"]


def test_nothing_else_is_whitespace() -> None:
    recipe = nd.Recipe(normalize="none", tokens="whitespace", weights="tf")
    for chunk in chunks(assigned(), 5000):
        text = "".join(char for char in chunk if not char.isspace())
        assert [feature.token for feature in features(text, recipe)] == [text]
