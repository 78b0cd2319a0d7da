"""The pages of a genre: what a shop, a blog or a forum has, in the frame of its site."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from urllib.parse import quote

from .sites import Site
from .volatile import Volatile
from .words import LANGUAGES
from .written import Written


def _slug(site: Site, volatile: Volatile) -> str:
    name = LANGUAGES["en"].name(volatile.random, 2, 4).lower().replace(" ", "-")
    return f"{name}-{volatile.random.randint(100, 99999)}"


def _shop_home(site: Site, volatile: Volatile, size: int) -> Written:
    banner = site.e("div", "banner", site.e("h1", "title", site.about), site.e("a", "button", "→"))
    rows = [
        site.e("section", "shelf", f"<h2>{text}</h2>", site.cards(volatile, 4 * size, price=True))
        for text in site.menu[:3]
    ]
    path = f"/?ref={volatile.hex(8)}"
    return site.written(volatile, path, site.title, banner, *rows)


def _shop_category(site: Site, volatile: Volatile, size: int) -> Written:
    random = volatile.random
    name = site.language.name(random, 1, 3)
    filters = [
        site.e("label", "option", '<input type="checkbox">', site.language.name(random, 1, 1))
        for _ in range(random.randint(4, 12))
    ]
    side = site.e("aside", "side", f"<h4>{site.labels['filter']}</h4>", *filters)
    sort = site.e("select", "select", *(f"<option>{text}</option>" for text in site.closing[:4]))
    cards = site.cards(volatile, random.randint(9, 24) * size, price=True)
    path = f"/c/{_slug(site, volatile)}"
    return site.written(
        volatile, path, name, f"<h1>{name}</h1>", side, sort, cards, site.pager(volatile)
    )


def _shop_product(site: Site, volatile: Volatile, size: int) -> Written:
    random = volatile.random
    name = site.language.name(random, 2, 6)
    crumbs = site.items("crumbs", [site.labels["home"], site.language.name(random, 1, 2), name])
    gallery = site.e(
        "div", "gallery", *(site.e("img", "thumb", src=f"/p/{volatile.hex(9)}.jpg") for _ in "1234")
    )
    buy = site.e(
        "div",
        "buy",
        site.e("span", "price", f"€ {random.randint(2, 800)}.{random.randint(10, 99)}"),
        site.e("input", "input", type="number", value="1"),
        site.e("button", "button", site.labels["cart"]),
        site.e("button", "button", site.labels["buy"]),
    )
    details = site.e(
        "dl",
        "details",
        *(
            f"<dt>{text}</dt><dd>{site.language.name(random, 1, 3)}</dd>"
            for text in site.closing[: 4 + random.randint(0, 2)]
        ),
    )
    reviews = [
        site.e(
            "div",
            "comment",
            site.e("span", "stars", "★" * random.randint(1, 5)),
            site.e("p", "text", site.language.paragraph(random, 1, 3)),
            site.e("time", "meta", volatile.day(site.language.code)),
        )
        for _ in range(random.randint(1, 7) * size)
    ]
    about = site.prose(volatile, size, 2, 4)
    path = f"/p/{_slug(site, volatile)}"
    return site.written(
        volatile,
        path,
        name,
        crumbs,
        gallery,
        f"<h1>{name}</h1>",
        buy,
        site.e("div", "tabs", f"<h3>{site.labels['details']}</h3>", details, about),
        site.e("div", "reviews", f"<h3>{site.labels['reviews']}</h3>", *reviews),
        f"<h3>{site.labels['related']}</h3>",
    )


def _shop_cart(site: Site, volatile: Volatile, size: int) -> Written:
    empty = site.e("div", "empty", f"<h1>{site.labels['empty']}</h1>")
    more = site.e("a", "button", site.labels["continue"], href=f"/?s={volatile.hex(16)}")
    path = f"/cart?session={volatile.hex(24)}"
    return site.written(volatile, path, site.labels["cart"], empty, more)


def _missing(site: Site, volatile: Volatile, size: int) -> Written:
    """Says so with a status of 200, and names the path that is not there."""
    path = f"/{volatile.hex(6)}/{_slug(site, volatile)}"
    says = site.e(
        "div",
        "missing",
        "<h1>404</h1>",
        site.e("p", "text", site.labels["missing"]),
        site.e("code", "path", html.escape(path)),
        site.e("a", "button", site.labels["back"], href="/"),
    )
    return site.written(volatile, path, site.labels["missing"], says)


def _search(site: Site, volatile: Volatile, size: int) -> Written:
    word = LANGUAGES["en"].name(volatile.random, 1, 1).lower()
    path = f"/search?q={word}{volatile.random.randint(10, 9999)}"
    nothing = site.e("div", "empty", f"<h2>{site.labels['nothing']}</h2>")
    again = site.fields([site.labels["search"]], site.labels["search"], volatile)
    return site.written(volatile, path, site.labels["search"], again, nothing)


def _blog_home(site: Site, volatile: Volatile, size: int) -> Written:
    posts = []
    for _ in range(volatile.random.randint(5, 10) * size):
        name = site.language.name(volatile.random)
        posts.append(
            site.e(
                "article",
                "entry",
                site.e("h2", "title", site.link(name, f"/{volatile.hex(5)}")),
                site.e("span", "meta", volatile.day(site.language.code)),
                site.e("p", "text", site.language.paragraph(volatile.random, 1, 3)),
                site.e("a", "more", site.labels["read"]),
            )
        )
    side = site.e("aside", "side", f"<h4>{site.labels['archive']}</h4>")
    path = f"/page/{volatile.random.randint(1, 90000)}"
    return site.written(volatile, path, site.labels["latest"], *posts, side, site.pager(volatile))


def _article(site: Site, volatile: Volatile, size: int) -> Written:
    random = volatile.random
    name = site.language.name(random, 3, 8)
    writer = LANGUAGES["en"].name(random, 2, 2)
    by = site.e(
        "div", "byline", site.e("img", "avatar", src="/a.png"), writer,
        site.e("time", "meta", volatile.day(site.language.code)),
    )  # fmt: skip
    share = site.items("share", [site.labels["share"], "Mail", "RSS"])
    comments = [
        site.e(
            "div",
            "comment",
            site.e("b", "name", LANGUAGES["en"].name(random, 1, 1)),
            site.e("p", "text", site.language.sentence(random)),
        )
        for _ in range(random.randint(0, 5))
    ]
    form = site.fields(["Name", "E-Mail"], site.labels["comments"], volatile)
    story = site.e("article", "article", f"<h1>{name}</h1>", by, site.prose(volatile, size), share)
    path = f"/{volatile.time.year}/{_slug(site, volatile)}"
    writer_box = site.e("div", "author", f"<h4>{site.labels['author']}</h4>", site.about)
    return site.written(volatile, path, name, story, writer_box, *comments, form)


def _archive(site: Site, volatile: Volatile, size: int) -> Written:
    random = volatile.random
    lines = [
        f"<li>{volatile.day(site.language.code)} {site.link(site.language.name(random))}</li>"
        for _ in range(random.randint(15, 40) * size)
    ]
    year = random.randint(2001, 2026)
    path = f"/archive/{year}/{random.randint(1, 99999)}"
    title = site.e("h1", "title", f"{site.labels['archive']} {year}")
    return site.written(volatile, path, site.labels["archive"], title, site.e("ul", "list", *lines))


def _front(site: Site, volatile: Volatile, size: int) -> Written:
    lead = site.e("div", "lead", site.cards(volatile, 1), f"<h2>{site.labels['latest']}</h2>")
    columns = [
        site.e("section", "column", f"<h3>{text}</h3>", site.items("ticker", [
            site.link(site.language.name(volatile.random, 4, 8)) for _ in range(5 * size)
        ]))
        for text in site.menu[:4]
    ]  # fmt: skip
    path = f"/?edition={volatile.random.randint(1, 99999)}"
    return site.written(volatile, path, site.title, lead, *columns)


def _section(site: Site, volatile: Volatile, size: int) -> Written:
    name = site.language.name(volatile.random, 1, 2)
    cards = site.cards(volatile, volatile.random.randint(8, 18) * size)
    path = f"/section/{_slug(site, volatile)}"
    title = site.e("h1", "section-title", name)
    return site.written(volatile, path, name, title, cards, site.pager(volatile))


def _doc(site: Site, volatile: Volatile, size: int) -> Written:
    random = volatile.random
    name = site.language.name(random, 2, 4)
    tree = site.e(
        "nav", "tree", site.items("tree-list", [site.link(text) for text in site.closing])
    )
    toc = site.e("nav", "toc", f"<b>{site.labels['contents']}</b>", site.items(
        "toc-list", [site.link(site.language.name(random, 1, 3)) for _ in range(random.randint(3, 8))]
    ))  # fmt: skip
    blocks = [
        site.e("h2", "anchor", site.language.name(random))
        + site.prose(volatile, 1, 1, 3)
        + site.e(
            "pre", "code", f"<code>{random.choice(('get', 'put', 'run'))}({volatile.hex(3)})</code>"
        )
        for _ in range(random.randint(2, 6) * size)
    ]
    edit = site.e("a", "edit", site.labels["edit"], href=f"/edit/{volatile.hex(7)}")
    path = f"/docs/{_slug(site, volatile)}/"
    return site.written(volatile, path, name, tree, toc, f"<h1>{name}</h1>", *blocks, edit)


def _reference(site: Site, volatile: Volatile, size: int) -> Written:
    random = volatile.random
    name = "".join(word.title() for word in LANGUAGES["en"].name(random, 2, 2).split())
    tree = site.e(
        "nav", "tree", site.items("tree-list", [site.link(text) for text in site.closing])
    )
    entries = [
        site.e(
            "dt", "signature", f"<code>{random.choice(LANGUAGES['en'].words)}</code><em>str</em>"
        )
        + site.e("dd", "description", site.language.sentence(random))
        for _ in range(random.randint(8, 25) * size)
    ]
    path = f"/api/{name}.{volatile.random.randint(1, 9999)}.html"
    head = site.e("h1", "class-name", f"class {name}")
    return site.written(volatile, path, name, tree, head, site.e("dl", "members", *entries))


def _board(site: Site, volatile: Volatile, size: int) -> Written:
    name = site.language.name(volatile.random, 1, 3)
    path = f"/forum-{volatile.random.randint(1, 99999)}-1.html"
    new = site.e("a", "button", site.labels["posts"])
    table = site.table(volatile, volatile.random.randint(15, 30) * size, 5)
    return site.written(volatile, path, name, new, table, site.pager(volatile))


def _thread(site: Site, volatile: Volatile, size: int) -> Written:
    random = volatile.random
    name = site.language.name(random, 3, 6)
    posts = []
    for at in range(random.randint(3, 12) * size):
        who = LANGUAGES["en"].name(random, 1, 1) + str(random.randint(1, 99))
        stats = f"{site.labels['posts']} {random.randint(1, 9000)}"
        posts.append(
            site.e(
                "div",
                "post",
                site.e(
                    "div", "poster", site.e("img", "avatar", src="/u.gif"), who, f"<p>{stats}</p>"
                ),
                site.e("div", "message", site.language.paragraph(random), id=f"post_{at}"),
                site.e("div", "signature", f"{site.labels['joined']} {volatile.day('en')}"),
            )
        )
    path = f"/thread-{random.randint(1000, 999999)}-1-1.html"
    reply = site.e(
        "form", "form", "<textarea></textarea>", site.e("button", "button", site.labels["reply"])
    )
    return site.written(volatile, path, name, f"<h1>{name}</h1>", *posts, reply)


def _profile(site: Site, volatile: Volatile, size: int) -> Written:
    random = volatile.random
    who = LANGUAGES["en"].name(random, 1, 1) + str(random.randint(1, 999))
    facts = [f"<dt>{text}</dt><dd>{random.randint(0, 5000)}</dd>" for text in (site.menu * 3)[:8]]
    path = f"/user/{who}"
    return site.written(
        volatile,
        path,
        who,
        site.e("div", "profile", site.e("img", "portrait", src="/p.png"), f"<h1>{who}</h1>"),
        site.e("dl", "facts", *facts),
        site.e("p", "meta", f"{site.labels['joined']} {volatile.day(site.language.code)}"),
    )


def _overview(site: Site, volatile: Volatile, size: int) -> Written:
    random = volatile.random
    tiles = [
        site.e(
            "div", "tile", site.e("span", "value", str(random.randint(1, 99999))), f"<p>{text}</p>"
        )
        for text in site.closing[:4]
    ]
    chart = f'<svg class="chart"><path d="M0 {random.randint(1, 99)}"></path></svg>'
    table = site.table(volatile, random.randint(6, 20) * size, 6)
    path = f"/dashboard?range={random.randint(1, 99999)}"
    title = site.labels["users"]
    return site.written(volatile, path, title, *tiles, chart, f"<h2>{title}</h2>", table)


def _settings(site: Site, volatile: Volatile, size: int) -> Written:
    names = (site.menu + site.closing)[:9]
    form = site.fields(names, site.labels["save"], volatile)
    path = f"/settings/{volatile.uuid()}"
    title = f"<h1>{site.labels['settings']}</h1>"
    return site.written(volatile, path, site.labels["settings"], title, form)


def _wiki(site: Site, volatile: Volatile, size: int) -> Written:
    random = volatile.random
    name = site.language.name(random, 1, 3)
    box = site.e("table", "infobox", *(
        f"<tr><th>{text}</th><td>{site.language.name(random, 1, 2)}</td></tr>" for text in site.closing[:5]
    ))  # fmt: skip
    notes = site.e("ol", "references", *(
        f"<li>{site.language.sentence(random, 4, 9)}</li>" for _ in range(random.randint(2, 12) * size)
    ))  # fmt: skip
    tools = site.items("tools", [site.labels["edit"], site.labels["history"]])
    text = site.prose(volatile, size, 3, 14)
    path = f"/wiki/{quote(name.replace(' ', '_'))}_{random.randint(1, 99999)}"
    return site.written(volatile, path, name, tools, f"<h1>{name}</h1>", box, text, notes)


def _history(site: Site, volatile: Volatile, size: int) -> Written:
    random = volatile.random
    name = site.language.name(random, 1, 3)
    lines = [
        f'<li><input type="radio"><a>{volatile.clock()}</a> <bdi>{volatile.ip()}</bdi> '
        f"<span>({random.randint(100, 90000)})</span> <i>{site.language.name(random, 1, 4)}</i></li>"
        for _ in range(random.randint(10, 40) * size)
    ]
    path = f"/index.php?title={quote(name)}&action=history&n={random.randint(1, 99999)}"
    title = f"{site.labels['history']}"
    button = site.e("button", "button", site.labels["next"])
    return site.written(volatile, path, title, button, site.e("ul", "revisions", *lines), button)


def _shell(site: Site, volatile: Volatile, size: int) -> Written:
    """The same few lines for every path; the rest is made in the browser."""
    path = f"/app/{volatile.hex(5)}/{volatile.random.randint(1, 99999)}"
    root = site.e("div", "root", site.e("div", "spinner", "") * (1 + site.wrapped), id="root")
    splash = site.e("div", "splash", site.e("p", "about", site.about)) * (site.wrapped % 2)
    body = (
        f'<!doctype html><html lang="{site.language.code}"><head><meta charset="utf-8">'
        f"<title>{site.title}</title>{site.style.head(site.name, volatile)}"
        f'<link rel="manifest" href="/manifest.json?v={volatile.hex(8)}"></head><body>'
        f"<noscript>{site.labels['missing']}: {site.title} JavaScript</noscript>{root}{splash}"
        f'<script nonce="{volatile.token(12)}">window.__STATE__={{"t":{volatile.millis()},'
        f'"url":{json.dumps(path)}}}</script></body></html>'
    )
    headers = [
        ("Date", volatile.http_date()),
        ("Content-Type", "text/html; charset=utf-8"),
        *site.style.headers(site.name, volatile),
    ]
    return Written(path, 200, headers, body)


def _gone(site: Site, volatile: Volatile, size: int) -> Written:
    """The site's own page for what is not there, with the right status."""
    made = _missing(site, volatile, size)
    made.status = 404
    return made


_Maker = Callable[[Site, Volatile, int], Written]
GENRES: dict[str, dict[str, _Maker]] = {
    "shop": {
        "product": _shop_product,
        "category": _shop_category,
        "home": _shop_home,
        "cart": _shop_cart,
        "soft-404": _missing,
    },
    "blog": {"post": _article, "home": _blog_home, "archive": _archive, "not-found": _gone},
    "news": {"article": _article, "section": _section, "front": _front, "search": _search},
    "docs": {"page": _doc, "reference": _reference, "search": _search, "not-found": _gone},
    "forum": {"thread": _thread, "board": _board, "profile": _profile, "soft-404": _missing},
    "dashboard": {"overview": _overview, "settings": _settings},
    "wiki": {"article": _wiki, "history": _history, "search": _search},
    "spa": {"shell": _shell},
}
