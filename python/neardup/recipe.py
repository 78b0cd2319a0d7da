"""Former path of `neardup.text.recipe`, kept for programs that import from it."""

from neardup.text.recipe import Recipe, as_recipe

__all__ = ["Recipe", "as_recipe"]
