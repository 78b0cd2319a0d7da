"""What becomes of responses: their views, and what was masked in them by which rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup.http.labels import Labels, Rule, seen_of
from neardup.http.messages import Response

if TYPE_CHECKING:
    from neardup.text.views import Viewing

# Different originals that are shown of a rule, and characters of each.
ORIGINALS = 3
CHARACTERS = 60


class Numbered(NamedTuple):
    """A response, the id it has as a document, and its number in its file."""

    id: str
    number: int
    response: Response


@dataclass(frozen=True, kw_only=True)
class MaskedBy:
    """What a rule has masked.

    count      how often
    originals  the first different ones, shortened
    """

    rule: str
    count: int
    originals: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Preview:
    """A response as it is compared.

    id, number  as it is called as a document, and its number in its file
    view    its lines, volatile parts as ‹rule›
    label   the rule that names its kind; None if none does
    """

    id: str
    number: int
    url: str
    status: int
    title: str
    view: str
    masked: tuple[MaskedBy, ...]
    label: Rule | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "id": self.id,
            "number": self.number,
            "url": self.url,
            "status": self.status or None,
            "title": self.title,
            "label": self.label and self.label.label,
            "rule": self.label and self.label.name,
            "view": self.view.split("\n"),
            "masked": [{**asdict(each), "originals": list(each.originals)} for each in self.masked],
        }


def previews(
    found: Iterable[Numbered], viewing: Viewing, labels: Labels | None = None
) -> Iterator[Preview]:
    """Responses as they are compared.

    labels  the rules that name their kinds [default: those that come with neardup]
    """
    from neardup.http.views import Views

    views, rules = Views(viewing), Labels.load() if labels is None else labels
    for id_, number, response in found:
        made = views.masked(response)
        seen = seen_of(
            made.text,
            status=response.status,
            title=made.title,
            server=response.header("server"),
            content_type=response.header("content-type"),
        )
        yield Preview(
            id=id_,
            number=number,
            url=response.url,
            status=response.status,
            title=made.title,
            view=made.text,
            masked=tuple(_counted(made.masks)),
            label=rules.label(seen),
        )


def _counted(masks: Iterable[tuple[str, str, str]]) -> Iterator[MaskedBy]:
    """By rule, the one that masked most first."""
    counts: dict[str, int] = {}
    originals: dict[str, dict[str, None]] = {}
    for rule, original, _ in masks:
        counts[rule] = counts.get(rule, 0) + 1
        some = originals.setdefault(rule, {})
        if len(some) < ORIGINALS:
            some[_shortened(original)] = None
    for rule in sorted(counts, key=lambda name: (-counts[name], name)):
        yield MaskedBy(rule=rule, count=counts[rule], originals=tuple(originals[rule]))


def _shortened(text: str) -> str:
    return text if len(text) <= CHARACTERS else f"{text[: CHARACTERS - 1]}…"
