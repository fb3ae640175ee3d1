"""Whether the parameters of a part have an effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from textreg.errors import UsageError
from textreg.kinds import Plugin
from textreg.params import Param
from textreg.testing.checks import Skipped, fail, require

_NO_EFFECT = (
    *("seed", "random_state", "verbose", "n_jobs", "jobs", "workers", "threads", "batch_size"),
    *("iterations", "max_iter", "rounds", "tol"),  # what converges at once needs no more of it
)
"""Parameters that need not change a result."""


def check_settings(
    part: Plugin,
    tasks: Sequence[Any],
    run: Callable[[Any, Any], Any],
    equal: Callable[[Any, Any], bool],
) -> None:
    """ContractError if a parameter changes nothing, whatever its value.

    run: gives the result of a part for one of the tasks. equal: whether two results are the same.
    """
    given = [key for key, it in part.declared().items() if it.type is str and it.choices is None]
    if any(getattr(part, key) for key in given):
        raise Skipped(f"what has an effect depends on the text given as {given[0]}")
    usual: dict[int, Any] = {}

    def has_effect(other: Plugin) -> bool:
        for number, task in enumerate(tasks):
            if number not in usual:
                usual[number] = run(part, task)
            if not equal(usual[number], run(other, task)):
                return True
        return False

    for key, declared in part.declared().items():
        tried = []
        for value in () if key in _NO_EFFECT else _others(declared, getattr(part, key)):
            try:
                other = part.replace(**{key: value})
            except UsageError:  # not together with the other parameters
                continue
            kept = declared.convert is not None or getattr(other, key) == value
            require(kept, f"{key}={value!r} to stay as it is given", f"{getattr(other, key)!r}")
            if has_effect(other):
                break
            tried.append(value)
        else:
            if tried:
                fail(
                    f"an effect of the parameter {key}",
                    f"the same result for {', '.join(map(repr, [getattr(part, key), *tried]))}",
                )


def _others(declared: Param, value: Any) -> Iterator[Any]:
    """Other values of a parameter that it allows; none of a text that may be any."""
    if declared.choices is not None:
        yield from (choice for choice in declared.choices if choice != value)
    elif declared.type is bool:
        yield not value
    elif declared.type in (int, float):
        usual = 0 if value is None else value
        near = (usual + 1, usual - 1) if declared.type is int else ()
        seen = [value]
        ends = declared.min, declared.max
        if declared.optional and value is not None:
            yield None
        for other in (*near, 2 * usual, usual / 2, *ends, 1, 5, 10 * usual):
            if other is None:
                continue
            other = int(other) if declared.type is int else float(other)
            low = declared.min is None or other >= declared.min
            if low and (declared.max is None or other <= declared.max) and other not in seen:
                seen.append(other)
                yield other
