"""The former place of `neardup.files.reading`, for programs that import `Reading` from here."""

from neardup.files.reading import Batch, Document, Reading, Unreadable, read_batches

__all__ = ["Batch", "Document", "Reading", "Unreadable", "read_batches"]
