"""Files in and out: any input becomes batches of documents, any result a complete file.

    reading    files, folders, URLs and standard input → `Batch` (ids, texts and where each record
               is in its file), whatever the format, compression and encoding
    documents  formats that are one document per file: HTML, Word, OpenDocument, EPUB, RTF, PDF
    writing    rows, tables and kept records → new files that appear only when they are complete

A job reads with `reading.inputs.read_batches`, which yields batches and reports what it
cannot read as `Unreadable`; it decides which records to keep and copies their spans from the inputs
with `writing.write_kept`.

Formats register themselves with `reading.formats`; captures of HTTP responses are registered by
`neardup.http.captures`, which this package does not import. Nothing here knows recipes, similarity
or jobs.
"""

__all__ = ["documents", "reading", "writing"]
