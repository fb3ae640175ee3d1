"""What is compared: regularizers with their options, and models; in the forms users give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

from textreg.errors import UsageError
from textreg.kinds import Regularizer
from textreg.model.model import Model
from textreg.training.search.tuning import Tuning
from textreg.training.settings import TrainingSettings

_TYPES = {
    one.name: str(one.type) for record in (TrainingSettings, Tuning) for one in fields(record)
}
"""Of the options that are no parameters of a part, as they are declared."""

_WANTED = {"bool": "true or false", "int": "a whole number", "float": "a number"}
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}

Candidate: TypeAlias = str | type[Regularizer] | Regularizer | Mapping[str, Any] | Model


def parse_candidate(text: str) -> dict[str, Any]:
    """Options from a text such as ``group groups=lda reg_l1=0.1``; UsageError where it is none."""
    name, *options = text.split()
    found: dict[str, Any] = {"reg": name}
    for option in options:
        key, equals, value = option.partition("=")
        key = key.replace("-", "_")
        if not equals or not key or key in found:
            raise UsageError(
                "after the name come options such as groups=lda or reg_l1=0.1, each once, not "
                f"'{option}'."
            )
        found[key] = _read(key, value)
    return found


def _read(key: str, value: str) -> Any:
    """The value of an option as one of its type; parameters of parts read theirs themselves."""
    kind = _TYPES.get(key, "")
    if "Corpus" in kind or kind.startswith("Mapping"):
        raise UsageError(
            f"{key} cannot be written here. Leave it out, or compare from Python, where candidates "
            "may be mappings."
        )
    found = _WORDS.get(value.lower(), value)
    kinds = kind.split(" | ")
    wanted = next((one for one in _WANTED if one in kinds), "")
    if found is not value or "str" in kinds or not wanted:
        return found
    try:
        return {"int": int, "float": float}[wanted](value)
    except (KeyError, ValueError):
        what = _WANTED[wanted]
        raise UsageError(f"{key} must be {what}, not '{value}'.") from None


def with_names(
    candidates: Sequence[Candidate] | Mapping[str, Candidate],
) -> Iterator[tuple[str, Candidate]]:
    """Every candidate with its name; UsageError where two have the same."""
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
    """Settings of a candidate, all checked, or a model; UsageError where it cannot be compared.

    shared: options of all candidates; where both have one, its own holds.
    """
    if isinstance(one, Model):
        if one.task == "regression":
            raise UsageError("a regression has no labels to compare: leave it out.")
        return one
    if isinstance(one, str):
        if not one.strip():
            raise UsageError("the name is empty: name a regularizer, such as elastic.")
        one = parse_candidate(one)
    own = dict(one) if isinstance(one, Mapping) else {"reg": one}
    settings = TrainingSettings.from_options(**{**shared, **own})
    if settings.task == "regression":
        raise UsageError("a regression has no labels to compare: leave out task.")
    return settings
