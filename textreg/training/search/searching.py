"""The search as a whole: over prices, and over whatever else is to be searched."""

from __future__ import annotations

import time
from dataclasses import dataclass

from textreg.errors import UsageError
from textreg.training.running import Work
from textreg.training.search.context import Ready, SearchContext
from textreg.training.search.narrowing import narrowed
from textreg.training.search.sampling import sampled
from textreg.training.search.selection import Point, fits


@dataclass(frozen=True, eq=False)
class Found:
    """What a search came to.

    points: what was measured. best: the winner, None where nothing was to be searched. ready: the
    documents as the winner has them. planned: number of settings that were to be measured. stopped:
    "interrupted" or "budget" where some of these were left out.
    """

    points: list[Point]
    best: Point | None
    ready: Ready
    planned: int
    stopped: str | None = None


def find(bench: SearchContext, work: Work) -> Found:
    """Search the whole space, until time is up but for what the final fit needs.

    Nothing is searched where there is no split; the documents are then those of the settings.
    Raises KeyboardInterrupt where nothing was measured before the first Ctrl-C, and UsageError
    where nothing was before time was up.
    """
    if not bench.splits:
        return Found([], None, bench.ready(()), planned=0)
    run = work.run("search", 0)
    points: list[Point] = []
    planned = 0
    plan = sampled(bench) if bench.settings.tuning.search == "tpe" else narrowed(bench)
    with run.listening():
        step = next(plan)
        while step is not None:
            planned += len(step.parts)
            run.leave(bench.last(step.chosen, work))
            run.expect((planned + step.left) * fits(bench.ready(step.chosen).cut))
            found = bench.measure(step.chosen, step.parts, run)
            points += found
            if run.stopped:
                planned += step.left
                break
            bench.keep(bench.promising(points, 1)[0])
            try:
                step = plan.send(found)
            except StopIteration:
                break
    if not points and run.interrupted:
        raise KeyboardInterrupt
    if not points:
        seconds = bench.settings.tuning.seconds or 0.0
        raise UsageError(
            f"after {seconds + time.monotonic() - work.deadline:.1f} s no setting was measured yet "
            f"that could be fitted within the budget of {seconds:g} s: allow more time "
            "(--budget), name the prices, or train on fewer documents or features."
        )
    best = bench.winner(points)
    stopped = ("interrupted" if run.interrupted else "budget") if len(points) < planned else None
    return Found(points, best, bench.of(best), planned, stopped)
