"""A student's way through the page Learn, in Chromium: both languages, light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from helpers.browser_session import LOOKS, Visit
from helpers.chromium import needs_browser
from neardup.service.learning.exercises import make_exercise
from neardup.service.pages.learn_phrases import LEARN_PHRASES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser


class Student(Visit):
    """A visit of the page, in a language."""

    def __init__(self, chromium: Browser, url: str, language: str, colours: str) -> None:
        super().__init__(chromium, url, language, colours)
        self.language = language

    def learn(self, query: str = "") -> Page:
        page = self.open(f"/learn{query}")
        page.wait_for_selector("#plot svg")
        return page

    def was_refused(self) -> None:
        """The browser itself notes an answer that is no success; here there was one."""
        assert len(self.wrong) == 1
        assert "status of 400" in self.wrong.pop()

    def said(self, name: str, **values: object) -> str:
        found = LEARN_PHRASES[name][self.language == "zh"]
        if not isinstance(found, str):
            found = found[0] if values.get("n") == 1 else found[1]
        return found.format(**values)


@pytest.fixture(params=LOOKS, ids="-".join)
def visit(request: pytest.FixtureRequest, chromium: Browser, served: str) -> Iterator[Student]:
    found = Student(chromium, served, *request.param)
    yield found
    found.close()


def test_words_are_typed_and_bits_flip(visit: Student) -> None:
    page = visit.learn("?bits=16&recipe=weighted-tokens&as=text&a=&b=")
    page.fill("#a", "natural language processing is fun")
    page.fill("#b", "natural language processing is fun")
    page.wait_for_function("() => document.querySelector('#distance')?.textContent === '0'")
    assert page.locator(".flipped").count() == 0
    page.fill("#b", "natural language processing is hard")
    said = visit.said("change.said", n=4, bits=16)
    page.wait_for_function(
        "said => document.querySelector('#said').textContent.includes(said)", arg=said
    )
    assert page.locator("td.flipped").count() == 8
    assert page.locator(".marks [aria-hidden]").all_inner_texts() == ["≠"] * 4
    assert page.inner_text("#fingerprint") == "1100010111101010"
    # The focus stays where it is typed, and the address leads to the same page.
    assert page.evaluate("document.activeElement.id") == "b"
    page.goto(page.url)
    assert page.input_value("#b") == "natural language processing is hard"
    assert page.inner_text("#change-said").startswith(said)


def test_weights_are_changed_in_the_table(visit: Student) -> None:
    page = visit.learn("?as=words&bits=8&recipe=lookup3&a=茶壶+4+100101%0A饺子+5+101011&b=")
    assert page.inner_text("#fingerprint") == "101011"
    page.fill("#w1", "6")
    page.press("#w1", "Tab")
    page.wait_for_function("() => document.querySelector('#fingerprint').textContent === '100101'")
    assert page.input_value("#a") == "茶壶 6 100101\n饺子 5 101011"
    page.fill("#w1", "-1")
    page.press("#w1", "Tab")
    page.wait_for_selector("#steps .error")
    visit.was_refused()
    assert page.inner_text("#fingerprint") == "100101"
    page.goto(page.url)
    assert page.inner_text("#fingerprint") == "100101"


def test_a_text_turns_into_words_and_back(visit: Student) -> None:
    page = visit.learn("?as=text&bits=16&recipe=weighted-tokens&a=the+cat+the+mat&b=the+dog")
    page.check("[name=as][value=words]")
    page.wait_for_function("() => document.querySelector('#a').value === 'the 2\\ncat 1\\nmat 1'")
    assert page.input_value("#b") == "the 1\ndog 1"
    page.check("[name=as][value=text]")
    page.wait_for_function("() => document.querySelector('#a').value === 'the the cat mat'")
    assert page.input_value("#b") == "the dog"
    page.wait_for_function("() => location.search.includes('as=text')")


def test_a_text_too_long_for_an_address(visit: Student) -> None:
    page = visit.learn("?as=text&bits=16&recipe=weighted-tokens&a=one+two&b=")
    before = page.inner_text("#fingerprint")
    page.fill("#a", "汉" * 100_000)
    said = visit.said("refused.text", n=100_000, most=1000)
    page.wait_for_selector("#steps .error")
    assert page.inner_text("#steps .error") == said
    assert page.inner_text("#fingerprint") == before
    page.fill("#a", "one two")
    page.wait_for_selector("#steps .error", state="detached")


def test_a_service_that_is_gone(visit: Student) -> None:
    page = visit.learn("?as=text&bits=16&a=one+two&b=")
    page.route("**/learn?*", lambda route: route.abort())
    page.fill("#a", "one two three")
    page.wait_for_selector("#steps .error")
    assert page.inner_text("#steps .error") == visit.said("own.failed")
    visit.wrong.clear()


def test_bits_of_the_query_are_flipped(visit: Student) -> None:
    page = visit.learn()
    before = page.input_value("#query")
    page.focus("#flip0")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "before => document.querySelector('#query').value !== before", arg=before
    )
    assert page.input_value("#query") == before[:-1] + "1"
    assert page.evaluate("document.activeElement.id") == "flip0"
    assert "flip=" not in page.url
    # Bit by bit away from all that is stored.
    for bit in (1, 4, 5, 8, 12):
        page.click(f"#flip{bit}")
        page.wait_for_function(
            "bit => location.search.includes('query=')"
            " && document.activeElement.id === `flip${bit}`",
            arg=bit,
        )
    page.select_option("#levels", "2")
    page.wait_for_url("**levels=2**")
    page.select_option("#k", "0")
    said = visit.said("blocks.summary", found=0, n=4, looked=0)
    page.wait_for_function("said => document.querySelector('#said').textContent === said", arg=said)
    page.goto(page.url)
    assert page.inner_text("#blocks-said") == said


def test_sliders_move_the_plot(visit: Student) -> None:
    page = visit.learn()
    assert page.locator("#plot circle.measured").count() == 3
    first = page.inner_text("#plot-said")
    assert "45" in first
    curve = page.get_attribute("#plot figure:last-child .curve", "points")
    page.focus("#r")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('#plot-said').textContent.includes('89')")
    assert page.get_attribute("#plot figure:last-child .curve", "points") != curve
    page.focus("#p")
    page.keyboard.press("End")
    page.wait_for_function("() => location.search.includes('p=30')")
    page.select_option("#pbits", "128")
    page.wait_for_function("() => document.querySelector('#plot-said').textContent.includes('128')")
    assert page.locator("#plot circle.measured").count() == 0
    page.goto(page.url)
    page.wait_for_selector("#plot svg")
    assert [page.input_value(name) for name in ("#r", "#p", "#pbits")] == ["6", "30", "128"]
    # What the script says is what the service says without one.
    scripted = page.inner_text("#plot-said")
    tabled = page.evaluate("document.querySelector('#plot-table').textContent")
    page.select_option("#pbits", "64")
    page.wait_for_function("() => document.querySelector('#plot-said').textContent.includes('64')")
    assert page.evaluate("document.querySelector('#plot-table').textContent") != tabled
    page.select_option("#pbits", "128")
    page.wait_for_function("() => document.querySelector('#plot-said').textContent.includes('128')")
    assert page.evaluate("document.querySelector('#plot-table').textContent") == tabled
    plain = page.request.get(page.url, headers={"Accept-Language": visit.language})
    assert scripted in plain.text()
    served = re.search(r'<table class="n" id="plot-table">.*?</table>', plain.text(), re.DOTALL)
    assert served is not None
    cells = re.findall(r"<t[hd](?: [^>]*)?>([^<]*)<", served[0])
    assert cells == page.locator("#plot-table th, #plot-table td").all_text_contents()


def test_a_text_of_ones_own_is_edited(visit: Student) -> None:
    page = visit.learn()
    page.click("#own-form button")
    page.wait_for_selector("#plot rect.own")
    said = page.inner_text("#own-said")
    assert said != visit.said("own.working")
    assert page.locator("#plot rect.own").count() == 22
    assert "40" in said
    page.click("#own-form button")
    page.wait_for_function(
        "said => document.querySelector('#own-said').textContent !== said", arg=said
    )
    page.fill("#own", "few words")
    page.click("#own-form button")
    refused = visit.said("refused.few", n=2, least=10)
    page.wait_for_function(
        "said => document.querySelector('#own-said').textContent === said", arg=refused
    )
    visit.was_refused()


def test_an_exercise_is_done_by_keyboard(visit: Student) -> None:
    page = visit.learn()
    right = make_exercise(1, visit.language)
    page.focus("#s7")
    for answer in (*right.sums, *right.steps.bits[:-1], 1 - int(right.steps.bits[-1])):
        page.keyboard.type(str(answer))
        page.keyboard.press("Tab")
    page.keyboard.type(str(right.distance))
    page.keyboard.press("Enter")
    said = visit.said("hand.some", right=16, n=17)
    page.wait_for_function("said => document.querySelector('#said').textContent === said", arg=said)
    assert page.get_attribute("#f0", "aria-invalid") == "true"
    assert page.evaluate("document.activeElement.id") == "d"
    page.focus("#hint summary")
    page.keyboard.press("Enter")
    assert page.is_visible("#hint p")
    page.fill("#f0", right.steps.bits[-1])
    page.press("#f0", "Enter")
    said = visit.said("hand.all", n=17)
    page.wait_for_function("said => document.querySelector('#said').textContent === said", arg=said)
    assert page.is_visible("#hint p")
    page.click("#reveal summary")
    assert right.steps.bits in page.inner_text("#answers")
    page.click("#next")
    page.wait_for_selector("#plot svg")
    assert page.inner_text("#exercise h3") == visit.said("hand.number", number=2)
    assert page.input_value("#s7") == ""


def test_the_language_is_switched_and_the_words_stay(visit: Student) -> None:
    page = visit.learn("?as=text&bits=16&a=one+two+three&b=one+two")
    page.fill("#b", "one two four")
    page.wait_for_function("() => location.search.includes('four')")
    other = "zh" if visit.language == "en" else "en"
    page.click(f"header [hreflang={other}]")
    page.wait_for_selector("#plot svg")
    assert page.input_value("#b") == "one two four"
    assert page.inner_text("h1") == LEARN_PHRASES["learn.title"][other == "zh"]


def test_nothing_is_wider_than_a_telephone(visit: Student) -> None:
    visit.page.set_viewport_size({"width": 360, "height": 740})
    for query in (
        "",
        "?as=text&bits=128&recipe=default&a=one+two+three&b=one+two",
        "?query=0x0000000000000070&stored=0x0000000000000000",
    ):
        page = visit.learn(query)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_texts_can_be_read(visit: Student) -> None:
    """Contrast of what stands in coloured cells, and of signs: at least 4.5, as WCAG asks."""
    page = visit.learn(
        "?as=text&bits=64&recipe=default&a=one+two+three&b=one+two+four&check=1&s=99"
    )
    worst = page.evaluate(CONTRAST)
    assert worst[0] >= 4.5, worst


def test_without_a_script(chromium: Browser, served: str) -> None:
    visit = Visit(chromium, served, scripts=False)
    page = visit.open("/learn")
    page.fill("#a", "one two three")
    page.click("#words-form button.main")
    assert page.input_value("#a") == "one two three"
    page.click("#flip0")
    assert "1111" in page.input_value("#query")
    assert page.input_value("#a") == "one two three"
    page.fill("#s7", "1")
    page.click("#check")
    assert "of 17 answers are right" in page.inner_text("#exercise-said")
    assert page.input_value("#a") == "one two three"
    assert page.is_visible("#plot-said")
    assert not page.is_visible("#own-form")
    visit.close()


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (...colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (parts) => {
    const [r, g, b] = parts.map((p) => p / 255)
      .map((p) => (p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const found = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (colour !== "rgba(0, 0, 0, 0)") found.unshift(colour);
    }
    return found;
  };
  let worst = [99, ""];
  for (const element of document.querySelectorAll("main *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || element.closest("svg, .unseen, option")) continue;
    if (!element.getClientRects().length) continue;
    const behind = ground(element);
    const pair = [light(rgb(...behind, getComputedStyle(element).color)), light(rgb(...behind))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < worst[0]) worst = [ratio, element.outerHTML.slice(0, 200)];
  }
  return worst;
}"""
