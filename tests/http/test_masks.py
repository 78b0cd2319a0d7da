"""Rules that mask: names, what each masks, and that switching one off leaves what it masked."""

from __future__ import annotations

import random
import string
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _core
from neardup.http.labels import Labels
from neardup.http.messages import Response
from neardup.http.views import MASK_DESCRIPTIONS, ViewBuilder, previews
from neardup.text.views import MASKS, VIEWS, Viewing

ALL = ViewBuilder(Viewing(VIEWS, MASKS))
WITHOUT = {
    rule: ViewBuilder(Viewing(VIEWS, tuple(name for name in MASKS if name != rule)))
    for rule in MASKS
}

PAGE = """<html><head><title>Sign in</title></head><body class="page">
<h1>Welcome back</h1><p>Please sign in to go on. {text}</p>
<div class="{name}">您好，请登录。</div></body></html>"""


def page(
    text: str = "",
    *,
    name: str = "box",
    url: str = "https://a.example/",
    header: str = "",
    value: str = "",
) -> Response:
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html"),)
    if header:
        headers += ((header, value),)
    body = PAGE.format(text=text, name=name).encode()
    return Response(url=url, status=200, headers=headers, body=body, length=len(body))


def hexadecimal(chance: random.Random, length: int) -> str:
    # A digit, since words such as "facade" are words.
    return "7" + "".join(chance.choice("0123456789abcdef") for _ in range(length - 1))


def base64_like(chance: random.Random) -> str:
    letters = string.ascii_letters + string.digits
    return "aB3dE" + "".join(chance.choice(letters) for _ in range(27)) + "x9Y="


def clock(chance: random.Random) -> str:
    return f"{chance.randrange(24):02}:{chance.randrange(60):02}:{chance.randrange(60):02}"


MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def date(chance: random.Random) -> str:
    year, month, day = (
        chance.randrange(2000, 2040),
        chance.randrange(1, 13),
        chance.randrange(1, 29),
    )
    name = MONTHS[month - 1]
    return chance.choice(
        [
            f"{year}-{month:02}-{day:02}T{clock(chance)}Z",
            f"{year}-{month:02}-{day:02} {clock(chance)}",
            f"{day} {name} {year} {clock(chance)} GMT",
            f"{name} {day}, {year}",
            f"{year}年{month}月{day}日",
            f"{day:02}.{month:02}.{year}",
        ]
    )


def response_of(rule: str, chance: random.Random) -> Response:
    """A page with something volatile in it, of the kind that a rule masks."""
    match rule:
        case "dates":
            return page(f"Updated {date(chance)}")
        case "timestamps":
            return page(f"now={chance.randrange(1_400_000_000, 2_000_000_000)}")
        case "uuids":
            return page(f"Visit {uuid.UUID(int=chance.getrandbits(128))}")
        case "tokens":
            length = chance.randrange(16, 64)
            return page(
                f"csrf: {chance.choice([hexadecimal(chance, length), base64_like(chance)])}"
            )
        case "request-ids":
            return page(f"Ray ID: {hexadecimal(chance, 12)} 请求ID：{hexadecimal(chance, 8)}")
        case "cookies":
            value = f"sid={chance.getrandbits(40)}; Path=/p{chance.getrandbits(20)}; HttpOnly"
            return page(header="Set-Cookie", value=value)
        case "cache-busters":
            value = f"</app.{hexadecimal(chance, 8)}.js?v={chance.getrandbits(20)}>; rel=preload"
            return page(header="Link", value=value)
        case "ips":
            four = ".".join(str(chance.randrange(256)) for _ in range(4))
            six = "2001:db8::" + ":".join(f"{chance.randrange(1, 65536):x}" for _ in range(3))
            return page(f"You come from {four} or {six}")
        case "echo":
            path = f"/shop/item-{chance.getrandbits(24)}"
            return page(
                f"Nothing at {path} here", url=f"https://h{chance.getrandbits(16)}.example{path}"
            )
        case "durations":
            return page(
                f"Made in 0.{chance.getrandbits(20):07} seconds, {chance.randrange(999)} queries"
            )
        case "headers":
            return page(header="ETag", value=f'"{chance.getrandbits(20)}"')
        case "classes":
            return page(name=f"css-1{hexadecimal(chance, 6)}")
    raise AssertionError(rule)


def test_the_core_knows_the_same_names() -> None:
    assert tuple(MASK_DESCRIPTIONS) == _core.MASKS


def test_a_preview_counts_by_rule_and_shows_three_originals() -> None:
    text = " ".join(f"203.0.113.{n}" for n in (1, 1, 2, 3, 4)) + " on 2026-11-17"
    response = Response(url="http://a.b/c", status=200, body=text.encode())
    viewing = Viewing(("text",), ("dates", "ips"))
    (found,) = previews([("a:1", 1, response)], viewing, Labels(()))
    assert (found.id, found.number, found.label) == ("a:1", 1, None)
    assert [(each.rule, each.count) for each in found.masked] == [("ips", 5), ("dates", 1)]
    assert found.masked[0].originals == ("203.0.113.1", "203.0.113.2", "203.0.113.3")


@pytest.mark.parametrize("rule", MASKS)
@given(seed=st.integers(0, 2**32))
def test_pages_that_differ_in_what_a_rule_masks_have_equal_views(rule: str, seed: int) -> None:
    chance = random.Random(seed)
    texts, _ = ALL.build([response_of(rule, chance), response_of(rule, chance)])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("rule", MASKS)
def test_a_rule_that_is_off_leaves_what_it_masks(rule: str) -> None:
    chance = random.Random(7)
    pairs = [(response_of(rule, chance), response_of(rule, chance)) for _ in range(20)]
    views = WITHOUT[rule]
    differ = sum(
        views.build_masked(left).text != views.build_masked(right).text for left, right in pairs
    )
    assert differ >= 18
    assert all(mask.rule != rule for pair in pairs for mask in views.build_masked(pair[0]).masks)


@pytest.mark.parametrize("rule", MASKS)
def test_masked_parts_are_reported_with_their_line(rule: str) -> None:
    masks = [
        mask
        for mask in ALL.build_masked(response_of(rule, random.Random(3))).masks
        if mask.rule == rule
    ]
    assert masks
    lines = {
        "cookies": "header set-cookie",
        "cache-busters": "header link",
        "headers": "header etag",
    }
    expected = lines.get(rule, "tags" if rule == "classes" else "text")
    assert {mask.line for mask in masks} == {expected}


def test_a_name_that_is_no_rule_or_view_is_refused() -> None:
    with pytest.raises(
        ValueError, match='masks has "date"; a mask must be one of dates, timestamps'
    ):
        ViewBuilder(Viewing(("text",), ("date",)))
    with pytest.raises(ValueError, match='views has "html"; a view must be one of status, headers'):
        ViewBuilder(Viewing(("html",), ()))
