"""Write docs/results.md and its pictures from the measured results."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import textreg
from benchmarks.papers import tables
from benchmarks.papers.findings import best_methods, claims_of
from benchmarks.papers.measure import PEERS
from benchmarks.papers.missed import missed
from benchmarks.papers.protocols import (
    AS_PRINTED,
    BUDGETS,
    DEFAULTS,
    PAPERS,
    RHOS,
    STRENGTHS,
    VARIANTS,
)
from benchmarks.papers.published import SECONDS
from benchmarks.papers.tables import Results, accuracy, percent, size
from textreg_report.charts import PlottedModel, Series, accuracy_by_size, metric_by_size

SETTINGS = len(STRENGTHS) ** 2 * len(RHOS)

SINCE = "2026-11-22"
"""From this day on the default has characters beside words, and chooses by log-loss."""

HEAD = """% Written by `python -m benchmarks.papers` from benchmarks/papers/results.json.

# Results

The results of two papers on these regularizers, measured again: table 2 of Yogatama & Smith
(2014), tables 2 and 3 and figures 3 and 4 of Skianis et al. (2018). One command produces all
numbers on this page:

```console
$ python -m benchmarks.papers --data DIR
```

`DIR` holds `tasks/NAME/{train,dev,test}.jsonl.gz`; `make results` installs what the command needs.
Accuracies are measured on the test documents, which serve no other purpose. Sizes are features with
a weight, in percent of all features. A difference of one point is within the noise: the standard
error is about two points for 200 test reviews, and about one for 717 to 796 messages of 20
Newsgroups.
"""

HOW = [
    f"""**The papers' protocol**: counts of single words; penalty strengths from the papers' grids
    ({STRENGTHS[-1]:g} to {STRENGTHS[0]:g}, by factors of ten), chosen by dev accuracy, ties to the
    smaller model; the model is fitted to the training documents only. `sentence` and `group` are
    solved to the optimum, so there is no rho to choose. `{AS_PRINTED}` is the method as published:
    Algorithm 1 with rho from {RHOS[-1]:g} to {RHOS[0]:g}, {SETTINGS} settings, each started from
    zero and stopped after 100 iterations or at a relative change of the weights of 0.0001 (the
    paper gives no tolerance).""",
    """**textreg's defaults** are `textreg train train.jsonl.gz --dev dev.jsonl.gz --reg NAME` with
    no other option, and a last fit with the dev documents: features are words and pairs of words,
    with characters beside them, by tf-idf, and hyperparameters are chosen by log-loss.""",
    f"""`omp` and `gomp` also choose the number of features on the dev documents, among
    {len(BUDGETS)} values from {BUDGETS[0]} to {BUDGETS[-1]}; the paper gives only the largest.""",
    """Groups are built from the training text: `lda` and `lsi` with 50 topics of 20 words,
    `clusters` from word vectors of the text. The paper uses word vectors of Google News, and has
    1,000 topics of 10 words (section 5.3). Words and
    sentences come from textreg's tokenizer; the papers used others.""",
    """`NB-SVM` (Wang & Manning 2012) is scikit-learn's linear SVM on words and word pairs. Its cost
    and its interpolation are chosen on the dev documents; it is fitted with and without them.""",
    "Seconds are CPU time of all threads, for features, search and last fit.",
]


def machine() -> dict[str, Any]:
    """The machine and the versions."""
    return {
        "textreg": textreg.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def page(results: Mapping[str, Any]) -> str:
    """The whole page."""
    tasks = tables.in_order(results["tasks"])
    blocks = [
        HEAD,
        _measured(tasks, results["machine"]),
        "## Findings",
        *best_methods(tasks),
        tables.bullets(claims_of(tasks)),
        *_papers(tasks),
        *missed(tasks),
        *_defaults(tasks),
        "## Pictures",
        "![Accuracy against size by the papers' protocol](pictures/results-papers.svg)",
        "Figure 3 of Skianis et al., by the papers' protocol: upper left is best.",
        "![Accuracy against size with textreg's defaults](pictures/results-defaults.svg)",
        "The same with textreg's defaults.",
        "![Dev accuracy of omp against its features](pictures/results-atoms.svg)",
        "Figure 4 of Skianis et al.: dev accuracy of `omp` from feature to feature (counts, ridge "
        "0.1).",
        "## How it was measured",
        tables.bullets(HOW),
    ]
    return "\n\n".join(block.rstrip("\n") for block in blocks) + "\n"


def _papers(tasks: Results) -> list[str]:
    """Results of the papers' protocol, published numbers beside ours."""
    if not tables.methods(tasks, PAPERS):
        return []
    return [
        "## The papers' protocol",
        "Accuracy in percent, published values below ours:",
        tables.ours_and_theirs(tasks, PAPERS, accuracy),
        "All tasks, compared with the lasso; p: of the papers' sign test over documents:",
        tables.contests(tasks, PAPERS, "lasso"),
        "Size of the models in percent of all features:",
        tables.ours_and_theirs(tasks, PAPERS, size),
        "Seconds:",
        tables.ours(tasks, [PAPERS], tables.seconds, "{:.1f}".format),
        *_fits(tasks),
    ]


def _defaults(tasks: Results) -> list[str]:
    """Results of textreg's defaults."""
    if not tables.methods(tasks, DEFAULTS):
        return []
    return [
        "## textreg's defaults",
        *_earlier(tasks),
        "Accuracy in percent:",
        tables.ours(tasks, [DEFAULTS, PEERS], accuracy, "{:.1f}".format),
        "All tasks, compared with the elastic net:",
        tables.contests(tasks, DEFAULTS, "elastic"),
        "Size of the models in percent of all features:",
        tables.ours(tasks, [DEFAULTS, PEERS], size, percent),
        "Seconds:",
        tables.ours(tasks, [DEFAULTS, PEERS], tables.seconds, "{:.1f}".format),
    ]


def _earlier(tasks: Results) -> list[str]:
    """Which tasks were measured with the default before this one, if some were."""
    names = [
        name
        for name, task in tasks.items()
        if any(cell.get("date", task["date"]) < SINCE for cell in task.get(DEFAULTS, {}).values())
    ]
    if not names:
        return []
    return [
        tables.fill(
            f"Measured before {SINCE}, with the default of that time (words and pairs alone, "
            f"hyperparameters chosen by accuracy): **{' and '.join(names)}**. Here and in the "
            "findings above they stand beside tasks with the default of today."
        )
    ]


def _measured(tasks: Results, where: Mapping[str, Any]) -> str:
    """Date, machine and running time."""
    every = [
        {"date": task["date"], **cell}
        for task in tasks.values()
        for protocol in (PAPERS, DEFAULTS, VARIANTS)
        for cell in task.get(protocol, {}).values()
    ]
    dates = sorted({cell["date"] for cell in every})
    wall, cpu = (sum(cell[clock] for cell in every) / 60 for clock in ("wall", "cpu"))
    return tables.fill(
        f"Measured on {' and '.join(dates)} with textreg {where['textreg']} and Python "
        f"{where['python']} on {where['cores']} cores ({where['system']}): "
        f"{len(every)} searches in {wall:.0f} minutes, {cpu:.0f} of CPU time."
    )


def _fits(tasks: Results) -> list[str]:
    """Seconds of the one best fit, ours and published, and of the whole ADMM grid."""
    rows = [
        [f"{name}, {method}", f"{tasks[name]['fits'][method]:.3f}", f"{theirs:g}"]
        for name, published in SECONDS.items()
        for method, theirs in published.items()
        if method in tasks.get(name, {}).get("fits", {})
    ]
    blocks = []
    if rows:
        blocks = [
            "CPU seconds of one fit from zero at the chosen strengths, and those "
            "of other machines:",
            tables.table(["", "here", "published"], rows),
        ]
    cell = tasks.get("sports", {}).get(PAPERS, {}).get(AS_PRINTED)
    if cell is not None:
        blocks.append(
            tables.fill(
                f"The whole grid of Yogatama & Smith on sports, {SETTINGS} settings of ADMM, took "
                f"{cell['cpu']:.0f} s of CPU time and {cell['wall']:.0f} s of wall time."
            )
        )
    return blocks


def pictures(results: Mapping[str, Any], folder: Path) -> None:
    """Figures 3 (by both protocols) and 4."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = tables.in_order(results["tasks"])
    for protocol in (PAPERS, DEFAULTS):
        if not tables.methods(tasks, protocol):
            continue
        panels = {
            name.removeprefix("amazon-"): [
                PlottedModel(method, cell["features"], cell["accuracy"])
                for method in tables.methods(tasks, protocol)
                for cell in [task[protocol][method]]
            ]
            for name, task in tasks.items()
        }
        accuracy_by_size(panels, folder / f"results-{protocol}.svg")
    curves = [
        Series(name.removeprefix("amazon-"), *zip(*task["atoms"], strict=True))
        for name, task in tasks.items()
        if "atoms" in task
    ]
    if curves:
        metric_by_size(curves, folder / "results-atoms.svg", metric="dev accuracy", size="features")
