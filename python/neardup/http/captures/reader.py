"""Responses that a capture holds → documents in batches: their views, and facts beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup._util.arrow import numbers, strings
from neardup.files.reading.batch import BATCH_BYTES, BATCH_ROWS, FACTS, Batch, Task, key_array
from neardup.files.reading.document import MAX_BYTES, Unreadable, name_of, size_of
from neardup.files.reading.jsonl import in_order
from neardup.files.reading.streams import ByteStream, DamagedError, most_unpacked, open_told
from neardup.http.bodies import TOO_LONG, Body, body_of
from neardup.http.encoding import charset_of
from neardup.http.masks import MASKS, VIEWS
from neardup.http.messages import Head, Headers, MessageError, Response, first, response_head
from neardup.text.views import Viewing

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.http.views import Views

# What a response costs beside its body.
OVERHEAD = 512


class CapturedResponse(NamedTuple):
    """A response, its number in the file, and where its record lies in it, unpacked."""

    response: Response
    number: int
    start: int = 0
    end: int = 0


class Capture:
    """A file that is read: whom its reader tells what.

    file  None for a stream without end, whose lines are taken from elsewhere
    most  bytes that a body may have
    """

    def __init__(self, task: Task, file: ByteStream | None = None) -> None:
        self.task = task
        self._file = file
        self.source = name_of(task.path)
        self.most = (task.reading.max_document or MAX_BYTES) if file is None else file.most
        self._unpacked = 0
        self._remarks: dict[str, tuple[int, int]] = {}

    @property
    def file(self) -> ByteStream:
        """What its reader reads."""
        assert self._file is not None  # noqa: S101
        return self._file

    @property
    def encoding(self) -> str | None:
        """What the file was decoded from; None if its bytes are taken as they are."""
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
        """A record gives no response.

        at  the byte of the unpacked file where it begins
        """
        place = "" if at is None else f", at byte {at:,}"
        self.task.report(
            Unreadable(
                self.source, number, f"{reason}{place}", kind or (reason if place else ""), hint
            )
        )

    def remark(self, number: int, *remarks: str) -> None:
        """A response is read in another way than one may expect; said once a file, with a count.

        remarks  what it has: "folded headers"
        """
        for each in remarks:
            count, seen = self._remarks.get(each, (0, number))
            self._remarks[each] = (count + 1, seen)

    def tell(self) -> None:
        """All that was remarked."""
        for each, (count, seen) in self._remarks.items():
            have = f"1 response has {each} (number {seen})"
            if count > 1:
                have = f"{count:,} responses have {each} (the first is number {seen})"
            self.task.note(f"{self.source}: {have}")
        self._remarks.clear()

    def message(
        self, data: bytes, number: int, *, url: str = "", ip: str = "", is_framed: bool = True
    ) -> Response:
        """The response that bytes are, or a MessageError."""
        head = response_head(data)
        return self.response(head, data[head.end :], number, url=url, ip=ip, is_framed=is_framed)

    def body(self, headers: Headers, data: bytes, *, is_framed: bool = True) -> Body:
        """A body as it was meant.

        One that is too long costs the time to find that out. A file of many such is stopped: what
        unpacking adds to its bodies has the limit that a packed file has.
        """
        try:
            found = body_of(headers, data, self.most, is_framed=is_framed)
        except MessageError as bad:
            self._spend(self.most - len(data) if bad.kind == TOO_LONG else 0)
            raise
        self._spend(len(found.data) - len(data))
        return found

    def _spend(self, count: int) -> None:
        # A stream may go on for months: no sum of it tells anything.
        if self._file is None or count <= 0:
            return
        self._unpacked += count
        most = most_unpacked(self._file.stored, self.task.reading)
        if self._unpacked > most:
            raise DamagedError(
                f"stopped after {self._unpacked:,} bytes of unpacked bodies: the limit is "
                f"{size_of(most)}; if the file is meant to be so large, allow more with --max-bytes"
            )

    def response(
        self,
        head: Head,
        data: bytes,
        number: int,
        *,
        url: str = "",
        ip: str = "",
        is_framed: bool = True,
    ) -> Response:
        """A response with this head and the bytes of its body as they came."""
        body = self.body(head.headers, data, is_framed=is_framed)
        if head.odd or body.remarks:
            self.remark(number, *head.odd, *body.remarks)
        return Response(
            url=url,
            status=head.status,
            reason=head.reason,
            headers=head.headers,
            body=body.data,
            charset=charset_of(first(head.headers, "content-type"), body.data),
            ip=ip,
            length=len(body.data),
        )


# Gives the responses of a file in order, reports what is none, and goes on.
Reader = Callable[[Capture], Iterator[CapturedResponse]]


def read_captures(reader: Reader, task: Task) -> Iterator[Batch]:
    """The responses of one file as documents.

    Views are made outside the GIL, on threads of their own, while more is read.
    """
    making = _Making(task)
    with open_told(task) as file:
        capture = Capture(task, file)
        groups = _groups(reader(capture), capture)
        first_groups = list(islice(groups, 2))
        # Most raw messages are files of their own, not worth threads; and two batches at a time
        # would take more cores than were asked for.
        if len(first_groups) < 2 or task.reading.threads is not None:
            batches: Iterator[Batch] = map(making.batch, chain(first_groups, groups))
        else:
            batches = in_order(making.batch, chain(first_groups, groups))
        for batch in batches:
            if len(batch.ids):
                yield batch
        capture.tell()


def _groups(
    found: Iterable[CapturedResponse], capture: Capture
) -> Iterator[list[CapturedResponse]]:
    """Responses by the batch. Damage ends them: what was before is as good as ever."""
    group: list[CapturedResponse] = []
    size = 0
    try:
        for each in found:
            group.append(each)
            size += len(each.response.body) + OVERHEAD
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
def _views(viewing: Viewing, threads: int | None) -> Views:
    """Made once for all files: the rules of masks take a while to be made ready."""
    # It takes Arrow, which takes longer to load than all else.
    from neardup.http import views

    return views.Views(viewing, threads=threads)


class _Making:
    """Makes batches, each on whatever thread."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._source = name_of(task.path)
        # Without a recipe for HTTP all is shown, and masked.
        self._viewing = task.reading.viewing or Viewing(tuple(VIEWS), tuple(MASKS))
        self._views = _views(self._viewing, task.reading.threads)

    def batch(self, group: Sequence[CapturedResponse]) -> Batch:
        import numpy as np

        reading = self._task.reading
        if reading.id_column is not None:
            group = [each for each in group if self._has(each, reading.id_column)]
        responses = [each.response for each in group]
        texts, titles = self._views.views_of(responses)
        facts = self._facts(responses, titles)
        rows = facts.to_pylist() if reading.others else None
        key = None
        if (name := reading.key_column) is not None:
            column = facts[name].to_pylist() if name in FACTS else None
            key = key_array(column or [each.extra.get(name) for each in responses])
        return Batch(
            strings(self._ids(group, titles)),
            texts,
            np.array([(each.start, each.end) for each in group], dtype=np.int64).reshape(-1, 2),
            np.array([each.number for each in group], dtype=np.int64),
            key,
            others=rows,
            facts=facts,
        )

    def _has(self, each: CapturedResponse, column: str) -> bool:
        if column in FACTS or column in each.response.extra:
            return True
        there = ", ".join((*FACTS, *each.response.extra))
        self._task.report(
            Unreadable(self._source, each.number, f"no column {column!r} (there is {there})")
        )
        return False

    def _ids(self, group: Sequence[CapturedResponse], titles: Sequence[str]) -> list[str]:
        column = self._task.reading.id_column
        if column is None:
            return [f"{self._source}:{each.number}" for each in group]
        return [
            fact_of(each.response, column, title) or f"{self._source}:{each.number}"
            for each, title in zip(group, titles, strict=True)
        ]

    def _facts(self, responses: Sequence[Response], titles: Sequence[str]) -> pa.RecordBatch:
        import numpy as np
        import pyarrow as pa

        columns: dict[str, Any] = {
            "url": strings([each.url for each in responses]),
            "host": strings([each.host for each in responses]),
            "ip": strings([each.ip for each in responses]),
            "status": numbers(np.array([each.status for each in responses], dtype=np.int32)),
            "title": strings(titles),
            "server": strings([first(each.headers, "server") for each in responses]),
            "content_type": strings([first(each.headers, "content-type") for each in responses]),
            "length": numbers(np.array([each.length for each in responses], dtype=np.int64)),
        }
        within = self._viewing.within
        if within is not None and within not in FACTS:
            columns[within] = strings([each.extra.get(within, "") for each in responses])
        return pa.RecordBatch.from_pydict(columns)


def fact_of(response: Response, name: str, title: str) -> str:
    """A fact of a response, or what else the capture says of it, as a string; "" if nothing.

    title  as its view has it
    """
    if name == "title":
        return title
    if name in ("server", "content_type"):
        return first(response.headers, name.replace("_", "-"))
    if name in FACTS:
        return str(getattr(response, name))
    return response.extra.get(name, "")


def clean(text: object) -> str:
    """A string of JSON as text: half a surrogate pair is no character, NUL is in no header."""
    if not isinstance(text, str):
        return ""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text
