"""Opens or makes the folder of a collection, or says why that is not possible."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from neardup.collection.errors import CollectionError, LockedCollectionError, corrupt
from neardup.collection.schema import CollectionSettings
from neardup.collection.session import NAME as LOCK
from neardup.collection.session import WriterLock
from neardup.collection.store import DATABASE, Store
from neardup.text.recipe import VERSION, Recipe

SUFFIX = ".neardup"
UNFINISHED = f"{DATABASE}.new"
# Seconds to wait while another process makes the collection.
LOCK_TIMEOUT = 10.0


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
        if name != LOCK and not name.startswith(UNFINISHED):
            if (folder / DATABASE).exists():
                return  # since just now
            raise CollectionError(
                f"{folder}: holds {name!r} and no {DATABASE}, so it is no collection; "
                "name another folder"
            )


def make_store(folder: Path, recipe: Recipe, *, texts: bool, search: bool, runs: bool) -> None:
    """An empty collection in the folder, whole or not at all, unless someone else is quicker.

    The database gets its name when it is complete: under that name there is never half of one.
    """
    settings = CollectionSettings(
        recipe.identity, recipe.to_toml(), texts, secrets.randbits(63), search, runs
    )
    folder.mkdir(exist_ok=True)
    lock = WriterLock(folder)
    if not _acquired(lock):
        return
    try:
        if (folder / DATABASE).exists():
            return
        for stray in folder.glob(f"{UNFINISHED}*"):
            stray.unlink()
        store = Store(folder, UNFINISHED)
        try:
            store.create(settings)
        finally:
            store.close()
        os.rename(folder / UNFINISHED, folder / DATABASE)
        # The names themselves are on the disk only when their folders are.
        for place in (folder, folder.absolute().parent):
            _flush(place)
    finally:
        lock.release()


def _acquired(lock: WriterLock) -> bool:
    """Takes the lock, or waits until the process that holds it has made the collection."""
    deadline = time.monotonic() + LOCK_TIMEOUT
    while not (lock.folder / DATABASE).exists():
        try:
            lock.acquire()
        except LockedCollectionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return True
    return False


def recorded(folder: Path, settings: CollectionSettings) -> Recipe:
    version = settings.recipe.partition(" ")[0]
    if version != f"neardup{VERSION}":
        raise CollectionError(
            f"{folder}: its recipe is of version {version.removeprefix('neardup')}, and this "
            f"neardup has version {VERSION}; export it with the neardup it was made with (neardup "
            f"index export {folder} -o all.jsonl) and add that file to a new collection"
        )
    try:
        recipe = Recipe.from_toml(settings.recipe_toml, folder)
    except (AttributeError, TypeError, ValueError) as error:
        raise corrupt(folder, f"its recipe cannot be read: {error}") from error
    if recipe.identity != settings.recipe:
        raise CollectionError(
            f"{folder}: made with the recipe {settings.recipe}, which is {recipe.identity} "
            "in this version of neardup; use the version it was made with"
        )
    return recipe


def _flush(folder: Path) -> None:
    # Not all file systems can do that, and not everyone may; the files are there in any case.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
