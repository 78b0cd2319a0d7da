"""Texts: their features, fingerprints and similarity.

A `recipe.Recipe` has the settings that turn a text into a fingerprint. It is immutable; its
one-line `identity` is stored with every fingerprint, and only fingerprints of equal identities are
compared. Its `pipeline` is the Rust object that runs these settings. In reading order:

    recipe       checks the settings; presets has the named ones, vocabulary the stop words and
                 document frequencies, views the weights and masks of HTTP responses
    features     weighted tokens, of a text or passed by the caller
    fingerprint  SimHash of one text or of many (`Fingerprints`), and Hamming distances
    comparison   two texts: exact cosine, verdict, shared passages
    differences  two texts of the same words: numbers, negation, symbols, order, lost words
    explain      the votes behind a fingerprint, as a table to read

A text has a signal if it has at least `min_features` features; without one it has no fingerprint.
`neardup.near` finds near-duplicates among many texts.
"""

__all__ = [
    "comparison",
    "differences",
    "explain",
    "features",
    "fingerprint",
    "presets",
    "recipe",
    "views",
    "vocabulary",
]
