"""Reports on one or two models, each a self-contained HTML page."""

from textreg.report.build import report
from textreg.report.page import Page
from textreg.report.pair import report_pair
from textreg.report.pair_records import PairReport
from textreg.report.records import Report

__all__ = ["Page", "PairReport", "Report", "report", "report_pair"]
