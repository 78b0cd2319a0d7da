"""Clusters in a report: each member beside its representative, differences marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from neardup.reports.differences import Budget, Differences, Stretch, differences
from neardup.reports.markup import block, cosine, counted, foreign, number

# Callers cut texts; this is for those that did not.
SHOWN_CHARACTERS = 20_000
# Of a longer stretch without differences only both ends are shown.
SAME_CHARACTERS = 1200
ENDS_CHARACTERS = 300
# So far a space is looked for, to cut there.
WORD_CHARACTERS = 40
# Some five seconds for all texts of a page; later pairs are marked coarsely.
PAGE_STEPS = 30_000_000
OPENED = 3


@dataclass(frozen=True)
class Shown:
    """A record shown in the report."""

    id: str
    text: str
    """Its beginning, if the whole is long."""
    length: int
    """Characters of the whole text."""
    distance: int | None
    """To the representative; None when there is no fingerprint."""
    similarity: float | None
    """Exact cosine with the representative."""
    is_representative: bool


@dataclass(frozen=True)
class ShownCluster:
    """A cluster shown in the report."""

    size: int
    members: Sequence[Shown]
    """The representative first; perhaps not all."""
    weakest: float | None
    """Similarity of its weakest link, when chaining made members far apart."""


def cluster_section(clusters: Sequence[ShownCluster], count: int) -> str:
    if not clusters:
        said = (
            f"Showing 0 of {counted(count, 'cluster')}."
            if count
            else "No two records were found alike."
        )
        return f'<section>\n<h2>Clusters</h2>\n<p class="note">{said}</p>\n</section>'
    all_of = f"Showing {number(len(clusters))} of {counted(count, 'cluster')}, the largest first."
    said = all_of if len(clusters) < count else f"{counted(count, 'cluster')}, the largest first."
    steps = Budget(PAGE_STEPS)
    shown = "\n".join(_cluster(at, cluster, steps) for at, cluster in enumerate(clusters))
    return (
        f'<section>\n<h2>Clusters</h2>\n<p class="note">{said} Each member is shown beside the '
        "representative of its cluster: <del>struck out</del> is only in the representative, "
        "<ins>underlined</ins> only in the member. Differences of spacing are not marked.</p>\n"
        f"{shown}\n</section>"
    )


def _cluster(at: int, cluster: ShownCluster, steps: Budget) -> str:
    opened = " open" if at < OPENED else ""
    name = foreign(cluster.members[0].id) if cluster.members else ""
    return (
        f'<details class="cluster"{opened}>\n<summary><h3>{name}</h3> '
        f'<span class="facts">{counted(cluster.size, "record")}</span></summary>\n'
        f"{''.join(_members(cluster, steps))}</details>"
    )


def _members(cluster: ShownCluster, steps: Budget) -> Iterator[str]:
    if cluster.weakest is not None:
        yield (
            f'<p class="note">The weakest link has similarity {cosine(cluster.weakest)}: members '
            "are joined through others and may be far from the representative.</p>\n"
        )
    if len(cluster.members) < cluster.size:
        yield (
            f'<p class="note">Showing {number(len(cluster.members))} of '
            f"{counted(cluster.size, 'record')}.</p>\n"
        )
    if not cluster.members:
        return
    first, *others = (_cut(member) for member in cluster.members)
    if not others:
        yield f'<div class="pair">{_side(first, block(first.text))}</div>\n'
    for member in others:
        yield _pair(first, member, steps)


def _cut(member: Shown) -> Shown:
    text = member.text[:SHOWN_CHARACTERS]
    # The length is the caller's word; what we hold in hand is at least as long.
    length = max(member.length, len(member.text))
    return Shown(
        member.id, text, length, member.distance, member.similarity, member.is_representative
    )


def _pair(first: Shown, member: Shown, steps: Budget) -> str:
    if first.text == member.text:
        alike = "The same text" if _is_whole(first) and _is_whole(member) else "The same beginning"
        right = _side(member, "", note=f"{alike}, character by character.")
        return _sides(_side(first, _whole(first.text)), right, "")
    found = differences(first.text, member.text, steps)
    stretches = _without_cut_ends(found.stretches, first, member)
    left = "".join(_marked(each.left, each.same, "del") for each in stretches)
    right = "".join(_marked(each.right, each.same, "ins") for each in stretches)
    return _sides(_side(first, left), _side(member, right), _said(found))


def _sides(left: str, right: str, said: str) -> str:
    note = f'<p class="note">{said}</p>' if said else ""
    return f'<div class="pair">{note}<div class="sides">{left}{right}</div></div>\n'


def _said(found: Differences) -> str:
    if found.coarse:
        return "Differences are marked coarsely, to save time: more may be marked than differs."
    if all(stretch.same for stretch in found.stretches):
        return "The texts differ in spacing only."
    return ""


def _is_whole(member: Shown) -> bool:
    return len(member.text) == member.length


def _without_cut_ends(
    stretches: Sequence[Stretch], first: Shown, member: Shown
) -> Sequence[Stretch]:
    """What one text has left after the other was cut is no difference that we know of."""
    if not stretches or stretches[-1].same:
        return stretches
    last = stretches[-1]
    beyond_left = not last.right.strip() and not _is_whole(member)
    beyond_right = not last.left.strip() and not _is_whole(first)
    if beyond_left or beyond_right:
        return [*stretches[:-1], last._replace(same=True)]
    return stretches


def _marked(text: str, same: bool, tag: str) -> str:
    if same:
        return _whole(text)
    words = text.rstrip()
    if not words:
        return block(text)
    return f"<{tag}>{block(words)}</{tag}>{block(text[len(words) :])}"


def _whole(text: str) -> str:
    """A stretch without differences, its middle left out if it is long."""
    if len(text) <= SAME_CHARACTERS:
        return block(text)
    begin = _space(text, range(ENDS_CHARACTERS, ENDS_CHARACTERS + WORD_CHARACTERS))
    end = _space(
        text, range(len(text) - ENDS_CHARACTERS, len(text) - ENDS_CHARACTERS + WORD_CHARACTERS)
    )
    return (
        f"{block(text[:begin].rstrip())}"
        f'<span class="skip">… {number(end - begin)} characters without differences …</span>'
        f"{block(text[end:].lstrip())}"
    )


def _space(text: str, places: range) -> int:
    """Where to cut without cutting a word: the first space there, or else the first place."""
    return next((at for at in places if text[at].isspace()), places[0])


def _side(member: Shown, text: str, *, note: str = "") -> str:
    notes = [note] if note else []
    if text and not _is_whole(member):
        notes.append(
            f"Showing the first {number(len(member.text))} of "
            f"{counted(member.length, 'character')}."
        )
    shown = f'<div class="text" dir="auto" lang="">{text}</div>' if text else ""
    said = "".join(f'<p class="note">{each}</p>' for each in notes)
    if not shown and not said:
        said = '<p class="note">An empty text.</p>'
    return (
        f'<div class="side"><div class="head">{foreign(member.id, css="id")}'
        f'<span class="facts">{_facts(member)}</span></div>{shown}{said}</div>'
    )


def _facts(member: Shown) -> str:
    facts = ["representative"] if member.is_representative else []
    if not member.is_representative:
        if member.distance is None:
            facts.append("no fingerprint")
        else:
            facts.append(f"distance {counted(member.distance, 'bit')}")
        if member.similarity is not None:
            facts.append(f"similarity {cosine(member.similarity)}")
    return " · ".join([*facts, counted(member.length, "character")])
