"""XML as a stream of events: elements begin and end, text comes. No tree, no entities, no files."""

from __future__ import annotations

from collections.abc import Callable
from xml.parsers import expat  # its uses are below: entities are refused, nothing is fetched

from neardup.files.documents.prose import NotReadError

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
        raise NotReadError(
            f"{part} declares the entity {name!r}, which is not expanded", kind=ENTITY
        )

    def refuse_defaults(element: str, *rest: object) -> None:
        raise NotReadError(
            f"{part} declares attributes of the element {shortened(element)!r}, which are not "
            "added",
            kind="declares attributes, which are not added",
        )

    def look(prefix: str | None, address: str | None) -> None:
        # It stands before the name of every element and attribute.
        if address is not None and len(address) > MOST_NAMESPACE:
            raise NotReadError(
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
        raise NotReadError(f"is damaged ({why})", kind="is damaged") from None
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        raise NotReadError(f"is damaged ({part}: {error})", kind="is damaged") from None


ENTITY = "declares an entity, which is not expanded"
