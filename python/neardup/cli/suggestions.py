"""Suggestions for unknown options and commands: near spellings, and the names of other tools."""

from __future__ import annotations

from collections.abc import Iterable

# Names that other tools use, by ours. A name may stand with several; a command has some of them.
USUAL_OPTIONS = {
    "--similarity": "threshold min-similarity similarity-threshold sim cutoff cosine jaccard score",
    "--threshold": "similarity min-similarity min-share cutoff",
    "--least": "threshold min-similarity similarity min-score cutoff",
    "--radius": "distance max-distance hamming hamming-distance max-hamming k",
    "--recipe": "preset method algorithm tokenizer tokens ngram ngrams shingle",
    "--bits": "hash-bits hashbits width size f",
    "--keep": "strategy policy keep-policy",
    "--against": "reference ref compare-to known base",
    "--text-column": "text-field text-key text field column columns content content-field key",
    "--id-column": "id-field id-key id uid key",
    "--lines": "line by-line per-line line-by-line",
    "--format": "input-format file-type filetype type from",
    "--encoding": "charset",
    "--delimiter": "sep separator",
    "--max-document": "max-size max-length",
    "--as": "http warc type input-type kind",
    "--threads": "jobs j workers num-workers n-jobs processes num-proc cores cpus parallel",
    "--master": "spark-master",
    "--work-dir": "workdir tmp temp tmp-dir temp-dir cache cache-dir",
    "--resume": "continue restart",
    "--out": "outfile out-file output-file output-path output-dir save to",
    "--removed": "duplicates dups dupes rejected",
    "--duplicates": "removed dups dupes rejected",
    "--seen": "removed duplicates dropped rejected",
    "--report": "html html-report",
    "--html": "report html-report page",
    "--lang": "language locale",
    "--quarantine": "errors error-file bad-records",
    "--strict": "fail-fast fail-on-error",
    "--config": "settings options conf",
    "--quiet": "silent no-progress",
    "--in": "index collection corpus database db input against",
    "-n": "top k top-k limit max count num-results number",
    "--unless-duplicate": "dedup skip-duplicates unique",
    "--min-words": "min-length min-match ngram",
    "--template": "ignore boilerplate exclude-text",
    "--token-file": "token tokens auth",
    "--host": "bind address listen addr",
    "--workers": "threads jobs processes",
    "--rate": "rate-limit rps",
    "--max-body": "max-size max-request",
    "--text": "string t",
}
USUAL_COMMANDS = {
    "dedup": "deduplicate dedupe unique uniq clean",
    "pairs": "match matches join similar duplicates",
    "cluster": "clusters group groups clustering",
    "filter": "stream",
    "check": "plagiarism copying query lookup",
    "search": "find query nearest",
    "index": "collection db database",
    "serve": "server run start api web",
    "compare": "diff similarity distance",
    "fingerprint": "fingerprints hash simhash sketch",
    "explain": "why debug",
    "recipes": "recipe presets preset",
    "http": "captures responses warc har",
    "completion": "completions complete autocomplete",
    "create": "init new make",
    "add": "insert put import ingest update upsert",
    "remove": "delete rm del",
    "stats": "info status count show",
    "verify": "fsck validate test",
    "compact": "vacuum optimize optimise",
    "export": "dump save",
    "preview": "show view",
    "masks": "mask",
    "labels": "label",
}


def suggest(name: str, known: Iterable[str], usual: dict[str, str]) -> str:
    """Return " Did you mean …?" with names that are known here, or an empty string."""
    from difflib import get_close_matches

    bare = name.lstrip("-").lower()
    # Every name that can be meant → what to suggest for it.
    names: dict[str, list[str]] = {}
    for each in known:
        for other in (each.lstrip("-"), *usual.get(each, "").split()):
            names.setdefault(other, []).append(each)
    close = [bare] if bare in names else get_close_matches(bare, names, n=1, cutoff=0.75)
    found = [each for other in close for each in names[other]]
    return f" Did you mean {' or '.join(found)}?" if found else ""
