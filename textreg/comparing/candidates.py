"""Candidates of a comparison: regularizers with options, and models, in the forms users give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from textreg.errors import UsageError, did_you_mean
from textreg.kinds import Regularizer
from textreg.model.model import Model
from textreg.tasks import TASKS
from textreg.training.settings import TrainingSettings, declared_settings

_SWITCHES: dict[str, Any] = {"true": True, "false": False, "none": None}

Candidate: TypeAlias = str | type[Regularizer] | Regularizer | Mapping[str, Any] | Model


def parse_candidate(text: str) -> dict[str, Any]:
    """Options from a text such as ``group groups=lda reg_l1=0.1``; UsageError if malformed."""
    name, *words = text.split()
    options: dict[str, Any] = {"reg": name}
    for option in words:
        key, equals, value = option.partition("=")
        key = key.replace("-", "_")
        if not equals or not key or key in options:
            raise UsageError(
                "write options such as groups=lda or reg_l1=0.1 after the name, each once, not "
                f"'{option}'."
            )
        options[key] = _read(key, value)
    return options


def _read(key: str, value: str) -> Any:
    """The value of an option in its type; parts convert their own parameters."""
    declared = declared_settings().get(key)
    if declared is None:
        return _SWITCHES.get(value.lower(), value)
    if declared.repeated:
        raise UsageError(
            f"{key} cannot be given as text. Leave it out, or use Python, where candidates may be "
            "mappings."
        )
    return declared.read(value)


def with_names(
    candidates: Sequence[Candidate] | Mapping[str, Candidate],
) -> Iterator[tuple[str, Candidate]]:
    """Every candidate with its name; UsageError if two have the same name."""
    if isinstance(candidates, Mapping):
        yield from candidates.items()
        return
    if isinstance(candidates, (str, Model)):
        raise UsageError("give a list of candidates, such as ['elastic', 'sentence'].")
    seen: set[str] = set()
    for one in candidates:
        if isinstance(one, Mapping):
            name = str(one.get("reg", "sentence"))
        elif isinstance(one, Model):
            name = f"model {len(seen) + 1}"
        else:
            name = " ".join(one.split()) if isinstance(one, str) else one.label()
        if name in seen:
            raise UsageError(
                f"two candidates are called '{name}': leave one out, or give a mapping of names "
                "to candidates."
            )
        seen.add(name)
        yield name, one


def make_ready(one: Candidate, shared: Mapping[str, Any]) -> TrainingSettings | Model:
    """Checked settings of a candidate, or a model; UsageError if it cannot be compared.

    shared: options of all candidates; a candidate's own options take precedence.
    """
    if isinstance(one, Model):
        if not one.task.discrete:
            raise UsageError(f"a {one.task.name} has no labels to compare: leave it out.")
        return one
    if isinstance(one, str):
        if not one.strip():
            raise UsageError("the name is empty: name a regularizer, such as elastic.")
        one = parse_candidate(one)
    own = dict(one) if isinstance(one, Mapping) else {"reg": one}
    settings = TrainingSettings.from_options(**{**shared, **own})
    if settings.task is not None and not TASKS[settings.task].discrete:
        raise UsageError(f"a {settings.task} has no labels to compare: leave out task.")
    return settings


def baseline_of(names: Iterable[str], named: str | None, *, usual: str) -> str:
    """The candidate to compare others with: that named, else the usual or the first one.

    Raises UsageError if the one named is none of them.
    """
    known = list(names)
    if named is None:
        return usual if usual in known else known[0]
    if named not in known:
        raise UsageError(
            f"the baseline '{named}' is not a candidate.{did_you_mean(named, known)} There are: "
            f"{', '.join(known)}."
        )
    return named
