"""Packages that only some formats need: loaded when such a file comes, and named if missing."""

from __future__ import annotations

import importlib
from typing import Any

from neardup._util.lazy import FORK_LOCK
from neardup.files.documents.prose import UnreadableDocumentError

INSTALL = "pip install 'neardup[{}]'"


def package(module: str, called: str, extra: str = "documents") -> Any:
    """A module of a package that may be missing.

    called  as messages call the files it is needed for
    extra   of ours that has it
    """
    name = module.partition(".")[0]
    try:
        with FORK_LOCK:
            return importlib.import_module(module)
    except ImportError as error:
        raise UnreadableDocumentError(
            f"reading {called} needs the package {name}, which is not installed"
            if isinstance(error, ModuleNotFoundError)
            else f"reading {called} needs the package {name}, which cannot be loaded ({error})",
            hint=INSTALL.format(extra),
        ) from None
