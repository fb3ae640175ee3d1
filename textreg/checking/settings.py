"""The settings of a check."""

from __future__ import annotations

from typing import Any

from textreg.checking import copy_findings, findings, label_findings
from textreg.checking.findings import Finding
from textreg.errors import UsageError, did_you_mean
from textreg.jobs import check_jobs
from textreg.params import Parametrized, param
from textreg.tasks import TASKS

KINDS: dict[str, type[Finding]] = {
    kind.name: kind
    for module in (findings, copy_findings, label_findings)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Finding) and kind is not Finding
}
"""Every kind of finding, by its name."""


def check_names(names: Any) -> frozenset[str]:
    """Names of kinds of findings; UsageError for any other."""
    if isinstance(names, str):
        names = [names]
    for name in names:
        if name not in KINDS:
            raise UsageError(
                f"no finding is called '{name}'.{did_you_mean(str(name), KINDS)} There are: "
                f"{', '.join(KINDS)}."
            )
    return frozenset(names)


class CheckSettings(Parametrized):
    """What to look for."""

    name = "check"
    task: str | None = param(
        default=None,
        choices=tuple(TASKS),
        help="whether a document has one label, any number of them (multilabel), or a number; by "
        "default multilabel if labels are lists, else classification",
    )
    skip: frozenset[str] | None = param(
        default=None,
        convert=check_names,
        metavar="NAME",
        repeated=True,
        help="do not look for findings of this name",
    )
    similarity: float = param(
        default=0.8,
        min=0.5,
        max=1.0,
        help="the share of words and pairs of words that near duplicates have in common at least "
        "(Jaccard similarity)",
    )
    examples: int = param(default=3, min=0, help="number of examples of every finding")

    jobs: int = param(
        default=1,
        convert=check_jobs,
        help="number of fits to run in parallel; -1 for one per core",
    )

    def wants(self, *kinds: type[Finding]) -> bool:
        """Whether one of these kinds of findings is to be looked for."""
        return any(kind.name not in (self.skip or ()) for kind in kinds)
