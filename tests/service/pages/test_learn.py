"""The page Learn and its JSON page: the numbers of the library, in both languages, harmless."""

from __future__ import annotations

import json
import re
from functools import partial
from html import unescape
from typing import Any

import httpx
import pytest

import neardup as nd
from helpers.html_page import BIDI, NASTY, Page
from helpers.service_pages import check_harmless
from neardup.service.learning.exercises import BLOCKS_EXAMPLE_LEVELS, EXAMPLES, make_exercise
from neardup.service.learning.lessons import (
    BLOCK_FIELDS,
    COMMON_FIELDS,
    EXERCISE_FIELDS,
    PLOT_FIELDS,
    WORD_FIELDS,
)
from neardup.service.learning.steps import WIDTHS, Word, format_words
from neardup.service.pages.learn_phrases import LEARN_PHRASES
from neardup.text.presets import PRESETS

# On a machine with much else to do an answer may take its time.
fetch = partial(httpx.get, timeout=60)
post = partial(httpx.post, timeout=60)
TEXT = "The cat sat on the mat. 我爱自然语言处理，我爱北京天安门。"
OTHER = "The dog sat on the mat. 我爱自然语言分析，我爱北京天安门。"
VIEW = "status 404\nheader server nginx\ntitle Not found\ntags 0html 1body 2p\ntext Not found here"


def text_by_id(page: str, name: str) -> str:
    """Return the text of an element without children."""
    found = re.search(rf'id="{name}"[^>]*>([^<]*)<', page)
    assert found is not None
    return unescape(found[1])


def get(served: str, query: dict[str, Any] | None = None, **options: Any) -> httpx.Response:
    return fetch(f"{served}/learn", params=query, **options)


def json_page(served: str, query: dict[str, Any]) -> dict[str, Any]:
    answer = fetch(f"{served}/learn.json", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("preset", PRESETS)
def test_the_json_page_is_what_explain_says(served: str, preset: str, bits: int) -> None:
    one, two = (VIEW, VIEW.replace("404", "200")) if "http" in preset else (TEXT, OTHER)
    query: dict[str, Any] = {"a": one, "b": two, "recipe": preset, "bits": bits}
    if bits == 128 and preset.startswith("lookup3"):
        answer = fetch(f"{served}/learn.json", params=query)
        assert answer.status_code == 400
        assert answer.headers["content-type"] == "application/problem+json"
        assert "fewer than 128 bits" in answer.json()["detail"]
        return
    recipe = nd.Recipe.preset(preset, bits=bits)
    found = json_page(served, query)
    assert found["first"] == nd.explain(one, recipe).to_dict()
    assert found["second"] == nd.explain(two, recipe).to_dict()
    assert found["width"] == bits
    assert found["beside"]["cosine"] == pytest.approx(nd.similarity(one, two, recipe))
    codes = nd.fingerprint(one, recipe), nd.fingerprint(two, recipe)
    assert codes[0] is not None
    assert codes[1] is not None
    assert found["beside"]["distance"] == (codes[0] ^ codes[1]).bit_count()


def test_words_with_weights_are_what_explain_says(served: str) -> None:
    words = [("北京", 1.0), ("上海", 2.0), ("成都", 4.3)]
    lines = format_words([Word(*word) for word in words])
    found = json_page(served, {"as": "words", "a": lines, "recipe": "lookup3", "bits": 64})
    assert found["first"] == nd.explain(words, "lookup3").to_dict()
    assert found["first"]["fingerprint"] == f"{nd.fingerprint(words, 'lookup3'):016x}"
    assert found["second"] is None


def test_the_worked_example_stands_on_the_page(served: str) -> None:
    page = get(served, dict(EXAMPLES[0].values)).text
    assert text_by_id(page, "fingerprint") == "11101010"
    rows = re.findall(r'<td class="heat [a-z0-9]+">([^<]*)</td>', page)
    assert rows[:8] == ["+1", "+7", "+3", "−3", "+3", "−5", "+1", "−1"]
    assert "the fingerprint is 11101010" in page
    assert text_by_id(page, "distance") == "1"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_example_is_linked_and_recognised(served: str, example: Any, language: str) -> None:
    links = Page(get(served, {"lang": language}).text).values("href")
    link = next(
        link
        for link in links
        if dict(httpx.QueryParams(link.partition("?")[2].partition("#")[0])).items()
        >= example.values.items()
    )
    page = fetch(served + link)
    assert page.status_code == 200
    note = str(LEARN_PHRASES[f"example.{example.key}_note"][language == "zh"])
    assert note in unescape(page.text)


def test_what_is_shown_without_asking(served: str) -> None:
    for language, bits in (("en-GB", 16), ("zh-CN,zh;q=0.9", 8)):
        page = get(served, headers={"Accept-Language": language})
        assert page.status_code == 200
        assert len(text_by_id(page.text, "fingerprint")) == bits


def test_weights_edited_in_the_table(served: str) -> None:
    """The form of weights sends words one by one; the page then holds them as lines."""
    query = [("t", "茶壶"), ("w", "4"), ("h", "100101"), ("t", "饺子"), ("w", "5"), ("h", "101011")]
    page = fetch(f"{served}/learn", params=[*query, ("b", ""), ("recipe", "lookup3")])
    assert text_by_id(page.text, "fingerprint") == "101011"
    assert text_by_id(page.text, "a").strip() == "茶壶 4 100101\n饺子 5 101011"
    wrong = fetch(f"{served}/learn", params=[("t", "x"), ("w", "many")])
    assert wrong.status_code == 400
    assert "The line “x many ” cannot be parsed" in wrong.text


def test_the_form_of_weights_fits_an_address(served: str) -> None:
    """What the page would send is less than a server takes, or it is not offered."""
    lines = "\n".join(f"{'汉' * 10}{at} 0.123456 {at:064b}" for at in range(20))
    texts = ["".join(map(chr, range(0x4E00, 0x4E00 + n))) for n in (60, 1000)]
    for kind, text in [("words", lines), *(("text", text) for text in texts)]:
        for recipe in ("default", "characters"):
            page = get(served, {"as": kind, "a": text, "b": text, "recipe": recipe}).text
            form = page.split('id="weights-form"')[1].split("</form>")[0]
            sent = re.findall(r'<input[^>]* name="(\w+)"[^>]* value="([^"]*)"', form)
            assert len(str(httpx.QueryParams(sent))) < 40_000


def test_a_flipped_bit_is_part_of_the_query(served: str) -> None:
    query = {"stored": "0101", "query": "0101", "k": "1", "flip": "3"}
    assert json_page(served, query)["blocks"]["query"] == "1101"
    page = get(served, query).text
    assert 'name="query" class="mono" value="1101"' in page
    # No other form would flip it once more.
    assert '<input type="hidden" name="flip"' not in page
    assert '<input type="hidden" name="stored"' in page
    hexadecimal = {**query, "stored": "0x5", "query": "0x5"}
    assert 'name="query" class="mono" value="0xd"' in get(served, hexadecimal).text


def test_many_sums_are_rounded_and_keep_their_signs(served: str) -> None:
    found = get(served, {"as": "words", "a": "x 0.125\ny 0.001", "recipe": "lookup3", "bits": 64})
    cells = re.findall(r'<td class="heat (\w+)" title="([^"]+)">([^<]+)</td>', found.text)
    assert len(cells) == 64
    assert {full for _, full, _ in cells} <= {"+0.126", "+0.124", "−0.126", "−0.124"}
    assert {short for _, _, short in cells} == {"+0.13", "+0.12", "−0.13", "−0.12"}
    tiny = get(served, {"as": "words", "a": "x 0.001", "recipe": "lookup3", "bits": 64}).text
    assert {*re.findall(r'title="[^"]+">([^<]+)</td>', tiny)} == {"+0", "−0"}


def test_the_savings_that_the_note_counts(served: str) -> None:
    query = {"stored": "0x0000000000000078", "query": "0x0000000000000070", "k": "3"}
    page = get(served, query).text
    assert "2^m / (m · (k + 1)) = 1024 times" in page
    assert "makes it 87381.33 times, with 16 tables and keys of 28 bits" in page


def test_two_levels_of_blocks(served: str) -> None:
    query = {**BLOCKS_EXAMPLE_LEVELS}
    page = get(served, query).text
    assert text_by_id(page, "blocks-said") == "1 of 4 found, 2 compared."
    assert "found by block 1.3: 3 ≤ 3" in page
    assert "within the equal block no block is equal" in page
    assert "<option selected>2</option>" in page.split('id="levels"')[1].split("</select>")[0]
    assert "needs only four tables" in page
    found = json_page(served, query)["blocks"]
    assert (found["levels"], found["stored"][0]["keys"]) == (2, ["1.3"])
    one = get(served, {**query, "levels": "1"}).text
    assert text_by_id(one, "blocks-said") == "1 of 4 found, 3 compared."
    assert "needs only four tables" not in one
    chinese = get(served, {**query, "lang": "zh"}).text
    assert "由第 1.3 段找到" in chinese
    assert "相同的段之内没有相同的段" in chinese
    wrong = get(served, {**query, "levels": "3"})
    assert wrong.status_code == 400
    assert "levels" in wrong.text


def test_an_exercise_checked_without_a_script(served: str) -> None:
    right = make_exercise(3, "en")
    query: dict[str, Any] = {"e": 3, "s": right.sums, "f": [*right.steps.bits], "check": 1}
    page = get(served, {**query, "d": right.distance}).text
    assert "All 17 answers are right." in page
    assert page.count('class="mark right"') == 17
    page = get(served, {**query, "d": right.distance + 1}).text
    assert "16 of 17 answers are right" in page
    assert page.count('class="mark wrong"') == 1
    assert "answers are right" not in get(served, {"e": 3}).text


def test_a_refused_lesson_leaves_the_others(served: str) -> None:
    page = get(served, {"k": "9", "a": "one two three", "bits": "16", "e": "5"})
    assert page.status_code == 400
    assert "k is “9”; it must be a whole number from 0 to 7." in page.text
    assert len(text_by_id(page.text, "fingerprint")) == 16
    assert "Exercise 5" in page.text
    in_chinese = get(served, {"k": "9", "lang": "zh"}).text
    assert "k 是“9”，应为 0 到 7 的整数。" in in_chinese


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"a": "x" * 1001}, "The text has 1,001 characters; the limit is 1,000."),
        ({"as": "words", "a": "x 1\n" * 1001}, "the limit is 2,000"),
        ({"as": "words", "a": "x\n" * 201}, "There are 201 words; the limit is 200."),
        ({"as": "letters"}, "“as” is “letters”; it must be text or words."),
        ({"recipe": "none"}, "Unknown recipe “none”"),
        ({"bits": "24"}, "bits is 24; choose 8, 16, 32, 64, 128."),
        ({"bits": "１６"}, "bits is “１６”; it must be a whole number from 8 to 128."),
        ({"e": "1000"}, "e is “1000”; it must be a whole number from 1 to 999."),
        ({"p": "nan"}, "p is “nan”; it must be a whole number from 0 to 30."),
        ({"pbits": "64", "r": "65"}, "r is “65”; it must be a whole number from 0 to 32."),
        ({"flip": "-1"}, "flip is “-1”; it must be a whole number from 0 to 63."),
    ],
)
def test_what_is_refused_says_why(served: str, query: dict[str, str], said: str) -> None:
    page = get(served, query)
    assert page.status_code == 400
    assert said in page.text
    answer = fetch(f"{served}/learn.json", params=query)
    assert answer.status_code == 400
    assert said in answer.json()["detail"]


@pytest.mark.parametrize("text", ["", " ", "。！？", "\0", "word", "\u202e"])
@pytest.mark.parametrize("kind", ["text", "words"])
def test_texts_of_hardly_anything(served: str, text: str, kind: str) -> None:
    page = get(served, {"as": kind, "a": text, "b": text})
    assert page.status_code == 200
    check_harmless(page.text)
    assert json_page(served, {"as": kind, "a": text})["second"] is None


NAMES = sorted(WORD_FIELDS | BLOCK_FIELDS | EXERCISE_FIELDS | PLOT_FIELDS | COMMON_FIELDS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["text", "words"])
def test_hostile_texts_in_every_field(served: str, name: str, kind: str) -> None:
    hostile = NASTY.replace("\ud800", "\ufffd")
    for value in (hostile, f'"{hostile} 1', "{{7*7}}{n}%s</textarea></script>", f"{BIDI}\x1b\0 1"):
        query: Any = [("as", kind), (name, value), (name, value)]
        page = fetch(f"{served}/learn", params=query)
        assert page.status_code in (200, 400)
        check_harmless(page.text)
        answer = fetch(f"{served}/learn.json", params=query)
        assert answer.status_code == page.status_code
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_fields_hold_exactly_what_was_typed(served: str) -> None:
    """Invisible characters are character references in the source, and themselves in the field."""
    typed = f"a{BIDI}\x85\u2028\u3000\r<&\"' z"
    page = get(served, {"a": typed, "query": typed, "stored": "0101"}).text
    check_harmless(page)
    assert text_by_id(page, "a") == f"\n{typed}"
    assert typed in Page(page).values("value")


def test_half_characters_and_bad_escapes_in_an_address(served: str) -> None:
    for query in ("a=%ff%fe", "a=%ed%a0%80", "a=%", "a=%00", "a=" + "%E6%88%91" * 1000):
        page = fetch(f"{served}/learn?{query}")
        assert page.status_code == 200, query
        check_harmless(page.text)


def test_the_model_for_the_script(served: str) -> None:
    answer = fetch(f"{served}/learn/model.json", params={"bits": 64}).json()
    points = {point["share"]: point for point in answer["points"]}
    plotted = json_page(served, {"pbits": "64", "r": "3"})["plot"]
    assert points[0.05]["within"][3] == plotted["points"][10]["within"]
    assert (
        plotted["measured"] == answer["measured"]["3"] == [[0.02, 0.74], [0.05, 0.45], [0.1, 0.19]]
    )
    for bits in ("7", "x", "", "１６", "9" * 5000):
        wrong = fetch(f"{served}/learn/model.json", params={"bits": bits})
        assert wrong.status_code == 400
        assert wrong.json()["detail"].endswith("choose 8, 16, 32, 64, 128.")


def test_a_text_edited_at_random(served: str) -> None:
    text = " ".join(f"word{at}" for at in range(100))
    body = {"text": text, "recipe": "default", "bits": 64, "seed": 3}
    answer = post(f"{served}/learn/edits.json", json=body)
    assert answer.status_code == 200
    points = answer.json()["points"]
    assert points == post(f"{served}/learn/edits.json", json=body).json()["points"]
    assert points[0]["distances"] == [[0, 40]]
    assert points[4]["share"] == 0.05
    assert points[-1]["mean"] > points[4]["mean"] > 0
    other = post(f"{served}/learn/edits.json", json={**body, "seed": 4}).json()["points"]
    assert other != points


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff", 400),
        (b"[]", 422),
        (b'{"text": 1}', 422),
        (b'{"text": "a", "bits": "64"}', 422),
        (b'{"text": "a", "more": 1}', 422),
        (b'{"text": "too few words", "seed": 1}', 400),
        (json.dumps({"text": "x y " * 2501}).encode(), 400),
        (b'{"text": "' + b"x" * 200_000 + b'"}', 413),
        (b"[" * 100_000, 422),
    ],
)
def test_bad_texts_to_edit(served: str, body: bytes, status: int) -> None:
    head = {"Content-Type": "application/json"}
    answer = post(f"{served}/learn/edits.json", content=body, headers=head)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": ""}, 415),
        ({"Content-Type": "application/json", "Origin": "http://elsewhere.example"}, 403),
    ],
)
def test_a_text_of_another_type_or_site_is_not_edited(
    served: str, head: dict[str, str], status: int
) -> None:
    body = json.dumps({"text": "x " * 20})
    answer = post(f"{served}/learn/edits.json", content=body, headers=head)
    assert answer.status_code == status
    assert answer.headers.get("Accept") == ("application/json" if status == 415 else None)
