"""Every compiled kernel has a plain twin of the same name and arguments, and agrees with it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textreg._core

Arguments = dict[str, Any]
Maker = Callable[[np.random.Generator, int, int], Arguments]


def compiled() -> list[ModuleType]:
    found = []
    for info in pkgutil.iter_modules(textreg._core.__path__, "textreg._core."):
        spec = info.module_finder.find_spec(info.name, None)
        if isinstance(spec.loader, ExtensionFileLoader):
            found.append(importlib.import_module(info.name))
    return found


def public(module: ModuleType) -> dict[str, Any]:
    """Functions that ``module`` itself defines and offers."""
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isroutine(value)
        and not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    }


def twins_of(module: ModuleType) -> dict[str, Any]:
    try:
        twin = importlib.import_module(
            module.__name__.replace("textreg._core", "textreg._core.reference")
        )
    except ModuleNotFoundError:
        return {}
    return public(twin)


def test_the_walk_meets_the_core() -> None:
    names = {module.__name__.rpartition(".")[2] for module in compiled()}
    assert {"columns", "descent", "groups", "logistic", "text"} <= names


@pytest.mark.parametrize("module", compiled(), ids=lambda m: m.__name__.rpartition(".")[2])
def test_every_kernel_has_a_twin_with_the_same_arguments(module: ModuleType) -> None:
    twins = twins_of(module)
    for name, kernel in public(module).items():
        assert name in twins, f"{module.__name__}.{name} has no twin"
        expected = list(inspect.signature(kernel).parameters)
        assert list(inspect.signature(twins[name]).parameters) == expected
    orphans = {name for name, twin in twins.items() if (twin.__doc__ or "").startswith("Twin of")}
    assert orphans <= public(module).keys()


# Structure is drawn by hypothesis, numbers by a seeded generator: then no two of them tie, and the
# branch that a kernel takes does not hang on the order of a sum.


def ragged(rng: np.random.Generator, pieces: int, size: int) -> tuple[Any, Any]:
    """``pieces`` sets of numbers below ``size``: some empty, none of them sorted."""
    rows = [rng.permutation(size)[: rng.integers(0, size + 1)] for _ in range(pieces)]
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return indptr, np.concatenate([np.empty(0), *rows]).astype(np.int32)


def some(rng: np.random.Generator, size: int) -> Any:
    """Numbers of either sign, some of them zero."""
    return rng.normal(size=size) * (rng.random(size) < 0.7)


def columns(rng: np.random.Generator, n: int, p: int) -> Arguments:
    indptr, indices = ragged(rng, p, n)
    return {"indptr": indptr, "indices": indices, "data": rng.normal(size=len(indices))}


def chosen(rng: np.random.Generator, p: int) -> Any:
    return rng.permutation(p)[: rng.integers(0, p + 1)].astype(np.int32)


def column_dots(rng: np.random.Generator, n: int, p: int) -> Arguments:
    features = chosen(rng, p)
    out = np.full(len(features), np.nan)
    return {**columns(rng, n, p), "v": some(rng, n), "features": features, "out": out}


def column_sums(rng: np.random.Generator, n: int, p: int) -> Arguments:
    features = chosen(rng, p)
    coefficients = some(rng, len(features))
    out = rng.normal(size=n)
    return {
        **columns(rng, n, p), "coefficients": coefficients, "features": features, "out": out
    }  # fmt: skip


def column_damping(rng: np.random.Generator, n: int, p: int) -> Arguments:
    features = chosen(rng, p)
    return {
        **columns(rng, n, p), "alpha": some(rng, n), "features": features,
        "excess": some(rng, len(features)), "factor": np.ones(n),
    }  # fmt: skip


def prices(rng: np.random.Generator, p: int) -> Arguments:
    return {
        "q": np.abs(some(rng, p)), "mu": some(rng, p), "lam": np.abs(some(rng, p)),
        "w": some(rng, p),
    }  # fmt: skip


def drawn(rng: np.random.Generator, n: int, p: int) -> Arguments:
    out = np.full(p, -1, dtype=np.int32)
    return {"gradient": rng.normal(size=p), **prices(rng, p), "out": out}


def coordinate_descent(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {
        **columns(rng, n, p), **prices(rng, p), "h": np.abs(some(rng, n)), "v": rng.normal(size=n),
        "active": chosen(rng, p), "curvature": np.full(p, np.nan), "b": rng.normal(),
        "fit_intercept": bool(rng.integers(2)), "passes": int(rng.integers(0, 5)),
        "until_settled": bool(rng.integers(2)),
    }  # fmt: skip


def documents(rng: np.random.Generator, n: int) -> Arguments:
    return {"y": rng.choice([-1.0, 1.0], n), "c": np.abs(some(rng, n))}


def logistic_value(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {"z": some(rng, n) * 10.0 ** rng.integers(0, 4, n), **documents(rng, n)}


def logistic_derivatives(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {**logistic_value(rng, n, p), "r": np.full(n, np.nan), "h": np.full(n, np.nan)}


def logistic_entropy(rng: np.random.Generator, n: int, p: int) -> Arguments:
    others = documents(rng, n)
    s = rng.choice([0.0, 1.0, 0.5, -1e-17, 1.0 + 1e-15], n) * (rng.random(n) < 0.3)
    s = np.where(s == 0.0, rng.random(n), s)
    return {"alpha": s * others["y"] * others["c"], **others}


def groups(rng: np.random.Generator, n: int, p: int) -> Arguments:
    indptr, indices = ragged(rng, n, p)
    return {"indptr": indptr, "indices": indices}


def group_norms(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {**groups(rng, n, p), "w": some(rng, p), "out": np.full(n, np.nan)}


def group_spread(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {**groups(rng, n, p), "values": some(rng, n), "out": rng.normal(size=p)}


def ball_sweeps(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = groups(rng, n, p)
    return {
        **given, "prices": np.abs(some(rng, n)), "lam": 0.3 * np.abs(some(rng, p)),
        "u": 0.1 * some(rng, len(given["indices"])), "z": rng.normal(size=p),
        "over": np.empty(p, dtype=np.uint8), "hot": np.empty(n, dtype=np.int32),
        "sweeps": int(rng.integers(0, 5)),
    }  # fmt: skip


def group_scale(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = groups(rng, n, p)
    u = np.full(len(given["indices"]), np.nan)
    return {**given, "rates": some(rng, n), "w": some(rng, p), "u": u}


def group_gather(rng: np.random.Generator, n: int, p: int) -> Arguments:
    indices = groups(rng, n, p)["indices"]
    return {"indices": indices, "u": some(rng, len(indices)), "out": rng.normal(size=p)}


def admm_copies(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = groups(rng, n, p)
    entries = len(given["indices"])
    return {
        **given, "prices": np.abs(some(rng, n)), "w": some(rng, p), "rho": rng.random() + 0.1,
        "relax": 1.0 + rng.random(), "v": some(rng, entries), "u": some(rng, entries),
        "norms": np.full(n, np.nan), "target": rng.normal(size=p),
    }  # fmt: skip


MAKERS: dict[str, tuple[Maker, str]] = {
    "columns.column_dots": (column_dots, "out"),
    "columns.column_sums": (column_sums, "out"),
    "columns.column_damping": (column_damping, "factor"),
    "descent.drawn": (drawn, "out"),
    "descent.coordinate_descent": (coordinate_descent, "v active curvature w"),
    "logistic.logistic_value": (logistic_value, ""),
    "logistic.logistic_derivatives": (logistic_derivatives, "r h"),
    "logistic.logistic_entropy": (logistic_entropy, ""),
    "groups.group_norms": (group_norms, "out"),
    "groups.group_spread": (group_spread, "out"),
    "groups.ball_sweeps": (ball_sweeps, "u z over hot"),
    "groups.group_scale": (group_scale, "u"),
    "groups.group_gather": (group_gather, "out"),
    "groups.admm_copies": (admm_copies, "v u norms target"),
}
"""How to make arguments for every kernel of the solvers, and the names of those it writes."""


ROOM = {"groups.ball_sweeps": {"over", "hot", "result"}}
"""What is not compared: room to work in, and a count that hangs on the last bit of a sum."""


def kernels() -> list[str]:
    """``module.name`` of every kernel but those of text, which test_text_kernels.py compares."""
    return [
        f"{module.__name__.rpartition('.')[2]}.{name}"
        for module in compiled()
        for name in public(module)
        if not module.__name__.rpartition(".")[2].startswith("text")
    ]


def test_every_kernel_is_compared() -> None:
    assert sorted(kernels()) == sorted(MAKERS)


def find(name: str, package: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(importlib.import_module(f"{package}.{module}"), function)


def arguments(name: str, rng: np.random.Generator, n: int, p: int) -> Arguments:
    """Arguments in the kernel's order; what it only reads is read-only."""
    made, written = MAKERS[name][0](rng, n, p), MAKERS[name][1].split()
    for key, value in made.items():
        if isinstance(value, np.ndarray) and key not in written:
            value.flags.writeable = False
    order = inspect.signature(find(name, "textreg._core")).parameters
    return {key: made[key] for key in order}


def copy(made: Arguments) -> Arguments:
    return {
        key: value.copy() if isinstance(value, np.ndarray) and value.flags.writeable else value
        for key, value in made.items()
    }


@pytest.mark.parametrize("name", MAKERS)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 7), p=st.integers(0, 7))
def test_kernel_agrees_with_its_twin(name: str, seed: int, n: int, p: int) -> None:
    made = arguments(name, np.random.default_rng(seed), n, p)
    ours, theirs = copy(made), copy(made)
    result = find(name, "textreg._core")(*ours.values())
    expected = find(name, "textreg._core.reference")(*theirs.values())
    assert (result is None) == (expected is None)
    ours["result"], theirs["result"] = result or 0.0, expected or 0.0
    for key in theirs.keys() - ROOM.get(name, set()):
        np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-9, atol=1e-12, err_msg=key)


CHECKED = {
    "columns.column_dots": "out",
    "columns.column_sums": "coefficients",
    "columns.column_damping": "excess",
    "descent.drawn": "gradient w q mu lam out",
    "descent.coordinate_descent": "h v curvature q mu lam w indptr",
    "logistic.logistic_value": "z y c",
    "logistic.logistic_derivatives": "z y c r h",
    "logistic.logistic_entropy": "alpha y c",
    "groups.group_norms": "out indptr",
    "groups.group_spread": "values indptr",
    "groups.ball_sweeps": "u z lam over prices hot",
    "groups.group_scale": "rates u",
    "groups.group_gather": "u",
    "groups.admm_copies": "v u norms prices",
}


@pytest.mark.parametrize("name", MAKERS)
def test_arrays_of_other_lengths_are_refused(name: str) -> None:
    for key in CHECKED[name].split():
        made = arguments(name, np.random.default_rng(3), 6, 5)
        made[key] = np.concatenate([made[key], made[key][-1:]])
        with pytest.raises(ValueError, match=r"one entry|same length|entries"):
            find(name, "textreg._core")(*made.values())
