"""Small helpers that know nothing about near-duplicates.

numbers        checks of numbers that callers pass: integers, fractions, threads
strings        checks of Unicode text, widths on a terminal, a stable digest of a value
arrow          columns of texts (lists, Arrow, Polars, pandas) and fast conversion to and from NumPy
lazy           a cached property without a lock, and a lock that is safe across forks
extras         how to install the packages of an extra
settings_file  bounded reads of small files: recipes, options, word lists

Nothing here imports another package of neardup, and importing it loads neither NumPy nor Arrow.
"""

__all__ = ["arrow", "extras", "lazy", "numbers", "settings_file", "strings"]
