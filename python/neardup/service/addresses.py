"""Who a client is, by its address."""

from __future__ import annotations

import ipaddress

# Those of one network of IPv6 are most likely of one client.
NETWORK = 64


def client_of(host: str) -> str:
    """The address of a client, or its network of IPv6; what is no address stays as it is."""
    try:
        given = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(given, ipaddress.IPv6Address):
        if given.ipv4_mapped is not None:
            return str(given.ipv4_mapped)
        if not given.is_loopback:
            return str(ipaddress.ip_network((given, NETWORK), strict=False))
    return str(given)
