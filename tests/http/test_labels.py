"""Labels: what the usual answers are called, and what must not be called so."""

import re
import time
from pathlib import Path

import pytest

from neardup.http.labels import (
    BUILTIN_RULES,
    Labels,
    Rule,
    RuleInput,
    _builtin_rules,
    read_rules,
    rule_input,
)

LABELS = Labels.load()
VIEW = re.compile("(tags|header|keys|body) ")
FORM = "tags 0html 1head 2title 1body 2form 3input 3input 3button"
PAGE = "tags 0html 1head 2title 1body 2h1 2p"
CONTACT = "tags 0html 1head 2title 1body 2form 3input 3textarea 3button"
CLOUDFLARE = f"header server cloudflare\nheader cf-ray\n{PAGE}"
SHELL = "tags 0html 1head 2title 2script 1body 2noscript 3p 2div 2script"
# A site that counts its readers has the same, and a page beside it.
TAGGED = "tags 0html 1head 2title 2script 1body 2noscript 3iframe 2div 3h1 2script"
ARTICLE = "\n".join(
    f"text Paragraph {n}: a good error page tells people what went wrong and where to go next, "
    "and the best of them say so in the words of the site and not of the server."
    for n in range(30)
)


def label_of(
    status: int, title: str, view: str, *, server: str = "", content_type: str = "text/html"
) -> tuple[str | None, str | None]:
    found = LABELS.label(
        rule_input(view, status=status, title=title, server=server, content_type=content_type)
    )
    return (None, None) if found is None else (found.label, found.name)


BLOCK = "block or captcha"
ABOUT = f"{PAGE}\n{ARTICLE}"
# status, title, view or the text of a page, label, rule
ROWS = [
    (200, "Welcome to nginx!", PAGE, "default page", "nginx-welcome"),
    (200, "Test Page for the Nginx HTTP Server on Fedora", PAGE, "default page", "nginx-welcome"),
    (200, "Welcome to OpenResty!", PAGE, "default page", "openresty-welcome"),
    (200, "Welcome to tengine!", PAGE, "default page", "tengine-welcome"),
    (200, "", "It works!", "default page", "apache-works"),
    (200, "Apache2 Ubuntu Default Page: It works", PAGE, "default page", "apache-distribution"),
    (200, "Apache2 Debian Default Page: It works", PAGE, "default page", "apache-distribution"),
    (403, "Apache HTTP Server Test Page powered by CentOS", PAGE, "default page", None),
    (200, "HTTP Server Test Page powered by: Rocky Linux", PAGE, "default page", None),
    (200, "IIS Windows Server", PAGE, "default page", "iis-welcome"),
    (200, "IIS7", PAGE, "default page", "iis-welcome"),
    (
        200,
        "Apache Tomcat/9.0.54",
        "If you're seeing this, you've successfully installed Tomcat.",
        "default page",
        "tomcat-welcome",
    ),
    (200, "Caddy works!", PAGE, "default page", "caddy-welcome"),
    (200, "Welcome page", "Powered by lighttpd", "default page", "lighttpd-welcome"),
    (200, "Web Server's Default Page", PAGE, "default page", "plesk-default"),
    (200, "Domain Default page", PAGE, "default page", "plesk-default"),
    (
        200,
        "Default Web Site Page",
        "SORRY! If you are the owner of this website, please contact your hosting "
        "provider\ntext cPanel, Inc.",
        "default page",
        "cpanel-default",
    ),
    (200, "恭喜，站点创建成功！", "恭喜, 站点创建成功！", "default page", "baota-default"),
    (404, "404 Not Found", "nginx", "not found", "not-found"),
    (410, "", "body empty", "not found", "not-found"),
    (200, "404 Not Found", "Not Found", "soft 404", "soft-404-title"),
    (200, "Page not found | Acme Shop", "Go home", "soft 404", "soft-404-title"),
    (200, "Acme - Page Not Found", "Go home", "soft 404", "soft-404-title"),
    (200, "Error 404", "Go home", "soft 404", "soft-404-title"),
    (200, "页面不存在", "返回首页", "soft 404", "soft-404-title-others"),
    (200, "404 - 您访问的页面不存在", PAGE, "soft 404", "soft-404-title"),
    (200, "Seite nicht gefunden – Beispiel", PAGE, "soft 404", "soft-404-title-others"),
    (200, "Страница не найдена", PAGE, "soft 404", "soft-404-title-others"),
    (
        200,
        "Acme",
        "Sorry, the page you were looking for could not be found.",
        "soft 404",
        "soft-404-text",
    ),
    (200, "Acme", "Not Found", "soft 404", "soft-404-text"),
    (200, "首页", "抱歉，您访问的页面不存在！", "soft 404", None),
    (200, "", "La page demandée est introuvable.", "soft 404", None),
    (200, "", "ページが見つかりませんでした", "soft 404", None),
    (200, "Sign in · GitLab", f"{FORM}\ntext Username or email", "login", "login-title"),
    (200, "Acme Login", f"{FORM}\ntext User", "login", "login-title"),
    (200, "用户登录", f"{FORM}\ntext 用户名", "login", "login-title"),
    (200, "某某后台管理系统", f"{FORM}\ntext 用户名", "login", "login-title"),
    (200, "ログイン | 例", f"{FORM}\ntext メール", "login", "login-title"),
    (200, "Router", f"{FORM}\ntext Username\ntext Password:", "login", "login-form"),
    (200, "某某平台", f"{FORM}\ntext 请输入密码", "login", "login-form"),
    (200, "Portal", f"{FORM}\ntext Forgot your password?", "login", "login-words"),
    (401, "", "header www-authenticate Basic realm=x\nbody empty", "login", "asks-for-login"),
    (401, "", "Unauthorized", "login", "unauthorised"),
    (
        503,
        "Just a moment...",
        f"header server cloudflare\nheader cf-ray \n{PAGE}\ntext Checking your browser",
        BLOCK,
        "cloudflare-challenge",
    ),
    (
        403,
        "Attention Required! | Cloudflare",
        f"header cf-ray\n{PAGE}\ntext Sorry, you have been blocked",
        BLOCK,
        "cloudflare-block",
    ),
    (
        403,
        "Attention Required! | Cloudflare",
        f"header cf-ray\n{PAGE}\ntext Please complete the security check to go on",
        BLOCK,
        "cloudflare-challenge",
    ),
    (403, "", "Enable JavaScript and cookies to continue", BLOCK, "cloudflare-challenge-text"),
    (
        403,
        "Access denied | example.com used Cloudflare to restrict access",
        "Error 1020\ntext Access denied",
        BLOCK,
        "cloudflare-block",
    ),
    (
        403,
        "Access Denied",
        'You don\'t have permission to access "‹echo›" on this server.\n'
        "text Reference #‹request-ids›",
        BLOCK,
        "akamai",
    ),
    (403, "", "Request unsuccessful. Incapsula incident ID: 5", BLOCK, "imperva"),
    (
        403,
        "ERROR: The request could not be satisfied",
        "Request blocked. We can't connect to the server for this app or website at "
        "this time.\ntext Generated by cloudfront (CloudFront)",
        BLOCK,
        "aws-waf",
    ),
    (202, "", "header x-amzn-waf-action challenge\nbody empty", BLOCK, "aws-waf-header"),
    (
        403,
        "Sucuri WebSite Firewall - Access Denied",
        "Access Denied - Sucuri Website Firewall",
        BLOCK,
        "sucuri",
    ),
    (
        200,
        "Request Rejected",
        "The requested URL was rejected. Please consult with your administrator.\n"
        "text Your support ID is: 99",
        BLOCK,
        "f5",
    ),
    (406, "Not Acceptable!", "generated by Mod_Security.", BLOCK, None),
    (
        405,
        "405",
        "很抱歉，由于您访问的URL有可能对网站造成安全威胁，您的访问被阻断。",
        BLOCK,
        "aliyun",
    ),
    (403, "", "您的请求已被腾讯云Web应用防火墙拦截", BLOCK, "tencent-cloud"),
    (403, "创宇盾", "当前访问疑似黑客攻击，已被创宇盾拦截", BLOCK, None),
    (200, "网站防火墙", "网站安全狗提示您", BLOCK, "safedog"),
    (403, "", "您的请求已被该站点的安全策略拦截", BLOCK, None),
    (200, "安全验证", "请拖动滑块完成验证", BLOCK, "captcha-in-chinese"),
    (200, "", "Please verify that you are not a robot", BLOCK, "captcha"),
    (503, "", "We need to make sure you're not a robot.", BLOCK, None),
    (503, "Robot Check", f"{FORM}\ntext Type the letters", BLOCK, "captcha-title"),
    (200, "Human verification", f"{FORM}\ntext Go on", BLOCK, "captcha-title"),
    (200, "Security check of gas pipes", ABOUT, None, None),
    (403, "", "Your request has been blocked.", BLOCK, "blocked"),
    (429, "", "body empty", BLOCK, "too-many-requests"),
    (200, "Index of /pub", "Parent Directory", "directory listing", None),
    (200, "Index of ‹echo›", PAGE, "directory listing", "directory-index"),
    (200, "Directory listing for /", PAGE, "directory listing", "directory-index"),
    (200, "host - /files/", "[To Parent Directory]", "directory listing", "directory-iis"),
    (200, "example.com is for sale", PAGE, "parked domain", "parked-title"),
    (200, "Domain example.com is for sale!", PAGE, "parked domain", "parked-title"),
    (200, "", "Buy this domain", "parked domain", "parked-text"),
    (200, "", "该域名正在出售", "parked domain", "parked-text"),
    (200, "Coming Soon", "We launch in May", "parked domain", "under-construction"),
    (503, "Acme", "We are down for scheduled maintenance", "maintenance", "maintenance"),
    (200, "公告", "系统维护中，请稍后再试", "maintenance", None),
    (200, "Acme", "Our site is under maintenance.", "maintenance", None),
    (200, "Site Maintenance", "Soon", "maintenance", "maintenance-title"),
    (503, "Maintenance", "Soon", "maintenance", "maintenance-title-and-status"),
    (200, "", "tags 0ListBucketResult 1Name 1Contents 2Key", "directory listing", "bucket-listing"),
    (200, "", "Web Page Blocked!", BLOCK, "web-filter"),
    (200, "", "Your request has been blocked.", BLOCK, "blocked-though-successful"),
    (403, "", "知道创宇云防御平台", BLOCK, "shield-in-chinese"),
    (200, "Checking your browser", PAGE, BLOCK, "captcha-title"),
    (200, "Jetty", "Welcome\ntext Powered by Jetty", "default page", "jetty-welcome"),
    (200, "Espace client - Connexion", f"{FORM}\ntext Mot de passe", "login", "login-title"),
    (200, "Sign in to Acme", f"{FORM}\ntext Email", "login", "login-title"),
    (200, "Acme", "Error 404: page not found", "soft 404", "soft-404-text"),
    (200, "Acme", "404", "soft 404", "soft-404-text"),
    (200, "Acme", f"{TAGGED}\ntext Page not found", "soft 404", "soft-404-text"),
    (301, "", "header location\nbody empty", "redirect", "redirect"),
    (200, "", "header server x\nbody empty", "empty", "empty"),
    (204, "", "header server x\nbody empty", "empty", "not-modified"),
    (403, "403 Forbidden", "nginx", "forbidden", "forbidden"),
    (400, "", "Bad Request", "bad request", "bad-request"),
    (500, "", "Oops", "server error", "server-error"),
    (502, "502 Bad Gateway", "nginx", "server error", "server-error"),
    (522, "", "Connection timed out", "server error", "cloudflare-origin"),
    (404, "", "keys error:string\ntext no such user", "JSON error", "json-error"),
    (
        200,
        "",
        "keys error:object error.code:number error.message:string\ntext bad token given",
        "JSON error",
        "json-error-key",
    ),
    (
        200,
        "",
        "keys code:number data:null msg:string\ntext Token is missing: not authenticated",
        "JSON error",
        "json-error-text",
    ),
    # What must have no label, or not that one.
    (200, "How to design a 404 page", f"{PAGE}\ntext 404 pages\n{ARTICLE}", None, None),
    (200, "The 404 Not Found error, explained", ABOUT, None, None),
    (200, "如何制作404页面", f"{PAGE}\n{ARTICLE}\ntext 页面不存在时怎么办", None, None),
    (200, "Nothing found here was lost: a novel", ABOUT, None, None),
    (200, "Logins and passwords: a guide", ABOUT, None, None),
    (200, "Blogin - a blog", f"{FORM}\ntext Search", None, None),
    (200, "Acme Shop", f"{FORM}\ntext Sign in\ntext Shoes\n{ARTICLE}", None, None),
    (200, "What is a captcha?", f"{PAGE}\ntext Are you a robot?\n{ARTICLE}", None, None),
    (200, "Welcome to our hosting", PAGE, None, None),
    (200, "The house is for sale", PAGE, None, None),
    (200, "nginx tutorial", ABOUT, None, None),
    (200, "Index of economic freedom", ABOUT, None, None),
    (200, "Used cars for sale", ABOUT, None, None),
    (200, "Maintenance of bicycles", ABOUT, None, None),
    (200, "腾讯云 产品", f"{PAGE}\ntext 云服务器\n{ARTICLE}", None, None),
    (200, "", "keys data:array data[].id:number errors:array", None, None),
    (200, "", "keys items:array items[].error:string total:number", None, None),
    (200, "", "body image/png 14", None, None),
    (200, "Acme", "The quick brown fox jumps over the lazy dog", None, None),
    # A vendor's own page is no page of its product.
    (200, "What is DNS? | Cloudflare", f"{CLOUDFLARE}\ntext A phone book", None, None),
    (200, "Please wait for the bus", f"{CLOUDFLARE}\ntext Lines and times", None, None),
    (404, "Page not found | Cloudflare", f"{CLOUDFLARE}\ntext Oops", "not found", "not-found"),
    (200, "Acme", "Performance & security by Cloudflare", None, None),
    (200, "Plans", "Sucuri Website Firewall, from 9 a month", None, None),
    (200, "Labs", "FortiGuard Labs find what others miss", None, None),
    (200, "Products", "Our Web Application Firewall keeps you safe.", None, None),
    (200, "Rules", "How to write rules for aws-waf", None, None),
    (200, "DDoS-Guard", "Hosting that stays up", None, None),
    (200, "某某公司", "本站由阿里云提供计算与安全服务", None, None),
    (200, "腾讯云", "腾讯云 Web应用防火墙", None, None),
    (200, "某某公司", "知道创宇云安全", None, None),
    (200, "下载", "云锁 服务器安全软件 下载", None, None),
    (200, "宝塔面板教程", "如何安装宝塔面板", None, None),
    (200, "某某公司", "网站维护：某某科技", None, None),
    (200, "LiteSpeed Web Server - fast and light", "Buy it", None, None),
    # Words that are in an error page, and in others too.
    (200, "Acme Bank", "Report suspicious activity", None, None),
    (200, "Help", "Press and hold the power button", None, None),
    (200, "Contact", f"{CONTACT}\ntext Please confirm you are human", None, None),
    (200, "Jetty Park", "The jetty is open from May", None, None),
    (200, "Congratulations to our winners", "Welcome to the show", None, None),
    (200, "Welcome to nginx, a course", ABOUT, None, None),
    (200, "Boiler Maintenance", "Call us", None, None),
    (200, "Impianti", "Installazione e manutenzione", None, None),
    (200, "Coming Soon to our theatre", "Hamlet", None, None),
    (200, "Directory of members", "Last modified: ‹date›", None, None),
    (200, "Find us", "404 Elm Street", None, None),
    (200, "Find us", "404 Not Known Road", None, None),
    (200, "How to fix login problems", f"{FORM}\ntext Your password may be old", None, None),
    (200, "Login", f"{FORM}\ntext A band from Leeds", None, None),
    (200, "Plant identification guide", f"{FORM}\ntext Email us a picture", None, None),
    (200, "The login page", f"{CONTACT}\ntext A post about passwords", None, None),
    (200, "Acme", f"{FORM}\ntext Password\ntext Confirm password", None, None),
    # Refused, but not by a firewall.
    (
        403,
        "403 - Forbidden: Access is denied.",
        "403 - Forbidden: Access is denied.",
        "forbidden",
        "forbidden",
    ),
    (
        401,
        "401 - Unauthorized: Access is denied due to invalid credentials.",
        "401 - Unauthorized: Access is denied due to invalid credentials.",
        "login",
        "unauthorised",
    ),
    (403, "Access denied", "You don't have permission to access this", "forbidden", None),
    (403, "", "keys message:string\ntext Your request was denied.", "JSON error", "json-error"),
    # What the browser makes of a shell is not known; all its text is for those without scripts.
    (200, "React App", f"{SHELL}\ntext You need to enable JavaScript to run this app.", None, None),
    (200, "App", f"{SHELL}\ntext This page is not available without scripts.", None, None),
    (200, "应用", f"{SHELL}\ntext 页面内容无法找到，请启用脚本", None, None),
    (200, "App", "This page is not available without JavaScript.", None, None),
]
CASES = [
    (status, title, view if VIEW.match(view) else f"{PAGE}\ntext {view}", label, rule)
    for status, title, view, label, rule in ROWS
]


@pytest.mark.parametrize(("status", "title", "view", "label", "rule"), CASES)
def test_the_usual_answers(
    status: int, title: str, view: str, label: str | None, rule: str | None
) -> None:
    kind = "application/json" if view.startswith("keys") else "text/html"
    found = label_of(status, title, view, content_type=kind)
    assert found[0] == label
    if rule is not None:
        assert found[1] == rule


def test_every_label_of_the_rules_has_a_positive_case() -> None:
    assert {rule.label for rule in LABELS.rules} == {case[3] for case in CASES} - {None}


def test_every_rule_says_why() -> None:
    for rule in LABELS.rules:
        assert rule.why.endswith("."), rule.name
        assert rule.name == rule.name.lower()


def test_a_batch_is_labelled_like_single_responses() -> None:
    seen = [
        rule_input(view, status=status, title=title, content_type="text/html")
        for status, title, view, _, _ in CASES
    ]
    together = LABELS.find(seen).tolist()
    alone = [LABELS.find([each])[0] for each in seen]
    assert together == alone


def test_nothing_gives_nothing() -> None:
    assert LABELS.find([]).tolist() == []


def test_the_longest_text_is_within_the_limit() -> None:
    labels = Labels([Rule(name="a", label="b", longest=3)])
    assert labels.find([RuleInput(length=length) for length in (0, 3, 4)]).tolist() == [0, 0, -1]


def test_patterns_take_linear_time() -> None:
    rule = Rule(name="slow", label="slow", text="(a+)+$", why="x")
    labels, seen = Labels([rule]), RuleInput(text="a" * 28 + "!")
    started = time.thread_time()
    assert labels.label(seen) is None
    # To go back for each "a" takes some ten seconds.
    assert time.thread_time() - started < 1


def test_long_text_is_looked_at_from_its_beginning() -> None:
    seen = rule_input("text needle\n" + "text hay\n" * 100_000)
    assert len(seen.text) == 4000
    assert seen.length > 300_000
    assert Labels([Rule(name="a", label="b", text="needle")]).label(seen)


def test_own_rules_come_first_and_may_replace(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        """
        [[rule]]
        name = "acme"
        label = "ours"
        title = "^acme"
        without = { text = "beta" }

        [[rule]]
        name = "not-found"
        label = "gone"
        status = [404]
        """
    )
    labels = Labels.load(own)
    assert len(labels.rules) == len(LABELS.rules) + 1
    assert labels.label(RuleInput(status=404)).label == "gone"  # type: ignore[union-attr]
    assert labels.label(RuleInput(status=404, title="Acme")).label == "ours"  # type: ignore[union-attr]
    assert labels.label(RuleInput(status=200, title="Acme", text="Beta")) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("rule = 3", "has 'rule', which is not a list of tables; write each rule as"),
        ("[[rules]]\nname='a'", "has 'rules'; write each rule as"),
        ("[[rule]]\nlabel='a'", "rule 1 has no name"),
        ("[[rule]]\nname='a'", r"rule 1 \(a\) has no label"),
        ("[[rule]]\nname='a'\nlabel='b'\ntitel='x'", r"rule 1 \(a\) has 'titel'; it may have name"),
        ("[[rule]]\nname='a'\nlabel='b'\ntitle='('", "title is not a valid RE2 pattern: missing"),
        ("[[rule]]\nname='a'\nlabel='b'\ntitle=3", "title is 3; it must be a pattern"),
        ("[[rule]]\nname='a'\nlabel='b'", "has no condition"),
        ("[[rule]]\nname='a'\nlabel='b'\nstatus=404", "status is 404; it must be a list"),
        ("[[rule]]\nname='a'\nlabel='b'\nstatus=['6xx']", "status has '6xx'; it must be numbers"),
        ("[[rule]]\nname='a'\nlabel='b'\nstatus=[true]", "status has True; it must be numbers"),
        ("[[rule]]\nname='a'\nlabel='b'\nlongest=-1", "longest is -1; it must be a number of"),
        ("[[rule]]\nname='a'\nlabel='b'\nbody=[1]", "body has 1; it must be kinds"),
        ("[[rule]]\nname='a'\nlabel='b'\nwhy=1\nstatus=[1]", "why is 1; it must be a sentence"),
        ("[[rule]]\nname=''\nlabel='b'\nstatus=[1]", "name is ''; it must be one or more words"),
        ("[[rule]]\nname='a'\nlabel='b'\nwithout={x='y'}", "without is .*; it must be a table"),
        ("name = ", "not TOML"),
        ("rule = [1]", "rule 1 is not a table"),
    ],
)
def test_wrong_rules_are_reported(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=message) as told:
        read_rules(path)
    assert str(path) in str(told.value)


def test_two_rules_of_a_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text("[[rule]]\nname='a'\nlabel='b'\nstatus=[200]\n" * 2)
    with pytest.raises(ValueError, match="two rules are named 'a'"):
        Labels.load(path)


def test_the_kind_of_a_body() -> None:
    assert rule_input("body image/png 14").body == "image/png"
    assert rule_input("body empty").body == "empty"
    assert rule_input("body empty", content_type="text/html").body == "empty"
    assert rule_input("title a\nbody text/html 12").body == "html"
    assert rule_input("body application/json").body == "json"
    assert rule_input("body unknown", content_type="odd").body == "unknown"
    assert rule_input("tags 0html\ntext a").body == "html"
    assert rule_input("keys a:number").body == "json"
    assert rule_input("text a", content_type="text/html; charset=x").body == "html"
    assert rule_input("text a", content_type="application/xhtml+xml").body == "html"
    assert rule_input("text a", content_type="application/problem+json").body == "json"
    assert rule_input("text a", content_type="application/jsonp").body == "text"
    assert rule_input("text a").body == "text"
    assert rule_input("status 200").body == ""
    images = Labels([Rule(name="a", label="b", body=["image/"])])
    assert images.label(rule_input("body image/png 14"))
    assert not images.label(rule_input("body imagery 14"))


def test_the_file_of_rules_is_in_the_package() -> None:
    assert BUILTIN_RULES.is_file()
    # Each pattern is tried here, and not again whenever they are loaded.
    assert tuple(read_rules(BUILTIN_RULES)) == LABELS.rules


def test_known_patterns_are_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    monkeypatch.setattr("neardup.http.labels._check_pattern", lambda *given: tried.append(given[1]))
    own = tmp_path / "own.toml"
    own.write_text('[[rule]]\nname = "a"\nlabel = "b"\ntitle = "bees"\n')
    _builtin_rules.cache_clear()
    assert len(Labels.load(own).rules) == len(LABELS.rules) + 1
    assert tried == ["bees"]
