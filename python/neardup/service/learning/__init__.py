"""The lessons of the page Learn, computed with the library itself.

    steps       a text or typed words → hashes, votes, sums, fingerprint; two of them compared
    radius      the pigeonhole table, a model of edited copies, and a text edited at random
    exercises   worked examples of lecture notes, exercises to do by hand, and their grades
    lessons     query parameters → all of these (`read_lessons`)

Input that a lesson cannot use raises `LessonError`: the key of a phrase, and its values.
`pages.learn` renders the page; nothing here depends on HTTP or HTML.
"""

__all__ = ["exercises", "lessons", "radius", "steps"]
