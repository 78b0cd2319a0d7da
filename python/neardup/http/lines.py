"""The lines of a view: what each is called, and what it says."""

from __future__ import annotations

from collections.abc import Iterator

# In the order of a view. A line of another name counts as text.
NAMES = ("within", "status", "header", "title", "tags", "keys", "text", "body")


def lines_of(view: str) -> Iterator[tuple[str, str]]:
    """Name and value of each line."""
    for line in view.split("\n"):
        name, _, value = line.partition(" ")
        if name in NAMES:
            yield name, value
        elif line:
            yield "text", line


def prose_of(view: str) -> str:
    """What a person reads of a response: its title and its text, without the names of lines."""
    return "\n".join(value for name, value in lines_of(view) if name in ("title", "text"))
