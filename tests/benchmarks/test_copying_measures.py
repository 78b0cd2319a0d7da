"""The set of copying: its truth holds, and its small form says what docs/copying.md says."""

from __future__ import annotations

import gzip
import json
import random
import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import copying_measures
from data import copied_texts, synonyms

LANGUAGES = pytest.mark.parametrize("language", copied_texts.LANGUAGES)
SCORES = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=30)


def made(language: str, count: int = 3) -> list[copied_texts.Case]:
    return copied_texts.cases(None, language, count, made_up=True)


def plain(text: str) -> str:
    """Letters and digits only, in one width."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()


@given(SCORES, SCORES)
def test_the_area_is_that_of_scikit_learn(copies: list[float], honest: list[float]) -> None:
    from sklearn.metrics import roc_auc_score

    labels = [1] * len(copies) + [0] * len(honest)
    assert copying_measures.area(copies, honest) == pytest.approx(
        roc_auc_score(labels, copies + honest)
    )


@LANGUAGES
def test_the_same_texts_every_time(language: str) -> None:
    first, again = (copying_measures.pairs(None, language, 2, made_up=True) for _ in range(2))
    assert first == again


@LANGUAGES
def test_what_the_kinds_say_is_true(language: str) -> None:
    rng = random.Random(3)
    for case in made(language):
        source = copied_texts.written(case.source, language)
        sentences = [each for paragraph in case.source for each in paragraph]
        by_kind = {pair.kind: pair for pair in copied_texts.pairs(case, rng)}
        assert {pair.source for pair in by_kind.values()} == {source}
        assert [kind for kind, pair in by_kind.items() if not pair.is_copied] == [
            *copying_measures.HONEST
        ]

        def of(kind: str, found: dict[str, copied_texts.Pair] = by_kind) -> str:
            return found[kind].suspect

        # An honest text has no sentence of the source.
        assert not any(each in of("honest, long") for each in sentences)
        pasted = [
            each for each in case.source if copied_texts.written([each], language) in of("paste")
        ]
        assert len(pasted) == 1
        assert sorted(plain(of("reordered"))) == sorted(plain(source))
        assert sum(each in of("reordered") for each in sentences) == len(sentences)
        assert plain(of("width")) == plain(source) == plain(of("punctuation"))
        assert source not in (of("width"), of("punctuation"))
        assert 0.2 < sum(each in of("mixed") for each in sentences) / len(sentences) <= 1
        kept = {kind: sum(each in of(kind) for each in sentences) for kind in ("light", "heavy")}
        assert kept["heavy"] <= kept["light"] < len(sentences) / 2
        assert of("synonyms") != source
        assert sum(each in of("one sentence") for each in sentences) == 1
        assert not any(each in of("rewritten") for each in sentences)
        assert copied_texts.length(case.host, language) >= copied_texts.HOST[language] // 2


@LANGUAGES
def test_verdicts_of_texts_that_grew_or_shrank(language: str) -> None:
    rng = random.Random(3)
    found = [pair for case in made(language) for pair in copied_texts.whole_pairs(case, rng)]
    for pair in found:
        if pair.kind == "words shuffled":
            assert sorted(plain(pair.suspect)) == sorted(plain(pair.source))
    lines = list(copying_measures.verdicts("", found))
    assert lines[0] == "|  | near-duplicate | contained |"
    assert lines[2:] == [
        "| a fifth inserted | 100% | 0% |",
        "| as much inserted | 0% | 100% |",
        "| first half | 0% | 100% |",
        "| words shuffled | 100% | 0% |",
    ]


@LANGUAGES
@pytest.mark.parametrize("share", [1 / 12, 1 / 3])
def test_as_many_words_are_edited_as_it_says(language: str, share: float) -> None:
    case = made(language, 1)[0]
    sentence = "".join(map(chr, range(0x6000, 0x7800)))
    if language == "English":
        sentence = " ".join(f"w{n}" for n in range(3000))
    edited = copied_texts._edited(sentence, case, share, 4 if share > 0.2 else 1, random.Random(5))
    units = copied_texts._units(sentence, language)
    left = set(copied_texts._units(edited, language))
    # A third of the edits only adds.
    gone = np.mean([unit not in left for unit in units])
    assert gone == pytest.approx(share * 2 / 3, rel=0.35)


@LANGUAGES
def test_synonyms_go_both_ways_and_keep_capitals(language: str) -> None:
    table = synonyms.TABLES[language]
    assert all(others and word not in others for word, others in table.items())
    rng = random.Random(1)
    if language == "English":
        assert synonyms.replaced("Buy a nice xylophone", language, 1, rng) == (
            "Purchase a nice xylophone"
        )
    else:
        assert synonyms.replaced("但是会议正面", language, 1, rng)[-4:] == "大会正面"
    assert synonyms.replaced("buy 但是", language, 0, rng) == "buy 但是"


def test_coverage_tells_copies_from_honest_texts() -> None:
    scored = [
        copying_measures.score(language, copying_measures.pairs(None, language, 4, made_up=True))
        for language in copied_texts.LANGUAGES
    ]
    areas = copying_measures.areas(scored)
    assert set(areas) == {
        *copied_texts.KINDS,
        "punctuation",
        "width",
        copying_measures.OVERALL,
        *copied_texts.HARDER,
    }
    assert areas["one sentence"]["coverage"] >= 0.97
    assert areas["rewritten"]["coverage"] <= areas["heavy"]["coverage"]
    assert areas[copying_measures.OVERALL]["coverage"] >= 0.97
    # What this set is for: whole-document similarity does not see one paragraph.
    assert areas["paste"]["coverage"] >= 0.97 > areas["paste"]["cosine"]
    for kind in ("light", "reordered", "mixed", "punctuation", "width"):
        assert areas[kind]["coverage"] >= 0.97, kind


def test_the_script_prints_a_table_for_each_language_and_both(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["copying_measures.py", "--made-up", "--worst", "--cases"]
    monkeypatch.setattr("sys.argv", [*command, "1"])
    copying_measures.main()
    printed = capsys.readouterr().out
    heads = [line for line in printed.splitlines() if " TF-IDF cosine " in line]
    assert [head.split(" | ")[0] for head in heads] == ["| English", "| Chinese", "| both"]
    assert printed.count("| all | ") == 3
    monkeypatch.setattr("sys.argv", [*command, "0"])
    with pytest.raises(SystemExit, match="2"):
        copying_measures.main()
    assert "--cases 0 is too few: at least 1" in capsys.readouterr().err


def test_an_edited_paragraph_lies_in_passages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(2)
    with gzip.open(tmp_path / "zh.jsonl.gz", "wt", encoding="utf-8") as file:
        for _ in range(40):
            # Texts on subjects of their own.
            letters = rng.sample([chr(code) for code in range(0x4E00, 0x9FA5)], 600)
            lines = ["".join(rng.choices(letters, k=120)) for _ in range(9)]
            file.write(json.dumps({"text": "\n".join(lines)}) + "\n")
    command = ["copying_measures.py", "--cases", "5", "--pasted", str(tmp_path / "zh.jsonl.gz")]
    monkeypatch.setattr("sys.argv", command)
    copying_measures.main()
    *_, row = capsys.readouterr().out.splitlines()
    name, *shares, rest, strangers = row.strip("| ").split(" | ")
    assert (name, rest, strangers) == ("zh", "0.000", "0.000")
    assert 1 >= float(shares[0]) >= float(shares[1]) - 0.02 > 0.9
