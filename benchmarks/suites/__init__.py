"""Sections of the report: each module yields the rows of one subject."""
