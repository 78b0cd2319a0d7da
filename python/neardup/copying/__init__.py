"""Copying: which passages documents share with others, and how much of each document that is.

`check.check_copying` is the entry point (`nd.check_copying`). It returns a `findings.Copying`: for
each document a `Finding` with its `Figures` and its `Source`s.

The path of the data:

1. `documents`    parses what the caller passed: ids, texts, authors; a `RunIndex` such as a
                  Collection finds its documents itself.
2. `candidates`   hashes runs of words (winnowing) and pairs documents that share one, so that
                  only those pairs are compared.
3. `comparisons`  compares each document with its candidates: passages, equal words, cosine.
4. `rules`        removes everything that does not count: templates, quotations, lists of
                  references, the author's own texts, text that many documents have.
5. `findings`     counts the rest on the words of the document (`spans`) and holds the results.

Comparing two texts is `neardup.text.comparison`; files, reports and the command line are above.
"""

__all__ = ["check", "documents", "findings", "rules"]
