"""Shared code of the tests: inputs, made files, processes, browsers, Spark."""
