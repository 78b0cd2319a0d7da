"""Pairs of texts that a cosine of words takes for near-duplicates, and what differs in them.

One table for all engines: each pair is (left, right, aspects, words of the right one that the left
one lacks).
"""

from __future__ import annotations

_DOSE = "Patients with this condition should take the tablets twice a day with a glass of water"

PAIRS: dict[str, tuple[str, str, tuple[str, ...], int]] = {
    "equal": (_DOSE, _DOSE.upper() + "!", (), 0),
    "not": (_DOSE, _DOSE.replace("should", "should not"), ("negation",), 1),
    "number": (_DOSE + ", 5 mg", _DOSE + ", 50 mg", ("numbers",), 1),
    "sign": (_DOSE + " at -5 degrees", _DOSE + " at +5 degrees", ("numbers",), 0),
    "thousands": (_DOSE + " 1,000 times", _DOSE + " 1000 times", (), 1),
    "order": (_DOSE + " man bites dog", _DOSE + " dog bites man", ("order",), 0),
    "numbers change places": (
        _DOSE + ", home 3 away 1, the guests",
        _DOSE + ", home 1 away 3, the hosts",
        ("order",),
        1,
    ),
    "month": (
        "三月一日" + "起对全体员工的工资进行调整，请各部门认真执行本通知的各项要求",
        "五月一日" + "起对全体员工的工资进行调整，请各部门认真执行本通知的各项要求",
        ("numbers",),
        1,
    ),
    "shuffled": (_DOSE, " ".join(reversed(_DOSE.split())), ("order",), 0),
    "language": (_DOSE + " written in C", _DOSE + " written in C++", ("symbols",), 0),
    "operator": (_DOSE + " if a == b", _DOSE + " if a != b", ("symbols",), 0),
    "emoji": (_DOSE + " 😀", _DOSE + " 😡", ("symbols",), 0),
    "bullet": (_DOSE, "* " + _DOSE, (), 0),
    "several": (
        _DOSE + " 5 times",
        _DOSE.replace("should", "should never") + " 6 times",
        ("numbers", "negation"),
        2,
    ),
    "chinese": (
        "本公司决定于三月五日起对全体员工的工资进行调整，请各部门认真执行本通知的各项要求",
        "本公司决定不于三月五日起对全体员工的工资进行调整，请各部门认真执行本通知的各项要求",
        ("negation",),
        1,
    ),
    "chinese number": (
        "本公司决定于2024年起对全体员工的工资进行调整，请各部门认真执行本通知的各项要求",
        "本公司决定于2025年起对全体员工的工资进行调整，请各部门认真执行本通知的各项要求",
        ("numbers",),
        1,
    ),
    "chinese numeral": (
        "第三届全国代表大会在首都人民大会堂隆重开幕，来自各地的代表出席了会议并听取报告",
        "第四届全国代表大会在首都人民大会堂隆重开幕，来自各地的代表出席了会议并听取报告",
        ("numbers",),
        1,
    ),
}

# Copies and variants of a few texts: what a question without and with `distinguish` tells apart.
TEXTS: list[str] = [text for left, right, *_ in PAIRS.values() for text in (left, right)]
