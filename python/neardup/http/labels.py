"""Labels of responses, by the rules of labels.toml and of the user.

A rule is a table of conditions; the first rule whose conditions all hold gives the label.
Patterns are matched by RE2 (through Arrow), in linear time for any pattern.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from neardup._util.arrow import array_values, number_array, string_array
from neardup._util.settings_file import read_settings
from neardup.text.views import view_lines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BUILTIN_RULES = Path(__file__).with_name("labels.toml")
# Patterns are matched against this much text: error pages and the like are short.
MAX_TEXT_CHARS = 4000
# Conditions that are patterns, each on a field of `RuleInput`.
PATTERNS = ("title", "server", "headers", "tags", "keys", "text")
STATUS_CLASSES = {f"{digit}xx": range(100 * digit, 100 * digit + 100) for digit in range(1, 6)}


class RuleInput(NamedTuple):
    """The parts of a response that conditions of rules are tested on.

    headers     a line each, "name: value"; a masked value is empty
    tags, keys  of the view, each on one line
    text        the visible text, a block a line, its first MAX_TEXT_CHARS characters
    length      of all the visible text, in characters
    body        its kind: "html", "json", "text", "empty", or a media type such as "image/png"
    """

    status: int = 0
    title: str = ""
    server: str = ""
    headers: str = ""
    tags: str = ""
    keys: str = ""
    text: str = ""
    length: int = 0
    body: str = ""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule: its name, its label, and conditions that must all hold.

    why      a sentence that explains the label
    status   any of these numbers, or classes such as "4xx"
    body     any of these kinds of body; "image/" is every kind of image
    longest  maximum number of characters of visible text
    title, server, headers, tags, keys, text   an RE2 pattern that must match there, in any case; ^
             and $ match at line ends
    without  patterns by the same names that must not match

    is_tested  True skips the check of the patterns, since compiling them all takes a while
    """

    name: str
    label: str
    why: str = ""
    status: Sequence[int | str] = ()
    body: Sequence[str] = ()
    longest: int | None = None
    title: str | None = None
    server: str | None = None
    headers: str | None = None
    tags: str | None = None
    keys: str | None = None
    text: str | None = None
    without: dict[str, str] = field(default_factory=dict)
    is_tested: InitVar[bool] = False

    def __post_init__(self, is_tested: bool) -> None:
        for name in ("name", "label"):
            if not isinstance(value := getattr(self, name), str) or not value.strip():
                raise ValueError(f"{name} is {value!r}; it must be one or more words")
        if not isinstance(self.why, str):
            raise ValueError(f"why is {self.why!r}; it must be a sentence")
        for name in ("status", "body"):
            value = getattr(self, name)
            object.__setattr__(self, name, tuple(value) if isinstance(value, list) else value)
            if not isinstance(getattr(self, name), tuple):
                raise ValueError(f"{name} is {value!r}; it must be a list")
        for part in self.status:
            whole = isinstance(part, int) and not isinstance(part, bool)
            if not (whole and 0 <= int(part) <= 999) and part not in STATUS_CLASSES:
                raise ValueError(
                    f"status has {part!r}; it must be numbers from 0 to 999, or "
                    f"{', '.join(STATUS_CLASSES)}"
                )
        for part in self.body:
            if not isinstance(part, str) or not part:
                raise ValueError(f'body has {part!r}; it must be kinds such as "html" or "image/"')
        if self.longest is not None and (type(self.longest) is not int or self.longest < 0):
            raise ValueError(f"longest is {self.longest!r}; it must be a number of characters")
        if not isinstance(self.without, dict) or set(self.without) - set(PATTERNS):
            raise ValueError(
                f"without is {self.without!r}; it must be a table of patterns for "
                f"{', '.join(PATTERNS)}"
            )
        if not is_tested:
            for name, pattern in (*self.patterns, *self.without.items()):
                _check_pattern(name, pattern)
        if not (self.status or self.body or self.patterns or self.longest is not None):
            raise ValueError("has no condition other than without; it would label everything")

    @property
    def patterns(self) -> list[tuple[str, str]]:
        """The patterns that must match, by the name of the field."""
        found = ((name, getattr(self, name)) for name in PATTERNS)
        return [(name, pattern) for name, pattern in found if pattern is not None]


CONDITIONS = tuple(each.name for each in fields(Rule))


def _check_pattern(name: str, pattern: object) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(pattern, str) or not pattern:
        raise ValueError(f"{name} is {pattern!r}; it must be a pattern")
    try:
        pc.match_substring_regex(string_array([""]), f"(?m){pattern}", ignore_case=True)
    except pa.ArrowInvalid as error:
        why = str(error).removeprefix("Invalid regular expression: ").replace("(?m)", "")
        raise ValueError(f"{name} is not a valid RE2 pattern: {why}") from None


class Labels:
    """Rules in order; the first that matches gives the label."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        names = [rule.name for rule in self.rules]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two rules are named {name!r}; names must be unique")

    @classmethod
    def load(cls, *paths: str | os.PathLike[str]) -> Self:
        """Load the rules of files, in this order, and after them the built-in ones.

        A rule of a file replaces the built-in rule of the same name.
        """
        own = [rule for path in paths for rule in read_rules(path)]
        names = {rule.name for rule in own}
        return cls([*own, *(rule for rule in _builtin_rules() if rule.name not in names)])

    def find(self, inputs: Sequence[RuleInput]) -> NDArray[np.int32]:
        """Return for each response the index of its rule in `rules`; -1 if no rule matches."""
        import numpy as np

        found = np.full(len(inputs), -1, dtype=np.int32)
        if not inputs:
            return found
        columns = dict(zip(RuleInput._fields, map(list, zip(*inputs, strict=True)), strict=True))
        arrays = {name: string_array(columns[name]) for name in PATTERNS}
        status = np.array(columns["status"], dtype=np.int64)
        length = np.array(columns["length"], dtype=np.int64)
        bodies = columns["body"]
        for number, rule in enumerate(self.rules):
            # Cheap conditions first; patterns are matched only against the remaining responses.
            left = found < 0
            if rule.status:
                left &= np.isin(status, _status_numbers(rule.status))
            if rule.longest is not None:
                left &= length <= rule.longest
            rows = np.flatnonzero(left)
            if rule.body:
                rows = rows[[_is_body_kind(bodies[row], rule.body) for row in rows.tolist()]]
            for wanted, patterns in ((True, rule.patterns), (False, rule.without.items())):
                for name, pattern in patterns:
                    if len(rows):
                        rows = rows[_matches(arrays[name], rows, pattern) == wanted]
            found[rows] = number
        return found

    def label(self, response: RuleInput) -> Rule | None:
        """Return the rule for one response; None if no rule matches."""
        number = int(self.find([response])[0])
        return None if number < 0 else self.rules[number]


def _matches(column: Any, rows: NDArray[np.int64], pattern: str) -> NDArray[np.bool_]:
    import pyarrow as pa
    import pyarrow.compute as pc

    selected = column.take(number_array(rows))
    matched = pc.match_substring_regex(selected, f"(?m){pattern}", ignore_case=True)
    mask: NDArray[np.bool_] = array_values(matched.cast(pa.uint8())) == 1
    return mask


@cache
def _status_numbers(wanted: tuple[int | str, ...]) -> list[int]:
    return [
        number
        for part in wanted
        for number in (STATUS_CLASSES[part] if isinstance(part, str) else (part,))
    ]


def _is_body_kind(body: str, wanted: Sequence[str]) -> bool:
    return any(body == kind or (kind.endswith("/") and body.startswith(kind)) for kind in wanted)


def read_rules(path: str | os.PathLike[str], *, are_tested: bool = False) -> list[Rule]:
    """Read the rules of a TOML file; an error names the rule."""
    import tomllib

    try:
        content = tomllib.loads(read_settings(path, "labels").decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{os.fspath(path)}: not TOML: {error}") from None
    tables = content.pop("rule", [])
    if content or not isinstance(tables, list):
        what = repr(next(iter(content))) if content else "'rule', which is not a list of tables"
        raise ValueError(f"{os.fspath(path)}: has {what}; write each rule as [[rule]]")
    return [_parse_rule(path, number, table, are_tested) for number, table in enumerate(tables, 1)]


def _parse_rule(path: str | os.PathLike[str], number: int, table: Any, is_tested: bool) -> Rule:
    place = f"{os.fspath(path)}: rule {number}"
    if not isinstance(table, dict):
        raise ValueError(f"{place} is not a table; write it as [[rule]]")
    if isinstance(name := table.get("name"), str):
        place += f" ({name})"
    for required in ("name", "label"):
        if required not in table:
            raise ValueError(f"{place} has no {required}")
    for name in table:
        if name not in CONDITIONS:
            raise ValueError(f"{place} has {name!r}; it may have {', '.join(CONDITIONS)}")
    try:
        return Rule(**table, is_tested=is_tested)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


@cache
def _builtin_rules() -> tuple[Rule, ...]:
    return tuple(read_rules(BUILTIN_RULES, are_tested=True))


def rule_input(
    view: str, *, status: int = 0, title: str = "", server: str = "", content_type: str = ""
) -> RuleInput:
    """Return the input of the rules, from a view and the columns that a view may lack."""
    parts: dict[str, list[str]] = {name: [] for name in ("header", "tags", "keys", "text", "body")}
    for name, value in view_lines(view):
        if name in parts:
            parts[name].append(value)
    text = "\n".join(parts["text"])
    headers = (value.partition(" ") for value in parts["header"])
    return RuleInput(
        status,
        title,
        server,
        "\n".join(f"{name}: {value}" for name, _, value in headers),
        " ".join(parts["tags"]),
        " ".join(parts["keys"]),
        text[:MAX_TEXT_CHARS],
        len(text),
        _body_kind(parts, content_type),
    )


def _body_kind(parts: dict[str, list[str]], content_type: str) -> str:
    """Return the kind of the body, by the view, or else by the media type."""
    for name, kind in (("tags", "html"), ("keys", "json")):
        if parts[name]:
            return kind
    media = content_type.partition(";")[0].strip().lower()
    if parts["body"]:  # also the type of a body that the capture does not hold
        media = parts["body"][0].partition(" ")[0]
    if "html" in media:
        return "html"
    if media.endswith("json"):
        return "json"
    if parts["text"] or media.startswith("text/"):
        return "text"
    return media
