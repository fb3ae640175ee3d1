"""A pytest plugin that records which test runs which line, in its processes too, and how long."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator

import coverage
import pytest

VARIANTS = 3
"""Of a test with parameters: others run the same lines, and a run with all takes twice as long."""
_tests: dict[str, dict[str, object]] = {}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    variants: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        variants[item.nodeid.partition("[")[0]].append(item)
    items[:] = [it for tests in variants.values() for it in tests[:: -(-len(tests) // VARIANTS)]]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    test: dict[str, object] = {"test": item.nodeid, "seconds": 0.0, "passed": True}
    _tests[item.nodeid] = test
    test["number"] = os.environ["TEXTREG_TEST"] = str(os.getpid() * 100_000 + len(_tests))
    measured = coverage.Coverage.current()
    assert measured is not None
    measured.switch_context(os.environ["TEXTREG_TEST"])
    result = yield
    measured.switch_context("")
    with open(os.environ["TEXTREG_TESTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(test) + "\n")
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    test = _tests[report.nodeid]
    test["seconds"] = float(str(test["seconds"])) + report.duration
    if report.when == "call" or not report.passed:
        test["passed"] = test["passed"] and report.outcome == "passed"
