"""A process of its own for what must not be in that of the benchmark.

    python -m benchmarks.performance.child measure LINE DATA WORK QUICK REPEATS FILE
    python -m benchmarks.performance.child peer-models DATA WORK QUICK

The first makes what the calls of a line need, measures them in forks and writes the samples to FILE
as JSON; the second trains the models of the peers.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

from benchmarks.performance.answers import peer_models
from benchmarks.performance.ground import Ground
from benchmarks.performance.harness import in_turn
from benchmarks.performance.table import LINES


def main(task: str, *arguments: str) -> None:
    """Do one of the two."""
    warnings.simplefilter("ignore")  # a solver that is asked for little precision warns
    if task == "peer-models":
        data, work, quick = arguments
        peer_models(Ground(Path(data), Path(work), quick == "1"))
        return
    line, data, work, quick, repeats, target = arguments
    sides = LINES[line].sides(Ground(Path(data), Path(work), quick == "1"))
    Path(target).write_text(json.dumps(in_turn(sides, int(repeats))))


if __name__ == "__main__":
    main(*sys.argv[1:])
