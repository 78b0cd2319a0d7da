"""Who a client is, by its address."""

from __future__ import annotations

import pytest

from neardup.service.addresses import client_of, is_here


@pytest.mark.parametrize(
    ("host", "client", "here"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("127.9.9.9", "127.9.9.9", True),
        ("::1", "::1", True),
        ("::ffff:127.0.0.1", "127.0.0.1", True),
        ("::ffff:192.0.2.7", "192.0.2.7", False),
        ("192.0.2.7", "192.0.2.7", False),
        ("192.0.2.9", "192.0.2.9", True),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", False),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64", False),
        ("fe80::1%eth0", "fe80::/64", False),
    ],
)
def test_who_is_at_the_other_end(host: str, client: str, here: bool) -> None:
    assert client_of(host) == client
    # The service listens at this address.
    assert is_here(host, "192.0.2.9") == here


def test_what_is_no_address_stays_as_it_is() -> None:
    assert client_of("unknown") == "unknown"
