"""Deduplication of texts in memory: which to keep, and of which each removed one is a duplicate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neardup._util.arrow import array_values, plain_array, string_column
from neardup._util.numbers import check_int, check_threads
from neardup.near.clusters import PairGraph, gather_pairs
from neardup.near.corpus import memory_corpus, texts_and_lengths
from neardup.near.join import LocalEngine
from neardup.near.keep import Keep
from neardup.near.matches import EXACT_SIMILARITY, removed_rows
from neardup.near.question import Linkage, Question, check_linkage, check_question
from neardup.near.templates import Template, find_templates
from neardup.text.differences import Distinguished
from neardup.text.fingerprint import RecipeLike
from neardup.text.recipe import as_recipe

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from neardup.near.corpus import Judge
    from neardup.near.matches import Clusters


@dataclass(frozen=True, eq=False)
class Deduplication:
    """Which texts to keep, by row number. It can be pickled.

    kept        rows to keep, ascending
    removed     a table: row, dup_of (the row kept in its place), distance (null without a
                fingerprint), similarity (exact cosine with the row kept), differs (what the cosine
                does not see: "numbers", "negation", "symbols", "order", joined by commas), lost
                (number of words of the row that the one kept lacks)
    clusters    for each row the row kept of its cluster; a row that is alone has its own number
    recall      estimated share of pairs found, of those just above the similarity threshold; None
                if no such pair was found, and with a radius
    similarity  the threshold, or None
    radius      the radius, or None
    distinguish the aspects in which near-duplicates must not differ
    links       all pairs, with `dedup(…, pairs=True)`; `at` and `pairs` need them
    """

    kept: NDArray[np.int64]
    removed: pa.Table
    clusters: NDArray[np.int64]
    recall: float | None
    similarity: float | None = None
    radius: int | None = None
    distinguish: tuple[Distinguished, ...] = ()
    links: PairGraph | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"Deduplication({len(self.kept)} kept, {len(self.removed)} removed)"

    @property
    def ratio(self) -> float:
        """The share of texts that are removed; 0 without texts."""
        return len(self.removed) / max(1, len(self.clusters))

    @property
    def exact_ratio(self) -> float:
        """The share of texts removed at similarity 1: with the features of the text kept."""
        import numpy as np

        exact = array_values(self.removed["similarity"]) >= EXACT_SIMILARITY
        return int(np.count_nonzero(exact)) / max(1, len(self.clusters))

    def least_similar(self, n: int = 10) -> pa.Table:
        """Return the `n` rows of `removed` with the lowest similarity, lowest first.

        Read their texts: if they are not duplicates, choose a higher similarity.
        """
        import numpy as np

        count = check_int("n", n, 1, 2**63 - 1)
        order = np.argsort(array_values(self.removed["similarity"]), kind="stable")
        return self.removed.take(order[:count])

    @property
    def pairs(self) -> pa.Table:
        """All pairs found: left < right (rows), distance, similarity (null with a radius).

        Of texts with identical features only the first in keep order is compared with other texts;
        the others are paired with that one only.
        """
        return self._links("pairs").table(Question(self.similarity, self.radius, 1.0))

    def at(self, similarity: float | None = None, *, radius: int | None = None) -> Deduplication:
        """Return the result for a higher similarity, or a smaller radius, from the pairs found.

        It equals that of a new run, except that with a recall below 1 the two may miss different
        pairs. The recall here is at least the one asked for; `recall` remains that of the run.

        >>> texts = ["one two three four five", "one two three four six", "One two three four five"]
        >>> found = dedup(texts, 0.5, pairs=True)
        >>> found.kept.tolist(), found.at(0.9).kept.tolist()
        ([0], [0, 1])
        """
        links = self._links("at")
        run = links.question
        if (similarity is None) == (radius is None):
            raise ValueError("at takes a similarity or a radius; give one of them")
        if (similarity is None) != (run.similarity is None):
            names = ("similarity", "radius")
            passed, used = names if radius is None else names[::-1]
            raise ValueError(
                f"the pairs were found by {used}, so at takes no {passed}; "
                f"run dedup with {passed}={similarity if radius is None else radius}"
            )
        question = check_question(
            similarity,
            radius,
            run.recall,
            bits=links.recipe.bits,
            distinguish=run.all_distinguished,
            fields=True,
        )
        if question.similarity is not None and question.similarity < (run.similarity or 0):
            raise ValueError(
                f"similarity is {similarity}; pairs were found from {run.similarity} on, "
                "so at takes no less: run dedup again"
            )
        if question.radius is not None and question.radius > (run.radius or 0):
            raise ValueError(
                f"radius is {radius}; pairs were found up to {run.radius}, "
                "so at takes no more: run dedup again"
            )
        found = links.clusters(question)
        return _deduplication(
            found, links.judge(), self.recall, question, links.linkage, links.order, links
        )

    def templates(self, texts: Any, *, samples: int = 5) -> list[Template]:
        """Return the clusters that are templates, those with the most records first: records made
        from one form with other fields.

        texts    the texts of the run
        samples  number of values to return of each field

        `dedup(texts, distinguish="fields")` keeps records with other fields apart.

        >>> texts = [f"Parcel {n} was sent to {town} and will arrive in three working days"
        ...          for n, town in enumerate(["Rome", "Oslo", "Bern", "Graz", "Riga"], 10)]
        >>> template, = dedup(texts, 0.6).templates(texts, samples=2)
        >>> template.form, template.fields
        ('Parcel <*> was sent to <*> and will arrive in three working days', \
(('10', '11'), ('Rome', 'Oslo')))
        """
        import numpy as np

        column, count = string_column(texts), check_int("samples", samples, 1, 2**63 - 1)
        if len(column) != len(self.clusters):
            raise ValueError(
                f"texts has {len(column)} texts; the run had {len(self.clusters)}: pass the same"
            )
        rows, _ = texts_and_lengths(column)
        similarity = np.full(len(column), np.nan)
        similarity[array_values(self.removed["row"])] = array_values(self.removed["similarity"])
        found = find_templates(self.clusters, similarity, rows)
        return found.largest(rows, len(found), count)

    def _links(self, name: str) -> PairGraph:
        if self.links is None:
            raise ValueError(
                f"{name} needs all pairs, which this run has not kept; run dedup(texts, pairs=True)"
            )
        return self.links


def dedup(
    texts: Any,
    similarity: float | None = None,
    *,
    radius: int | None = None,
    recall: float | None = None,
    keep: str = "first",
    linkage: Linkage = "star",
    recipe: RecipeLike = None,
    keys: Any = None,
    threads: int | None = None,
    pairs: bool = False,
    distinguish: str | Iterable[str] | None = None,
    purpose: str | None = None,
) -> Deduplication:
    """Find near-duplicates among texts and decide which to keep.

    texts       a list or any iterable of str, or an Arrow, Polars or pandas column; a missing text
                is kept
    similarity  threshold: texts of at least this cosine are near-duplicates [default: 0.85]; every
                pair is verified
    radius      instead of a similarity: maximum number of bits in which fingerprints differ; pairs
                are not verified
    recall      share to find of the pairs at the threshold [default: 0.99; with a radius 1, all
                pairs]
    keep        which text of a cluster: "first", "longest", "shortest"; "newest:NAME" and
                "best:NAME" keep the one with the largest of `keys`
    linkage     "star": each text removed is near the one kept for it; "connected": chains of pairs,
                whose ends may be less similar than the threshold
    recipe      how a text becomes a fingerprint: a Recipe, the name of a preset, a .toml file
    keys        values for keep, one a text: numbers, dates or strings
    threads     cores to use [default: all]
    pairs       keep all pairs, for `pairs` and `at` of the result: 18 bytes each, and the texts
                stay in memory. The number of pairs grows with the square of the texts in a cluster
    distinguish aspects in which near-duplicates must not differ, whatever their cosine: "numbers",
                "negation", "symbols", "order", several as a list or joined by commas. With "order"
                the similarity is at most the share of words in the same order. "fields": records
                made from one form, in its fields (see `Deduplication.templates`)
    purpose     sets similarity and distinguish for a kind of texts, unless they are given:
                "corpus" (the default), "news" (reposted stories), "records" (titles, products,
                questions), "templates" (forms with other fields); see docs/purposes.md

    A text with too few words for a fingerprint is removed only if it equals another; a text without
    a letter or digit, never.

    >>> found = dedup(["the cat sat on the mat", "The cat sat on the mat!", "we all scream"])
    >>> found.kept.tolist(), found.removed.to_pylist()
    ([0, 2], [{'row': 1, 'dup_of': 0, 'distance': 0, 'similarity': 1.0, 'differs': '', 'lost': 0}])
    >>> dedup(["take 5 mg of it", "take 50 mg of it"], 0.5, distinguish="numbers").kept.tolist()
    [0, 1]
    """
    policy = Keep.parse(keep)
    check_threads(threads)
    check_linkage(linkage)
    chosen = as_recipe(recipe)
    question = check_question(
        similarity,
        radius,
        recall,
        bits=chosen.bits,
        distinguish=distinguish,
        fields=True,
        purpose=purpose,
    )
    chosen = question.apply_to(chosen)
    column = string_column(texts)
    corpus = memory_corpus(column, chosen, question, threads=threads)
    order = policy.order(corpus.lengths, _key_array(keys, policy, len(column)))
    matches = LocalEngine().match(corpus, question, order=order, threads=threads)
    links = None
    if pairs:
        links = PairGraph(
            *gather_pairs(matches.pairs(), judged=question.similarity is not None),
            twins=matches.twins,
            order=order,
            signal=corpus.signal,
            question=question,
            linkage=linkage,
            texts=column,
            recipe=chosen,
            threads=threads,
        )
    found = matches.clusters(linkage) if links is None else links.clusters(question)
    recall = matches.counts.estimated_recall
    return _deduplication(found, matches.judge, recall, question, linkage, order, links)


def _deduplication(
    found: Clusters,
    judge: Judge,
    recall: float | None,
    question: Question,
    linkage: Linkage,
    order: NDArray[np.int64] | None,
    links: PairGraph | None,
) -> Deduplication:
    import numpy as np

    if question.fields:
        texts, threads = judge.corpus.texts, judge.threads
        templates = find_templates(found.labels, found.similarity, texts, threads=threads)
        found = templates.split(found, judge, question, linkage, order)
    kept = np.flatnonzero(found.labels == np.arange(len(found.labels)))
    return Deduplication(
        kept,
        removed_rows(found, judge),
        found.labels,
        recall,
        question.similarity,
        question.radius,
        question.all_distinguished,
        links,
    )


def _key_array(keys: Any, policy: Keep, rows: int) -> Any:
    """Check `keys`, the values that the keep policy compares; return them as an Arrow array."""
    import pyarrow as pa

    if policy.column is None:
        return None
    if keys is None:
        raise ValueError(f"keep is {policy}; pass the values of {policy.column!r} as keys")
    if isinstance(keys, Mapping):
        raise TypeError(f"keys is a {type(keys).__name__}; pass its values, one for each text")
    is_arrow = isinstance(keys, pa.Array | pa.ChunkedArray)
    array = keys if is_arrow else pa.array(keys, from_pandas=True)
    if len(array) != rows:
        raise ValueError(f"keys has {len(array)} values for {rows} texts; give one for each text")
    if isinstance(array, pa.ChunkedArray):
        array = pa.chunked_array([plain_array(chunk) for chunk in array.chunks] or [pa.nulls(0)])
        return array.combine_chunks()
    return plain_array(array)
