"""Reports, comparisons and learning curves of models, as records and as pages."""

from textreg_report.agreement import rationale_scores
from textreg_report.benchmark import Benchmark, compare
from textreg_report.build import report
from textreg_report.charts import plot_path
from textreg_report.comparison import Comparison
from textreg_report.learning_curve import LearningCurve, learn_curve
from textreg_report.page import CheckPage, Page, Report

__all__ = [
    "Benchmark",
    "CheckPage",
    "Comparison",
    "LearningCurve",
    "Page",
    "Report",
    "compare",
    "learn_curve",
    "plot_path",
    "rationale_scores",
    "report",
]
