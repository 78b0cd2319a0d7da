"""Forms, from their bytes."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, unquote_to_bytes, urlencode

from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from neardup.files.documents.sandbox import DocumentTooLongError
from neardup.reports.formatting import line_pieces
from neardup.service import answers
from neardup.service.errors import HTTPProblem, to_problem
from neardup.service.pages import shell
from neardup.service.pages.marks import NotesError
from neardup.service.pages.text_cache import CachedText, TextCache
from neardup.service.pages.upload import MOST_CHARACTERS, UnreadableFile, text_from
from neardup.service.requests import ClientDisconnectedError, media_type, read_body

if TYPE_CHECKING:
    from neardup.reports.page import Wording
    from neardup.service.state import Service


MOST_FIELDS = 32
MOST_FILES = 2
# Bytes decoded at once.
BLOCK = 64 << 10


def parsed(headers: Headers, body: bytes) -> FormData:
    """The fields of a form; `ValueError` or `MultiPartException` if they cannot be read. Takes
    time: to be called in a thread."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() == "multipart/form-data":
        return asyncio.run(_parts(headers, body))
    return FormData(_fields(body))


async def _parts(headers: Headers, body: bytes) -> FormData:
    async def whole() -> AsyncGenerator[bytes, None]:
        yield body
        yield b""

    # In all they are no more than the body, which has a limit.
    return await MultiPartParser(
        headers,
        whole(),
        max_files=MOST_FILES,
        max_fields=MOST_FIELDS,
        max_part_size=len(body) + 1,
    ).parse()


def _fields(body: bytes) -> list[tuple[str, str | UploadFile]]:
    pieces = body.split(b"&", MOST_FIELDS)
    if len(pieces) > MOST_FIELDS:
        raise ValueError(f"more than {MOST_FIELDS} fields")
    pairs = [piece.partition(b"=") for piece in pieces if piece]
    return [(_text(name), _text(value)) for name, _, value in pairs]


def _text(coded: bytes) -> str:
    """Decoded by blocks: as a whole it would take eighty times the memory of the body."""
    plain = bytearray()
    start = 0
    while start < len(coded):
        end = start + BLOCK
        # Not between a sign of percent and its digits.
        sign = coded.rfind(b"%", end - 2, end)
        if end < len(coded) and sign > start:
            end = sign
        plain += unquote_to_bytes(coded[start:end].replace(b"+", b" "))
        start = end
    return plain.decode("utf-8", "replace")


# What a page is asked about: a text in the address, one that was kept, or a stored document.

log = logging.getLogger("neardup.service")

# A text that takes no more than this in an address stays there: the link says it all.
ADDRESS_CHARACTERS = 1_500
FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")


class Unanswerable(Exception):
    """What cannot be shown, as a phrase for the one who asked."""

    def __init__(self, status: int, phrase: str, **values: object) -> None:
        super().__init__(phrase)
        self.status = status
        self.phrase = phrase
        self.values = values


@dataclass(frozen=True)
class PageInput:
    """A text, the part of the address that leads to it, and its id if it is in the collection."""

    given: CachedText
    query: Mapping[str, str]
    id: str | None = None

    def link(self, path: str, more: Sequence[tuple[str, str]] = ()) -> str:
        return f"{path}?{urlencode([*self.query.items(), *more], errors='replace')}"


def problem_page(service: Service, page: str) -> Callable[[shell.Endpoint], shell.Endpoint]:
    """What goes wrong is told on a page, or by the twin as a problem."""

    def decorate(endpoint: shell.Endpoint) -> shell.Endpoint:
        @functools.wraps(endpoint)
        async def answer(request: Request) -> Response:
            limits = service.settings
            try:
                async with asyncio.timeout(limits.body_seconds + limits.answer_seconds):
                    return await endpoint(request)
            except ClientDisconnectedError:
                return Response(status_code=499)
            except Exception as error:
                refusal = _refusal(error, shell.words_of(request))
            if shell.is_twin(request):
                return refusal.response()
            said = line_pieces(refusal.detail)
            found = shell.page(
                request, service, "problem.html", page=page, status=refusal.status, said=said
            )
            found.headers.update(refusal.headers)
            return found

        return answer

    return decorate


def _refusal(error: Exception, words: Wording) -> HTTPProblem:
    """What is told of an error, in the language of the page as far as there are words for it."""
    if isinstance(error, Unanswerable):
        return HTTPProblem(error.status, words(error.phrase, **error.values))
    if isinstance(error, NotesError):
        log.warning("%s", error)
        return HTTPProblem(503, words("problem.notes"))
    found = to_problem(error)
    name = f"problem.{found.status}"
    said = words(name) if name in shell.COMMON else found.detail
    return HTTPProblem(found.status, said, headers=found.headers)


async def asked(
    request: Request, service: Service, kept: TextCache, *, text: str = "text"
) -> PageInput | None:
    """What the address speaks of; None if of nothing. `text` is the name of the parameter."""
    query = request.query_params
    if text in query:
        return PageInput(limited(CachedText(query[text])), {text: query[text]})
    if "kept" in query:
        found = kept.get(query["kept"])
        if found is None or len(found) != 1:
            raise Unanswerable(404, "problem.gone")
        return PageInput(found[0], {"kept": query["kept"]})
    if "id" in query:
        return await stored(service, query["id"])
    return None


async def stored(service: Service, id_: str, name: str = "id") -> PageInput:
    """A document of the collection."""
    found = await service.run(answers.document, service, id_)
    if found.text is None:
        raise Unanswerable(409, "problem.no_texts")
    return PageInput(limited(CachedText(found.text, id_)), {name: id_}, id_)


def document_link(id_: str) -> str:
    """The page about a document of the collection."""
    return PageInput(CachedText("", id_), {"id": id_}, id_).link("/check")


def pair_link(left: str, right: str) -> str:
    """Two documents of the collection side by side."""
    return PageInput(CachedText("", left), {"id": left}, left).link("/pair", [("source", right)])


def limited(given: CachedText) -> CachedText:
    if len(given.text) > MOST_CHARACTERS:
        raise _long(len(given.text))
    return given


def _long(count: int) -> Unanswerable:
    return Unanswerable(413, "problem.long", n=count, most=MOST_CHARACTERS)


@asynccontextmanager
async def form_of(
    request: Request, service: Service, *, most: int | None = None
) -> AsyncIterator[FormData]:
    """The fields of a form, read within the limits of the service, or of so many bytes; its files
    are closed at the end."""
    if media_type(request.scope) not in FORMS:
        raise HTTPProblem(415, f"the body must be {' or '.join(FORMS)}")
    settings = service.settings
    if most is not None:
        settings = settings.replace(max_body=min(most, settings.max_body))
    body = await read_body(request.scope, request.receive, settings)
    try:
        # A large one takes a while, in which the loop would stand still.
        form = await service.run(parsed, request.headers, body)
    except (MultiPartException, ValueError):
        raise HTTPProblem(400, "the form cannot be read") from None
    try:
        yield form
    finally:
        await form.close()


def field(form: FormData, name: str) -> str:
    value = form.get(name, "")
    # Browsers send line ends as two characters, whatever they were.
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def coded(form: FormData, name: str) -> str:
    """A hidden field, which pages write percent-encoded: forms would change its line ends, and no
    control character is in a page."""
    return unquote(field(form, name), errors="replace")


async def text_of(form: FormData, service: Service, *, text: str, file: str) -> CachedText | None:
    """The text of a form: the file if there is one, or else what was typed."""
    brought = form.get(file)
    if isinstance(brought, UploadFile) and (brought.filename or brought.size):
        data = await brought.read()
        name = (brought.filename or "").replace("\\", "/").rsplit("/", 1)[-1][:200]
        try:
            found, encoding = await service.upload_pool.run(text_from, name, data)
        except DocumentTooLongError as error:
            raise _long(error.count) from None
        except UnreadableFile as error:
            raise Unanswerable(422, error.phrase, file=name, reason=error.reason) from None
        return CachedText(found, name, encoding)
    typed = field(form, text)
    return limited(CachedText(typed)) if typed.strip() else None


def in_address(*texts: CachedText) -> bool:
    """Whether texts can be in the address itself."""
    room = ADDRESS_CHARACTERS
    for given in texts:
        room -= len(quote(given.text[: room + 1], errors="replace"))
    return room >= 0 and not any(given.name for given in texts)


def see_other(request: Request, address: str) -> Response:
    """To the page that has the answer; what the address chose goes on."""
    for name in ("lang", "theme"):
        if (chosen := request.query_params.get(name)) is not None:
            address += f"{'&' if '?' in address else '?'}{urlencode({name: chosen})}"
    answer: Response = RedirectResponse(address, 303)
    shell.remember(request, answer)
    return answer


def number_in(request: Request, name: str, default: float, least: float, most: float) -> float:
    """A number of the address, between limits; what is no number is told."""
    given = request.query_params.get(name, "").strip()
    if not given:
        return default
    try:
        value = float(given)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise Unanswerable(422, "problem.number", field=name, value=given, least=least, most=most)
    return value
