"""neardup recipes: the presets and their settings."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from neardup.cli.command import argument, command
from neardup.cli.console import terminal
from neardup.cli.options import PrintOptions, RecipeName, recipe_of

if TYPE_CHECKING:
    from neardup.text.recipe import Recipe


@command(
    argument("name", "[NAME]", "Preset, or a .toml file.", type=RecipeName()),
    output=PrintOptions,
)
def recipes(name: str | None, output: PrintOptions) -> None:
    """List the recipe presets.

    With NAME: all settings of a recipe and its identity. Fingerprints with the same identity can be
    compared.
    """
    from neardup.text.recipe import Recipe

    presets = Recipe.presets()
    if name is not None:
        recipe = recipe_of(name, None, hint="NAME")
        one = _as_dict(name, presets.get(name, ""), recipe)
        print(json.dumps(one, ensure_ascii=False)) if output.as_json else _show_one(one)
        return
    every = [_as_dict(name, presets[name], Recipe.preset(name)) for name in presets]
    if output.as_json:
        print(json.dumps(every, ensure_ascii=False))
    else:
        _show_all(every)


def _as_dict(name: str, description: str, recipe: Recipe) -> dict[str, Any]:
    values = {
        field.name: _json_value(getattr(recipe, field.name)) for field in dataclasses.fields(recipe)
    }
    return {
        "name": name,
        "description": description,
        "identity": recipe.identity,
        "settings": values,
    }


def _json_value(value: object) -> object:
    """Convert a setting to JSON; word lists and tables to their names."""
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

    # A setting that is the default's says nothing about a preset.
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
    console.print("Settings that differ from default. One in full: neardup recipes NAME")
