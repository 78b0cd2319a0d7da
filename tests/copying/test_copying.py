"""A check for copying: sources, figures, rules."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup import _core
from neardup.copying.candidates import Runs
from neardup.copying.check import check_copying as check
from neardup.copying.check import check_rules
from neardup.copying.spans import WordSpans
from reference import passages as naive


def words(name: str, count: int) -> str:
    return " ".join(f"{name}{at}" for at in range(count))


FIRST, SECOND, OWN = words("first", 20), words("second", 30), words("own", 50)
ESSAY = f"{OWN}. {FIRST}. {SECOND}"
CORPUS = [("one", f"x. {FIRST} y"), ("two", f"{SECOND} z"), ("three", words("other", 40))]


def only(found: nd.Copying) -> nd.Finding:
    (finding,) = found.findings
    return finding


# ---------------------------------------------------------------------------------------- figures


def test_shares_and_sources() -> None:
    found = nd.check_copying([("essay", ESSAY)], CORPUS)
    assert not found.among
    essay = only(found)
    assert (essay.id, essay.text, essay.words) == ("essay", ESSAY, 100)
    assert essay.figures == nd.Figures(0.5, 0.5, 0.3)
    assert [(x.id, x.share, x.words, x.longest) for x in essay.sources] == [
        ("two", 0.3, 30, 30),
        ("one", 0.2, 20, 20),
    ]
    assert essay.sources[0].own_share == 30 / 31
    assert essay.sources[0].similarity == pytest.approx(nd.similarity(ESSAY, CORPUS[1][1]))
    (passage,) = essay.sources[0].passages
    assert ESSAY[passage.left_start : passage.left_end] == SECOND
    assert CORPUS[1][1][passage.right_start : passage.right_end] == SECOND


def test_what_several_have_counts_once() -> None:
    essay = only(check([("essay", ESSAY)], [*CORPUS, ("both", f"{FIRST} and {SECOND}")]))
    assert essay.figures == nd.Figures(0.5, 0.5, 0.5)
    assert [x.id for x in essay.sources] == ["both", "two", "one"]


def test_characters_are_those_of_words() -> None:
    copied = "我们今天讨论自然语言处理的历史"
    text = f"Introduction: {copied}！"
    essay = only(check([text], [copied]))
    assert (essay.words, essay.characters) == (16, 27)
    assert essay.figures.share == 15 / 16
    assert essay.by_characters.share == 15 / 27
    assert essay.figures_zh() == {
        "重复率": 15 / 27,
        "总文字复制比": 15 / 27,
        "去除引用复制比": 15 / 27,
        "单篇最大复制比": 15 / 27,
    }


@pytest.mark.parametrize(
    ("stretches", "expected"),
    [
        ([(0, 10)], [True, True, False]),
        ([(1, 10)], [False, True, False]),
        ([(6, 9)], [False, False, False]),
        # Within a word there is no word, and a stretch around it still holds it.
        ([(0, 10), (1, 3), (7, 8)], [True, True, False]),
    ],
)
def test_words_within_stretches(stretches: list[tuple[int, int]], expected: list[bool]) -> None:
    assert WordSpans("alpha beta gamma").within(stretches).tolist() == expected


def test_edited_passages_count_without_the_changed_words() -> None:
    edited = FIRST.replace("first5 ", "changed ").replace("first12", "changed")
    assert only(check([f"{OWN} {edited}"], [FIRST])).figures.share == 18 / 70


def test_documents_among_themselves() -> None:
    found = check([("a", ESSAY), ("b", FIRST), ("c", words("c", 30)), ("d", FIRST)])
    assert found.among
    assert [[x.id for x in finding.sources] for finding in found.findings] == [
        ["b", "d"],
        ["a", "d"],
        [],
        ["a", "b"],
    ]
    assert found.findings[2].figures == nd.Figures(0.0, 0.0, 0.0)


def test_a_document_is_no_source_of_itself() -> None:
    corpus = [("essay", ESSAY), *CORPUS]
    assert [x.id for x in only(check([("essay", ESSAY)], corpus)).sources] == ["two", "one"]
    # Another text of that name is another document.
    corpus[0] = ("essay", OWN)
    assert next(x.id for x in only(check([("essay", ESSAY)], corpus)).sources) == "essay"


def test_documents_left_out_as_themselves_are_reported() -> None:
    text = "the old lighthouse keeper climbed the narrow stairs every evening"
    found = nd.check_copying([("a", text), ("b", text)], [("a", text), ("c", text)])
    assert found.itself == ("a",)
    assert [[x.id for x in each.sources] for each in found.findings] == [["c"], ["a", "c"]]
    # Where both records are known, ids do not matter.
    known = nd.check_copying(
        [("a", text, None, 1)], [("a", text, None, 2), ("b", text, None, 1), ("a", text)]
    )
    assert known.itself == ("a",)
    assert [x.id for x in known.findings[0].sources] == ["a"]


def test_one_copied_paragraph_in_a_long_thesis_is_found() -> None:
    rng = random.Random(3)
    thesis = " ".join(f"t{rng.randrange(3000)}" for _ in range(20_000))
    thesis = f"{thesis[:50_000]} {FIRST} {thesis[50_000:]}"
    others = [" ".join(f"t{rng.randrange(3000)}" for _ in range(300)) for _ in range(50)]
    (source,) = only(check([thesis], [*others, f"a {FIRST} b"])).sources
    assert (source.id, source.words) == ("50", 20)


# ------------------------------------------------------------------------------ the naive counting

texts = st.lists(
    st.one_of(
        st.sampled_from(
            [
                words("p", 8),
                words("q", 7),
                "我们今天讨论自然语言处理的历史",
                "“" + words("r", 9) + "”",
            ]
        ),
        st.text("abc ", max_size=12),
    ),
    max_size=5,
).map(" . ".join)


def within(unit: tuple[int, int, Any], stretches: tuple[nd.Ignored, ...]) -> bool:
    return any(x.start <= unit[0] and unit[1] <= x.end for x in stretches)


def covered(document: str, sources: list[nd.Source]) -> list[bool]:
    places = [(a, b) for source in sources for a, b, _, _ in source.equal]
    units = naive.units(document)
    return [any(a <= start and end <= b for a, b in places) for start, end, _ in units]


@settings(max_examples=50)
@given(st.lists(texts, max_size=3), st.lists(texts, max_size=4), st.booleans())
def test_figures_equal_a_naive_count(
    documents: list[str], corpus: list[str], ignore_quotations: bool
) -> None:
    found = check(documents, corpus, ignore_quotations=ignore_quotations)
    for finding in found.findings:
        units = naive.units(finding.text)
        counts = [not within(x, finding.ignored) for x in units]
        unquoted = [not within(x, finding.quoted) for x in units]
        lengths = [end - start for start, end, _ in units]
        every = covered(finding.text, list(finding.sources))
        each = [covered(finding.text, [source]) for source in finding.sources]
        for weights, total, figures in (
            ([1] * len(units), finding.words, finding.figures),
            (lengths, finding.characters, finding.by_characters),
        ):

            def add(*masks: list[bool], weights: list[int] = weights) -> int:
                return sum(w for w, *bits in zip(weights, *masks, strict=True) if all(bits))

            assert total == add(counts)
            assert figures.share == pytest.approx(add(every, counts) / max(total, 1))
            assert figures.unquoted == pytest.approx(add(every, counts, unquoted) / max(total, 1))
            largest = max((add(mask, counts) for mask in each), default=0)
            assert figures.largest == pytest.approx(largest / max(total, 1))
        # Whoever shares a passage of what counts is a source.
        for number, text in enumerate(corpus):
            shared = nd.shared(finding.text, text)
            if not ignore_quotations and any(passage.exact for passage in shared.passages):
                assert str(number) in [source.id for source in finding.sources]


# ------------------------------------------------------------------------------------------ rules


def test_a_template_does_not_count() -> None:
    essay = only(check([ESSAY], CORPUS, template=FIRST))
    assert essay.words == 80
    assert essay.figures == nd.Figures(30 / 80, 30 / 80, 30 / 80)
    assert [x.id for x in essay.sources] == ["two"]
    ((start, end, rule),) = [(x.start, x.end, x.rule) for x in essay.ignored]
    assert (ESSAY[start:end], rule) == (FIRST, "template")
    assert only(check([ESSAY], CORPUS, template=[FIRST, SECOND])).sources == ()
    # Of a source only the passages are shown of which something counts.
    (source,) = only(check([ESSAY], [f"{FIRST} a b c {SECOND}"], template=SECOND)).sources
    assert [passage.words for passage in source.passages] == [20]
    assert (source.longest, source.words) == (20, 20)


@pytest.mark.parametrize("marks", ["“”", '""', "「」", "『』", "«»"])
def test_quotations(marks: str) -> None:
    text = f"{OWN} {marks[0]}{FIRST}{marks[1]} {SECOND}"
    essay = only(check([text], CORPUS))
    assert essay.figures == nd.Figures(0.5, 0.3, 0.3)
    assert essay.ignored == ()
    assert [(x.start, x.end, x.rule) for x in essay.quoted] == [
        (text.index(marks[0]), text.index(FIRST) + len(FIRST) + 1, "quotation")
    ]
    ignored = only(check([text], CORPUS, ignore_quotations=True))
    assert ignored.figures == nd.Figures(30 / 80, 30 / 80, 30 / 80)
    assert ignored.ignored == essay.quoted


def test_block_quotes() -> None:
    text = f"{OWN}\n> {FIRST}\n{SECOND}"
    assert only(check([text], CORPUS)).figures.unquoted == 0.3


@pytest.mark.parametrize("heading", ["References", "参考文献", "## Bibliography"])
def test_lists_of_references(heading: str) -> None:
    text = f"{OWN} {SECOND}\n{heading}\n{FIRST}\n"
    essay = only(check([text], CORPUS))
    assert essay.figures.share > essay.figures.unquoted == 30 / essay.words
    ignored = only(check([text], CORPUS, ignore_references=True))
    assert ignored.words == 80
    assert [x.rule for x in ignored.ignored] == ["references"]
    assert [x.id for x in ignored.sources] == ["two"]


def test_what_many_documents_have_does_not_count() -> None:
    corpus = [*CORPUS, ("four", FIRST), ("five", FIRST)]
    assert only(check([ESSAY], corpus, common=4)).figures.share == 0.5
    essay = only(check([ESSAY], corpus, common=3))
    assert essay.figures.share == 30 / 80
    assert [x.id for x in essay.sources] == ["two"]
    assert {x.rule for x in essay.ignored} == {"common"}


def test_an_authors_own_texts_do_not_count() -> None:
    for found in (
        check([("e", ESSAY)], CORPUS, own="one"),
        check([("e", ESSAY, "Ada")], [("one", CORPUS[0][1], "Ada"), CORPUS[1]]),
        check(
            [("e", ESSAY, {"author": "Ada"})],
            [("one", CORPUS[0][1], {"author": "Ada"}), ("two", CORPUS[1][1], {"author": "Bo"})],
        ),
    ):
        essay = only(found)
        assert [x.id for x in essay.sources] == ["two"]
        assert essay.figures.share == 30 / 80
        assert {x.rule for x in essay.ignored} == {"own"}
    # Nobody is not an author.
    assert len(only(check([("e", ESSAY, None)], [(*x, None) for x in CORPUS])).sources) == 2


@pytest.mark.parametrize("blank", ["", "  \t", [], (), ["", " "], {}, {"author": ""}])
def test_a_blank_author_is_no_author(blank: object) -> None:
    for found in (
        check([("e", ESSAY, blank)], [(*x, blank) for x in CORPUS]),
        check([("e", ESSAY, blank), *((*x, blank) for x in CORPUS)]),
    ):
        assert [x.id for x in found.findings[0].sources] == ["two", "one"]


@pytest.mark.parametrize("author", [0, False, "0", ["Ada", ""], ("Ada", "Bo")])
def test_other_values_are_authors(author: object) -> None:
    assert only(check([("e", ESSAY, author)], [(*x, author) for x in CORPUS])).sources == ()


def test_a_template_shorter_than_a_passage_hides_no_copy() -> None:
    copied = words("first", 6)
    text = f"{copied} {words('own', 20)}"
    # Five words have a run, but are no passage: nothing of them is left out.
    for part in (words("first", 5), copied.split(" ", 1)[1]):
        essay = only(check([text], [f"{copied} and nothing else"], template=part))
        assert (essay.ignored, [x.words for x in essay.sources]) == ((), [6])
    assert only(check([text], [copied], template=copied)).sources == ()


# ------------------------------------------------------------------- what all have, and many pairs


def naive_common(documents: list[str], common: int) -> list[tuple[int, int, list[tuple[int, int]]]]:
    """For each document how many words count, how many are covered, and places and words of its
    sources: every document is compared with every other."""
    found = []
    for row, document in enumerate(documents):
        units = naive.units(document)
        masks = {}
        for place, other in enumerate(documents):
            equal = _core.shared(document, other, (6, 13, 2, None))[1] if place != row else []
            masks[place] = [any(a <= s and e <= b for _, a, b, _, _ in equal) for s, e, _ in units]
        number = [1 + sum(mask[at] for mask in masks.values()) for at in range(len(units))]
        counts = [each <= common for each in number]
        each = [
            (place, sum(a and b for a, b in zip(mask, counts, strict=True)))
            for place, mask in masks.items()
        ]
        covered = sum(each > 1 for each, counted in zip(number, counts, strict=True) if counted)
        sources = sorted(((p, n) for p, n in each if n), key=lambda x: (-x[1], x[0]))
        found.append((sum(counts), covered, sources))
    return found


PIECES = [*(words(name, size) for name, size in zip("pqrs", (8, 16, 7, 30), strict=True))]
PIECES += ["我们今天讨论自然语言处理的历史", "天地玄黄宇宙洪荒日月盈昃辰宿列张"]


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=4), max_size=12),
    st.integers(1, 6),
    st.booleans(),
)
def test_what_is_common_equals_a_naive_count(
    made: list[list[str]], common: int, apart: bool
) -> None:
    documents = [
        " ".join(
            f"{piece} {words(f'own{row}x{at}x', 3)}" if apart else piece
            for at, piece in enumerate(pieces)
        )
        for row, pieces in enumerate(made)
    ]
    found = [
        (
            finding.words,
            round(finding.figures.share * finding.words),
            [(source.place, source.words) for source in finding.sources],
        )
        for finding in check(documents, common=common).findings
    ]
    assert found == naive_common(documents, common)


def cover_texts(count: int) -> list[str]:
    return [f"{FIRST}. {words(f'own{at}x', 30)}" for at in range(count)]


def test_what_is_common_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    whole = _core.shared_with_each

    def counted(left: str, rights: list[str], *others: Any) -> Any:
        nonlocal compared
        compared += len(rights)
        return whole(left, rights, *others)

    monkeypatch.setattr(_core, "shared_with_each", counted)
    documents = cover_texts(60)
    documents[50] += f" {SECOND}"
    documents[7] += f" {SECOND}"
    for against in (None, [(f"s{at}", text) for at, text in enumerate(documents)]):
        compared = 0
        found = check([(f"d{at}", text) for at, text in enumerate(documents)], against, common=4)
        assert compared < 60 * 12
        places = [[x.id[1:] for x in finding.sources] for finding in found.findings]
        if against is None:
            assert [at for at, ids in enumerate(places) if ids] == [7, 50]
            assert (places[7], places[50]) == (["50"], ["7"])
            assert found.findings[7].figures.share == 30 / 60
        else:
            assert (places[0], places[7]) == (["0"], ["7", "50"])
        assert all(finding.ignored[0].rule == "common" for finding in found.findings)
        assert [found.findings[at].words for at in (0, 7)] == [30, 60]


def test_very_many_pairs_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neardup.copying.check.MANY_PAIRS", 10)
    notes: list[str] = []
    done: list[tuple[int, int]] = []
    check(cover_texts(6), on_note=notes.append, on_progress=lambda *x: done.append(x))
    (note,) = notes
    assert note.startswith("15 pairs of documents share text and will be compared")
    assert "--template FILE" in note
    assert "--common N" in note
    assert done == [(at, 6) for at in range(1, 7)]
    notes.clear()
    check(cover_texts(6), common=3, on_note=notes.append)
    check(cover_texts(5), on_note=notes.append)
    assert notes == []


def test_each_text_is_kept_once(tmp_path: Path) -> None:
    documents = cover_texts(5)
    with nd.Collection.open(tmp_path / "c.neardup", runs=True) as collection:
        collection.add([("one", f"{FIRST} x"), ("two", documents[0])])
        for corpus in (collection, list(collection.documents())):
            found = check(documents, corpus)
            texts = [x.text for finding in found.findings for x in finding.sources]
            assert (len(texts), len({id(text) for text in texts})) == (10, 2)
            assert any(text is documents[0] for text in texts)


def test_sources_are_left_out() -> None:
    corpus = [*CORPUS, ("both", f"{FIRST} and {SECOND}")]
    whole = only(check([ESSAY], corpus))
    for ids in ("both", ["both"], ["both", "two"], ["both", "two", "one"], ["nobody"], []):
        asked = check([ESSAY], corpus, exclude=ids)
        assert only(asked) == whole.without(ids)
    assert whole.without("both").figures == nd.Figures(0.5, 0.5, 0.3)
    assert whole.without(["both", "two", "one"]).figures == nd.Figures(0.0, 0.0, 0.0)
    assert whole.without([]) == whole


def test_settings_are_reported() -> None:
    found = check([ESSAY], CORPUS, min_words=25, exclude="x", template=["a", "b"])
    assert [x.id for x in only(found).sources] == ["two"]
    assert found.settings["min_words"] == 25
    assert found.settings["exclude"] == ["x"]
    assert found.settings["templates"] == 2


# ------------------------------------------------------------------------------- forms and refusals


def test_a_collection_is_a_corpus(tmp_path: Path) -> None:
    with nd.Collection.open(tmp_path / "c.neardup") as collection:
        collection.add([(*CORPUS[0], {"author": "Ada"}), *CORPUS[1:]])
        assert [x.id for x in only(check([ESSAY], collection)).sources] == ["two", "one"]
        assert [x.id for x in only(check([("e", ESSAY, "Ada")], collection)).sources] == ["two"]
        among = check(collection)
        assert [finding.id for finding in among.findings] == ["one", "two", "three"]


def test_documents_before_and_behind_a_collection_are_not_confused(tmp_path: Path) -> None:
    with nd.Collection.open(tmp_path / "c.neardup", runs=True) as collection:
        collection.add([("three", words("third", 10))])
        essay = only(check([f"{ESSAY} {words('third', 10)}"], [CORPUS[0], collection, CORPUS[1]]))
        found = [(x.id, x.words) for x in essay.sources]
        assert found == [("two", 30), ("one", 20), ("three", 10)]


def test_a_collection_finds_passages_shorter_than_its_runs(tmp_path: Path) -> None:
    with nd.Collection.open(tmp_path / "c.neardup", runs=True) as collection:
        collection.add([("short", f"{words('first', 4)} and nothing else of it")])
        assert only(check([ESSAY], collection)).sources == ()
        assert [x.words for x in only(check([ESSAY], collection, min_words=4)).sources] == [4]


def test_a_corpus_is_read_once_and_lazily() -> None:
    given_ = iter([(f"n{n}", words(f"n{n}x", 20)) for n in range(2500)] + CORPUS)
    assert [x.id for x in only(check([ESSAY], given_)).sources] == ["two", "one"]


def test_a_deadline_is_reported() -> None:
    rng = random.Random(1)
    long = " ".join(rng.choices("ab", k=60_000))
    finding = only(check([long], [long], deadline=1e-4))
    assert finding.figures.share > 0.9
    assert finding.coarse
    assert finding.sources[0].coarse
    assert not only(check([ESSAY], CORPUS)).coarse


@pytest.mark.parametrize("documents", [[], [""], ["…"], ["", "", ""], ["a b c"]])
def test_nothing_to_find(documents: list[str]) -> None:
    for against in (None, [], [""], CORPUS):
        found = check(documents, against, template="", common=1)
        assert [x.figures.share for x in found.findings] == [0.0] * len(documents)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("text",), {}, TypeError, "documents is one str; pass texts"),
        (({"a": "b"},), {}, TypeError, "documents is one dict; pass texts"),
        ((3,), {}, TypeError, "documents is of type int; pass texts"),
        (([3],), {}, TypeError, r"documents\[0\] is of type int; pass texts"),
        (([("a", None)],), {}, TypeError, r"the text of documents\[0\] is of type NoneType"),
        (([("a", "b")], [(1, "b")]), {}, TypeError, r"the id of against\[0\] is of type int"),
        (([],), {"common": 0}, ValueError, "common is 0; it must be a whole number from 1"),
        (([],), {"template": [1]}, TypeError, r"template\[0\] is of type int; it must be a str"),
        (([],), {"exclude": 1}, TypeError, "exclude is 1; it must be a str or several"),
        (([],), {"ignore_quotations": 1}, TypeError, "ignore_quotations is 1; it must be True"),
        (([],), {"min_words": 0}, ValueError, "min_words is 0; it must be"),
        (([],), {"on_note": 1}, TypeError, "on_note is 1; it must be a function, or None"),
        (([],), {"threads": 0}, ValueError, "threads is 0; it must be"),
        ((["a\ud800"],), {}, ValueError, r"texts\[0\] has a lone surrogate at position 1"),
    ],
)
def test_refusals(
    arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        check(*arguments, **options)
    if options and "on_note" not in options:
        with pytest.raises(error, match=message):
            check_rules(**options)


def test_a_collection_without_texts_is_refused(tmp_path: Path) -> None:
    with nd.Collection.open(tmp_path / "c.neardup", store_text=False) as collection:
        collection.add(CORPUS)
        with pytest.raises(
            nd.CollectionError, match="stores no texts, so passages cannot be found"
        ):
            check([ESSAY], collection)


# ------------------------------------------------------------------------------------------- runs


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(texts, max_size=5), st.lists(texts, max_size=5), st.integers(1, 40))
def test_candidates_equal_sets_of_hashes(
    monkeypatch: pytest.MonkeyPatch, left: list[str], right: list[str], entries: int
) -> None:
    monkeypatch.setattr("neardup.copying.candidates.MAX_ENTRIES", entries)

    def sets(many: list[str]) -> list[set[int]]:
        alone = (_core.winnow([text], 6, 13, None)[1].tolist() for text in many)
        return [set(hashes) for hashes in alone]

    places, rows = Runs(left, (6, 13)).shared(right)
    pairs = list(zip(places.tolist(), rows.tolist(), strict=True))
    expected = [
        (place, row)
        for place, theirs in enumerate(sets(right))
        for row, ours in enumerate(sets(left))
        if ours & theirs
    ]
    assert pairs == expected
