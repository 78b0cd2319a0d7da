"""The folder of a collection: its creation, checks before it is opened, and the writer's lock."""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from neardup.collection.errors import CollectionError, LockedCollectionError, corrupt
from neardup.collection.schema import CollectionSettings
from neardup.collection.store import DATABASE, Store
from neardup.text.recipe import VERSIONS, Recipe

LOCK_NAME = "lock"
SUFFIX = ".neardup"
UNFINISHED = f"{DATABASE}.new"
# How long to wait while another process creates the collection.
CREATION_TIMEOUT_SECONDS = 10.0


def check_folder(folder: Path, *, read_only: bool) -> None:
    """Raise unless the folder is a collection, or one can be created there."""
    if not folder.name.endswith(SUFFIX):
        raise CollectionError(
            f"{folder}: the name of a collection must end in {SUFFIX}; use {folder}{SUFFIX}"
        )
    if folder.exists() and not folder.is_dir():
        raise CollectionError(f"{folder}: is a file; a collection is a folder")
    if (folder / DATABASE).exists():
        return
    if read_only:
        raise FileNotFoundError(f"{folder}: no such collection")
    for name in sorted(os.listdir(folder)) if folder.exists() else ():
        if name != LOCK_NAME and not name.startswith(UNFINISHED):
            if (folder / DATABASE).exists():
                return  # another process has just created it
            raise CollectionError(
                f"{folder}: not a collection: contains {name!r} and no {DATABASE}; "
                "name another folder"
            )


def create_store(folder: Path, recipe: Recipe, *, texts: bool, search: bool, runs: bool) -> None:
    """Create an empty collection, unless another process creates it first.

    The database gets its name when it is complete, so an interruption leaves no partial one.
    """
    settings = CollectionSettings(
        recipe.identity, recipe.to_toml(), texts, secrets.randbits(63), search, runs
    )
    folder.mkdir(exist_ok=True)
    lock = WriterLock(folder)
    if not _acquire_or_wait(lock):
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
        # A rename survives a power failure only if its folder is synced, and so does a new folder.
        for directory in (folder, folder.absolute().parent):
            _sync_folder(directory)
    finally:
        lock.release()


def _acquire_or_wait(lock: WriterLock) -> bool:
    """Take the lock and return True, or wait until its holder has created the collection and return
    False."""
    deadline = time.monotonic() + CREATION_TIMEOUT_SECONDS
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


def recorded_recipe(folder: Path, settings: CollectionSettings) -> Recipe:
    """Return the recipe of a collection; raise if this version of neardup would compute other
    fingerprints."""
    version = settings.recipe.partition(" ")[0]
    if version not in {f"neardup{known}" for known in VERSIONS}:
        raise CollectionError(
            f"{folder}: its recipe has version {version.removeprefix('neardup')}, and this neardup "
            f"has {' and '.join(map(str, VERSIONS))}; export it with the neardup that created it "
            f"(neardup index export {folder} -o all.jsonl) and add that file to a new collection"
        )
    try:
        recipe = Recipe.from_toml(settings.recipe_toml, folder)
    except (AttributeError, TypeError, ValueError) as error:
        raise corrupt(folder, f"its recipe cannot be read: {error}") from error
    if recipe.identity != settings.recipe:
        raise CollectionError(
            f"{folder}: created with the recipe {settings.recipe}, which is {recipe.identity} "
            "in this version of neardup; use the version that created it"
        )
    return recipe


def _sync_folder(folder: Path) -> None:
    # Some file systems cannot sync a folder; the collection works without that.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class WriterLock:
    """The lock that only one writer can hold. It uses flock, so the system releases it when the
    process ends or is killed.

    The lock file contains the process id of the writer, for error messages only.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        return self._handle is not None

    def acquire(self) -> None:
        """Take the lock without waiting; raise LockedCollectionError if it is taken."""
        while not self._take():
            pass

    def _take(self) -> bool:
        """Try once; return False if the file was removed before it was locked: another process may
        have locked a new file of that name."""
        path = self.folder / LOCK_NAME
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_file_at(handle, path):
                os.close(handle)
                return False
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
            os.close(handle)
            who = f"process {holder}" if holder.isdigit() else "another process"
            raise LockedCollectionError(
                f"{self.folder}: locked by its writer, {who}; wait until it is done, "
                "or open the collection read-only"
            ) from None
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle
        # The lock is valid even if the disk is full and the process id cannot be written.
        with suppress(OSError):
            os.ftruncate(handle, 0)
            os.pwrite(handle, b"%d\n" % os.getpid(), 0)
        return True

    def release(self) -> None:
        """Release the lock. Calling it again does nothing."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with suppress(OSError):
                os.ftruncate(handle, 0)
            os.close(handle)

    def abandon(self) -> None:
        """Close the file in a forked child, without releasing the lock of the parent."""
        handle, self._handle = self._handle, None
        if handle is not None:
            os.close(handle)


def _is_file_at(handle: int, path: Path) -> bool:
    """Return whether the path still names the open file."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False
