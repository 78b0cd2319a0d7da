"""Documents of a collection that share a passage: found by files, as by reading all of them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from neardup.collection import postings
from neardup.collection import postings as terms

WORDS = [f"word{number}" for number in range(400)]
HAN = "春江潮水连海平海上明月共潮生滟滟随波千万里何处春江无月明江流宛转绕芳甸"


def texts(count: int, seed: int) -> list[str]:
    """Strangers, but that each copies a stretch from one before it now and then."""
    chance = random.Random(seed)
    made: list[str] = []
    for number in range(count):
        text = " ".join(chance.choices(WORDS, k=40))
        if number % 3 == 2:
            source = made[chance.randrange(number)].split(" ")
            start = chance.randrange(max(1, len(source) - 8))
            text = f"{text} {' '.join(source[start : start + 8])}"
        if number % 7 == 5:
            start = chance.randrange(10)
            text = f"{text} {HAN[start : start + 18]}"
        made.append(text)
    return made


def found(checked: Any, against: Any, **rules: Any) -> list[Any]:
    copying = nd.check_copying(checked, against, **rules)
    return [
        (finding.id, finding.figures, [(x.id, x.passages) for x in finding.sources])
        for finding in copying.findings
    ]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written after a few documents."""
    monkeypatch.setattr(postings, "TAIL_DOCUMENTS", 8)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("runs", [True, False])
def test_the_same_as_by_reading_all(tmp_path: Path, runs: bool) -> None:
    stored = [(f"d{at}", text) for at, text in enumerate(texts(60, 1))]
    asked = [(f"q{at}", text) for at, text in enumerate(texts(62, 1)[30:62])]
    path = tmp_path / "c.neardup"
    with nd.Collection.open(path, runs=runs) as collection:
        for start in range(0, len(stored), 7):
            collection.add(stored[start : start + 7])
        collection.remove(["d3", "d31"])
        collection.add([("d5", stored[9][1])])
        left = [(id_, text) for id_, text in stored if id_ not in ("d3", "d31", "d5")]
        expected = found(asked, [*left, ("d5", stored[9][1])])
        assert sum(len(sources) for _, _, sources in expected) > 20
        assert found(asked, collection) == expected
        assert found(asked, [collection, ("x", asked[0][1])]) != expected
        assert collection.verify() == []
    with nd.Collection.open(path, read_only=True) as collection:
        assert collection.keeps_runs is runs
        assert found(asked, collection) == expected
        # Longer passages are found by the same runs, shorter ones by reading.
        for minimum in ({"min_words": 9, "min_chars": 20}, {"min_words": 3}, {"min_chars": 5}):
            assert found(asked, collection, **minimum) == found(
                asked, [*left, ("d5", stored[9][1])], **minimum
            )
        template = {"template": asked[2][1]}
        assert found(asked, collection, **template) == found(
            asked, [*left, ("d5", stored[9][1])], **template
        )
    assert any(path.glob("runs-*.postings")) is runs


@pytest.mark.usefixtures("few")
def test_decided_later_and_damaged(tmp_path: Path) -> None:
    stored = [(f"d{at}", text) for at, text in enumerate(texts(40, 2))]
    path = tmp_path / "c.neardup"
    with nd.Collection.open(path) as collection:
        collection.add(stored)
        expected = found(stored, collection)
    with nd.Collection.open(path, runs=True) as collection:
        assert collection.keeps_runs
        assert not collection.keeps_search
        assert found(stored, collection) == expected
    (file,) = path.glob("runs-*.postings")
    data = bytearray(file.read_bytes())
    for place in range(0, len(data), 64):
        data[place] ^= 0x55
    file.write_bytes(data)
    with nd.Collection.open(path) as collection:
        assert found(stored, collection) == expected
        assert collection.verify()
        collection.compact()
        assert collection.verify() == []
    with nd.Collection.open(path, runs=False) as collection:
        assert not collection.keeps_runs
        assert found(stored, collection) == expected
    assert not list(path.glob("runs-*"))


@pytest.mark.usefixtures("few")
def test_files_of_another_version_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, traditional = "这些书籍记载了古代汉语的历史", "這些書籍記載了古代漢語的歷史"
    stored = [("zh", traditional), *((f"d{at}", text) for at, text in enumerate(texts(40, 2)))]
    path = tmp_path / "c.neardup"

    def former(self: terms.RunTerms, index: Any, texts: list[str], keys: Any) -> None:
        """Hash something else than what is looked for."""
        add(self, index, [text[::-1] for text in texts], keys)

    add, init = terms.RunTerms.add, terms.RunTerms.__init__
    with monkeypatch.context() as patch:
        patch.setattr(terms.RunTerms, "add", former)

        def renamed(self: terms.RunTerms, *given: Any, **named: Any) -> None:
            init(self, *given, **named)
            self.identity = "runs of 6 words or 13 characters"

        patch.setattr(terms.RunTerms, "__init__", renamed)
        with nd.Collection.open(path, runs=True) as collection:
            collection.add(stored)
    (file,) = path.glob("runs-*.postings")
    former_bytes = file.read_bytes()
    for read_only in (True, False):
        with nd.Collection.open(path, read_only=read_only) as collection:
            (finding,) = nd.check_copying([("q", plain)], collection).findings
            assert [source.id for source in finding.sources] == ["zh"]
            if not read_only:
                collection.add([("more", "one two three")])
    (file,) = path.glob("runs-*.postings")
    assert file.read_bytes() != former_bytes


def test_without_texts_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(nd.CollectionError, match="stores no texts, and runs is True"):
        nd.Collection.open(tmp_path / "a.neardup", store_text=False, runs=True)
    with nd.Collection.open(tmp_path / "b.neardup", store_text=False) as collection:
        collection.add([("a", "one two three four five six seven eight")])
        with pytest.raises(nd.CollectionError, match="stores no texts"):
            list(collection.sharing([]))
    with pytest.raises(TypeError, match="runs is 1"):
        nd.Collection.open(tmp_path / "c.neardup", runs=1)  # type: ignore[arg-type]


@pytest.mark.usefixtures("few")
def test_damage_is_mended_by_the_next_writer(tmp_path: Path) -> None:
    stored = [(f"d{at}", text) for at, text in enumerate(texts(900, 3))]
    path = tmp_path / "c.neardup"
    with nd.Collection.open(path, runs=True) as collection:
        collection.add(stored)
    (file,) = path.glob("runs-*.postings")
    data = bytearray(file.read_bytes())
    # Not in the first block, which is read whenever the file is opened.
    assert len(data) > 1 << 17
    data[len(data) * 7 // 10] ^= 0xFF
    file.write_bytes(data)
    with nd.Collection.open(path) as collection:
        assert collection.verify()
        collection.compact()
        assert collection.verify() == []
        assert found(stored[:40], collection) == found(stored[:40], stored)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("runs", [True, False])
def test_an_interruption_while_texts_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: bool
) -> None:
    monkeypatch.setattr(postings, "BATCH_TEXTS", 3)
    stored = [(f"d{at}", text) for at, text in enumerate(texts(40, 4))]
    add, calls = terms.RunTerms.add, 0

    def interrupted(self: terms.RunTerms, *given: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        add(self, *given)

    with nd.Collection.open(tmp_path / "c.neardup", runs=runs) as collection:
        collection.add(stored[:33])
        assert found(stored, collection) == found(stored, stored[:33])
        collection.add(stored[33:])
        with monkeypatch.context() as patched:
            patched.setattr(terms.RunTerms, "add", interrupted)
            with pytest.raises(KeyboardInterrupt):
                found(stored, collection)
        assert found(stored, collection) == found(stored, stored)


@pytest.mark.usefixtures("few")
def test_a_writer_that_was_open_when_another_decided(tmp_path: Path) -> None:
    stored = [(f"d{at}", text) for at, text in enumerate(texts(40, 5))]
    path = tmp_path / "c.neardup"
    with nd.Collection.open(path) as early:
        with nd.Collection.open(path, runs=True) as other:
            other.add(stored[:20])
        early.add(stored[20:21])
        assert early.keeps_runs
        assert not early.keeps_search
        assert list(path.glob("runs-1-20.postings"))
        early.add(stored[21:])
        assert found(stored, early) == found(stored, stored)
        assert early.stats().runs
        assert early.stats().postings_bytes
