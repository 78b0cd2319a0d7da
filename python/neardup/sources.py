"""Former path of `neardup.files.reading`, kept for programs that import from it."""

import neardup.http.captures  # noqa: F401  registers the formats of captures
from neardup.files.reading.batch import Batch, Document, Reading, Unreadable
from neardup.files.reading.inputs import read_batches

__all__ = ["Batch", "Document", "Reading", "Unreadable", "read_batches"]
