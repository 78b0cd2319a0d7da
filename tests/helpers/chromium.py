"""Run static pages and their script in headless Chromium, where it is installed."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="needs Chromium: make browser")
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


def dom(page: Path, *, waits: bool = True) -> str:
    """Return the page as it is when its own script has run.

    waits  also for timers, on a clock that stands still while a script runs
    """
    assert BROWSER is not None
    ran = subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
            f"--user-data-dir={page.parent / 'profile'}",
            *(["--virtual-time-budget=4000"] if waits else []),
            page.as_uri(),
        ],
        capture_output=True,
        timeout=120,
        check=True,
    )
    return ran.stdout.decode()


def answer(page: str, script: str, folder: Path, *, waits: bool = True) -> Any:
    """What the body of an async function returns on the page. The policy, which lets no script but
    the page's own run, is taken out for it.

    waits  False: the script waits for nothing, and the clock it may ask is that of the machine
    """
    assert POLICY.search(page)
    asked = (
        "<script>(async () => {"
        "const frame = () => new Promise((go) => setTimeout(go, 20));"
        "const set = async (box, value) => { box.value = value;"
        " box.dispatchEvent(new Event('input', {bubbles: true})); await frame(); };"
        f"let said; try {{ said = await (async () => {{ {script} }})(); }}"
        "catch (error) { said = String(error); }"
        "const note = document.createElement('pre'); note.id = 'answer';"
        "note.textContent = JSON.stringify(said); document.body.append(note);"
        "})();</script></body>"
    )
    # Headless Chromium draws nothing, so no animation frame would ever fire.
    drawn = "<script>window.requestAnimationFrame = (work) => " + (
        "setTimeout(work, 0);</script>" if waits else "work();</script>"
    )
    path = folder / "asked.html"
    path.write_text(POLICY.sub(drawn, page).replace("</body>", asked), encoding="utf-8")
    found = re.search(r'<pre id="answer">(.*?)</pre>', dom(path, waits=waits), re.DOTALL)
    assert found is not None
    return json.loads(html.unescape(found[1]))
