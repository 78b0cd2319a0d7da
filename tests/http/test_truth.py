"""Captures whose kinds are known: found at defaults, by the command, from every format?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import made_captures
from helpers.capture_files import head
from helpers.made_captures import FORMATS, Made, made
from helpers.made_captures.agreement import Agreement, agreement, httpx_clusters, httpx_fingerprint
from neardup import cli

# Adjusted Rand index at defaults, as the issue asks for it.
WANTED = 0.97
K = TypeVar("K")
V = TypeVar("V")


def clusters_of(pages: Sequence[Made], folder: Path, form: str, *options: str) -> list[int]:
    """What `neardup cluster … --as http` says, a number for each page."""
    source = made_captures.write(pages, folder, form)
    out = folder / "clusters.jsonl"
    assert cli.run(["cluster", str(source), "--as", "http", "-o", str(out), *options]) == 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    # A message alone does not tell whether it came over TLS.
    found = {row["url"].partition("://")[2]: row["cluster"] for row in rows}
    assert len(rows) == len(found) == len(pages), "every response is in exactly one cluster"
    return [found[page.response.url.partition("://")[2]] for page in pages]


def kinds_of(pages: Sequence[Made]) -> list[str]:
    return [page.kind for page in pages]


def same(some: Sequence[int], others: Sequence[int]) -> bool:
    """The same partition, whatever the numbers."""
    pairs = set(zip(some, others, strict=True))
    return len(pairs) == len(set(some)) == len(set(others))


def check_found(pages: Sequence[Made], folder: Path, least: float) -> None:
    ours = agreement(kinds_of(pages), clusters_of(pages, folder, "warc"))
    theirs = agreement(kinds_of(pages), httpx_clusters(pages))
    message = f"neardup: {ours}\n{ours.details()}\nhttpx: {theirs}"
    assert ours.ari >= least, message
    assert ours.recall > theirs.recall, message
    assert ours.precision > theirs.precision, message
    assert ours.hidden < theirs.hidden / 3, message


@pytest.mark.parametrize(("held_out", "least"), [(False, 0.986), (True, 0.942)])
def test_kinds_are_found_among_one_site_of_each_genre(
    tmp_path: Path, held_out: bool, least: float
) -> None:
    check_found(made(0, held_out=held_out, count=500, is_brief=True), tmp_path, least)


@pytest.mark.nightly
@pytest.mark.parametrize(("held_out", "least"), [(False, 0.979), (True, 0.987)])
def test_kinds_are_found(tmp_path: Path, held_out: bool, least: float) -> None:
    check_found(made(0, held_out=held_out), tmp_path, least)


@pytest.mark.nightly
@pytest.mark.parametrize(("held_out", "lowest"), [(False, 0.954), (True, 0.944)])
def test_kinds_are_found_in_other_captures(tmp_path: Path, held_out: bool, lowest: float) -> None:
    """Chance decides which kinds are large, so single captures differ more than their mean."""
    found = []
    for seed in range(1, 6):
        pages = made(seed, held_out=held_out, count=3000)
        folder = tmp_path / str(seed)
        folder.mkdir()
        found.append(agreement(kinds_of(pages), clusters_of(pages, folder, "warc")).ari)
    assert sum(found) / len(found) >= WANTED, found
    assert min(found) >= lowest, found


def test_every_format_gives_the_same_clusters(tmp_path: Path) -> None:
    pages = made(2, count=450)[:180]
    found = {}
    for form in FORMATS:
        folder = tmp_path / form
        folder.mkdir()
        found[form] = clusters_of(pages, folder, form)
    first = found["warc"]
    for form, clusters in found.items():
        other = agreement([str(x) for x in first], clusters)
        assert same(first, clusters), f"{form}: {other}\n{other.details()}"


def test_groups_are_kept_apart(tmp_path: Path) -> None:
    """--within host: nothing of two hosts is together, and inside a host nothing changes."""
    pages = [page for page in made(3, count=450) if "/" in page.kind or page.kind == "nginx-404"]
    whole = clusters_of(pages, tmp_path, "httpx")
    parts = clusters_of(pages, tmp_path, "httpx", "--within", "host")
    hosts = [page.response.host for page in pages]
    assert all(len(set(x)) == 1 for x in _groups(parts, hosts).values())
    assert len(set(parts)) > len(set(whole))
    for rows in _groups(hosts, list(range(len(pages)))).values():
        # Chains over other hosts may have joined what alone is apart, never the other way round.
        inner = {parts[row]: whole[row] for row in rows}
        assert all(inner[parts[row]] == whole[row] for row in rows)


def _groups(keys: Sequence[K], values: Sequence[V]) -> dict[K, list[V]]:
    found: dict[K, list[V]] = {}
    for key, value in zip(keys, values, strict=True):
        found.setdefault(key, []).append(value)
    return found


@pytest.mark.parametrize("held_out", [False, True])
def test_what_is_made(held_out: bool) -> None:
    pages = made(5, held_out=held_out, count=400)
    assert pages == made(5, held_out=held_out, count=400)
    assert pages != made(6, held_out=held_out, count=400)
    assert len({page.response.url for page in pages}) == len(pages) == 400
    kinds = Counter(kinds_of(pages))
    several = made_captures.kinds(held_out=held_out)
    assert set(several) == {kind for kind, count in kinds.items() if count > 1}
    assert len(kinds) - len(several) == 40
    # Few kinds have many.
    assert kinds.most_common(1)[0][1] > 3 * sorted(kinds.values())[len(kinds) // 2]
    for kind in several:
        statuses = {page.response.status for page in pages if page.kind == kind}
        assert len(statuses) == 1, kind
    # No two are the same, byte for byte, but where there is nothing that could differ.
    whole = Counter((page.response.headers, page.response.body) for page in pages)
    assert len(whole) > 0.99 * len(pages)
    assert {page.coding for page in pages} == {"", "gzip", "br", "chunked"}
    assert {"gbk", "utf-8"} >= {page.response.charset for page in pages}


def test_a_third_is_held_out() -> None:
    tuning, held_out = made_captures.kinds(), made_captures.kinds(held_out=True)
    # One that everybody knows is in both: a capture without it would be none.
    assert set(tuning) & set(held_out) == {"nginx-404"}
    assert 0.3 < len(held_out) / (len(tuning) + len(held_out)) < 0.45
    with pytest.raises(ValueError, match="count=100: two of each of"):
        made(0, count=100)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=30))
def test_agreement_counts_pairs(rows: list[tuple[int, int]]) -> None:
    kinds, clusters = [str(kind) for kind, _ in rows], [cluster for _, cluster in rows]
    pairs = list(combinations(rows, 2))
    together = [x for x in pairs if x[0][1] == x[1][1]]
    alike = [x for x in pairs if x[0][0] == x[1][0]]
    both = [x for x in together if x[0][0] == x[1][0]]
    found = agreement(kinds, clusters)
    assert found.precision == (len(both) / len(together) if together else 1)
    assert found.recall == (len(both) / len(alike) if alike else 1)
    assert found.hidden == len(set(rows)) - len(set(clusters))
    assert (found.ari == 1) >= (not found.merged and not found.split)


def test_agreement_names_what_is_wrong() -> None:
    found = agreement(["a", "a", "b", "c"], [1, 1, 1, 2])
    assert found.merged == ({"a": 2, "b": 1},)
    assert found.hidden == 1
    assert agreement(["a", "a", "a"], [1, 1, 2]).split == {"a": (2, 1)}
    assert isinstance(found, Agreement)
    assert "1 of them mix kinds (hiding 1)" in str(found)


def test_httpx_fingerprints() -> None:
    """FNV-1 as published (draft-eastlake-fnv), and the sum of bits in the plainest way."""
    # One word: its hash is the fingerprint.
    assert httpx_fingerprint(b"a") == httpx_fingerprint(b" A! ") == 0xAF63BD4C8601B7BE
    assert httpx_fingerprint(b"foobar") == 0x340D8765A4DDA9C2
    assert httpx_fingerprint(b"") == httpx_fingerprint(b"\xe4\xbd\xa0 <>") == 2**64 - 1
    words = [b"one", b"two", b"two", b"http://x.y/z", b"it's"]
    hashes = [httpx_fingerprint(word) for word in words]
    sums = [sum(1 if value >> bit & 1 else -1 for value in hashes) for bit in range(64)]
    naive = sum(1 << bit for bit in range(64) if sums[bit] >= 0)
    assert httpx_fingerprint(b"One, two - two http://x.y/z it's") == naive


def test_httpx_takes_the_first_within_three_bits() -> None:
    pages = made(7, count=400)[:150]
    found = httpx_clusters(pages)
    codes = [
        httpx_fingerprint(head(page.response.status, page.response.headers) + page.response.body)
        for page in pages
    ]
    passed: list[int] = []
    for at, code in enumerate(codes):
        near = [who for who in passed if (codes[who] ^ code).bit_count() <= 3]
        assert found[at] == (near[0] if near else at)
        passed += [] if near else [at]
    assert 1 < len(passed) < len(pages)
