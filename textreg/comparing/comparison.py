"""What a comparison found: a record, in words, and as a table for people and programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from textreg.measure.significance import Interval

if TYPE_CHECKING:
    import os

    from textreg.records import Int64s

MUCH_SMALLER = 0.5
"""Share of the baseline's features up to which a model that is as good is worth naming."""


@dataclass(frozen=True, eq=False)
class Measured:
    """One candidate on the test documents of one task.

    documents: how many. accuracy: share of right answers, with its 95 % Wilson interval. macro_f1:
    mean F1 of the labels. features: number with a weight. of: number there were to choose from,
    None where a saved model does not say. seconds: wall time of features, search and fit; for a
    saved model, of its own training. gap: relative duality gap of the fit, None where there is no
    bound. converged: whether that is within the tolerance. held_out: accuracy on the documents that
    the prices were chosen by, None where there are none. params: of the regularizer, as chosen.
    answers: (documents,) code of each answer, for paired tests.
    """

    candidate: str
    task: str
    documents: int
    accuracy: float
    accuracy_interval: Interval
    macro_f1: float
    features: int
    of: int | None
    seconds: float | None
    gap: float | None
    converged: bool | None
    held_out: float | None
    params: Mapping[str, Any]
    answers: Int64s = field(repr=False)

    @property
    def share(self) -> float | None:
        """Features with a weight, as a share of all."""
        return self.features / self.of if self.of else None


class Contrast(NamedTuple):
    """A candidate beside the baseline: its figure less that of the baseline.

    task: None for the mean over all tasks, each counting the same. accuracy, macro_f1: differences,
    with 95 % bootstrap intervals. won, lost: documents that only the candidate, or only the
    baseline, has right. p: two-sided, of the exact McNemar test; over all tasks that is the micro
    sign test. tasks_won, tasks_lost, tasks_p: the sign test over tasks by their accuracy; 0, 0 and
    1 for one task.
    """

    candidate: str
    baseline: str
    task: str | None
    accuracy: float
    accuracy_interval: Interval
    macro_f1: float
    macro_f1_interval: Interval
    won: int
    lost: int
    p: float
    tasks_won: int = 0
    tasks_lost: int = 0
    tasks_p: float = 1.0


class Mean(NamedTuple):
    """A candidate over all tasks; ``None`` where a task has no such figure."""

    accuracy: float
    macro_f1: float
    features: float
    share: float | None
    seconds: float | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several candidates measured on the same documents.

    tasks, candidates: names, in the order they were given. baseline: the candidate that the others
    are held against. measured: one for each task and candidate, task by task. contrasts: one for
    each other candidate and task, and with several tasks one more over all of them. seed: of the
    splits and the bootstrap.
    """

    tasks: tuple[str, ...]
    candidates: tuple[str, ...]
    baseline: str
    measured: tuple[Measured, ...]
    contrasts: tuple[Contrast, ...]
    seed: int

    def cell(self, task: str, candidate: str) -> Measured:
        """One candidate on one task; KeyError where there is none."""
        for one in self.measured:
            if (one.task, one.candidate) == (task, candidate):
                return one
        raise KeyError((task, candidate))

    def contrast(self, candidate: str, task: str | None = None) -> Contrast:
        """A candidate beside the baseline, on one task or, with None, on all; KeyError if none."""
        task = self.tasks[0] if task is None and len(self.tasks) == 1 else task
        for one in self.contrasts:
            if (one.candidate, one.task) == (candidate, task):
                return one
        raise KeyError((candidate, task))

    def mean(self, candidate: str) -> Mean:
        """A candidate over all tasks."""
        cells = [self.cell(task, candidate) for task in self.tasks]
        count = len(cells)
        shares = [cell.share for cell in cells if cell.share is not None]
        seconds = [cell.seconds for cell in cells if cell.seconds is not None]
        return Mean(
            accuracy=sum(cell.accuracy for cell in cells) / count,
            macro_f1=sum(cell.macro_f1 for cell in cells) / count,
            features=sum(cell.features for cell in cells) / count,
            share=sum(shares) / count if len(shares) == count else None,
            seconds=sum(seconds) / count if len(seconds) == count else None,
        )

    def verdicts(self) -> list[str]:
        """The answer in words, one line for each candidate beside the baseline."""
        return [self._verdict(name) for name in self.candidates if name != self.baseline]

    def _verdict(self, name: str) -> str:
        found, base = self.contrast(name), self.baseline
        low, high = (100 * end for end in found.accuracy_interval)
        points = 100 * found.accuracy
        over = f" in the mean of {len(self.tasks)} corpora" if len(self.tasks) > 1 else ""
        interval = f"(95 % CI {low:.1f} to {high:.1f})"
        if low > 0:
            return f"{name} gains {points:+.1f} points over {base}{over} {interval}"
        if high < 0:
            interval = f"(95 % CI {-high:.1f} to {-low:.1f})"
            return f"{name} loses {-points:.1f} points to {base}{over} {interval}: use {base}"
        say = f"no measurable gain of {name} over {base}{over}: {points:+.1f} points {interval}"
        size, usual = self.mean(name).features, self.mean(base).features
        if size <= MUCH_SMALLER * usual:
            return f"{say}; {name} for the smaller model ({size:,.0f} features, not {usual:,.0f})"
        return f"{say}: use {base}"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""
        measured = []
        for one in self.measured:
            values = {key: value for key, value in vars(one).items() if key != "answers"}
            measured.append({**values, "share": one.share})
        return {
            "tasks": list(self.tasks),
            "candidates": list(self.candidates),
            "baseline": self.baseline,
            "seed": self.seed,
            "measured": measured,
            "means": {name: self.mean(name)._asdict() for name in self.candidates},
            "contrasts": [one._asdict() for one in self.contrasts],
            "verdicts": self.verdicts(),
        }

    def to_markdown(self) -> str:
        """A table for each task, one of the means where there are several, and the verdicts."""
        parts = []
        for title, rows in self.tables():
            head, *body = rows
            lines = [_line(head), _line(["---", *["---:"] * (len(head) - 1)])]
            parts += [f"**{_escape(title)}**", "\n".join([*lines, *map(_line, body)])]
        parts += [f"- {_escape(verdict)}" for verdict in self.verdicts()]
        return "\n\n".join(parts) + "\n"

    def to_csv(self) -> str:
        """One row for each task and candidate, with the difference from the baseline."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        keys = [
            item.name
            for item in fields(Measured)
            if item.name not in ("accuracy_interval", "params", "answers")
        ]
        more = ("difference", "difference_low", "difference_high", "won", "lost", "p")
        writer.writerow([*keys, "accuracy_low", "accuracy_high", *more])
        for one in self.measured:
            row = [getattr(one, key) for key in keys] + list(one.accuracy_interval)
            if one.candidate != self.baseline:
                found = self.contrast(one.candidate, one.task)
                row += [found.accuracy, *found.accuracy_interval, found.won, found.lost, found.p]
            else:
                row += [None] * len(more)
            writer.writerow(row)
        return file.getvalue()

    def tables(self) -> list[tuple[str, list[list[str]]]]:
        """Titles and rows of texts: a table for each task, and of the means over several."""
        found = [(task, self._task_table(task)) for task in self.tasks]
        if len(self.tasks) > 1:
            found.append((f"mean of {len(self.tasks)} corpora", self._mean_table()))
        return found

    def _task_table(self, task: str) -> list[list[str]]:
        rows = [["", "accuracy", "macro-F1", "features", "share", "seconds", "gap", *self._heads()]]
        for name in self.candidates:
            one = self.cell(task, name)
            gap = "none" if one.gap is None else f"{one.gap:.0e}"
            figures = _figures(one.accuracy, one.macro_f1, one.features, one.share, one.seconds)
            rows.append([name, *figures, gap, *self._beside(name, task)])
        return rows

    def _mean_table(self) -> list[list[str]]:
        heads = ["", "accuracy", "macro-F1", "features", "share", "seconds"]
        rows = [[*heads, *self._heads(), "corpora won : lost"]]
        for name in self.candidates:
            row = [name, *_figures(*self.mean(name)), *self._beside(name, None), ""]
            if name != self.baseline:
                found = self.contrast(name)
                row[-1] = f"{found.tasks_won} : {found.tasks_lost} (p {found.tasks_p:.2g})"
            rows.append(row)
        return rows

    def _heads(self) -> list[str]:
        return [f"points over {self.baseline}", "p"]

    def _beside(self, name: str, task: str | None) -> list[str]:
        """The difference from the baseline with its interval, and the p-value."""
        if name == self.baseline:
            return ["", ""]
        found = self.contrast(name, task)
        low, high = (100 * end for end in found.accuracy_interval)
        return [f"{100 * found.accuracy:+.1f} ({low:.1f} to {high:.1f})", f"{found.p:.2g}"]

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw accuracy against features as SVG or PNG, by the ending of ``path``."""
        from textreg.plotting.charts import ModelPoint, accuracy_by_size

        accuracy_by_size(
            {
                task: [
                    ModelPoint(name, one.features, one.accuracy, one.accuracy_interval)
                    for name in self.candidates
                    for one in [self.cell(task, name)]
                ]
                for task in self.tasks
            },
            path,
        )


def _figures(
    accuracy: float, macro_f1: float, features: float, share: float | None, seconds: float | None
) -> list[str]:
    return [
        f"{accuracy:.3f}",
        f"{macro_f1:.3f}",
        f"{features:,.0f}",
        "?" if share is None else f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %",
        "?" if seconds is None else f"{seconds:.2f}",
    ]


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escape(cell) for cell in cells) + " |"
