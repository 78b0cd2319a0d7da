"""Read a WARC file with other libraries. Runs in .venv-peers.

    python warc_readers.py TASK FILE.warc

fastwarc  read the records and their payloads
lexbor    read them and parse every HTML page
simhash   read with warcio and compute a SimHash of the words of every response: the usual way today

Prints the number of responses as JSON.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator

WORD = re.compile(r"\w+")


def payloads(path: str) -> Iterator[tuple[str, bytes]]:
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    with open(path, "rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            yield record.http_content_type or "", record.reader.read()


def fastwarc(path: str) -> int:
    return sum(1 for _ in payloads(path))


def lexbor(path: str) -> int:
    from selectolax.lexbor import LexborHTMLParser

    count = 0
    for content, body in payloads(path):
        if content == "text/html":
            LexborHTMLParser(body)
        count += 1
    return count


def simhash(path: str) -> int:
    from simhash import Simhash
    from warcio.archiveiterator import ArchiveIterator

    count = 0
    with open(path, "rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type != "response":
                continue
            text = record.content_stream().read().decode("utf-8", "replace")
            Simhash(WORD.findall(text.lower()))
            count += 1
    return count


TASKS: dict[str, Callable[[str], int]] = {
    "fastwarc": fastwarc,
    "lexbor": lexbor,
    "simhash": simhash,
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](sys.argv[2])))
