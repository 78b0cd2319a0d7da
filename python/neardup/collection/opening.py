"""A folder becomes an open collection, or it is said why not."""

from __future__ import annotations

import os
from pathlib import Path

from neardup.collection.errors import CollectionError, corrupt
from neardup.collection.lock import WriterLock
from neardup.collection.store import DATABASE, Durability, Settings, Store
from neardup.recipe import Recipe, as_recipe

SUFFIX = ".neardup"


def check_folder(folder: Path, *, read_only: bool) -> None:
    """Refuses what is not, and cannot become, the folder of a collection."""
    if not folder.name.endswith(SUFFIX):
        raise CollectionError(
            f"{folder}: the name of a collection ends in {SUFFIX}; use {folder}{SUFFIX}"
        )
    if folder.exists() and not folder.is_dir():
        raise CollectionError(f"{folder}: a file; a collection is a folder")
    if (folder / DATABASE).exists():
        return
    if read_only:
        raise FileNotFoundError(f"{folder}: no such collection")
    for name in sorted(os.listdir(folder)) if folder.exists() else ():
        if name != "lock":
            raise CollectionError(
                f"{folder}: holds {name!r} and no {DATABASE}, so it is no collection; "
                "name another folder"
            )


def open_store(
    folder: Path,
    recipe: Recipe | None,
    store_text: bool | None,
    *,
    read_only: bool,
    durability: Durability,
) -> Store:
    """The store, made if there is none. Whoever makes it is its writer meanwhile."""
    if (folder / DATABASE).exists():
        store = Store(folder, read_only=read_only, durability=durability)
        try:
            if store.check_version():
                return store
            if read_only:
                raise FileNotFoundError(f"{folder}: no such collection")
        except BaseException:
            store.close()
            raise
        store.close()
    chosen = as_recipe(recipe)
    settings = Settings(chosen.identity, chosen.to_toml(), store_text is not False)
    folder.mkdir(exist_ok=True)
    lock = WriterLock(folder)
    lock.acquire()
    try:
        store = Store(folder, durability=durability)
        try:
            # Someone else may have been quicker.
            if not store.check_version():
                store.create(settings)
        except BaseException:
            store.close()
            raise
        return store
    finally:
        lock.release()


def recorded(folder: Path, settings: Settings) -> Recipe:
    try:
        recipe = Recipe.from_toml(settings.recipe_toml, folder)
    except (ValueError, TypeError) as error:
        raise corrupt(folder, f"its recipe cannot be read: {error}") from error
    if recipe.identity != settings.recipe:
        raise CollectionError(
            f"{folder}: made with the recipe {settings.recipe}, which is {recipe.identity} "
            "in this version of neardup; use the version it was made with"
        )
    return recipe
