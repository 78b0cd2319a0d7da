"""Reading a capture: responses one by one, or as documents in batches.

Each format has a reader: a function that takes a `Capture` and yields a `CapturedResponse` for each
response; it reports an unreadable record and continues. `read_responses` yields the responses of
any capture, `read_captures` yields batches of their views and columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from neardup._util.arrow import string_array
from neardup.files.reading.batch import (
    BATCH_BYTES,
    BATCH_ROWS,
    MAX_BYTES,
    Batch,
    Task,
    Unreadable,
    format_size,
    key_array,
)
from neardup.files.reading.encodings import SAMPLE, body_charset
from neardup.files.reading.formats import capture_by_name, name_of
from neardup.files.reading.jsonl import map_in_order
from neardup.files.reading.streams import ByteStream, DamagedError, max_unpacked, open_task
from neardup.http.bodies import TOO_LONG, Body, decode_body
from neardup.http.captures import ANY_CAPTURE, detect_format, explain_unknown
from neardup.http.columns import RESPONSE_COLUMNS, column_value, response_batch
from neardup.http.messages import (
    Headers,
    MessageError,
    Response,
    ResponseHead,
    header_value,
    parse_response_head,
)
from neardup.text.views import MASKS, VIEWS, Viewing

if TYPE_CHECKING:
    from neardup.http.views import ViewBuilder

# Counted for each response, beside its body, towards the size of a batch.
RESPONSE_OVERHEAD_BYTES = 512


class CapturedResponse(NamedTuple):
    """A response, its number in the file, and its span in bytes of the decompressed file."""

    response: Response
    number: int
    start: int = 0
    end: int = 0


class Capture:
    """A file being read: its bytes, its limits, and where problems and notes go.

    file      None for an endless stream: its caller passes lines one by one
    max_body  maximum size of a decompressed body in bytes
    """

    def __init__(self, task: Task, file: ByteStream | None = None) -> None:
        self.task = task
        self._file = file
        self.source = name_of(task.path)
        self.max_body = (task.reading.max_document or MAX_BYTES) if file is None else file.most
        self._decompressed = 0
        self._remarks: dict[str, tuple[int, int]] = {}

    @property
    def file(self) -> ByteStream:
        """The bytes of the file, decompressed."""
        assert self._file is not None  # noqa: S101
        return self._file

    @property
    def encoding(self) -> str | None:
        """The encoding from which the file was converted to UTF-8; None if it was not."""
        return None if self._file is None else self._file.encoding

    def refuse(
        self,
        number: int | None,
        reason: str,
        *,
        at: int | None = None,
        kind: str = "",
        hint: str = "",
    ) -> None:
        """Report a record without a readable response.

        at  its position in the decompressed file
        """
        place = "" if at is None else f", at byte {at:,}"
        self.task.report(
            Unreadable(
                self.source, number, f"{reason}{place}", kind or (reason if place else ""), hint
            )
        )

    def remark(self, number: int, *remarks: str) -> None:
        """Count responses with a peculiarity, such as "folded headers"; see `note_remarks`."""
        for each in remarks:
            count, first_number = self._remarks.get(each, (0, number))
            self._remarks[each] = (count + 1, first_number)

    def note_remarks(self) -> None:
        """Write a note for each kind of remark, with its count."""
        for each, (count, first_number) in self._remarks.items():
            sentence = f"1 response has {each} (number {first_number})"
            if count > 1:
                sentence = f"{count:,} responses have {each} (the first is number {first_number})"
            self.task.note(f"{self.source}: {sentence}")
        self._remarks.clear()

    def parse_message(
        self, data: bytes, number: int, *, url: str = "", ip: str = "", is_framed: bool = True
    ) -> Response:
        """Parse the bytes of a response, or raise MessageError."""
        head = parse_response_head(data)
        return self.response(head, data[head.end :], number, url=url, ip=ip, is_framed=is_framed)

    def body(self, headers: Headers, data: bytes, *, is_framed: bool = True) -> Body:
        """Return the decoded body, or raise MessageError.

        Decompression bombs: a body that is too long still takes time to decompress. So the bytes
        that decompression adds in a file have a limit too, the one of a compressed file.
        """
        try:
            body = decode_body(headers, data, self.max_body, is_framed=is_framed)
        except MessageError as error:
            self._count_decompressed(self.max_body - len(data) if error.kind == TOO_LONG else 0)
            raise
        self._count_decompressed(len(body.data) - len(data))
        return body

    def _count_decompressed(self, count: int) -> None:
        # No limit for an endless stream, which may run for months.
        if self._file is None or count <= 0:
            return
        self._decompressed += count
        limit = max_unpacked(self._file.stored, self.task.reading)
        if self._decompressed > limit:
            raise DamagedError(
                f"stopped after {self._decompressed:,} bytes of decompressed bodies: the limit is "
                f"{format_size(limit)}; if that is intended, raise --max-bytes"
            )

    def response(
        self,
        head: ResponseHead,
        data: bytes,
        number: int,
        *,
        url: str = "",
        ip: str = "",
        is_framed: bool = True,
    ) -> Response:
        """Return a response with this head; `data` is the body as sent."""
        body = self.body(head.headers, data, is_framed=is_framed)
        if head.remarks or body.remarks:
            self.remark(number, *head.remarks, *body.remarks)
        return Response(
            url=url,
            status=head.status,
            reason=head.reason,
            headers=head.headers,
            body=body.data,
            charset=body_charset(header_value(head.headers, "content-type"), body.data),
            ip=ip,
            length=len(body.data),
        )


Reader = Callable[[Capture], Iterator[CapturedResponse]]


def reader_of(format_: str) -> Reader:
    """Return the reader of a format; it is imported when such a file is read."""
    match format_:
        case "warc":
            from neardup.http.captures.warc import read_warc

            return read_warc
        case "har":
            from neardup.http.captures.har import read_har

            return read_har
        case "httpx":
            from neardup.http.captures.httpx import read_httpx

            return read_httpx
        case "burp":
            from neardup.http.captures.burp import read_burp

            return read_burp
        case "raw-http":
            from neardup.http.captures.raw import read_raw

            return read_raw
        case _:
            return read_any


def read_any(capture: Capture) -> Iterator[CapturedResponse]:
    """Read a capture of any format, detected by its first bytes; report an unknown format."""
    data = capture.file.peek(SAMPLE)
    format_ = detect_format(data)
    if format_ is None:
        reason, hint = explain_unknown(data)
        capture.refuse(None, reason, hint=hint)
        return
    yield from reader_of(format_)(capture)


def read_responses(task: Task) -> Iterator[CapturedResponse]:
    """Yield the responses of a file one by one, without building views."""
    format_ = capture_by_name(task.path) or ANY_CAPTURE
    with open_task(task) as file:
        capture = Capture(task, file)
        try:
            yield from reader_of(format_)(capture)
        except DamagedError as damage:
            capture.refuse(None, str(damage))
        capture.note_remarks()


def read_captures(format_: str, task: Task) -> Iterator[Batch]:
    """Yield the responses of a file as documents.

    Views are built in background threads, without the GIL, while this thread reads on.
    """
    builder = _BatchBuilder(task)
    with open_task(task) as file:
        capture = Capture(task, file)
        groups = _group_responses(reader_of(format_)(capture), capture)
        first_groups = list(islice(groups, 2))
        # A file of one batch, such as one raw message, is not worth threads; and building two
        # batches at a time would use more cores than `threads` allows.
        if len(first_groups) < 2 or task.reading.threads is not None:
            batches: Iterator[Batch] = map(builder.build, chain(first_groups, groups))
        else:
            batches = map_in_order(builder.build, chain(first_groups, groups))
        for batch in batches:
            if len(batch.ids):
                yield batch
        capture.note_remarks()


def _group_responses(
    responses: Iterable[CapturedResponse], capture: Capture
) -> Iterator[list[CapturedResponse]]:
    """Group responses by size. Damage ends the file; the responses before it are yielded."""
    group: list[CapturedResponse] = []
    size = 0
    try:
        for each in responses:
            group.append(each)
            size += len(each.response.body) + RESPONSE_OVERHEAD_BYTES
            if size >= BATCH_BYTES or len(group) >= BATCH_ROWS:
                yield group
                group, size = [], 0
    except DamagedError as damage:
        capture.refuse(None, str(damage))
    except OSError:
        if group:
            yield group
        raise
    if group:
        yield group


@lru_cache(maxsize=8)
def _view_builder(viewing: Viewing, threads: int | None) -> ViewBuilder:
    """Return one builder for all files: compiling the rules takes a tenth of a second."""
    from neardup.http.views import ViewBuilder

    return ViewBuilder(viewing, threads=threads)


class _BatchBuilder:
    """Builds batches; thread-safe."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._source = name_of(task.path)
        # Without a recipe for HTTP, use all views and all masks.
        self._viewing = task.reading.viewing or Viewing(VIEWS, MASKS)
        self._views = _view_builder(self._viewing, task.reading.threads)

    def build(self, group: Sequence[CapturedResponse]) -> Batch:
        import numpy as np

        reading = self._task.reading
        if reading.id_column is not None:
            group = [each for each in group if self._has_column(each, reading.id_column)]
        responses = [each.response for each in group]
        texts, titles = self._views.build(responses)
        columns = response_batch(responses, titles, self._viewing.within)
        key = None
        if (name := reading.key_column) is not None:
            known = columns[name].to_pylist() if name in RESPONSE_COLUMNS else None
            key = key_array(known or [each.extra.get(name) for each in responses])
        return Batch(
            string_array(self._ids(group, titles)),
            texts,
            np.array([(each.start, each.end) for each in group], dtype=np.int64).reshape(-1, 2),
            np.array([each.number for each in group], dtype=np.int64),
            key,
            others=columns.to_pylist() if reading.others else None,
            facts=columns,
        )

    def _has_column(self, each: CapturedResponse, name: str) -> bool:
        if name in RESPONSE_COLUMNS or name in each.response.extra:
            return True
        known = ", ".join((*RESPONSE_COLUMNS, *each.response.extra))
        self._task.report(
            Unreadable(self._source, each.number, f"no column {name!r} (columns: {known})")
        )
        return False

    def _ids(self, group: Sequence[CapturedResponse], titles: Sequence[str]) -> list[str]:
        name = self._task.reading.id_column
        if name is None:
            return [f"{self._source}:{each.number}" for each in group]
        return [
            column_value(each.response, name, title) or f"{self._source}:{each.number}"
            for each, title in zip(group, titles, strict=True)
        ]


def json_string(value: object) -> str:
    """Return a JSON string with lone surrogates replaced; "" for any other value."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()
