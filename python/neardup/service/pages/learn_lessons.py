"""What the later lessons of the page Learn say: blocks, the radius, exercises."""

from __future__ import annotations

LESSONS: dict[str, tuple[str | tuple[str, str], str]] = {
    # ---- pigeonhole ----
    "blocks.title": ("The pigeonhole table", "鸽巢原理查找表"),
    "blocks.said": (
        "To find all fingerprints within radius k without counting every one, cut them into k + 1 "
        "blocks, with a table for each block. If at most k bits differ, they lie in at most k "
        "blocks, so at least one block is the same in both. Only fingerprints with an equal block "
        "are looked at.",
        "要找出半径 k 以内的所有指纹，又不逐个计数，就把指纹切成 k + 1 段，每段建一张表。"
        "如果至多 k 位不同，它们至多落在 k 段里，所以至少有一段完全相同。只需查看有相同段的指纹。",
    ),
    "blocks.stored": ("Stored fingerprints, one a line", "已存指纹，每行一个"),
    "blocks.query": ("Query", "查询指纹"),
    "blocks.hint": (
        "Zeros and ones, or hexadecimal after 0x.",
        "写 0 和 1，或以 0x 开头的十六进制数。",
    ),
    "blocks.radius": ("Radius k", "半径 k"),
    "blocks.show": ("Look up", "查找"),
    "blocks.small": ("Small example, 16 bits", "小例子，16 位"),
    "blocks.large": ("The C++ library's example, 64 bits", "C++ 库的例子，64 位"),
    "blocks.flip_said": (
        "Press a bit of the query to flip it.",
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
    "blocks.verdict": ("what happens", "结果"),
    "blocks.equal": ("= equal", "= 相同"),
    "blocks.differ": (("{n} differs", "{n} differ"), "{n} 位不同"),
    "blocks.found": (
        "found by block {blocks}: {distance} ≤ {radius}",
        "由第 {blocks} 段找到：{distance} ≤ {radius}",
    ),
    "blocks.rejected": (
        "looked at because of block {blocks}, rejected: {distance} > {radius}",
        "因第 {blocks} 段相同而查看，但 {distance} > {radius}，排除",
    ),
    "blocks.unseen": (
        "never looked at: no block is equal, so the distance is above {radius}",
        "根本不用看：没有相同的段，距离必大于 {radius}",
    ),
    "blocks.summary": (
        "{found} of {n} found, {looked} looked at.",
        "共 {n} 个，查看 {looked} 个，找到 {found} 个。",
    ),
    "blocks.cost": (
        "With {blocks} blocks of {size} bits the search is 2^m / (m · (k + 1)) = {fewer} times "
        "shorter, as the note on the C++ library counts; memory is {blocks} times as large.",
        "{blocks} 段，每段 {size} 位：按 C++ 库讲义的算法，查找复杂度下降 "
        "2^m / (m · (k + 1)) = {fewer} 倍，内存则是 {blocks} 倍。",
    ),
    "blocks.cost_twice": (
        "Cutting the other bits into {blocks} blocks of {size} once more makes it {fewer} times.",
        "把其余的位再切成 {blocks} 段、每段 {size} 位（二级索引），则为 {fewer} 倍。",
    ),
    "blocks.cost_none": (
        "{blocks} blocks of {size} bits save nothing yet: so few bits are equal by chance too "
        "often. With 64 bits and radius 3 the blocks have 16 bits, and the search is 1,024 times "
        "shorter.",
        "{blocks} 段，每段只有 {size} 位，还省不了什么：位数太少，碰巧相同的太多。"
        "64 位、半径 3 时每段 16 位，查找量降为原来的 1/1024。",
    ),
    # ---- why radius 3 misses ----
    "radius.title": (
        "Why radius 3 of 64 misses edited copies",
        "为什么 64 位取半径 3 会漏掉改过的副本",
    ),
    "radius.said": (
        "A distance is an estimate of a cosine, and it is spread. Edit a few words of a text and "
        "the copy lies several bits away, sometimes more, sometimes less; those beyond the radius "
        "are missed.",
        "距离只是对余弦的估计，而且会上下浮动。改动几个词，副本就离开好几位，有时多些，有时少些；"
        "超出半径的就漏掉了。",
    ),
    "radius.model": (
        "The curves are a model: all words are different and weigh the same; a third of the edits "
        "deletes, a third replaces, a third inserts, so s = 1 − 2p/3, q = arccos(s)/π, and the "
        "distance is binomial with bits and q. Real texts differ from it both ways: a word that is "
        "repeated hardly changes, so copies of long texts are nearer; where long words weigh more, "
        "or a changed character is part of several features, they are farther.",
        "曲线是模型：假设所有词都不同、权重相等；改动中删、换、插各占三分之一，于是 s = 1 − 2p/3，"
        "q = arccos(s)/π，距离服从参数为（位数，q）的二项分布。真实文章两个方向都有偏差："
        "反复出现的词受影响小，所以长文章的副本更近；长词权重大，或者一个字属于好几个特征时，副本更远。",
    ),
    "radius.measured": (
        "Measured on 2,500 English newsgroup posts (words, 1 + ln tf, 64 bits): within radius 3 "
        "are 74 % of the copies with 2 % of the words edited, 45 % with 5 %, 19 % with 10 %; "
        "within radius 6 98 %, 89 % and 66 %.",
        "在 2,500 篇英文新闻组帖子上实测（按词，1 + ln tf，64 位）：半径 3 以内，改动 2 % 的副本有 "
        "74 %，改动 5 % 的有 45 %，改动 10 % 的有 19 %；半径 6 以内分别为 98 %、89 %、66 %。",
    ),
    "radius.radius": ("Radius", "半径"),
    "radius.bits": ("Bits", "位数"),
    "radius.share": ("Share of words edited", "改动的词所占比例"),
    "radius.show": ("Show", "显示"),
    "radius.at": (
        "With {share} % of the words edited, by the model: cosine {cosine}, distance {expected} ± "
        "{deviation} of {bits} bits; {within} % of such copies are within radius {radius}.",
        "改动 {share} % 的词，按模型：余弦 {cosine}，距离 {expected} ± {deviation}"
        "（共 {bits} 位）；这样的副本有 {within} % 在半径 {radius} 以内。",
    ),
    "radius.at_measured": ("Measured: {within} %.", "实测：{within} %。"),
    "radius.table": ("As a table", "表格"),
    "radius.col_share": ("edited", "改动"),
    "radius.col_cosine": ("cosine", "余弦"),
    "radius.col_expected": ("distance", "距离"),
    "radius.col_within": ("within radius {radius}, model", "半径 {radius} 以内（模型）"),
    "radius.col_measured": ("measured", "实测"),
    "radius.chart_distance": (
        "Distance by share of words edited: the model's mean, and one standard deviation either "
        "side",
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
    "own.title": ("The same with your own text", "用你自己的文字来试"),
    "own.said": (
        "Your text is edited at random, 40 times at each share, and every copy is fingerprinted.",
        "把你的文字随机改动，每个比例改 40 次，逐一计算指纹。",
    ),
    "own.text": ("Text to edit", "要改动的文字"),
    "own.recipe": ("Recipe", "方案"),
    "own.run": ("Edit it at random", "随机改动"),
    "own.again": ("Each press draws other edits.", "每按一次，改动都不同。"),
    "own.working": ("Working …", "计算中……"),
    "own.done": (
        "With {share} % edited your text is at cosine {cosine}, distance {mean} ± {deviation} of "
        "{bits} bits; {within} % of {copies} copies are within radius {radius}.",
        "改动 {share} % 时，你的文字余弦为 {cosine}，距离 {mean} ± {deviation}（共 {bits} 位）；"
        "{copies} 份副本中有 {within} % 在半径 {radius} 以内。",
    ),
    "own.failed": ("That did not work.", "未能完成。"),
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
        "Three words with weights, hashes of 8 bits. Fill in the sums, then the bits, then the "
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
    "hand.hint": ("A hint", "提示"),
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
    "hand.wrong": ("not right", "不对"),
    "hand.empty": ("missing", "未填"),
    "hand.all": ("All {n} answers are right.", "{n} 个答案全部正确。"),
    "hand.some": (
        "{right} of {n} answers are right; look at those marked ✗.",
        "{n} 个答案中对了 {right} 个；请再看标有 ✗ 的。",
    ),
}
