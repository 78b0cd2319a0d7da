"""Shared code of the tests: inputs, generated files, processes, browsers, Spark."""
