"""Two texts without what both have from a template."""

import pytest

import neardup as nd
from neardup.copying.rules import without_templates

FORM = "This form is to be handed in at the office before the end of the month."
OWN = "the old lighthouse keeper climbed the narrow stairs every evening"
LEFT = f"{FORM} My story is that {OWN} alone."
RIGHT = f"{FORM} They say {OWN} long ago."


def words(text: str) -> int:
    return len(text.split())


def test_only_the_rest_counts() -> None:
    found = nd.compare(LEFT, RIGHT)
    assert len(found.passages) == 2
    stripped = without_templates(found, LEFT, RIGHT, [FORM])
    (passage,) = stripped.comparison.passages
    assert LEFT[passage.left_start : passage.left_end] == OWN
    rest = words(LEFT) - words(FORM)
    assert stripped.comparison.coverage_left == pytest.approx(words(OWN) / rest)
    assert stripped.comparison.coverage_right == pytest.approx(
        words(OWN) / (words(RIGHT) - words(FORM))
    )
    assert stripped.comparison.longest == words(OWN)
    for text, side in ((LEFT, stripped.left), (RIGHT, stripped.right)):
        assert [text[each.start : each.end] for each in side] == [FORM.rstrip(".")]
        assert {each.rule for each in side} == {"template"}


def test_what_is_of_the_whole_stays() -> None:
    found = nd.compare(LEFT, RIGHT)
    stripped = without_templates(found, LEFT, RIGHT, [FORM]).comparison
    for name in ("distance", "similarity", "verdict", "containment_left", "threshold"):
        assert getattr(stripped, name) == getattr(found, name)


@pytest.mark.parametrize("templates", [[], [""], ["nothing of that"]])
def test_templates_without_effect(templates: list[str]) -> None:
    found = nd.compare(LEFT, RIGHT)
    stripped = without_templates(found, LEFT, RIGHT, templates)
    assert stripped.comparison == found
    assert (stripped.left, stripped.right) == ((), ())


def test_nothing_but_boilerplate() -> None:
    stripped = without_templates(nd.compare(FORM, FORM), FORM, FORM, [FORM]).comparison
    assert (stripped.passages, stripped.coverage_left, stripped.longest) == ((), 0.0, 0)


def test_settings_are_those_of_the_comparison() -> None:
    found = nd.compare(LEFT, RIGHT, min_words=20)
    # A form of fifteen words is no passage of twenty.
    stripped = without_templates(found, LEFT, RIGHT, [FORM], min_words=20)
    assert stripped.left == ()
    with pytest.raises(ValueError, match="min_words is 0"):
        without_templates(found, LEFT, RIGHT, [FORM], min_words=0)
