"""Small helpers that know nothing of near-duplicates."""
