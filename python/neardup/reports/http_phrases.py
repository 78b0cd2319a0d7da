"""What the page of kinds of HTTP responses says."""

from __future__ import annotations

# English, 中文; see `catalogue`.
HTTP_PHRASES: dict[str, tuple[str | tuple[str, str], str]] = {
    "title.kinds": ("Kinds of HTTP responses", "HTTP 响应类型报告"),
    "count.responses": ("responses", "响应"),
    "count.kinds": ("kinds", "类型"),
    "count.alone_kinds": ("of them alone", "其中仅一条的类型"),
    "responses": (("{n:,} response", "{n:,} responses"), "{n:,} 条响应"),
    "setting.within": ("within", "分组依据"),
    # ---- how responses fall on kinds ----
    "bar.title": ("How the responses fall on kinds", "响应在各类型中的分布"),
    "bar.said": (
        (
            "{n:,} kind holds {share} of the responses.",
            "The {n:,} largest kinds hold {share} of the responses.",
        ),
        "最大的 {n:,} 个类型占全部响应的 {share}。",
    ),
    "bar.rest": (
        ("{n:,} smaller kind: {responses} responses", "{n:,} smaller kinds: {responses} responses"),
        "其余 {n:,} 个较小的类型：{responses} 条响应",
    ),
    "bar.alone": (
        ("{n:,} response alone", "{n:,} responses alone, each a kind of its own"),
        "{n:,} 条独立响应，各成一类",
    ),
    "class.s0": ("no status", "无状态码"),
    "class.s1": ("1xx", "1xx"),
    "class.s2": ("2xx success", "2xx 成功"),
    "class.s3": ("3xx redirect", "3xx 重定向"),
    "class.s4": ("4xx refused", "4xx 客户端错误"),
    "class.s5": ("5xx server error", "5xx 服务器错误"),
    # ---- narrowing down ----
    "facets.title": ("Narrow down", "筛选"),
    "facets.note": (
        "Numbers are of kinds. A kind counts for every value that one of its responses has.",
        "数字为类型数。某类型只要有一条响应符合，即计入该值。",
    ),
    "facets.clear": ("Clear all", "全部清除"),
    "facet.label": ("Label", "标签"),
    "facet.status": ("Status", "状态码"),
    "facet.title": ("Title", "标题"),
    "facet.server": ("Server", "服务器"),
    "facet.host": ("Host", "主机"),
    "facet.others": (("{n:,} other", "{n:,} others"), "其他 {n:,} 个"),
    "none.label": ("no label", "无标签"),
    "none.status": ("no status", "无状态码"),
    "none.title": ("no title", "无标题"),
    "none.server": ("no server", "无服务器名"),
    "none.host": ("no host", "无主机名"),
    "filter.text": ("Find", "查找"),
    "filter.hint": ("title, address, server …", "标题、网址、服务器……"),
    "sort.title": ("Order", "排序"),
    "sort.largest": ("largest first", "从大到小"),
    "sort.odd": ("odd ones first (alone)", "独立的在前"),
    "sort.loose": ("least alike first", "最不相似的在前"),
    # ---- kinds ----
    "kinds.title": ("Kinds", "类型"),
    "kinds.none": ("No response was read.", "没有读到响应。"),
    "kinds.no_match": ("No kind has all of this.", "没有符合条件的类型。"),
    "kinds.shown": (
        "{shown} of {of} kinds, {responses} responses",
        "{of} 个类型中的 {shown} 个，共 {responses} 条响应",
    ),
    "kinds.left_out": (
        (
            "The page has {shown} kinds: the largest, and some of those alone. {n:,} more is left "
            "out; the table that --kinds writes has all.",
            "The page has {shown} kinds: the largest, and some of those alone. {n:,} more are left "
            "out; the table that --kinds writes has all.",
        ),
        "本页列出 {shown} 个类型：最大的，以及部分独立的。另有 {n:,} 个未列出，"
        "--kinds 写出的表格含全部类型。",
    ),
    "kinds.members": (
        "Showing {shown:,} of {n:,} responses.",
        "显示 {n:,} 条响应中的 {shown:,} 条。",
    ),
    "kinds.member_title": ("Responses", "响应"),
    "kinds.more_statuses": (
        ("{n:,} more status in this kind", "{n:,} more statuses in this kind"),
        "本类型还有另外 {n:,} 种状态码",
    ),
    "fact.bytes": (("{n:,} byte", "{n:,} bytes"), "{n:,} 字节"),
    "fact.lengths": ("{shortest}–{longest} bytes", "{shortest}–{longest} 字节"),
    "fact.hosts": (("{n:,} host", "{n:,} hosts"), "{n:,} 个主机"),
    "fact.lowest": ("similarity ≥ {value}", "相似度 ≥ {value}"),
    "column.address": ("Address", "网址"),
    "column.record": ("Record", "记录"),
    "problems.record": ("Record", "记录"),
    # ---- samples ----
    "sample.title": ("The representative and the response least like it", "代表与最不相似的响应"),
    "sample.alone_title": ("The response as it was compared", "用于比较的响应内容"),
    "sample.least": ("least like it: similarity {value}", "最不相似：相似度 {value}"),
    "sample.same": (
        "Both are the same once volatile parts are masked.",
        "屏蔽易变部分后，两条响应完全相同。",
    ),
    "sample.beyond": (
        "They differ beyond what is shown here.",
        "差异在此处未显示的部分。",
    ),
    "sample.none": (
        "Samples are shown of the largest kinds, and of some of those alone.",
        "仅对最大的类型和部分独立的类型显示样例。",
    ),
    "sample.no_room": (
        "The sample is left out: the page would be too large.",
        "页面过大，省略样例。",
    ),
    "sample.lines": (
        ("… {n:,} line the same on both sides …", "… {n:,} lines the same on both sides …"),
        "……两侧相同的 {n:,} 行……",
    ),
    "sample.more": (("… {n:,} more line …", "… {n:,} more lines …"), "……还有 {n:,} 行……"),
    "sample.characters": (
        ("… {n:,} more character …", "… {n:,} more characters …"),
        "……还有 {n:,} 个字符……",
    ),
    "marks.masked": ("masked", "屏蔽"),
    "marks.masked_means": (
        "is a volatile part, by the rule that masked it.",
        "为被屏蔽的易变部分及其规则名。",
    ),
    "sample.name_only": ("only the name is compared", "仅比较名称"),
    "view.within": ("within", "分组"),
    "view.status": ("status", "状态码"),
    "view.header": ("header", "头字段"),
    "view.title": ("title", "标题"),
    "view.tags": ("tags", "HTML 结构"),
    "view.keys": ("JSON keys", "JSON 键"),
    "view.text": ("text", "文本"),
    "view.body": ("body", "正文"),
}
