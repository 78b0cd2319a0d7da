"""Documents, one a file: HTML, Word, OpenDocument, EPUB, RTF and PDF."""
