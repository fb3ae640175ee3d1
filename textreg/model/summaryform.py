"""The form of a model's summary, as commands and reports count on it.

A summary comes from a file, perhaps from a stranger's; what is missing or null is nothing known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textreg.model.container import FaultError

NUMBER = (int, float)

# A type or several; [form of all members]; {key: form} with these keys; {str: form of all values}.
FORM: dict[str, Any] = {
    "task": str,
    "loss": str,
    "multiclass": str,
    "class_weight": (str, dict),
    "labels": {str: NUMBER},
    "documents": int,
    "features": int,
    "nonzero": int,
    "iterations": int,
    "objective": NUMBER,
    "gap": NUMBER,
    "tol": NUMBER,
    "converged": bool,
    "metric": str,
    "reg": {"name": str, "params": dict},
    "groups": {"name": str, "params": dict},
    "graph": {"name": str, "params": dict},
    "split": {"kind": str, "parts": int},
    "dev": {"documents": int},
    "chosen": dict,
    "search": [{"params": dict, "nonzero": NUMBER}],
    "seconds": {str: NUMBER},
    "thresholds": {str: {"rule": str}},
    "order": [[str]],
    "order_groups": [[{"features": [str]}]],
}


def check_summary(summary: Mapping[str, Any]) -> None:
    """FaultError unless the members of a summary that are there have their form."""
    for key, form in FORM.items():
        if summary.get(key) is not None:
            _check(f"summary's '{key}'", summary[key], form)
    if (metric := summary.get("metric")) is not None:
        for row in summary.get("search") or []:
            _check("summary's 'search'", row, {metric.replace("-", "_"): NUMBER})
    for steps in summary.get("order_groups") or []:
        for step in steps:
            if not isinstance(step.get("group"), (int, type(None))) or not isinstance(
                step.get("name"), (str, type(None))
            ):
                raise FaultError("its summary's 'order_groups' names a group by no number or text")


def _check(what: str, value: Any, form: Any) -> None:
    if isinstance(form, list):
        _require(what, value, list)
        for member in value:
            _check(what, member, form[0])
    elif isinstance(form, dict):
        _require(what, value, dict)
        for key, part in form.items():
            members = value.items() if key is str else [(key, value.get(key))]
            for name, member in members:
                _check(f"{what}, '{name}',", member, part)
    else:
        _require(what, value, *(form if isinstance(form, tuple) else (form,)))


def _require(what: str, value: Any, *kinds: type) -> None:
    if type(value) not in kinds:  # isinstance would take true for a whole number
        told = " or ".join(kind.__name__ for kind in kinds)
        raise FaultError(f"its {what.rstrip(',')} is not of the type {told}")
