"""Pages of their own: each is like nothing else in the capture."""

from __future__ import annotations

from random import Random

from .volatile import Volatile
from .words import LANGUAGES
from .written import Written

_TAGS = """
div section article p ul ol li table tr td h1 h2 h3 h4 blockquote pre form fieldset dl dt dd figure
center font b i em strong span a nav aside details summary marquee tt small address main header
"""
_SERVERS = (
    "Zope/4", "Mongrel2", "thttpd/2.29", "WEBrick/1.7", "Roxen/6", "AOLserver", "Cherokee", "Boa/0.94",
    "GoAhead-Webs", "Yaws 2.1", "Hiawatha v11", "nostromo 1.9.6", "CherryPy/18", "TornadoServer/6.3",
    "uvicorn", "hypercorn-h11", "Perl Dancer", "Mojolicious", "micro_httpd", "Monkey/1.6", "bfe", "Resin/4",
)  # fmt: skip
_NAMES = """
X-Backend X-Build X-Host X-Node X-Region X-Theme X-Team X-Mood X-Cluster X-Pod
"""


def odd(number: int, volatile: Volatile, host: str, path: str) -> Written:
    """What the page is made of is drawn by its number, so every number is a page of its own."""
    fixed = Random(f"odd {number}")
    language = LANGUAGES[fixed.choice(list(LANGUAGES))]
    prefix = "".join(fixed.choices("bcdfglmnprstvz", k=2)) + "".join(fixed.choices("aeiou", k=1))
    # A page has a few tags it likes, in a few classes it made up.
    tags = fixed.sample(_TAGS.split(), 7)
    classes = [f"{prefix}{fixed.choice(LANGUAGES['en'].words)}" for _ in range(6)]

    def element(depth: int) -> str:
        tag = fixed.choice(tags)
        name = f' class="{fixed.choice(classes)}"' if fixed.random() < 0.7 else ""
        if depth > 4 or fixed.random() < 0.3:
            inner = language.sentence(fixed, 3, 15)
        else:
            inner = "".join(element(depth + 1) for _ in range(fixed.randint(1, 4)))
        return f"<{tag}{name}>{inner}</{tag}>\n"

    title = language.name(fixed, 2, 5)
    body = "".join(element(0) for _ in range(fixed.randint(4, 12)))
    headers = [
        ("Server", fixed.choice(_SERVERS)),
        ("Date", volatile.http_date()),
        ("Content-Type", "text/html; charset=utf-8"),
        *(
            (name, fixed.choice(LANGUAGES["en"].words))
            for name in fixed.sample(_NAMES.split(), fixed.randint(1, 4))
        ),
    ]
    page = f"<html><head><title>{title}</title></head><body>{body}</body></html>"
    return Written(path, fixed.choice((200, 200, 200, 203, 418, 410)), headers, page)
