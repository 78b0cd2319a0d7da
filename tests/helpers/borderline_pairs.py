"""Pairs of texts whose cosine is just above a threshold, where near-duplicates are missed.

Ten kinds of texts and ten kinds of edits. An edit is tried at random strengths until the cosine is
within .02 above the similarity. benchmarks/threshold_recall.py uses them on real texts.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import neardup as nd

EDGE = 0.02
# Strengths tried for one text and one edit.
TRIES = 12

Text = list[str]
Edit = Callable[[Text, Sequence[Text], float, random.Random], Text]


def edited(text: Text, pool: Sequence[Text], strength: float, rng: random.Random) -> Text:
    """Delete, replace or insert words at random."""
    foreign, made = rng.choice(pool), []
    for word in text:
        if (draw := rng.random()) < strength / 3:
            continue
        made.append(rng.choice(foreign) if draw < 2 * strength / 3 else word)
        if rng.random() < strength / 3:
            made.append(rng.choice(foreign))
    return made


def inserted(text: Text, pool: Sequence[Text], strength: float, rng: random.Random) -> Text:
    """Insert a run of foreign words."""
    at, foreign = rng.randrange(len(text)), rng.choice(pool)
    run = [rng.choice(foreign) for _ in range(_size(text, strength))]
    return text[:at] + run + text[at:]


def dropped(text: Text, _: Sequence[Text], strength: float, rng: random.Random) -> Text:
    """Delete a run of words."""
    at = rng.randrange(len(text))
    return text[:at] + text[at + _size(text, strength) :]


def repeated(text: Text, _: Sequence[Text], strength: float, rng: random.Random) -> Text:
    """Repeat a run up to six times."""
    at = rng.randrange(len(text))
    return text + text[at : at + _size(text, strength)] * rng.randint(1, 6)


def edited_and_repeated(
    text: Text, pool: Sequence[Text], strength: float, rng: random.Random
) -> Text:
    made = edited(text, pool, strength / 2, rng)
    return repeated(made, pool, strength / 2, rng) if made else made


def multiplied(text: Text, pool: Sequence[Text], strength: float, rng: random.Random) -> Text:
    """Edit, and repeat a run of a tenth to a half up to sixty times."""
    times, share = round(60 ** rng.random()), rng.uniform(0.1, 0.5)
    return run_times(share, times)(text, pool, strength, rng)


def run_times(share: float, times: int) -> Edit:
    """Return an edit that also repeats a run of this share of the text so many times."""

    def edit(text: Text, pool: Sequence[Text], strength: float, rng: random.Random) -> Text:
        made = edited(text, pool, strength, rng)
        size = _size(made, share)
        at = rng.randrange(max(1, len(made) - size))
        return made + made[at : at + size] * times

    return edit


def types_replaced(text: Text, pool: Sequence[Text], strength: float, rng: random.Random) -> Text:
    """Replace some words wherever they occur."""
    chosen = _types(text, strength, rng)
    others = dict(zip(chosen, (rng.choice(rng.choice(pool)) for _ in chosen), strict=True))
    return [others.get(word, word) for word in text]


def types_deleted(text: Text, _: Sequence[Text], strength: float, rng: random.Random) -> Text:
    chosen = set(_types(text, strength, rng))
    return [word for word in text if word not in chosen]


def one_added(text: Text, pool: Sequence[Text], strength: float, rng: random.Random) -> Text:
    """Add one word many times, of the text or a foreign one."""
    word = rng.choice(text if rng.random() < 0.5 else rng.choice(pool))
    return text + [word] * max(1, round(10 ** (3 * strength)))


def run_replaced(text: Text, pool: Sequence[Text], strength: float, rng: random.Random) -> Text:
    """Replace a run by one of another text."""
    at, size = rng.randrange(len(text)), _size(text, strength)
    return text[:at] + list(rng.choice(pool)[:size]) + text[at + size :]


def _size(text: Text, strength: float) -> int:
    return max(1, round(strength * len(text)))


def _types(text: Text, strength: float, rng: random.Random) -> list[str]:
    types = sorted(set(text))
    return rng.sample(types, min(len(types) - 1, max(1, round(strength * len(types)))))


EDITS: dict[str, Edit] = {
    "edited": edited,
    "inserted": inserted,
    "dropped": dropped,
    "repeated": repeated,
    "edited and repeated": edited_and_repeated,
    "a run many times": multiplied,
    "types replaced": types_replaced,
    "types deleted": types_deleted,
    "one added": one_added,
    "run replaced": run_replaced,
}


@dataclass(frozen=True)
class Kind:
    """Texts of one kind: a generator, a pool of foreign words, and the separator of words."""

    draw: Callable[[random.Random], Text]
    pool: Sequence[Text]
    joint: str = " "


def word(rng: random.Random, low: int = 5, high: int = 9) -> str:
    return "".join(rng.choice(string.ascii_lowercase) for _ in range(rng.randint(low, high)))


def equal_weights(rng: random.Random) -> Text:
    """Return 14 words of 5 to 9 letters: an even number of equal weights."""
    return [word(rng) for _ in range(14)]


def one_function_word(rng: random.Random) -> Text:
    """Return four words and a short one."""
    return [*(word(rng) for _ in range(4)), rng.choice(("a", "of", "the", "is", "to"))]


def heavy(text: Text, rng: random.Random) -> Text:
    """Repeat one word of the text many times."""
    return text + [rng.choice(text)] * rng.choice((5, 10, 30, 100, 300))


TEMPLATE = [
    *("dear", "customer", "your", "order", "number", "has", "been", "shipped", "from", "our"),
    *("warehouse", "and", "will", "arrive", "at", "your", "address", "before", "the", "date"),
    *("below", "thank", "you", "for", "shopping", "with", "our", "company", "please", "contact"),
    *("the", "support", "team", "when", "questions", "remain"),
]


def template(rng: random.Random) -> Text:
    """Return a form letter with random fields."""
    return TEMPLATE[: rng.randint(8, len(TEMPLATE))] + [word(rng) for _ in range(rng.randint(2, 8))]


def pairs(
    kind: Kind, edit: Edit, similarity: float, count: int, rng: random.Random, recipe: nd.Recipe
) -> Iterator[tuple[str, str]]:
    """Yield up to `count` borderline pairs; fewer where an edit rarely gives one."""
    found, drawn = 0, 0
    while found < count and drawn < 40 * count:
        drawn += 1
        text = kind.draw(rng)
        if len(text) < 4:
            continue
        left = kind.joint.join(text)
        for _ in range(TRIES):
            right = kind.joint.join(edit(text, kind.pool, rng.random() ** 2, rng))
            cosine = recipe.pipeline.similarity(left, right)
            signal = recipe.pipeline.fingerprint(right) is not None
            if signal and similarity <= cosine < min(similarity + EDGE, 1):
                found += 1
                yield left, right
                break
