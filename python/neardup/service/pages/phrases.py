"""Strings of all pages but Learn: (English, Chinese); a pair of English forms is singular, plural.

Strings shared with reports are in `neardup.reports.phrases`.
"""

from __future__ import annotations

PHRASES: dict[str, tuple[str | tuple[str, str], str]] = {
    # ---- around every page ----
    "page.skip": ("Skip to the content", "跳到正文"),
    "page.pages": ("Pages", "页面"),
    "page.check": ("Check", "查重"),
    "page.compare": ("Compare", "比对"),
    "page.learn": ("Learn", "学习"),
    "page.collection": ("Collection", "文档库"),
    "page.language": ("Language", "语言"),
    "page.theme": ("Theme", "配色"),
    "page.theme_title": ("Theme: {theme}", "配色：{theme}"),
    "page.theme_auto": ("system", "跟随系统"),
    "page.theme_light": ("light", "浅色"),
    "page.theme_dark": ("dark", "深色"),
    "page.json": ("This page as JSON", "本页的 JSON"),
    "page.api": ("API", "API 接口"),
    "page.demo": (
        "This is a demo with a small collection of sample texts. It is deleted when the service "
        "stops.",
        "这是演示：使用由示例文本建成的小型文档库，服务停止后即删除。",
    ),
    "page.failed": ("That did not work", "操作未能完成"),
    "page.back": ("Back to the page", "返回页面"),
    "page.sign_in": ("Sign in", "登录"),
    "page.sign_out": ("Sign out", "退出登录"),
    "sign.lead": (
        "This service requires a token. Ask its operator for one.",
        "此服务需要令牌，请向管理员索取。",
    ),
    "sign.token": ("Token", "令牌"),
    "sign.wrong": ("Invalid token.", "令牌无效。"),
    # ---- what can go wrong ----
    "problem.401": ("A token is required. Sign in.", "需要令牌，请登录。"),
    "problem.403": (
        "This is read-only: you cannot change anything here.",
        "当前为只读，您不能修改。",
    ),
    "problem.429": (
        "Too many requests. Wait a moment and try again.",
        "请求过于频繁，请稍后再试。",
    ),
    "problem.404": ("There is no such document.", "没有这篇文档。"),
    "problem.no_page": ("There is no such page.", "没有这个页面。"),
    "problem.408": (
        "The form did not arrive in time. Send it again.",
        "表单未能及时送达，请重试。",
    ),
    "problem.413": (
        "This is too large for the service. Use the command line: neardup check.",
        "内容超出本服务的大小限制。请使用命令行：neardup check。",
    ),
    "problem.503": (
        "The service is busy. Try again in a few seconds.",
        "服务繁忙，请几秒后重试。",
    ),
    "problem.500": (
        "Internal error; see the log of the service.",
        "服务内部出错，详情见服务日志。",
    ),
    "problem.gone": (
        "This text is no longer in memory: long texts are cached until the service stops or newer "
        "texts need the space. Paste it again.",
        "该文本已不在内存中：长文本只缓存到服务停止，或被更新的文本取代。请重新粘贴。",
    ),
    "problem.no_texts": (
        "This collection stores no texts, so documents cannot be shown.",
        "此文档库不保存正文，无法显示文档内容。",
    ),
    "problem.long": (
        "The text has {n:,} characters; the limit of this page is {most:,}. Use the command line: "
        "neardup check.",
        "文本有 {n:,} 个字符，页面最多接受 {most:,} 个。请使用命令行：neardup check。",
    ),
    "problem.empty": (
        "The text is empty. Paste a text or choose a file.",
        "文本为空。请粘贴文本或选择文件。",
    ),
    "problem.two_empty": (
        "Both texts are empty. Paste texts or choose files.",
        "两侧文本都为空。请粘贴文本或选择文件。",
    ),
    "problem.no_pair": (
        "The address must name two texts: a text (text, kept or id) and a source.",
        "地址中应有两篇文本：一篇文本（text、kept 或 id）和一个 source。",
    ),
    "problem.number": (
        "{field} is {value}; it must be a number from {least:g} to {most:g}.",
        "{field} 为 {value}，应是 {least:g} 到 {most:g} 之间的数。",
    ),
    "problem.aspect": (
        "distinguish is {value}; it must be one or more of numbers, negation, symbols, order.",
        "distinguish 为 {value}，应是 numbers、negation、symbols、order 中的一个或几个。",
    ),
    "problem.id": (
        "An id must have 1 to {most:,} characters.",
        "标识的长度应为 1 到 {most:,} 个字符。",
    ),
    "problem.known_id": (
        "The id {id} is already in use. Choose another one.",
        "标识 {id} 已被使用，请换一个。",
    ),
    "file.packed": (
        "{file} is an archive. Unpack it and choose a file from it.",
        "{file} 是压缩文件，请解压后选择其中的文件。",
    ),
    "file.encoding": (
        "{file} is not UTF-8, and its encoding cannot be detected. Save it as UTF-8.",
        "{file} 不是 UTF-8，也无法判断其编码。请另存为 UTF-8。",
    ),
    "file.binary": ("{file} is not a text file.", "{file} 不是文本文件。"),
    "file.wrong_byte": (
        "{file} is damaged or not in the detected encoding ({reason}). Save it as UTF-8.",
        "{file} 已损坏，或与检测到的编码不符（{reason}）。请另存为 UTF-8。",
    ),
    "file.unreadable": ("{file}: {reason}.", "无法读取 {file}：{reason}。"),
    # ---- forms ----
    "form.file": ("Or a file", "或选择文件"),
    "form.kinds": (
        "Text, HTML, Word, OpenDocument, EPUB, RTF or PDF, up to {most:,} MB. You can also drop "
        "a file here.",
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
            "Compares your text with {n:,} document: is it a near-duplicate, how much of your "
            "text is in it, and where?",
            "Compares your text with {n:,} documents: which are near-duplicates, how much of your "
            "text is in them, and where?",
        ),
        "将您的文本与 {n:,} 篇文档比对：哪些与它近似重复，重合多少，重合在何处。",
    ),
    "check.text": ("Text", "文本"),
    "check.submit": ("Check", "查重"),
    "check.threshold": ("Similarity threshold", "相似度阈值"),
    "check.distinguish": (
        "Documents that differ in this are not near:",
        "在以下方面不同的文档不算相近：",
    ),
    "check.offered": (
        "Or try one of the newest documents:",
        "或试试最近加入的文档：",
    ),
    "check.yours": ("Your text", "您的文本"),
    "check.seen": (
        (
            "Seen before: {n:,} document is near it (similarity {similarity} or more).",
            "Seen before: {n:,} documents are near it (similarity {similarity} or more).",
        ),
        "曾经出现过：{n:,} 篇文档与之相近（相似度不低于 {similarity}）。",
    ),
    "check.unseen": (
        "No document as a whole is near it (similarity {similarity} or more).",
        "没有整体相近的文档（相似度不低于 {similarity}）。",
    ),
    "check.passages": (
        (
            "No document as a whole is near it (similarity {similarity} or more), but {n:,} "
            "document shares passages with it.",
            "No document as a whole is near it (similarity {similarity} or more), but {n:,} "
            "documents share passages with it.",
        ),
        "没有整体相近的文档（相似度不低于 {similarity}），但有 {n:,} 篇文档与之有重合段。",
    ),
    "check.copied": ("How much was copied", "文字复制比"),
    "check.recomputed": ("Copied in total: {share}", "总文字复制比：{share}"),
    "check.nearest_only": (
        "Passages were searched in the nearest documents only: this collection is large and was "
        "created without --runs.",
        "文档库较大且建库时未使用 --runs，只在最相近的文档中查找重合段。",
    ),
    "check.no_texts": (
        "This collection stores no texts: only fingerprints were compared, and no passages can be "
        "shown.",
        "此文档库不保存正文，只比较了指纹，无法显示重合段。",
    ),
    "check.encoding": ("The file was read as {encoding}.", "文件按 {encoding} 编码读取。"),
    "check.kept": (
        "Your text is in memory, not on disk: this link works until the service stops or newer "
        "texts need the space.",
        "您的文本只在内存中，不写入磁盘；在服务停止或被更新的文本取代之前，此链接有效。",
    ),
    "check.another": ("Check another text", "检查另一篇文本"),
    "near.title": ("Nearest documents", "最相近的文档"),
    "near.document": ("Document", "文档"),
    "near.distance": ("Bits apart", "相差位数"),
    "near.coverage": ("Share of this text", "占本文比例"),
    "near.own_coverage": ("Share of the document", "占该文档比例"),
    "near.near": ("near", "相近"),
    "near.differs": ("Differs in", "不同之处"),
    "near.lost": ("Words lost", "丢失字词"),
    "near.told": (
        "Similarity counts words. “Differs in” names what it does not see; words lost are words of "
        "this text that the document lacks.",
        "相似度只统计字词。“不同之处”是它看不出的差别；“丢失字词”是本文有而该文档没有的字词数。",
    ),
    "near.distinguished": (
        "Documents that differ in {aspects} are not near, whatever their similarity.",
        "在{aspects}上不同的文档，相似度再高也不算相近。",
    ),
    "near.note": (
        "Documents of similarity {similarity} or more are highlighted.",
        "相似度不低于 {similarity} 的文档已突出显示。",
    ),
    "near.none": ("No similar document was found.", "没有找到相似的文档。"),
    "sources.switch": ("Count source {n}", "计入来源 {n}"),
    "sources.leave_out": ("leave out", "排除"),
    "sources.take_in": ("count again", "重新计入"),
    "add.title": ("Add this text to the collection", "加入文档库"),
    "add.id": ("Id", "标识"),
    "add.submit": ("Add", "加入"),
    "add.done": ("The text was added to the collection.", "已加入文档库。"),
    # ---- Compare ----
    "compare.title": ("Compare two texts", "比对两篇文本"),
    "compare.lead": (
        "How similar two texts are: as a whole, bit by bit as fingerprints, passage by passage.",
        "两篇文本有多相似：整体相似度、逐位比较指纹、逐段对照。",
    ),
    "compare.left": ("Left text", "左侧文本"),
    "compare.right": ("Right text", "右侧文本"),
    "compare.submit": ("Compare", "比对"),
    "compare.again": ("Edit and compare again", "修改后重新比对"),
    "compare.others": ("Compare other texts", "比对其他文本"),
    "strip.title": ("Fingerprints, bit by bit", "逐位比较指纹"),
    "strip.note": (
        (
            "Left text above, right text below. {n:,} of {of:,} bits differs.",
            "Left text above, right text below. {n:,} of {of:,} bits differ.",
        ),
        "上行为左侧文本，下行为右侧文本。{of:,} 位中有 {n:,} 位不同。",
    ),
    "strip.said": (
        "{n:,} of {of:,} bits differ, counted from the left: {places}",
        "{of:,} 位中有 {n:,} 位不同，从左数：{places}",
    ),
    "strip.bit": ("bit {n:,}", "第 {n:,} 位"),
    "strip.none": (
        "A text with too few words has no fingerprint, so there are no bits to compare.",
        "有效词太少的文本没有指纹，无法逐位比较。",
    ),
    "mark.title": ("Are these two the same?", "这两篇文档相同吗？"),
    "mark.same": ("Same", "相同"),
    "mark.different": ("Different", "不同"),
    "mark.none": ("Remove the mark", "撤销标注"),
    # ---- Collection ----
    "collection.lead": (
        "What is stored, how similar the documents are, and which threshold separates duplicates "
        "from the rest.",
        "库中有哪些文档、彼此有多相似、阈值设在哪里合适。",
    ),
    "collection.documents": ("documents", "文档"),
    "collection.without_signal": ("without a fingerprint (too short)", "太短，没有指纹"),
    "collection.bits": ("bits per fingerprint", "指纹位数"),
    "collection.bytes": ("on disk", "占用磁盘"),
    "collection.marks": ("pairs marked", "已标注的文档对"),
    "collection.recipe": ("recipe", "方案"),
    "survey.title": ("How similar is the nearest document?", "与最相近的文档有多相似？"),
    "survey.note": (
        "For each document, the similarity of its nearest document. Duplicates are on the right, "
        "unrelated documents on the left; a good threshold is in the valley between them.",
        "每篇文档与其最相近文档的相似度。重复的在右侧，无关的在左侧；两者之间的低谷适合作阈值。",
    ),
    "survey.all": ("All {n:,} documents.", "全部 {n:,} 篇文档。"),
    "survey.some": (
        "A random sample of {n:,} of {of:,} documents.",
        "从 {of:,} 篇文档中随机抽取 {n:,} 篇。",
    ),
    "survey.running": ("In progress; the chart will be updated.", "统计中，图表会继续更新。"),
    "survey.alone": (
        (
            "{n:,} of them has no other document at {floor:g} or more and is not shown.",
            "{n:,} of them have no other document at {floor:g} or more and are not shown.",
        ),
        "其中 {n:,} 篇没有相似度不低于 {floor:g} 的其他文档，未画出。",
    ),
    "survey.none": (
        "Nothing to show: no two documents have a similarity of {floor:g} or more.",
        "没有可显示的内容：没有任何两篇文档的相似度达到 {floor:g}。",
    ),
    "survey.no_texts": (
        "This collection stores no texts, so similarities cannot be computed.",
        "此文档库不保存正文，无法计算相似度。",
    ),
    "survey.across": ("similarity of the nearest document", "与最相近文档的相似度"),
    "survey.up": ("documents", "文档"),
    "survey.threshold": ("Threshold", "阈值"),
    "survey.set": ("Show", "显示"),
    "survey.count": (
        "{near} of {of} documents have another one at {threshold} or more.",
        "{of} 篇文档中，{near} 篇有相似度不低于 {threshold} 的其他文档。",
    ),
    "examples.title": ("Pairs on both sides of the threshold", "阈值两侧的文档对"),
    "examples.note": (
        "The pairs closest to the threshold. Mark them as same or different: the marks give the "
        "precision and recall of the threshold.",
        "最接近阈值的文档对。请标注相同或不同，由标注可算出阈值的精确率和召回率。",
    ),
    "examples.above": ("At {threshold} or more: near", "不低于 {threshold}：相近"),
    "examples.below": ("Below {threshold}: not near", "低于 {threshold}：不相近"),
    "examples.none": ("No pairs.", "没有文档对。"),
    "examples.more": ("Show more pairs", "显示更多文档对"),
    "examples.facts": (
        "similarity {similarity}, {bits} bits apart",
        "相似度 {similarity}，相差 {bits} 位",
    ),
    "examples.same": ("marked as the same", "已标注为相同"),
    "examples.different": ("marked as different", "已标注为不同"),
    "marks.title": ("Precision and recall by your marks", "由标注得出的精确率和召回率"),
    "marks.none": (
        "No pairs are marked yet. Mark some below; precision and recall of the threshold appear "
        "here.",
        "尚无标注。请在下方标注一些文档对，这里将显示阈值的精确率和召回率。",
    ),
    "marks.note": (
        "At threshold {threshold}, over the marked pairs, with the similarity they had when "
        "marked.",
        "阈值 {threshold}，按已标注的文档对及其标注时的相似度计算。",
    ),
    "marks.precision": ("precision", "精确率"),
    "marks.precision_means": (
        "share of the pairs at or above the threshold that are the same",
        "达到阈值的文档对中，确实相同的比例",
    ),
    "marks.recall": ("recall", "召回率"),
    "marks.recall_means": (
        "share of the same pairs that are at or above the threshold",
        "相同的文档对中，达到阈值的比例",
    ),
    "marks.near_same": ("same, at or above the threshold", "相同且达到阈值"),
    "marks.near_different": ("different, at or above the threshold", "不同却达到阈值"),
    "marks.far_same": ("same, below the threshold", "相同却低于阈值"),
    "marks.far_different": ("different, below the threshold", "不同且低于阈值"),
    "marks.export": ("Export:", "导出标注："),
    "marks.list": ("List of marks", "标注列表"),
    "marks.left": ("Document", "文档"),
    "marks.right": ("Other document", "另一篇文档"),
    "marks.verdict": ("Mark", "标注"),
    "marks.some": (
        "Showing the newest {shown:,} of {n:,}.",
        "显示 {n:,} 条中最新的 {shown:,} 条。",
    ),
    "groups.title": ("Largest clusters", "最大的簇"),
    "groups.note": (
        (
            "{n:,} cluster of two or more at similarity {similarity}.",
            "{n:,} clusters of two or more at similarity {similarity}; the largest are shown.",
        ),
        "相似度 {similarity} 下共有 {n:,} 个簇（每簇至少两篇文档），显示最大的几个。",
    ),
    "groups.none": ("No two documents are near each other.", "没有相近的文档。"),
    "groups.running": ("Computing clusters …", "正在聚类……"),
    "groups.too_many": (
        "The collection is too large to cluster here: export it and use neardup cluster.",
        "文档库太大，无法在此聚类：请导出后使用 neardup cluster。",
    ),
    "groups.size": (("{n:,} document", "{n:,} documents"), "{n:,} 篇文档"),
    "groups.more": ("and {n:,} more", "另有 {n:,} 篇"),
    "recent.title": ("Newest documents", "最近加入"),
    "recent.none": ("The collection is empty.", "文档库为空。"),
    "problem.no_mark": (
        "A mark needs two different documents of the collection and a verdict: same, different or "
        "none.",
        "标注需要文档库中两篇不同的文档和一个结论：相同、不同或撤销。",
    ),
    "problem.notes": (
        "Marks can be neither read nor stored: the folder of the collection is not writable, or "
        "notes.sqlite in it is damaged.",
        "无法读取或保存标注：文档库目录不可写，或其中的 notes.sqlite 已损坏。",
    ),
}
