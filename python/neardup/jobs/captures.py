"""Jobs on captures of HTTP responses: their options, and the groups responses are compared in.

A job on texts uses only the checks at the top; nothing of `neardup.http` runs for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import neardup.http.captures  # registers the formats of captures
from neardup.files.reading.batch import DEFAULT_TEXT
from neardup.files.reading.formats import is_capture_format
from neardup.files.reading.inputs import captures_of, is_collection
from neardup.jobs.options import Options
from neardup.jobs.reference import HTTP
from neardup.text.recipe import Recipe, as_recipe

if TYPE_CHECKING:
    from neardup.files.reading.batch import Batch, Reading, Unreadable
    from neardup.http.labels import Labels
    from neardup.text.views import Viewing

PRESET = "http"
# Columns that are known only after a response was read.
UNGROUPED = ("title", "length")
# Responses of a file that are searched for columns to suggest, and columns in the message.
MAX_SEARCHED = 1000
MAX_SUGGESTED = 40


@dataclass(frozen=True, eq=False)
class JobTexts:
    """How the texts of a job are made and compared.

    reading  of the inputs
    recipe   captures have another default than texts
    viewing  captures: the views to compare; None for texts
    groups   captures: the groups that responses are compared in
    labels   captures: rules for labels; None if no output has labels
    """

    reading: Reading
    recipe: Recipe
    viewing: Viewing | None = None
    groups: Groups | None = None
    labels: Labels | None = None


def texts_of_job(
    job: str, options: Options, inputs: Sequence[str], note: Callable[[str], object]
) -> JobTexts:
    """Check the recipe and the options for captures; the inputs decide whether they apply."""
    reading = _reading_of_job(options, inputs, note)
    is_capture = reading.viewing is not None
    default = PRESET if is_capture else None
    recipe = as_recipe(default if options.recipe is None else options.recipe)
    for name in ("within", "kinds", "labels"):
        if (value := getattr(options, name)) and not is_capture:
            shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
            raise ValueError(
                f"{name} is {str(shown)!r}, which is for captures of HTTP responses; if the "
                'inputs are captures, add --as http, or in Python recipe="http"'
            )
        if value and name != "within" and job != "cluster":
            raise ValueError(f"{name} is for cluster, and this is {job}; leave it out")
    if reading.viewing is None:
        return JobTexts(reading, recipe)
    viewing = _viewing(options, reading.viewing, recipe)
    groups = None if viewing.within is None else Groups(viewing.within)
    return JobTexts(reading, recipe, viewing, groups, _labels(job, options))


def _reading_of_job(
    options: Options, inputs: Sequence[str], note: Callable[[str], object]
) -> Reading:
    """Return the reading with `viewing` set if the inputs are captures.

    A recipe for HTTP says so, unless `Reading` says that the inputs are texts (views, written
    before) by a format, by columns or by lines. The names of inputs say so, too.
    """
    reading = options.reading
    recipe = None if options.recipe is None else as_recipe(options.recipe)
    if reading.viewing is None and recipe is not None and recipe.tokens == HTTP:
        is_text = reading.format is not None and not is_capture_format(reading.format)
        if is_text or reading.lines or reading.text_columns != DEFAULT_TEXT:
            return reading
        return replace(reading, viewing=recipe.viewing())
    viewed = reading_with_views(reading, inputs, options.against, PRESET, note)
    if viewed is not reading and recipe is not None:
        raise ValueError(
            f"the inputs are captures of HTTP responses, and the recipe, {recipe.identity}, is for "
            f'texts; use recipe="{PRESET}", or leave it out'
        )
    return viewed


def reading_with_views(
    reading: Reading,
    inputs: Sequence[str],
    against: Sequence[str],
    recipe: Recipe | str,
    note: Callable[[str], object],
) -> Reading:
    """Return `reading` with the views of a recipe if the inputs are captures, by name or format."""
    if reading.viewing is not None:
        return reading
    files = [*inputs, *(name for name in against if not is_collection(name))]
    captures, texts = captures_of(files, reading)
    if not captures:
        return reading
    if reading.lines or reading.text_columns != DEFAULT_TEXT:
        name = "lines" if reading.lines else "text_columns"
        raise ValueError(
            f"{name} is for texts, and the inputs are captures of HTTP responses; leave it out"
        )
    if reading.format is None:
        neardup.http.captures.check_captures(captures, texts, note)
    return replace(reading, viewing=as_recipe(recipe).viewing())


def _viewing(options: Options, wanted: Viewing, recipe: Recipe) -> Viewing:
    """Return the views of the recipe, grouped by `Options.within`."""
    if options.within == "":
        raise ValueError(
            "within is empty; name what responses must share: host, ip, status, or a column"
        )
    within = options.within or wanted.within
    if within in UNGROUPED:
        raise ValueError(
            f"within is {within!r}, and responses cannot be grouped by it; use host, ip, status, "
            "server, content_type, url, or a column of the capture"
        )
    viewing = recipe.viewing(within)
    if viewing[:2] != wanted[:2]:
        raise ValueError(
            "the views and masks of reading are not those of the recipe; "
            "use Reading(viewing=recipe.viewing())"
        )
    return viewing


def _labels(job: str, options: Options) -> Labels | None:
    """Return the rules for labels; None where no output has labels: loading them takes a while."""
    has_labels = options.kinds is not None or options.report is not None
    if options.labels and not has_labels:
        raise ValueError(
            f"labels is {str(options.labels[0])!r}, but no output has labels; name a file for the "
            "kinds: --kinds FILE"
        )
    if job != "cluster" or not has_labels:
        return None
    from neardup.http.labels import Labels

    try:
        return Labels.load(*options.labels)
    except OSError as error:
        raise ValueError(f"labels: {error.filename}: {error.strerror}") from error


class Groups:
    """The column that responses are grouped by, and whether any response has a value in it."""

    def __init__(self, within: str) -> None:
        self.within = within
        self._has_value = False
        self._has_responses = False

    def check_against(self, collections: Sequence[str]) -> None:
        """Raise ValueError if groups would be compared with collections, which have none."""
        if collections:
            raise ValueError(
                f"within is {self.within!r}, and {collections[0]} is a collection, whose documents "
                "are in no groups; name the captures it was made of, or leave within out"
            )

    def see(self, batch: Batch) -> None:
        if self._has_value or batch.facts is None:
            return
        self._has_responses = True
        if self.within in batch.facts.schema.names:
            values = batch.facts.column(self.within).unique().to_pylist()
            self._has_value = any(value not in (None, "", 0) for value in values)

    def check(self, files: Sequence[str]) -> None:
        """Raise ValueError if no response has a value in the column."""
        if self._has_responses and not self._has_value:
            names = _group_columns(files)
            shown = ", ".join(names[:MAX_SUGGESTED]) + (", …" if len(names) > MAX_SUGGESTED else "")
            raise ValueError(
                f"within is {self.within!r}, and no response has it; there are {shown}"
            )


def _group_columns(files: Iterable[str]) -> list[str]:
    """Return the columns that the first responses of files have a value in."""
    from neardup.http import responses
    from neardup.http.columns import RESPONSE_COLUMNS, column_value

    def ignore(problem: Unreadable) -> None:
        """It was reported when it was read."""

    known = [name for name in RESPONSE_COLUMNS if name not in UNGROUPED]
    found = set[str]()
    for path in files:
        if path == "-":
            continue
        for response in islice(responses(path, report=ignore), MAX_SEARCHED):
            found.update(x for x in known if column_value(response, x) not in ("", "0"))
            found.update(name for name, value in response.extra.items() if value)
    found.difference_update(UNGROUPED)
    first = [name for name in known if name in found]
    return [*first, *sorted(found.difference(first))] or ["none: the responses have no columns"]
