"""The API by HTTP."""

from __future__ import annotations

import httpx


def test_a_text_is_found_again(served: str) -> None:
    text = httpx.get(f"{served}/v1/documents/notice-harbour").json()["text"]
    found = httpx.post(f"{served}/v1/check", json={"text": text.upper()}).json()
    assert found["matches"][0] == {"id": "notice-harbour", "distance": 0, "similarity": 1.0}
