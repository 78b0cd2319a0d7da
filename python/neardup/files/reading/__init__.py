"""Reading files: streams, formats, batches."""
