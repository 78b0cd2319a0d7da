"""Pages between a visitor and a site: blocks, captchas, logins, parked names, maintenance.

The same notice of the same maker is one kind on every host.
"""

from __future__ import annotations

from .volatile import Volatile
from .words import LANGUAGES
from .written import UTF8, Maker, Written, page, template


def _page(title: str, body: str, head: str = "", language: str = "en") -> str:
    return page(title, body, head, before=UTF8, language=language)


def _notice(
    status: int, body: str, *headers: str, content: str = "text/html; charset=UTF-8"
) -> Maker:
    return template(status, body, "Date: {date}", f"Content-Type: {content}", *headers)


def _parked(look: str, server: str, says: str) -> Maker:
    """Return a maker of names for sale: the host is everywhere, and the links are of the day."""

    def make(volatile: Volatile, host: str, path: str) -> Written:
        random = volatile.random
        links = "".join(
            f'<li class="{look}-ad"><a href="/?k={volatile.url_token()}">{LANGUAGES["en"].name(random, 1, 3)}</a>'
            "</li>"
            for _ in range(random.randint(6, 10))
        )
        return template(
            200,
            _page("{host}", _PARKED),
            f"Server: {server}",
            "Date: {date}",
            "Content-Type: text/html; charset=UTF-8",
            "Set-Cookie: parking_session={uuid}; Path=/; HttpOnly",
            "X-Adblock-Key: {nonce}",
            look=look,
            says=says,
            links=links,
            year=str(volatile.time.year),
        )(volatile, host, path)

    return make


def _login(look: str, product: str, server: str, more: str = "") -> Maker:
    """Return a maker of the sign-in page of a product; each host shows its name."""

    def make(volatile: Volatile, host: str, path: str) -> Written:
        return template(
            200,
            _page(
                "{product} - Sign in", _LOGIN, '<link rel="stylesheet" href="/{look}.css?v={hex8}">'
            ),
            f"Server: {server}",
            "Date: {date}",
            "Content-Type: text/html; charset=utf-8",
            "Set-Cookie: {look}_sid={hex32}; Path=/; HttpOnly; Secure",
            "Cache-Control: no-store",
            look=look,
            product=product,
            more=more,
            name=LANGUAGES["en"].name(volatile.random, 1, 2),
            version="4.1.2|4.2.0|5.0.1",
        )(volatile, host, path)

    return make


_PARKED = (
    '<div class="{look}-wrap"><h1 class="{look}-domain">{host}</h1><p class="{look}-sale">{says} <a '
    'href="https://buy.example/?domain={host}">{host}</a></p><ul class="{look}-links">{links}</ul><div '
    'class="{look}-foot">Related searches · Privacy policy · {year}</div></div><script>var s="{token}";</script>'
)
_LOGIN = (
    '<div class="{look}-box"><h1 class="{look}-title">{product}</h1><p class="{look}-org">{name}</p><form '
    'class="{look}-form" method="post" action="/login?return={path}"><input type="hidden" name="authenticity_token" '
    'value="{token}"><label>Username</label><input class="{look}-user" name="user"><label>Password</label><input '
    'class="{look}-pass" type="password" name="pass"><label class="{look}-keep"><input type="checkbox"> Stay signed in'
    '</label><button class="{look}-go">Sign in</button></form>{more}</div><footer class="{look}-foot">{product} '
    "{version}</footer>"
)
_RAY = (
    '<div id="cf-wrapper"><div class="cf-alert">Please enable cookies.</div><div id="cf-error-details">'
    '<div class="cf-wrapper cf-header"><h1>Sorry, you have been blocked</h1><h2 class="cf-subheadline">You '
    'are unable to access {host}</h2></div><div class="cf-section"><h2>Why have I been blocked?</h2><p>This '
    "website uses a security service against online attacks. The action you just performed triggered it.</p>"
    "<h2>What can I do?</h2><p>Write to the site owner what you were doing when this page came up.</p></div>"
    '<div class="cf-footer"><p>Ray ID: <strong>{hex16}</strong> &bull; Your IP: <span>{ip}</span> &bull; '
    "Performance &amp; security</p></div></div></div>"
)
_CHECK = (
    '<div class="main-wrapper"><div class="main-content"><h1 class="zone-name">{host}</h1><h2>Verifying you are '
    'human. This may take a few seconds.</h2><div class="spacer"></div><noscript>Enable JavaScript and cookies '
    'to continue</noscript></div></div><script>(function(){window._opt={cRay:"{hex16}",cH:"{token}",'
    'cUPMDTk:"{path}?__tk={token}",t:"{seconds}"}})();</script><div class="footer">Ray ID: <code>{hex16}</code></div>'
)
_AKAMAI = (
    "<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\n \nYou don't have "
    'permission to access "{url}" on this server.<P>\nReference&#32;&#35;18.{hex8}.{seconds}.{hex7}\n</BODY>\n</HTML>\n'
)
_FRAME = (
    '<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"></head><body style="margin:0">'
    '<iframe id="main-iframe" src="/_Resource?SWUDNSAI=31&incident_id={incident}" frameborder=0 width="100%">'
    "Request unsuccessful. Incident ID: {incident}</iframe></body></html>"
)
_FIREWALL = (
    '<div class="firewall"><h1>Website Firewall - Access Denied</h1><table class="property-table"><tr><td>Your IP:'
    "</td><td>{ip}</td></tr><tr><td>URL:</td><td>{url}</td></tr><tr><td>Block ID:</td><td>BLK{hex8}</td></tr><tr>"
    "<td>Block reason:</td><td>An attempted attack was detected.</td></tr><tr><td>Time:</td><td>{clock}</td></tr>"
    "</table></div>"
)
_ALI = (
    '<div class="block-box"><div class="block-icon"></div><h1>很抱歉，由于您访问的URL有可能对网站造成安全威胁，您的访问被阻断。'
    '</h1><p class="trace">您的请求ID是：<strong>{hex32}</strong></p><p class="tip">如果您是网站管理员，请登录控制台查看详情</p></div>'
)
_SAFE = (
    '<div class="wrapper"><div class="title">当前访问疑似黑客攻击，已被创建者设置为拦截</div><ul class="info"><li>您的IP：{ip}</li>'
    '<li>拦截时间：{clock}</li><li>事件编号：{uuid}</li><li>访问网址：{url}</li></ul><div class="why">可能原因：您访问的内容'
    '含有危险的参数</div><a class="report" href="/report?id={uuid}">误报反馈</a></div>'
)
_SLIDE = (
    '<div class="captcha-panel"><div class="captcha-hd">安全验证</div><div class="captcha-bd"><p>访问过于频繁，请拖动滑块完成'
    '验证后继续访问</p><div class="slider" data-token="{token}" data-t="{millis}"><span class="slider-btn">请按住滑块，拖到最'
    '右边</span></div></div><div class="captcha-ft">反馈编码 {hex32}</div></div>'
)
_PICTURE = (
    '<section class="robot-check"><h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure '
    'you\'re not a robot.</p><form method="get" action="/errors/validateCaptcha"><input type=hidden name="amzn" '
    'value="{token}"><img src="https://images.example/captcha/{hex32}/Captcha.jpg"><input type="text" name="field" '
    'placeholder="Type characters"><button type="submit">Continue</button></form></section>'
)
_HOLD = (
    '<div class="px-wrapper"><div class="px-title">Before we continue...</div><div class="px-content">Press and hold '
    'to confirm you are a human (and not a bot).</div><div id="px-captcha"></div><div class="px-ref">Reference ID '
    "{uuid}</div></div><script>window._pxUuid='{uuid}';window._pxHost='{host}'</script>"
)
_WAF_JA = (
    '<div class="err"><h1>アクセスが拒否されました</h1><p>お客様のリクエストは安全上の理由により遮断されました。</p><dl><dt>受付番号'
    "</dt><dd>{uuid}</dd><dt>発生日時</dt><dd>{day}</dd><dt>接続元</dt><dd>{ip}</dd></dl></div>"
)
_REGISTRY_ZH = (
    '<div class="beian"><h2>网站暂时无法访问</h2><p>该网站未根据工信部相关法规进行备案，请网站负责人及时处理。</p><ol><li>登录备案系统'
    '</li><li>提交备案信息</li><li>等待审核</li></ol><p class="host">域名：{host}</p></div>'
)
_MAINTAINED = (
    '<article class="maint"><h1>We&rsquo;ll be back soon!</h1><div><p>Sorry for the inconvenience. We are performing '
    "some maintenance at the moment. We expect to be back by {date}.</p><p>&mdash; The team of {host}</p></div></article>"
)

TUNING: dict[str, Maker] = {
    "block-ray": _notice(
        403,
        _page("Attention Required!", _RAY),
        "Server: cloudflare",
        "CF-RAY: {hex16}-LHR",
        "X-Frame-Options: SAMEORIGIN",
        'Report-To: {"endpoints":[{"url":"https://nel.example/report/v4?s={hex8}"}],"group":"nel"}',
    ),
    "challenge-ray": _notice(
        403,
        _page("Just a moment...", _CHECK),
        "Server: cloudflare",
        "CF-RAY: {hex16}-FRA",
        "cf-mitigated: challenge",
        "Permissions-Policy: accelerometer=(),camera=()",
        "Referrer-Policy: same-origin",
    ),
    "block-reference": _notice(
        403,
        _AKAMAI,
        "Server: AkamaiGHost",
        "Mime-Version: 1.0",
        "Expires: {date}",
        content="text/html",
    ),
    "block-zh-url": _notice(
        405,
        _page("405", _ALI, language="zh"),
        "Server: Tengine",
        "Set-Cookie: acw_tc={hex32};path=/;HttpOnly",
    ),
    "captcha-zh-slide": _notice(
        200, _page("验证码拦截", _SLIDE, language="zh-CN"), "Server: Tengine", "bxpunish: 1"
    ),
    "captcha-picture": _notice(
        503,
        _page("Robot Check", _PICTURE),
        "Server: Server",
        "x-amz-rid: {hex8}",
        "Vary: User-Agent",
    ),
    "parked-pk": _parked("pk", "Parking/1.0", "This domain may be for sale."),
    "login-mail": _login("rc", "Courier Webmail", "Apache"),
    "login-git": _login(
        "gt",
        "Gitbarn",
        "nginx",
        '<div class="{look}-alt"><a>Register</a><a>Explore</a><a>Forgot password?</a></div>',
    ),
    "maintenance": _notice(
        503, _page("Site Maintenance", _MAINTAINED), "Server: nginx", "Retry-After: 3600"
    ),
}
HELD_OUT: dict[str, Maker] = {
    "block-incident": _notice(
        403,
        _FRAME,
        "X-Iinfo: {incident} NNNN RT({millis} 0) q(0 -1)",
        "Set-Cookie: visid_incap={token}; path=/",
    ),
    "block-firewall": _notice(
        403,
        _page("Website Firewall - Access Denied", _FIREWALL),
        "Server: Sucuri",
        "X-Sucuri-ID: 18014",
    ),
    "block-zh-attack": _notice(
        403, _page("访问被拦截", _SAFE, language="zh-cn"), "Server: WAF/2.0", "X-Request-Id: {uuid}"
    ),
    "captcha-hold": _notice(
        403,
        _page("Access to this page has been denied", _HOLD),
        "Server: openresty",
        "X-PX-Id: {uuid}",
    ),
    "block-ja": _notice(
        403, _page("403", _WAF_JA, language="ja"), "Server: Apache", "X-Block-Id: {uuid}"
    ),
    "registry-zh": _notice(403, _page("网站未备案", _REGISTRY_ZH, language="zh"), "Server: Beaver"),
    "parked-sd": _parked("sd", "nginx", "The owner offers this name to the highest bidder."),
    "login-panel": _login(
        "hp",
        "Hostpilot Panel",
        "cpsrvd",
        '<select class="{look}-lang"><option>English</option><option>中文</option></select>',
    ),
}
