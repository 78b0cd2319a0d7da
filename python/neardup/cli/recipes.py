"""neardup recipes: the presets and what they are made of."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neardup.cli.console import terminal
from neardup.cli.options import JsonOption, recipe_of

if TYPE_CHECKING:
    from neardup.text.recipe import Recipe


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A preset, or a .toml file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the recipes that have a name.

    With NAME: all settings of one, and its identity, by which fingerprints are known to be
    comparable.
    """
    from neardup.text.recipe import Recipe

    presets = Recipe.presets()
    if name is not None:
        recipe = recipe_of(name, None, hint="NAME")
        one = _plain(name, presets.get(name, ""), recipe)
        print(json.dumps(one, ensure_ascii=False)) if as_json else _show_one(one)
        return
    every = [_plain(name, presets[name], Recipe.preset(name)) for name in presets]
    if as_json:
        print(json.dumps(every, ensure_ascii=False))
    else:
        _show_all(every)


def _plain(name: str, description: str, recipe: Recipe) -> dict[str, Any]:
    values = {
        field.name: _value(getattr(recipe, field.name)) for field in dataclasses.fields(recipe)
    }
    return {
        "name": name,
        "description": description,
        "identity": recipe.identity,
        "settings": values,
    }


def _value(value: object) -> object:
    """A setting as JSON knows it; word lists and tables by name."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    label = getattr(value, "label", None)
    return label if isinstance(label, str) else repr(value)


def _show_one(one: dict[str, Any]) -> None:
    print(one["name"] + (f": {one['description']}" if one["description"] else ""))
    width = max(map(len, one["settings"]))
    for name, value in one["settings"].items():
        print(f"  {name:{width}}  {'-' if value is None else value}")
    print(f"  {'identity':{width}}  {one['identity']}")


def _show_all(every: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    # What all presets leave alone says nothing about any of them.
    default = next(one["settings"] for one in every if one["name"] == "default")
    table = Table(box=None, padding=(0, 2, 1, 0), show_header=False)
    for one in every:
        settings = ", ".join(
            f"{name}={value}"
            for name, value in one["settings"].items()
            if value is not None and (one["name"] == "default" or value != default[name])
        )
        table.add_row(
            Text(one["name"], style="bold", no_wrap=True),
            Text.assemble(one["description"], "\n", (settings, "dim")),
        )
    console = terminal()
    console.print(table)
    console.print("Shown are settings that differ from default. One in full: neardup recipes NAME")
