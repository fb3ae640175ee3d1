"""Checks of declarations, made once, when their class is defined.

A declaration that contradicts itself would otherwise be accepted and then ignored in part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from inspect import CO_VARKEYWORDS, get_annotations
from itertools import chain
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from textreg.errors import UsageError
from textreg.params.declaration import TYPE_NAMES, Param
from textreg.params.values import AUTO, Choices, LogGrid

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
_NUMBERS = (int, float)


def own_params(cls: type, inherited: Mapping[str, Param]) -> dict[str, Param]:
    """The parameters that a class declares itself, with their types, checked.

    Raises TypeError for a class or a declaration that contradicts itself; the message says what to
    write instead.
    """
    declared = {name: it.copy() for name, it in vars(cls).items() if isinstance(it, Param)}
    _check_class(cls, declared, inherited)
    hints = _hints(cls) if declared else {}
    for name, declaration in declared.items():
        if name not in hints:
            raise TypeError(f"{cls.__name__}.{name} has no type: {name}: float = param(...)")
        _set_type(declaration, name, hints[name], cls)
    together = {**inherited, **declared}
    for name, declaration in declared.items():
        for fault in chain(_clashes(cls, declaration, together), _faults(declaration)):
            raise TypeError(f"{cls.__name__}.{name}: {fault}")
    return declared


def _check_class(cls: type, declared: Mapping[str, Param], inherited: Mapping[str, Param]) -> None:
    """TypeError for what stands beside the declarations and would change what they mean."""
    own = vars(cls)
    for name in inherited.keys() & own.keys() - declared.keys():
        raise TypeError(
            f"{cls.__name__}.{name} is a parameter of the class above, which a plain value does "
            f"not change. Declare it again, {name}: ... = param(default=..., help=...), or take "
            "another name."
        )
    init = own.get("__init__")
    if init and (declared or inherited) and not init.__code__.co_flags & CO_VARKEYWORDS:
        raise TypeError(
            f"{cls.__name__} writes an __init__ of its own, which parameters do not pass through. "
            "Declare every parameter with param(...), and write __post_init__, which is called "
            "when they are set."
        )
    for base in cls.__mro__[1:]:
        for name, value in vars(base).items():
            if isinstance(value, Param):
                raise TypeError(
                    f"{cls.__name__}.{name} is declared in {base.__name__}, which is not derived "
                    f"from Parametrized: write class {base.__name__}(Parametrized)."
                )
    for name, annotation in get_annotations(cls).items():
        forgotten = type(own.get(name, ...)) in (*TYPE_NAMES, NoneType) and name[0] != "_"
        if forgotten and "ClassVar" not in str(annotation) and not hasattr(super(cls, cls), name):
            raise TypeError(
                f"{cls.__name__}.{name} has a type but no param(...), so it is no parameter: write "
                f"{name}: ... = param(default=..., help=...), or ClassVar[...] if it is none."
            )


def _hints(cls: type) -> dict[str, Any]:
    try:
        return get_type_hints(cls)
    except NameError as error:
        raise TypeError(
            f"the annotations of {cls.__name__} cannot be read: {error}. Import it outside of "
            "'if TYPE_CHECKING', at the head of the module."
        ) from None


def _set_type(declaration: Param, name: str, hint: Any, cls: type) -> None:
    """Fill in what follows from the annotation."""
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    types = [option for option in options if option is not type(None)]
    plain = len(types) == 1 and types[0] in TYPE_NAMES
    if not plain and declaration.convert is None:
        raise TypeError(
            f"{cls.__name__}.{name}: parameters are float, int, str or bool, or one of them or "
            "None. For one of several texts write str, with choices; any other type needs convert."
        )
    declaration.name = name
    declaration.type = types[0] if plain else object
    declaration.type_name = " or ".join(getattr(it, "__name__", str(it)) for it in types)
    declaration.optional = type(None) in options


def _clashes(cls: type, declared: Param, together: Mapping[str, Param]) -> Iterator[str]:
    """What is wrong with the name of a parameter, and the names that its choices bring."""
    name = declared.name
    if not _NAME.fullmatch(name):
        yield (
            "this name gives no option: take letters, digits and single underscores between them, "
            "a letter first."
        )
    for base in cls.__mro__[1:]:
        if name in vars(base) and name not in getattr(base, "_declared", {}):
            yield f"{base.__name__} has an attribute or method of this name: take another one."
    for switch, other in (name, f"no_{name}"), (name.removeprefix("no_"), name):
        both = switch != other and {switch, other} <= together.keys()
        if both and together[switch].type is bool:
            yield f"--no-{switch} would turn off '{switch}' and set '{other}': rename one."
    for choice, brought in (declared.options or {}).items():
        if twice := brought.declared().keys() & together.keys():
            yield f"the choice '{choice}' brings '{min(twice)}', which is a parameter already."


def _faults(declared: Param) -> Iterator[str]:
    """What is wrong with a declaration by itself."""
    if not isinstance(declared.help, str) or not declared.help.strip():
        yield "help is empty: say in a few words what the parameter means."
    if declared.convert is not None and not callable(declared.convert):
        yield f"convert must be a function, not {declared.convert!r}."
    yield from _limits(declared)
    yield from _choices(declared)
    yield from _default(declared)
    yield from _search(declared)


def _limits(declared: Param) -> Iterator[str]:
    given = [it for it in (declared.min, declared.max) if it is not None]
    if given and declared.type not in _NUMBERS:
        yield f"min and max are for numbers, and the type is {declared.type_name}."
    for limit in given:
        number = isinstance(limit, _NUMBERS) and not isinstance(limit, bool)
        if not number or not math.isfinite(limit):
            yield f"min and max must be finite numbers, not {limit!r}: leave out what is not there."
    if len(given) == 2 and given[0] > given[1]:
        yield f"min={given[0]:g} is above max={given[1]:g}."


def _choices(declared: Param) -> Iterator[str]:
    if declared.choices is None:
        return
    if declared.type is object:
        yield f"choices of the type {declared.type_name} are not checked: let convert do that."
    if not declared.choices:
        yield "choices are empty."
    if len({*map(str, declared.choices)}) < len(declared.choices):
        yield f"choices hold a value twice: {', '.join(map(str, declared.choices))}."
    for choice in declared.choices:
        yield from _wrong(declared, choice, "the choice")


def _default(declared: Param) -> Iterator[str]:
    default = declared.default
    if default is AUTO:
        return
    if type(default).__hash__ is None:
        yield (
            f"the default {default!r:.40} can be changed, and all instances would share it: take "
            "a tuple, a text or None."
        )
    if default is None and not declared.optional:
        yield f"the default is None, so the type is {declared.type_name} | None."
    elif default is not None:
        yield from _wrong(declared, default, "the default")


def _search(declared: Param) -> Iterator[str]:
    search = declared.search
    if search is None:
        return
    if not isinstance(search, (LogGrid, Choices)):
        yield f"search must be LogGrid(low, high, points) or Choices(values), not {search!r:.40}."
    elif declared.default is not AUTO:
        yield (
            f"search is for default=AUTO: with default={declared.default!r} its candidates are "
            "never tried. Write default=AUTO to choose a value from the data, or leave search out."
        )
    elif isinstance(search, LogGrid):
        if declared.type is not float:
            yield f"LogGrid is for the type float, not {declared.type_name}: take Choices."
    else:
        for candidate in search.candidates:
            if candidate is not None or not declared.optional:
                yield from _wrong(declared, candidate, "the candidate of search")


def _wrong(declared: Param, value: Any, what: str) -> Iterator[str]:
    """Why a value that stands in a declaration is none of the declared type and range."""
    if declared.type is object:
        return
    same = _NUMBERS if declared.type is float else declared.type
    if not isinstance(value, same) or (isinstance(value, bool) and declared.type is not bool):
        yield f"{what} must be {TYPE_NAMES[declared.type]}, not {value!r:.40}."
        return
    try:
        declared.check_plain(value, what)
    except UsageError as error:
        yield str(error)
