"""Every compiled kernel has a plain twin of the same name and arguments, and agrees with it."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType, NoneType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_inputs import Arguments, Bundle, Kernel

import textreg._core


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
        twin = importlib.import_module(module.__name__.replace("textreg._core", "twins"))
    except ModuleNotFoundError:
        return {}
    return public(twin)


@pytest.mark.parametrize("module", compiled(), ids=lambda m: m.__name__.rpartition(".")[2])
def test_types_of_a_kernel_have_its_arguments(module: ModuleType) -> None:
    functions = {
        name: list(inspect.signature(kernel).parameters)
        for name, kernel in public(module).items()
        if not isinstance(kernel, type)
    }
    classes = {
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__ and name[0] != "_"
    }
    source = Path(str(module.__file__)).with_name(f"{module.__name__.rpartition('.')[2]}.pyi")
    if not source.is_file():  # C functions for other kernels alone
        assert functions == {}
        return
    stub = ast.parse(source.read_text(encoding="utf-8")).body
    assert functions == {
        node.name: [argument.arg for argument in node.args.args]
        for node in stub
        if isinstance(node, ast.FunctionDef)
    }
    assert {node.name for node in stub if isinstance(node, ast.ClassDef)} <= classes


def test_the_walk_meets_the_core() -> None:
    names = {module.__name__.rpartition(".")[2] for module in compiled()}
    assert {"columns", "descent", "groups", "logistic", "text"} <= names


@pytest.mark.parametrize("module", compiled(), ids=lambda m: m.__name__.rpartition(".")[2])
def test_every_kernel_has_a_twin_with_the_same_arguments(module: ModuleType) -> None:
    twins = twins_of(module)
    for name, kernel in public(module).items():
        assert name in twins, f"{module.__name__}.{name} has no twin"
        if isinstance(kernel, type):  # a bundle of arrays, which a kernel takes: made by keywords
            continue
        expected = list(inspect.signature(kernel).parameters)
        assert list(inspect.signature(twins[name]).parameters) == expected
    orphans = {name for name, twin in twins.items() if (twin.__doc__ or "").startswith("Twin of")}
    assert orphans <= public(module).keys()


KERNELS: dict[str, Kernel] = {}
for path in sorted(Path(__file__).parent.glob("kernel_inputs_*.py")):
    KERNELS.update(importlib.import_module(path.stem).KERNELS)


def kernels() -> list[str]:
    """``module.name`` of every kernel but those of text, which test_text_kernels.py compares."""
    return [
        f"{module.__name__.rpartition('.')[2]}.{name}"
        for module in compiled()
        for name, kernel in public(module).items()
        if not isinstance(kernel, type)
        and not module.__name__.rpartition(".")[2].startswith("text")
    ]


def test_every_kernel_is_compared() -> None:
    assert sorted(kernels()) == sorted(KERNELS)


def find(name: str, package: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(importlib.import_module(f"{package}.{module}"), function)


def arguments(name: str, rng: np.random.Generator, n: int, p: int) -> Arguments:
    """Arguments in the kernel's order; what it only reads is read-only."""
    made = KERNELS[name].make(rng, n, p)
    for arrays in bundled(made):
        for key, value in arrays.items():
            if isinstance(value, np.ndarray) and key not in KERNELS[name].written.split():
                value.flags.writeable = False
    order = inspect.signature(find(name, "textreg._core")).parameters
    return {key: made[key] for key in order}


def bundled(made: Arguments) -> list[Arguments]:
    """The arguments, and those of the bundles among them."""
    return [made, *(value.arguments for value in made.values() if isinstance(value, Bundle))]


def copy(made: Arguments) -> Arguments:
    def copied(value: Any) -> Any:
        if isinstance(value, Bundle):
            return value._replace(arguments=copy(value.arguments))
        return value.copy() if isinstance(value, np.ndarray) and value.flags.writeable else value

    return {key: copied(value) for key, value in made.items()}


def call(name: str, package: str, made: Arguments) -> Any:
    """What a kernel or its twin returns; bundles are made of the classes beside it."""
    module = name.partition(".")[0]
    given = [
        find(f"{module}.{value.cls}", package)(**value.arguments)
        if isinstance(value, Bundle)
        else value
        for value in made.values()
    ]
    return find(name, package)(*given)


@pytest.mark.parametrize("name", KERNELS)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 7), p=st.integers(0, 7))
def test_kernel_agrees_with_its_twin(name: str, seed: int, n: int, p: int) -> None:
    made = arguments(name, np.random.default_rng(seed), n, p)
    ours, theirs = copy(made), copy(made)
    result = call(name, "textreg._core", ours)
    expected = call(name, "twins", theirs)
    assert (result is None) == (expected is None)
    ours["result"], theirs["result"] = result or 0.0, expected or 0.0
    for our_arrays, their_arrays in zip(bundled(ours), bundled(theirs), strict=True):
        for key in their_arrays.keys() - KERNELS[name].room.split():
            one, other = our_arrays[key], their_arrays[key]
            if not isinstance(other, (Bundle, tuple, NoneType)):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=key)


@pytest.mark.parametrize("name", KERNELS)
def test_arrays_of_other_lengths_are_refused(name: str) -> None:
    for key in KERNELS[name].checked.split():
        made = arguments(name, np.random.default_rng(3), 6, 5)
        arrays = next(arrays for arrays in bundled(made) if key in arrays)
        arrays[key] = np.concatenate([arrays[key], arrays[key][-1:]])
        with pytest.raises(ValueError, match=r"one entry|same length|entries"):
            call(name, "textreg._core", made)
