"""What the page of the collection says."""

from __future__ import annotations

# English, 中文; see `neardup.reports.catalogue`.
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
        "This collection keeps no texts, so similarities cannot be computed.",
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
