"""All lines, by topic, in the order of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.performance import answers, fits, growth, methods, text, training
from benchmarks.performance.line import Line

TOPICS: Mapping[str, Sequence[Line]] = {
    "Training": training.LINES,
    "One problem at a time": fits.LINES,
    "From text to features": text.LINES,
    "Answers": answers.LINES,
    "Growth": growth.LINES,
    "Two cores": growth.JOBS,
    "Every regularizer": methods.LINES,
}
LINES: Mapping[str, Line] = {line.name: line for lines in TOPICS.values() for line in lines}
