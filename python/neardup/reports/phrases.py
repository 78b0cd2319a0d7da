"""Every string of a report, in English and Chinese.

One table, longer than other files, so that a translator finds everything in one place.
"""

from __future__ import annotations

from collections.abc import Mapping

# English, 中文. Where English has a singular, it comes first and is used if n is 1.
Phrases = Mapping[str, tuple[str | tuple[str, str], str]]

PHRASES: Phrases = {
    # ======== jobs: dedup, pairs, cluster ========
    "title.dedup": ("Near-duplicates removed", "近似重复去除报告"),
    "title.cluster": ("Clusters of near-duplicates", "近似重复聚类报告"),
    "title.pairs": ("Pairs of near-duplicates", "近似重复文本对报告"),
    # ---- what was found ----
    "count.kept": ("kept", "保留"),
    "count.removed": ("removed", "删除"),
    "count.exact": ("exact copies", "完全相同"),
    "count.near": ("near-duplicates", "近似重复"),
    "count.unreadable": ("unreadable", "无法读取"),
    "count.pairs": ("pairs", "文本对"),
    "count.clusters": ("clusters of two or more", "簇（两条及以上）"),
    "count.clustered": ("records in clusters", "簇内记录"),
    "count.alone": ("records alone", "独立记录"),
    "said.read": (("{n:,} record was read.", "{n:,} records were read."), "共读取 {n:,} 条记录。"),
    "said.reference": (
        (
            "{n:,} record was only compared with.",
            "{n:,} records were only compared with.",
        ),
        "其中 {n:,} 条仅用于比对。",
    ),
    "said.no_signal": (
        (
            "{n:,} record has too few words for a fingerprint; only an identical text is a "
            "duplicate of it.",
            "{n:,} records have too few words for a fingerprint; only identical texts are "
            "duplicates of them.",
        ),
        "{n:,} 条记录有效词太少，没有指纹；只有完全相同的文本才算重复。",
    ),
    "said.checked": (
        ("{n:,} pair was compared.", "{n:,} pairs were compared."),
        "比较了 {n:,} 个文本对。",
    ),
    "said.all": (
        "Every record was looked up in an inverted index: all pairs at {similarity:g} are found.",
        "每条记录都在倒排索引中查找：相似度达到 {similarity:g} 的文本对全部找到。",
    ),
    "said.estimated": (
        "Estimated share found of the pairs at {similarity:g}: {share}.",
        "相似度为 {similarity:g} 的文本对，估计召回率 {share}。",
    ),
    "said.nearly_all": (
        "Estimated share found of the pairs at {similarity:g}: over 99.9 %.",
        "相似度为 {similarity:g} 的文本对，估计召回率超过 99.9%。",
    ),
    "said.expected": (
        "Expected share found of the pairs at {similarity:g}: {share}.",
        "相似度为 {similarity:g} 的文本对，预期召回率 {share}。",
    ),
    "said.radius": (
        "Records are near-duplicates if their fingerprints differ in at most {radius} of {bits} "
        "bits; the texts were not compared.",
        "指纹相差不超过 {radius} 位（共 {bits} 位）即算近似，未比较文本本身。",
    ),
    "said.radius_apart": (
        "Records are near-duplicates if their fingerprints differ in at most {radius} of {bits} "
        "bits; of the texts only what keeps them apart was compared.",
        "指纹相差不超过 {radius} 位（共 {bits} 位）即算近似；文本本身只比较区分依据。",
    ),
    "said.exact": (
        "Exact copies are texts that another record has, character by character: of each such text "
        "all records but one.",
        "“完全相同”指文本与另一条记录逐字一致；每组这样的记录中有一条不计。",
    ),
    "said.exact_against": (
        "An exact copy equals a record it was compared with, character by character.",
        "“完全相同”指与对照记录中的某一条逐字一致。",
    ),
    "said.exact_pairs": (
        "The two texts of an exact copy are equal, character by character.",
        "“完全相同”指两篇文本逐字一致。",
    ),
    # ---- charts ----
    "chart.compared": ("Pairs the job compared", "本次比较过的文本对"),
    "chart.wider": ("Random sample", "随机抽样"),
    "chart.sizes": ("Clusters by size", "簇的大小"),
    "chart.similarity": ("similarity (exact cosine)", "相似度（精确余弦）"),
    "chart.distance": ("distance in bits", "距离（位）"),
    "chart.size": ("records in the cluster", "簇内记录数"),
    "chart.pairs": ("pairs", "文本对"),
    "chart.clusters": ("clusters", "簇"),
    "chart.near": ("near-duplicates", "近似重复"),
    "chart.far": ("rejected", "未达标"),
    "chart.at_least": ("at least {value:g}", "不低于 {value:g}"),
    "chart.radius": ("radius {value:,}", "半径 {value:,}"),
    "chart.described": ("{title}: {n:,} {up} in all", "{title}：共 {n:,} 个{up}"),
    "chart.marked": ("{text}; a line marks {label}", "{text}；竖线为“{label}”"),
    "chart.table": ("As a table", "表格"),
    "chart.rows": ("Showing {shown:,} of {n:,} rows.", "显示 {n:,} 行中的 {shown:,} 行。"),
    "note.compared": (
        "Every pair the job compared. Pairs below {similarity:g} are rejected. The job looks only "
        "for pairs above it, so the chart shows a part of those below, fewer the lower they are.",
        "本次比较过文本的全部文本对。低于 {similarity:g} 的不算近似；程序只寻找高于它的文本对，"
        "因此低于它的只见到一部分，越低见得越少。",
    ),
    "note.compared_radius": (
        "Every pair the job found, by how many bits the fingerprints differ.",
        "本次找到的全部文本对，按指纹相差的位数统计。",
    ),
    "note.below": (
        (
            "{n:,} more pair below {floor:g} is not shown.",
            "{n:,} more pairs below {floor:g} are not shown.",
        ),
        "另有 {n:,} 个文本对低于 {floor:g}，未显示。",
    ),
    "note.wider_all": (
        ("All pairs of {n:,} record.", "All pairs among {n:,} records."),
        "{n:,} 条记录中的全部文本对。",
    ),
    "note.wider_sample": (
        "All pairs in a random sample of {n:,} of {of:,} records.",
        "从 {of:,} 条记录中随机抽取 {n:,} 条，比较其中的全部文本对。",
    ),
    "note.wider_joined": (
        "Pairs from {floor:g} up in a random sample of {n:,} of {of:,} records. About 90 % of the "
        "pairs at {floor:g} are found, and more of the more similar ones.",
        "从 {of:,} 条记录中随机抽取 {n:,} 条，寻找其中相似度不低于 {floor:g} 的文本对。"
        "相似度为 {floor:g} 时召回率约 90%，越相似召回率越高。",
    ),
    "note.wider_twins": (
        "Texts with the same words are counted once.",
        "内容相同的文本只计一次。",
    ),
    "note.none": ("No pair.", "没有文本对。"),
    # ---- what differs ----
    "differing.title": ("What differs", "差异"),
    "differing.note": (
        "Similarity counts words; it does not see whether a number is another, a sentence is "
        "negated or words change places. The most suspicious first: read them before you delete.",
        "相似度只看用词，看不出数字不同、否定与否、词序变化。以下按可疑程度排列，删除前请先过目。",
    ),
    "differing.aspect": ("differ in", "差异"),
    "differing.of_dedup": ("removed records", "删除的记录"),
    "differing.of_pairs": ("pairs", "文本对"),
    "differing.of_cluster": ("members of clusters", "簇内成员"),
    "differing.words": (
        (
            "{n:,} word of removed records is missing in the record kept (median {median:g}).",
            "{n:,} words of removed records are missing in the record kept (median {median:g}).",
        ),
        "删除的记录共有 {n:,} 字在所保留的记录中没有（中位数 {median:g}）。",
    ),
    "differing.option": (
        "To keep such records apart: --distinguish {names}",
        "如需区分这些记录：--distinguish {names}",
    ),
    "differing.lost": ("{words} lost", "丢失 {words}"),
    "differing.only_right": ("{words} only on the right", "仅右侧有 {words}"),
    "differing.cluster": (
        ("to the cluster of {n:,} record", "to the cluster of {n:,} records"),
        "查看所在的簇（{n:,} 条记录）",
    ),
    "aspect.numbers": ("numbers", "数字"),
    "aspect.negation": ("negation", "否定"),
    "aspect.symbols": ("symbols", "符号"),
    "aspect.order": ("order", "词序"),
    # ---- pairs ----
    "pairs.title": ("Pairs on both sides of the threshold", "阈值两侧的文本对"),
    "pairs.title_pairs": ("Pairs", "文本对"),
    "pairs.note": (
        "A random sample at each level of similarity, the most similar first. Read down to where "
        "you would set the threshold.",
        "在各相似度区间随机抽取，按相似度从高到低排列。往下读，读到您认为该设阈值的地方为止。",
    ),
    "pairs.note_radius": (
        "A random sample at each distance, the nearest first. The similarities were computed for "
        "this page only.",
        "在各距离上随机抽取，按距离从近到远排列。相似度仅为本页计算。",
    ),
    "pairs.line": ("Below {similarity:g}: rejected", "低于 {similarity:g}：不算近似"),
    "pairs.line_radius": ("Beyond {radius:,} bits: rejected", "超过 {radius:,} 位：不算近似"),
    "pairs.none": ("No near-duplicates were found.", "没有发现近似重复的记录。"),
    # ---- clusters ----
    "clusters.title": ("Clusters", "簇"),
    "clusters.none": ("No near-duplicates were found.", "没有发现近似重复的记录。"),
    "clusters.all": (
        ("{n:,} cluster.", "{n:,} clusters, the largest first."),
        "共 {n:,} 个簇，按大小排列。",
    ),
    "clusters.some": (
        (
            "Showing {shown:,} of {n:,} cluster, the largest first.",
            "Showing {shown:,} of {n:,} clusters, the largest first.",
        ),
        "显示 {n:,} 个簇中最大的 {shown:,} 个。",
    ),
    "clusters.beside": (
        "Each member is shown beside the representative of its cluster, the least similar first.",
        "每条记录与所在簇的代表并排显示，最不相似的在前。",
    ),
    "clusters.weakest": (
        "The weakest link has similarity {value}: records are linked through others and may "
        "differ much from the representative.",
        "最弱的一条连接相似度为 {value}：成员经由其他记录相连，可能与代表相差较大。",
    ),
    "clusters.members": (
        "Showing {shown:,} of {n:,} records.",
        "显示 {n:,} 条记录中的 {shown:,} 条。",
    ),
    # ---- templates ----
    "templates.title": ("Templates", "模板"),
    "templates.found": (
        (
            "{n:,} cluster is a template: {records:,} records made from one form with other "
            "fields. --distinguish fields keeps them apart.",
            "{n:,} clusters are templates: {records:,} records made from one form with other "
            "fields. --distinguish fields keeps them apart.",
        ),
        "{n:,} 个簇是模板：{records:,} 条记录套用同一格式，只有字段不同。"
        "用 --distinguish fields 可将其区分。",
    ),
    "templates.apart": (
        (
            "{n:,} cluster was a template: {records:,} records made from one form with other "
            "fields, which were kept apart.",
            "{n:,} clusters were templates: {records:,} records made from one form with other "
            "fields, which were kept apart.",
        ),
        "{n:,} 个簇是模板：{records:,} 条记录套用同一格式，只有字段不同，已按字段区分。",
    ),
    "templates.looked_at": (
        "Only the {n:,} largest clusters were looked at.",
        "只查看了最大的 {n:,} 个簇。",
    ),
    "templates.means": (
        "A number stands for a field, a place in which most records of the cluster differ; some "
        "of its values are below the form. The largest come first.",
        "数字代表字段，即簇内多数记录各不相同之处；格式下方列出字段的部分取值。大的在前。",
    ),
    "templates.field": ("Field", "字段"),
    "templates.values": ("Some values", "部分取值"),
    "records": (("{n:,} record", "{n:,} records"), "{n:,} 条记录"),
    # ---- two texts side by side ----
    "marks.del": ("struck out", "删除线"),
    "marks.only_left": ("is only on the left,", "为仅左侧有，"),
    "marks.ins": ("underlined", "下划线"),
    "marks.only_right": ("only on the right.", "为仅右侧有。"),
    "marks.faint": ("dotted", "虚线"),
    "marks.faint_means": (
        "differs in writing only, which the recipe ignores.",
        "为写法不同，但按方案不计。",
    ),
    "marks.spacing": ("Differences in spacing are not marked.", "空白的差异不标出。"),
    "text.same": ("The same text, character by character.", "文本完全相同。"),
    "text.same_beginning": (
        "The same beginning, character by character.",
        "所示开头完全相同。",
    ),
    "text.spacing_only": ("The texts differ in spacing only.", "两篇文本只有空白不同。"),
    "text.uncounted_only": (
        "The texts differ only in what the recipe ignores.",
        "两篇文本的差异按方案均不计。",
    ),
    "text.coarse": (
        "To save time, differences are marked coarsely: more may be marked than differs.",
        "为节省时间，差异只作粗略标记，标出的可能多于实际差异。",
    ),
    "text.skipped": (
        (
            "… {n:,} character without differences …",
            "… {n:,} characters without differences …",
        ),
        "……{n:,} 个字符没有差异……",
    ),
    "text.cut": (
        "Showing the first {shown:,} of {n:,} characters.",
        "显示 {n:,} 个字符中的前 {shown:,} 个。",
    ),
    "text.empty": ("An empty text.", "空文本。"),
    "fact.representative": ("representative", "代表"),
    "fact.no_fingerprint": ("no fingerprint", "无指纹"),
    "fact.distance": (("distance {n:,} bit", "distance {n:,} bits"), "距离 {n:,} 位"),
    "fact.similarity": ("similarity {value}", "相似度 {value}"),
    "fact.length": (("{n:,} character", "{n:,} characters"), "{n:,} 个字符"),
    # ---- the rest ----
    "problems.title": ("Unreadable records", "无法读取的记录"),
    "problems.some": ("Showing {shown:,} of {n:,}.", "显示 {n:,} 条中的 {shown:,} 条。"),
    "problems.file": ("File", "文件"),
    "problems.line": ("Line", "行"),
    "problems.reason": ("Reason", "原因"),
    "settings.title": ("Settings", "设置"),
    "setting.inputs": ("inputs", "输入"),
    "setting.against": ("against", "比对对象"),
    "setting.similarity": ("similarity", "相似度"),
    "setting.radius": ("radius", "半径"),
    "setting.recall": ("recall", "召回率"),
    "setting.purpose": ("purpose", "用途"),
    "setting.distinguish": ("kept apart by", "区分依据"),
    "setting.linkage": ("linkage", "连接方式"),
    "setting.keep": ("keep", "保留策略"),
    "setting.recipe": ("recipe", "方案"),
    "setting.version": ("neardup", "neardup"),
    # ======== two texts compared, and a check for copying ========
    "title.compare": ("Comparison of two texts", "文本比对报告"),
    "title.check": ("Check for copying", "文本复制检测报告"),
    "title.pair": ("{left} and {right}", "{left} 与 {right} 对照"),
    "nav.overview": ("Overview", "总览"),
    "nav.label": ("Breadcrumb", "当前位置"),
    # ---- figures of two texts ----
    "figure.similarity": ("similarity", "相似度"),
    "figure.distance": ("distance in bits", "指纹距离（位）"),
    "figure.left": ("of the left text is in the right", "左侧文本与右侧重合"),
    "figure.right": ("of the right text is in the left", "右侧文本与左侧重合"),
    "figure.longest": ("longest passage", "最长重合段"),
    "figure.passages": (("passage", "passages"), "重合段"),
    "figure.bits": ("{n:,} / {of:,}", "{n:,} / {of:,}"),
    "figure.none": ("none", "无"),
    "verdict.identical": ("The texts are identical.", "两篇文本完全相同。"),
    "verdict.near-duplicate.similarity": (
        "The texts are near-duplicates: their similarity is at least {value:g}.",
        "两篇文本近似重复：相似度不低于 {value:g}。",
    ),
    "verdict.near-duplicate.distance": (
        "The texts are near-duplicates: their fingerprints differ in at most {value} bits.",
        "两篇文本近似重复：指纹相差不超过 {value} 位。",
    ),
    "verdict.contains.left": (
        "The left text contains the right one.",
        "左侧文本包含右侧文本的内容。",
    ),
    "verdict.contains.right": (
        "The right text contains the left one.",
        "右侧文本包含左侧文本的内容。",
    ),
    "verdict.partly copied": (
        "The texts are partly copied: they share passages.",
        "两篇文本部分复制：有成段相同的内容。",
    ),
    "verdict.different": (
        "The texts are different: they share hardly any passage.",
        "两篇文本不同：几乎没有成段相同的内容。",
    ),
    "verdict.far.similarity": ("Their similarity is below {value:g}.", "相似度低于 {value:g}。"),
    "verdict.far.distance": (
        "Their fingerprints differ in more than {value} bits.",
        "指纹相差超过 {value} 位。",
    ),
    "verdict.far.signal": (
        "One has too few words for a fingerprint.",
        "有一篇字数太少，没有指纹。",
    ),
    "verdict.differ.numbers": ("Numbers differ.", "数字不同。"),
    "verdict.differ.negation": ("Negation differs.", "否定词不同。"),
    "verdict.differ.symbols": ("Symbols differ.", "符号不同。"),
    "verdict.differ.order": (
        "They have the same words, or the same numbers, in another order.",
        "字词或数字相同，但顺序不同。",
    ),
    "verdict.differ.nothing": (
        "They differ only in case, punctuation, other signs or spaces.",
        "仅大小写、标点、其他符号或空格不同。",
    ),
    "differs.title": ("Only in one text", "仅一侧有的内容"),
    "differs.left": ("Left", "左侧"),
    "differs.right": ("Right", "右侧"),
    "differs.numbers": ("Numbers", "数字"),
    "differs.negation": ("Negation", "否定词"),
    "differs.symbols": ("Symbols", "符号"),
    "differs.words": ("Words", "单词"),
    "differs.characters": ("Characters", "字"),
    "differs.words and characters": ("Words and characters", "字词"),
    "differs.more": ("{shown}, … ({n:,})", "{shown}……（共 {n:,} 个）"),
    "words": (("{n:,} word", "{n:,} words"), "{n:,} 字"),
    "length.words": (("{n:,} word", "{n:,} words"), "{n:,} 个单词"),
    "length.characters": (("{n:,} character", "{n:,} characters"), "{n:,} 字"),
    "length.words and characters": (
        ("{n:,} word or character", "{n:,} words and characters"),
        "{n:,} 字",
    ),
    "note.similarity": (
        "Similarity compares which words occur and how often, hardly their order; a number or a "
        "negation counts like any other word.",
        "相似度比较用了哪些词、各用多少次，几乎不看顺序；数字和否定词只算普通的词。",
    ),
    "note.words": ("Shares are of words.", "比例按单词数计算。"),
    "note.characters": ("Shares are of characters.", "比例按字数计算。"),
    "note.words and characters": (
        "Shares are of words and characters: where a script has no spaces, such as Chinese, each "
        "character counts.",
        "比例按字数计算：中文一个字、外文一个单词各算一个。",
    ),
    "note.coarse": (
        "The search for passages reached its time limit: there may be more passages.",
        "查找达到时限，可能还有未列出的重合段。",
    ),
    "note.no_passages": ("The texts share no passage.", "没有重合段。"),
    "note.most": (
        "Showing the longest {shown:,} of {n:,} passages.",
        "显示 {n:,} 个重合段中最长的 {shown:,} 个。",
    ),
    "marks.passage": (
        "A passage has the same number and colour on both sides. Click a number to jump to the "
        "other side.",
        "同一重合段在两侧编号与颜色相同。点击编号跳到另一侧。",
    ),
    "marks.edited": ("dashed", "虚线"),
    "marks.edited_means": ("changed within a passage", "段内有改动"),
    "marks.exact": ("coloured", "着色"),
    "marks.exact_means": ("word for word", "逐字相同"),
    "kind.exact": ("word for word", "逐字相同"),
    "kind.edited": ("slightly edited", "略有改动"),
    "marks.ignored": ("grey", "灰色"),
    "marks.ignored_means": ("does not count", "不计入"),
    "jump.to": ("Passage {n:,}, {count}: to the other side", "第 {n:,} 段，{count}：跳到另一侧"),
    "slider.words": ("Minimum length", "最短长度"),
    "slider.hides": ("hides shorter passages", "隐藏更短的重合段"),
    "list.title": ("List of passages", "重合段列表"),
    "list.number": ("No.", "编号"),
    "list.words": ("Words", "单词数"),
    "list.characters": ("Characters", "字数"),
    "list.words and characters": ("Words and characters", "字数"),
    "list.kind": ("Kind", "类型"),
    "list.begins": ("Text", "文本"),
    "list.rows": (
        "Showing the longest {shown:,} of {n:,}.",
        "显示 {n:,} 个中最长的 {shown:,} 个。",
    ),
    "side.left": ("left text", "左侧文本"),
    "side.right": ("right text", "右侧文本"),
    # ---- a check ----
    "count.documents": ("documents checked", "检测文档"),
    "count.above": ("at or above the threshold", "达到阈值"),
    "count.with_sources": ("with sources", "有重合来源"),
    "count.highest": ("highest share", "最高重复率"),
    "count.median": ("median share", "重复率中位数"),
    "said.among": (
        "The documents were compared with each other.",
        "文档之间相互比对。",
    ),
    "said.against": (
        "The documents were compared with the reference texts.",
        "文档与比对文本逐一比对。",
    ),
    "said.measure": (
        "Shares are of words; in scripts without spaces, such as Chinese, a character is a word.",
        "重复率等按字符计算（不计标点和空格）；矩阵和对照页按字数计算，中文一个字、外文一个单词各算一个。",
    ),
    "said.anonymous": (
        "Documents are named by numbers, in the order of the input. Their texts are unchanged.",
        "文档以编号代称，按输入顺序排列；正文未作改动。",
    ),
    "said.unreadable": (
        ("{n:,} record could not be read.", "{n:,} records could not be read."),
        "{n:,} 条记录无法读取。",
    ),
    "said.itself": (
        (
            "{n:,} reference text has the same id and the same text as a checked document; it was "
            "not counted as a source.",
            "{n:,} reference texts have the same id and the same text as a checked document; they "
            "were not counted as sources.",
        ),
        "比对文本中有 {n:,} 篇与被检文档的标识和内容都相同，视为该文档本身，不计为来源。",
    ),
    "said.too_short": (
        (
            "{n:,} document is too short to be checked: it has fewer words than a passage.",
            "{n:,} documents are too short to be checked: they have fewer words than a passage.",
        ),
        "{n:,} 篇文档字数太少，不足一个重合段，无法检测。",
    ),
    "name.file": ("file {n}", "文件 {n}"),
    "name.document": ("document {n}", "文档 {n}"),
    "name.source": ("source {n}", "来源 {n}"),
    "shares.title": ("Documents by share copied", "按重复率统计"),
    "shares.across": ("share of the document, %", "重复率（%）"),
    "shares.up": ("documents", "文档"),
    "shares.described": (
        ("{n:,} document by share copied", "{n:,} documents by share copied"),
        "{n:,} 篇文档的重复率分布",
    ),
    "shares.threshold": ("Threshold", "阈值"),
    "shares.hint": (
        "Move the line: shares at or above it are marked in the table and the matrix.",
        "拖动竖线：达到阈值的重复率会在表格和矩阵中标出。",
    ),
    "table.title": ("Documents", "文档"),
    "table.some": (
        "Showing the {shown:,} of {n:,} documents with the highest share.",
        "显示 {n:,} 篇文档中重复率最高的 {shown:,} 个。",
    ),
    "table.paged": (
        (
            "To limit the size of the report, only {n:,} of these documents has its own page: the "
            "one with the highest share.",
            "To limit the size of the report, only {n:,} of these documents have their own page: "
            "those with the highest shares.",
        ),
        "其中重复率最高的 {n:,} 篇文档有单独页面；其余因篇幅从略。",
    ),
    "table.pairs": (
        (
            "To limit the size of the report, {n:,} page of a pair was left out. The table that -o "
            "writes has all pairs.",
            "To limit the size of the report, {n:,} pages of pairs were left out. The table that "
            "-o writes has all pairs.",
        ),
        "因篇幅略去 {n:,} 个对照页面；全部数据见检测结果表（-o）。",
    ),
    "column.number": ("No.", "序号"),
    "column.document": ("Document", "文档"),
    "column.share": ("Share", "重复率"),
    "column.unquoted": ("Unquoted", "去除引用"),
    "column.largest": ("Largest", "单篇最大"),
    "column.source": ("Largest source", "最大来源"),
    "column.sources": ("Sources", "来源数"),
    "column.words": ("Words", "字数"),
    "column.counted": ("Counted", "计入"),
    "column.rank": ("No.", "编号"),
    "column.name": ("Source", "来源"),
    "column.own_share": ("Of the source", "占来源"),
    "column.longest": ("Longest", "最长段"),
    "column.similarity": ("Similarity", "相似度"),
    "column.only": ("Only this", "仅看此项"),
    "column.beside": ("Side by side", "对照"),
    "matrix.title": ("Who shares how much with whom", "相互重合矩阵"),
    "matrix.note": (
        "Each cell is the percentage of the row's document that is also in the column's document.",
        "每格为该行文档中也见于该列文档的百分比。",
    ),
    "matrix.some": (
        "Showing {rows:,} of {n:,} documents and {columns:,} of {of:,} sources, those with the "
        "highest shares.",
        "显示 {n:,} 篇文档中的 {rows:,} 个、{of:,} 个来源中的 {columns:,} 个（重合最多者）。",
    ),
    "matrix.corner": ("document ↓ source →", "文档 ↓ 来源 →"),
    "matrix.cell": ("{share} of {left} is in {right}", "{left} 有 {share} 见于 {right}"),
    "matrix.none": ("No two documents share a passage.", "各文档之间没有重合段。"),
    # ---- a document of a check ----
    "copied.share": ("total copied", "总文字复制比（重复率）"),
    "copied.unquoted": ("without quotations and references", "去除引用复制比"),
    "copied.largest": ("largest single source", "单篇最大复制比"),
    "copied.by_words": ("by words", "按字数"),
    "copied.by_characters": ("by characters", "按字符数"),
    "copied.of": (
        "Counted: {words}, {characters}.",
        "计入 {characters}，{words}。",
    ),
    "sources.title": ("Sources", "来源"),
    "sources.none": ("No other text shares a passage with this document.", "没有发现重合来源。"),
    "sources.note": (
        "Untick a source to leave it out; figures and colours are updated.",
        "取消勾选可排除该来源，数值与颜色随之更新。",
    ),
    "sources.plain": (
        "The largest first. Text that several sources have is counted once.",
        "按重合多少排列；多个来源共有的部分只计一次。",
    ),
    "sources.all": ("All sources", "全选"),
    "sources.none_chosen": ("No sources", "全不选"),
    "sources.counts": ("counted", "计入"),
    "sources.others": (
        ("{n:,} more source together", "{n:,} more sources together"),
        "其余 {n:,} 个来源合计",
    ),
    "text.title": ("Text", "正文"),
    "jump.beside": (
        "Source {n:,}, {count}: side by side",
        "来源 {n:,}，{count}：查看对照",
    ),
    "jump.nowhere": ("Source {n:,}, {count}", "来源 {n:,}，{count}"),
    "rule.template": ("part of a template", "模板内容"),
    "rule.quotation": ("a quotation", "引用"),
    "rule.references": ("a list of references", "参考文献"),
    "rule.common": ("common to many documents", "多数文档共有"),
    "rule.own": ("the author's own text", "作者本人文本"),
    "ignored.title": ("Grey, not counted: {rules}.", "灰色部分不计入：{rules}。"),
    "quoted.title": (
        "Italic: quotations and lists of references. The second row of figures leaves them out.",
        "斜体部分为引用或参考文献，“去除引用复制比”不计入。",
    ),
    "text.long": (
        "Showing the first {shown:,} of {n:,} characters.",
        "显示全文 {n:,} 个字符中的前 {shown:,} 个。",
    ),
    "setting.threshold": ("threshold", "阈值"),
    "setting.min_words": ("shortest passage, words", "最短重合（词）"),
    "setting.min_chars": ("shortest passage, characters", "最短重合（字）"),
    "setting.bridge": ("changed words allowed within a passage", "重合段内允许改动的词数"),
    "setting.common": ("text ignored if more documents have it", "共有文档数超过即忽略"),
    "setting.ignore_quotations": ("quotations ignored", "忽略引用"),
    "setting.ignore_references": ("references ignored", "忽略参考文献"),
    "setting.templates": ("templates", "模板数"),
    "setting.deadline": ("time limit per pair, seconds", "每对时限（秒）"),
    "setting.exclude": ("sources excluded", "排除的来源"),
    "setting.own": ("author's own texts", "本人文本"),
    # ======== kinds of HTTP responses ========
    "title.kinds": ("Kinds of HTTP responses", "HTTP 响应类型报告"),
    "count.responses": ("responses", "响应"),
    "count.kinds": ("kinds", "类型"),
    "count.alone_kinds": ("kinds with one response", "仅一条响应的类型"),
    "responses": (("{n:,} response", "{n:,} responses"), "{n:,} 条响应"),
    "setting.within": ("within", "分组依据"),
    # ---- how responses fall on kinds ----
    "bar.title": ("Responses by kind", "响应在各类型中的分布"),
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
        (
            "{n:,} response that is the only one of its kind",
            "{n:,} responses, each the only one of its kind",
        ),
        "{n:,} 条响应各自单独成类",
    ),
    "class.s0": ("no status", "无状态码"),
    "class.s1": ("1xx", "1xx"),
    "class.s2": ("2xx success", "2xx 成功"),
    "class.s3": ("3xx redirect", "3xx 重定向"),
    "class.s4": ("4xx client error", "4xx 客户端错误"),
    "class.s5": ("5xx server error", "5xx 服务器错误"),
    # ---- narrowing down ----
    "facets.title": ("Filters", "筛选"),
    "facets.plain": ("Overview of values", "概况"),
    "facets.note": (
        "The numbers count kinds. A kind is counted at every value that one of its responses has.",
        "数字为类型数。某类型只要有一条响应符合，即计入该值。",
    ),
    "facets.remove": ("Remove the filter {value}", "取消筛选：{value}"),
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
    "sort.odd": ("single responses first", "单条的在前"),
    "sort.loose": ("least similar first", "最不相似的在前"),
    # ---- kinds ----
    "kinds.title": ("Kinds", "类型"),
    "kinds.none": ("No response was read.", "没有读到响应。"),
    "kinds.no_match": ("No kind matches all filters.", "没有符合条件的类型。"),
    "kinds.shown": (
        "{shown} of {of} kinds, {responses} responses",
        "{of} 个类型中的 {shown} 个，共 {responses} 条响应",
    ),
    "kinds.left_out": (
        (
            "The page has {shown} kinds: the largest, and some with a single response. {n:,} more "
            "is left out; the table that --kinds writes has all.",
            "The page has {shown} kinds: the largest, and some with a single response. {n:,} more "
            "are left out; the table that --kinds writes has all.",
        ),
        "本页列出 {shown} 个类型：最大的，以及部分仅一条响应的。另有 {n:,} 个未列出，"
        "全部类型见 --kinds 写出的表格。",
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
    "sample.title": ("The representative and the least similar response", "代表与最不相似的响应"),
    "sample.alone_title": ("The response as it was compared", "用于比较的响应内容"),
    "sample.least": ("least similar: {value}", "最不相似：{value}"),
    "sample.same": (
        "The two are equal after volatile parts are masked.",
        "屏蔽易变部分后，两条响应完全相同。",
    ),
    "sample.beyond": (
        "They differ only in parts not shown here.",
        "差异在此处未显示的部分。",
    ),
    "sample.none": (
        "Only the largest kinds and some with a single response have samples.",
        "仅对最大的类型和部分仅一条响应的类型显示样例。",
    ),
    "sample.no_room": (
        "The sample is left out to limit the size of the page.",
        "为控制页面大小，省略样例。",
    ),
    "sample.lines": (
        ("… {n:,} equal line …", "… {n:,} equal lines …"),
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
    "sample.name_only": ("its value is not compared", "不比较其值"),
    "view.within": ("within", "分组"),
    "view.status": ("status", "状态码"),
    "view.header": ("header", "头字段"),
    "view.title": ("title", "标题"),
    "view.tags": ("tags", "HTML 结构"),
    "view.keys": ("JSON keys", "JSON 键"),
    "view.text": ("text", "文本"),
    "view.body": ("body", "正文"),
    # ---- what masked parts and labels of neardup's own rules are called; others keep their names
    "mask.date": ("date", "日期"),
    "mask.timestamp": ("timestamp", "时间戳"),
    "mask.uuid": ("uuid", "UUID"),
    "mask.token": ("token", "令牌"),
    "mask.request-id": ("request-id", "请求编号"),
    "mask.cookie": ("cookie", "Cookie"),
    "mask.cache-buster": ("cache-buster", "缓存参数"),
    "mask.ip": ("ip", "IP"),
    "mask.echo": ("echo", "回显"),
    "mask.duration": ("duration", "耗时"),
    "mask.header": ("header", "头字段值"),
    "mask.class": ("class", "类名"),
    "label.JSON error": ("JSON error", "JSON 错误"),
    "label.bad request": ("bad request", "错误请求"),
    "label.block or captcha": ("block or captcha", "拦截或验证码"),
    "label.default page": ("default page", "默认页面"),
    "label.directory listing": ("directory listing", "目录列表"),
    "label.empty": ("empty", "空响应"),
    "label.forbidden": ("forbidden", "禁止访问"),
    "label.login": ("login", "登录页"),
    "label.maintenance": ("maintenance", "维护页"),
    "label.not found": ("not found", "未找到"),
    "label.parked domain": ("parked domain", "停放域名"),
    "label.redirect": ("redirect", "重定向"),
    "label.server error": ("server error", "服务器错误"),
    "label.soft 404": ("soft 404", "软 404"),
}
