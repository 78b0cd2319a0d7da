"""Who a client is, by its address."""

from __future__ import annotations

import pytest

from neardup.service.auth import client_of


@pytest.mark.parametrize(
    ("host", "client"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.9.9.9", "127.9.9.9"),
        ("::1", "::1"),
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_who_is_at_the_other_end(host: str, client: str) -> None:
    assert client_of(host) == client


def test_what_is_no_address_stays_as_it_is() -> None:
    assert client_of("unknown") == "unknown"
