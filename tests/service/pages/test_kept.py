"""Texts are kept for a while, under names nobody can guess, and never too many."""

from __future__ import annotations

import threading

from neardup.service.pages.text_cache import CachedText, TextCache


def test_what_was_put_is_found_under_its_name_only() -> None:
    kept = TextCache()
    names = {
        kept.put(CachedText("a")),
        kept.put(CachedText("a")),
        kept.put(CachedText("b"), CachedText("c")),
    }
    assert len(names) == 3
    assert sorted(len(kept.get(name) or ()) for name in names) == [1, 1, 2]
    assert kept.get("") is None
    assert kept.get("other") is None


def test_the_one_nobody_asked_for_goes_first() -> None:
    kept = TextCache(most=3)
    first, second, third = (kept.put(CachedText(text)) for text in "abc")
    assert kept.get(first)
    fourth = kept.put(CachedText("d"))
    assert kept.get(second) is None
    assert all(kept.get(name) for name in (first, third, fourth))


def test_bytes_are_limited_but_the_newest_stays() -> None:
    kept = TextCache(most_bytes=10_000)
    names = [kept.put(CachedText("x" * 2_000)) for _ in range(5)]
    assert [kept.get(name) is not None for name in names] == [False] * 4 + [True]
    huge = kept.put(CachedText("y" * 100_000))
    assert kept.get(huge) is not None
    assert kept.get(names[-1]) is None


def test_threads_do_not_lose_count() -> None:
    kept = TextCache(most=50)

    def work() -> None:
        for at in range(200):
            kept.get(kept.put(CachedText(str(at))))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept._texts) == 50
    assert kept._bytes == sum(text.size for (text,) in kept._texts.values())
