"""The postings a collection keeps in files, or makes when it is asked: those of features, by which
it is searched, and those of runs, by which documents with a passage in common are found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from neardup.collection.errors import no_texts
from neardup.collection.postings import Postings
from neardup.collection.rows import Row, Settings
from neardup.collection.store import Store
from neardup.collection.terms import FeatureTerms, RunTerms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from neardup import _core
    from neardup.collection.view import View
    from neardup.text.recipe import Recipe

Name = Literal["search", "runs"]


class KeptPostings:
    """Both postings of a collection. They are called as what decides whether they are in files."""

    def __init__(self, folder: Path, recipe: Recipe, settings: Settings) -> None:
        self.folder = folder
        identity = settings.identity
        self.search = Postings(
            folder, FeatureTerms(recipe), identity, kept=_is_kept(settings, "search")
        )
        runs = RunTerms(views=recipe.tokens == "http")
        self.runs = Postings(folder, runs, identity, kept=_is_kept(settings, "runs"))
        self._named: dict[Name, Postings] = {"search": self.search, "runs": self.runs}
        self._claimed = False

    def forget(self) -> None:
        """Lets go of everything; the next question opens or makes it again."""
        for postings in self._named.values():
            postings.forget()

    # To be called by whoever may write, as long as nobody else can:

    def claim(self, store: Store) -> None:
        """Before anything is changed. It is done once: a writer stays the only one."""
        if self._claimed:
            return
        # Not those of when it was opened: another process may have been the writer since.
        settings = store.settings()
        for name, postings in self._named.items():
            postings.claim(store, kept=_is_kept(settings, name))
        self._claimed = True

    def tidy(self, store: Store, *, whole: bool = False) -> None:
        """After something was added; `whole`: writes everything anew."""
        for postings in self._named.values():
            postings.tidy(store, whole=whole)

    def decide(self, store: Store, name: Name, kept: bool) -> None:
        """Keeps postings in files from now on, or no longer. They are kept, as far as anybody
        knows, when the files are complete; what an interruption leaves the next writer deletes."""
        self.claim(store)
        postings = self._named[name]
        if kept == postings.kept:
            return
        settings = store.settings()
        if kept and not settings.texts:
            raise no_texts(self.folder, f"{name} is True")
        after = settings._replace(search=kept) if name == "search" else settings._replace(runs=kept)
        if not kept:
            store.set_settings(after)
            postings.delete()
            return
        try:
            postings.kept = True
            postings.tidy(store, whole=True)
            store.set_settings(after)
        except BaseException:
            postings.delete()
            raise

    # Anybody:

    def sharing(self, hashes: NDArray[np.uint64], _: View, store: Store) -> list[Row]:
        """The documents with one of these runs at least."""

        def rows(index: _core.TermIndex) -> list[Row]:
            keys = index.sharing(hashes).tolist()
            found = store.by_keys(keys, whole=True)
            return [found[key] for key in keys]

        return self.runs.ask(store, rows)

    def problems(self, store: Store) -> list[str]:
        """What is wrong with the files, in words."""
        return [what for postings in self._named.values() for what in postings.problems(store)]

    @property
    def bytes(self) -> int:
        """On disk."""
        return sum(postings.bytes for postings in self._named.values())


def _is_kept(settings: Settings, name: Name) -> bool:
    return settings.texts and (settings.search if name == "search" else settings.runs)
