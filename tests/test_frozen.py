"""Today's code against the records of ``tests/frozen``: the same to the last bit.

On another kind of processor, or with other versions of NumPy or SciPy, bits are not promised
(docs/promises.md): there procedures agree to nine digits, and optima as far as both gaps say.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from frozen.answers import EXPORTERS, MODELS, TOL, answers, exported
from frozen.choices import CORPORA, TEST, choice
from frozen.fits import FITS, fitted
from frozen.record import HERE, machine, read

pytestmark = pytest.mark.skipif(
    not (HERE / "fits.npz").is_file(), reason="a source distribution has no records"
)

DIGITS = 1e-9
"""Relative difference between machines of different kinds."""

ANSWERED = 10.0 * TOL**0.5
"""The same of answers: weights are known to about the root of the gap."""


@cache
def same_machine() -> bool:
    """Whether bits are promised to be those on record."""
    there: dict[str, Any] = read("machine.json")
    return machine() == there


def test_everything_is_on_record() -> None:
    assert [*read("fits.json")] == [*FITS]
    assert [*read("choices.json")] == [*CORPORA]
    assert [*read("answers.json")] == [*read("exports.json")] == [*MODELS]
    assert sum(file.stat().st_size for file in HERE.glob("*.*[nz]")) < 2 << 20


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", FITS)
def test_fit(name: str) -> None:
    values, arrays = fitted(name)
    record = read("fits.json")[name]
    with np.load(HERE / "fits.npz") as stored:
        of_record = {key: stored[f"{name}: {key}"] for key in arrays}
    if same_machine():
        for key, array in arrays.items():
            np.testing.assert_array_equal(array, of_record[key], err_msg=key)
        assert values == record
        return
    assert values["features"] == record["features"]
    assert values["converged"] == record["converged"]
    assert (values["gap"] is None) == (record["gap"] is None)
    if record["gap"] is None:
        assert values["objective"] == pytest.approx(record["objective"], rel=DIGITS)
        assert values.get("order") == record.get("order")
        for key, array in arrays.items():
            np.testing.assert_allclose(array, of_record[key], rtol=DIGITS, atol=DIGITS, err_msg=key)
    else:
        # Each lies above the optimum by its own gap at most.
        apart = values["objective"] - record["objective"]
        assert apart <= (values["gap"] + DIGITS) * values["objective"]
        assert -apart <= (record["gap"] + DIGITS) * record["objective"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CORPORA)
def test_choice(name: str, data_dir: Path) -> None:
    made, record = choice(data_dir / "data", name), read("choices.json")[name]
    if same_machine():
        assert made == record
        return
    numbers = ("held out", "accuracy")
    assert {**made, **dict.fromkeys(numbers)} == {**record, **dict.fromkeys(numbers)}
    assert made["held out"] == pytest.approx(record["held out"], rel=1e-3)
    assert made["accuracy"] == pytest.approx(record["accuracy"], abs=1.5 / TEST)


def flat(value: Any, at: str = "") -> dict[str, Any]:
    """The single values in lists and dicts, by where they are."""
    if isinstance(value, dict):
        items: Any = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        return {at: value}
    return {key: leaf for k, part in items for key, leaf in flat(part, f"{at}/{k}").items()}


@pytest.mark.parametrize("name", MODELS)
def test_answers_and_evidence(name: str) -> None:
    made, record = (flat(of) for of in (json.loads(json.dumps(answers(name))), _answers(name)))
    assert made.keys() == record.keys()
    if same_machine():
        assert {key: made[key] for key in made if made[key] != record[key]} == {}
        return
    for key, value in record.items():
        if isinstance(value, float):
            assert made[key] == pytest.approx(value, rel=ANSWERED, abs=ANSWERED), key
        else:
            assert made[key] == value, key


def _answers(name: str) -> Any:
    return read("answers.json")[name]


@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("name", MODELS)
def test_export(name: str, exporter: str, tmp_path: Path) -> None:
    made, record = exported(name, exporter, tmp_path), read("exports.json")[name][exporter]
    if same_machine():
        assert made == record
    else:
        assert made["text"] == record["text"]
