"""Whole jobs on files: `dedup`, `pairs`, `cluster`, `check`, and the stream filter.

Each job is a function of inputs, outputs and options that returns a summary. Main types:

    Options, CheckOptions    all options of a job; its progress and notes go to callbacks in them
    Summary, Checked         counts and results
    Job                      one run of dedup, pairs or cluster: checked options, then the stages
    SpooledCorpus            all documents of a run, on disk
    Filter                   records of an endless stream that were not seen before

The path of data through `dedup`, `pairs` and `cluster`:

    options      →  job         check options, expand inputs and the reference, choose the engine
    read         →  spool       read batches in a background thread, fingerprint, write the corpus
    job.match                   ask the engine for pairs; `sample` warns if that will take long
    job.find_clusters           choose representatives; `reference` asks collections
    dedup, pairs, cluster       write the outputs, all put in place together
    report                      choose what the HTML page shows

`check` reads documents and hands them to `neardup.copying`. `filter` works record by record on a
collection. `work_folder` locks the folder of intermediate files, so that a stopped job can resume.

Jobs do not parse formats (`neardup.files`), find pairs (`neardup.near`, `neardup.engines`) or
render pages (`neardup.reports`); they connect these.
"""

from neardup.jobs.check import check
from neardup.jobs.cluster import cluster
from neardup.jobs.dedup import dedup
from neardup.jobs.options import (
    Checked,
    CheckOptions,
    NothingReadError,
    Options,
    Progress,
    RefusedError,
    Summary,
    UnreadableError,
)
from neardup.jobs.pairs import pairs

__all__ = [
    "CheckOptions",
    "Checked",
    "NothingReadError",
    "Options",
    "Progress",
    "RefusedError",
    "Summary",
    "UnreadableError",
    "check",
    "cluster",
    "dedup",
    "filter",
    "options",
    "pairs",
]
