"""What the pages of the service say, beside what reports say already."""

from __future__ import annotations

# English, 中文; see `neardup.reports.catalogue`.
PHRASES: dict[str, tuple[str | tuple[str, str], str]] = {
    # ---- around every page ----
    "page.skip": ("Skip to the content", "跳到正文"),
    "page.pages": ("Pages", "页面"),
    "page.check": ("Check", "查重"),
    "page.compare": ("Compare", "比对"),
    "page.learn": ("Learn", "学习"),
    "page.collection": ("Collection", "文库"),
    "page.language": ("Language", "语言"),
    "page.theme": ("Colours", "配色"),
    "page.theme_auto": ("as the system", "跟随系统"),
    "page.theme_light": ("light", "浅色"),
    "page.theme_dark": ("dark", "深色"),
    "page.json": ("This page as JSON", "本页的 JSON"),
    "page.api": ("The interface for programs", "程序接口"),
    "page.demo": (
        "This is a demo: a small collection made from the sample. It is gone when the service "
        "stops.",
        "这是演示：由示例文本建成的小文库，服务停止后即删除。",
    ),
    "page.failed": ("That did not work", "未能完成"),
    "page.sign_in": ("Sign in", "登录"),
    "page.sign_out": ("Sign out", "退出登录"),
}
