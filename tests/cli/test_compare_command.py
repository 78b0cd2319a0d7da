"""neardup compare."""

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from helpers.html_page import check_harmless
from neardup.text.comparison import MAX_BRIDGE, MAX_MIN_LENGTH

LEFT = "The library on the square opens at nine in the morning and closes at six in the evening."
RIGHT = LEFT.replace("six", "seven") + " Cards are free."


def test_two_files(run: Callable[..., Any], tmp_path: Path) -> None:
    for name, text in [("a.txt", LEFT), ("b.txt", RIGHT)]:
        (tmp_path / name).write_text(text)
    ran = run("compare", tmp_path / "a.txt", tmp_path / "b.txt", "--similarity", "0.5")
    found = nd.compare(LEFT, RIGHT, similarity=0.5)
    assert ran.code == 0
    assert "verdict     near-duplicate" in ran.out
    assert f"similarity  {found.similarity:.4f} (near-duplicate from 0.5)" in ran.out
    assert f"distance    {found.distance} of {nd.Recipe().bits} bits" in ran.out
    assert f"coverage    {found.coverage_left:.1%} of A, {found.coverage_right:.1%} of B" in ran.out
    assert "longest     17 words" in ran.out
    assert "passages    1 shared\n  A 0-87, B 0-89: 17 words, edited\n" in ran.out
    assert "The library on the square opens" in ran.out


def test_who_contains_whom(run: Callable[..., Any]) -> None:
    inserted = LEFT.replace("opens", f"opens {' '.join(f'word{n}' for n in range(9))}")
    for texts, verdict in [
        ((LEFT, f"{LEFT} Free."), "near-duplicate, B contains A"),
        ((f"{LEFT} Free.", LEFT), "near-duplicate, A contains B"),
        ((LEFT, inserted), "B contains A"),
        ((f"{LEFT} {inserted}", "No word of it"), "different"),
    ]:
        assert run("compare", "--text", *texts).out.startswith(f"verdict     {verdict}\n")
        plain = json.loads(run("compare", "--text", *texts, "--json").out)
        found = nd.compare(*texts)
        assert (plain["verdict"], plain["container"]) == (found.verdict, found.container)


def test_what_differs(run: Callable[..., Any]) -> None:
    rest = "of the medicine with a glass of water every morning before breakfast"
    texts = f"Patients should not take 5 mg {rest}", f"Patients should take 50 mg {rest}"
    out = run("compare", "--text", *texts).out
    assert "verdict     near-duplicate, but numbers and negation differ\n" in out
    assert "numbers     only A: 5; only B: 50\nnegation    only A: not\n" in out
    assert "\nwords       only A: not, 5; only B: 50\n" in out
    plain = json.loads(run("compare", "--text", *texts, "--json").out)["differences"]
    assert plain == {
        "aspects": ["numbers", "negation"],
        "numbers": [["5"], ["50"]],
        "negation": [["not"], []],
        "symbols": [[], []],
        "words": [["not", "5"], ["50"]],
        "order": False,
    }
    code = run("compare", "--text", "if a == b then go on", "if a != b then go on").out
    assert "verdict     near-duplicate, but symbols differ\n" in code
    assert "symbols     only A: ==; only B: !=\n" in code
    order = run("compare", "--text", "man bites dog", "dog bites man").out
    assert "verdict     near-duplicate, same words in another order\n" in order
    assert "only" not in order
    case = run("compare", "--text", LEFT, LEFT.upper()).out
    assert "differs     only in case, punctuation, other signs or spaces\n" in case
    strangers = run("compare", "--text", LEFT, "7 tulips, not roses").out
    assert "verdict     different\n" in strangers
    assert "only" not in strangers
    more = run("compare", "--text", LEFT, f"{LEFT} {' '.join(map(str, range(10, 22)))}").out
    assert "numbers     only B: 10, 11, 12, 13, 14, 15, 16, 17, … (12)\n" in more
    han = run("compare", "--text", "他昨天没有去北京看望朋友", "他昨天去北京看望朋友了").out
    assert "characters  only A: 没, 有; only B: 了\n" in han


def test_a_radius(run: Callable[..., Any]) -> None:
    found = nd.compare(LEFT, RIGHT, "jieba-tfidf", radius=18)
    ran = run("compare", "--text", LEFT, RIGHT, "--radius", 18, "--recipe", "jieba-tfidf")
    assert f"verdict     {found.verdict}" in ran.out
    assert f"similarity  {found.similarity:.4f}\n" in ran.out
    assert f"distance    {found.distance} of 64 bits (near-duplicate up to 18)\n" in ran.out
    plain = json.loads(run("compare", "--text", LEFT, RIGHT, "--radius", 0, "--json").out)
    assert (plain["radius"], plain["threshold"], plain["verdict"]) == (0, None, "partly copied")


def test_chinese_is_counted_in_characters(run: Callable[..., Any], tmp_path: Path) -> None:
    han = "图书馆早上九点开门，晚上六点关门，周末也对读者开放"
    page = tmp_path / "compared.html"
    options = ("--html", page, "--lang", "en")
    ran = run("compare", "--text", han, f"通知：{han}，免费办证。", *options)
    assert "longest     23 characters" in ran.out
    assert "A 0-25, B 3-28: 23 characters, exact" in ran.out
    shown = check_harmless(page.read_text("utf-8")).text()
    assert "23 characters" in shown
    assert "Shares are of characters." in shown
    assert not re.search(r"\d words|of words", shown)
    mixed = run("compare", "--text", f"{LEFT} {han}", f"{LEFT} {han} 好", "--json")
    assert json.loads(mixed.out)["unit"] == "words and characters"


def test_an_encoding(run: Callable[..., Any], tmp_path: Path) -> None:
    han = "图书馆早上九点开门，晚上六点关门，周末也对读者开放。" * 3
    for name, encoding in [("a.txt", "gb18030"), ("b.txt", "big5")]:
        (tmp_path / name).write_text(han.replace("馆", "堂"), encoding, errors="ignore")
    both = (tmp_path / "a.txt", tmp_path / "a.txt")
    failed = run("compare", *both)
    assert (failed.code, failed.out) == (1, "")
    assert "looks like gb18030: use --encoding gb18030" in failed.err
    assert "verdict     identical" in run("compare", *both, "--encoding", "gb18030").out
    found = run("compare", *both, "--encoding", "auto")
    assert "verdict     identical" in found.out
    assert found.err == f"neardup: note: {both[0]}: read as gb18030 (detected)\n" * 2


def test_files_of_records(run: Callable[..., Any], tmp_path: Path) -> None:
    one, two, none = (tmp_path / name for name in ("one.jsonl", "two.csv", "none.json"))
    (tmp_path / "b.txt").write_text(LEFT)
    one.write_text(json.dumps({"id": 7, "text": LEFT}) + "\n")
    two.write_text(f"id,text\n1,{LEFT}\n2,{RIGHT}\n")
    none.write_text(json.dumps([{"body": LEFT}]))
    ran = run("compare", one, tmp_path / "b.txt")
    assert (ran.err, "verdict     identical" in ran.out) == ("", True)
    half = tmp_path / "half.jsonl"
    half.write_text(json.dumps({"text": LEFT}) + '\n{"text": ')
    for path, why in [
        (two, "has several records"),
        (none, "has no record with a text"),
        (half, "has a record that cannot be read"),
    ]:
        ran = run("compare", path, path)
        note = f"note: {path}: {why}, so the file is read as one text, as it stands\n"
        assert ran.err == f"neardup: {note}" * 2
        assert "verdict     identical" in ran.out
    table = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [LEFT]}), table)
    assert "verdict     identical" in run("compare", table, one).out
    pq.write_table(pa.table({"text": [LEFT, RIGHT]}), table)
    ran = run("compare", table, one)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"neardup: {table}: has several records; pass a file with one text\n"


def test_one_from_standard_input(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(LEFT)
    ran = run("compare", tmp_path / "a.txt", "-", stdin=LEFT.encode())
    assert "verdict     identical" in ran.out


def test_texts_themselves_as_json(run: Callable[..., Any]) -> None:
    ran = run("compare", "--text", LEFT, RIGHT, "--json", "--bits", 64)
    found = nd.compare(LEFT, RIGHT, nd.Recipe(bits=64))
    plain = json.loads(ran.out)
    assert plain["distance"] == found.distance
    assert plain["bits"] == 64
    assert plain["similarity"] == pytest.approx(found.similarity)
    assert plain["threshold"] == found.threshold
    assert plain["verdict"] == found.verdict
    assert plain["recipe"] == found.recipe.identity
    assert plain["coverage"] == [found.coverage_left, found.coverage_right]
    assert plain["containment"] == [found.containment_left, found.containment_right]
    assert (plain["longest"], plain["coarse"]) == (17, False)
    assert [(x["words"], x["exact"]) for x in plain["passages"]] == [(17, False)]
    for passage in plain["passages"]:
        assert LEFT[slice(*passage["left"])] == passage["text"]
        assert passage["right"][0] < passage["right"][1]


def test_what_counts_as_a_passage(run: Callable[..., Any]) -> None:
    def passages(*options: str) -> list[tuple[int, bool]]:
        plain = json.loads(run("compare", "--text", LEFT, RIGHT, "--json", *options).out)
        return [(x["words"], x["exact"]) for x in plain["passages"]]

    assert passages("--bridge", "0") == [(14, True)]
    assert passages("--bridge", "0", "--min-words", "3") == [(14, True), (3, True)]
    assert passages("--min-words", "18") == []
    most = (str(MAX_MIN_LENGTH), str(MAX_BRIDGE))
    assert passages("--min-words", most[0], "--min-chars", most[0], "--bridge", most[1]) == []
    han = "我们今天讨论自然语言处理"
    ran = run("compare", "--text", han, f"他{han}", "--min-chars", 12)
    assert "passages    1 shared" in ran.out
    assert "exact" in ran.out


def test_long_texts_are_compared_coarsely_and_it_says_so(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module("neardup.text.comparison")
    monkeypatch.setattr(module, "compare", lambda *a, **k: nd.compare(*a, **k, deadline=1e-6))
    text = " ".join(f"w{n % 997}" for n in range(60_000))
    ran = run("compare", "--text", text, text + " x")
    assert "coarse      the texts are very long" in ran.out


def test_no_signal(run: Callable[..., Any]) -> None:
    ran = run("compare", "--text", "?", "!")
    assert ran.code == 0
    assert "distance    none (a text has too few features for a fingerprint)" in ran.out
    assert "coverage    0.0% of A, 0.0% of B" in ran.out
    assert "passages    none shared" in ran.out
    plain = json.loads(run("compare", "--text", "?", "!", "--json").out)
    assert plain["distance"] is None
    assert plain["verdict"] == "different"


def test_many_passages_are_capped(run: Callable[..., Any]) -> None:
    parts = [" ".join(f"w{part}x{word}" for word in range(12 + part)) for part in range(15)]
    # Not by length: the longest passages are shown in the order of the text.
    parts = [*parts[7:], *parts[:7]]
    left, right = " l l l ".join(parts), " r r r ".join(parts)
    found = nd.compare(left, right)
    assert len(found.passages) == 15
    ran = run("compare", "--text", left, right)
    assert "passages    15 shared (showing the longest 10 of 15)" in ran.out
    assert "w14x0" in ran.out
    assert "w0x0" not in ran.out
    starts = [int(start) for start in re.findall(r"^  A (\d+)-", ran.out, re.M)]
    assert starts == sorted(starts)
    assert len(starts) == 10


def test_excerpts_are_safe_to_print(run: Callable[..., Any]) -> None:
    text = "alpha beta \x1b[31mgamma delta [bold]epsilon[/bold] zeta eta theta iota kappa lambda mu"
    out = run("compare", "--text", text, text + " nu").out
    assert "\x1b" not in out


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    for name, text in [("a.txt", LEFT), ("b.txt", RIGHT)]:
        (tmp_path / name).write_text(text)
    return tmp_path / "a.txt", tmp_path / "b.txt"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page(
    run: Callable[..., Any], files: tuple[Path, Path], tmp_path: Path, language: str
) -> None:
    page = tmp_path / "compared.html"
    ran = run("compare", *files, "--html", page, "--lang", language)
    assert ran.code == 0
    assert ran.out == run("compare", *files).out + f"wrote       {page}\n"
    found = check_harmless(page.read_text("utf-8"))
    assert f'<html lang="{language}">' in page.read_text("utf-8")
    assert str(files[0]) in found.text()
    coverage = nd.compare(LEFT, RIGHT).coverage_left
    assert f"{100 * coverage:.1f}{'%' if language == 'zh' else ' %'}" in found.text()


def test_a_page_on_standard_output(run: Callable[..., Any]) -> None:
    ran = run("compare", "--text", LEFT, RIGHT, "--html", "-")
    assert ran.out.startswith("<!DOCTYPE html>")
    assert ran.out.endswith("</html>")
    ran = run("compare", "--text", LEFT, RIGHT, "--html", "-", "--json")
    assert (ran.code, ran.out) == (2, "")


def test_a_template_does_not_count(run: Callable[..., Any], tmp_path: Path) -> None:
    form = "This form is to be handed in at the office before the end of the month."
    texts = f"{form} {LEFT}", f"{form} It rained."
    (tmp_path / "form.txt").write_text(form)
    page = tmp_path / "compared.html"
    options = ("--template", tmp_path / "form.txt", "--html", page)
    found = json.loads(run("compare", "--text", *texts, "--json", *options).out)
    assert found["coverage"] == [0.0, 0.0]
    assert found["passages"] == []
    assert page.read_text("utf-8").count('title="part of a template"') == 2
    assert json.loads(run("compare", "--text", *texts, "--json").out)["coverage"][0] > 0.3
