"""Text to features to fingerprints, and the similarity of two texts."""
