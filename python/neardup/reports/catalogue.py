"""Every string of a report, in every language it is written in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from neardup.reports.phrases import HTTP_PHRASES, PHRASES

LANGUAGES = ("en", "zh")
# English, 中文. Where English has a singular, it comes first: it is taken when n is 1.
Catalogue = Mapping[str, tuple[str | tuple[str, str], str]]
CATALOGUE: dict[str, tuple[str | tuple[str, str], str]] = {
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
    "count.clusters": ("clusters of two or more", "簇（两条以上）"),
    "count.clustered": ("records in them", "簇内记录"),
    "count.alone": ("records alone", "独立记录"),
    "said.read": (("{n:,} record was read.", "{n:,} records were read."), "共读取 {n:,} 条记录。"),
    "said.reference": (
        (
            "{n:,} record was there only to compare with.",
            "{n:,} records were there only to compare with.",
        ),
        "其中 {n:,} 条仅用于比对。",
    ),
    "said.no_signal": (
        (
            "{n:,} record has too few words to be compared; only an equal text counts as a copy "
            "of it.",
            "{n:,} records have too few words to be compared; only an equal text counts as a copy "
            "of one.",
        ),
        "{n:,} 条记录词数太少，无法比较，只有完全相同的文本才算重复。",
    ),
    "said.checked": (
        ("{n:,} candidate pair was checked.", "{n:,} candidate pairs were checked."),
        "检查了 {n:,} 个候选对。",
    ),
    "said.all": (
        "Every record was compared with every other: all pairs at {similarity:g} are found.",
        "所有记录两两比较：相似度达到 {similarity:g} 的文本对全部找到。",
    ),
    "said.estimated": (
        "About {share} of the pairs at {similarity:g} were found, estimated from those found.",
        "相似度为 {similarity:g} 的文本对约找到 {share}（由已找到的文本对估计）。",
    ),
    "said.nearly_all": (
        "Nearly all pairs at {similarity:g} were found, estimated from those found.",
        "相似度为 {similarity:g} 的文本对几乎全部找到（由已找到的文本对估计）。",
    ),
    "said.expected": (
        "Of pairs at {similarity:g}, {share} are expected to be found.",
        "相似度为 {similarity:g} 的文本对预计找到 {share}。",
    ),
    "said.radius": (
        "Fingerprints that differ in at most {radius} of {bits} bits count; texts were not "
        "compared.",
        "指纹相差不超过 {radius} 位（共 {bits} 位）即算近似，未比较文本本身。",
    ),
    "said.exact": (
        "An exact copy is equal to the record kept for it, character by character.",
        "“完全相同”指与所保留的记录逐字一致。",
    ),
    "said.exact_cluster": (
        "An exact copy is equal to the representative of its cluster, character by character.",
        "“完全相同”指与所在簇的代表逐字一致。",
    ),
    "said.exact_pairs": (
        "The two texts of an exact copy are equal, character by character.",
        "“完全相同”指两条文本逐字一致。",
    ),
    # ---- charts ----
    "chart.compared": ("Pairs that the job compared", "本次比较过的文本对"),
    "chart.wider": ("A wider look", "更大范围的抽样"),
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
    "chart.marked": ("{said}; a line marks {label}", "{said}；竖线为“{label}”"),
    "chart.table": ("As a table", "表格"),
    "chart.rows": ("Showing {shown:,} of {n:,} rows.", "显示 {n:,} 行中的 {shown:,} 行。"),
    "note.compared": (
        "Every pair whose texts the job compared. Pairs below {similarity:g} are rejected; the "
        "job looks for pairs above it, so of those below it sees some, and ever fewer farther "
        "down.",
        "本次比较过文本的全部文本对。低于 {similarity:g} 的不算近似；程序只寻找高于它的文本对，"
        "因此低于它的只见到一部分，越低见得越少。",
    ),
    "note.compared_radius": (
        "Every pair the job found, by how many bits the fingerprints differ.",
        "本次找到的全部文本对，按指纹相差的位数统计。",
    ),
    "note.below": (
        (
            "{n:,} more pair lies below {floor:g} and is not drawn.",
            "{n:,} more pairs lie below {floor:g} and are not drawn.",
        ),
        "另有 {n:,} 个文本对低于 {floor:g}，未画出。",
    ),
    "note.wider_all": (
        ("All pairs of {n:,} record.", "All pairs among {n:,} records."),
        "{n:,} 条记录中的全部文本对。",
    ),
    "note.wider_sample": (
        "All pairs among {n:,} records that were drawn at random from {of:,}.",
        "从 {of:,} 条记录中随机抽取 {n:,} 条，比较其中的全部文本对。",
    ),
    "note.wider_joined": (
        "Pairs from {floor:g} up among {n:,} of {of:,} records, drawn at random. Of pairs at "
        "{floor:g} about nine in ten are seen, of more similar ones more.",
        "从 {of:,} 条记录中随机抽取 {n:,} 条，寻找其中相似度不低于 {floor:g} 的文本对。"
        "相似度为 {floor:g} 的约能找到九成，越相似找得越全。",
    ),
    "note.wider_twins": (
        "Texts that say the same were taken once.",
        "内容相同的文本只取一条。",
    ),
    "note.none": ("No pair.", "没有文本对。"),
    # ---- pairs ----
    "pairs.title": ("Pairs on both sides of the threshold", "阈值两侧的文本对"),
    "pairs.title_pairs": ("Pairs", "文本对"),
    "pairs.note": (
        "Drawn at random in each step of similarity, from the pairs that the job compared and "
        "from the wider look; the most similar first. Read down to where you would draw the line.",
        "在每一段相似度中随机抽取，来自本次比较过的文本对和更大范围的抽样，"
        "按相似度从高到低排列。往下读，直到您认为该划线的地方。",
    ),
    "pairs.note_radius": (
        "Drawn at random at each distance, from the pairs that the job found and from the wider "
        "look; the nearest first. Similarities were computed for this page.",
        "在每个距离上随机抽取，来自本次找到的文本对和更大范围的抽样，按距离从近到远排列。"
        "相似度是为本页面计算的。",
    ),
    "pairs.line": ("Below {similarity:g}: rejected", "低于 {similarity:g}：不算近似"),
    "pairs.line_radius": ("Beyond {radius:,} bits: rejected", "超过 {radius:,} 位：不算近似"),
    "pairs.none": ("No two records were found alike.", "没有发现相似的记录。"),
    # ---- clusters ----
    "clusters.title": ("Clusters", "簇"),
    "clusters.none": ("No two records were found alike.", "没有发现相似的记录。"),
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
        "The weakest link has similarity {value}: members are joined through others and may be "
        "far from the representative.",
        "最弱的一条相似度为 {value}：成员是经由其他记录连在一起的，可能与代表相差较远。",
    ),
    "clusters.members": (
        "Showing {shown:,} of {n:,} records.",
        "显示 {n:,} 条记录中的 {shown:,} 条。",
    ),
    "records": (("{n:,} record", "{n:,} records"), "{n:,} 条记录"),
    # ---- two texts side by side ----
    "marks.del": ("struck out", "删除线"),
    "marks.only_left": ("is only on the left,", "为仅左侧有，"),
    "marks.ins": ("underlined", "下划线"),
    "marks.only_right": ("only on the right.", "为仅右侧有。"),
    "marks.faint": ("dotted", "虚线"),
    "marks.faint_means": (
        "is written differently but does not count under the recipe.",
        "为写法不同，但按配方不计。",
    ),
    "marks.spacing": ("Differences of spacing are not marked.", "空白的差异不标出。"),
    "text.same": ("The same text, character by character.", "文本完全相同。"),
    "text.same_beginning": (
        "The same beginning, character by character.",
        "所示开头完全相同。",
    ),
    "text.spacing_only": ("The texts differ in spacing only.", "两条文本只有空白不同。"),
    "text.uncounted_only": (
        "The texts differ only in what does not count under the recipe.",
        "两条文本的差异按配方均不计。",
    ),
    "text.coarse": (
        "Differences are marked coarsely, to save time: more may be marked than differs.",
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
    "setting.linkage": ("linkage", "连接方式"),
    "setting.keep": ("keep", "保留策略"),
    "setting.recipe": ("recipe", "配方"),
    "setting.version": ("neardup", "neardup"),
    **PHRASES,
    **HTTP_PHRASES,
}


@dataclass(frozen=True)
class Said:
    """A sentence of the catalogue, and what it speaks of."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)


class Wording:
    """The catalogue in one language; `more` are phrases of pages that have their own."""

    def __init__(self, language: str, more: Catalogue | None = None) -> None:
        if language not in LANGUAGES:
            raise ValueError(f"lang is {language!r}; it must be one of {', '.join(LANGUAGES)}")
        self.language = language
        self._at = LANGUAGES.index(language)
        self._phrases = {**CATALOGUE, **more} if more else CATALOGUE

    def __call__(self, name: str, **values: Any) -> str:
        found = self._phrases[name][self._at]
        if not isinstance(found, str):
            found = found[0] if values.get("n") == 1 else found[1]
        return found.format(**values)

    def say(self, said: Said) -> str:
        return self(said.name, **said.values)

    def label(self, group: str, name: str) -> str:
        """What a name is called; one that the catalogue does not know stays as it is."""
        return self(f"{group}.{name}") if f"{group}.{name}" in self._phrases else name


def language_of_locale() -> str:
    """The language of the environment, if a page can be written in it; otherwise English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name, ""):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
