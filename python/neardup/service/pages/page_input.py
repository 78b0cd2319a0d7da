"""The text of a page: from the address, the cache, the collection, a form or an uploaded file.

A form is parsed in a thread (`read_form`); its text is typed or in a file (`read_upload`). A short
text then goes into the address, a longer one into `TextCache`, and the browser is redirected to the
page of results, so every result has a link. `read_input` reads such an address. An invalid request
raises `PageError`; `problem_page` turns any error into a page or problem details.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, unquote_to_bytes, urlencode

from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from neardup.files.documents import DOCUMENT_FORMATS, detect_document, sandbox
from neardup.files.documents.sandbox import DocumentTooLongError
from neardup.files.reading import encodings
from neardup.files.reading.batch import GZIP, ZSTD
from neardup.files.reading.formats import UnreadableDocumentError, all_endings
from neardup.reports.formatting import line_pieces
from neardup.service import answers
from neardup.service.errors import HTTPProblem, to_problem
from neardup.service.pages import shell
from neardup.service.pages.phrases import PHRASES
from neardup.service.requests import ClientDisconnectedError, media_type, read_body

if TYPE_CHECKING:
    from neardup.reports.page import Wording
    from neardup.service.state import Service

log = logging.getLogger("neardup.service")

# Longer texts are for the command line.
MAX_CHARACTERS = 2_000_000
# A text that takes at most this many characters in an address stays in it.
MAX_ADDRESS_CHARACTERS = 1_500
MAX_FIELDS = 32
MAX_FILES = 2
# Bytes of a form decoded at once.
DECODE_BYTES = 64 << 10
FORM_TYPES = ("multipart/form-data", "application/x-www-form-urlencoded")
MAX_CACHE_BYTES = 64 << 20
MAX_CACHE_ENTRIES = 2_000
# Endings the file dialog offers; a file with another ending is read if it is plain text.
UPLOAD_ENDINGS = (
    ".txt",
    ".md",
    *(ending for _, endings in DOCUMENT_FORMATS.values() for ending in endings),
)


class PageError(Exception):
    """An error to show on a page: a status, and a phrase with its values."""

    def __init__(self, status: int, phrase: str, **values: object) -> None:
        super().__init__(phrase)
        self.status = status
        self.phrase = phrase
        self.values = values


class UploadError(PageError):
    """An uploaded file that cannot be read as text."""

    def __init__(self, phrase: str, file: str, reason: str = "") -> None:
        super().__init__(422, phrase, file=file, reason=reason)


# ---- texts in memory ----


@dataclass(frozen=True)
class CachedText:
    """A text with its name; `encoding` is set if it came from a file that is not UTF-8."""

    text: str
    name: str = ""
    encoding: str = ""

    @property
    def size(self) -> int:
        """An upper bound of its bytes in memory."""
        return 4 * len(self.text) + len(self.name) + 200


class TextCache:
    """An LRU cache of texts under random names, for texts too long for an address.

    In memory only: users' texts are not written to disk.
    """

    def __init__(
        self, max_bytes: int = MAX_CACHE_BYTES, max_entries: int = MAX_CACHE_ENTRIES
    ) -> None:
        self._texts: OrderedDict[str, tuple[CachedText, ...]] = OrderedDict()
        self._lock = threading.Lock()
        self._bytes = 0
        self._max_bytes, self._max_entries = max_bytes, max_entries

    def put(self, *texts: CachedText) -> str:
        """Store texts that belong together and return their name; the newest entry always fits."""
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._texts[name] = texts
            self._bytes += sum(text.size for text in texts)
            while len(self._texts) > 1 and (
                self._bytes > self._max_bytes or len(self._texts) > self._max_entries
            ):
                _, oldest = self._texts.popitem(last=False)
                self._bytes -= sum(text.size for text in oldest)
        return name

    def get(self, name: str, count: int) -> tuple[CachedText, ...]:
        """Return the `count` texts of an entry; raise `PageError` if there is no such entry."""
        with self._lock:
            texts = self._texts.get(name, ())
            if len(texts) != count:
                raise PageError(404, "problem.gone")
            self._texts.move_to_end(name)
            return texts


# ---- the address ----


@dataclass(frozen=True)
class PageInput:
    """A text, the query parameters that lead to it, and its id if it is in the collection."""

    source: CachedText
    query: Mapping[str, str]
    id: str | None = None

    @property
    def text(self) -> str:
        return self.source.text

    def link(self, path: str, more: Sequence[tuple[str, str]] = ()) -> str:
        return f"{path}?{urlencode([*self.query.items(), *more], errors='replace')}"


async def read_input(request: Request, service: Service, cache: TextCache) -> PageInput | None:
    """Return the text that the address gives by `text`, `kept` or `id`; None without any."""
    query = request.query_params
    if "text" in query:
        return PageInput(check_length(CachedText(query["text"])), {"text": query["text"]})
    if "kept" in query:
        (text,) = cache.get(query["kept"], 1)
        return PageInput(text, {"kept": query["kept"]})
    if "id" in query:
        return await stored_input(service, query["id"])
    return None


async def stored_input(service: Service, id_: str, parameter: str = "id") -> PageInput:
    """Return a document of the collection."""
    document = await service.run(answers.document, service, id_)
    if document.text is None:
        raise PageError(409, "problem.no_texts")
    return PageInput(check_length(CachedText(document.text, id_)), {parameter: id_}, id_)


def document_link(id_: str) -> str:
    """Return the address of the page about a stored document."""
    return PageInput(CachedText("", id_), {"id": id_}, id_).link("/check")


def pair_link(left: str, right: str) -> str:
    """Return the address of two stored documents side by side."""
    return PageInput(CachedText("", left), {"id": left}, left).link("/pair", [("source", right)])


def check_length(source: CachedText) -> CachedText:
    """Return the text; raise `PageError` if it is too long for a page."""
    if len(source.text) > MAX_CHARACTERS:
        raise _too_long(len(source.text))
    return source


def _too_long(count: int) -> PageError:
    return PageError(413, "problem.long", n=count, most=MAX_CHARACTERS)


def fits_address(*texts: CachedText) -> bool:
    """Return whether the texts are short enough for an address, and have no name to remember."""
    room = MAX_ADDRESS_CHARACTERS
    for source in texts:
        room -= len(quote(source.text[: room + 1], errors="replace"))
    return room >= 0 and not any(source.name for source in texts)


def query_number(request: Request, name: str, default: float, least: float, most: float) -> float:
    """Return a number of the query within its limits; raise `PageError` for anything else."""
    given = request.query_params.get(name, "").strip()
    if not given:
        return default
    try:
        value = float(given)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise PageError(422, "problem.number", field=name, value=given, least=least, most=most)
    return value


def local_path(address: str) -> str:
    """Return the address if it is a path of this service, else /check: no open redirects."""
    is_path = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_path and address.isprintable() else "/check"


def redirect(request: Request, address: str) -> Response:
    """Redirect by 303 to a page of results, with the language and theme of this address."""
    for name in ("lang", "theme"):
        if (chosen := request.query_params.get(name)) is not None:
            address += f"{'&' if '?' in address else '?'}{urlencode({name: chosen})}"
    response: Response = RedirectResponse(address, 303)
    shell.set_choice_cookies(request, response)
    return response


# ---- forms ----


@asynccontextmanager
async def read_form(
    request: Request, service: Service, *, max_bytes: int | None = None
) -> AsyncIterator[FormData]:
    """Read and parse a form within the limits of the service, or a smaller one; close its files."""
    if media_type(request.scope) not in FORM_TYPES:
        raise HTTPProblem(415, f"the body must be {' or '.join(FORM_TYPES)}")
    settings = service.settings
    if max_bytes is not None:
        settings = settings.replace(max_body=min(max_bytes, settings.max_body))
    body = await read_body(request.scope, request.receive, settings)
    try:
        # In a thread: a large form would block the event loop.
        form = await service.run(parse_form, request.headers, body)
    except (MultiPartException, ValueError):
        raise HTTPProblem(400, "the form cannot be parsed") from None
    try:
        yield form
    finally:
        await form.close()


def parse_form(headers: Headers, body: bytes) -> FormData:
    """Parse a form; raise `ValueError` or `MultiPartException` if it is malformed. Blocks."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() == "multipart/form-data":
        return asyncio.run(_parse_multipart(headers, body))
    return FormData(_parse_urlencoded(body))


async def _parse_multipart(headers: Headers, body: bytes) -> FormData:
    async def whole() -> AsyncGenerator[bytes, None]:
        yield body
        yield b""

    # The body has a limit, so its parts need none.
    return await MultiPartParser(
        headers,
        whole(),
        max_files=MAX_FILES,
        max_fields=MAX_FIELDS,
        max_part_size=len(body) + 1,
    ).parse()


def _parse_urlencoded(body: bytes) -> list[tuple[str, str | UploadFile]]:
    pieces = body.split(b"&", MAX_FIELDS)
    if len(pieces) > MAX_FIELDS:
        raise ValueError(f"the form has more than {MAX_FIELDS} fields")
    pairs = [piece.partition(b"=") for piece in pieces if piece]
    return [(_percent_decode(name), _percent_decode(value)) for name, _, value in pairs]


def _percent_decode(coded: bytes) -> str:
    # In blocks: `unquote_to_bytes` of the whole would take eighty times the memory of the body.
    plain = bytearray()
    start = 0
    while start < len(coded):
        end = start + DECODE_BYTES
        # Do not cut between a percent sign and its digits.
        sign = coded.rfind(b"%", end - 2, end)
        if end < len(coded) and sign > start:
            end = sign
        plain += unquote_to_bytes(coded[start:end].replace(b"+", b" "))
        start = end
    return plain.decode("utf-8", "replace")


def form_field(form: FormData, name: str) -> str:
    value = form.get(name, "")
    # Browsers send every line end as CRLF.
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def encoded_field(form: FormData, name: str) -> str:
    """Return a hidden field. Pages percent-encode these: forms would change their line ends, and
    no control character may be in a page."""
    return unquote(form_field(form, name), errors="replace")


async def submitted_text(
    form: FormData, service: Service, *, text: str, file: str
) -> CachedText | None:
    """Return the text of a form: of its file field, else of its text field; None without both."""
    upload = form.get(file)
    if isinstance(upload, UploadFile) and (upload.filename or upload.size):
        data = await upload.read()
        name = (upload.filename or "").replace("\\", "/").rsplit("/", 1)[-1][:200]
        try:
            found, encoding = await service.upload_pool.run(read_upload, name, data)
        except DocumentTooLongError as error:
            raise _too_long(error.count) from None
        return CachedText(found, name, encoding)
    typed = form_field(form, text)
    return check_length(CachedText(typed)) if typed.strip() else None


# ---- uploaded files ----


def read_upload(name: str, data: bytes, most: int = MAX_CHARACTERS) -> tuple[str, str]:
    """Return the text of a file, and its encoding if that is not UTF-8.

    Raises `UploadError`, or `DocumentTooLongError` above `most` characters. Only the ending of the
    name is used, and only if the content does not tell the format.
    """
    kind = all_endings().get(PurePosixPath(name.replace("\\", "/")).suffix.lower(), "")
    kind = detect_document(data[:4096]) or kind
    if kind in DOCUMENT_FORMATS:
        try:
            return sandbox.sandboxed_text(kind, data, most), ""
        except UnreadableDocumentError as why:
            reason = f"{why}{f'; {why.hint}' if why.hint else ''}"
            raise UploadError("file.unreadable", name, reason) from None
    text, encoding = _decode_upload(name, data)
    if len(text) > most:
        raise DocumentTooLongError(len(text))
    return text, encoding


def _decode_upload(name: str, data: bytes) -> tuple[str, str]:
    if data.startswith((GZIP, ZSTD, b"PK\x03\x04")):
        raise UploadError("file.packed", name)
    encoding = encodings.detect(data)
    if encoding is None:
        # Without zero bytes it is text in an unknown encoding.
        raise UploadError("file.binary" if b"\0" in data else "file.encoding", name)
    mark = encodings.marked(data)
    try:
        text = data[mark[1] if mark else 0 :].decode(encoding)
    except UnicodeDecodeError as error:
        where = f"{encoding.upper()}, {error.start + 1:,}"
        raise UploadError("file.wrong_byte", name, where) from None
    if "\0" in text:
        raise UploadError("file.binary", name)
    return text, "" if encoding == encodings.UTF8 else encoding


# ---- errors ----


def problem_page(service: Service, page: str) -> Callable[[shell.Endpoint], shell.Endpoint]:
    """Decorate an endpoint: its errors become a page, or problem details for a JSON page."""

    def decorate(endpoint: shell.Endpoint) -> shell.Endpoint:
        @functools.wraps(endpoint)
        async def handle(request: Request) -> Response:
            limits = service.settings
            try:
                async with asyncio.timeout(limits.body_seconds + limits.answer_seconds):
                    return await endpoint(request)
            except ClientDisconnectedError:
                return Response(status_code=499)
            except Exception as error:
                problem = _problem(error, shell.request_wording(request))
            if shell.wants_json(request):
                return problem.response()
            response = shell.render_page(
                request,
                service,
                "problem.html",
                page=page,
                status=problem.status,
                detail=line_pieces(problem.detail),
            )
            response.headers.update(problem.headers)
            return response

        return handle

    return decorate


def _problem(error: Exception, words: Wording) -> HTTPProblem:
    """Return the problem of an error, in the language of the page if there is a phrase for it."""
    if isinstance(error, PageError):
        if error.status >= 500:
            log.warning("%s", error)
        return HTTPProblem(error.status, words(error.phrase, **error.values))
    problem = to_problem(error)
    name = f"problem.{problem.status}"
    detail = words(name) if name in PHRASES else problem.detail
    return HTTPProblem(problem.status, detail, headers=problem.headers)
