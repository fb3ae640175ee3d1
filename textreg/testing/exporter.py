"""The contract of exporters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from textreg.errors import BrokenPluginError, UsageError
from textreg.kinds import Exporter
from textreg.plugins import calls
from textreg.records.plain_model import PlainModel
from textreg.testing.checks import Check, fail, require, run_checks
from textreg.testing.limits import SECONDS
from textreg.testing.models import plain_models
from textreg.testing.parts import common_checks
from textreg.testing.runs import copies, elsewhere, own_numbers
from textreg.testing.settings import check_settings

Exported = dict[str, bytes | str]
"""The files of the models, or the reasons why there are none."""


def exporter_checks() -> list[Check]:
    """Those of exporters, in order; each is called with a name, a class or an instance."""
    checks = common_checks("exporter", "exporter-")
    imports = checks.all.pop()
    for run in (_result, _reasons, _labels, _determinism, _settings):
        checks.add(f"exporter-{run.__name__.lstrip('_')}")(run)
    checks.all.append(imports)
    checks.add("exporter-processes")(_processes)
    return checks.all


def check_exporter(
    part: str | type[Exporter] | Exporter,
    *,
    skip: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> None:
    """Raise ContractError unless ``part``, a name, class or instance, is a good exporter.

    Parameters
    ----------
    part : str, class or Exporter
    skip : mapping of str to str, optional
        Checks to leave out, with the reasons.
    seconds : float, default 20
        What a check may take.
    """
    run_checks(exporter_checks(), part, skip, seconds)


def _export(exporter: Exporter, model: PlainModel) -> bytes | str:
    """The file of a model, or the reason why there is none."""
    try:
        return calls.export(exporter, model)
    except BrokenPluginError as error:
        fail("the content of a file", f"the error '{error.cause}'")
    except UsageError as error:
        return str(error)


def _all(exporter: Exporter, task: object = None) -> Exported:
    return {name: _export(exporter, model) for name, model in plain_models().items()}


def _result(exporter: Exporter) -> None:
    """export gives bytes for a model of two labels and counts of words at least, which differ where
    its weights do, and leaves the model as it was."""
    model = plain_models()["two labels"]
    before = json.dumps(model.to_dict())
    made = _export(exporter, model)
    require(isinstance(made, bytes), "a model of two labels to be exported", repr(made))
    require(json.dumps(model.to_dict()) == before, "the model as it was", "another")
    other = plain_models()["two labels"]
    other.parts[0].weights[0, 0] += 0.5
    require(_export(exporter, other) != made, "another file for other weights", "the same")
    suffix = exporter.suffix
    good = isinstance(suffix, str) and suffix.startswith(".") and len(suffix) > 1
    require(good, "the ending of its files as suffix, such as '.json'", repr(suffix))


def _reasons(exporter: Exporter) -> None:
    """A model that the format cannot express is refused with a UsageError that says why."""
    for name, made in _all(exporter).items():
        told = isinstance(made, bytes) or len(made.split()) >= 4
        require(told, f"a reason in words why {name} cannot be exported", repr(made))


def _labels(exporter: Exporter) -> None:
    """What decides about answers is in the file, or the model is refused: thresholds, the unknown
    label, the calibration, whether there is always a label, the length of rows, the fields of a
    document, whether it is a list of tokens, and whether HTML is removed."""
    every = _all(exporter)
    plain = every["two labels"]
    for name in ("a threshold", "a temperature", "curves", "logarithms", "no probabilities"):
        require(every[name] != plain, f"another file for {name}", "the same as without")
    require(
        every["the length of known features"] != plain, "the length of a row to count", "the same"
    )
    for name in ("a field", "several fields", "lists of tokens", "HTML"):
        require(every[name] != plain, f"another file for {name}", "the same as for a text")
    several = [every[name] for name in ("several labels", "softmax", "lists of labels")]
    several.append(every["an unknown label"])
    files = [made for made in several if isinstance(made, bytes)]
    require(len(set(files)) == len(files), "another file for every task", "the same for some")


def _determinism(exporter: Exporter) -> None:
    """Equal models give the same bytes, also after other models and by a copy. The random numbers
    of the process are left alone."""
    with own_numbers("the same file of the same model"):
        first = _all(exporter)
    require(_all(exporter) == first, "the same files twice", "others")
    for what, copy in copies(exporter).items():
        require(_all(copy) == first, f"the same files by {what}", "others")


def _settings(exporter: Exporter) -> None:
    """Every parameter has an effect: some other value of it gives another file. Not asked of
    texts."""
    check_settings(exporter, [None], _all, dict.__eq__)


def _processes(exporter: Exporter) -> None:
    """A fresh interpreter, with other hash values of texts, gives the same files."""
    there: list[Any] = elsewhere(_all, exporter, [None])
    require(there == [_all(exporter)], "the same files in a fresh interpreter", "others")
