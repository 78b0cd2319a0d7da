"""What near-duplicates are in each script, at the defaults: made-up texts of every kind."""

from __future__ import annotations

import random

import pytest

import neardup as nd

# A weather report: town, day, month, low, high, wind, rain.
REPORTS = {
    "en": (
        "Weather for {} on {} {}: cloudy in the morning, sunny in the afternoon, temperatures "
        "between {} and {} degrees, wind from the east at {} km/h, chance of rain {} percent.",
        "Riverton Oakham Lakeside Hillford Marston",
        "March April May June",
    ),
    "zh": (
        "{}{}月{}日天气预报：上午多云，下午晴，最低气温{}度，最高气温{}度，"
        "东风每小时{}公里，降水概率{}%。",
        "北京 上海 广州 成都 武汉",
        "",
    ),
    "ja": (
        "{}の{}月{}日の天気：午前中は曇り、午後は晴れ、最低気温は{}度、"
        "最高気温は{}度、東の風が時速{}キロ、降水確率は{}%です。",
        "東京 大阪 札幌 福岡 仙台",
        "",
    ),
    "th": (
        "พยากรณ์อากาศ{}วันที่ {} เดือน {} ช่วงเช้ามีเมฆมาก ช่วงบ่ายแดดออก อุณหภูมิต่ำสุด {} องศา "
        "สูงสุด {} องศา ลมตะวันออก {} กิโลเมตรต่อชั่วโมง โอกาสฝนตก {} เปอร์เซ็นต์",
        "กรุงเทพ เชียงใหม่ ภูเก็ต ขอนแก่น ระยอง",
        "",
    ),
    "ko": (
        "{} {}월 {}일 날씨: 오전에는 구름이 많고 오후에는 맑겠으며 "
        "최저기온은 {}도, 최고기온은 {}도, "
        "동풍이 시속 {}킬로미터로 불고 비가 올 확률은 {}퍼센트입니다.",
        "서울 부산 대구 인천 광주",
        "",
    ),
    "ar": (
        "طقس {} يوم {} من الشهر {}: غائم صباحا ومشمس بعد الظهر، درجات الحرارة بين {} و {} درجة، "
        "رياح شرقية بسرعة {} كيلومترا في الساعة، واحتمال المطر {} بالمئة",
        "القاهرة دمشق بغداد تونس عمان",
        "",
    ),
}


def reports(language: str, count: int) -> list[str]:
    form, towns, months = REPORTS[language]
    chance = random.Random(26)

    def report() -> str:
        month = chance.choice(months.split()) if months else chance.randint(1, 12)
        low = chance.randint(0, 19)
        rest = (chance.randint(low + 4, low + 15), chance.randint(3, 60), chance.randint(0, 100))
        return form.format(chance.choice(towns.split()), chance.randint(1, 28), month, low, *rest)

    found: dict[str, None] = {}
    while len(found) < count:
        found[report()] = None
    return list(found)


@pytest.mark.parametrize("language", REPORTS)
def test_reports_of_one_form_are_kept(language: str) -> None:
    texts = reports(language, 100)
    assert nd.dedup(texts).kept.size >= 80
    # A report that came twice, with other marks, goes.
    twice = [*texts, *(f"{text}!" for text in texts[:10])]
    removed = set(range(len(twice))) - set(nd.dedup(twice).kept.tolist())
    assert removed >= set(range(100, 110))


@pytest.mark.parametrize("language", ["zh", "ja", "th"])
def test_version_2_lost_them(language: str) -> None:
    assert nd.dedup(reports(language, 100), recipe="default-2").kept.size < 40


MESSAGES = [
    ("@user she is", "@user @user He is."),
    ("I am on my way to you", "we are on the way to it"),
    ("what is it to you?", "it is what it is to me"),
    ("you can do it for us now", "can you get it for me"),
    ("how are you, and how is he", "and who are you, he is in"),
    ("no, I do not", "so do I, no?"),
]


@pytest.mark.parametrize(("left", "right"), MESSAGES)
def test_messages_that_share_only_short_words_are_not_near(left: str, right: str) -> None:
    assert nd.compare(left, right).verdict == "different"
    assert nd.dedup([left, right]).kept.size == 2


def test_short_copies_are_near() -> None:
    for text in ("@user she is so right about it", "see you at the pub on 5 May, OK?"):
        assert nd.compare(text, text.upper() + "!!").verdict == "near-duplicate"


KOREAN = (
    "오늘 오전 시청에서 열린 회의에서는 새로운 도서관을 짓는 계획이 발표되었다 "
    "시장은 내년 봄에 공사를 시작하여 이듬해 가을까지 마치겠다고 말했다 "
    "주민들은 주차장이 부족하다며 걱정했지만 대부분 계획을 반겼다"
)
KOREAN_STRANGER = (
    "어제 저녁 부산 앞바다에서 작은 어선이 뒤집혀 선원 두 명이 구조되었다 "
    "해경은 갑자기 불어온 강한 바람이 원인이라고 보고 있다 "
    "다친 사람은 가까운 병원으로 옮겨져 치료를 받고 있으며 생명에는 지장이 없다"
)


def test_missing_spaces_of_korean_cost_little() -> None:
    chance = random.Random(4)
    words = KOREAN.split()
    missing = words[0] + "".join(
        word if chance.random() < 0.2 else f" {word}" for word in words[1:]
    )
    assert missing != KOREAN
    for other in (missing, "".join(words)):
        assert nd.similarity(KOREAN, other) > 0.9
    assert nd.similarity(KOREAN, missing, "default-2") < 0.8
    assert nd.similarity(KOREAN, KOREAN_STRANGER) < 0.3


def test_particles_of_korean_cost_little() -> None:
    changed = KOREAN
    for old, new in (
        ("계획이", "계획은"),
        ("공사를", "공사도"),
        ("주민들은", "주민들이"),
        ("시장은", "시장도"),
    ):
        assert old in changed
        changed = changed.replace(old, new)
    assert nd.similarity(KOREAN, changed) > 0.9
    assert nd.similarity(KOREAN, changed, "default-2") < nd.similarity(KOREAN, changed)


def japanese(seed: int, sentences: int) -> str:
    """Sentences of the same 6000 words in every text; each text has favourites of its own."""
    language, chance = random.Random(0), random.Random(seed)
    kana = [chr(code) for code in range(0x3042, 0x3094)]
    kanji = [chr(code) for code in range(0x4E00, 0x9FA0, 23)]
    words = ["".join(language.choices(kanji, k=2)) for _ in range(3600)]
    words += ["".join(language.choices(kana, k=3)) for _ in range(2400)]
    chance.shuffle(words)
    often = [1 / rank for rank in range(1, len(words) + 1)]
    word = iter(chance.choices(words, often, k=3 * sentences))
    particles = ["は", "が", "を", "に", "では", "から", "まで", "という", "も", "と"]
    endings = ["します", "しました", "している", "されていた", "することができる", "ではありません"]
    return "".join(
        f"{next(word)}{chance.choice(particles)}{next(word)}{chance.choice(particles)}{next(word)}"
        f"{chance.choice(endings)}。"
        for _ in range(sentences)
    )


@pytest.mark.parametrize("sentences", [3000, 30_000])
def test_a_long_copy_is_nearer_than_a_stranger(sentences: int) -> None:
    text, stranger = (japanese(seed, sentences) for seed in (1, 2))
    assert len(text) > 15 * sentences
    chance = random.Random(3)
    # Characters of the text itself, so that nothing rare tells the copy.
    edited = "".join(chance.choice(text) if chance.random() < 0.1 else char for char in text)
    copy, other = nd.similarity(text, edited), nd.similarity(text, stranger)
    assert copy > 0.85
    assert copy > other + 0.08
    codes = [nd.fingerprint(each) for each in (text, edited, stranger)]
    assert nd.distance(codes[0], codes[1]) < nd.distance(codes[0], codes[2])
