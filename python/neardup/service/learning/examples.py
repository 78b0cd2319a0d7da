"""Worked examples of lecture notes on SimHash, ready to be looked at."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Example:
    """What to fill in.

    key      names it; its title and what to look for are phrases
    values   fields of the page, by name
    """

    key: str
    values: dict[str, str] = field(default_factory=dict)


def _words(first: str, second: str, **others: str) -> dict[str, str]:
    return {"as": "words", "a": first, "b": second, "recipe": "lookup3", **others}


def _text(recipe: str, first: str, second: str, bits: int) -> dict[str, str]:
    return {"as": "text", "recipe": recipe, "a": first, "b": second, "bits": str(bits)}


_BY_HAND = "我 1 01011011\n爱 2 11001001\n自然 3 11100010\n语言 2 01111100\n处理 1 00101011"

EXAMPLES = (
    Example(
        "by_hand",
        _words(_BY_HAND, _BY_HAND.replace("处理 1 00101011", "分析 1 10010100"), bits="8"),
    ),
    Example("teapot", _words("茶壶 4 100101\n饺子 5 101011", "茶壶 4\n饺子 3", bits="8")),
    Example("cities", _words("北京 1\n上海 2\n成都 4.3", "北京 1\n上海 2\n重庆 4.3", bits="64")),
    Example("characters", _text("characters", "我爱自然语言处理", "我喜欢自然语言分析", 64)),
    Example(
        "keywords",
        _text(
            "jieba-tfidf",
            "相似的文档生成的哈希值在汉明距离上接近，而差异大的文档哈希值差异显著。",
            "相似的文章生成的指纹在汉明距离上接近，而差异大的文章指纹差异显著。",
            64,
        ),
    ),
    Example(
        "spaces",
        _text(
            "weighted-tokens",
            "natural language processing is fun",
            "natural language processing is hard",
            16,
        ),
    ),
)

# What the page shows before anything is asked.
FIRST = {
    "en": _text("weighted-tokens", "the cat sat on the red mat", "the dog sat on the red mat", 16),
    "zh": EXAMPLES[0].values,
}

# A few fingerprints of 16 bits, one of them near the query in every block but one.
BLOCKS = {
    "stored": "1011001110001111\n0011011110001010\n1011001000101100\n0100110001110000",
    "query": "1011001010001110",
    "k": "3",
}
# The table of the note on a C++ library: 64 bits, and a query of three bits.
BLOCKS_64 = {
    "stored": "0x0000000000000000\n0x0000000000000078",
    "query": "0x0000000000000070",
    "k": "3",
}
