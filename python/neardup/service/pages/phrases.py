"""What the pages of the service say, beside what reports say already."""

from __future__ import annotations

# English, 中文; see `neardup.reports.page`.
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
        "This collection stores no texts, so there is nothing to show of a document.",
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
        "This collection stores no texts: only fingerprints were compared, and no passages can be "
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


# What the page of the collection says.

# English, 中文; see `neardup.reports.page`.
COLLECTION_PHRASES: dict[str, tuple[str | tuple[str, str], str]] = {
    "collection.lead": (
        "What is stored, how alike it is, and where to draw the line between near and not.",
        "存了什么、彼此有多相似、相近与否的界线该划在哪里。",
    ),
    "collection.documents": ("documents", "文档"),
    "collection.without_signal": ("too short for a fingerprint", "太短而无指纹"),
    "collection.bits": ("bits a fingerprint", "指纹位数"),
    "collection.bytes": ("on the disk", "占用磁盘"),
    "collection.marks": ("pairs marked", "已标注的文档对"),
    "collection.recipe": ("recipe", "配方"),
    "survey.title": ("How near is the nearest?", "最近的有多近？"),
    "survey.note": (
        "For each document, the similarity of the one nearest to it. Copies pile up on the right, "
        "strangers on the left; a good threshold is in the valley between.",
        "每个文档与其最近者的相似度。重复的聚在右侧，无关的在左侧，好的阈值在两者之间的低谷处。",
    ),
    "survey.all": ("All {n:,} documents.", "全部 {n:,} 个文档。"),
    "survey.some": (
        "{n:,} of {of:,} documents, drawn at random.",
        "从 {of:,} 个文档中随机抽取 {n:,} 个。",
    ),
    "survey.running": ("Still being made; more to come.", "仍在统计，结果会继续增加。"),
    "survey.alone": (
        (
            "{n:,} of them has no other document at {floor:g} or more and is not drawn.",
            "{n:,} of them have no other document at {floor:g} or more and are not drawn.",
        ),
        "其中 {n:,} 个没有相似度不低于 {floor:g} 的其他文档，未画出。",
    ),
    "survey.none": (
        "There is nothing to draw: no document has another at {floor:g} or more.",
        "没有可画的内容：没有任何两个文档的相似度达到 {floor:g}。",
    ),
    "survey.no_texts": (
        "This collection stores no texts, so similarities cannot be computed.",
        "此文库不保存正文，无法计算相似度。",
    ),
    "survey.across": ("similarity of the nearest", "与最近者的相似度"),
    "survey.up": ("documents", "文档"),
    "survey.threshold": ("Threshold", "阈值"),
    "survey.set": ("Show", "显示"),
    "survey.count": (
        "{near} of {of} have another document at {threshold} or more.",
        "{of} 个文档中，{near} 个有相似度不低于 {threshold} 的其他文档。",
    ),
    "examples.title": ("Pairs on both sides of the line", "界线两侧的文档对"),
    "examples.note": (
        "The pairs closest to the threshold. Say which are the same to you; that tells how good "
        "the threshold is.",
        "最接近阈值的文档对。请标注您认为相同的，由此可知阈值好坏。",
    ),
    "examples.above": ("At {threshold} or more: near", "不低于 {threshold}：相近"),
    "examples.below": ("Below {threshold}: not near", "低于 {threshold}：不相近"),
    "examples.none": ("No pair here.", "这里没有文档对。"),
    "examples.more": ("Show more pairs", "显示更多文档对"),
    "examples.facts": (
        "similarity {similarity}, {bits} bits apart",
        "相似度 {similarity}，相差 {bits} 位",
    ),
    "examples.same": ("marked as the same", "已标注为相同"),
    "examples.different": ("marked as different", "已标注为不同"),
    "marks.title": ("What your marks say", "标注结果"),
    "marks.none": (
        "Nothing is marked yet. Mark some pairs above; then precision and recall of the threshold "
        "appear here.",
        "尚无标注。请在上方标注一些文档对，这里将显示阈值的精确率和召回率。",
    ),
    "marks.note": (
        "At threshold {threshold}, counted over the pairs you marked, with the similarity they had "
        "then.",
        "阈值 {threshold}，按已标注的文档对及其标注时的相似度计算。",
    ),
    "marks.precision": ("precision", "精确率"),
    "marks.precision_means": (
        "of the pairs at or above, the share that is the same",
        "达到阈值的文档对中，确实相同的比例",
    ),
    "marks.recall": ("recall", "召回率"),
    "marks.recall_means": (
        "of the same pairs, the share at or above",
        "相同的文档对中，达到阈值的比例",
    ),
    "marks.near_same": ("same, at or above", "相同且达到阈值"),
    "marks.near_different": ("different, at or above", "不同却达到阈值"),
    "marks.far_same": ("same, below", "相同却低于阈值"),
    "marks.far_different": ("different, below", "不同且低于阈值"),
    "marks.export": ("Export the marks:", "导出标注："),
    "marks.list": ("The marks as a list", "标注列表"),
    "marks.left": ("Document", "文档"),
    "marks.right": ("Other document", "另一文档"),
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
        "相似度 {similarity} 下共有 {n:,} 个簇（两个以上文档），显示最大的几个。",
    ),
    "groups.none": ("No two documents are near each other.", "没有相近的文档。"),
    "groups.running": ("Clusters are being made.", "正在聚类。"),
    "groups.too_many": (
        "The collection is too large to be clustered here: export it and use neardup cluster.",
        "文库太大，无法在此聚类：请导出后使用 neardup cluster。",
    ),
    "groups.size": (("{n:,} document", "{n:,} documents"), "{n:,} 个文档"),
    "groups.more": ("and {n:,} more", "另有 {n:,} 个"),
    "recent.title": ("Newest documents", "最近加入"),
    "recent.none": ("The collection is empty.", "文库为空。"),
    "problem.no_mark": (
        "A mark needs two different documents of the collection and a verdict: same, different, or "
        "none to take it back.",
        "标注需要文库中两个不同的文档和一个结论：相同、不同，或撤销。",
    ),
    "problem.notes": (
        "Marks can be neither read nor stored: the folder of the collection cannot be written, or "
        "its notes.sqlite is damaged.",
        "无法读取或保存标注：文库目录不可写，或其中的 notes.sqlite 已损坏。",
    ),
}
