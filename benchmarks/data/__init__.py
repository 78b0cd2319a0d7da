"""Inputs of the benchmarks: real corpora, generated texts, planted near-duplicates."""
