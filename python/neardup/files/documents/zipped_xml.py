"""Zip archives of XML: entries read by name, in memory, within a limit; XML parsed as events."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING
from xml.parsers import expat  # entities are refused below, and nothing is fetched

from neardup.files.reading.batch import format_size
from neardup.files.reading.formats import UnreadableDocumentError

if TYPE_CHECKING:
    import zipfile


CHUNK_BYTES = 1 << 20
# Millions of entries would fill the memory; no document has so many.
MAX_ENTRIES = 1 << 16
ENTRY = b"PK\x01\x02"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED = 1


class ZipEntries:
    """The entries of a zip archive. All unpacked bytes count against the limit, so that a zip bomb
    fails.

    most  bytes that may be unpacked
    """

    def __init__(self, data: bytes, most: int) -> None:
        import zipfile

        if data.startswith(OLE):
            raise _ole_error(data)
        if data.count(ENTRY) > MAX_ENTRIES:
            raise UnreadableDocumentError(
                f"is a zip of more than {MAX_ENTRIES:,} entries, too many for a document"
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
        """Return an entry by its full name, which is never used as a path on disk."""
        if (info := self._names.get(name)) is None:
            raise _damaged(f"it has no entry {name}")
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
                # The size in the directory may be wrong, so count what comes out.
                while data := file.read(min(CHUNK_BYTES, self._left + 1)):
                    self._left -= len(data)
                    if self._left < 0:
                        raise self._too_large(f"{info.filename} is larger than the archive says")
                    parts.append(data)
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError) as error:
            raise _damaged(f"{info.filename}: {error}") from None
        except (NotImplementedError, RuntimeError) as error:
            raise UnreadableDocumentError(
                f"{info.filename} is compressed by a method that is not supported ({error})"
            ) from None
        return b"".join(parts)

    def _too_large(self, why: str) -> UnreadableDocumentError:
        return UnreadableDocumentError(
            f"unpacks to more than {format_size(self._most)} ({why}); if that is intended, "
            "raise --max-document",
            kind=f"unpacks to more than {format_size(self._most)}",
        )


def _ole_error(data: bytes) -> UnreadableDocumentError:
    """Return the error for an OLE file: a Word 97–2003 document, or an encrypted newer one."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        return UnreadableDocumentError(
            "is encrypted; save it without a password", kind="is encrypted"
        )
    return UnreadableDocumentError("is a Word 97–2003 document (.doc); save it as .docx")


def _damaged(why: str) -> UnreadableDocumentError:
    return UnreadableDocumentError(
        f"is damaged or truncated ({why})", kind="is damaged or truncated"
    )


# ---- XML events: no tree, no entities, no files ----

Begin = Callable[[str, dict[str, str]], object]
End = Callable[[str], object]
Text = Callable[[str], object]


# Real ones are less than a tenth as long.
MAX_NAMESPACE = 1024


def shortened(name: str, most: int = 80) -> str:
    return name if len(name) <= most else f"{name[:most]}…"


def local_name(name: str) -> str:
    """Return the name of an element or attribute without its namespace."""
    return name.rpartition(" ")[2]


def parse_xml(part: str, data: bytes, begin: Begin, end: End, text: Text | None = None) -> None:
    """Call the handlers for the elements and text of an XML entry, in order.

    Element names are "namespace name". A document that declares entities or attributes is refused:
    none needs to, and they can expand without end or name files.
    """

    def refuse(name: str, *rest: object) -> None:
        raise UnreadableDocumentError(
            f"{part} declares the entity {name!r}; entities are not expanded", kind=ENTITY
        )

    def refuse_defaults(element: str, *rest: object) -> None:
        raise UnreadableDocumentError(
            f"{part} declares attributes of the element {shortened(element)!r}; such documents "
            "are not read",
            kind="declares default attributes",
        )

    def look(prefix: str | None, address: str | None) -> None:
        # It is repeated in the name of every element and attribute.
        if address is not None and len(address) > MAX_NAMESPACE:
            raise UnreadableDocumentError(
                f"{part} has a namespace of {len(address):,} characters; the limit is "
                f"{MAX_NAMESPACE:,}",
                kind="has a namespace that is too long",
            )

    # In one call: for an unclosed token, older versions would scan all data again with every chunk.
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
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise UnreadableDocumentError(f"is damaged ({part}: {error})", kind="is damaged") from None


ENTITY = "declares an entity; entities are not expanded"
