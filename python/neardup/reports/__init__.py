"""Reports: one HTML file each, which needs nothing else and runs nothing."""

from neardup.reports.job import JobReport, Shown, ShownCluster, render

__all__ = ["JobReport", "Shown", "ShownCluster", "render"]
