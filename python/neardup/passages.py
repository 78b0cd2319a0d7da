"""Passages that two texts share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch both texts have, as character positions: left[left_start:left_end] and so on.

    words  how many words it has; a character counts as one where a script has no spaces
    exact  whether both are the same word for word
    """

    left_start: int
    left_end: int
    right_start: int
    right_end: int
    words: int
    exact: bool
