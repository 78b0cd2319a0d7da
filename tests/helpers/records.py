"""Generated records: made from one form with other fields, and copies of one text."""

from __future__ import annotations

import random
from collections.abc import Callable

Form = Callable[[random.Random, int], list[str]]

TOWNS = ("Rome", "Oslo", "Bern", "New York", "Riga", "Lima", "Quito", "Sao Paulo", "Graz", "Turin")
COLOURS = ("red", "dark blue", "green", "black", "white")


def _distinct(make: Callable[[random.Random], str]) -> Form:
    def records(rng: random.Random, count: int) -> list[str]:
        found: dict[str, None] = {}
        while len(found) < count:
            found.setdefault(make(rng))
        return list(found)

    return records


def _weather(rng: random.Random) -> str:
    return (
        f"Weather report for {rng.choice(TOWNS)}: the temperature at noon was "
        f"{rng.randint(-9, 35)} degrees and the wind came from the north at {rng.randint(2, 60)} "
        f"knots. The station expects {rng.choice(('rain', 'sun', 'snow', 'fog'))} for tomorrow, "
        "and the next report of this service will be published at six in the morning as usual."
    )


def _parcel(rng: random.Random) -> str:
    return (
        f"Parcel {rng.randint(1000, 9999)} was handed to our carrier in {rng.choice(TOWNS)} today "
        "and should arrive within three working days at the address that you gave us."
    )


def _product(rng: random.Random) -> str:
    return (
        f"Crew neck shirt of organic cotton, {rng.choice(COLOURS)}, size {rng.choice('SML')}, "
        f"machine washable at forty degrees, regular fit, article {rng.randint(10**4, 10**5)}"
    )


def _record(rng: random.Random) -> str:
    return (
        f'{{"customer identifier": "c{rng.randint(0, 10**6)}", "account was opened in the year": '
        f'{rng.randint(1970, 2024)}, "preferred language of the customer": '
        f'"{rng.choice(("de", "fr", "zh"))}", "balance of the account in cents": '
        f'{rng.randint(0, 10**6)}, "has agreed to letters about new products": true}}'
    )


def _notice(rng: random.Random) -> str:
    town = rng.choice(("北京", "上海", "广州", "成都", "杭州"))
    return (
        f"关于{town}市{rng.randint(2001, 2024)}年中小学教师资格考试报名的公告：报名时间为"
        f"{rng.randint(1, 12)}月{rng.randint(1, 28)}日起，请考生登录官方网站填写个人信息，"
        "上传本人近期免冠照片，并按规定缴纳考试费用，逾期不予受理。"
    )


FORMS: dict[str, Form] = {
    "weather": _distinct(_weather),
    "parcel": _distinct(_parcel),
    "product": _distinct(_product),
    "record": _distinct(_record),
    "notice": _distinct(_notice),
}


def _story(rng: random.Random) -> list[str]:
    return [f"w{''.join(rng.choices('aeioubcdfg', k=4))}" for _ in range(120)]


def edited_copies(rng: random.Random, count: int) -> list[str]:
    """Return copies of one text, each edited in some places of its own."""
    story = _story(rng)
    copies = []
    for _ in range(count):
        words = list(story)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(words))
            words[at : at + rng.randint(0, 1)] = rng.choices(story, k=rng.randint(0, 2))
        copies.append(" ".join(words))
    return copies


def revised_copies(rng: random.Random, count: int) -> list[str]:
    """Return versions of one text, each made from the one before."""
    words = _story(rng)
    versions = [" ".join(words)]
    while len(versions) < count:
        at = rng.randrange(len(words))
        words[at : at + rng.randint(0, 3)] = _story(rng)[: rng.randint(0, 6)]
        versions.append(" ".join(words))
    return versions
