"""Drop-in replacements for older SimHash libraries: change the import, keep the rest.

simhash     `Simhash` and `SimhashIndex` of the PyPI package simhash 2.x
simhash_py  the functions of seomoz's simhash-py and of simhash-pybind

They return the values of the originals, computed by `neardup`; docs/migrating.md compares them.
"""

__all__ = ["simhash", "simhash_py"]
