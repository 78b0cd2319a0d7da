"""Naive fingerprints: each `Recipe` field by its definition, whatever the settings.

One file for all steps (normalise, tokenise, weigh, hash, vote), so that a fingerprint can be read
from top to bottom. Hence its length. The formulas of older libraries are in presets.py.
"""

from __future__ import annotations

import functools
import hashlib
import html.entities
import itertools
import math
import re
import struct
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from importlib import resources
from typing import Any

import jieba
import jieba.analyse
import uniseg.wordbreak
import xxhash

Features = list[tuple[str, float]]

# ---------------------------------------------------------------------------------- normalisation

# Default_Ignorable_Code_Point, DerivedCoreProperties.txt.
IGNORABLE = [
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
]


def _is_ignorable(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in IGNORABLE)


def normalize(text: str, kind: str, tokens: str = "words") -> str:
    """The text in this form, as it is cut into these tokens."""
    match kind:
        case "standard":
            return folded(text, tokens, loose=False)
        case "fold":
            return re.sub("([aou])e+", r"\1", folded(text, tokens, loose=True))
        case "nfkc_casefold":
            visible = "".join(char for char in text if not _is_ignorable(char))
            folded_case = unicodedata.normalize("NFKC", visible).casefold()
            return unicodedata.normalize("NFKC", folded_case)
        case "nfkc":
            return unicodedata.normalize("NFKC", text)
        case "casefold":
            return text.casefold()
        case "lower":
            return text.lower()
        case "none":
            return text
    raise ValueError(kind)


def folded(text: str, tokens: str, *, loose: bool) -> str:
    """References read, unless a view has them read already; spaces between Han dropped, unless they
    cut tokens; `nfkc_casefold`; then each character as what it says. `loose`: without accents, and
    Arabic letters in one spelling."""
    if tokens != "http":
        text = without_references(text)
    if tokens not in ("whitespace", "lines", "regex"):
        text = without_spaces_between_han(text)
    found: list[str] = []
    before = ""
    for char in normalize(text, "nfkc_casefold"):
        if not is_optional_mark(before, char, loose=loose):
            found.append(plain(char, loose=loose))
        elif "\u0300" <= char <= "\u036f":
            continue  # another mark may belong to the same letter
        before = char
    return "".join(found)


# Names of HTML 5 that are read beside those of HTML 4.
OF_HTML_5 = """
    AMP COPY GT Hat LT NewLine NoBreak QUOT REG TRADE Tab ZeroWidthSpace apos ast bsol check colon
    comma commat cross dash dollar equals excl grave half horbar hyphen lbrace lbrack lcub lowbar
    lpar lsqb num percnt period phone plus quest rbrace rbrack rcub rpar rsqb semi sol star starf
    verbar vert
"""
NAMED = {
    **{name: chr(code) for name, code in html.entities.name2codepoint.items()},
    **{name: html.entities.html5[name + ";"] for name in OF_HTML_5.split()},
}


def without_references(text: str) -> str:
    """Each `&…;` as what it stands for; the ampersand of `&amp;` may begin another."""
    found = ""
    while match := re.search(r"&(?:#([0-9]+)|#[xX]([0-9a-fA-F]+)|([0-9a-zA-Z]+));", text):
        decimal, hexadecimal, name = match.groups()
        if name:
            char = NAMED.get(name, "")
        else:
            char = numbered(int(decimal) if decimal else int(hexadecimal, 16))
        if char == "&":
            found, text = found + text[: match.start()], "&" + text[match.end() :]
        elif char:
            found, text = found + text[: match.start()] + char, text[match.end() :]
        else:
            # No such name.
            found, text = found + text[: match.start() + 1], text[match.start() + 1 :]
    return found + text


def numbered(code: int) -> str:
    """The character of a numeric reference, as browsers read it."""
    if 0x80 <= code <= 0x9F:
        try:
            return bytes([code]).decode("cp1252")
        except UnicodeDecodeError:
            return chr(code)
    return "\ufffd" if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)


def is_space(char: str) -> bool:
    """White_Space of Unicode; Python adds four control characters."""
    return char.isspace() and not "\x1c" <= char <= "\x1f"


def without_spaces_between_han(text: str) -> str:
    found: list[str] = []
    for space, chars in itertools.groupby(text, is_space):
        piece = "".join(chars)
        if space:
            found.append(piece)
            continue
        wide = {"han", "kana"}
        # A half-width sound mark would join what is before the space.
        after = group(piece[0]) in wide and piece[0] not in "\uff9e\uff9f"
        if len(found) > 1 and group(found[-2][-1]) in wide and after:
            found.pop()
        found.append(piece)
    return "".join(found)


def is_optional_mark(before: str, char: str, *, loose: bool) -> bool:
    """Vowels of Arabic and Hebrew, tatweel, the stress of Cyrillic, the dot that a Turkish capital
    leaves; every accent if `loose`."""
    if char == "\N{ARABIC TATWEEL}":
        return True
    if unicodedata.category(char) != "Mn":
        return False
    name = unicodedata.name(char)
    if name.startswith("ARABIC"):
        # These belong to letters.
        return "MADDAH ABOVE" not in name and name[7:] not in ("HAMZA ABOVE", "HAMZA BELOW")
    if name.startswith("HEBREW"):
        return char < "\u0600" or char == "\ufb1e"
    if char in "\u0300\u0301" and "\u0400" <= before <= "\u052f":
        return True
    return (char == "\u0307" and before == "i") or (loose and "\u0300" <= char <= "\u036f")


@functools.cache
def plain(char: str, *, loose: bool) -> str:
    """What a character of the form `nfkc_casefold` says, however it is written."""
    if unicodedata.category(char) == "Nd":
        return str(unicodedata.decimal(char))
    if char in RADICALS or char in simplified():
        # What is found may have a simplified form itself.
        char = RADICALS.get(char) or simplified()[char]
        return simplified().get(char, char)
    if char in "ıѐѝ":
        return {"ı": "i", "ѐ": "е", "ѝ": "и"}[char]
    script = unicodedata.name(char, "").split(" ")[0]
    if script == "GREEK" and char.isalpha():
        return without_marks(char, "" if loose else "\u0308")
    if loose and script == "LATIN" and char.isalpha():
        char = without_marks(char)
    return SPELLINGS.get(char, char) if loose else char


def without_marks(letter: str, kept: str = "") -> str:
    parts = unicodedata.normalize("NFD", letter)
    bare = [part for part in parts if unicodedata.category(part) != "Mn" or part in kept]
    return unicodedata.normalize("NFC", "".join(bare))


# What `loose` takes for one letter: strokes and ligatures of Latin, yo, and spellings of Arabic.
SPELLINGS = {
    char: spelling[0]
    for spelling in (
        *("aæ", "oœø", "dðđ", "lł", "hħ", "tŧ", "iıɨ", "jȷ", "bƀ", "nŋ", "её"),
        *("اأإآٱ", "وؤ", "يئىیې", "هةہھۀۂە", "كک"),
    )
    for char in spelling
}


@functools.cache
def simplified() -> dict[str, str]:
    """Traditional characters and the first simplified one of each, by OpenCC."""
    table = resources.files("opencc").joinpath("dictionary/TSCharacters.txt")
    rows = [line.split() for line in table.read_text(encoding="utf-8").splitlines()]
    three_bytes = range(0x800, 0x10000)
    return {
        row[0]: row[1]
        for row in rows
        if all(len(char) == 1 and ord(char) in three_bytes for char in row[:2])
    }


# Equivalent_Unified_Ideograph of Unicode within the basic plane; NFKC has done the Kangxi Radicals.
RADICALS = dict(
    re.findall(
        "(.)(.)",
        "⺁厂⺂乛⺃乚⺄乙⺅亻⺆冂⺈刀⺉刂⺊卜⺋㔾⺌小⺍小⺎兀⺏尣⺐尢⺒巳⺓幺⺔彑⺕彐⺖忄"
        "⺗心⺘扌⺙攵⺛旡⺜日⺝月⺞歺⺟母⺠民⺡氵⺢氺⺣灬⺤爫⺥爫⺦丬⺧牛⺨犭⺩王⺫目⺬示"
        "⺭礻⺯糹⺰纟⺱罓⺲罒⺳㓁⺴冗⺶羊⺹耂⺺肀⺻聿⺼肉⺾艹⺿艹⻀艹⻁虎⻂衤⻃覀⻄西⻅见"
        "⻆角⻈讠⻉贝⻋车⻌辶⻍辶⻎辶⻏邑⻐钅⻑長⻒镸⻓长⻔门⻖阝⻗雨⻘青⻙韦⻚页⻛风⻜飞"
        "⻝食⻟飠⻠饣⻢马⻣骨⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻪黾⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻱龜⻲亀"
        "⻳龟",
    )
)


# ----------------------------------------------------------------------------------------- tokens

# Where Scripts.txt has these scripts. The ranges are generous: only letters, digits and marks
# count, and what else lies within is punctuation.
HAN = [
    *[(0x2E80, 0x2FD5), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B)],
    *[(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAD9), (0x16FE2, 0x16FE3)],
    *[(0x16FF0, 0x16FF1), (0x20000, 0x323AF)],
]
KANA = [
    *[(0x3041, 0x3096), (0x309D, 0x309F), (0x30A1, 0x30FA), (0x30FD, 0x30FF), (0x31F0, 0x31FF)],
    *[(0xFF66, 0xFF9F), (0x1AFF0, 0x1AFFE), (0x1B000, 0x1B167)],
]
# Thai, Lao, Tibetan, Myanmar and Khmer.
LETTERS = [
    *[(0x0E01, 0x0E3A), (0x0E40, 0x0E5B), (0x0E81, 0x0EDF), (0x0F00, 0x0FFF), (0x1000, 0x109F)],
    *[(0x1780, 0x17FF), (0x19E0, 0x19FF), (0xA9E0, 0xA9FE), (0xAA60, 0xAA7F)],
]
GROUPS = {"han": HAN, "kana": KANA, "letters": LETTERS}


@functools.cache
def group(char: str) -> str:
    """Which kind of script without spaces a character belongs to; "" for every other one."""
    if char in "\u0f0b\u0f0c":  # what stands between syllables of Tibetan
        return "letters"
    # The sound marks of Kana belong to no script, but UAX #29 keeps them with Katakana.
    if uniseg.wordbreak.word_break(char) == uniseg.wordbreak.WordBreak.KATAKANA:
        return "kana"
    if unicodedata.category(char)[0] not in "LNM":
        return ""
    ranges = ((name, pair) for name, pairs in GROUPS.items() for pair in pairs)
    return next((name for name, (first, last) in ranges if first <= ord(char) <= last), "")


def has_letter_or_digit(token: str) -> bool:
    return any(char.isalnum() for char in token)


def spaced_words(text: str) -> list[str]:
    """The pieces that UAX #29 cuts a text into, by Unicode 17.

    uniseg has Unicode 16, in which the cedilla alone (U+00B8) was no letter of a word yet.
    """
    lengths = [len(word) for word in uniseg.wordbreak.words(text.replace("\xb8", "a"))]
    ends = list(itertools.accumulate(lengths))
    return [text[end - length : end] for length, end in zip(lengths, ends, strict=True)]


def words(text: str, version: int, ngram: int = 1) -> list[str]:
    """Characters and pairs, or windows, of runs without spaces; between the runs words of UAX #29.

    Since version 3 Korean is cut, too. Where the words are to be joined to n-grams, runs give their
    pairs only, and Korean its words.
    """

    def kind(char: str) -> str:
        return "hangul" if version > 2 and is_hangul(char) else group(char).replace("kana", "han")

    found: list[str] = []
    # The syllable of Korean before this piece, if only white space is between them.
    before = ""
    for kind_, chars in itertools.groupby(text, kind):
        piece = "".join(chars)
        if kind_ == "hangul":
            found += [piece] if ngram > 1 else hangul_parts(piece, before)
            before = piece[-1]
            continue
        if not all(map(is_space, piece)):
            before = ""
        if not kind_:
            found += filter(has_letter_or_digit, spaced_words(piece))
        elif ngram > 1 or len(piece) == 1:
            found += ngrams(piece, 2, "")
        elif kind_ == "han":
            found += [piece[i:end] for i in range(len(piece)) for end in (i + 1, i + 2)][:-1]
        else:
            found += [piece[i : i + n] for n in (2, 6) for i in range(len(piece) - n + 1)]
    return found


def is_hangul(char: str) -> bool:
    return "가" <= char <= "힣"


def hangul_parts(word: str, before: str) -> list[str]:
    """A word of three syllables or more; each syllable, after its pair with the one before."""
    found = [word] if len(word) > 2 else []
    for syllable in word:
        found += [before + syllable, syllable] if before else [syllable]
        before = syllable
    return found


def pattern_matches(pattern: str, text: str) -> list[str]:
    # The core's engine writes some things differently; Python's \w is just these three.
    pattern = pattern.replace(r"\p{L}\p{N}_", r"\w")
    pattern = re.sub(r"\\u\{([0-9a-fA-F]+)\}", lambda match: chr(int(match[1], 16)), pattern)
    return [match.group() for match in re.finditer(pattern, text) if match.group()]


def jieba_keyword_tokens(text: str) -> list[str]:
    """The words `jieba.analyse.extract_tags` counts in a text that was cut once before."""
    second = jieba.lcut("|".join(jieba.lcut(text)))
    english = jieba.analyse.TFIDF.STOP_WORDS
    return [word for word in second if len(word.strip()) >= 2 and word.lower() not in english]


def plain_tokens(text: str, recipe: Any) -> list[str]:
    match recipe.tokens:
        case "words":
            return words(text, recipe.version, recipe.ngram)
        case "chars":
            if recipe.pattern is not None:
                text = "".join(pattern_matches(recipe.pattern, text))
            return ngrams(text, recipe.ngram, "")
        case "jieba":
            return [word for word in jieba.lcut(text) if has_letter_or_digit(word)]
        case "jieba-keywords":
            return jieba_keyword_tokens(text)
        case "whitespace":
            return text.split()
        case "lines":
            return [line.strip() for line in text.split("\n") if line.strip()]
        case "regex":
            return pattern_matches(recipe.pattern, text)
        case "http":
            found = view_tokens(text, recipe.version, shingled="tags" not in recipe.views)
            return [token for token, _ in found if view_of(token) in recipe.views]
    raise ValueError(recipe.tokens)


def view_tokens(text: str, version: int, *, shingled: bool = True) -> list[tuple[str, str]]:
    """The tokens of a response's view, each with what it is weighed by: a word of the text or of
    the title by its length, "=once" whatever the count, a "=quarter", "" in full.

    shingled  neighbours of the text are joined, too: where tags do not count
    """
    found: list[tuple[str, str]] = []
    group_ = ""
    lines = text.split("\n")
    if lines[0].startswith("within "):
        group_ = f"[{short_name(lines.pop(0)[7:].strip())}] "
    for line in lines:
        name, _, value = line.rstrip().partition(" ")
        value = value.strip()
        match name:
            case "status":
                found += [("status=" + value, "")] if value else []
            case "header":
                header, _, value = value.partition(" ")
                start = "header=" + short_name(header)
                if header and header not in OF_THE_WAY:
                    found += [(start, "=once")]
                    found += [(f"{start}={shape(word)}", "=once") for word in words(value, version)]
            case "title":
                found += [("title: " + value, "")] if value else []
                found += [("title=" + shape(word), word) for word in words(value, version)]
            case "tags":
                found += [(token, "=once") for token in dict.fromkeys(tag_tokens(value))]
            case "keys":
                found += [("key=" + path, "") for path in value.split(" ") if path]
            case "body":
                kind = value.partition(" ")[0]
                found += [("body=" + kind, "")] if kind else []
                found += [("body=" + value, "=quarter")] if kind != value else []
            case _:
                block = value if name == "text" else line
                neighbours = [shape(word) for word in words(block, version, ngram=2)]
                found += [(shape(word), word) for word in words(block, version)]
                if shingled and len(neighbours) > 1:
                    found += [(joined, "") for joined in ngrams(neighbours, 3, " ")]
    return [(group_ + token, form) for token, form in found]


def tag_tokens(line: str) -> list[str]:
    elements = [re.fullmatch(r"([0-9]*)(.*)", element) for element in line.split(" ") if element]
    depths = [int(element[1] or 0) for element in elements if element]
    names = [short_name(element[2]) for element in elements if element]
    found = []
    for at, depth in enumerate(depths):
        path: list[str] = []
        for before in range(at, -1, -1):
            if before == at or depths[before] < depth:
                depth = depths[before]
                path.insert(0, names[before])
        found.append("path=" + ">".join(path[-3:]))
    return found + ["tags=" + joined for joined in ngrams(names, 3, " ")]


# Headers that depend on who asks.
OF_THE_WAY = [
    *("age", "connection", "content-encoding", "content-length", "date", "keep-alive"),
    *("proxy-connection", "trailer", "transfer-encoding", "upgrade"),
]


def shape(word: str) -> str:
    """A word, but of a number with a point its shape."""
    pointed = re.match("[0-9]", word) and ("." in word or "," in word)
    return re.sub("[0-9]+", "0", word) if pointed else word


def short_name(name: str) -> str:
    """What goes into many tokens, as its hash where it is long."""
    return name if len(name.encode()) <= 96 else xxhash.xxh3_128_hexdigest(name.encode())


def view_of(token: str) -> str:
    token = re.sub(r"^\[.*?\] ", "", token)
    name = re.match(r"(status|header|title|path|tags|key|body)(?:=|: )", token)
    views = {"header": "headers", "path": "tags", "key": "keys"}
    return views.get(name[1], name[1]) if name else "text"


def tokens(text: str, recipe: Any) -> list[str]:
    """The tokens of a text, normalised, without stop words and joined, before counting."""
    found = plain_tokens(normalize(text, recipe.normalize, recipe.tokens), recipe)
    if recipe.stopwords is not None:
        # A stop word is a string of the user's; it meets the text in the text's own form.
        stop = {normalize(word, recipe.normalize) for word in stop_list(recipe.stopwords)}
        # jieba looks its keywords up in lower case.
        lower = recipe.tokens == "jieba-keywords"
        found = [token for token in found if (token.lower() if lower else token) not in stop]
    return found if recipe.tokens == "chars" else ngrams(found, recipe.ngram, " ")


def stop_list(stopwords: Any) -> list[str]:
    """The words of a `Stopwords`, or of any iterable."""
    return list(getattr(stopwords, "words", stopwords))


def ngrams(found: Sequence[str], n: int, joint: str) -> list[str]:
    if not found:
        return []
    return [joint.join(found[i : i + n]) for i in range(max(len(found) - n + 1, 1))]


# ---------------------------------------------------------------------------------------- weights


def _sixteenths(weight: float) -> float:
    return math.floor(weight * 16 + 0.5) / 16


def length_weight(token: str, tf: int, recipe: Any, distinct: int) -> float:
    """1 + ln tf, times what the token weighs for its length and script."""
    if recipe.version == 2:
        factor, most = second_factor(token)
    else:
        factor, most = third_factor(token, min(distinct, 200) // 4 * 4)
    return _sixteenths((1 + math.log(min(tf, most))) * float(factor))


def second_factor(token: str) -> tuple[Fraction, float]:
    """A factor and the largest count: less for words short of five letters, and by what a token
    without spaces is."""
    groups = {group(char) for char in token}
    if len(token) == 1 and "" not in groups:
        return Fraction(7, 8), 2
    if len(token) == 2 and groups <= {"kana", "letters"}:
        return Fraction(1), 2
    if len(token) == 6 and groups == {"letters"}:
        return Fraction(1, 2), math.inf
    if any(is_number(char) or group(char) or is_hangul(char) for char in token):
        return Fraction(1), math.inf
    return Fraction(1, 2 ** min(max(5 - len(token), 0), 4)), math.inf


def is_number(char: str) -> bool:
    return unicodedata.category(char)[0] == "N"


# By script and length in version 3: the factors in texts of up to 10 and of 60 or more distinct
# tokens, in quarters, and the largest count.
UNSPACED: dict[str, tuple[float, float, float]] = {
    "han": (3, 2, 2),
    "kana": (3, 1, 2),
    "letters": (3, 1, 2),
    "han pair": (4, 1, math.inf),
    "kana pair": (4, 1, 2),
    "letters pair": (4, 1, 2),
    "letters window": (2, 1 / 2, math.inf),
    "hangul": (2, 1, 2),
    "hangul pair": (3, 1, math.inf),
    "hangul word": (3, 1, math.inf),
}


def third_factor(token: str, distinct: int) -> tuple[Fraction, float]:
    """The same for version 3, which looks at the number of distinct tokens of the text, too."""
    if any(is_number(char) and not group(char) for char in token[:1] + token[-1:]):
        more = way(6, 16, distinct) * (1 - way(40, 200, distinct))
        return 1 + more / 2, math.inf
    if kind := unspaced_kind(token):
        short, long, most = UNSPACED[kind]
        start, end = Fraction(short) / 4, Fraction(long) / 4
        return nearest_step(start + (end - start) * way(10, 60, distinct)), most
    if any(is_number(char) or group(char) or is_hangul(char) for char in token):
        return Fraction(1), math.inf
    less = 1 - Fraction(1, 2 ** min(max(5 - len(token), 0), 4))
    return nearest_step(1 - less * way(10, 100, distinct)), math.inf


def unspaced_kind(token: str) -> str:
    """What a token of scripts without spaces, or of Korean, is; "" for every other one."""
    groups = {"hangul" if is_hangul(char) else group(char) for char in token}
    if groups == {"hangul"}:
        return ["hangul", "hangul pair", "hangul word"][min(len(token), 3) - 1]
    if not token or groups & {"", "hangul"}:
        return ""
    script = groups.pop() if len(groups) == 1 else "han"
    if len(token) == 1:
        return script
    if script == "letters" and len(token) == 6:
        return "letters window"
    return f"{script} pair" if len(token) == 2 else "han pair"


def way(start: int, end: int, distinct: int) -> Fraction:
    """How far a number is on its way from `start` to `end`, from 0 to 1."""
    return min(max(Fraction(distinct - start, end - start), Fraction(0)), Fraction(1))


def nearest_step(factor: Fraction) -> Fraction:
    """The nearest of 1, 3/4, 1/2, 3/8, 1/4, 3/16, …; of two the larger."""
    steps = [Fraction(part, 4 * 2**power) for power in range(9) for part in (4, 3)]
    return min(steps, key=lambda step: abs(step - factor))


def weighted(found: Sequence[str], recipe: Any) -> Features:
    """Counted and weighted tokens, in order of first occurrence."""
    counts = Counter(found)
    total = len(found)
    features: Features = []
    for token, tf in counts.items():
        match recipe.weights:
            case "log":
                weight = _sixteenths(1 + math.log(tf))
            case "log-length":
                weight = length_weight(token, tf, recipe, len(counts))
            case "tf":
                weight = float(tf)
            case "binary":
                weight = 1.0
            case "frequency":
                weight = tf / total
            case "tfidf" if recipe.idf == "jieba":
                loader = jieba.analyse.default_tfidf
                weight = tf * (loader.idf_freq.get(token, loader.median_idf) / total)
            case "tfidf":
                df = recipe.idf.counts.get(token, 0)
                weight = _sixteenths(tf * (1 + math.log((1 + recipe.idf.documents) / (1 + df))))
            case _:
                raise ValueError(recipe.weights)
        features.append((token, weight))
    return features


def limited(features: Features, recipe: Any) -> Features:
    """The heaviest `top`, weights `scale`d to integers, nothing that weighs nothing."""
    if recipe.top is not None:
        # sorted() is stable: of equal weights the first to occur stays first.
        features = sorted(features, key=lambda feature: -feature[1])[: recipe.top]
    if recipe.scale is not None:
        features = [(token, int(weight * recipe.scale)) for token, weight in features]
    return [(token, weight) for token, weight in features if weight != 0]


def shared(text: str, recipe: Any) -> Features:
    """The features of a view: each part of it in its share of the sum of squares."""
    forms = dict(view_tokens(normalize(text, recipe.normalize, recipe.tokens), recipe.version))
    counts = Counter(tokens(text, recipe))
    steps = {token: int(16 * view_weight(forms[token], tf, recipe)) for token, tf in counts.items()}
    squares: Counter[str] = Counter()
    for token, weight in steps.items():
        squares[view_of(token)] += weight * weight
    total = sum(recipe.views.values())
    shares = {view: share / total for view, share in recipe.views.items()}
    if "text" in squares and not {"keys", "body"} & set(squares):
        tags = sum(view_of(token) == "tags" for token in steps)
        left = shares.get("tags", 0) * 256 / (tags * tags + 256)
        shares["tags"] = shares.get("tags", 0) - left
        shares["text"] += left
    factors = {view: math.sqrt(shares[view] / n) * 16000 for view, n in squares.items()}
    return [
        (token, max(math.floor(weight * factors[view_of(token)] + 0.5), 1) / 16)
        for token, weight in steps.items()
    ]


def view_weight(form: str, tf: int, recipe: Any) -> float:
    match form:
        case "=once":
            return 1.0
        case "=quarter":
            return _sixteenths((1 + math.log(tf)) / 4)
        case "":
            return _sixteenths(1 + math.log(tf))
    # The views together are a long text, whatever each has.
    return length_weight(form, tf, recipe, 200)


def features(text: str, recipe: Any) -> Features:
    if recipe.weights == "shares":
        return limited(shared(text, recipe), recipe)
    return limited(weighted(tokens(text, recipe), recipe), recipe)


# ----------------------------------------------------------------------------------------- hashes


def xxh3(token: str, bits: int) -> int:
    data = token.encode()
    if bits <= 64:
        return xxhash.xxh3_64_intdigest(data)
    return sum(xxhash.xxh3_128_intdigest(data, seed=seed) << 128 * seed for seed in range(4))


def md5_last(token: str, bits: int) -> int:
    return int(hashlib.md5(token.encode()).hexdigest(), 16)


def md5_first(token: str, bits: int) -> int:
    return int.from_bytes(hashlib.md5(token.encode()).digest()[: bits // 8], "big")


def python_hash(token: str, bits: int) -> int:
    if not token:
        return 0
    mask = 2**bits - 1
    x = ord(token[0]) << 7
    for char in token:
        x = ((x * 1000003) ^ ord(char)) & mask
    return x ^ len(token)


def hashlittle2(data: bytes) -> tuple[int, int]:
    """Bob Jenkins' lookup3 with both seeds 0: its two words (c, b)."""
    mask = 0xFFFFFFFF

    def rot(x: int, k: int) -> int:
        return (x << k | x >> 32 - k) & mask

    a = b = c = (0xDEADBEEF + len(data)) & mask
    if not data:
        return c, b
    # A last piece of 1 to 12 bytes is filled up with zeros and goes through the final mix.
    pieces = -(-len(data) // 12)
    blocks = struct.iter_unpack("<3I", data.ljust(pieces * 12, b"\0"))
    for number, (x, y, z) in enumerate(blocks, start=1):
        a, b, c = (a + x) & mask, (b + y) & mask, (c + z) & mask
        if number < pieces:
            for k in ((4, 6, 8), (16, 19, 4)):
                a = ((a - c) & mask) ^ rot(c, k[0])
                c = (c + b) & mask
                b = ((b - a) & mask) ^ rot(a, k[1])
                a = (a + c) & mask
                c = ((c - b) & mask) ^ rot(b, k[2])
                b = (b + a) & mask
    for k in ((14, 11, 25), (16, 4, 14)):
        c = ((c ^ b) - rot(b, k[0])) & mask
        a = ((a ^ c) - rot(c, k[1])) & mask
        b = ((b ^ a) - rot(a, k[2])) & mask
    c = ((c ^ b) - rot(b, 24)) & mask
    return c, b


def lookup3(token: str, bits: int) -> int:
    c, b = hashlittle2(token.encode())
    return b << 32 | c


def lookup3_yanyiwu(token: str, bits: int) -> int:
    c, b = hashlittle2(token.encode())
    return c << 32 | b


HASHES: dict[str, Callable[[str, int], int]] = {
    "xxh3": xxh3,
    "md5": md5_last,
    "md5-first": md5_first,
    "python": python_hash,
    "lookup3": lookup3,
    "lookup3-yanyiwu": lookup3_yanyiwu,
}


def token_hash(token: str, recipe: Any) -> int:
    if callable(recipe.hash):
        value = recipe.hash(token)
        number: int = int.from_bytes(value, "big") if isinstance(value, bytes) else int(value)
    else:
        number = HASHES[recipe.hash](token, recipe.bits)
    mask: int = 2**recipe.bits - 1
    return number & mask


# ------------------------------------------------------------------------------------------ votes


def column(hashed: Sequence[tuple[int, float]], bit: int, votes: str) -> Fraction | float:
    """Which way a column leans: above zero 1, below zero 0, zero is a tie."""
    if votes == "exact":
        exact = Fraction(0)
        for value, weight in hashed:
            exact += Fraction(weight) if value >> bit & 1 else -Fraction(weight)
        return exact
    if votes == "signed-float":
        signed = 0.0
        for value, weight in hashed:
            signed += weight if value >> bit & 1 else -weight
        return signed
    if votes == "half-float":
        ones = total = 0.0
        for value, weight in hashed:
            total += weight
            if value >> bit & 1:
                ones += weight
        return ones - total / 2
    raise ValueError(votes)


def tie_bit(bit: int, tie: str) -> int:
    return {"zero": 0, "one": 1, "mask": 1 - bit % 2}[tie]


def vote(made: Features, recipe: Any) -> int | None:
    if len(made) < recipe.min_features:
        return None
    hashed = [(token_hash(token, recipe), weight) for token, weight in made]
    value = 0
    for bit in range(recipe.bits):
        lean = column(hashed, bit, recipe.votes)
        value |= (lean > 0 if lean else tie_bit(bit, recipe.tie)) << bit
    return value


def fingerprint(text: str, recipe: Any) -> int | None:
    return vote(features(text, recipe), recipe)


def merged(given: Iterable[Any] | Mapping[str, Any]) -> Features:
    """Tokens, pairs or a dict as weighted features: equal tokens once, their weights added up."""
    weights: dict[str, float] = {}
    for feature in given.items() if isinstance(given, Mapping) else given:
        token, weight = (feature, 1) if isinstance(feature, str) else feature
        weights[token] = weights.get(token, 0.0) + float(weight)
    return list(weights.items())


def fingerprint_features(given: Iterable[Any] | Mapping[str, Any], recipe: Any) -> int | None:
    return vote(limited(merged(given), recipe), recipe)
