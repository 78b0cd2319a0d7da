"""The parts of a document that is a zip: read by name, in memory, and never more than allowed."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING
from xml.parsers import expat  # its uses are below: entities are refused, nothing is fetched

from neardup.files.reading.batch import size_of
from neardup.files.reading.formats import UnreadableDocumentError

if TYPE_CHECKING:
    import zipfile


STEP = 1 << 20
# A list of millions of files is made to fill the memory; no document has so many.
MOST_PARTS = 1 << 16
ENTRY = b"PK\x01\x02"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED = 1


class Parts:
    """The parts of a zip. All that is read of it counts, so that no bomb goes off.

    most  bytes that may be unpacked
    """

    def __init__(self, data: bytes, most: int) -> None:
        import zipfile

        if data.startswith(OLE):
            raise _compound(data)
        if data.count(ENTRY) > MOST_PARTS:
            raise UnreadableDocumentError(
                f"is a zip of more than {MOST_PARTS:,} parts, as no document is"
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise _damaged(str(error)) from None
        self._most = most
        self._left = most
        self._names = {info.filename: info for info in self._zip.infolist()}

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def read(self, name: str) -> bytes:
        """A part, by its whole name: no path of the disk is ever made of it."""
        if (info := self._names.get(name)) is None:
            raise _damaged(f"it has no part {name}")
        if info.flag_bits & ENCRYPTED:
            raise UnreadableDocumentError(
                "is encrypted; save it without a password", kind="is encrypted"
            )
        if info.file_size > self._left:
            raise self._too_large(f"{name} alone has {info.file_size:,} bytes")
        return self._unpacked(info)

    def _unpacked(self, info: zipfile.ZipInfo) -> bytes:
        import zipfile

        parts: list[bytes] = []
        try:
            with self._zip.open(info) as file:
                # The size in the list may be a lie, so what comes out is counted.
                while data := file.read(min(STEP, self._left + 1)):
                    self._left -= len(data)
                    if self._left < 0:
                        raise self._too_large(f"{info.filename} has more than it says")
                    parts.append(data)
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError) as error:
            raise _damaged(f"{info.filename}: {error}") from None
        except (NotImplementedError, RuntimeError) as error:
            raise UnreadableDocumentError(
                f"{info.filename} is packed in a way that is not read ({error})"
            ) from None
        return b"".join(parts)

    def _too_large(self, why: str) -> UnreadableDocumentError:
        return UnreadableDocumentError(
            f"holds more than {size_of(self._most)} unpacked ({why}); if it is meant to be so "
            "large, allow more with --max-document",
            kind=f"holds more than {size_of(self._most)} unpacked",
        )


def _compound(data: bytes) -> UnreadableDocumentError:
    """Of an OLE file, which is no zip: an old Word document, or a new one behind a password."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        return UnreadableDocumentError(
            "is encrypted; save it without a password", kind="is encrypted"
        )
    return UnreadableDocumentError("is a Word document of before 2007 (.doc); save it as .docx")


def _damaged(why: str) -> UnreadableDocumentError:
    return UnreadableDocumentError(
        f"is damaged or cut short ({why})", kind="is damaged or cut short"
    )


# XML as a stream of events: elements begin and end, text comes. No tree, no entities, no files.

Begin = Callable[[str, dict[str, str]], object]
End = Callable[[str], object]
Text = Callable[[str], object]


# Those in use have less than a tenth of it.
MOST_NAMESPACE = 1024


def shortened(name: str, most: int = 80) -> str:
    return name if len(name) <= most else f"{name[:most]}…"


def local(name: str) -> str:
    """The name of an element or attribute without its namespace."""
    return name.rpartition(" ")[2]


def events(part: str, data: bytes, begin: Begin, end: End, text: Text | None = None) -> None:
    """Tells what is in a part of a document, in order.

    Names of elements are told as "namespace name". A document that declares entities or attributes
    is refused: none needs to, and they can be made to grow without end or to name files.
    """

    def refuse(name: str, *rest: object) -> None:
        raise UnreadableDocumentError(
            f"{part} declares the entity {name!r}, which is not expanded", kind=ENTITY
        )

    def refuse_defaults(element: str, *rest: object) -> None:
        raise UnreadableDocumentError(
            f"{part} declares attributes of the element {shortened(element)!r}, which are not "
            "added",
            kind="declares attributes, which are not added",
        )

    def look(prefix: str | None, address: str | None) -> None:
        # It stands before the name of every element and attribute.
        if address is not None and len(address) > MOST_NAMESPACE:
            raise UnreadableDocumentError(
                f"{part} has a namespace of {len(address):,} characters; the limit is "
                f"{MOST_NAMESPACE:,}",
                kind="has a namespace that is too long",
            )

    # In one call: where a token is never ended, older versions would look at all of it again for
    # every piece that comes.
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.EntityDeclHandler = refuse
    parser.AttlistDeclHandler = refuse_defaults
    parser.StartNamespaceDeclHandler = look
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    if text is not None:
        parser.CharacterDataHandler = text
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        why = f"{part}, line {error.lineno}: {expat.ErrorString(error.code)}"
        raise UnreadableDocumentError(f"is damaged ({why})", kind="is damaged") from None
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        raise UnreadableDocumentError(f"is damaged ({part}: {error})", kind="is damaged") from None


ENTITY = "declares an entity, which is not expanded"
