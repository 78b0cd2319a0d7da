"""Files → documents in batches, however large the files are.

The path of data: `inputs` (names → files → the format of each) → `locations` (open a file, a URL or
standard input) → `streams` with `compression` and `encodings` (stored bytes → UTF-8) → a format
(`text`, `jsonl`, `json`, `csv`, `parquet`, documents, captures) → `batch`.

    batch      `Reading` (the options), `Batch`, `Document`, `Unreadable`, `Task`
    formats    `Format` and the registry; file names, endings and what they tell
    records    a JSON object → id, text and other columns; missing and duplicate ids

To add a format, write a module with a function from `Task` to batches, register a `Format` in
it and list the module in `formats.PROVIDERS`: --format, endings, folders and messages follow.
"""

__all__ = [
    "batch",
    "compression",
    "csv",
    "encodings",
    "formats",
    "inputs",
    "json",
    "jsonl",
    "locations",
    "parquet",
    "records",
    "streams",
    "text",
]
