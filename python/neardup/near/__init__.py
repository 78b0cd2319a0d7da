"""Who is near whom: the one place that decides it.

question   what counts as near: a similarity and a recall, or a radius
corpus     what is compared: sketches or fingerprints, and the texts
judge      the verdict on two texts: exact cosine, distance
sample     some of the pairs that were judged, for a report
matches    what a search of a corpus has found
join       a corpus with itself; radius: the same by the bits of fingerprints
lookup     texts against a corpus: all that are near, or the best
ranking    texts against a corpus: the best, however near they are
"""
