"""Stop words from names, files and iterables."""

from pathlib import Path

import pytest

from neardup.text import vocabulary
from neardup.text.vocabulary import BUILTIN_LISTS, Stopwords


def made(value: object) -> Stopwords:
    stopwords = Stopwords.of(value)  # type: ignore[arg-type]
    assert stopwords is not None
    return stopwords


def test_nothing_stays_nothing() -> None:
    assert Stopwords.of(None) is None


def test_ready_stopwords_are_passed_through() -> None:
    stopwords = made(["a"])
    assert Stopwords.of(stopwords) is stopwords


@pytest.mark.parametrize(("name", "word"), [("en", "the"), ("en", "don't"), ("zh", "我们")])
def test_built_in_lists(name: str, word: str) -> None:
    stopwords = made(name)
    assert stopwords.label == name
    assert word in stopwords
    assert 150 <= len(stopwords) <= 300


def test_english_contractions_come_with_both_apostrophes() -> None:
    words = made("en").words
    assert {word.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}") for word in words} <= words


@pytest.mark.parametrize("name", BUILTIN_LISTS)
def test_built_in_files_hold_a_clean_word_a_line(name: str) -> None:
    path = Path(vocabulary.__file__).with_name("stopwords") / f"{name}.txt"
    lines = path.read_text("utf-8").splitlines()
    assert lines == [line.strip().lower() for line in lines if line.strip()]
    assert len(lines) == len(set(lines))


def test_joined_names_in_any_order() -> None:
    both = made("en+zh")
    assert both.words == made("en").words | made("zh").words
    assert made("zh+en") == both
    assert made("zh+en").label == both.label == "en+zh"


def test_a_file_has_a_word_a_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes("\ufeffalpha\r\n\n  beta gamma \n# delta\n".encode())
    for value in (path, str(path)):
        stopwords = made(value)
        assert stopwords.label == "mine.txt"
        assert stopwords.words == {"alpha", "beta gamma", "# delta"}


def test_an_iterable_of_words() -> None:
    stopwords = made(word for word in ("b", "a", " b ", ""))
    assert stopwords.label == "custom"
    assert stopwords.words == {"a", "b"}
    assert repr(stopwords) == "Stopwords('custom', 2 words)"


def test_equality_and_digest_follow_the_words() -> None:
    one, same, other = made(["a", "b"]), made({"b", "a"}), made(["ab"])
    assert one == same
    assert hash(one) == hash(same)
    assert one.digest == same.digest
    assert one.digest != other.digest
    assert len(one.digest) == 16
    assert int(one.digest, 16) >= 0
    assert one != other


@pytest.mark.parametrize("value", ["EN", "en+fr", "", "no/such/file.txt"])
def test_unknown_names_list_the_choices(value: str) -> None:
    with pytest.raises(ValueError, match=r'must be a built-in list \("en", "zh", or') as caught:
        Stopwords.of(value)
    folder = Path.cwd() / "no/such" if "/" in value else Path.cwd()
    assert f"stopwords is {value!r};" in str(caught.value)
    assert str(caught.value).endswith(f"there is no such file in {folder}")
    assert "or a list of words" in str(caught.value)


def test_a_missing_path(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"missing\.txt', which cannot be read \(No such file"):
        Stopwords.of(tmp_path / "missing.txt")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        Stopwords.of(str(tmp_path))


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "gbk.txt"
    path.write_bytes(b"ok\n" + "我们\n".encode("gbk"))
    with pytest.raises(ValueError, match="line 2 of it is not UTF-8; save it as UTF-8"):
        Stopwords.of(path)


def test_a_word_that_is_no_string() -> None:
    with pytest.raises(TypeError, match=r"stopwords\[1\] is 7; a stop word must be a str, not int"):
        Stopwords.of(["a", 7])  # type: ignore[list-item]


def test_a_word_that_is_no_text() -> None:
    with pytest.raises(ValueError, match=r"stopwords\[0\].*lone surrogate"):
        Stopwords.of(["\ud800"])


@pytest.mark.parametrize("value", [b"en", 3, 1.5])
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match=r"stopwords is of type .*; it must be a built-in list"):
        Stopwords.of(value)  # type: ignore[arg-type]
