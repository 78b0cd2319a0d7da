"""Views side by side: lines that belong together, differences marked, masked parts whole."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.html_page import BIDI, NASTY
from neardup.reports import views as module
from neardup.reports.page import Wording
from neardup.reports.views import NAMES, ResponseView, SampleView, SampleViews, ViewPart, ViewRow


def sample(left: str, right: str | None = None) -> SampleView:
    other = None if right is None else ResponseView("b", "https://b/", right, len(right), 0.9)
    return SampleViews(Wording("en")).sample(
        ResponseView("a", "https://a/", left, len(left)), other
    )


def written(parts: Sequence[ViewPart] | None) -> str:
    """Parts as a line: what differs in braces, masked parts in angle brackets."""
    if parts is None:
        return "="
    signs = {"del": "{-%s-}", "ins": "{+%s+}", "skip": "(%s)", "": "%s"}
    return "".join(
        signs[part.tag]
        % "".join(f"<{bit.text}>" if bit.css == "chip" else bit.text for bit in part.bits)
        for part in parts
    )


def shown(found: SampleView) -> list[tuple[str, str, str]]:
    return [
        ("".join(bit.text for bit in row.name), written(row.left), written(row.right))
        for row in found.rows
    ]


def test_lines_of_one_response() -> None:
    found = sample("status 404\nheader server nginx\nheader date\ntitle No\ntext a\ntext b")
    assert shown(found) == [
        ("status", "404", "="),
        ("server", "nginx", "="),
        ("date", "(its value is not compared)", "="),
        ("title", "No", "="),
        ("text", "a", "="),
        ("", "b", "="),
    ]
    assert [said for said, _, _ in found.heads] == ["representative"]


def test_differences_are_marked() -> None:
    found = sample("status 404\ntitle Not Found\ntext one two", "status 403\ntitle Not Found\n")
    assert shown(found) == [
        ("status", "{-404-}", "{+403+}"),
        ("title", "Not Found", "="),
        ("text", "{-one two-}", ""),
    ]
    assert [row.differs for row in found.rows] == [True, False, True]
    assert found.heads[1][0] == "least similar: 0.900"


def test_headers_are_beside_those_of_the_same_name() -> None:
    left = "header a 1\nheader set-cookie x\nheader set-cookie y\nheader b 2"
    right = "header b 2\nheader set-cookie y\nheader c 3\nheader a 9\nheader a 1"
    assert shown(sample(left, right)) == [
        ("a", "1", "="),
        ("set-cookie", "{-x-}", "{+y+}"),
        ("set-cookie", "{-y-}", ""),
        ("b", "2", "="),
        ("c", "", "{+3+}"),
        ("a", "", "{+9+}"),
    ]


def test_a_header_without_value_that_one_view_has() -> None:
    assert shown(sample("header a 1\nheader date", "header a 1")) == [
        ("a", "1", "="),
        ("date", "{-its value is not compared-}", ""),
    ]


def test_masked_parts_are_chips_and_stay_whole() -> None:
    found = sample("text on \u2039date\u203a at ten", "text on \u2039uuid\u203a at ten")
    assert shown(found) == [("text", "on {-<date>-} at ten", "on {+<uuid>+} at ten")]
    # What no rule is called like is text.
    assert shown(sample("text \u2039a b\u203a \u2039\u203a")) == [
        ("text", "\u2039a b\u203a \u2039\u203a", "=")
    ]


def test_signs_of_the_page_are_no_masks() -> None:
    found = sample("text \U0010f000 and \u2039date\u203a")
    assert shown(found) == [("text", "\ufffd and <date>", "=")]


def test_more_masks_than_signs_are_text() -> None:
    text = "text " + " ".join(f"\u2039m{at}\u203a" for at in range(300))
    (row,) = sample(text).rows
    assert sum(bit.css == "chip" for part in row.left for bit in part.bits) > 0


def test_lines_of_unknown_names_are_text() -> None:
    found = sample("colour red\ntext x\nstatus 200")
    assert shown(found) == [("status", "200", "="), ("text", "colour red", "="), ("", "x", "=")]


def test_equal_views_are_shown_once() -> None:
    found = sample("status 200\ntext a", "status 200\ntext a")
    assert found.note == "The two are equal after volatile parts are masked."
    assert all(row.right is None for row in found.rows)
    assert len(found.heads) == 2


def test_many_equal_lines_are_counted() -> None:
    same = "\n".join(f"text line {at}" for at in range(20))
    found = shown(sample(f"status 200\n{same}\ntext old", f"status 200\n{same}\ntext new"))
    assert found[1:] == [
        ("text", "line 0", "="),
        ("", "line 1", "="),
        ("", "(… 17 equal lines …)", "="),
        ("", "line 19", "="),
        ("", "{-old-}", "{+new+}"),
    ]


def test_all_lines_of_a_single_response_are_there() -> None:
    lines = "\n".join(f"text line {at}" for at in range(20))
    assert len(sample(lines).rows) == len(sample(lines, lines).rows) == 20


def test_long_lines_are_cut_and_say_so() -> None:
    tags = "tags " + " ".join(f"{at}div" for at in range(3000))
    found = sample(f"{tags}\ntext after", f"{tags.replace('7div', '7p', 1)}\ntext after")
    tag_row, text_row = found.rows
    assert "more characters" in written(tag_row.left)
    assert "{-7div-}" in written(tag_row.left)
    assert "{+7p+}" in written(tag_row.right)
    assert written(tag_row.left).count("{-") == 1
    assert written(text_row.left) == "after"


def test_views_are_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINES", 3)
    left = "status 200\ntext a\ntext b\ntext c\ntext d"
    found = sample(left, "status 200\ntext x\ntext a\ntext b\ntext c\ntext d")
    # What lies beyond the cut of the right side may well be there.
    assert shown(found) == [
        ("status", "200", "="),
        ("text", "", "{+x+}"),
        ("", "a", "="),
        ("", "(… 3 more lines …)", "="),
    ]
    assert sample(left, f"{left}\ntext e").note == "They differ only in parts not shown here."


def test_what_the_caller_cut_is_counted() -> None:
    view = ResponseView("a", "", "text one", 1008)
    (row,) = SampleViews(Wording("en")).sample(view, None).rows
    assert written(row.left) == "one(… 1,000 more characters …)"


@pytest.mark.parametrize("text", ["", "\n\n", "status", "header", "text ", "\u2039", " "])
def test_odd_views(text: str) -> None:
    assert sample(text, "status 200").rows
    sample(text)
    sample(text, text)


def test_hostile_views() -> None:
    found = sample(f"title {NASTY}{BIDI}\ntext {NASTY}", f"title x{NASTY}\nheader {NASTY} y")
    said = "".join(str(row) for row in found.rows)
    assert not set(BIDI) & set(said)
    assert "\ud800" not in said
    assert "\x00" not in said


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("text a\n" * 200_000, "text b\ntext a\n" * 100_000),
        ("tags " + "1p " * 400_000, "tags " + "1p 2p " * 200_000),
        ("header a b\n" * 100_000, "header a c\n" * 100_000),
        ("text " + "‹date›" * 200_000, "text " + "‹uuid›" * 200_000),
    ],
    ids=["lines", "tags", "headers", "masks"],
)
def test_huge_views_are_bounded(left: str, right: str) -> None:
    started = time.thread_time()
    found = sample(left, right)
    assert time.thread_time() - started < 3
    assert len(str(found)) < 2_000_000


LINES = st.lists(
    st.builds(
        "{} {}".format,
        st.sampled_from([*NAMES, "odd", "header a", "header b"]),
        st.text("ab \u2039\u203a天", max_size=8),
    ),
    # More could be folded.
    max_size=5,
).map("\n".join)


def plain(rows: Sequence[ViewRow], side: int) -> list[str]:
    """All that stands on a side, but for what the page says itself."""
    texts = []
    for row in rows:
        parts = row.left if side == 0 or row.right is None else row.right
        skips = [part for part in parts if part.tag == "skip"]
        bits = (bit for part in parts if part not in skips for bit in part.bits)
        texts.append("".join(f"\u2039{bit.text}\u203a" if bit.css else bit.text for bit in bits))
    return sorted("".join(text.split()).replace("itsvalueisnotcompared", "") for text in texts)


@given(LINES, LINES)
def test_nothing_is_lost(left: str, right: str) -> None:
    found = sample(left, right)
    for side, text in enumerate((left, right)):
        values = []
        for each in filter(None, text.split("\n")):
            name, _, value = each.partition(" ")
            if name == "header":
                value = value.partition(" ")[2]
            values.append("".join((value if name in NAMES else each).split()))
        assert sorted(filter(None, values)) == list(filter(None, plain(found.rows, side)))


def test_masked_parts_in_chinese() -> None:
    view = ResponseView("a", "", "text \u2039date\u203a \u2039own-rule\u203a", 20)
    (row,) = SampleViews(Wording("zh")).sample(view, None).rows
    assert written(row.left) == "<日期> <own-rule>"
