"""Strings of the page Learn: (English, Chinese); a pair of English forms is singular, plural."""

from __future__ import annotations

LEARN_PHRASES: dict[str, tuple[str | tuple[str, str], str]] = {
    "learn.title": ("How SimHash works", "SimHash 是怎样工作的"),
    "learn.lead": (
        "Type a text and follow it to its fingerprint. The library itself computes every number; "
        "with 8 bits you can do the same on paper.",
        "输入自己的文字，一步步看它如何变成指纹。页面上的数字都由程序真实算出；取 8 位时，"
        "全部过程都可以在纸上完成。",
    ),
    "learn.contents": ("On this page", "本页内容"),
    # ---- input ----
    "try.title": ("Your text", "你的文字"),
    "try.examples": ("Examples", "现成例子"),
    "try.first": ("First text", "第一段"),
    "try.second": ("Second text: change a word", "第二段：改一个词试试"),
    "try.as": ("Input", "输入内容"),
    "try.as_text": ("a text", "一段文字"),
    "try.as_words": ("words with weights", "词和权重"),
    "try.as_hint": (
        "One word per line with its weight: 成都 4.3. To set its hash too, add 4 to 64 bits: "
        "爱 2 11001001.",
        "每行一个词，后面写权重，如“成都 4.3”。再写 4 到 64 个 0 和 1，就是自己指定的哈希值，"
        "如“爱 2 11001001”。",
    ),
    "try.recipe": ("Recipe", "方案"),
    "try.bits": ("Bits", "位数"),
    "try.show": ("Show the steps", "显示步骤"),
    "try.limit": ("At most {most:,} characters.", "最多 {most:,} 个字符。"),
    "example.by_hand": ("Five words, 8 bits, by hand", "五个词，8 位，手算"),
    "example.by_hand_note": (
        "The lecture note's example: 我 1, 爱 2, 自然 3, 语言 2, 处理 1, with hashes set by hand. "
        "The sums are 1 7 3 −3 3 −5 1 −1, the fingerprint is 11101010. In the second text 处理 "
        "becomes 分析: only bit 1 flips, where the sum was 1 and 处理 had decided.",
        "讲义中的例子：我 1、爱 2、自然 3、语言 2、处理 1，哈希值是事先设定的。各列之和为 "
        "1 7 3 −3 3 −5 1 −1，指纹为 11101010。第二段把“处理”换成“分析”：只有第 1 位翻转，"
        "那一列的和为 1，原本由“处理”决定。",
    ),
    "example.teapot": ("Teapot and dumpling, 6 bits", "茶壶和饺子，6 位"),
    "example.teapot_note": (
        "茶壶 100101 with weight 4 and 饺子 101011 with weight 5: the sums are 9 −9 1 −1 1 9, the "
        "fingerprint is 101011. In the second text 饺子 weighs only 3, and 茶壶 decides.",
        "茶壶 100101，权重 4；饺子 101011，权重 5。各列之和为 9 −9 1 −1 1 9，指纹为 101011。"
        "第二段里饺子的权重降为 3，改由茶壶说了算。",
    ),
    "example.cities": ("Three cities, 64 bits", "三座城市，64 位"),
    "example.cities_note": (
        "北京 1, 上海 2, 成都 4.3 with Jenkins' hash, as in the note on a C++ library. 成都 weighs "
        "more than the others together, so the fingerprint is the hash of 成都: replace that word "
        "and about half of the bits flip.",
        "C++ 库讲义中的例子：北京 1、上海 2、成都 4.3，用 Jenkins 哈希。成都比另外两个加起来还重，"
        "所以指纹就是“成都”的哈希值：换掉它，约一半的位会翻转。",
    ),
    "example.characters": ("Single characters, 64 bits", "按字切分，64 位"),
    "example.characters_note": (
        "The lecture note's program: single characters, each weighted by its share, md5.",
        "讲义中的程序：按字切分，以出现比例为权重，用 md5。",
    ),
    "example.keywords": ("Chinese keywords, TF-IDF", "中文关键词，TF-IDF"),
    "example.keywords_note": (
        "jieba's twenty best keywords, weight int(20 · TF-IDF), Python's old string hash.",
        "jieba 的前 20 个关键词，权重 int(20 · TF-IDF)，用 Python 旧版字符串哈希。",
    ),
    "example.spaces": ("English words, 16 bits", "英文单词，16 位"),
    "example.spaces_note": (
        "Words between spaces, each weighted by how often it occurs. A sum of 0 gives a 1 here.",
        "按空格切词，权重为出现次数。这个方案中和为 0 时取 1。",
    ),
    # ---- the steps ----
    "steps.title": ("Step by step", "分步计算"),
    "steps.empty": (
        "The first text has no words, so there are no votes.",
        "第一段里没有词，无法投票。",
    ),
    "steps.words": ("1. Words and weights", "1. 分词与权重"),
    "steps.words_said": (
        "The text is split into words, and each word gets a weight. Change a weight and see the "
        "result.",
        "把文字切成词，给每个词一个权重。可以改动权重，看看结果如何变化。",
    ),
    "steps.words_apply": ("Use these weights", "采用这些权重"),
    "steps.weight_of": ("weight of {token}", "{token} 的权重"),
    "steps.hash": ("2. Hash bits", "2. 哈希"),
    "steps.hash_said": (
        "A hash function turns each word into a row of bits. The same word always gives the same "
        "bits; another word gives completely different ones.",
        "哈希函数把每个词变成一串 0 和 1。同一个词总得到同一串；换一个词，得到的就完全不同。",
    ),
    "steps.votes": ("3. Votes: each word adds or subtracts its weight", "3. 加权：每个词投票"),
    "steps.votes_said": (
        "Where the hash has a 1 the word adds its weight; where it has a 0 it subtracts it.",
        "哈希位为 1，加上权重；为 0，减去权重。",
    ),
    "steps.why": ("Why +1 and −1, not 1 and 0?", "为什么用 +1 和 −1，而不是 1 和 0？"),
    "steps.why_said": (
        "With 1 and 0 a word could only vote for a 1, never against it, and nearly every sum would "
        "be above 0. With signs a word whose hash has a 0 votes against; the sign of the sum says "
        "which side has more weight.",
        "如果只用 1 和 0，一个词只能支持“1”，不能反对，几乎每一列之和都会大于 0。"
        "有了正负号，该位为 0 的词会往反方向拉，和的正负就说明哪一边更重。",
    ),
    "steps.running": ("The sums after each word, as on paper", "逐词累加的结果（如同在纸上）"),
    "steps.after": ("after {token}", "加上“{token}”后"),
    "steps.sums": ("4. Sums and fingerprint", "4. 合并与降维"),
    "steps.sums_said": (
        "Each column is added up. A sum above 0 gives a 1, below 0 a 0; {tie}. The stronger the "
        "colour, the clearer the vote; pale columns flip most easily.",
        "每一列相加。和大于 0 取 1，小于 0 取 0；{tie}。"
        "颜色越深，票数越悬殊；颜色浅的列最容易翻转。",
    ),
    "steps.tie_zero": ("a sum of 0 gives a 0", "等于 0 时取 0"),
    "steps.tie_one": ("a sum of 0 gives a 1", "等于 0 时取 1"),
    "steps.tie_mask": (
        "a sum of 0 gives a 1 in even columns and a 0 in odd ones",
        "等于 0 时，偶数列取 1，奇数列取 0",
    ),
    "steps.result": ("Fingerprint:", "指纹："),
    "steps.no_signal": (
        "No fingerprint: this recipe needs at least {least} different words.",
        "没有指纹：这个方案至少需要 {least} 个不同的词。",
    ),
    "steps.cut": (
        "Showing the {shown:,} heaviest of {n:,} words; the sums are over all of them.",
        "只显示 {n:,} 个词中最重的 {shown:,} 个；求和时全部计入。",
    ),
    "steps.caption": (
        "Bits are numbered from the right; the most significant bit comes first.",
        "位从右往左编号，最高位在最前。",
    ),
    "col.word": ("word", "词"),
    "col.count": ("count", "次数"),
    "col.weight": ("weight", "权重"),
    "col.number": ("bit no.", "位号"),
    "col.bits": ("bits", "指纹"),
    "col.sum": ("sum", "和"),
    "col.mark": ("flipped", "翻转"),
    # ---- two texts ----
    "change.title": ("Change a word: which bits flip?", "改一个词，哪些位会翻转？"),
    "change.none": ("Type a second text to see what changes.", "输入第二段，看看变化。"),
    "change.said": (
        (
            "{n} of {bits} bits differs.",
            "{n} of {bits} bits differ.",
        ),
        "{bits} 位中有 {n} 位不同。",
    ),
    "change.numbers": ("Flipped: {numbers}.", "翻转的位：{numbers}。"),
    "change.no_distance": (
        "No distance: one of the texts has no fingerprint.",
        "没有距离：其中一段没有指纹。",
    ),
    "change.distance": ("distance", "距离"),
    "change.cosine": ("cosine of the weights", "权重的余弦"),
    "change.expected": ("expected distance", "期望距离"),
    "change.expected_said": (
        "A bit differs with probability arccos(s)/π, s the cosine. So the expected distance is "
        "bits · arccos(s)/π: {bits} · arccos({cosine})/π = {expected}, standard deviation "
        "{deviation}. The fewer words, the rougher the estimate.",
        "某一位不同的概率是 arccos(s)/π，s 是余弦。所以大约有 位数 · arccos(s)/π 位不同："
        "{bits} · arccos({cosine})/π = {expected}，标准差 {deviation}。词越少，估计越粗略。",
    ),
    "change.went": ("only in the first text", "仅第一段有"),
    "change.came": ("only in the second text", "仅第二段有"),
    "change.nothing": ("none", "无"),
    "change.sum_first": ("sums, first text", "第一段的和"),
    "change.sum_second": ("sums, second text", "第二段的和"),
    "change.bits_first": ("bits, first text", "第一段的位"),
    "change.bits_second": ("bits, second text", "第二段的位"),
    "change.full": ("All votes of the second text", "第二段的全部投票"),
    "change.legend": (
        "≠ marks a bit that flipped. The Hamming distance is their number: the ones of first XOR "
        "second.",
        "≠ 表示该位翻转。翻转的位数就是汉明距离，也就是两个指纹异或后 1 的个数。",
    ),
    # ---- input that a lesson cannot use ----
    "refused.text": (
        "The text has {n:,} characters; the limit is {most:,}. Use a shorter text.",
        "文字有 {n:,} 个字符，上限为 {most:,} 个。请缩短文字。",
    ),
    "refused.words": (
        "There are {n:,} words; the limit is {most:,}.",
        "共有 {n:,} 个词，上限为 {most:,} 个。",
    ),
    "refused.token": (
        "The word “{token}…” has {n:,} characters; the limit is {most}. Is a line break missing?",
        "“{token}…”有 {n:,} 个字符，一个词最多 {most} 个。是不是漏了换行？",
    ),
    "refused.line": (
        "The line “{line}” cannot be parsed. Write a word, its weight and, if you want, its hash "
        "of 4 to 64 bits: 爱 2 11001001.",
        "无法解析这一行：“{line}”。请写一个词、它的权重，以及可选的 4 到 64 位哈希值："
        "爱 2 11001001。",
    ),
    "refused.weight": (
        "The weight of {token} is {weight}; it must be from 0 to {most:,}.",
        "{token} 的权重是 {weight}，应在 0 到 {most:,} 之间。",
    ),
    "refused.width": (
        "The hash of {token} has {n} bits, the first hash has {first}. All need the same length.",
        "{token} 的哈希值有 {n} 位，而第一个有 {first} 位。请让它们一样长。",
    ),
    "refused.twice": (
        "{token} has two hashes, {one} and {two}. Give each word one hash.",
        "{token} 有两个哈希值：{one} 和 {two}。一个词只能有一个。",
    ),
    "refused.missing": (
        "{token} has no hash, but other words do. Add one, or remove all hashes.",
        "{token} 没有哈希值，而别的词有。请补上，或者全部去掉。",
    ),
    "refused.recipe": (
        "Unknown recipe “{recipe}”; choose one of {known}.",
        "没有名为“{recipe}”的方案，可选：{known}。",
    ),
    "refused.bits": (
        "bits is {bits}; choose {known}.",
        "不支持 {bits} 位，可选：{known}。",
    ),
    "refused.hash": (
        "The hash of the recipe {recipe} has fewer than {bits} bits. Choose 64 bits or fewer.",
        "方案 {recipe} 的哈希值不足 {bits} 位，请选 64 位或更少。",
    ),
    "refused.number": (
        "{field} is “{value}”; it must be a whole number from {least} to {most}.",
        "{field} 是“{value}”，应为 {least} 到 {most} 的整数。",
    ),
    "refused.kind": (
        "“as” is “{value}”; it must be text or words.",
        "as 是“{value}”，应为 text 或 words。",
    ),
    "refused.query": (
        "The query has {n} bits; it must have {least} to {most}.",
        "查询指纹有 {n} 位，应为 {least} 到 {most} 位。",
    ),
    "refused.radius": (
        "The radius is {radius}; it must be from 0 to {most}.",
        "半径是 {radius}，应在 0 到 {most} 之间。",
    ),
    "refused.stored": (
        "There are {n} stored fingerprints; the limit is {most}.",
        "共有 {n} 个已存指纹，上限为 {most} 个。",
    ),
    "refused.stored_width": (
        "{line} has {n} bits, the query has {bits}. Fingerprints must have the same width.",
        "{line} 有 {n} 位，而查询指纹有 {bits} 位。位数必须相同。",
    ),
    "refused.digits": (
        "“{text}” is not a fingerprint; write binary digits, or 0x and hexadecimal digits.",
        "“{text}”不是指纹，请写 0 和 1，或以 0x 开头的十六进制数。",
    ),
    "refused.flip": (
        "Bit {bit} does not exist; the highest is {most}.",
        "没有第 {bit} 位，最高是第 {most} 位。",
    ),
    "refused.exercise": (
        "Exercise {number} does not exist; choose 1 to {most}.",
        "没有第 {number} 题，题号从 1 到 {most}。",
    ),
    "refused.own": (
        "The text has {n:,} characters; the limit is {most:,}.",
        "文字有 {n:,} 个字符，上限为 {most:,} 个。",
    ),
    "refused.few": (
        (
            "The text has {n} word; at least {least} are needed.",
            "The text has {n} words; at least {least} are needed.",
        ),
        "文字只有 {n} 个词，至少需要 {least} 个。",
    ),
    "refused.signal": (
        "With the recipe {recipe} the text has no fingerprint. Use a longer text.",
        "按方案 {recipe}，这段文字没有指纹。请换一段长些的。",
    ),
    # ---- pigeonhole ----
    "blocks.title": ("The pigeonhole table", "鸽巢原理查找表"),
    "blocks.said": (
        "To find all fingerprints within radius k without comparing each of them, cut them into "
        "k + 1 blocks, with a lookup table for each block. If at most k bits differ, they are "
        "in at most k blocks, so at least one block is equal. Only fingerprints with an equal "
        "block are compared.",
        "要找出半径 k 以内的所有指纹，又不逐个比较，就把指纹切成 k + 1 段，每段建一张查找表。"
        "如果至多 k 位不同，它们至多落在 k 段里，所以至少有一段完全相同。只需比较有相同段的指纹。",
    ),
    "blocks.said_twice": (
        "With two levels, the bits outside the block are cut into k + 1 blocks again. They differ "
        "in at most k bits, too, so one of these blocks is equal. There is a table for each block "
        "within a block, and the key is both: the more fingerprints there are, the longer keys "
        "can be. 1.2 is the second block within block 1.",
        "二级索引：把该段以外的位再切成 k + 1 段。这些位同样至多 k 位不同，"
        "所以其中也至少有一段相同。每个段中段各建一张表，两段合起来作键：指纹越多，键可以越长。"
        "1.2 指第 1 段之内的第 2 段。",
    ),
    "blocks.stored": ("Stored fingerprints, one per line", "已存指纹，每行一个"),
    "blocks.query": ("Query", "查询指纹"),
    "blocks.hint": (
        "Binary digits, or 0x and hexadecimal digits.",
        "写 0 和 1，或以 0x 开头的十六进制数。",
    ),
    "blocks.radius": ("Radius k", "半径 k"),
    "blocks.levels": ("Levels", "级数"),
    "blocks.show": ("Look up", "查找"),
    "blocks.small": ("Small example, 16 bits", "小例子，16 位"),
    "blocks.large": ("The C++ library's example, 64 bits", "C++ 库的例子，64 位"),
    "blocks.levelled": ("Two levels, 24 bits", "二级索引，24 位"),
    "blocks.within": ("within block {n}:", "第 {n} 段之内："),
    "blocks.flip_said": (
        "Click a bit of the query to flip it.",
        "点击查询指纹的某一位即可翻转。",
    ),
    "blocks.flip": ("bit {bit} is {value}, flip it", "第 {bit} 位是 {value}，翻转"),
    "blocks.block": ("block {n}", "第 {n} 段"),
    "blocks.caption": (
        "The query and the stored fingerprints, cut into blocks",
        "查询指纹与已存指纹，按段切分",
    ),
    "blocks.fingerprint": ("fingerprint", "指纹"),
    "blocks.distance": ("distance", "距离"),
    "blocks.verdict": ("result", "结果"),
    "blocks.equal": ("= equal", "= 相同"),
    "blocks.differ": (("{n} differs", "{n} differ"), "{n} 位不同"),
    "blocks.found": (
        "found by block {blocks}: {distance} ≤ {radius}",
        "由第 {blocks} 段找到：{distance} ≤ {radius}",
    ),
    "blocks.rejected": (
        "candidate by block {blocks}, rejected: {distance} > {radius}",
        "因第 {blocks} 段相同而成为候选，但 {distance} > {radius}，排除",
    ),
    "blocks.unseen": (
        "not compared: no block is equal, so the distance is above {radius}",
        "无需比较：没有相同的段，距离必大于 {radius}",
    ),
    "blocks.unseen_twice": (
        "not compared: within the equal block no block is equal, so the distance is above {radius}",
        "无需比较：相同的段之内没有相同的段，距离必大于 {radius}",
    ),
    "blocks.summary": (
        "{found} of {n} found, {looked} compared.",
        "共 {n} 个，比较 {looked} 个，找到 {found} 个。",
    ),
    "blocks.cost": (
        "With {blocks} blocks of {size} bits the search is 2^m / (m · (k + 1)) = {fewer} times "
        "shorter, by the formula of the note on the C++ library; it takes {blocks} times the "
        "memory.",
        "{blocks} 段，每段 {size} 位：按 C++ 库讲义的算法，查找复杂度下降 "
        "2^m / (m · (k + 1)) = {fewer} 倍，内存则是 {blocks} 倍。",
    ),
    "blocks.cost_twice": (
        "Cutting the other bits into {blocks} blocks of {size} again makes it {fewer} times, with "
        "{tables} tables and keys of {key} bits.",
        "把其余的位再切成 {blocks} 段、每段 {size} 位（二级索引），则为 {fewer} 倍，"
        "共 {tables} 张表，键长 {key} 位。",
    ),
    "blocks.index": (
        "neardup's Index has two levels from 30 million fingerprints on, and needs only four "
        "tables: within a block, fingerprints are sorted by the first bits of the next block, of "
        "which one may differ. Of 100 million at radius 3 about 320 are compared instead of 6,100; "
        "nd.Index(levels=2).plan(3) shows it.",
        "neardup 的 Index 从三千万个指纹起采用二级索引，而且只要 4 张表：同一段之内按下一段的前几位"
        "排序，其中至多一位可以不同。一亿个指纹、半径 3 时约比较 320 个，而不是 6,100 个；"
        "用 nd.Index(levels=2).plan(3) 可以看到。",
    ),
    "blocks.cost_none": (
        "{blocks} blocks of {size} bits save nothing: so few bits are often equal by chance. With "
        "64 bits and radius 3 the blocks have 16 bits, and the search is 1,024 times shorter.",
        "{blocks} 段，每段只有 {size} 位，还省不了什么：位数太少，碰巧相同的太多。"
        "64 位、半径 3 时每段 16 位，查找量降为原来的 1/1024。",
    ),
    # ---- why radius 3 misses ----
    "radius.title": (
        "Why radius 3 of 64 misses edited copies",
        "为什么 64 位取半径 3 会漏掉改过的副本",
    ),
    "radius.said": (
        "The distance is a random estimate of the cosine. Edit a few words of a text, and the copy "
        "is several bits away, sometimes more, sometimes fewer; copies beyond the radius are "
        "missed.",
        "距离只是对余弦的估计，而且会上下浮动。改动几个词，副本就离开好几位，有时多些，有时少些；"
        "超出半径的就漏掉了。",
    ),
    "radius.model": (
        "The curves are a model: all words are different and have the same weight; a third of the "
        "edits deletes, a third replaces, a third inserts a word. So s = 1 − 2p/3, "
        "q = arccos(s)/π, and the distance is binomial with parameters bits and q. Real texts "
        "differ in both directions: editing one of many occurrences of a word changes "
        "little, so copies of long texts are nearer; if long words have more weight, or a "
        "character is part of several features, copies are farther away.",
        "曲线是模型：假设所有词都不同、权重相等；改动中删、换、插各占三分之一，于是 s = 1 − 2p/3，"
        "q = arccos(s)/π，距离服从参数为（位数，q）的二项分布。真实文章两个方向都有偏差："
        "反复出现的词受影响小，所以长文章的副本更近；长词权重大，或者一个字属于好几个特征时，副本更远。",
    ),
    "radius.measured": (
        "Measured on 2,500 English newsgroup posts (words, 1 + ln tf, 64 bits): radius 3 finds "
        "74 % of the copies with 2 % of the words edited, 45 % with 5 % and 19 % with 10 %; "
        "radius 6 finds 98 %, 89 % and 66 %.",
        "在 2,500 篇英文新闻组帖子上实测（按词，1 + ln tf，64 位）：半径 3 能找到改动 2% 的副本的 "
        "74%，改动 5% 的 45%，改动 10% 的 19%；半径 6 分别为 98%、89%、66%。",
    ),
    "radius.radius": ("Radius", "半径"),
    "radius.bits": ("Bits", "位数"),
    "radius.share": ("Share of words edited", "改动的词所占比例"),
    "radius.show": ("Show", "显示"),
    "radius.at": (
        "With {share} % of the words edited, by the model: cosine {cosine}, distance {expected} ± "
        "{deviation} of {bits} bits; {within} % of such copies are within radius {radius}.",
        "改动 {share}% 的词，按模型：余弦 {cosine}，距离 {expected} ± {deviation}"
        "（共 {bits} 位）；这样的副本有 {within}% 在半径 {radius} 以内。",
    ),
    "radius.at_measured": ("Measured: {within} %.", "实测：{within}%。"),
    "radius.table": ("Table", "表格"),
    "radius.col_share": ("edited", "改动"),
    "radius.col_cosine": ("cosine", "余弦"),
    "radius.col_expected": ("distance", "距离"),
    "radius.col_within": ("within radius {radius}, model", "半径 {radius} 以内（模型）"),
    "radius.col_measured": ("measured", "实测"),
    "radius.chart_distance": (
        "Distance by share of words edited: mean of the model, and one standard deviation on "
        "either side",
        "距离随改动比例的变化：模型均值及上下一个标准差",
    ),
    "radius.chart_recall": (
        "Share of copies found within the radius",
        "半径以内找到的副本比例",
    ),
    "radius.axis_share": ("share of words edited", "改动比例"),
    "radius.axis_distance": ("distance in bits", "距离（位）"),
    "radius.axis_recall": ("copies found", "找到的副本"),
    "radius.line": ("radius {radius}", "半径 {radius}"),
    "radius.key_model": ("model", "模型"),
    "radius.key_measured": ("measured on posts", "实测（帖子）"),
    "radius.key_own": ("your text", "你的文字"),
    "own.title": ("Try your own text", "用你自己的文字来试"),
    "own.said": (
        "The text is edited at random, 40 times at each share, and every copy is fingerprinted.",
        "把你的文字随机改动，每个比例改 40 次，逐一计算指纹。",
    ),
    "own.text": ("Text to edit", "要改动的文字"),
    "own.recipe": ("Recipe", "方案"),
    "own.run": ("Edit it at random", "随机改动"),
    "own.again": ("Each click makes different edits.", "每点击一次，改动都不同。"),
    "own.working": ("Working …", "计算中……"),
    "own.done": (
        "With {share} % edited, your text has cosine {cosine} and distance {mean} ± {deviation} of "
        "{bits} bits; {within} % of {copies} copies are within radius {radius}.",
        "改动 {share}% 时，你的文字余弦为 {cosine}，距离 {mean} ± {deviation}（共 {bits} 位）；"
        "{copies} 份副本中有 {within}% 在半径 {radius} 以内。",
    ),
    "own.failed": ("That did not work.", "操作未能完成。"),
    "own.sample": (
        "The harbour road will be closed from Monday morning until Friday evening while the old "
        "water pipes are replaced. Buses take the bridge instead and stop in front of the library. "
        "Residents can reach their houses on foot at any time; cars have to be parked behind the "
        "market hall, where forty places are kept free. The town asks everyone to put the bins "
        "out on the corner, because the lorries cannot turn in the narrow street. If the weather "
        "stays dry the work may be finished a day earlier. Questions are answered at the office "
        "in the town hall, or by telephone in the afternoon.",
        "因更换老旧自来水管道，滨港路将于周一早晨至周五傍晚封闭施工。公交车改走大桥，停靠图书馆门前。"
        "沿线居民可随时步行回家，车辆请停放在集市大厅后面，那里预留了四十个车位。路面狭窄，垃圾车无法掉头，"
        "请大家把垃圾桶放到街角。如果天气晴好，工程可能提前一天完工。如有疑问，请到市政厅办公室咨询，"
        "或在下午致电。",
    ),
    # ---- exercises ----
    "hand.title": ("By hand", "动手算一算"),
    "hand.said": (
        "Three words with weights and hashes of 8 bits. Fill in the sums, then the bits, then the "
        "distance to the other fingerprint.",
        "三个带权重的词，8 位哈希值。先填各列之和，再填指纹的各位，最后填与另一个指纹的距离。",
    ),
    "hand.number": ("Exercise {number}", "第 {number} 题"),
    "hand.caption": ("Words, weights and hashes; your answers below", "词、权重与哈希；下面填答案"),
    "hand.sum": ("sum of column {bit}", "第 {bit} 列之和"),
    "hand.bit": ("bit {bit}", "第 {bit} 位"),
    "hand.your_sums": ("your sums", "你的和"),
    "hand.your_bits": ("your bits", "你的指纹"),
    "hand.distance": ("Distance to {other}", "与 {other} 的距离"),
    "hand.check": ("Check my answers", "检查答案"),
    "hand.next": ("Next exercise", "下一题"),
    "hand.hint": ("Hint", "提示"),
    "hand.hint_said": (
        "Column {bit}: {parts} = {sum}. Do the same for the others. For the distance, count the "
        "places where your bits and the other fingerprint differ.",
        "第 {bit} 列：{parts} = {sum}。其余各列照此计算。"
        "求距离时，数一数你的指纹与另一个指纹有几位不同。",
    ),
    "hand.reveal": ("Show the answers", "看答案"),
    "hand.answers": (
        "Sums {sums}; fingerprint {bits}; distance {distance}.",
        "各列之和 {sums}；指纹 {bits}；距离 {distance}。",
    ),
    "hand.right": ("right", "对"),
    "hand.wrong": ("wrong", "不对"),
    "hand.empty": ("missing", "未填"),
    "hand.all": ("All {n} answers are right.", "{n} 个答案全部正确。"),
    "hand.some": (
        "{right} of {n} answers are right; check the ones marked ✗.",
        "{n} 个答案中对了 {right} 个；请检查标有 ✗ 的答案。",
    ),
}
