"""Settings for all tests."""

import signal

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
