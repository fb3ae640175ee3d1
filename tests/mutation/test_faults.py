"""Which faults ``make mutate`` plants, and where it plants none."""

from __future__ import annotations

import pytest
from faults import faults
from mutate import ROOT, equivalent


@pytest.mark.parametrize(
    ("line", "planted"),
    [
        ("a - b", ["(a + b)"]),
        ("a * b", ["(a)"]),
        ("a < b", ["(a >= b)", "(a <= b)"]),
        ("a is None", ["(a is not None)"]),
        ("not a", ["(a)"]),
        ("a and b", ["(a or b)"]),
        ("a if b else c", ["(c if b else a)"]),
        ("True", ["False"]),
        ("f(a, b)", ["(f(b, a))"]),
        ("f(a, a)", []),
        ("min(a.x, b)", ["(max(a.x, b))"]),
        ("np.maximum(a, b)", ["(np.minimum(a, b))"]),
        ("sorted(a)", ["list(a)"]),
        ("a.clip(b)", ["(a)"]),
        ("np.abs(a)", ["(a)"]),
        ("range(n)", ["(range(n - 1))"]),
        ("f(a, sample_weight=b)", ["(f(a))"]),
        ("self._lock", ['__import__("contextlib").nullcontext()']),
        ('a + "text"', []),
        ('f"{a + 1}"', []),
        ("1 << 20", []),
        ("1e-6", []),
        ("LOG.info(a + b)", []),
    ],
)
def test_faults_of_an_expression(line: str, planted: list[str]) -> None:
    source = f'"""é"""\n\ndef f(a: int | None) -> int | None:\n    return {line}\n'.encode()
    found = list(faults(source))
    assert [fault.after for fault in found] == planted
    for fault in found:
        assert (fault.line, fault.in_function) == (4, True)
        assert fault.plant(source) == source.replace(line.encode(), fault.after.encode())


def test_messages_and_representations_are_left_alone() -> None:
    lines = ["def __repr__(self):", "    return a - b", "def f():", "    raise Error(a - b)"]
    assert not list(faults("\n".join(lines).encode()))


def test_equivalent_faults_are_still_there() -> None:
    for entry in equivalent():
        source = (ROOT / entry["file"]).read_bytes()
        planted = {(fault.text, fault.after) for fault in faults(source)}
        assert (entry["line"], entry["after"]) in planted, f"no longer planted: {entry}"
