"""Reports: HTML pages that need nothing else, no server, no network, no other file.

Each kind of report has a dataclass with everything it shows and a function that renders it:

    job         `JobReport` → `render_job`: counts, charts, pairs and clusters of a dedup, pairs or
                cluster job
    comparison  `ComparisonReport` → `render_comparison`: two texts and the passages they share
    copying     `CopyingReport` → `render_file`, `render_folder`: overview, documents and pairs of a
                check
    kinds       `KindsReport` → `render_kinds`: kinds of HTTP responses, to filter and to read

A report is turned into small view objects, in which all text is escaped or split for marking, and
those are handed to a jinja2 template in `templates/`. The building blocks: `differences` compares
two texts word by word, `marked_text` cuts a text where marks begin and end, `document` and `views`
show a checked document and two HTTP responses, `charts` places bars and the matrix, `formatting`
formats numbers and makes foreign text visible, `page` has language, templates and the content
security policy, `phrases` every string in English and Chinese.

A page loads nothing and runs at most its own script, known by its hash. Texts in it are never
interpreted. Reports compute no results: jobs and copying do.
"""

__all__ = [
    "charts",
    "comparison",
    "copying",
    "differences",
    "document",
    "formatting",
    "job",
    "kinds",
    "marked_text",
    "page",
    "phrases",
    "views",
]
