"""The evidence of copying: what documents share with others, and how much of them that is."""
