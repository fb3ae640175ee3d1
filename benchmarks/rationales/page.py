"""The tables of docs/evidence.md."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.performance.rows import table
from benchmarks.rationales.measure import FOLDS, KINDS, REFITS
from benchmarks.rationales.methods import METHODS
from benchmarks.rationales.published import ERASER

BEGIN = "<!-- Written by `python -m benchmarks.rationales`: begin {} -->"
END = "<!-- end {} -->"

MEASURES = {
    "sentence_auprc": "sentence AUPRC",
    "top_1": "top-1",
    "top_3": "top-3",
    "r_precision": "R-precision",
    "token_auprc": "token AUPRC",
    "token_f1": "token F1",
    "iou_f1": "IOU F1",
    "aopc_comprehensiveness": "comprehen-siveness",
    "aopc_sufficiency": "suffi-ciency",
}
GOALS = {"accuracy": 0.91, "sentence_auprc": 0.62, "top_1": 0.76, "token_auprc": 0.40}
"""What the default is to reach."""

BELOW = 0.05
"""The p-value below which a difference counts."""


def sections(results: Mapping[str, Any]) -> dict[str, str]:
    """The tables by name."""
    measured = results["methods"]
    found = {one.name: measured[one.name] for one in METHODS if one.name in measured}
    return {
        "methods": methods(found),
        "goals": goals(found),
        "published": published(found),
        "rules": rules(results.get("rules", {})),
        "machine": _filled(
            f"Measured on {results['date']} on one of {results['machine']['cores']} cores "
            f"({results['machine']['processor']}, {results['machine']['system']}) with Python "
            f"{results['machine']['python']}."
        ),
    }


def methods(found: Mapping[str, Any]) -> str:
    """A row for every method, and the same sentences by the tokenizer for the default."""
    head = ("", "features", "accuracy", *MEASURES.values())
    rows = [
        [entry["what"], f"{entry['features']:,}", _three(entry["accuracy"])]
        + [_three(entry["measures"].get(key, [None])[0]) for key in MEASURES]
        for entry in found.values()
    ]
    first = next(iter(found.values()))
    rows.append(
        [f"{first['what']}, sentences of the tokenizer", "", ""]
        + [_three(first["own sentences"].get(key, [None])[0]) for key in MEASURES]
    )
    sentences, tokens, n = first["marked"]
    said = (
        f"{n:,} test documents; {sentences:.1%} of the sentences and {tokens:.1%} of the tokens "
        "are marked, which is about what a random order has as AUPRC. Comprehensiveness and "
        "sufficiency are the areas over the perturbation curve; models without probabilities have "
        "none. The 95 % interval of the default's sentence AUPRC is "
        f"{_interval(first['measures']['sentence_auprc'])}, of its token AUPRC "
        f"{_interval(first['measures']['token_auprc'])}."
    )
    return f"{table(head, rows)}\n\n{_filled(said)}"


def goals(found: Mapping[str, Any]) -> str:
    """What was to be reached by the default, the first method, and whether it was."""
    entry = next(iter(found.values()))
    rows = []
    for key, goal in GOALS.items():
        value = entry["accuracy"] if key == "accuracy" else entry["measures"][key][0]
        rows.append([MEASURES.get(key, key), f"{goal:.2f}", _three(value), _told(value >= goal)])
    for name, of in entry["differences"].items():
        value, low, high, p = of["sentence_auprc"]
        reached = value > 0 and p < BELOW
        rows.append(
            [
                f"sentence AUPRC above that of {name}",
                f"p < {BELOW}",
                f"{value:+.3f} ({low:+.3f} to {high:+.3f}), p = {p:.4f}",
                _told(reached),
            ]
        )
    return table(("", "to reach", "", "reached"), rows)


def published(found: Mapping[str, Any]) -> str:
    """The published figures, and those of every method here."""
    head = ("", "accuracy or macro-F1", "IOU F1", "token F1")
    rows = [[one.name, *map(_three, one[1:])] for one in ERASER]
    rows += [
        [f"textreg, {entry['what']}", _three(entry["accuracy"])]
        + [_three(entry["measures"][key][0]) for key in ("iou_f1", "token_f1")]
        for entry in found.values()
    ]
    return table(head, rows)


def rules(found: Mapping[str, Any]) -> str:
    """A row for every rule: average precision by kind of model, top-1 and stability."""
    kinds = [kind for kind in KINDS if kind in found]
    if not kinds:
        return "No table yet: `python -m benchmarks.rationales --parts rules` measures it."
    head = ("", *kinds, "mean", "AUPRC", "top-1", "stability")
    rows = []
    for rule in found[kinds[0]]:
        by_kind = [found[kind][rule]["measures"] for kind in kinds]
        means = [sum(column) / len(kinds) for column in zip(*by_kind, strict=True)]
        stability = sum(found[kind][rule]["stability"] for kind in kinds) / len(kinds)
        figures = [*(one[1] for one in by_kind), means[1], means[0], means[2], stability]
        rows.append([rule.strip(), *map(_three, figures)])
    said = (
        f"Average precision of sentences on documents of train that the model has not seen, in "
        f"{FOLDS} parts of it, for {len(kinds)} kinds of models; AUPRC, top-1 and stability are "
        f"means over them. Stability is the rank correlation between models of {REFITS} bootstraps "
        "of the documents, over the sentences of the documents of dev."
    )
    return f"{table(head, rows)}\n\n{_filled(said)}"


def put(text: str, results: Mapping[str, Any]) -> str:
    """The page with every table between its marks; ValueError if some are missing."""
    for name, section in sections(results).items():
        first, last = BEGIN.format(name), END.format(name)
        before, begin, rest = text.partition(first)
        _, end, after = rest.partition(last)
        if not (begin and end):
            raise ValueError(f"the page has no {first} or no {last} after it.")
        text = f"{before}{first}\n\n{section}\n\n{last}{after}"
    return text


def _three(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _interval(estimate: Sequence[float]) -> str:
    return f"{estimate[1]:.3f} to {estimate[2]:.3f}"


def _told(reached: bool) -> str:
    return "yes" if reached else "**no**"


def _filled(text: str) -> str:
    return textwrap.fill(text, 110, break_on_hyphens=False)
