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
    "page.back": ("Back to the page", "返回页面"),
    "page.sign_in": ("Sign in", "登录"),
    "page.sign_out": ("Sign out", "退出登录"),
    "sign.lead": (
        "This service asks for a token. Whoever runs it can give you one.",
        "此服务需要令牌，请向其管理者索取。",
    ),
    "sign.token": ("Token", "令牌"),
    "sign.wrong": ("This token is not known.", "令牌无效。"),
    # ---- what can go wrong ----
    "problem.401": ("A token is needed. Sign in.", "需要令牌，请登录。"),
    "problem.403": (
        "You may look, but not change anything here.",
        "您只能查看，不能修改。",
    ),
    "problem.429": ("Too many tries. Wait a little.", "尝试次数过多，请稍候。"),
    "problem.404": ("There is no such document.", "没有这个文档。"),
    "problem.no_page": ("There is no such page.", "没有这个页面。"),
    "problem.408": (
        "The form did not arrive in time. Send it again.",
        "表单未能及时送达，请重试。",
    ),
    "problem.413": (
        "That is too large for this service. Check it on the command line: neardup check.",
        "内容超出本服务的大小限制。请使用命令行：neardup check。",
    ),
    "problem.503": (
        "The service is busy. Try again in a few seconds.",
        "服务繁忙，请几秒后重试。",
    ),
    "problem.500": (
        "Something went wrong in the service; its log says what.",
        "服务出错，详情见其日志。",
    ),
    "problem.gone": (
        "This text is no longer kept: long texts stay until the service stops or newer ones need "
        "the room. Paste it again.",
        "该文本已不再保存：长文本只保留到服务停止，或被更新的文本取代。请重新粘贴。",
    ),
    "problem.no_texts": (
        "This collection keeps no texts, so there is nothing to show of a document.",
        "此文库不保存正文，无法显示文档内容。",
    ),
    "problem.long": (
        "The text has {n:,} characters; pages take {most:,} at most. Check it on the command "
        "line: neardup check.",
        "文本有 {n:,} 个字符，页面最多接受 {most:,} 个。请使用命令行：neardup check。",
    ),
    "problem.empty": (
        "There is no text. Paste one, or choose a file.",
        "没有文本。请粘贴文本或选择文件。",
    ),
    "problem.two_empty": (
        "Both texts are empty. Paste them, or choose files.",
        "两侧文本都为空。请粘贴文本或选择文件。",
    ),
    "problem.no_pair": (
        "The address names no two texts: it needs a text and a source.",
        "地址中缺少要对照的两条文本。",
    ),
    "problem.number": (
        "{field} is {value}; it must be a number from {least:g} to {most:g}.",
        "{field} 为 {value}，应是 {least:g} 到 {most:g} 之间的数。",
    ),
    "problem.id": (
        "An id has 1 to {most:,} characters.",
        "标识的长度为 1 到 {most:,} 个字符。",
    ),
    "problem.known_id": (
        "The id {id} is taken. Choose another one.",
        "标识 {id} 已被使用，请换一个。",
    ),
    "file.packed": (
        "{file} is packed. Unpack it, and choose what is in it.",
        "{file} 是压缩文件，请解压后再选。",
    ),
    "file.encoding": (
        "{file} is not UTF-8, and its encoding cannot be told. Save it as UTF-8.",
        "{file} 不是 UTF-8，也无法判断其编码。请另存为 UTF-8。",
    ),
    "file.binary": ("{file} is no text.", "{file} 不是文本文件。"),
    "file.wrong_byte": (
        "{file} is damaged, or in another encoding than it seems ({reason}). Save it as UTF-8.",
        "{file} 已损坏，或编码与判断不符（{reason}）。请另存为 UTF-8。",
    ),
    "file.unreadable": ("{file}: {reason}.", "无法读取 {file}：{reason}"),
    # ---- forms ----
    "form.file": ("Or a file", "或选择文件"),
    "form.kinds": (
        "Text, HTML, Word, OpenDocument, EPUB, RTF or PDF, up to {most:,} MB. You can drop it "
        "here, too.",
        "文本、HTML、Word、OpenDocument、EPUB、RTF 或 PDF，不超过 {most:,} MB；也可拖放到此处。",
    ),
    "form.too_large": (
        "This file is larger than {most:,} MB.",
        "文件超过 {most:,} MB。",
    ),
    # ---- Check ----
    "check.title": ("Has this been seen before?", "这篇文本以前出现过吗？"),
    "check.lead": (
        (
            "Your text is compared with {n:,} document. You see which are near it, how much of it "
            "is in them, and where.",
            "Your text is compared with {n:,} documents. You see which are near it, how much of "
            "it is in them, and where.",
        ),
        "将您的文本与 {n:,} 个文档比对，显示哪些与它相近、重合多少、在何处。",
    ),
    "check.text": ("Text", "文本"),
    "check.submit": ("Check", "查重"),
    "check.threshold": ("Near from similarity", "相似度阈值"),
    "check.offered": (
        "Or take one of the newest documents:",
        "或从最近加入的文档中选一个：",
    ),
    "check.yours": ("Your text", "您的文本"),
    "check.seen": (
        (
            "Seen before: {n:,} document is near it (similarity {similarity} or more).",
            "Seen before: {n:,} documents are near it (similarity {similarity} or more).",
        ),
        "曾经出现过：{n:,} 个文档与之相近（相似度不低于 {similarity}）。",
    ),
    "check.unseen": (
        "No document is near it as a whole (similarity {similarity} or more).",
        "没有整体相近的文档（相似度不低于 {similarity}）。",
    ),
    "check.passages": (
        (
            "No document is near it as a whole (similarity {similarity} or more), but {n:,} "
            "document shares passages with it.",
            "No document is near it as a whole (similarity {similarity} or more), but {n:,} "
            "documents share passages with it.",
        ),
        "没有整体相近的文档（相似度不低于 {similarity}），但有 {n:,} 个文档与之有重合段。",
    ),
    "check.copied": ("How much was copied", "重复率"),
    "check.recomputed": ("Copied in all: {share}", "重复率：{share}"),
    "check.nearest_only": (
        "Passages were looked for in the nearest documents only: this collection is large, and was "
        "made without runs.",
        "文库较大且未建立片段索引，只在最相近的文档中查找重合段。",
    ),
    "check.no_texts": (
        "This collection keeps no texts: only fingerprints were compared, and no passages can be "
        "shown.",
        "此文库不保存正文，只比较了指纹，无法显示重合段。",
    ),
    "check.encoding": ("The file was read as {encoding}.", "文件按 {encoding} 编码读取。"),
    "check.kept": (
        "Your text is kept in memory, not on the disk: this link works until the service stops or "
        "newer texts need the room.",
        "您的文本只保存在内存中，不写入磁盘；此链接在服务停止或被更新的文本取代之前有效。",
    ),
    "check.another": ("Check another text", "检查另一篇文本"),
    "near.title": ("Nearest documents", "最相近的文档"),
    "near.document": ("Document", "文档"),
    "near.distance": ("Bits apart", "相差位数"),
    "near.coverage": ("Of this text in it", "本文在其中的比例"),
    "near.own_coverage": ("Of it in this text", "其在本文中的比例"),
    "near.near": ("near", "相近"),
    "near.note": (
        "Marked are those of similarity {similarity} or more.",
        "相似度不低于 {similarity} 的已标出。",
    ),
    "near.none": ("No document resembles it.", "没有相似的文档。"),
    "sources.switch": ("Source {n} counts", "计入来源 {n}"),
    "sources.leave_out": ("leave out", "排除"),
    "sources.take_in": ("count again", "重新计入"),
    "add.title": ("Add it to the collection", "加入文库"),
    "add.id": ("Under the id", "标识"),
    "add.submit": ("Add", "加入"),
    "add.done": ("It was added to the collection.", "已加入文库。"),
    # ---- Compare ----
    "compare.title": ("Two texts compared", "两条文本比对"),
    "compare.lead": (
        "How alike two texts are: bit by bit as fingerprints, as wholes, and passage by passage.",
        "两条文本有多相似：逐位比较指纹，比较整体，再逐段对照。",
    ),
    "compare.left": ("Left text", "左侧文本"),
    "compare.right": ("Right text", "右侧文本"),
    "compare.submit": ("Compare", "比对"),
    "compare.again": ("Change them and compare again", "修改后重新比对"),
    "compare.others": ("Compare other texts", "比对其他文本"),
    "strip.title": ("Fingerprints, bit by bit", "逐位比较指纹"),
    "strip.note": (
        (
            "Left above, right below. {n:,} of {of:,} bits differs.",
            "Left above, right below. {n:,} of {of:,} bits differ.",
        ),
        "上为左侧，下为右侧。{of:,} 位中有 {n:,} 位不同。",
    ),
    "strip.said": (
        "{n:,} of {of:,} bits differ, counted from the left: {places}",
        "{of:,} 位中有 {n:,} 位不同，从左数：{places}",
    ),
    "strip.bit": ("bit {n:,}", "第 {n:,} 位"),
    "strip.none": (
        "A text with too few words has no fingerprint, so there are no bits to compare.",
        "词数太少的文本没有指纹，无法逐位比较。",
    ),
    "mark.title": ("Are these two the same?", "这两个文档相同吗？"),
    "mark.same": ("Same", "相同"),
    "mark.different": ("Different", "不同"),
    "mark.none": ("Take the mark back", "撤销标注"),
}
