"""Copying: the passages that documents share with others, and their share of each document.

`check.check_copying` is the entry point (`nd.check_copying`). It returns a `findings.Copying`: for
each document a `Finding` with its `Figures` and its `Source`s.

The path of the data:

1. `documents`    parses ids, texts and authors. A `RunIndex`, such as a Collection, looks up its
                  documents itself.
2. `candidates`   hashes runs of words (winnowing) and pairs documents that share a hash: only those
                  pairs are compared.
3. `comparisons`  compares each document with its candidates: passages, equal words, cosine.
4. `rules`        finds the text that does not count: templates, quotations, lists of references,
                  the author's own texts, text that many documents have.
5. `findings`     counts the shared words that remain, by their positions (`spans`), and has the
                  types of the results.

Two texts are compared by `neardup.text.comparison`. Files, reports and the command line are in
packages above this one.
"""

__all__ = ["check", "documents", "findings", "rules"]
