"""Settings for all tests."""

import signal

import pytest
from hypothesis import settings

# Tables are built at first use and the machine may be busy: a slow example is no failure.
settings.register_profile("neardup", deadline=None)
settings.load_profile("neardup")

# Tests stop processes by signals. One that is ignored here, since the tests were begun by nohup or
# in the background, would be ignored by these processes too; one that is answered is not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give nightly tests half an hour; the limit of the others is in pyproject.toml."""
    for item in items:
        if item.get_closest_marker("nightly") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(1800))
