"""Reports: HTML pages that need nothing else. Those of evidence and of kinds
have a script, their own."""

from neardup.reports.catalogue import LANGUAGES, Said, language_of_locale
from neardup.reports.charts import Histogram
from neardup.reports.comparison import ComparisonReport, render_comparison
from neardup.reports.copying import CopyingReport, render_file, render_folder
from neardup.reports.job import JobReport, ShownCluster, ShownPair, render
from neardup.reports.kinds import KindsReport, Member, SampleResponse, ShownKind, render_kinds
from neardup.reports.side_by_side import Shown
from neardup.reports.views import ResponseView

__all__ = [
    "LANGUAGES",
    "ComparisonReport",
    "CopyingReport",
    "Histogram",
    "JobReport",
    "KindsReport",
    "Member",
    "ResponseView",
    "Said",
    "SampleResponse",
    "Shown",
    "ShownCluster",
    "ShownKind",
    "ShownPair",
    "language_of_locale",
    "render",
    "render_comparison",
    "render_file",
    "render_folder",
    "render_kinds",
]
