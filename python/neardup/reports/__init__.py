"""Reports: one HTML file each, which needs nothing else and runs nothing."""

from neardup.reports.catalogue import LANGUAGES, Said, language_of_locale
from neardup.reports.histograms import Histogram
from neardup.reports.job import JobReport, ShownCluster, ShownPair, render
from neardup.reports.texts import Shown

__all__ = [
    "LANGUAGES",
    "Histogram",
    "JobReport",
    "Said",
    "Shown",
    "ShownCluster",
    "ShownPair",
    "language_of_locale",
    "render",
]
