"""What a job on captures of HTTP responses is asked, and by what responses are grouped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from neardup.files.reading import captures_of
from neardup.files.reading.batch import DEFAULT_TEXT
from neardup.files.reading.formats import is_capture_format
from neardup.http.columns import RESPONSE_COLUMNS
from neardup.http.labels import Labels
from neardup.jobs.options import Options
from neardup.jobs.reference import HTTP, is_collection
from neardup.text.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    from neardup.files.reading import Batch, Reading, Unreadable
    from neardup.text.views import Viewing

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


def settled(options: Options, inputs: Sequence[str], note: Callable[[str], object]) -> Options:
    """The same, with `Reading.viewing` where the recipe or the names of inputs tell captures.

    A recipe for HTTP also takes texts that are views already; `Reading` has to say that they are
    texts, by a format, by columns or by lines.
    """
    reading = options.reading
    recipe = None if options.recipe is None else as_recipe(options.recipe)
    if reading.viewing is None and recipe is not None and recipe.tokens == HTTP:
        if reading.lines or reading.text_columns != DEFAULT_TEXT or _is_of_texts(reading.format):
            return options
        return replace(options, reading=replace(reading, viewing=recipe.viewing()))
    found = viewed(reading, [*inputs, *options.against], as_recipe(PRESET), note)
    if found is not reading and recipe is not None:
        raise ValueError(
            f"the inputs are captures of HTTP responses, and the recipe, {recipe.identity}, is for "
            f'texts; use recipe="{PRESET}", or leave it out'
        )
    return options if found is reading else replace(options, reading=found)


def viewed(
    reading: Reading, inputs: Sequence[str], recipe: Recipe, note: Callable[[str], object]
) -> Reading:
    """The same, or with what the recipe makes of responses, if the inputs are captures by their
    names or their format; `note` is told."""
    if reading.viewing is not None:
        return reading
    files = [name for name in inputs if not is_collection(name)]
    captures, texts = captures_of(files, reading)
    if not captures:
        return reading
    if texts:
        raise ValueError(
            f"{captures[0]} is a capture of HTTP responses, and {texts[0]} is none by its name; "
            'run once for each, or say that all are captures: --as http, or in Python recipe="http"'
        )
    if reading.format is None:
        more = f" and {len(captures) - 1:,} more are captures" if captures[1:] else " is a capture"
        note(f"{captures[0]}{more} of HTTP responses, and read as such")
    return replace(reading, viewing=recipe.viewing())


def _is_of_texts(format_: str | None) -> bool:
    return format_ is not None and not is_capture_format(format_)


def viewing_of(options: Options, recipe: Recipe) -> Viewing | None:
    """What of responses is compared; None if the inputs are texts."""
    asked = options.reading.viewing
    if asked is None:
        for name in ("within", "kinds", "labels"):
            if value := getattr(options, name):
                shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
                raise ValueError(
                    f"{name} is {str(shown)!r}, which is for captures of HTTP responses; say that "
                    'the inputs are some: --as http, or in Python recipe="http"'
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
    """The rules for labels; wrong ones are told before anything is read.

    There are none where nothing is written that has labels: to load them takes a while.
    """
    for name in ("kinds", "labels"):
        if getattr(options, name) and job != "cluster":
            raise ValueError(f"{name} is for cluster, and this is {job}; leave it out")
    if options.labels and options.kinds is None and options.report is None:
        raise ValueError(
            f"labels is {str(options.labels[0])!r}, but nothing is written that has labels; name a "
            "file for the kinds: --kinds FILE"
        )
    if options.reading.viewing is None or job != "cluster":
        return Labels(())
    if options.kinds is None and options.report is None:
        return Labels(())
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
    first = [name for name in RESPONSE_COLUMNS if name in found]
    return [*first, *sorted(found.keys() - set(first))] or ["none: the responses tell nothing"]


def _pass_by(problem: Unreadable) -> None:
    """It was reported when it was read."""
