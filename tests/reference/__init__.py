"""Naive implementations, slow and easy to check; tests compare the fast paths with them."""
