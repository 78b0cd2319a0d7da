"""Settings for all tests."""

from hypothesis import settings

# Tables are built at first use and the machine may be busy: a slow example is no failure.
settings.register_profile("neardup", deadline=None)
settings.load_profile("neardup")
