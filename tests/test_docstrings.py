"""What docs/promises.md promises is described: parameters, results and errors (numpydoc)."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
from test_promises import PAGE, promised

from textreg import errors
from textreg.params import Parametrized

pytestmark = pytest.mark.skipif(
    not PAGE.is_file(), reason="textreg is not installed from a checkout"
)
ORDER = "Parameters Attributes Returns Yields Raises Warns See-Also Notes References Examples"
HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def sections(obj: Any) -> dict[str, str]:
    """The sections of its own docstring by their titles."""
    _, *rest = HEADING.split(inspect.cleandoc(obj.__doc__ or ""))
    return dict(zip(rest[::2], rest[1::2], strict=True))


def entries(section: str) -> list[str]:
    """The names that a section describes: of ``a, **b : int`` a and b."""
    heads = [line.split(" : ")[0] for line in section.splitlines() if line and line[0] != " "]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def raised(function: Callable[..., Any]) -> set[str]:
    """The exceptions that its own statements raise, without functions inside of it."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    found, todo = set(), [*ast.iter_child_nodes(tree)]
    for node in todo:
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            name = ast.unparse(node.exc.func).split(".")[-1]
            # Others never leave their module: a FaultError becomes a ModelError.
            if hasattr(errors, name) or hasattr(builtins, name):
                found.add(name)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            todo += ast.iter_child_nodes(node)
    return found


def covers(described: list[str], name: str) -> bool:
    """Whether an exception, or a class that it derives from, is described."""
    cls = getattr(errors, name, None) or getattr(builtins, name)
    return bool({base.__name__ for base in cls.__mro__} & set(described))


def lacking(function: Callable[..., Any], described: list[dict[str, str]]) -> Iterator[str]:
    """What a function does not describe, nor those that it overrides."""

    def titles(title: str) -> list[str]:
        return [name for each in described for name in entries(each.get(title, ""))]

    signature = inspect.signature(function)
    names = [name for name in signature.parameters if name not in ("self", "cls")]
    if not (function.__doc__ or described[1:]):
        yield "a docstring"
    yield from (f"parameter {name}" for name in names if name not in titles("Parameters"))
    # Without parameters the first line says what is returned.
    returns = signature.return_annotation not in ("None", None, inspect.Signature.empty)
    if returns and names and not any({"Returns", "Yields"} & set(each) for each in described):
        yield "what it returns"
    yield from (
        f"{one} raised" for one in sorted(raised(function)) if not covers(titles("Raises"), one)
    )
    own = entries(described[0].get("Parameters", ""))
    yield from (f"no parameter {name} any more" for name in own if name not in names)


def methods(cls: type[Any]) -> Iterator[tuple[str, Callable[..., Any], list[dict[str, str]]]]:
    """The public methods that a class defines, with their sections and those they override."""
    for name, member in vars(cls).items():
        function = getattr(member, "__func__", member)
        if inspect.isfunction(function) and (name == "__call__" or not name.startswith("_")):
            overridden = [vars(base)[name] for base in cls.__mro__[1:] if name in vars(base)]
            yield name, function, [sections(one) for one in [function, *overridden]]


def lacking_in_class(cls: type[Any]) -> Iterator[str]:
    """What a class does not describe of its constructor; ``param`` describes its own."""
    if not cls.__doc__:
        yield "a docstring"
    if issubclass(cls, (Parametrized, BaseException, dict)) or cls.__module__ == "textreg.errors":
        return
    found = [sections(base) for base in cls.__mro__]
    described = {
        name
        for each in found
        for title in ("Parameters", "Attributes")
        for name in entries(each.get(title, ""))
    }
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.kind not in MANY and name not in described:
            yield f"parameter {name}"


PARTS = sorted(
    {
        (f"{module}.{name}", getattr(import_module(module), name))
        for module, names in promised().items()
        for name in names
        if getattr(getattr(import_module(module), name), "__module__", "").startswith("textreg")
    }
    if PAGE.is_file()
    else set(),
    key=lambda part: part[0],
)


@pytest.mark.parametrize(("name", "part"), PARTS, ids=[name for name, _ in PARTS])
def test_parameters_results_and_errors_are_described(name: str, part: Any) -> None:
    missing = []
    if inspect.isclass(part):
        missing += [f"{name}: {one}" for one in lacking_in_class(part)]
        for method, function, described in methods(part):
            missing += [f"{name}.{method}: {one}" for one in lacking(function, described)]
    elif inspect.isfunction(part):
        missing += [f"{name}: {one}" for one in lacking(part, [sections(part)])]
    assert not missing


@pytest.mark.parametrize(("name", "part"), PARTS, ids=[name for name, _ in PARTS])
def test_sections_are_in_the_order_of_numpydoc(name: str, part: Any) -> None:
    places = [ORDER.find(title.replace(" ", "-")) for title in sections(part)]
    assert places == sorted(places)


def test_what_is_missing_is_found() -> None:
    def wrong(x: int, y: int) -> int:
        """One line.

        Parameters
        ----------
        x, z : int
        """
        if x == y:
            raise KeyError(x)
        return x

    found = set(lacking(wrong, [sections(wrong)]))
    expected = {"parameter y", "what it returns", "KeyError raised", "no parameter z any more"}
    assert found == expected
