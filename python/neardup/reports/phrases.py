"""What pages of evidence say: a comparison of two texts, and a check for copying."""

from __future__ import annotations

# English, 中文; see `catalogue`.
PHRASES: dict[str, tuple[str | tuple[str, str], str]] = {
    "title.compare": ("Two texts compared", "文本比对报告"),
    "title.check": ("Check for copying", "文本复制检测报告"),
    "title.pair": ("{left} beside {right}", "{left} 与 {right} 对照"),
    "nav.overview": ("Overview", "总览"),
    "nav.label": ("Where you are", "当前位置"),
    # ---- figures of two texts ----
    "figure.similarity": ("similarity", "相似度"),
    "figure.distance": ("distance in bits", "指纹距离（位）"),
    "figure.left": ("of the left text is in the right", "左侧文本与右侧重合"),
    "figure.right": ("of the right text is in the left", "右侧文本与左侧重合"),
    "figure.longest": ("longest passage", "最长重合段"),
    "figure.passages": (("passage", "passages"), "重合段"),
    "figure.bits": ("{n:,} / {of:,}", "{n:,} / {of:,}"),
    "figure.none": ("none", "无"),
    "verdict.identical": ("The texts are identical.", "两条文本完全相同。"),
    "verdict.near-duplicate": (
        "The texts are near-duplicates: their similarity is at least {value:g}.",
        "两条文本近似重复：相似度不低于 {value:g}。",
    ),
    "verdict.different": (
        "As wholes the texts are different: their similarity is below {value:g}. Passages may be "
        "shared all the same.",
        "两条文本整体不同：相似度低于 {value:g}，但仍可能有重合段。",
    ),
    # Where all of them are of a script without spaces.
    "characters": (("{n:,} word", "{n:,} words"), "{n:,} 字"),
    "words": (("{n:,} word", "{n:,} words"), "{n:,} 字词"),
    "note.words": (
        "Shares are of words; where a script has no spaces a character counts as a word.",
        "比例按字词计算：中文等没有空格的文字一字算一个，其他文字一词算一个。",
    ),
    "note.coarse": (
        "The texts are very long, and the search for passages was cut short: there may be more.",
        "文本很长，查找提前结束，可能还有未列出的重合段。",
    ),
    "note.no_passages": ("No passage is shared.", "没有重合段。"),
    "note.most": (
        "Showing the longest {shown:,} of {n:,} passages.",
        "显示 {n:,} 个重合段中最长的 {shown:,} 个。",
    ),
    "marks.passage": (
        "A passage has the same number and colour on both sides. Click a number, or press Enter "
        "on it, to jump to the other side.",
        "同一重合段在两侧编号与颜色相同。点击编号（或选中后按回车）跳到另一侧。",
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
    "list.title": ("The passages as a list", "重合段列表"),
    "list.number": ("No.", "编号"),
    "list.words": ("Words", "字词数"),
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
    "count.above": ("at the threshold or above", "达到阈值"),
    "count.with_sources": ("share passages with others", "有重合来源"),
    "count.highest": ("highest share", "最高重复率"),
    "count.median": ("median share", "重复率中位数"),
    "said.among": (
        "The documents were compared with each other.",
        "文档之间相互比对。",
    ),
    "said.against": (
        "The documents were compared with the texts they were checked against.",
        "文档与所给的比对文本比对。",
    ),
    "said.measure": (
        "Shares are of words; where a script has no spaces a character counts as a word.",
        "重复率等按字符计算（不计标点和空格）；矩阵、关系图和对照页按字词计算，中文等没有空格的文字一字算一个。",
    ),
    "said.anonymous": (
        "Documents go by numbers, in the order they came. Their texts are as they are.",
        "文档以编号代称，按输入顺序排列；正文未作改动。",
    ),
    "said.unreadable": (
        ("{n:,} record could not be read.", "{n:,} records could not be read."),
        "{n:,} 条记录无法读取。",
    ),
    "said.itself": (
        (
            "{n:,} text checked against has the id and the text of the document it is compared "
            "with and was taken for it.",
            "{n:,} texts checked against have the id and the text of the document they are "
            "compared with and were taken for it.",
        ),
        "比对文本中有 {n:,} 条与被检文档的标识和内容都相同，视为该文档本身，不计入。",
    ),
    "said.too_short": (
        (
            "{n:,} document has too few words for a passage: nothing can be found in it.",
            "{n:,} documents have too few words for a passage: nothing can be found in them.",
        ),
        "{n:,} 个文档字词太少，不足一个重合段，无法检测。",
    ),
    "name.file": ("file {n}", "文件 {n}"),
    "name.document": ("document {n}", "文档 {n}"),
    "name.source": ("source {n}", "来源 {n}"),
    "shares.title": ("Documents by share copied", "按重复率统计"),
    "shares.across": ("share of the document that others have", "重复率"),
    "shares.up": ("documents", "文档"),
    "shares.described": (
        ("{n:,} document by the share that others have", "{n:,} documents by the share copied"),
        "{n:,} 个文档的重复率分布",
    ),
    "shares.threshold": ("Threshold", "阈值"),
    "shares.hint": (
        "Move the line: what reaches it is marked in the table, the matrix and the graph.",
        "拖动竖线：达到阈值的文档会在表格、矩阵和关系图中标出。",
    ),
    "table.title": ("Documents", "文档"),
    "table.some": (
        "Showing the {shown:,} of {n:,} documents with the highest share.",
        "显示 {n:,} 个文档中重复率最高的 {shown:,} 个。",
    ),
    "table.paged": (
        (
            "{n:,} of these documents has a page of its own: that with the highest share. The "
            "others would make the report too large.",
            "{n:,} of these documents have a page of their own: those with the highest share. The "
            "others would make the report too large.",
        ),
        "其中重复率最高的 {n:,} 个文档有单独页面；其余因篇幅从略。",
    ),
    "table.pairs": (
        (
            "{n:,} page of a pair was left out; the report would be too large. The table of the "
            "check (-o) has all of them.",
            "{n:,} pages of pairs were left out; the report would be too large. The table of the "
            "check (-o) has all of them.",
        ),
        "因篇幅略去 {n:,} 个对照页面；检测结果表（-o）中有全部数据。",
    ),
    "column.number": ("No.", "序号"),
    "column.document": ("Document", "文档"),
    "column.share": ("Share", "重复率"),
    "column.unquoted": ("Unquoted", "去除引用"),
    "column.largest": ("Largest", "单篇最大"),
    "column.source": ("Largest source", "最大来源"),
    "column.sources": ("Sources", "来源数"),
    "column.words": ("Words", "字词数"),
    "column.counted": ("Counted", "计入"),
    "column.rank": ("No.", "编号"),
    "column.name": ("Source", "来源"),
    "column.own_share": ("Of the source", "占来源"),
    "column.longest": ("Longest", "最长段"),
    "column.similarity": ("Similarity", "相似度"),
    "column.only": ("Only this", "仅看此项"),
    "column.beside": ("Side by side", "对照"),
    "matrix.title": ("Who resembles whom", "相互重合矩阵"),
    "matrix.note": (
        "Each cell is the share, in per cent, of the document of its row that the document of its "
        "column has.",
        "每格为该行文档被该列文档覆盖的百分比。",
    ),
    "matrix.some": (
        "Showing {rows:,} of {n:,} documents and {columns:,} of {of:,} sources, those with the "
        "highest shares.",
        "显示 {n:,} 个文档中的 {rows:,} 个、{of:,} 个来源中的 {columns:,} 个（重合最多者）。",
    ),
    "matrix.corner": ("document ↓ source →", "文档 ↓ 来源 →"),
    "graph.title": ("As a graph", "关系图"),
    "graph.note": (
        "A line joins two documents that share text; the thicker, the more of one is in the "
        "other. Broken lines are below the threshold. Squares are texts checked against.",
        "连线表示两文档有重合，越粗重合越多；虚线为低于阈值。方块为比对文本。",
    ),
    "graph.some": (
        "Showing {shown:,} of {n:,} documents and {lines:,} of {of:,} lines, the strongest.",
        "显示 {n:,} 个文档中的 {shown:,} 个、{of:,} 条连线中最强的 {lines:,} 条。",
    ),
    "graph.described": (
        (
            "{documents:,} documents joined by {n:,} line",
            "{documents:,} documents joined by {n:,} lines",
        ),
        "{documents:,} 个文档，{n:,} 条连线",
    ),
    "graph.line": ("{left} in {right}: {share}", "{left} 被 {right} 覆盖 {share}"),
    "graph.none": ("No two documents share a passage.", "没有文档共有重合段。"),
    # ---- a document of a check ----
    "copied.share": ("copied in all", "重复率（总文字复制比）"),
    "copied.unquoted": ("without quotations and references", "去除引用复制比"),
    "copied.largest": ("largest single source", "单篇最大复制比"),
    "copied.by_words": ("by words", "按字词"),
    "copied.by_characters": ("by characters", "按字符"),
    "copied.of": (
        "Counted: {words}, {characters}.",
        "计入 {characters}，{words}。",
    ),
    "sources.title": ("Sources", "来源"),
    "sources.none": ("No other text shares a passage with it.", "没有发现重合来源。"),
    "sources.note": (
        "Untick a source to leave it out: figures and colours follow.",
        "取消勾选可排除该来源，数值与颜色随之更新。",
    ),
    "sources.plain": (
        "The largest first. What several sources have counts once.",
        "按重合多少排列；多个来源共有的部分只计一次。",
    ),
    "sources.all": ("All sources", "全部来源"),
    "sources.none_chosen": ("No source", "不选来源"),
    "sources.counts": ("counts", "计入"),
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
    "ignored.title": ("Greyed: {rules}.", "灰色部分：{rules}。"),
    "quoted.title": (
        "In italics: quotations and lists of references. The second figure leaves them out.",
        "斜体部分为引用或参考文献，“去除引用复制比”不计入。",
    ),
    "text.long": (
        "The text has {n:,} characters; of longer ones the pages of a check show the first "
        "{shown:,}.",
        "全文 {n:,} 个字符；检测页面只显示前 {shown:,} 个。",
    ),
    "setting.threshold": ("threshold", "阈值"),
    "setting.min_words": ("shortest passage, words", "最短重合（词）"),
    "setting.min_chars": ("shortest passage, characters", "最短重合（字）"),
    "setting.bridge": ("changed words bridged", "允许改动的词数"),
    "setting.common": ("ignored if in more documents than", "共有文档数超过即忽略"),
    "setting.ignore_quotations": ("quotations ignored", "忽略引用"),
    "setting.ignore_references": ("references ignored", "忽略参考文献"),
    "setting.templates": ("templates", "模板数"),
    "setting.deadline": ("seconds for a pair", "每对限时（秒）"),
    "setting.exclude": ("sources excluded", "排除的来源"),
    "setting.own": ("own texts", "本人文本"),
}
