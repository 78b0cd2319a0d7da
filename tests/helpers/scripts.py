"""Texts of every script and length, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = [
    *("weather", "the", "of", "a", "it", "is", "report", "Straße", "café", "don't", "Việt", "für"),
    *("25", "3.14", "x2", "2x", "x2y", "AT&T", "&nbsp;", "&#27721;", "&amp;lt;", "٣٤", "१२"),
    *("北京", "天气", "汉", "字", "漢語", "臺灣", "〇", "東京タワー", "かな", "カ", "ー"),
    *("１９５８", "ภาษาไทย", "ไทย", "ก", "๑๒", "ລາວ", "ខ្មែរ", "မြန်မာ", "བོད་ཡིག"),
    *("한국어", "단어", "한", "한국", "서울이다", "3시에", "Python은", "слово", "и", "за́мок"),
    *("שָׁלוֹם", "שלום", "كتـاب", "مُحَمَّد", "ΑΘΗΝΑ", "Αθήνα", "İSTANBUL", "ışık"),
]
MADE_OF = "bcd漢字一二人かなカナกขค가나다라0123"


def characters() -> st.SearchStrategy[str]:
    """Characters that Python's tables know."""
    return st.characters(exclude_categories=("Cn", "Cs", "Co"))


def texts_of_every_script(most: int = 400) -> st.SearchStrategy[str]:
    """Texts of up to some hundred different words, mostly short."""
    word = st.sampled_from(WORDS) | st.text(MADE_OF, min_size=1, max_size=5)
    piece = st.tuples(word, st.sampled_from([" ", " ", "", "\n", ". ", "\u3000"])).map("".join)
    few, many = st.lists(piece, max_size=30), st.lists(piece, min_size=60, max_size=most)
    return st.one_of(few, few, many).map("".join)
