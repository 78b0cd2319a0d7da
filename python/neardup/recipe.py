"""The former place of `neardup.Recipe`, for programs that import it from here."""

from neardup.text.recipe import Recipe, as_recipe

__all__ = ["Recipe", "as_recipe"]
