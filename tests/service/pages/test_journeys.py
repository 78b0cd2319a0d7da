"""What a teacher and the operator of a crawler do at the pages, in Chromium."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from helpers.browser_session import LOOKS, NAME, Visit, until, visiting
from helpers.chromium import needs_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser


@pytest.fixture(params=LOOKS, ids="-".join)
def visit(request: pytest.FixtureRequest, chromium: Browser, served: str) -> Iterator[Visit]:
    with visiting(chromium, served, *request.param) as found:
        yield found


@pytest.fixture(scope="module")
def essay(served: str) -> str:
    """Two documents with a few words of one's own between them."""

    def text(id_: str) -> str:
        found: str = httpx.get(f"{served}/v1/documents/{id_}").json()["text"]
        return found

    own = "Nobody else wrote these words, which stand between two things that others have written."
    return f"{text('recipe-lentil')}\n\n{own}\n\n{text('notice-harbour')}"


def share(page: Page) -> float:
    said = page.locator('[data-figure="share"][data-by="w"]').inner_text()
    return float(said.rstrip(" %"))


def checked(visit: Visit, essay: str) -> Page:
    page = visit.open("/check")
    page.fill("#text", essay)
    page.click("button.main")
    page.wait_for_url("**/check?kept=*")
    return page


def test_a_teacher_checks_an_essay_and_leaves_a_source_out(visit: Visit, essay: str) -> None:
    page = checked(visit, essay)
    assert page.locator("tr[data-row]").count() >= 2
    before = share(page)
    assert 80 < before < 100
    assert page.locator("mark[class^=c]").count() > 2
    # All of the same recipe: the share falls, and only then.
    names = page.locator("tr[data-row] td.name").all_inner_texts()
    ranks = [at for at, name in enumerate(names) if name.startswith("recipe")]
    for at in ranks:
        page.locator("input[data-source]").nth(at).uncheck()
    until(page, f"new URL(location).searchParams.getAll('off').length === {len(ranks)}")
    after = share(page)
    assert after < before - 20
    shown = page.locator('[data-figure="share"]').first.inner_text()
    assert shown in page.locator("[data-said]").inner_text()
    # The address is a link that shows the same, for the figures of the server too.
    page.reload()
    assert [box.is_checked() for box in page.locator("input[data-source]").all()] == [
        at not in ranks for at in range(len(names))
    ]
    assert share(page) == after
    found = httpx.get(page.url.replace("/check?", "/check.json?")).json()
    assert found["copied"]["share"] == pytest.approx(after / 100, abs=0.0006)
    page.click("button[data-choose=all]")
    until(page, "!location.search.includes('off=')")
    assert share(page) == before
    # One source alone, and a passage leads to it.
    page.locator("button[data-choose='2']").click()
    until(page, "location.search.includes('off=')")
    assert page.locator("tr.off").count() == len(names) - 1


def test_a_teacher_reads_a_pair_side_by_side(visit: Visit, essay: str) -> None:
    page = checked(visit, essay)
    page.locator("tr[data-row] td.action a").first.click()
    page.wait_for_url("**/pair?*")
    sides = page.locator(".side")
    assert sides.count() == 2
    # The keyboard: Enter on a number leads to the same passage on the other side, which is marked.
    badge = page.locator("[data-side=left] a.n").first
    badge.focus()
    page.keyboard.press("Enter")
    until(page, "document.activeElement.id === 'r1'")
    assert page.locator("[data-side=right] mark.flash").count() >= 1
    assert page.locator("[data-side=left] mark.flash").count() >= 1
    # The mouse: a passage on the right leads to the left.
    page.locator("[data-side=right] mark[data-k='1']").first.click()
    until(page, "document.activeElement.id === 'l1'")
    assert page.locator("[data-side=left] mark.flash").first.is_visible()


def test_a_number_in_the_text_leads_to_the_passage_of_the_pair(visit: Visit, essay: str) -> None:
    page = checked(visit, essay)
    page.locator(".document a.n").first.click()
    page.wait_for_url("**/pair?*#l1")
    until(page, "document.querySelector('mark.flash')")
    assert page.evaluate("document.activeElement.id") == "l1"


def test_a_file_is_dropped(visit: Visit, essay: str) -> None:
    page = visit.open("/check")
    dropped = page.evaluate_handle(
        "text => { const all = new DataTransfer();"
        " all.items.add(new File([text], 'essay.txt', {type: 'text/plain'})); return all; }",
        essay,
    )
    page.dispatch_event("[data-drop]", "drop", {"dataTransfer": dropped})
    until(page, "document.querySelector('#text-file').files.length === 1")
    page.click("button.main")
    page.wait_for_url("**/check?kept=*")
    assert page.locator("h1").inner_text() == "essay.txt"
    assert share(page) > 80


def test_a_file_that_is_too_large_is_rejected_before_upload(visit: Visit) -> None:
    page = visit.open("/check")
    page.evaluate("document.querySelector('#text-file').dataset.most = '10'")
    page.set_input_files(
        "#text-file", {"name": "big.txt", "mimeType": "text/plain", "buffer": b"a" * 11}
    )
    assert "big.txt" in page.locator("[data-chosen]").inner_text()
    page.click("button.main")
    assert page.url.endswith("/check")


def test_the_language_and_the_colours_are_switched(visit: Visit) -> None:
    page = visit.open("/compare?left=one+two+three+four+five&right=one+two+three+four+six")
    other = "zh" if page.evaluate("document.documentElement.lang") == "en" else "en"
    page.click(f".switches a[hreflang={other}]")
    until(page, f"document.documentElement.lang.startsWith('{other}')")
    # The texts are still there.
    assert "one two three four five" in page.locator("[data-side=left]").inner_text()
    for theme, dark in (("dark", True), ("light", False)):
        page.click(f"[data-choose-theme={theme}]")
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (int(re.findall(r"\d+", colour)[0]) < 128) == dark
        page.reload()
        assert page.evaluate("document.documentElement.dataset.theme") == theme
    page.click("[data-choose-theme=auto]")


def test_two_texts_are_compared(visit: Visit) -> None:
    page = visit.open("/compare")
    shared = "the quick brown fox jumps over the lazy dog and runs away from the old barking hound"
    page.fill("#left", f"{shared} at noon")
    page.fill("#right", f"yesterday {shared}")
    page.click("button.main")
    page.wait_for_url("**/compare?left=*")
    bits = page.locator(".bit").count()
    differing = page.locator(".bit.differs").count()
    assert 0 < differing < bits / 2
    assert page.locator("[data-side=left] a.n").count() == 1
    assert page.locator("#left").input_value() == f"{shared} at noon"


def heading(threshold: str) -> str:
    """Whether the pairs that are shown are those of a threshold."""
    number = threshold.replace(".", "[.]")
    return f"/{number}(?!\\d)/.test(document.querySelector('#pairs h3').textContent)"


@pytest.mark.parametrize("looks", LOOKS, ids="-".join)
def test_an_operator_moves_the_threshold_and_marks_pairs(
    chromium: Browser, serve: Callable[..., str], tmp_path: Path, looks: tuple[str, str]
) -> None:
    sign = "%" if looks[0] == "zh" else " %"
    with visiting(chromium, serve(), *looks) as visit:
        page = visit.open("/collection")
        page.wait_for_selector("svg.survey")
        slider = page.locator("#threshold")
        assert slider.input_value() == "0.85"
        # The keyboard.
        slider.focus()
        for _ in range(5):
            page.keyboard.press("ArrowRight")
        assert page.locator("output[for=threshold]").inner_text() == "0.9"
        page.wait_for_url("**/collection?threshold=0.9")
        until(page, heading("0.9"))
        # The mouse: in the middle of the plot the threshold is that of the middle.
        box = page.locator("svg.survey").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] * 0.5)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5, steps=4)
        page.mouse.up()
        middle = float(slider.input_value())
        assert 0.55 < middle < 0.7
        until(page, heading(f"{middle:g}"))
        near = httpx.get(page.url.replace("/collection?", "/collection.json?")).json()["pairs"]
        assert page.locator(".example").count() == len(near["near"]) + len(near["far"])
        # A pair is the same, another one is not.
        first = page.locator("#pairs .two > div").nth(0).locator(".example").first
        first.locator("button[value=same]").click()
        page.wait_for_selector("#marks [data-score=precision]")
        assert page.locator("[data-score=precision]").inner_text() == f"100.0{sign}"
        second = page.locator("#pairs .two > div").nth(0).locator(".example").nth(1)
        second.locator("button[value=different]").click()
        until(
            page, f"document.querySelector('[data-score=precision]').textContent === '50.0{sign}'"
        )
        assert page.locator("[data-marks-count]").inner_text() == "2"
        assert page.locator("button[aria-pressed=true]").count() == 2
        # Precision and recall follow the line.
        slider.fill("1")
        assert page.locator("[data-score=precision]").inner_text() == "–"
        assert page.locator("[data-score=recall]").inner_text() == f"0.0{sign}"
        with page.expect_download() as download:
            page.click("a[href='/collection/marks.csv']")
        download.value.save_as(tmp_path / "marks.csv")
        rows = (tmp_path / "marks.csv").read_text(encoding="utf-8-sig").splitlines()
        assert rows[0] == "left,right,verdict,similarity,distance,time"
        assert len(rows) == 3
        marks = json.loads(httpx.get(f"{visit.url}/collection/marks.json").text)["marks"]
        assert sorted(mark["verdict"] for mark in marks) == ["different", "same"]
        # They are on the disk, and on the page of the pair; there one is taken back.
        mark = next(mark for mark in marks if mark["verdict"] == "same")
        page.goto(f"{visit.url}/pair?id={mark['left']}&source={mark['right']}")
        assert page.locator("button[value=same]").get_attribute("aria-pressed") == "true"
        page.click("button[value=none]")
        page.wait_for_selector("button[value=same][aria-pressed=false]")
        assert httpx.get(f"{visit.url}/collection.json").json()["marks"]["count"] == 1


def test_everything_works_without_scripts(
    chromium: Browser, serve: Callable[..., str], essay: str
) -> None:
    with visiting(chromium, serve(), "en", "light", scripts=False) as visit:
        page = checked(visit, essay)
        before = share(page)
        page.locator("a.plain").first.click()
        assert "off=" in page.url
        assert share(page) <= before
        assert page.locator("tr.off").count() == 1
        page.locator("tr[data-row] td.action a").first.click()
        assert page.locator(".side").count() == 2
        page = visit.open("/collection?threshold=0.95")
        assert "0.95" in page.locator("#pairs h3").first.inner_text()
        page.locator("#pairs button[value=same]").first.click()
        assert page.url.endswith("/collection?threshold=0.95#pairs")
        assert page.locator("[data-score=recall]").count() == 1
        page.click(".switches a[hreflang=zh]")
        assert "文档库" in page.locator("h1").inner_text()
        page.click("[data-choose-theme=dark]")
        assert page.locator("html").get_attribute("data-theme") == "dark"


def test_someone_signs_in(chromium: Browser, serve: Callable[..., str], tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"read {'r' * 20}\nwrite {'w' * 20}\n", encoding="utf-8")
    tokens.chmod(0o600)
    visit = Visit(chromium, serve(token_file=tokens))
    page = visit.open("/pair?id=recipe-lentil&source=recipe-lentil-blog")
    assert "/sign-in?next=" in page.url
    page.fill("#token", "wrong" * 5)
    page.click("button.main")
    assert page.locator("[role=alert]").is_visible()
    page.fill("#token", "r" * 20)
    page.click("button.main")
    page.wait_for_url("**/pair?id=recipe-lentil&source=recipe-lentil-blog")
    # A token to read with cannot mark anything.
    assert page.locator("form.mark").count() == 0
    assert page.evaluate("document.cookie").count("token") == 0
    (cookie,) = [each for each in visit.context.cookies() if each["name"] == "neardup-token"]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    page.click("form[action='/sign-out'] button")
    page.wait_for_url("**/sign-in")
    page.fill("#token", "w" * 20)
    page.click("button.main")
    page.goto(f"{visit.url}/pair?id=recipe-lentil&source=recipe-lentil-blog")
    page.click("button[value=same]")
    page.wait_for_selector("button[value=same][aria-pressed=true]")
    visit.context.close()
    # The browser notes the one answer that was a refusal.
    assert [each for each in visit.wrong if "401" not in each] == []


def test_forms_work_without_tls_under_another_name(
    chromium: Browser, serve: Callable[..., str], tmp_path: Path
) -> None:
    """There a browser says nothing of whose page it is but the Origin."""
    tokens, name = tmp_path / "tokens", "abc/def+ghiJKLMNOP12345=="
    tokens.write_text(f"write {name}\n", encoding="utf-8")
    tokens.chmod(0o600)
    url = serve(token_file=tokens, names=(NAME,))
    visit = Visit(chromium, f"http://{NAME}:{url.rpartition(':')[2]}")
    page = visit.open("/check")
    page.fill("#token", name)
    page.click("button.main")
    page.wait_for_url("**/check")
    page.goto(f"{visit.url}/pair?id=recipe-lentil&source=recipe-lentil-blog")
    page.click("button[value=same]")
    page.wait_for_selector("button[value=same][aria-pressed=true]")
    page.click("form[action='/sign-out'] button")
    page.wait_for_url("**/sign-in")
    visit.context.close()


@pytest.mark.parametrize("path", ["/check?id=recipe-lentil", "/compare", "/collection", "/learn"])
def test_a_telephone_is_wide_enough(chromium: Browser, served: str, path: str) -> None:
    with visiting(chromium, served, "en", "light", width=360) as visit:
        page = visit.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_keyboard_goes_past_the_navigation(visit: Visit) -> None:
    page = visit.open("/check")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").is_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.type("one two three four five")
    # From the text to the file, to the button, and off.
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/check?text=*")
