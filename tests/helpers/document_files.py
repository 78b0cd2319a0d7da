"""Small documents of every kind, made by hand: HTML, Word, OpenDocument, EPUB, RTF and PDF."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
ODF_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
ODF_TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
ODT = "application/vnd.oasis.opendocument.text"
EPUB = "application/epub+zip"
CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>"""


def zipped(parts: Mapping[str, str | bytes], *, stored: Sequence[str] = ("mimetype",)) -> bytes:
    """Return a zip of these parts, in this order."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            how = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, how)
    return file.getvalue()


def html(body: str, head: str = '<meta charset="utf-8"><title>a title</title>') -> bytes:
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode()


def word_part(body: str, root: str = "document", inner: str = "body") -> str:
    opened, closed = (f"<w:{inner}>", f"</w:{inner}>") if inner else ("", "")
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
        f'<w:{root} xmlns:w="{WORD}">{opened}{body}{closed}</w:{root}>'
    )


def word_paragraphs(*texts: str) -> str:
    runs = (f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>' for text in texts)
    return "".join(f"<w:p>{run}</w:p>" for run in runs)


def docx(body: str, **parts: str) -> bytes:
    """Return a Word document; parts are named without word/ and .xml."""
    more = {f"word/{name}.xml": content for name, content in parts.items()}
    types = '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    return zipped(
        {
            "[Content_Types].xml": f'{types}content-types"/>',
            "word/document.xml": word_part(body),
            **more,
        }
    )


def odt(body: str, manifest: str = "") -> bytes:
    content = (
        f'<?xml version="1.0"?><office:document-content xmlns:office="{OFFICE}" '
        f'xmlns:text="{ODF_TEXT}" xmlns:table="{ODF_TABLE}"><office:body><office:text>{body}'
        "</office:text></office:body></office:document-content>"
    )
    parts = {"mimetype": ODT, "content.xml": content}
    return zipped(parts | ({"META-INF/manifest.xml": manifest} if manifest else {}))


def epub(chapters: Mapping[str, str], **parts: str) -> bytes:
    """Return an EPUB; `chapters` maps file names to bodies, in reading order."""
    items = "".join(
        f'<item id="c{at}" href="{escape(name)}" media-type="application/xhtml+xml"/>'
        for at, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    return zipped(
        {
            "mimetype": EPUB,
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": package,
            # Stored in another order: the spine decides, not the archive.
            **{f"OEBPS/{name}": html(body) for name, body in reversed(list(chapters.items()))},
            **{name.replace("__", "/"): content for name, content in parts.items()},
        }
    )


def rtf(body: str, head: str = r"\ansi\ansicpg1252\deff0{\fonttbl{\f0\fnil Arial;}}") -> bytes:
    return f"{{\\rtf1{head} {body}}}".encode("ascii")


def lines_at(lines: Sequence[tuple[float, float, str]], *, size: float = 12) -> bytes:
    """Return a page of lines (left, bottom, text). Text beyond Latin-1 is in font F2."""
    shown = []
    for left, bottom, text in lines:
        try:
            font, data = "F1", text.encode("cp1252")
        except UnicodeEncodeError:
            font, data = "F2", text.encode("utf-16-be")
        shown.append(f"BT /{font} {size} Tf {left} {bottom} Td <{data.hex()}> Tj ET")
    return "\n".join(shown).encode()


def paragraphs_at(paragraphs: Sequence[Sequence[str]], *, top: float = 700) -> bytes:
    """Return a page of paragraphs: lines 14 points apart, paragraphs 28."""
    lines: list[tuple[float, float, str]] = []
    for paragraph in paragraphs:
        for line in paragraph:
            lines.append((72, top, line))
            top -= 14
        top -= 14
    return lines_at(lines)


def pdf(pages: Sequence[bytes], *, trailer: str = "", objects: Sequence[bytes] = ()) -> bytes:
    """Return a PDF of these pages; `objects` are appended, numbered from 6 + 2n."""
    kids = " ".join(f"{6 + 2 * at} 0 R" for at in range(len(pages)))
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H "
        b"/DescendantFonts [5 0 R] >>",
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo "
        b"<< /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> >>",
    ]
    for at, content in enumerate(pages):
        bodies.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {7 + 2 * at} 0 R "
            "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>".encode()
        )
        packed = zlib.compress(content)
        head = f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode()
        bodies.append(head + packed + b"\nendstream")
    bodies += objects
    out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, body in enumerate(bodies, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += f"trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R {trailer} >>\n".encode()
    return bytes(out + f"startxref\n{start}\n%%EOF\n".encode())
