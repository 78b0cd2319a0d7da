"""Templates by the book: the fields of texts made from one form, for texts of words and spaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Words = tuple[str, ...]


def fields_of(texts: Sequence[str]) -> list[list[str]] | None:
    """Return the values of the fields of each text; None if the texts, the first of which
    represents them, are no template."""
    members = list(dict.fromkeys(tuple(text.split()) for text in texts))
    count = len(members)
    if count < 4:
        return None
    partners = [align(members[0], member) for member in members]
    shared = [sum(at in found for found in partners) for at in range(len(members[0]))]
    frequent = [at for at, n in enumerate(shared) if n / count >= 0.8 - 1e-9]
    frame = tuple(members[0][at] for at in frequent)
    if len(frame) < len(members[0]) / 3:
        return None
    places = {
        member: {at: found[place] for at, place in enumerate(frequent) if place in found}
        for member, found in zip(members, partners, strict=True)
    }
    inside = outside = varied = 0
    fields, pairs = [], []
    for at in range(len(frame) + 1):
        values = [_slot(member, places[member], at, len(frame)) for member in members]
        known = [value for value in values if value is not None]
        counts = Counter(known)
        differing = len(known) - max(counts.values(), default=0)
        is_field = (
            differing >= 0.3 * count - 1e-9
            and counts[()] <= 0.1 * count + 1e-9
            and sum(len(value) > 10 for value in known) <= 0.1 * len(known) + 1e-9
        )
        if is_field:
            fields.append(at)
            inside += differing
            varied += len(counts) >= 3
            pairs += [values] if len(counts) < 3 else []
        else:
            outside += differing
    for found in places.values():
        missing = [at not in found for at in range(len(frame))]
        outside += sum(gone and not before for gone, before in zip(missing, [False, *missing]))  # noqa: B905
    combinations = {each for each in zip(*pairs, strict=True) if None not in each}
    free = varied >= len(pairs) or len(combinations) > len(pairs) + 1
    if not varied or not free or inside < 0.75 * (inside + outside) - 1e-9:
        return None
    return [[_around(tuple(text.split()), frame, at) for at in fields] for text in texts]


def _slot(member: Words, places: dict[int, int], at: int, size: int) -> Words | None:
    if (at and at - 1 not in places) or (at < size and at not in places):
        return None
    return member[places[at - 1] + 1 if at else 0 : places[at] if at < size else None]


def _around(member: Words, frame: Words, at: int) -> str:
    places = align(frame, member)
    before = max((places[each] + 1 for each in range(at) if each in places), default=0)
    after = min(
        (places[each] for each in range(at, len(frame)) if each in places), default=len(member)
    )
    return " ".join(member[before:after])


def align(left: Words, right: Words) -> dict[int, int]:
    """Return the pairs of a longest common subsequence; what both begin and end with is paired."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    pairs = {at: at for at in range(start)}
    pairs |= {len(left) - at: len(right) - at for at in range(1, end + 1)}
    a, b = left[start : len(left) - end], right[start : len(right) - end]
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, word in enumerate(a):
        for j, other in enumerate(b):
            longer = max(lengths[i][j + 1], lengths[i + 1][j])
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if word == other else longer
    i, j = len(a), len(b)
    while i and j:
        if lengths[i][j] == lengths[i - 1][j]:
            i -= 1
        elif lengths[i][j - 1] > lengths[i - 1][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs[start + i] = start + j
    return pairs
