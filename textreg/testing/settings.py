"""Whether the parameters of a part have an effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from textreg.errors import UsageError
from textreg.kinds import Plugin
from textreg.params import Param
from textreg.testing.checks import Skipped, fail

_NO_EFFECT = (
    *("seed", "random_state", "verbose", "n_jobs", "jobs", "workers", "threads", "batch_size"),
    *("iterations", "max_iter", "rounds", "tol"),  # what converges at once needs no more of it
)
"""Parameters that need not change a result."""


def check_settings(
    part: Plugin, run: Callable[[Any], Any], differ: Callable[[Any, Any], bool]
) -> None:
    """ContractError if a parameter changes nothing, whatever its value.

    run: gives the result of a part. differ: whether two results are not the same.
    """
    given = [key for key, it in part.declared().items() if it.type is str and it.choices is None]
    if any(getattr(part, key) for key in given):
        raise Skipped(f"what has an effect depends on the text given as {given[0]}")
    usual = None
    for key, declared in part.declared().items():
        others = [] if key in _NO_EFFECT else list(_others(declared, getattr(part, key)))
        tried = []
        for value in others:
            try:
                other = part.replace(**{key: value})
            except UsageError:  # not together with the other parameters
                continue
            got = getattr(other, key)
            if got != value and declared.convert is None:
                fail(f"{key}={value!r} to stay as it is given", f"{got!r}")
            usual = run(part) if usual is None else usual
            if differ(usual, run(other)):
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
