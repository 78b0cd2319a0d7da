"""Sessions of Chromium on the pages of the service, which record every error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from helpers.chromium import BROWSER

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LOCALES = {"en": "en-GB", "zh": "zh-CN"}
# Both languages and both color schemes, each once.
LOOKS = [("en", "light"), ("zh", "dark")]
ALL_LOOKS = [(language, colours) for language in ("en", "zh") for colours in ("light", "dark")]

# A host name that only the browser resolves to this machine.
NAME = "search.test"
ARGUMENTS = ["--no-sandbox", f"--host-resolver-rules=MAP {NAME} 127.0.0.1"]


@contextmanager
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        found = started.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        try:
            yield found
        finally:
            found.close()


class Visit:
    """A browser window; `wrong` collects script errors, blocked sources and foreign requests."""

    def __init__(
        self,
        chromium: Browser,
        url: str,
        language: str = "en",
        colours: Any = "light",
        *,
        width: int = 1280,
        scripts: bool = True,
    ) -> None:
        self.url = url
        self.context = chromium.new_context(
            locale=LOCALES[language],
            color_scheme=colours,
            viewport={"width": width, "height": 900},
            java_script_enabled=scripts,
        )
        self.wrong: list[str] = []
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.page.on("console", lambda said: self.wrong.append(f"{said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("request", lambda asked: self._local(asked.url))

    def _local(self, url: str) -> None:
        if not url.startswith((self.url, "blob:", "data:")):
            self.wrong.append(f"foreign: {url}")

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.url}{path}")
        return self.page

    def close(self) -> None:
        self.context.close()
        assert self.wrong == []


@contextmanager
def visiting(chromium: Browser, url: str, *looks: Any, **options: Any) -> Iterator[Visit]:
    """Open a window and assert at the end that nothing went wrong."""
    visit = Visit(chromium, url, *looks, **options)
    try:
        yield visit
    except BaseException:
        visit.context.close()
        raise
    visit.close()


def until(page: Page, expression: str, seconds: float = 15.0) -> None:
    """Waits until something is true on a page. The browser's own way would need the right to make
    scripts of strings, which pages do not give."""
    eventually(lambda: bool(page.evaluate(expression)), seconds)


def eventually(is_true: Callable[[], bool], seconds: float = 15.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, f"not true after {seconds} s"
        time.sleep(0.02)
