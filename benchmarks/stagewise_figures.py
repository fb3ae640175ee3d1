"""Figures 1 to 4 of Hooker & Weng (2004), on data of the same shape as theirs (see .stagewise).

    python -m benchmarks.stagewise_figures [--share 0.05] [--write docs/pictures/hooker-weng.svg]

1: errors and size along the path. 2: the best model by epsilon. 3: the best model by the size of
the random sample of features that a step looks at, with and without the feature of the last step.
4: errors and size along the path with such samples. --share is of their rows and columns.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.stagewise import COLUMNS, ROWS, STEPS, simulate
from textreg.records import Problem
from textreg.solvers.stagewise import stagewise
from textreg.solvers.stagewise_rules import StepRules

EPSILONS = (0.3, 0.1, 0.03, 0.01, 0.003)
SHARES = (0.001, 0.01, 0.1, 0.5)
"""Of all features, in a random sample."""


class Figures:
    """The runs, each made once."""

    def __init__(self, share: float) -> None:
        (X, y), held = simulate(round(share * ROWS), round(share * COLUMNS), 0)
        self.problem, self.p = Problem(X, y, loss="squared", validation=held), X.shape[1]

    def path(self, epsilon: float, **rules: Any) -> Any:
        """The path of one run; smaller steps take more of them."""
        steps = round(STEPS * 0.01 / epsilon)
        every = max(steps // 200, 1)
        made = StepRules(epsilon=epsilon, steps=steps, every=every, seed=0, **rules)
        return stagewise(self.problem, made).report.path

    def best(self, path: Any) -> tuple[float, float, float]:
        """Error, size and step of the model of least error on held-out rows."""
        at = int(np.argmin(path.validation_error))
        return float(path.validation_error[at]), float(path.nonzero[at]), float(path.checks[at])


def along(axes: Any, path: Any, title: str) -> None:
    """Errors and size by the step; a line where the error on held-out rows is least."""
    axes.plot(path.checks, path.train_error, "-", label="training error")
    axes.plot(path.checks, path.validation_error, "--", label="test error")
    axes.axvline(path.checks[int(np.argmin(path.validation_error))], color="gray", linewidth=0.8)
    axes.set(title=title, xlabel="step", ylabel="error")
    size = axes.twinx()
    size.plot(path.checks, path.nonzero, ":", color="black")
    size.set_ylabel("features (dotted)")
    axes.legend(frameon=False, loc="center right")


def by(axes: Any, x: Any, rows: list[tuple[float, float, float]], title: str, label: str) -> None:
    """The best model: its error, its size and a hundredth of its steps."""
    error, nonzero, steps = zip(*rows, strict=True)
    axes.plot(x, error, "-o", label="test error")
    axes.set(title=title, xlabel=label, ylabel="best test error")
    size = axes.twinx()
    size.plot(x, nonzero, "--s", color="tab:orange")
    size.plot(x, np.array(steps) / 100, ":", color="black")
    size.set_ylabel("features (dashed), steps / 100 (dotted)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=0.05, help="of rows and columns")
    parser.add_argument("--write", type=Path, default=Path("docs/pictures/hooker-weng.svg"))
    parser.add_argument("--data", help="not used; every script of this folder is given it")
    options = parser.parse_args()
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "textreg", "font.size": 8})
    from matplotlib import pyplot as plt

    figures = Figures(options.share)
    whole = figures.path(0.01)
    epsilons = [(it, figures.best(figures.path(it))) for it in EPSILONS]
    sizes = [max(round(share * figures.p), 1) for share in SHARES]
    drawn = [figures.path(0.01, sample=size) for size in sizes]
    kept = [figures.path(0.01, sample=size, keep_best=True) for size in sizes]
    for name, rows in (
        ("epsilon", epsilons),
        ("sample", list(zip(sizes, map(figures.best, drawn), strict=True))),
        ("sample, with the last", list(zip(sizes, map(figures.best, kept), strict=True))),
    ):
        for x, (error, nonzero, step) in rows:
            print(f"{name} {x:g}: error {error:.3f}, {nonzero:,.0f} features, step {step:,.0f}")
    figure, axes = plt.subplots(3, 2, figsize=(9, 9), layout="constrained")
    along(axes[0, 0], whole, "1. all features")
    x = [-np.log10(it) for it, _ in epsilons]
    by(axes[0, 1], x, [row for _, row in epsilons], "2. by the size of a step", "-log10 epsilon")
    logs = np.log10(sizes)
    by(
        axes[1, 0],
        logs,
        list(map(figures.best, kept)),
        "3. sample, with the last feature",
        "log10 size",
    )
    by(axes[1, 1], logs, list(map(figures.best, drawn)), "3. sample alone", "log10 size")
    along(axes[2, 0], drawn[1], f"4. a sample of {sizes[1]:,} features")
    axes[2, 1].axis("off")
    figure.savefig(options.write, metadata={"Date": None})


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
