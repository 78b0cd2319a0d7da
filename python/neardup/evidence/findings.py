"""What a check for copying finds: how much of each document is elsewhere too, and where.

Shares are of words; where a script has no spaces a character counts as a word. `Figures` has the
same by characters, which is what Chinese checkers state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from neardup.passages import Passage

# Why a stretch does not count.
Rule = Literal["template", "quotation", "references", "common", "own"]


@dataclass(frozen=True, slots=True)
class Ignored:
    """A stretch of the document that does not count, as character positions, and why."""

    start: int
    end: int
    rule: Rule


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares of a document that are in its sources as well, 0 to 1.

    share     all sources together; what several have counts once
    unquoted  the same without quotations and lists of references
    largest   by the largest single source
    """

    share: float
    unquoted: float
    largest: float


@dataclass(frozen=True)
class Source:
    """A document that the checked one shares passages with.

    share       of the checked document, by this source alone
    own_share   of the source
    words       the words of the checked document that it has
    longest     words of the longest passage
    similarity  exact cosine of the two
    passages    left is the checked document, right the source; in the order of the left
    """

    id: str
    text: str
    share: float
    own_share: float
    words: int
    longest: int
    similarity: float
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Finding:
    """A checked document, its figures and its sources, the largest first.

    words       how many words count
    characters  how many characters count
    figures     by words
    by_characters  by characters
    """

    id: str
    text: str
    words: int
    characters: int
    figures: Figures
    by_characters: Figures
    sources: tuple[Source, ...]
    ignored: tuple[Ignored, ...] = ()


@dataclass(frozen=True)
class Copying:
    """What a check found.

    findings  a finding for each document, in the order they came
    among     whether the documents were compared with each other
    settings  what was asked for, by name
    """

    findings: tuple[Finding, ...]
    among: bool
    settings: dict[str, object]
