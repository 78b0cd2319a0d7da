"""axe-core finds nothing serious, on any page, in any language, in any colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from helpers.browser_session import ALL_LOOKS, LOOKS, visiting
from helpers.chromium import needs_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = needs_browser

PAGES = (
    "/check",
    "/check?id=recipe-lentil",
    "/check?id=not-there",
    "/compare",
    "/compare?left=one+two+three+four+five+six&right=one+two+three+four+five+seven",
    "/pair?id=recipe-lentil&source=recipe-lentil-blog",
    "/collection",
    "/learn?bits=16&as=text&a=one+two+three&b=one+two+four",
)
# By day every page once, in turn in each of LOOKS; by night every page in all looks.
EACH = [
    *(
        pytest.param(looks, PAGES[at :: len(LOOKS)], id="-".join(looks))
        for at, looks in enumerate(LOOKS)
    ),
    *(
        pytest.param(looks, PAGES, id=f"{'-'.join(looks)}-all", marks=pytest.mark.nightly)
        for looks in ALL_LOOKS
    ),
]


@pytest.fixture(scope="module")
def axe() -> str:
    from axe_playwright_python.base import AXE_SCRIPT

    return str(AXE_SCRIPT)


@pytest.fixture(scope="module")
def marked(served: str) -> str:
    """So that the page of the collection has scores to show."""
    form = {"left": "recipe-lentil", "right": "recipe-lentil-blog", "verdict": "same"}
    assert httpx.post(f"{served}/collection/marks", data=form).status_code == 303
    return served


@pytest.mark.parametrize(("looks", "pages"), EACH)
def test_axe_finds_nothing_serious(
    chromium: Browser, marked: str, axe: str, looks: tuple[str, str], pages: tuple[str, ...]
) -> None:
    found = []
    with visiting(chromium, marked, *looks) as visit:
        for path in pages:
            page = visit.open(path)
            page.evaluate("for (const each of document.querySelectorAll('details')) each.open = 1")
            page.evaluate(axe)
            results = page.evaluate("axe.run({resultTypes: ['violations']})")
            found += [
                f"{path}: {each['id']}: {node['html'][:160]} {node.get('failureSummary')}"
                for each in results["violations"]
                if each["impact"] in ("serious", "critical")
                for node in each["nodes"]
            ]
        # The browser itself notes the answer of the document that is not there.
        visit.wrong = [each for each in visit.wrong if "404" not in each]
    assert found == []
