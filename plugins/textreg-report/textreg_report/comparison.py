"""A comparison as a record: tables, tests, Markdown, picture."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from textreg.cli.output import percent
from textreg.files import csv_lines
from textreg.records import Bools, Floats, Int64s
from textreg.terminal import Displayed
from textreg_report.charts import FEATURES, Picture, Series, draw_lines
from textreg_report.page import Estimate
from textreg_report.significance import ALPHA, Interval, holm, p_text


class Headline:
    """What verdicts and pictures go by: accuracy, or micro-F1 if there is."""

    accuracy: float
    accuracy_interval: Interval
    micro_f1: float | None
    micro_f1_interval: Interval | None

    @property
    def headline(self) -> tuple[float, Interval]:
        """The value and its interval."""
        if self.micro_f1 is None or self.micro_f1_interval is None:
            return self.accuracy, self.accuracy_interval
        return self.micro_f1, self.micro_f1_interval


@dataclass(frozen=True)
class Contrast(Headline):
    """A candidate compared with the baseline; differences are candidate minus baseline.

    Attributes
    ----------
    candidate, baseline : str
        Their names.
    benchmark : str or None
        Name of the benchmark; None for the mean over all, each with the same weight.
    accuracy, macro_f1 : float
        Differences.
    accuracy_interval, macro_f1_interval : Interval
        Their 95 % bootstrap intervals.
    won, lost : int
        Number of documents that only the candidate, or only the baseline, labels right; where they
        may have several labels, whose labels have a higher F1.
    p : float
        Two-sided p-value of the exact McNemar test. Over all benchmarks the documents are pooled,
        which is the micro sign test of Yang & Liu (1999).
    p_adjusted : float
        The same, adjusted for all comparisons that are made at once, by the method of Holm (1979).
    comparisons : int
        Number of these comparisons: for one benchmark, those of all candidates with the baseline
        on all benchmarks; over all benchmarks, those of all candidates.
    benchmarks_won, benchmarks_lost : int
        Number of benchmarks on which the candidate has the higher, or the lower, accuracy, or
        micro-F1 if there is; 0 for a single benchmark.
    benchmarks_p : float
        Two-sided p-value of the sign test over benchmarks; 1 for a single benchmark.
    benchmarks_p_adjusted : float
        The same, adjusted for the comparisons of all candidates.
    micro_f1 : float or None
        Difference where documents may have several labels.
    micro_f1_interval : Interval or None
        Its 95 % bootstrap interval.
    log_loss : Estimate or None
        Difference of the log-losses, below 0 where the candidate's is lower; None without
        probabilities.
    """

    candidate: str
    baseline: str
    benchmark: str | None
    accuracy: float
    accuracy_interval: Interval
    macro_f1: float
    macro_f1_interval: Interval
    won: int
    lost: int
    p: float
    p_adjusted: float
    comparisons: int = 1
    benchmarks_won: int = 0
    benchmarks_lost: int = 0
    benchmarks_p: float = 1.0
    benchmarks_p_adjusted: float = 1.0
    micro_f1: float | None = None
    micro_f1_interval: Interval | None = None
    log_loss: Estimate | None = None

    @property
    def verdict(self) -> str:
        """``better``, ``worse`` or ``level``: by the adjusted p-value and nothing else."""
        if self.p_adjusted > ALPHA:
            return "level"
        return "better" if self.won > self.lost else "worse"


def adjusted(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """The contrasts with p-values adjusted for several comparisons.

    Those on single benchmarks are one family of tests, and those over all benchmarks another.
    """
    result = list(contrasts)
    for overall in (False, True):
        family = [row for row, one in enumerate(result) if (one.benchmark is None) == overall]
        p = holm([result[row].p for row in family])
        benchmarks_p = holm([result[row].benchmarks_p for row in family])
        for row, of_documents, of_benchmarks in zip(family, p, benchmarks_p, strict=True):
            result[row] = replace(
                result[row],
                p_adjusted=of_documents,
                comparisons=len(family),
                benchmarks_p_adjusted=of_benchmarks,
            )
    return tuple(result)


def markdown(tables: Iterable[tuple[str, list[list[str]]]], notes: Iterable[str]) -> str:
    """Tables with their titles, columns but the first aligned at the right, and a list of notes.

    Parameters
    ----------
    tables : iterable of (str, list of lists of str)
        Title and rows of each, the first row with the titles of the columns.
    notes : iterable of str
        What follows.

    Returns
    -------
    str
    """
    parts = []
    for title, (head, *body) in tables:
        rows = [head, ["---", *["---:"] * (len(head) - 1)], *body]
        lines = ("| " + " | ".join(map(_escape, cells)) + " |" for cells in rows)
        parts += [f"**{_escape(title)}**", "\n".join(lines)]
    return "\n\n".join([*parts, *(f"- {_escape(note)}" for note in notes)]) + "\n"


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# A model with at most this share of the baseline's features is recommended if it is as good.
MUCH_SMALLER = 0.5


@dataclass(frozen=True, eq=False)
class Measurement(Headline):
    """One candidate on the test documents of one benchmark.

    Attributes
    ----------
    candidate, benchmark : str
        Their names.
    documents : int
        Number of test documents.
    accuracy : float
        Share of documents with the right label; where they may have several, with exactly these.
    accuracy_interval : Interval
        95 % Wilson interval of the accuracy.
    macro_f1 : float
        Unweighted mean of the labels' F1.
    features : int
        Number of features with a weight.
    of : int or None
        Number of features in training; None where a saved model does not say.
    seconds : float or None
        Wall time of feature extraction, search and fit. None of a saved model, whose file
        does not keep times.
    gap : float or None
        Relative duality gap of the fit; None where there is no bound.
    converged : bool or None
        Whether the gap is within the tolerance.
    held_out : float or None
        Accuracy on the documents that hyperparameters were chosen on; None where there are none.
    params : mapping
        Parameters of the regularizer, as chosen.
    answers : ndarray of int, shape (documents,), or of bool, shape (documents, labels)
        Code of each predicted label, or which are predicted, for paired tests.
    micro_f1 : float or None
        F1 of all pairs of a document and a label; None where documents have one label.
    micro_f1_interval : Interval or None
        Its 95 % interval, from resampled documents.
    log_loss : float or None
        On the documents whose label the model knows; None without probabilities.
    losses : ndarray, shape (documents,), or None
        Log-loss of each document; None where there are no probabilities, or several labels.
    size, draw : int or None
        Of a learning curve, the number of training documents, and which draw they are, from 0 on.
    """

    candidate: str
    benchmark: str
    documents: int
    accuracy: float
    accuracy_interval: Interval
    macro_f1: float
    features: int
    seconds: float | None
    answers: Int64s | Bools = field(repr=False)
    of: int | None = None
    gap: float | None = None
    converged: bool | None = None
    held_out: float | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    micro_f1: float | None = None
    micro_f1_interval: Interval | None = None
    log_loss: float | None = None
    losses: Floats | None = field(default=None, repr=False)
    size: int | None = None
    draw: int | None = None

    @property
    def share(self) -> float | None:
        """Features with a weight, as a share of all."""
        return self.features / self.of if self.of else None

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold, without what single documents have."""
        values = {key: it for key, it in vars(self).items() if key not in ("answers", "losses")}
        return {**_known(values), "params": dict(self.params), "share": self.share}


class Mean(NamedTuple):
    """Means of a candidate over all benchmarks; None where one of them has no such value."""

    accuracy: float
    macro_f1: float
    features: float
    share: float | None
    seconds: float | None
    micro_f1: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Displayed):
    """Several candidates measured on the same documents.

    Attributes
    ----------
    benchmarks, candidates : tuple of str
        Names, in the order they were given.
    baseline : str
        The candidate that the others are compared with.
    measured : tuple of Measurement
        One for each benchmark and candidate, benchmark by benchmark.
    contrasts : tuple of Contrast
        One for each other candidate and benchmark, and with several benchmarks one more over all.
    seed : int
        Seed of the splits and of the bootstrap.
    gains : tuple of Contrast
        Of every candidate with a structure what it gains by it, where that was asked for.

    Examples
    --------
    >>> import textreg
    >>> texts, labels = ["so good", "so bad", "good", "bad"] * 25, ["pos", "neg"] * 50
    >>> films = textreg_report.Benchmark("films", train=(texts, labels))
    >>> result = textreg_report.compare(["ridge", "lasso"], films, tokenizer="words")
    >>> result.cell("films", "lasso").accuracy
    1.0
    """

    benchmarks: tuple[str, ...]
    candidates: tuple[str, ...]
    baseline: str
    measured: tuple[Measurement, ...]
    contrasts: tuple[Contrast, ...]
    seed: int
    gains: tuple[Contrast, ...] = ()

    def cell(self, benchmark: str, candidate: str) -> Measurement:
        """The measurement of a candidate on a benchmark.

        Parameters
        ----------
        benchmark, candidate : str
            Their names.

        Returns
        -------
        Measurement

        Raises
        ------
        KeyError
            If there is none of these names.
        """
        for cell in self.measured:
            if (cell.benchmark, cell.candidate) == (benchmark, candidate):
                return cell
        raise KeyError((benchmark, candidate))

    def contrast(self, candidate: str, benchmark: str | None = None) -> Contrast:
        """A candidate compared with the baseline.

        Parameters
        ----------
        candidate : str
            Its name.
        benchmark : str, optional
            The name of a benchmark; without it, all benchmarks together.

        Returns
        -------
        Contrast

        Raises
        ------
        KeyError
            If there is none of these names.
        """
        if benchmark is None and len(self.benchmarks) == 1:
            benchmark = self.benchmarks[0]
        for contrast in self.contrasts:
            if (contrast.candidate, contrast.benchmark) == (candidate, benchmark):
                return contrast
        raise KeyError((candidate, benchmark))

    def mean(self, candidate: str) -> Mean:
        """Means of a candidate over all benchmarks.

        Parameters
        ----------
        candidate : str
            Its name.

        Returns
        -------
        Mean
        """
        cells = [self.cell(benchmark, candidate) for benchmark in self.benchmarks]
        values = {key: [getattr(cell, key) for cell in cells] for key in Mean._fields}
        means = {key: None if None in row else sum(row) / len(row) for key, row in values.items()}
        return Mean(**means)  # type: ignore[arg-type]

    @property
    def several(self) -> bool:
        """Whether documents may have several labels."""
        return self.measured[0].micro_f1 is not None

    @property
    def metric(self) -> str:
        """The name of what verdicts and pictures go by."""
        return "micro-F1" if self.several else "accuracy"

    def verdicts(self) -> list[str]:
        """The result in words: a line for each candidate other than the baseline."""
        return [self._verdict(name) for name in self.candidates if name != self.baseline]

    def _verdict(self, name: str) -> str:
        contrast, base = self.contrast(name), self.baseline
        value, interval = contrast.headline
        low, high = (100 * end for end in interval)
        over = f" in {len(self.benchmarks)} corpora" if len(self.benchmarks) > 1 else ""
        shown = "p" if contrast.comparisons == 1 else "adjusted p"
        figures = (
            f"{contrast.won:,} documents won, {contrast.lost:,} lost, {shown} "
            f"{p_text(contrast.p_adjusted)}; {100 * value:+.1f} points (95 % CI {low:.1f} to "
            f"{high:.1f})"
        )
        if contrast.verdict == "better":
            return f"{name} is better than {base}{over}: {figures}"
        if contrast.verdict == "worse":
            return f"{name} is worse than {base}{over}: {figures}: use {base}"
        verdict = f"{name} and {base} are level{over}: {figures}"
        size, usual = self.mean(name).features, self.mean(base).features
        if size <= MUCH_SMALLER * usual < usual:
            return (
                f"{verdict}; {name} for the smaller model ({size:,.0f} features, not {usual:,.0f})"
            )
        return f"{verdict}: use {base}"

    def notes(self) -> list[str]:
        """What stands below the tables."""
        return [*self.verdicts(), *self.adjustments(), *self._structure()]

    def _structure(self) -> list[str]:
        """The gain of each structure in words; one that its shadow has, too, is none."""
        lines = []
        for name in dict.fromkeys(gain.candidate for gain in self.gains):
            clear, gains = True, []
            for gain in [gain for gain in self.gains if gain.candidate == name]:
                value, (low, high) = gain.headline
                text = f"{100 * value:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f})"
                gains.append(f"{text} over {gain.baseline}")
                better, loss = low > 0.0, gain.log_loss
                if loss is not None and loss.low is not None and loss.high is not None:
                    gains[-1] += (
                        f", log-loss {loss.value:+.3f} ({loss.low:+.3f} to {loss.high:+.3f})"
                    )
                    better |= loss.high < 0.0
                clear &= better
            gained = "" if clear else "none "
            lines.append(f"structure gain of {name}: {gained}({'; '.join(gains)})")
        return lines

    def adjustments(self) -> list[str]:
        """Which p-values are adjusted, and over how many comparisons; empty if none is."""
        apart = next(one for one in self.contrasts if one.benchmark is not None).comparisons
        if len(self.benchmarks) == 1:
            return [f"p is adjusted for {apart} comparisons by Holm's method"] if apart > 1 else []
        lines = [
            f"p of single corpora is adjusted for all {apart} comparisons on them by Holm's method"
        ]
        if len(self.candidates) > 2:
            count = len(self.candidates) - 1
            lines.append(f"p over all corpora is adjusted for {count} comparisons, too")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values that JSON can hold."""
        return {
            "benchmarks": list(self.benchmarks),
            "candidates": list(self.candidates),
            "baseline": self.baseline,
            "seed": self.seed,
            "measured": [cell.to_dict() for cell in self.measured],
            "means": {name: _known(self.mean(name)._asdict()) for name in self.candidates},
            "contrasts": [{**_known(vars(one)), "verdict": one.verdict} for one in self.contrasts],
            "adjustment": "holm",
            "verdicts": self.verdicts(),
            "gains": [_known(vars(gain)) for gain in self.gains],
        }

    def to_markdown(self) -> str:
        """A table for each benchmark, one of means if there are several, and the verdicts."""
        return markdown(self.tables(), self.notes())

    def to_csv(self) -> str:
        """A row for each benchmark and candidate, with its difference from the baseline."""
        left = {"accuracy_interval", "params", "answers", "losses", *OF_CURVES}
        left |= set(OF_SEVERAL[1:] if self.several else OF_SEVERAL)
        keys = [item.name for item in fields(Measurement) if item.name not in left]
        more = ["difference", "difference_low", "difference_high", "won", "lost"]
        more += ["p", "p_adjusted", "verdict"]
        rows: list[list[Any]] = [[*keys, "accuracy_low", "accuracy_high", *more]]
        for cell in self.measured:
            row = [*(getattr(cell, key) for key in keys), *cell.accuracy_interval]
            if cell.candidate == self.baseline:
                row += [None] * len(more)
            else:
                other = self.contrast(cell.candidate, cell.benchmark)
                value, interval = other.headline
                row += [value, *interval, other.won, other.lost]
                row += [other.p, other.p_adjusted, other.verdict]
            rows.append(row)
        return "".join(csv_lines(rows))

    def headline(self) -> str:
        """The verdicts."""
        return "; ".join(self.verdicts())

    def tables(self) -> list[tuple[str, list[list[str]]]]:
        """Titles and cells of the tables: one for each benchmark, and one of means over several."""
        tables = [(benchmark, self._table(benchmark)) for benchmark in self.benchmarks]
        if len(self.benchmarks) > 1:
            tables.append((f"mean of {len(self.benchmarks)} corpora", self._table(None)))
        return tables

    def _table(self, benchmark: str | None) -> list[list[str]]:
        """The table of a benchmark, or without one that of means over all."""
        first = ["subset accuracy", "micro-F1"] if self.several else ["accuracy"]
        compared = [one.comparisons for one in self.contrasts if one.benchmark == benchmark]
        beside = [f"points over {self.baseline}", "adjusted p" if max(compared) > 1 else "p"]
        of_one, of_all = (["gap"], []) if benchmark else ([], ["corpora won : lost"])
        head = ["", *first, "macro-F1", "features", "share", "seconds"]
        rows = [[*head, *of_one, *beside, *of_all]]
        for name in self.candidates:
            if benchmark is None:
                row = [name, *_figures(self.mean(name))]
            else:
                cell = self.cell(benchmark, name)
                row = [name, *_figures(cell), "none" if cell.gap is None else f"{cell.gap:.0e}"]
            if name == self.baseline:
                rows.append([*row, *[""] * (len(rows[0]) - len(row))])
                continue
            contrast = self.contrast(name, benchmark)
            value, interval = contrast.headline
            low, high = (100 * end for end in interval)
            row += [f"{100 * value:+.1f} ({low:.1f} to {high:.1f})", p_text(contrast.p_adjusted)]
            if benchmark is None:
                won, lost = contrast.benchmarks_won, contrast.benchmarks_lost
                row.append(f"{won} : {lost} (p {p_text(contrast.benchmarks_p_adjusted)})")
            rows.append(row)
        return rows

    def plot(self, path: str | os.PathLike[str] | None = None) -> Picture:
        """Draw accuracy, or micro-F1 if there is, against the number of features.

        Parameters
        ----------
        path : str or path-like, optional
            File to write; its ending, ``.svg`` or ``.png``, gives the format.

        Returns
        -------
        Picture
            It shows itself in a notebook.

        Raises
        ------
        UsageError
            If the ending is another one, matplotlib is missing or the file cannot be written.
        """
        panels: dict[str, list[Series]] = {name: [] for name in self.benchmarks}
        for cell in self.measured:
            value, interval = cell.headline
            point = Series(cell.candidate, [cell.features], [value], None, [interval])
            panels[cell.benchmark].append(point)
        return draw_lines(panels, path, (FEATURES, self.metric))


# What only several labels have, and only learning curves.
OF_SEVERAL, OF_CURVES = ("micro_f1", "micro_f1_interval"), ("size", "draw")


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values without those of other kinds of documents and comparisons."""
    left = {key for key in (*OF_SEVERAL, *OF_CURVES) if values.get(key) is None}
    known = {key: it for key, it in values.items() if key not in left}
    return {key: it._asdict() if isinstance(it, Estimate) else it for key, it in known.items()}


def _figures(of: Measurement | Mean) -> list[str]:
    share, seconds = of.share, of.seconds
    return [
        f"{of.accuracy:.3f}",
        *([] if of.micro_f1 is None else [f"{of.micro_f1:.3f}"]),
        f"{of.macro_f1:.3f}",
        f"{of.features:,.0f}",
        "?" if share is None else percent(share),
        "?" if seconds is None else f"{seconds:.2f}",
    ]
