"""What a job on captures of HTTP responses is asked, and by what responses are grouped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from neardup.http.labels import Labels
from neardup.jobs.options import Options
from neardup.recipe import Recipe, as_recipe
from neardup.sources.batch import FACTS

if TYPE_CHECKING:
    from neardup.messages.response import Viewing
    from neardup.sources import Batch, Unreadable

PRESET = "http"
# Facts that are known only after a response was read.
UNGROUPED = ("title", "length")
# Responses of a file that are looked at to say which columns there are.
LOOKED_AT = 1000
# Names of columns in a message.
SHOWN = 40


def recipe_of(options: Options) -> Recipe:
    """The recipe asked for; captures have another default than texts."""
    if options.recipe is None and options.reading.viewing is not None:
        return as_recipe(PRESET)
    return as_recipe(options.recipe)


def viewing_of(options: Options, recipe: Recipe) -> Viewing | None:
    """What of responses is compared; None if the inputs are texts."""
    asked = options.reading.viewing
    if asked is None:
        for name in ("within", "kinds", "labels"):
            if value := getattr(options, name):
                shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
                raise ValueError(
                    f"{name} is {str(shown)!r}, which is for captures of HTTP responses; say that "
                    "the inputs are some: --as http"
                )
        return None
    if options.within == "":
        raise ValueError(
            "within is empty; name what responses must share: host, ip, status, or a column"
        )
    within = options.within or asked.within
    if within in UNGROUPED:
        raise ValueError(
            f"within is {within!r}, by which responses are not grouped; use host, ip, status, "
            "server, content_type, url, or a column of the capture"
        )
    found = recipe.viewing(within)
    if found[:2] != asked[:2]:
        raise ValueError(
            "the views and masks of reading are not those of the recipe; "
            "use Reading(viewing=recipe.viewing())"
        )
    return found


def labels_of(job: str, options: Options) -> Labels:
    """The rules for labels; wrong ones are told before anything is read."""
    for name in ("kinds", "labels"):
        if getattr(options, name) and job != "cluster":
            raise ValueError(f"{name} is for cluster, and this is {job}; leave it out")
    if options.labels and options.kinds is None and options.report is None:
        raise ValueError(
            f"labels is {str(options.labels[0])!r}, but nothing is written that has labels; name a "
            "file for the kinds: --kinds FILE"
        )
    try:
        return Labels.load(*options.labels)
    except OSError as error:
        raise ValueError(f"labels: {error.filename}: {error.strerror}") from error


class Groups:
    """Notices whether any response has what responses are grouped by."""

    def __init__(self, viewing: Viewing | None) -> None:
        self.within = None if viewing is None else viewing.within
        self._is_there = False
        self._is_any = False

    def check_against(self, collections: Sequence[str]) -> None:
        """Refuses to compare groups with documents that are in none."""
        if self.within is not None and collections:
            raise ValueError(
                f"within is {self.within!r}, and {collections[0]} is a collection, whose documents "
                "are in no groups; name the captures it was made of, or leave within out"
            )

    def see(self, batch: Batch) -> None:
        if self.within is None or self._is_there or batch.facts is None:
            return
        self._is_any = True
        if self.within in batch.facts.schema.names:
            values = batch.facts.column(self.within).unique().to_pylist()
            self._is_there = any(value not in (None, "", 0) for value in values)

    def check(self, files: Sequence[str]) -> None:
        """Refuses to group by what no response has."""
        if self._is_any and not self._is_there:
            there = _columns_of(files)
            shown = ", ".join(there[:SHOWN]) + (", …" if len(there) > SHOWN else "")
            raise ValueError(
                f"within is {self.within!r}, and no response has it; there are {shown}"
            )


def _columns_of(files: Iterable[str]) -> list[str]:
    """What the first responses of files can be grouped by."""
    from neardup.http import responses

    found: dict[str, None] = {}
    for path in files:
        if path == "-":
            continue
        for response in islice(responses(path, report=_pass_by), LOOKED_AT):
            known = {
                "url": response.url,
                "host": response.host,
                "ip": response.ip,
                "status": response.status,
                "server": response.header("server"),
                "content_type": response.header("content-type"),
            }
            found |= {name: None for name, value in known.items() if value}
            found |= dict.fromkeys(name for name, value in response.extra.items() if value)
    for name in UNGROUPED:
        found.pop(name, None)
    first = [name for name in FACTS if name in found]
    return [*first, *sorted(found.keys() - set(first))] or ["none: the responses tell nothing"]


def _pass_by(problem: Unreadable) -> None:
    """It was reported when it was read."""
