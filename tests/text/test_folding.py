"""What makes no difference: marks, digits, spellings and spaces, by default and with "fold"."""

import html.entities
import unicodedata

import pytest

import neardup as nd
from neardup.text.features import features
from reference import fingerprint as reference

LOOSE = nd.Recipe(normalize="fold")


def normalized(text: str, form: str = "standard") -> str:
    recipe = nd.Recipe(normalize=form, tokens="chars", ngram=1000)  # type: ignore[arg-type]
    found = features(text, recipe)
    assert len(found) <= 1
    return found[0].token if found else ""


# A text, and the same text in another writing.
SAME = {
    "niqqud": ("שלום לכולם היום", "שָׁלוֹם לְכֻולָּם הַיּוֹם"),
    "harakat": ("ذهب الطالب صباحا", "ذَهَبَ الطَّالِبُ صَبَاحًا"),
    "tatweel": ("كتاب جديد", "كتـــاب جديـد"),
    "stress marks": ("старый замок на горе", "ста́рый за́мок на горе́"),
    "stress marks in one character": ("ежели и ни", "ѐжели и нѝ"),
    "tonos": ("η πρωτεύουσα της Ελλάδας", "Η ΠΡΩΤΕΥΟΥΣΑ ΤΗΣ ΕΛΛΑΔΑΣ"),
    "tonos and dialytika": ("ταΐζω το μωρό", "ταϊζω το μωρο"),
    "perispomeni": ("τῶν θεῶν", "των θεων"),
    "dotted and dotless i": ("ışık istanbul kitap", "IŞIK İSTANBUL KİTAP"),
    "Arabic digits": ("year 2026 page 345", "year ٢٠٢٦ page ٣٤٥"),
    "Persian digits": ("year 2026 page 345", "year ۲۰۲۶ page ۳۴۵"),
    "Devanagari digits": ("year 2026 page 345", "year २०२६ page ३४५"),
    "Thai digits": ("อุณหภูมิ 35 องศา", "อุณหภูมิ ๓๕ องศา"),
    "wide digits": ("2026年3月", "２０２６年３月"),
    "traditional characters": ("汉语和台湾的气象", "漢語和臺灣的氣象"),
    "radicals": ("长门见", "⻓⻔⻅"),
    "compatibility characters": ("來年", "\uf92d年"),
    "spaces between Han": ("今天天气很好", "今 天\n天气　很\t好"),
    "spaces between Kana": ("東京タワーです", "東京 タワー です"),
    "nbsp": ("fish and chips", "fish&nbsp;and&nbsp;chips"),
    "numeric references": ("汉字 и слово", "&#27721;&#x5B57; &#1080; слово"),
    "named references": ("café – naïve", "caf&eacute; &ndash; na&iuml;ve"),
    "references written twice": ("fish and chips", "fish&amp;nbsp;and&amp;#32;chips"),
    "soft hyphens": ("hyphenation of words", "hy&shy;phen\xadation of words"),
}
# The same, for "fold" only.
SAME_IF_LOOSE = {
    "accents": ("Café naïve à Zürich", "Cafe naive a Zurich"),
    "Vietnamese": ("tiếng Việt đường phố", "tieng Viet duong pho"),
    "umlauts": ("Müller schön Bär", "Mueller schoen Baer"),
    "strokes and ligatures": ("Łódź Ærø œuvre", "Lodz Aro ouvre"),
    "hamza": ("أحمد إلى آخر", "احمد الى اخر"),
    "ta marbuta and alif maqsura": ("مدرسة على", "مدرسه علي"),
    "Persian ya and kaf": ("کتاب فارسی", "كتاب فارسي"),
    "yo": ("ёжик пьёт", "ежик пьет"),
    "diaeresis": ("προϊόν νέο", "προιον νεο"),
}
# These stay different, even if loose.
DIFFERENT = {
    "short i": ("мой дом", "мои дом"),
    "dakuten": ("かき くけ", "がき ぐけ"),
    "Thai tone marks": ("ไหม ใหม่", "ไหม ใหม"),
    "half a reference": ("fish &nbsp chips", "fish chips"),
    "no such name": ("fish &nosuch; chips", "fish chips"),
    "digits": ("page 345", "page 346"),
    "Latin words": ("in door", "indoor"),
    "Thai words": ("ไทย ดี", "ไทยดี"),
}


@pytest.mark.parametrize("kind", SAME)
def test_no_difference_by_default(kind: str) -> None:
    left, right = SAME[kind]
    for recipe in (nd.Recipe(), LOOSE):
        assert nd.similarity(left, right, recipe) == pytest.approx(1)
        assert nd.fingerprint(left, recipe) == nd.fingerprint(right, recipe) is not None


@pytest.mark.parametrize("kind", SAME_IF_LOOSE)
def test_fold_folds_more(kind: str) -> None:
    left, right = SAME_IF_LOOSE[kind]
    assert nd.fingerprint(left, LOOSE) == nd.fingerprint(right, LOOSE) is not None
    assert nd.similarity(left, right) < 0.9


@pytest.mark.parametrize("kind", DIFFERENT)
def test_what_stays_different(kind: str) -> None:
    left, right = DIFFERENT[kind]
    for recipe in (nd.Recipe(), LOOSE):
        assert nd.similarity(left, right, recipe) < 1


@pytest.mark.parametrize("kind", [kind for kind in SAME if "compatibility" not in kind])
def test_in_version_2_most_made_a_difference(kind: str) -> None:
    left, right = SAME[kind]
    same = nd.similarity(left, right, "default-2") == pytest.approx(1)
    assert same is (kind == "wide digits")


@pytest.mark.parametrize("form", ["standard", "fold"])
def test_normalised_text_stays_as_it_is(form: str) -> None:
    for left, right in SAME.values():
        for text in (left, right):
            once = normalized(text, form)
            assert normalized(once, form) == once


def test_decimal_digits_of_all_scripts() -> None:
    digits = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) == "Nd"]
    assert len(digits) > 600
    for start in range(0, len(digits), 500):
        some = digits[start : start + 500]
        assert normalized("|".join(some)) == "|".join(str(unicodedata.decimal(c)) for c in some)


def test_every_traditional_character_by_opencc() -> None:
    table = reference.simplified()
    assert len(table) > 2900
    assert (table["漢"], table["乾"]) == ("汉", "干")
    traditional = list(table)
    for start in range(0, len(table), 900):
        some = traditional[start : start + 900]
        expected = (table[char] for char in some)
        assert normalized("".join(some)) == "".join(table.get(char, char) for char in expected)


def test_every_name_of_html() -> None:
    known = 0
    for name in html.entities.html5:
        text = f"x&{name}y"
        assert normalized(text) == reference.normalize(text, "standard"), name
        known += normalized(text) != text.lower()
    # Names of HTML 5 that pages do not use, and names without a semicolon, are left alone.
    assert known == len(reference.NAMED) == 303


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("&#0; &#xD800; &#x110000; &#99999999999;", "\ufffd \ufffd \ufffd \ufffd"),
        ("&#128; &#x99; &#x81;|", "€ tm \x81|"),
        ("&#; &#x; &; & ;", "&#; &#x; &; & ;"),
        ("&amp;amp;amp;lt;", "<"),
        ("&amp;nosuch; &amp;amp", "&nosuch; &amp"),
        ("&#38;#65;", "a"),
        ("AT&T; R&D", "at&t; r&d"),
    ],
)
def test_references(text: str, expected: str) -> None:
    assert normalized(text) == expected == reference.normalize(text, "standard")


# --------------------------------------------------------------------------------- odd places


@pytest.mark.parametrize("text", ["Ǿ", "ǽ", "ø\u0301", "æ\u0304"])
def test_letters_with_two_reasons_to_change(text: str) -> None:
    assert normalized(text, "fold") in ("a", "o")


def test_every_e_after_a_vowel_is_dropped() -> None:
    assert normalized("aee", "fold") == "a"


def test_the_radical_snout() -> None:
    assert normalized("⺕") == "彐"


@pytest.mark.parametrize("char", ["ゟ", "ヿ", "㌔"])
def test_spaces_before_ligatures_of_kana(char: str) -> None:
    assert " " not in normalized(f"汉 {char}")


def test_stress_is_that_of_the_letter_before_it() -> None:
    assert normalized("е\u0301\u0300") == "е"
    assert normalized("е\u0640\u0301") == "е\u0301"


@pytest.mark.parametrize(
    ("tokens", "text", "expected"),
    [
        ("lines", "第一行\n第二行", ["第一行", "第二行"]),
        ("whitespace", "我们 喜欢 音乐", ["我们", "喜欢", "音乐"]),
    ],
)
def test_lines_and_words_between_spaces_stay(tokens: str, text: str, expected: list[str]) -> None:
    recipe = nd.Recipe(tokens=tokens)  # type: ignore[arg-type]
    assert [feature.token for feature in features(text, recipe)] == expected


def test_a_reference_makes_no_line_of_a_view() -> None:
    recipe = nd.Recipe.preset("http")
    found = features("text a &#10;status 500", recipe)
    assert "status=500" not in [feature.token for feature in found]
