"""Texts: their features, fingerprints and similarity.

A `recipe.Recipe` says how a text becomes a fingerprint. It is a frozen value; its one-line
`identity` is stored with every fingerprint, and fingerprints of different identities are not
compared. Its `pipeline` is the Rust core, configured. The path of a text:

    recipe       checks the settings; presets has the named ones, vocabulary the stop words and
                 document frequencies, views the weights and masks of HTTP responses
    features     weighted tokens of a text, or passed by the caller
    fingerprint  SimHash of one text or of many (`Fingerprints`), and distances
    comparison   two texts: exact cosine, verdict, shared passages
    explain      the votes behind a fingerprint, as a table to read

Nothing here searches: finding the near texts of many is `neardup.near`.
"""

__all__ = [
    "comparison",
    "explain",
    "features",
    "fingerprint",
    "presets",
    "recipe",
    "views",
    "vocabulary",
]
