"""Generated kinds of HTTP responses, for tests of the kinds report."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup.reports.kinds import (
    FacetColumns,
    Facets,
    KindsReport,
    Member,
    SampleResponse,
    ShownKind,
)
from neardup.reports.page import Sentence
from neardup.reports.views import ResponseView

NGINX = """status 404
header server nginx/1.18.0
header date
header content-type text/html
header connection keep-alive
title 404 Not Found
tags 0html 1head 2title 1body 2center 3h1 2hr 2center
text 404 Not Found
text nginx/1.18.0"""
SHOP = """status 200
header server Apache
header date
header set-cookie session \u2039cookie\u203a
header content-type text/html; charset=utf-8
header x-frame-options SAMEORIGIN
title Blue kettle, 1.7 litres – Harbour Store
tags 0html 1head 2title 2link 1body.product 2header.top 3nav 4a 4a 2main 3h1 3p.price 2footer
text Harbour Store
text Kitchen
text Garden
text Blue kettle, 1.7 litres
text In stock since \u2039date\u203a. Boils in four minutes.
text 24.90
text Add to basket
text Delivery within three days
text Returns for free
text About us
text Imprint
text Request \u2039request-id\u203a"""
BLOCK = """status 403
header server cloudflare
header date
header cf-ray
header content-type text/html; charset=UTF-8
title Attention Required!
tags 0html 1head 2title 1body 2div.wrapper 3h1 3p 3div.ray
text Sorry, you have been blocked
text You are unable to access \u2039echo\u203a
text Ray ID: \u2039request-id\u203a · Your IP: \u2039ip\u203a"""
ZH = """status 405
header server openresty
header content-type text/html; charset=gbk
title 访问被拦截
tags 0html 1head 2title 1body 2div.box 3h2 3p 3p
text 很抱歉，您的访问被拦截了
text 请求编号 \u2039token\u203a，时间 \u2039date\u203a
text 如有疑问请联系网站管理员"""
JSON = """status 500
header server uvicorn
header content-type application/json
keys error:object error.code:number error.message:string error.trace_id:string
text The order could not be saved"""


@dataclass(frozen=True)
class Template:
    """A kind of response: the fields its members share, and their number."""

    size: int
    status: int
    title: str
    server: str
    label: str
    rule: str
    view: str
    hosts: int
    lengths: tuple[int, int]


LISTING = """status 200
header server Apache/2.4.41 (Ubuntu)
title Index of /
tags 0html 1head 2title 1body 2h1 2table 3tr 4th
text Index of /
text Parent Directory"""
LOGIN = """status 200
header server Apache
title Sign in · Harbour Admin
tags 0html 1body 2form 3input 3input 3button
text Sign in
text Forgot your password?"""
REDIRECT = """status 302
header location \u2039echo\u203a
body empty"""
DOWN = """status 503
header server Microsoft-IIS/10.0
title Down for maintenance
text We will be back at \u2039date\u203a"""
KETTLE = "Blue kettle, 1.7 litres – Harbour Store"
WELCOME = NGINX.replace("404 Not Found", "Welcome to nginx!").replace("404", "200")
# Size, status, title, server, label, rule, view, hosts, lengths.
TEMPLATES = tuple(
    Template(*each)
    for each in (
        (
            41230,
            404,
            "404 Not Found",
            "nginx/1.18.0",
            "not found",
            "nginx-404",
            NGINX,
            812,
            (146, 162),
        ),
        (18204, 200, KETTLE, "Apache", "", "", SHOP, 3, (18233, 25019)),
        (
            9480,
            403,
            "Attention Required!",
            "cloudflare",
            "block or captcha",
            "cf",
            BLOCK,
            377,
            (4212, 4630),
        ),
        (7411, 302, "", "nginx", "redirect", "redirect", REDIRECT, 1190, (0, 0)),
        (
            5230,
            200,
            "Index of /",
            "Apache/2.4.41 (Ubuntu)",
            "listing",
            "index",
            LISTING,
            41,
            (790, 5120),
        ),
        (
            3120,
            405,
            "访问被拦截",
            "openresty",
            "block or captcha",
            "zh-block",
            ZH,
            58,
            (2011, 2101),
        ),
        (2044, 500, "", "uvicorn", "JSON error", "json-error", JSON, 2, (96, 131)),
        (1660, 200, "Sign in · Harbour Admin", "Apache", "login", "form", LOGIN, 12, (3120, 3190)),
        (
            410,
            200,
            "Welcome to nginx!",
            "nginx/1.24.0",
            "default page",
            "nginx",
            WELCOME,
            401,
            (612, 615),
        ),
        (96, 502, "502 Bad Gateway", "nginx", "", "", NGINX.replace("404", "502"), 44, (150, 157)),
        (
            22,
            503,
            "Down for maintenance",
            "Microsoft-IIS/10.0",
            "down",
            "down",
            DOWN,
            9,
            (900, 933),
        ),
    )
)
ODD = (
    ("phpinfo()", 200, "Apache/2.2.15 (CentOS)"),
    ("Jenkins – build 1182", 200, "Jetty(9.4.z)"),
    ("", 418, ""),
    ("Grafana", 200, ""),
    ("路由器管理", 401, "GoAhead-Webs"),
)


def _other(view: str) -> str:
    """Return a variant of the first member."""
    return (
        view.replace("nginx/1.18.0", "nginx/1.25.3")
        .replace("Blue kettle, 1.7 litres", "Green teapot")
        .replace("24.90", "31.00")
        .replace("text Kitchen\n", "")
        .replace("saved", "loaded")
        .replace("header x-frame-options SAMEORIGIN", "header x-content-type-options nosniff")
    )


def kind(number: int, template: Template, dice: random.Random) -> ShownKind:
    host = f"shop{dice.randrange(900)}.example"
    path = "/".join(dice.choice(["item", "a", "login", "wp"]) for _ in range(3))
    url = f"https://{host}/{path}?id={number}"
    rep = ResponseView(
        f"crawl.warc.gz:{dice.randrange(99999)}", url, template.view, len(template.view)
    )
    text = _other(template.view)
    alone = template.size == 1
    other = None if alone else ResponseView("crawl.warc.gz:77", f"{url}1", text, len(text), 0.874)
    members = [Member(rep.id, rep.url)]
    members += [
        Member(f"crawl.warc.gz:{at}", f"{url}{at}", 0.874 + at / 50)
        for at in range(0 if alone else 5)
    ]
    return ShownKind(
        number=number,
        size=template.size,
        status=template.status,
        title=template.title,
        server=template.server,
        label=template.label,
        rule=template.rule,
        shortest=template.lengths[0],
        longest=template.lengths[1],
        hosts=template.hosts,
        lowest=None if alone else 0.874,
        id=rep.id,
        url=rep.url,
        members=members,
        sample=SampleResponse(rep, other),
    )


def made_up(language: str = "en", *, odd: int = 5) -> KindsReport:
    """Return a report of some large kinds and `odd` single responses."""
    dice = random.Random(5)
    templates = list(TEMPLATES)
    for at in range(odd):
        title, status, server = ODD[at % len(ODD)]
        view = (
            f"status {status}\nheader server {server}\ntitle {title}\ntext Like nothing else: {at}"
        )
        templates.append(Template(1, status, title, server, "", "", view, 1, (at * 37, at * 37)))
    kinds = [kind(at, template, dice) for at, template in enumerate(templates, 1)]
    total = sum(each.size for each in kinds)
    return KindsReport(
        responses=total,
        kind_count=len(kinds),
        alone=odd,
        kinds=kinds,
        facets=facets_of(kinds),
        language=language,
        sentences=[Sentence("said.all", {"similarity": 0.85})],
        settings={"inputs": "crawl.warc.gz", "similarity": "0.85", "recipe": "neardup3 http"},
        problems=[("crawl.warc.gz", 4711, "the gzip data ends in the middle, at byte 1,234,567")],
        problem_count=1,
    )


def facets_of(kinds: list[ShownKind], *, most: int = 60) -> Facets:
    """Return facets with one response per kind; every second kind has two hosts."""
    rows = [at for at in range(len(kinds)) for _ in range(1 + at % 2)]
    columns = FacetColumns(np.array(rows, dtype=np.int64), len(kinds))
    hosts = [f"host{at % 7}.example" for at in range(len(rows))]
    for name in ("label", "status", "title", "server", "host"):
        column = hosts if name == "host" else [str(getattr(kinds[at], name)) for at in rows]
        # Columns of a capture hold no lone surrogates.
        whole = [value.encode(errors="replace").decode() for value in column]
        columns.add(name, pa.array(whole, pa.large_string()), most)
    return columns.facets()
