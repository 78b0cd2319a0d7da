"""Rows, tables and kept records → new files, which appear only when they are complete.

    new_file       atomic files and standard output; several files at once (`together`)
    new_folder     an atomic folder of report pages
    tables         rows and Arrow tables, in the format that the ending names
    record_writer  records copied from the inputs, byte for byte where the format allows it

A failed or stopped run leaves old files as they were, and no incomplete ones.
"""

from neardup.files.writing.new_file import (
    check_output,
    is_stdout,
    named_after,
    open_new,
    stdout_label,
    together,
    with_ending,
)
from neardup.files.writing.new_folder import check_folder, open_folder
from neardup.files.writing.record_writer import RecordWriter, check_kept, open_kept, write_kept
from neardup.files.writing.tables import Columns, Row, Write, open_rows, open_tables

__all__ = [
    "Columns",
    "RecordWriter",
    "Row",
    "Write",
    "check_folder",
    "check_kept",
    "check_output",
    "is_stdout",
    "named_after",
    "open_folder",
    "open_kept",
    "open_new",
    "open_rows",
    "open_tables",
    "stdout_label",
    "together",
    "with_ending",
    "write_kept",
]
