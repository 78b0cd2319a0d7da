"""Captures made for the purpose: responses whose kinds are known, in every format that is read.

`made(seed)` gives responses of the templates that recipes may be tuned on, `made(seed,
held_out=True)` those of templates nobody looked at while tuning. What is one kind:

- all pages of one type of one site (its product pages), whatever they are about
- the same page of the same server product, whatever its version, host and path
- the same notice (block, captcha, login, parked name) of the same maker, on every host
- answers of one endpoint of an API with one status
- empty answers with the same status and names of headers; files of one type from one server
- a page of its own is a kind of its own

All of it, names of sites and prose, is made up; of real products only the few words are there that
make such a page what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from neardup.http.messages import Response

from . import apis, notices, servers
from .coding import CODINGS, Coding, encoded
from .formats import FORMATS, write
from .odd import odd
from .pages import GENRES
from .sites import Site
from .volatile import Volatile
from .words import LANGUAGES
from .written import Maker, Written

__all__ = ["FORMATS", "Made", "encoded", "kinds", "made", "write"]


@dataclass(frozen=True)
class Made:
    """A response and its kind. `coding` is how its body is packed where a format packs bodies."""

    kind: str
    response: Response
    coding: Coding = ""


_Draw = Callable[[Volatile, int], tuple[str, Written, str, Coding]]

TUNING_SITES = (
    Site("oakmarket", "shop", "bootstrap"),
    Site("tinware", "shop", "tailwind"),
    Site("holzladen", "shop", "modules", "de"),
    Site("meihao", "shop", "element", "zh"),
    Site("boutiquette", "shop", "bem", "fr"),
    Site("fernnotes", "blog", "blocks"),
    Site("suibi", "blog", "blocks", "zh"),
    Site("nikki", "blog", "tailwind", "ja"),
    Site("homepage", "blog", "plain"),
    Site("dailyferry", "news", "emotion"),
    Site("elfaro", "news", "regions", "es"),
    Site("xinwen", "news", "short", "zh"),
    Site("vestnik", "news", "bem", "ru"),
    Site("manuals", "docs", "bem"),
    Site("devguide", "docs", "tailwind"),
    Site("luntan", "forum", "short", "zh"),
    Site("hobbyboard", "forum", "bootstrap"),
    Site("gartenforum", "forum", "blocks", "de"),
    Site("metrics", "dashboard", "bootstrap"),
    Site("houtai", "dashboard", "element", "zh"),
    Site("openlore", "wiki", "skin"),
    Site("baike", "wiki", "regions", "zh"),
    Site("planner", "spa", "modules"),
    Site("mapview", "spa", "emotion"),
    Site("guanli", "spa", "element", "zh"),
)
HELD_OUT_SITES = (
    Site("shancheng", "shop", "ant", "zh"),
    Site("shoebox", "shop", "styled"),
    Site("mercadillo", "shop", "material", "es"),
    Site("carnet", "blog", "styled", "fr"),
    Site("tidepool", "blog", "docs"),
    Site("morningpost", "news", "material"),
    Site("wanbao", "news", "ant", "zh"),
    Site("handbook", "docs", "docs"),
    Site("wendang", "docs", "docs", "zh"),
    Site("railtalk", "forum", "regions"),
    Site("beseda", "forum", "skin", "ru"),
    Site("kanban", "dashboard", "ant", "zh"),
    Site("wissen", "wiki", "regions", "de"),
    Site("console", "spa", "material"),
    Site("pingtai", "spa", "ant", "zh"),
)


def _host(random: Random) -> str:
    words = LANGUAGES["en"].words
    return f"{random.choice(words)}-{random.choice(words)}{random.randint(1, 999)}.example.net"


def _path(random: Random) -> str:
    words = LANGUAGES["en"].words
    parts = [random.choice(words[30:]) for _ in range(random.randint(1, 3))]
    end = random.choice(("", ".php", ".html", ".bak", "/"))
    return f"/{'/'.join(parts)}{random.randint(10, 9999)}{end}"


def _of_site(site: Site, page: str) -> _Draw:
    def draw(volatile: Volatile, size: int) -> tuple[str, Written, str, Coding]:
        written = GENRES[site.genre][page](site, volatile, size)
        if size > 1:
            inlined = site.inlined(volatile, size)
            written.body = written.body.replace("</head>", f"{inlined}</head>", 1)
        return site.host, written, site.charset, site.coding

    return draw


def _of_many_hosts(make: Maker) -> _Draw:
    """On a host of its own each time, packed as that host packs."""

    def draw(volatile: Volatile, size: int) -> tuple[str, Written, str, Coding]:
        host = _host(volatile.random)
        coding = volatile.random.choice(CODINGS)
        return host, make(volatile, host, _path(volatile.random)), "utf-8", coding

    return draw


def _of_its_own(number: int) -> _Draw:
    return _of_many_hosts(lambda volatile, host, path: odd(number, volatile, host, path))


def kinds(*, held_out: bool = False, is_brief: bool = False) -> dict[str, _Draw]:
    """All kinds of which there are several responses, by name.

    is_brief  one site of each genre, not several in other styles and languages
    """
    found: dict[str, _Draw] = {}
    sites: Sequence[Site] = HELD_OUT_SITES if held_out else TUNING_SITES
    if is_brief:
        sites = list({site.genre: site for site in sites}.values())
    for site in sites:
        found |= {f"{site.name}/{page}": _of_site(site, page) for page in GENRES[site.genre]}
    for part in (servers, apis, notices):
        makers = part.HELD_OUT if held_out else part.TUNING
        found |= {name: _of_many_hosts(make) for name, make in makers.items()}
    return found


def made(
    seed: int = 0,
    *,
    held_out: bool = False,
    count: int = 1500,
    odd_ones: int = 40,
    size: int = 1,
    is_brief: bool = False,
) -> list[Made]:
    """`count` responses in no order; few kinds have many, many have few.

    size  pages are about so many times as long: 1 is 4 to 20 kB
    """
    random = Random(f"made {seed} {held_out}")
    draws = kinds(held_out=held_out, is_brief=is_brief)
    names = sorted(draws)
    random.shuffle(names)
    shares = [1 / (rank + 4) for rank in range(len(names))]
    rest = count - odd_ones - 2 * len(names)
    if rest < 0:
        least = odd_ones + 2 * len(names)
        raise ValueError(f"count={count}: two of each of {len(names)} kinds need {least}")
    drawn = [*names, *names, *random.choices(names, shares, k=rest)]
    jobs = [(name, draws[name]) for name in drawn]
    first = 10_000 if held_out else 0
    odds = range(first, first + odd_ones)
    jobs += [(f"odd-{number}", _of_its_own(number)) for number in odds]
    random.shuffle(jobs)
    seen: set[str] = set()
    found = []
    for at, (name, draw) in enumerate(jobs):
        retries = 0
        while True:
            volatile = Volatile(Random(f"{seed} {held_out} {at} {retries}"))
            host, written, charset, coding = draw(volatile, size)
            url = f"https://{host}{written.path}"
            if url not in seen:
                break
            retries += 1
        seen.add(url)
        found.append(_made(name, url, written, charset, coding, volatile.ip()))
    return found


def _made(kind: str, url: str, written: Written, charset: str, coding: Coding, ip: str) -> Made:
    content = dict(written.headers).get("Content-Type", "")
    binary = content.startswith(servers.BINARY)
    body = (
        written.body.encode("latin-1")
        if binary
        else written.body.encode(charset, "xmlcharrefreplace")
    )
    if binary or not body:
        coding = ""
    headers = list(written.headers)
    if coding in ("gzip", "br"):
        headers.append(("Content-Encoding", coding))
    packed = encoded(body, coding)
    if coding == "chunked":
        headers.append(("Transfer-Encoding", "chunked"))
    elif written.status != 204:
        headers.append(("Content-Length", str(len(packed))))
    response = Response(
        url=url,
        status=written.status,
        headers=tuple(headers),
        body=body,
        charset=charset,
        ip=ip,
        length=len(body),
    )
    return Made(kind, response, coding)
