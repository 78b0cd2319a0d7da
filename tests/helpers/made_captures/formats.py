"""Made captures in files, by the writers of `helpers.capture_files`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..capture_files import WRITERS, Answer, write_raw
from .coding import encoded

if TYPE_CHECKING:
    from . import Made


def sent(pages: Iterable[Made]) -> Iterator[Answer]:
    """Yield the responses as servers send them; `text` is the body as a browser decodes it."""
    for page in pages:
        it = page.response
        try:
            text = it.body.decode(it.charset)
        except UnicodeDecodeError:
            text = None
        yield Answer(it.url, it.status, it.headers, encoded(it.body, page.coding), it.ip, text)


def _write_folder(folder: Path, found: Sequence[Answer]) -> Path:
    """Write a raw message per file."""
    path = folder / "messages"
    path.mkdir()
    for number, each in enumerate(found, 1):
        write_raw(path, [each]).rename(path / f"{number:06}.http")
    return path


FORMATS: dict[str, Callable[[Path, Sequence[Answer]], Path]] = {
    **WRITERS,
    "raw-folder": _write_folder,
}


def write(pages: Iterable[Made], folder: Path, form: str) -> Path:
    """Write a capture in a format and return its path."""
    return FORMATS[form](folder, list(sent(pages)))
