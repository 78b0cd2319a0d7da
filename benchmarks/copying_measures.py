"""Compare measures of copying: how well each separates copies from honest texts.

    python benchmarks/copying_measures.py [--data DIR] [--cases 100] [--made-up] [--worst]
        [--languages English Chinese] [--min-words 6] [--min-chars 13] [--bridge 2]
    python benchmarks/copying_measures.py --pasted FILE.jsonl.gz ... [--half 1] [--cases 100]

Prints for each language, and for both together, the area under the ROC curve of each measure by
kind of copying: the probability that a copy scores higher than an honest text on the same subject,
0.5 for a guess. Then prints the distribution of coverage and the verdicts by kind. Measures:

* neardup: cosine of the default recipe; coverage and containment, the larger of both directions
* scikit-learn: TF-IDF cosine, fitted on all texts of the language, and Jaccard of word 3-grams;
  jieba segments Chinese

--pasted prints instead how much of an edited paragraph lies in passages, for files of texts in
any language (data/pasted_texts.py); --half 0 is for choosing settings, 1 for reporting them.

data/copied_texts.py describes the texts. --worst prints the copies with the least coverage and the
honest texts with the most.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

import neardup as nd
from data import copied_texts, pasted_texts
from neardup.text.comparison import Verdict

MEASURES = ("cosine", "coverage", "containment", "TF-IDF cosine", "3-gram Jaccard")
HONEST = ("honest", "honest, long")
OVERALL = "all"
EXCERPT = 300


@dataclass(frozen=True)
class Scores:
    """Pairs of a language and their scores by measure."""

    language: str
    pairs: list[copied_texts.Pair]
    by_measure: dict[str, list[float]]
    longest: list[int]


def pairs(
    data: Path | None, language: str, count: int, *, made_up: bool = False, seed: int = 7
) -> list[copied_texts.Pair]:
    rng = random.Random(seed)
    return [
        pair
        for case in copied_texts.cases(data, language, count, made_up=made_up)
        for pair in copied_texts.pairs(case, rng)
    ]


def score(language: str, given: list[copied_texts.Pair], **settings: int) -> Scores:
    """Score pairs by every measure. `settings` are the passage options of `nd.compare`."""
    ours = [nd.compare(pair.source, pair.suspect, None, **settings) for pair in given]
    return Scores(
        language,
        given,
        {
            "cosine": [each.similarity for each in ours],
            "coverage": [max(each.coverage_left, each.coverage_right) for each in ours],
            "containment": [max(each.containment_left, each.containment_right) for each in ours],
            "TF-IDF cosine": _tfidf(given, _tokenizer(language)),
            "3-gram Jaccard": _jaccard(given, _tokenizer(language)),
        },
        [each.longest for each in ours],
    )


def _tokenizer(language: str) -> Callable[[str], list[str]] | None:
    """Return a tokenizer, or None for the default of scikit-learn, which splits at spaces."""
    if language == "English":
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba

    jieba.setLogLevel(60)
    cut: Callable[[str], list[str]] = jieba.lcut
    return lambda text: [word for word in cut(text) if word[0].isalnum()]


def _tfidf(
    given: Sequence[copied_texts.Pair], tokenizer: Callable[[str], list[str]] | None
) -> list[float]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    pattern = r"(?u)\b\w\w+\b" if tokenizer is None else None
    vectors = TfidfVectorizer(tokenizer=tokenizer, token_pattern=pattern).fit_transform(
        _texts(given)
    )
    return _flat(vectors[::2].multiply(vectors[1::2]).sum(axis=1))


def _jaccard(
    given: Sequence[copied_texts.Pair], tokenizer: Callable[[str], list[str]] | None
) -> list[float]:
    from sklearn.feature_extraction.text import CountVectorizer

    pattern = r"(?u)\b\w+\b" if tokenizer is None else None
    vectors = CountVectorizer(
        tokenizer=tokenizer, token_pattern=pattern, ngram_range=(3, 3), binary=True
    ).fit_transform(_texts(given))
    sizes = np.asarray(vectors.sum(axis=1)).ravel()
    both = np.asarray(_flat(vectors[::2].multiply(vectors[1::2]).sum(axis=1)))
    return [float(each) for each in both / np.maximum(sizes[::2] + sizes[1::2] - both, 1)]


def _texts(given: Sequence[copied_texts.Pair]) -> list[str]:
    return [text for pair in given for text in (pair.source, pair.suspect)]


def _flat(values: object) -> list[float]:
    return [float(value) for value in np.asarray(values).ravel()]


def area(copies: Sequence[float], honest: Sequence[float]) -> float:
    """Return the area under the ROC curve; ties count half."""
    below = np.asarray(honest)[None, :]
    above = np.asarray(copies)[:, None]
    return float(((above > below) + 0.5 * (above == below)).mean())


def areas(scored: Sequence[Scores]) -> dict[str, dict[str, float]]:
    """Return the area of each measure by kind of copying; "all" leaves out the harder kinds."""
    labels = [pair.kind for scores in scored for pair in scores.pairs]
    kinds = [kind for kind in dict.fromkeys(labels) if kind not in HONEST]
    order = [kind for kind in kinds if kind not in copied_texts.HARDER]
    found: dict[str, dict[str, float]] = {
        kind: {} for kind in (*order, OVERALL, *copied_texts.HARDER)
    }
    for measure in MEASURES:
        values = [value for scores in scored for value in scores.by_measure[measure]]
        by_kind = list(zip(labels, np.nan_to_num(values).tolist(), strict=True))
        honest = [value for kind, value in by_kind if kind in HONEST]
        for kind in kinds:
            found[kind][measure] = area([v for each, v in by_kind if each == kind], honest)
        counted = [v for each, v in by_kind if each not in (*HONEST, *copied_texts.HARDER)]
        found[OVERALL][measure] = area(counted, honest)
    return found


def table(title: str, scored: Sequence[Scores]) -> Iterator[str]:
    """Yield the lines of a Markdown table of areas."""
    yield f"| {title} | {' | '.join(MEASURES)} |"
    yield f"|{'---|' * (len(MEASURES) + 1)}"
    for kind, by_measure in areas(scored).items():
        cells = " | ".join(f"{by_measure[measure]:.3f}" for measure in MEASURES)
        yield f"| {kind} | {cells} |"


def spread(title: str, scored: Sequence[Scores]) -> Iterator[str]:
    """Yield a table of quantiles of coverage by kind, for choosing a threshold."""
    by_kind: dict[str, list[tuple[float, float]]] = {}
    for scores in scored:
        covered = zip(scores.pairs, scores.by_measure["coverage"], scores.longest, strict=True)
        for pair, coverage, longest in covered:
            by_kind.setdefault(pair.kind, []).append((coverage, longest))
    columns = "coverage: 5 % below | median | 5 % above | longest passage: 5 % below | median"
    yield f"| {title} | {columns} |"
    yield f"|{'---|' * 6}"
    for kind, values in by_kind.items():
        low, middle, high = np.quantile([value[0] for value in values], (0.05, 0.5, 0.95))
        short, usual = np.quantile([value[1] for value in values], (0.05, 0.5))
        yield f"| {kind} | {low:.2f} | {middle:.2f} | {high:.2f} | {short:.0f} | {usual:.0f} |"


def verdicts(title: str, given: Sequence[copied_texts.Pair]) -> Iterator[str]:
    """Yield a table of the share of each verdict of `nd.compare`, by kind."""
    found: dict[str, Counter[str]] = {}
    for pair in given:
        found.setdefault(pair.kind, Counter())[nd.compare(pair.source, pair.suspect).verdict] += 1
    columns = [each for each in get_args(Verdict) if any(each in row for row in found.values())]
    yield f"| {title} | {' | '.join(columns)} |"
    yield f"|{'---|' * (len(columns) + 1)}"
    for kind, row in found.items():
        yield f"| {kind} | {' | '.join(f'{row[each] / row.total():.0%}' for each in columns)} |"


def pasted(paths: Sequence[Path], half: int, count: int, **settings: int) -> Iterator[str]:
    """Yield a table of the share of pasted paragraphs that lies in passages, with 5, 10 and 20 % of
    the words edited; of the share of the rest that does; and of the coverage of strangers on the
    same subject."""
    yield "| text | 5 % edited | 10 % | 20 % | the rest | strangers |"
    yield f"|{'---|' * 6}"
    for path in paths:
        texts = pasted_texts.documents(path, half)
        inside, outside = [], []
        for share in (0.05, 0.1, 0.2):
            made = pasted_texts.pasted(texts, share, count)
            shares = np.array([_covered(each, **settings) for each in made])
            inside.append(shares[:, 0].mean())
            outside.append(shares[:, 1].mean())
        honest = [
            nd.shared(left, right, deadline=None, **settings).coverage_right
            for left, right in pasted_texts.strangers(texts, count)
        ]
        values = [*inside, float(np.mean(outside)), float(np.mean(honest))]
        name = path.name.removesuffix(".jsonl.gz")
        yield f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} |"


def _covered(case: pasted_texts.Pasted, **settings: int) -> tuple[float, float]:
    """Return the shares of the words in passages: of the pasted paragraph, and of the rest."""
    found = nd.shared(case.source, case.text, deadline=None, **settings).passages
    words = np.array([unit[:2] for unit in pasted_texts.units(case.text)])
    within = np.zeros(len(words), bool)
    for passage in found:
        within |= (words[:, 0] >= passage.right_start) & (words[:, 1] <= passage.right_end)
    own = (words[:, 0] >= case.start) & (words[:, 1] <= case.end)
    return float(within[own].mean()), float(within[~own].mean())


def worst(scores: Scores, count: int = 3) -> Iterator[str]:
    """Yield the copies with the least coverage and the honest texts with the most."""
    ranked = sorted(
        zip(scores.by_measure["coverage"], scores.pairs, strict=True), key=lambda each: each[0]
    )
    shown = [each for each in ranked if each[1].is_copied][:count]
    shown += [each for each in ranked if not each[1].is_copied][-count:]
    for coverage, pair in shown:
        found = nd.compare(pair.source, pair.suspect).passages
        longest = max(found, key=lambda each: each.left_end - each.left_start, default=None)
        shared = "" if longest is None else pair.source[longest.left_start : longest.left_end]
        yield f"\n{scores.language}, {pair.kind}: coverage {coverage:.3f}, {len(found)} passages"
        yield f"  longest: {' '.join(shared.split())[:EXCERPT]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, help="folder with newsgroups.jsonl.gz")
    parser.add_argument("--cases", type=int, default=100, help="sources of each language")
    parser.add_argument(
        "--languages", nargs="+", choices=copied_texts.LANGUAGES, default=[*copied_texts.LANGUAGES]
    )
    parser.add_argument("--made-up", action="store_true", help="use generated texts only")
    for name in ("--min-words", "--min-chars", "--bridge"):
        parser.add_argument(name, type=int, metavar="N", help="as in nd.compare")
    parser.add_argument("--pasted", type=Path, nargs="+", metavar="FILE", help=".jsonl.gz of texts")
    parser.add_argument("--half", type=int, choices=(0, 1), default=1, help="half of those texts")
    parser.add_argument("--worst", action="store_true", help="print the worst pairs as well")
    options = parser.parse_args()
    if options.cases < 1:
        parser.error(f"--cases {options.cases} is too few: at least 1")
    names = ("min_words", "min_chars", "bridge")
    settings = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.pasted:
        for line in pasted(options.pasted, options.half, options.cases, **settings):
            print(line, flush=True)
        return
    scored: list[Scores] = []
    for language in options.languages:
        given = pairs(options.data, language, options.cases, made_up=options.made_up)
        scored.append(score(language, given, **settings))
        lines = [*table(language, scored[-1:]), "", *spread(language, scored[-1:]), ""]
        cases = copied_texts.cases(options.data, language, options.cases, made_up=options.made_up)
        rng = random.Random(7)
        more = [pair for case in cases for pair in copied_texts.whole_pairs(case, rng)]
        lines += [*verdicts(language, [*given, *more]), ""]
        print("\n".join(lines), flush=True)
        if options.worst:
            print("\n".join(worst(scored[-1])), flush=True)
    if len(scored) > 1:
        print("\n".join(table("both", scored)))


if __name__ == "__main__":
    main()
