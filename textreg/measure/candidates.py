"""What is compared: regularizers with their options, and models; in the forms users give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from textreg.errors import UsageError
from textreg.kinds import Regularizer
from textreg.model import Model
from textreg.settings import TrainingSettings

Candidate: TypeAlias = str | type[Regularizer] | Regularizer | Mapping[str, Any] | Model


def parse_candidate(text: str) -> dict[str, Any]:
    """Options from a text such as ``group groups=lda reg_l1=0.1``; UsageError where it is none."""
    name, *options = text.split()
    found: dict[str, Any] = {"reg": name}
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    for option in options:
        key, equals, value = option.partition("=")
        key = key.replace("-", "_")
        if not equals or not key or key in found:
            raise UsageError(
                f"candidate '{text}': after the name come options such as groups=lda or "
                f"reg_l1=0.1, each once, not '{option}'."
            )
        found[key] = words.get(value.lower(), value)
    return found


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
