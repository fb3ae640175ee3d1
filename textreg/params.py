"""Declared parameters: one declaration gives constructor, check, command line option and docs.

>>> class Shrink(Parametrized):
...     name = "shrink"
...     l2: float = param(default=1.0, min=0, help="l2 penalty strength")
>>> Shrink(l2=0.5)
Shrink(l2=0.5)
>>> Shrink(l2=-1)
Traceback (most recent call last):
textreg.errors.UsageError: shrink: l2 must be at least 0, not -1.
"""

from __future__ import annotations

import math
import re
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_type_hints

import numpy as np

from textreg.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        return lambda cls: cls


class _Auto:
    """The type of ``AUTO``, the value of a parameter that is to be chosen from the data."""

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
    """Candidate penalty strengths on a logarithmic grid, relative to the data.

    The ends are fractions of a scale: the smallest strength at which all weights are zero (see
    ``Regularizer.scale``). So one grid suits corpora of any size.

    Parameters
    ----------
    low, high : float
        The ends of the grid, as fractions of the scale.
    points : int, default 5
        Number of candidates.

    Examples
    --------
    >>> LogGrid(0.01, 1.0, points=3).values(scale=0.5)
    [0.5, 0.05, 0.005]
    """

    low: float
    high: float
    points: int = 5

    def values(self, scale: float) -> list[float]:
        """The candidates for data of this ``scale``, from the strongest to the weakest penalty."""
        grid = scale * np.geomspace(self.high, self.low, self.points)
        # Four digits, so that typing in a reported value repeats exactly what was tried.
        return [float(f"{value:.4g}") for value in grid]


@dataclass(frozen=True)
class Choices:
    """Candidate values that do not depend on the data.

    Parameters
    ----------
    candidates : sequence
    """

    candidates: Sequence[Any]

    def values(self, scale: float) -> list[Any]:
        """The candidates; ``scale`` is ignored."""
        return list(self.candidates)


@dataclass
class Param:
    """One declared parameter; made by :func:`param`.

    Attributes
    ----------
    default, help, min, max, choices, search, options, convert, metavar, repeated
        As given to :func:`param`.
    name : str
        The name of the class attribute.
    type : type
        ``float``, ``int``, ``str`` or ``bool``; ``object`` for any other annotation.
    type_name : str
        The annotation in words, without None.
    optional : bool
        Whether None is a value.
    """

    default: Any
    help: str
    min: float | None = None
    max: float | None = None
    choices: tuple[Any, ...] | None = None
    search: LogGrid | Choices | None = None
    options: Mapping[str, type[Parametrized]] | None = None
    convert: Callable[[Any], Any] | None = None
    metavar: str = ""
    repeated: bool = False
    name: str = ""
    type: type = field(default=str)
    type_name: str = "str"
    optional: bool = False

    def check(self, value: Any, owner: str) -> Any:
        """Convert ``value`` to the declared type, and check it.

        Parameters
        ----------
        value : object
        owner : str
            The name of the part that has the parameter, for messages; may be empty.

        Returns
        -------
        object

        Raises
        ------
        UsageError
            If the value has another type or is out of range.
        """
        if value is AUTO and self.default is AUTO:
            return value
        if value is None and self.optional:
            return value
        if self.type is not object:
            value = self._check(value, self._title(owner))
        return value if self.convert is None else self.convert(value)

    def read(self, text: str, owner: str = "") -> Any:
        """The value that a text stands for: none, true, a number; UsageError for another type."""
        word = text.lower()
        if word == "none" and self.optional:
            return None
        if self.type is bool and word in _SWITCHES:
            return _SWITCHES[word]
        return text if self.type is object else self._typed(text, self._title(owner))

    def _title(self, owner: str) -> str:
        return f"{owner}: {self.name}" if owner else self.name

    def _check(self, value: Any, what: str) -> Any:
        """A number, text or switch that is one of the choices and within the limits."""
        value = self._typed(value, what)
        if self.choices is not None and value not in self.choices:
            known = ", ".join(map(str, self.choices))
            hint = did_you_mean(str(value), map(str, self.choices))
            raise UsageError(f"{what} must be one of {known}, not {value!r}.{hint}")
        if isinstance(value, float) and not math.isfinite(value) and self.convert is None:
            raise UsageError(f"{what} must be a finite number, not {value}.")
        if self.min is not None and value < self.min:
            raise UsageError(f"{what} must be at least {self.min:g}, not {value:g}.")
        if self.max is not None and value > self.max:
            raise UsageError(f"{what} must be at most {self.max:g}, not {value:g}.")
        return value

    def _typed(self, value: Any, what: str) -> Any:
        wrong = UsageError(f"{what} must be {_TYPE_NAMES[self.type]}, not {value!r}.")
        if self.type is str and isinstance(value, str):
            return str(value)
        if self.type is bool and isinstance(value, (bool, np.bool_)):
            return bool(value)
        if self.type in (str, bool) or isinstance(value, (bool, np.bool_)):
            raise wrong
        try:
            number = self.type(value)
        except (TypeError, ValueError, OverflowError):
            raise wrong from None
        if self.type is int and number != (float(value) if isinstance(value, str) else value):
            raise wrong
        return number


_TYPE_NAMES = {bool: "true or false", str: "a text", int: "a whole number", float: "a number"}
_SWITCHES = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


def param(  # noqa: PLR0913  # its options are its interface
    *,
    default: Any,
    help: str,
    min: float | None = None,
    max: float | None = None,
    choices: Sequence[Any] | None = None,
    search: LogGrid | Choices | None = None,
    options: Mapping[str, type[Parametrized]] | None = None,
    convert: Callable[[Any], Any] | None = None,
    metavar: str = "",
    repeated: bool = False,
) -> Any:
    """Declare a parameter in the body of a :class:`Parametrized` class.

    The annotation is its type: ``float``, ``int``, ``str`` or ``bool``, or one of them or None.

    Parameters
    ----------
    default : object
        The default; ``AUTO`` for a parameter that is chosen from the data, over ``search``.
    help : str
        Its meaning, for the command line and the documentation; lower case, no final period.
    min, max : float, optional
        Range of a number, both ends included.
    choices : sequence, optional
        The allowed values.
    search : LogGrid or Choices, optional
        The candidates to search over.
    options : mapping of str to Parametrized class, optional
        In place of ``choices``: for every choice a class with further parameters that it brings.
    convert : callable, optional
        Takes the checked value and returns the one to keep, or raises UsageError. With it the
        annotation may be of any other type, whose values come unchecked.
    metavar : str, optional
        What stands for the value in the help of the command line, such as FILE.
    repeated : bool, default False
        Whether the option may be repeated on the command line.

    Returns
    -------
    Param
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
        convert=convert,
        metavar=metavar,
        repeated=repeated,
    )


@dataclass_transform(kw_only_default=True, field_specifiers=(param,))
class Parametrized:
    """Base of all classes with declared parameters.

    Instances are immutable, hashable, and equal if their parameters are; see :meth:`replace`. The
    docstring of a subclass gets a section ``Parameters`` from the declarations.

    Attributes
    ----------
    name : str
        The name in messages and on the command line.

    Raises
    ------
    UsageError
        By the constructor, for an unknown parameter or a wrong value.
    """

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
            plain = len(types) == 1 and types[0] in _TYPE_NAMES
            if not plain and declaration.convert is None:
                raise TypeError(f"{cls.__name__}.{key}: parameters are float, int, str or bool")
            declaration.type = types[0] if plain else object
            declaration.type_name = " or ".join(option.__name__ for option in types)
            declaration.optional = type(None) in options
            declaration.name = key
            declared[key] = declaration
            setattr(cls, key, declaration.default)
        cls._declared = declared
        if cls.__dict__.get("__doc__"):
            cls.__doc__ = _with_parameters(cls.__doc__ or "", declared)

    def __init__(self, /, **values: Any) -> None:
        declared = self.declared(**values)
        for key in values:
            if key not in declared:
                raise self._unknown(key, declared)
        for key, declaration in declared.items():
            value = values.get(key, declaration.default)
            self.__dict__[key] = declaration.check(value, self.label())
        self.__post_init__()

    def __post_init__(self) -> None:
        """Called when all parameters are set; checks of several of them belong here."""

    @classmethod
    def label(cls) -> str:
        """The name used in messages."""
        return cls.name or cls.__name__

    @classmethod
    def declared(cls, /, **given: Any) -> dict[str, Param]:
        """The declared parameters by name, in order, each followed by those that its value brings.

        Parameters
        ----------
        **given
            Values of some parameters; the others have their defaults.

        Returns
        -------
        dict of str to Param
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

    def replace(self, /, **values: Any) -> Self:
        """A copy with some parameters changed.

        Parameters that only the previous value of another one brought are left out.

        Examples
        --------
        >>> from textreg import Elastic
        >>> Elastic(l1=0.1, l2=0.2).replace(l1=0.5)
        Elastic(l2=0.2, l1=0.5)
        """
        params = {**self.params(), **values}
        declared = self.declared(**params)
        return type(self)(**{k: v for k, v in params.items() if k in declared or k in values})

    def undecided(self) -> list[str]:
        """Names of the parameters that are still ``AUTO``."""
        return [key for key, value in self.params().items() if value is AUTO]

    @classmethod
    def _unknown(cls, key: str, known: Mapping[str, Param]) -> UsageError:
        """The error for an unknown parameter; it names the choice that would bring it."""
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


def _with_parameters(doc: str, declared: Mapping[str, Param]) -> str:
    """A docstring with a section on the declared parameters, before its other sections."""
    doc = cleandoc(doc)
    if not declared or "\nParameters\n---" in doc:
        return doc
    section = ["Parameters", "----------"]
    for key, declaration in declared.items():
        meaning = declaration.help[:1].upper() + declaration.help[1:]
        section += [f"{key} : {_described(declaration)}", f"    {meaning.rstrip('.')}."]
    sections = re.search(r"\n\n(?=\w+\n---)", doc)
    head, rest = (doc[: sections.start()], doc[sections.start() :]) if sections else (doc, "")
    return f"{head}\n\n" + "\n".join(section) + rest


def _described(declaration: Param) -> str:
    """The type of a parameter and its default, as numpydoc writes them."""
    kind = declaration.type_name
    if declaration.choices is not None:
        kind = "{" + ", ".join(map(repr, declaration.choices)) + "}"
    if declaration.default is AUTO:
        return f"{kind}, chosen from the data by default"
    if declaration.default is None:
        return f"{kind}, optional"
    return f"{kind}, default {declaration.default!r}"


class Plugin(Parametrized, ABC):
    """Base of the five kinds of plugin."""

    kind: ClassVar[str] = ""
    api: ClassVar[int] = 1
    """Version of the plugin interface that the class is made for."""


def check_decided(name: str, **values: object) -> None:
    """Check that no parameter is ``AUTO`` any more.

    Parameters
    ----------
    name : str
        The name of the part, for the message.
    **values
        Parameters and their values.

    Raises
    ------
    UsageError
        If a value is ``AUTO``; the message says how to choose it.
    """
    undecided = [key for key, value in values.items() if value is AUTO]
    if undecided:
        example = ", ".join(f"{key}=..." for key in undecided)
        raise UsageError(
            f"{name}: {' and '.join(undecided)} not chosen yet. Give a value ({example}), or let "
            f"training search for it."
        )
