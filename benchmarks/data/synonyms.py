"""Tables of synonyms for data/copied_texts.py: groups separated by bars or line breaks."""

from __future__ import annotations

import random
import re

ENGLISH = """
say state claim|says states claims|said stated claimed|think believe suppose|thinks believes
thought believed|know understand|use employ apply|used employed applied|using employing applying
make create produce|makes creates produces|made created produced|making creating producing
get obtain receive|got obtained received|show demonstrate reveal|shows demonstrates reveals
shown demonstrated revealed|want wish|wanted wished|need require|needs requires|needed required
help assist aid|helps assists aids|find discover|found discovered|begin start|began started
end finish|ended finished|keep retain|kept retained|give provide offer|gives provides offers
given provided offered|buy purchase|bought purchased|sell market|try attempt|tried attempted
ask inquire|answer reply response|change alter modify|changed altered modified|changes alterations
build construct|built constructed|choose select pick|chosen selected picked|look seem appear
looks seems appears|allow permit|allowed permitted|happen occur|happens occurs|happened occurred
explain clarify|fix repair|run operate|running operating|stop cease halt|support back endorse
people persons individuals|person individual|children kids|man fellow|problem issue difficulty
problems issues difficulties|question query|idea notion concept|ideas notions concepts
reason cause ground|reasons causes grounds|way manner method|ways manners methods|part portion
number amount quantity|group set|kind sort type|kinds sorts types|place location spot
places locations spots|money funds cash|job task work|house home dwelling|car automobile vehicle
cars automobiles vehicles|company firm business|companies firms businesses|country nation state
countries nations states|war conflict|law rule statute|laws rules statutes|fact truth
example instance|examples instances|information data details|program software|machine device
picture image|pictures images|price cost|result outcome|results outcomes|study investigation
world globe
big large huge|bigger larger|small little tiny|smaller lesser|good fine decent|better superior
best finest|bad poor awful|worse poorer|important significant crucial|different distinct
same identical|new recent novel|old former ancient|right correct|wrong incorrect mistaken
true correct|false untrue|hard difficult tough|easy simple|fast quick rapid|slow sluggish
full complete entire|whole entire|sure certain|possible feasible|clear obvious evident
many numerous several|much plenty|few some|very quite extremely|really truly actually
also too besides|often frequently|usually normally generally|always constantly|never not
probably likely perhaps|maybe perhaps possibly|almost nearly|about around roughly|only just merely
because since as|but yet however|however nevertheless|although though|therefore thus hence
so thus|while whilst|if whenever|before prior|after following|until till|between among
now currently|today nowadays|soon shortly|again anew|enough sufficient|else otherwise|such similar
"""

CHINESE = """
但是 可是 然而|因此 所以 因而|因为 由于|如果 假如 倘若|虽然 尽管|而且 并且|以及 和|或者 或
非常 十分 很|已经 业已|正在 正|必须 务必 一定要|可以 能够|应该 应当|需要 须要|希望 期望 盼望
认为 觉得 以为|指出 说明 提出|表示 表明 声称|强调 着重指出|要求 请求|进行 开展|举行 召开 举办
参加 出席 参与|发展 进步|提高 提升 增强|加强 强化 增强|促进 推动 推进|实现 达到 完成
取得 获得 得到|解决 处理|建立 设立 成立|建设 建造|增加 增多 增长|减少 降低 缩减|保护 维护 保卫
保证 确保 保障|支持 拥护|帮助 援助 协助|使用 运用 利用|采取 采用|开始 着手|继续 持续|结束 终止
改变 转变 变化|改革 革新|扩大 扩展|发现 察觉|研究 探讨 钻研|讨论 商讨|学习 研习|工作 劳动
努力 尽力|组织 安排|重要 关键 要紧|主要 首要|巨大 庞大|显著 明显|严重 严峻|困难 艰难|容易 简单
迅速 快速 飞快|广泛 普遍|许多 很多 众多|一些 若干|大量 大批|全部 所有|整个 全部|各种 种种
其他 别的|不断 接连|逐步 渐渐 逐渐|目前 当前 现在|今天 如今|过去 从前 以往|将来 未来|最近 近来
当时 那时|同时 与此同时|首先 第一|最后 末了|问题 难题|方面 领域|情况 情形 状况|原因 缘由|结果 后果
办法 方法|措施 手段|目标 目的|任务 使命|作用 功效|成绩 成果 成就|经验 体会|条件 条款|机会 时机
关系 联系|水平 水准|质量 品质|数量 数目|部分 局部|地方 场所|国家 国度|政府 当局|人民 群众 百姓
人们 大家|干部 官员|企业 公司|市场 集市|经济 财经|社会 世间|文化 文明|生活 日子|家庭 家里
孩子 儿童|老人 长者|青年 年轻人|农民 农夫|工人 职工|学生 学员|教师 老师|朋友 友人|世界 全球
国际 各国间|合作 协作|会议 大会|代表 代表人物|领导 首长|记者 新闻工作者|消息 新闻|报告 汇报
"""


def _groups(table: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in table.strip().splitlines():
        for group in line.split("|"):
            words = group.split()
            for word in words:
                found.setdefault(word, [other for other in words if other != word])
    return found


TABLES = {"English": _groups(ENGLISH), "Chinese": _groups(CHINESE)}
WORD = re.compile(r"[A-Za-z]+")
# Longest first, as a word may be a prefix of another. Single characters are mostly parts of words.
HAN = re.compile(
    "|".join(sorted((word for word in TABLES["Chinese"] if len(word) > 1), key=len, reverse=True))
)


def replaced(text: str, language: str, share: float, rng: random.Random) -> str:
    """Replace this share of the words of the table by a synonym."""
    table = TABLES[language]

    def swap(found: re.Match[str]) -> str:
        word = found[0]
        others = table.get(word.lower())
        if not others or rng.random() >= share:
            return word
        other = rng.choice(others)
        return other.capitalize() if word[:1].isupper() else other

    return (WORD if language == "English" else HAN).sub(swap, text)
