"""Reports: HTML pages that need nothing else. Only pages of evidence have a script, their own."""

from neardup.reports.catalogue import LANGUAGES, Said, language_of_locale
from neardup.reports.compared import Compared, render_comparison
from neardup.reports.copying import CopyingReport, render_file, render_folder
from neardup.reports.histograms import Histogram
from neardup.reports.job import JobReport, ShownCluster, ShownPair, render
from neardup.reports.texts import Shown

__all__ = [
    "LANGUAGES",
    "Compared",
    "CopyingReport",
    "Histogram",
    "JobReport",
    "Said",
    "Shown",
    "ShownCluster",
    "ShownPair",
    "language_of_locale",
    "render",
    "render_comparison",
    "render_file",
    "render_folder",
]
