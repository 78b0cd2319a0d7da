"""Where a text quotes others, and where it lists them."""

from __future__ import annotations

import re

# Pairs of marks that are written differently at both ends. Titles (《》) are no quotations.
PAIRS = {"“": "”", "„": "“”", "「": "」", "『": "』", "«": "»", "﹁": "﹂", "﹃": "﹄"}
CLOSING = "".join(PAIRS.values())
# A mark that is the same at both ends opens before a word and closes behind one.
STRAIGHT = re.compile(r'(?<!\w)["＂](?=\S)[^"＂]*(?<=\S)["＂](?!\w)')
# A quotation does not go on after an empty line: a mark that was forgotten would turn all of the
# text inside out.
PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
BLOCK = re.compile(r"^[^\S\n]*>.*$", re.MULTILINE)

NUMBER = r"(?:\(?[0-9ivxIVX一二三四五六七八九十]{1,5}[.)、．）]?[^\S\n]*)?"
REFERENCES = re.compile(
    r"^[^\S\n]*[#*【\[［（(]*[^\S\n]*"
    + NUMBER
    + r"(?:references?(?:[^\S\n]+cited)?|reference[^\S\n]+list|list[^\S\n]+of[^\S\n]+references"
    r"|bibliography|works[^\S\n]+cited|literature(?:[^\S\n]+cited)?|literatur(?:verzeichnis)?"
    r"|références|bibliographie|referencias|bibliografía|参考文献|參考文獻|参考资料|參考資料"
    r"|引用文献|主要参考文献)"
    r"[^\S\n]*[】\]］）):：*]*[^\S\n]*$",
    re.MULTILINE | re.IGNORECASE,
)
# What may come after a list of references.
HEADING = re.compile(
    r"^[^\S\n]*(?:#{1,6}[^\S\n]|[*【\[［]*[^\S\n]*"
    + NUMBER
    + r"(?:appendix|appendices|acknowledge?ments?|about[^\S\n]+the[^\S\n]+authors?|supplementary"
    r"|anhang|annexes?|附[^\S\n]*录|附[^\S\n]*錄|致[^\S\n]*谢|致[^\S\n]*謝|谢[^\S\n]*辞|后[^\S\n]*记"
    r"|後[^\S\n]*記|作者简介|作者簡介|攻读).{0,60}$)",
    re.MULTILINE | re.IGNORECASE,
)

Stretch = tuple[int, int]


def quotations(text: str) -> list[Stretch]:
    """Stretches in quotation marks, and lines that begin with > as mails quote; in order.

    >>> [text[a:b] for text in ['He said: "It is late." 「是的。」'] for a, b in quotations(text)]
    ['"It is late."', '「是的。」']
    """
    found = [match.span() for match in BLOCK.finditer(text)]
    start = 0
    for gap in [*PARAGRAPH.finditer(text), None]:
        end = len(text) if gap is None else gap.start()
        found += [match.span() for match in STRAIGHT.finditer(text, start, end)]
        found += _paired(text, start, end)
        start = end
    return merged(found)


def _paired(text: str, start: int, end: int) -> list[Stretch]:
    """Stretches between an opening mark and the one that closes it; those within are part of it."""
    found = []
    at, closing = start, ""
    opened = start
    for match in re.finditer(f"[{''.join(PAIRS)}{CLOSING}]", text[start:end]):
        mark, at = match.group(), start + match.start()
        if closing:
            if mark in closing:
                found.append((opened, at + 1))
                closing = ""
        elif mark in PAIRS:
            opened, closing = at, PAIRS[mark]
    return found


def references(text: str) -> list[Stretch]:
    """Lists of references: from their heading to the next heading that is known, or to the end."""
    found = []
    for match in REFERENCES.finditer(text):
        after = HEADING.search(text, match.end())
        found.append((match.start(), len(text) if after is None else after.start()))
    return merged(found)


def merged(stretches: list[Stretch]) -> list[Stretch]:
    """The same stretches in order, those that overlap or touch as one."""
    found: list[Stretch] = []
    for start, end in sorted(stretches):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found
