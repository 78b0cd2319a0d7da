"""Rank the six documents of a news corpus most similar to one of them, by SimHash and by TF-IDF.

    python examples/ranking.py [FOLDER]

Generates ten thousand news items in Chinese and English, one per line, words separated by spaces.
Item 5644 is a rewritten copy of item 88. Runs two commands and compares their results with those of
the PyPI package simhash, if it is installed, and with a plain implementation of TF-IDF.
"""

import contextlib
import importlib.util
import io
import json
import math
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from neardup import cli
from neardup.text.recipe import Recipe

RECIPE = Path(__file__).with_name("words.toml")
COUNT, ASKED, COPY, SHOWN = 10_000, 88, 5644, 6

PLACES = ["广州", "北京", "上海", "成都", "杭州", "武汉", "西安", "南京", "天津", "重庆"]
WHO = ["市政府", "城管委", "教育局", "交通局", "环保局", "卫生局", "记者", "市民", "专家", "居民"]
VERBS = ["宣布", "介绍", "透露", "表示", "决定", "提出", "推出", "召开", "启动", "完成"]
THINGS = [
    *("垃圾", "分类", "模式", "收费", "小区", "试点", "公交", "地铁", "路线", "学校"),
    *("招生", "医院", "挂号", "空气", "质量", "绿化", "公园", "房价", "市场", "税收"),
    *("就业", "旅游", "文化", "图书馆", "体育", "比赛", "天气", "台风", "供水", "电价"),
    *("菜价", "食品", "安全", "网络", "手机", "银行", "贷款", "保险", "养老", "社区"),
    *("志愿者", "博物馆", "展览", "高铁", "机场", "航班", "桥梁", "隧道", "施工", "噪音"),
    "停车",
]
WORDS = [
    *("council", "minister", "market", "school", "hospital", "river", "bridge"),
    *("traffic", "budget", "election", "harvest", "storm", "museum", "library"),
    *("station", "factory", "engine", "price", "union", "strike", "court"),
    *("verdict", "police", "harbour", "ferry", "doctor", "student", "teacher"),
    *("weather", "rain", "summer", "winter", "match", "player", "goal"),
    *("season", "coach", "border", "treaty", "energy", "solar", "wind"),
    *("power", "water", "food", "wheat", "rice", "export", "tariff"),
    *("bank", "loan", "rate", "growth"),
]
SMALL = ["the", "of", "and", "to", "in", "."]
SMALL_CHINESE = ["的", "在", "将", "和", "了", "，", "。"]


def news(rng: random.Random, *, chinese: bool) -> list[str]:
    """Return the words of an item: words of its topic among many function words."""
    subject = rng.sample(THINGS if chinese else WORDS, 14)
    small = SMALL_CHINESE if chinese else SMALL
    words = [rng.choice(PLACES), rng.choice(WHO), rng.choice(VERBS)] if chinese else []
    for _ in range(rng.randint(60, 160)):
        words.append(rng.choice(subject if rng.random() < 0.6 else small))
        if chinese and rng.random() < 0.05:
            words += [rng.choice(WHO), rng.choice(VERBS)]
    return words


def rewritten(words: list[str], rng: random.Random) -> list[str]:
    """Return a copy with a new headline, some words changed and the end cut off."""
    changed = [rng.choice(words) if rng.random() < 0.05 else word for word in words]
    return ["快讯", *words[3:12], "。", *changed[: len(changed) * 9 // 10]]


def corpus() -> list[list[str]]:
    rng = random.Random(2002)
    made = [news(rng, chinese=at % 2 == 0) for at in range(COUNT)]
    made[COPY] = rewritten(made[ASKED], rng)
    return made


def command(*arguments: object) -> list[dict[str, object]]:
    """Run neardup with these arguments, show its output, and return it as rows."""
    given = [str(argument) for argument in arguments]
    print(f"\n$ neardup {' '.join(given)}", flush=True)
    cli.run(given)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        cli.run([*given, "--json"])
    return [json.loads(line) for line in printed.getvalue().splitlines()]


def plain_tfidf(texts: list[list[str]], asked: int) -> list[tuple[int, float]]:
    """Return rows and cosines as gensim's TfidfModel and SparseMatrixSimilarity compute them."""
    bags = [Counter(words) for words in texts]
    found = Counter(word for bag in bags for word in bag)
    idf = {word: math.log2(len(texts) / count) for word, count in found.items()}

    def weighted(bag: Counter[str]) -> dict[str, float]:
        vector = {word: count * idf[word] for word, count in bag.items()}
        norm = math.sqrt(sum(weight * weight for weight in vector.values())) or 1.0
        return {word: weight / norm for word, weight in vector.items()}

    query = weighted(bags[asked])
    scores = []
    for at, bag in enumerate(bags):
        vector = weighted(bag)
        scores.append((at, sum(weight * vector.get(x, 0.0) for x, weight in query.items())))
    return sorted(scores, key=lambda row: -row[1])


def check(title: str, same: bool) -> None:
    print(f"{title}: {'the same' if same else 'NOT the same'}")
    if not same:
        sys.exit(1)


def main(folder: Path) -> None:
    texts = corpus()
    path, query = folder / "news.txt", folder / "query.txt"
    path.write_text("".join(" ".join(words) + "\n" for words in texts), encoding="utf-8")
    query.write_text(" ".join(texts[ASKED]), encoding="utf-8")
    where = (query, "--in", path, "--lines", "--recipe", RECIPE)
    near = command("search", *where, "--by", "simhash")
    alike = command("search", *where, "--by", "cosine", "--idf", "gensim")

    print()
    stopwords = set(getattr(Recipe.load(RECIPE).stopwords, "words", ()))
    kept = [[word for word in words if word not in stopwords] for words in texts]
    # The id of a line is its number, from 1.
    expected = plain_tfidf(kept, ASKED)[:SHOWN]
    rows = [(int(str(row["id"]).rpartition(":")[2]) - 1, row["score"]) for row in alike]
    same = all(
        at == other and math.isclose(float(str(score)), wanted, abs_tol=1e-9)
        for (at, score), (other, wanted) in zip(rows, expected, strict=True)
    )
    check("TF-IDF, plain implementation", same)
    if importlib.util.find_spec("simhash") is None:
        print("SimHash: not compared; pip install simhash")
        return
    from simhash import Simhash

    asked = Simhash(kept[ASKED])
    distances = ((at, asked.distance(Simhash(words))) for at, words in enumerate(kept))
    nearest = sorted(distances, key=lambda row: row[1])[:SHOWN]
    found = [(int(str(row["id"]).rpartition(":")[2]) - 1, row["distance"]) for row in near]
    check("SimHash, PyPI simhash", found == nearest)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
