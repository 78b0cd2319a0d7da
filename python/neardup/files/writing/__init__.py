"""Rows, tables and kept records to files. A file appears only when it is complete."""

from neardup.files.writing.new_file import check, in_full, is_stdout, open_new, shown, together
from neardup.files.writing.new_folder import check_folder, open_folder
from neardup.files.writing.record_writer import KeptRecords, check_kept, open_kept
from neardup.files.writing.tables import Columns, Row, Write, open_rows, open_tables

__all__ = [
    "Columns",
    "KeptRecords",
    "Row",
    "Write",
    "check",
    "check_folder",
    "check_kept",
    "in_full",
    "is_stdout",
    "open_folder",
    "open_kept",
    "open_new",
    "open_rows",
    "open_tables",
    "shown",
    "together",
]
