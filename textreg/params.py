"""One declaration per parameter: from it come the constructor, the check, the CLI option, the docs.

>>> class Shrink(Parametrized):
...     name = "shrink"
...     l2: float = param(default=1.0, min=0, help="price of the squared weights")
>>> Shrink(l2=0.5)
Shrink(l2=0.5)
>>> Shrink(l2=-1)
Traceback (most recent call last):
textreg.errors.UsageError: shrink: l2 must be at least 0, not -1.
"""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_type_hints

import numpy as np

from textreg.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        return lambda cls: cls


class _Auto:
    """The one value ``AUTO``: to be chosen from the data."""

    _instance: ClassVar[_Auto | None] = None

    def __new__(cls) -> _Auto:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "AUTO"

    def __reduce__(self) -> tuple[type[_Auto], tuple[()]]:
        return (_Auto, ())


AUTO: Any = _Auto()


@dataclass(frozen=True)
class LogGrid:
    """Candidate prices, evenly spaced in logarithm, relative to the data.

    ``low`` and ``high`` are fractions of the smallest price that empties the model (see
    ``Regularizer.scale``), so one grid serves corpora of any size.
    """

    low: float
    high: float
    points: int = 5

    def values(self, scale: float) -> list[float]:
        """The candidates for data of this ``scale``, the largest (emptiest model) first."""
        grid = scale * np.geomspace(self.high, self.low, self.points)
        # Four digits: what is reported and typed again is exactly what was tried.
        return [float(f"{value:.4g}") for value in grid]


@dataclass(frozen=True)
class Choices:
    """Candidate values of the search, as they are."""

    candidates: Sequence[Any]

    def values(self, scale: float) -> list[Any]:
        """The candidates; ``scale`` has no part in them."""
        return list(self.candidates)


@dataclass
class Param:
    """One declared parameter; made by :func:`param`."""

    default: Any
    help: str
    min: float | None = None
    max: float | None = None
    choices: tuple[Any, ...] | None = None
    search: LogGrid | Choices | None = None
    options: Mapping[str, type[Parametrized]] | None = None
    name: str = ""
    type: type = field(default=str)
    optional: bool = False

    def check(self, value: Any, owner: str) -> Any:
        """Return ``value`` in the declared type, or raise UsageError naming ``owner``."""
        if value is AUTO and self.default is AUTO:
            return value
        if value is None and self.optional:
            return value
        value = self._convert(value, owner)
        if self.choices is not None and value not in self.choices:
            known = ", ".join(map(str, self.choices))
            hint = did_you_mean(str(value), map(str, self.choices))
            raise UsageError(f"{owner}: {self.name} must be one of {known}, not {value!r}.{hint}")
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"{owner}: {self.name} must be a finite number, not {value}.")
        if self.min is not None and value < self.min:
            raise UsageError(f"{owner}: {self.name} must be at least {self.min:g}, not {value:g}.")
        if self.max is not None and value > self.max:
            raise UsageError(f"{owner}: {self.name} must be at most {self.max:g}, not {value:g}.")
        return value

    def _convert(self, value: Any, owner: str) -> Any:
        wrong = UsageError(f"{owner}: {self.name} must be {_TYPE_NAMES[self.type]}, not {value!r}.")
        if self.type is bool:
            if isinstance(value, (bool, np.bool_)):
                return bool(value)
            raise wrong
        if isinstance(value, (bool, np.bool_)):
            raise wrong
        if self.type is str:
            if isinstance(value, str):
                return str(value)
            raise wrong
        try:
            number = self.type(value)
        except (TypeError, ValueError, OverflowError):
            raise wrong from None
        if self.type is int and number != (float(value) if isinstance(value, str) else value):
            raise wrong
        return number


_TYPE_NAMES = {bool: "true or false", str: "a text", int: "a whole number", float: "a number"}


def param(
    *,
    default: Any,
    help: str,
    min: float | None = None,
    max: float | None = None,
    choices: Sequence[Any] | None = None,
    search: LogGrid | Choices | None = None,
    options: Mapping[str, type[Parametrized]] | None = None,
) -> Any:
    """Declare a parameter in the body of a :class:`Parametrized` class.

    The annotation gives its type: ``float``, ``int``, ``str`` or ``bool``, or one of them or None.
    ``default=AUTO`` means: chosen from the data, over ``search``. ``options`` gives the choices
    and, for each, a class with the further parameters that it brings.
    """
    if options is not None:
        choices = tuple(options)
    return Param(
        default=default,
        help=help,
        min=min,
        max=max,
        choices=None if choices is None else tuple(choices),
        search=search,
        options=options,
    )


@dataclass_transform(kw_only_default=True, field_specifiers=(param,))
class Parametrized:
    """Base of everything with declared parameters. Instances never change; see :meth:`replace`."""

    name: ClassVar[str] = ""
    _declared: ClassVar[dict[str, Param]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = dict(cls._declared)
        own = {key: value for key, value in vars(cls).items() if isinstance(value, Param)}
        hints = get_type_hints(cls) if own else {}
        for key, declaration in own.items():
            if key not in hints:
                raise TypeError(f"{cls.__name__}.{key} has no type: {key}: float = param(...)")
            options = get_args(hints[key]) or (hints[key],)
            types = [option for option in options if option is not type(None)]
            if len(types) > 1 or types[0] not in _TYPE_NAMES:
                raise TypeError(f"{cls.__name__}.{key}: parameters are float, int, str or bool")
            declaration.type = types[0]
            declaration.optional = type(None) in options
            declaration.name = key
            declared[key] = declaration
            setattr(cls, key, declaration.default)
        cls._declared = declared

    def __init__(self, **values: Any) -> None:
        declared = self.declared(**values)
        for key in values:
            if key not in declared:
                raise self._unknown(key, declared)
        for key, declaration in declared.items():
            value = values.get(key, declaration.default)
            self.__dict__[key] = declaration.check(value, self.label())

    @classmethod
    def label(cls) -> str:
        """The name used in messages."""
        return cls.name or cls.__name__

    @classmethod
    def declared(cls, **given: Any) -> dict[str, Param]:
        """The declared parameters by name, in order, each followed by those that its value brings.

        given: values of some of them; the others have their defaults.
        """
        declared: dict[str, Param] = {}
        for key, declaration in cls._declared.items():
            declared[key] = declaration
            if declaration.options is not None:
                chosen = declaration.options.get(given.get(key, declaration.default))
                declared |= {} if chosen is None else chosen.declared(**given)
        return declared

    def params(self) -> dict[str, Any]:
        """The parameters' values by name."""
        return {key: self.__dict__[key] for key in self.declared(**self.__dict__)}

    def params_of(self, key: str) -> dict[str, Any]:
        """The values of the parameters that the choice of ``key`` brings."""
        options = self._declared[key].options
        assert options is not None
        return {name: self.__dict__[name] for name in options[self.__dict__[key]].declared()}

    def replace(self, **values: Any) -> Self:
        """A copy with some parameters changed; those that another choice brought are left out."""
        params = {**self.params(), **values}
        declared = self.declared(**params)
        return type(self)(**{k: v for k, v in params.items() if k in declared or k in values})

    def undecided(self) -> list[str]:
        """Names of the parameters that are still ``AUTO``."""
        return [key for key, value in self.params().items() if value is AUTO]

    @classmethod
    def _unknown(cls, key: str, known: Mapping[str, Param]) -> UsageError:
        """The error for a parameter that is not there; it names the choice that would bring it."""
        for name, declaration in cls._declared.items():
            for choice, options in (declaration.options or {}).items():
                if key in options.declared():
                    return UsageError(
                        f"{cls.label()}: {key} is for {name} '{choice}': leave it out, or choose "
                        "that."
                    )
        names = ", ".join(known) or "none"
        return UsageError(
            f"{cls.label()}: no parameter '{key}'.{did_you_mean(key, known)} It has: {names}."
        )

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"{self.label()} cannot be changed; use .replace({key}=...)")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.params() == other.params()

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.params().items())))

    def __repr__(self) -> str:
        declared = self.declared(**self.__dict__)
        changed = ", ".join(
            f"{key}={value!r}"
            for key, value in self.params().items()
            if value is AUTO or value != declared[key].default
        )
        return f"{type(self).__name__}({changed})"


class Plugin(Parametrized, ABC):
    """Base of the five kinds of plugin."""

    kind: ClassVar[str] = ""
    api: ClassVar[int] = 1
    """Version of the plugin interface that the class is made for."""


def check_decided(name: str, **prices: object) -> None:
    """Refuse prices that are still to be chosen; UsageError says how to choose them."""
    open_ones = [key for key, value in prices.items() if value is AUTO]
    if open_ones:
        example = ", ".join(f"{key}=..." for key in open_ones)
        raise UsageError(
            f"{name}: {' and '.join(open_ones)} not chosen yet. Give a value ({example}), or let "
            f"training search for it."
        )
