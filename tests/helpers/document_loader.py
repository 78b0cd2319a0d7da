"""Add documents to a service until it stops, and record each acknowledged one.

    python document_loader.py URL SIDE-FILE WORKER

A line of the side file is the id of an acknowledged document, synced to disk before the next one is
sent.
"""

from __future__ import annotations

import os
import sys
from itertools import count

import httpx


def main(url: str, side: str, worker: str) -> None:
    with open(side, "a", encoding="ascii") as file, httpx.Client(base_url=url) as client:
        for number in count():
            many = [
                {"id": f"{worker}-{number}-{at}", "text": f"the text of {worker} is {number} {at}"}
                for at in range(1 + number % 3)
            ]
            try:
                answer = client.post("/v1/documents", json=many)
            except httpx.TransportError:
                return
            if answer.status_code == 503:
                continue
            assert answer.status_code == 200, answer.text
            for one in answer.json():
                file.write(f"{one['id']}\n")
            file.flush()
            os.fsync(file.fileno())


if __name__ == "__main__":
    main(*sys.argv[1:])
