"""Small corpora with copies, edited copies and chains, and files of every format that hold them."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from helpers.batches import pack

WORDS = [
    *("harbour", "street", "closed", "traffic", "water", "main", "notice", "bus", "line", "crews"),
    *("Monday", "Friday", "permit", "guard", "barrier", "北京市", "上海", "通知", "道路", "garage"),
]
ODD = ["", " ", "…", "?!", "ok", "ok", "Ok", "ok", "=1+1", 'say "no", never\nsay\tyes', "é" * 9]


class Record(NamedTuple):
    """A record; columns are written in this order."""

    id: str
    text: str
    n: int
    day: str


def texts_of(seed: int, count: int = 36) -> list[str]:
    """Return texts, some of them copies or edited copies of earlier ones."""
    chance = random.Random(seed)
    texts: list[str] = []
    for _ in range(count):
        kind = chance.random()
        if texts and kind < 0.2:
            text = chance.choice(texts)
            texts.append(chance.choice([text, text.upper(), f"{text}!"]))
        elif texts and kind < 0.6:
            # Copies of copies make chains whose ends are far apart.
            words = chance.choice(texts[-4:]).split()
            for _ in range(chance.randint(1, 2)):
                at = chance.randint(0, len(words))
                words[at : at + chance.randint(0, 1)] = [chance.choice(WORDS)]
            texts.append(" ".join(words))
        elif kind < 0.75:
            texts.append(chance.choice(ODD))
        else:
            texts.append(" ".join(chance.choices(WORDS, k=chance.randint(3, 16))))
    return texts


def records_of(seed: int, count: int = 36) -> list[Record]:
    chance = random.Random(seed + 1000)
    return [
        # 9 and 10 sort differently as strings.
        Record(f"r{row}", text, chance.randint(8, 11), f"2026-{chance.randint(9, 12):02}-01")
        for row, text in enumerate(texts_of(seed, count))
    ]


def single_lines(records: Sequence[Record]) -> list[Record]:
    return [record._replace(text=" ".join(record.text.split())) for record in records]


def pieces_of(records: Sequence[Record], kind: str) -> tuple[bytes, list[bytes]]:
    """Return the header and the bytes of each record, with varying whitespace and escapes."""
    if kind == "jsonl":
        lines = []
        for row, record in enumerate(records):
            # Spaces, escapes and line ends vary, since output must preserve them.
            space = (",", ":") if row % 3 else (", ", ": ")
            line = json.dumps(record._asdict(), ensure_ascii=row % 2 == 0, separators=space)
            lines.append(line.encode() + (b"\r\n" if row % 5 == 0 else b"\n"))
        return b"", lines
    if kind == "lines":
        return b"", [record.text.encode() + b"\n" for record in records]
    delimiter = {"csv": ",", "tsv": "\t"}[kind]
    rows = [_cells(Record._fields, delimiter, csv.QUOTE_MINIMAL)]
    for row, record in enumerate(records):
        quoting = csv.QUOTE_ALL if row % 2 else csv.QUOTE_MINIMAL
        rows.append(_cells(record, delimiter, quoting))
    return rows[0], rows[1:]


def _cells(cells: Sequence[Any], delimiter: str, quoting: Any) -> bytes:
    made = io.StringIO(newline="")
    csv.writer(made, delimiter=delimiter, quoting=quoting, lineterminator="\n").writerow(cells)
    return made.getvalue().encode()


def write(path: Path, records: Sequence[Record], kind: str, packing: str = "") -> Path:
    header, rows = pieces_of(records, kind)
    path.write_bytes(pack(header + b"".join(rows), packing))
    return path


def parquet_of(records: Sequence[Record]) -> pa.Table:
    schema = pa.schema(
        [
            pa.field("id", pa.string(), nullable=False),
            pa.field("text", pa.large_string()),
            pa.field("n", pa.int16()),
            pa.field("day", pa.dictionary(pa.int32(), pa.string())),
            pa.field("more", pa.list_(pa.int8())),
        ],
        metadata={"owner": "works office"},
    )
    columns = [list(column) for column in zip(*records, strict=True)] or [[], [], [], []]
    columns.append([[row % 5, 1] for row in range(len(records))])
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def write_parquet(path: Path, records: Sequence[Record]) -> Path:
    pq.write_table(parquet_of(records), path, row_group_size=7)
    return path


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a table written by a job."""
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(io.StringIO(text, newline="")))
