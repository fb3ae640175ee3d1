"""Declared parameters: one declaration gives constructor, check, command line option and docs.

>>> class Shrink(Parametrized):
...     name = "shrink"
...     l2: float = param(default=1.0, min=0, help="l2 penalty strength")
>>> Shrink(l2=0.5)
Shrink(l2=0.5)
>>> Shrink(l2=-1)
Traceback (most recent call last):
textreg.errors.UsageError: shrink: l2 must be at least 0, not -1.

Declarations are checked once, when their class is defined: one that contradicts itself would
otherwise be accepted and then ignored in part.
"""

from __future__ import annotations

import math
import re
from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import CO_VARKEYWORDS, cleandoc, get_annotations
from itertools import chain
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from textreg.errors import UsageError, did_you_mean

__all__ = [
    "AUTO",
    "Choices",
    "LogGrid",
    "Param",
    "Parametrized",
    "Plugin",
    "check_decided",
    "param",
]


class _Auto:
    """The type of ``AUTO``, the value of a parameter that is to be chosen from the data."""

    def __repr__(self) -> str:
        return "AUTO"

    def __reduce__(self) -> str:
        return "AUTO"  # the name of the one that there is, which copies and pickles are, too


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
        Number of candidates between the ends, these included.
    zero : bool, default False
        Whether 0, no penalty, follows as a further candidate.
    strongest : float, optional
        A further candidate before the others, above ``high``, as a fraction too.

    Examples
    --------
    >>> LogGrid(0.01, 1.0, points=3).values(scale=0.5)
    [0.5, 0.05, 0.005]
    >>> LogGrid(0.01, 1.0, points=3, zero=True).values(scale=0.5)
    [0.5, 0.05, 0.005, 0.0]
    """

    low: float
    high: float
    points: int = 5
    zero: bool = False
    strongest: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.low <= self.high < math.inf:
            raise ValueError(
                f"{self}: the ends must be numbers with 0 < low <= high; they are fractions of the "
                "scale."
            )
        if self.points != int(self.points) or self.points < 1:
            raise ValueError(f"{self}: points must be a whole number, 1 or more.")
        if self.strongest is not None and not self.high < self.strongest < math.inf:
            raise ValueError(f"{self}: strongest must be a number above high.")

    @property
    def fractions(self) -> list[float]:
        """The candidates as fractions of the scale, without 0, from the strongest penalty on."""
        strongest = [] if self.strongest is None else [self.strongest]
        return [*strongest, *np.geomspace(self.high, self.low, self.points).tolist()]

    def values(self, scale: float) -> list[float]:
        """The candidates for data of this ``scale``, from the strongest to the weakest penalty.

        Parameters
        ----------
        scale : float
            The strength that the grid has multiples of, as
            :meth:`~textreg.kinds.Regularizer.scale` gives it.

        Returns
        -------
        list of float
        """
        # Four digits, so that typing in a reported value repeats exactly what was tried.
        grid = [float(f"{scale * fraction:.4g}") for fraction in self.fractions]
        return [*grid, 0.0] if self.zero else grid


@dataclass(frozen=True)
class Choices:
    """Candidate values that do not depend on the data.

    Parameters
    ----------
    candidates : sequence
    """

    candidates: Sequence[Any]

    def __post_init__(self) -> None:
        if isinstance(self.candidates, str):
            raise ValueError(f"{self}: candidates are a list of values, not a text.")
        object.__setattr__(self, "candidates", tuple(self.candidates))
        if not self.candidates or len({*map(repr, self.candidates)}) < len(self.candidates):
            raise ValueError(f"{self}: candidates must be values that differ, at least one.")

    def values(self, scale: float) -> list[Any]:
        """The candidates; ``scale`` is ignored.

        Parameters
        ----------
        scale : float
            Is ignored.

        Returns
        -------
        list
        """
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
    options: Mapping[str, type[Any]] | None = None
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
        if (value is AUTO and self.default is AUTO) or (value is None and self.optional):
            return value
        if self.type is not object:
            value = self.check_plain(value, self._title(owner))
        return value if self.convert is None else self.convert(value)

    def read(self, text: str, owner: str = "") -> Any:
        """The value that a text stands for: none, true, a number.

        Parameters
        ----------
        text : str
            As a user wrote it.
        owner : str, optional
            Whose parameter it is, for messages.

        Returns
        -------
        object
            Of the type of the parameter.

        Raises
        ------
        UsageError
            If the text is of another type.
        """
        word = text.lower()
        if word == "none" and self.optional:
            return None
        if self.type is bool and word in _SWITCHES:
            return _SWITCHES[word]
        return text if self.type is object else self._typed(text, self._title(owner))

    def _title(self, owner: str) -> str:
        return f"{owner}: {self.name}" if owner else self.name

    def check_plain(self, value: Any, what: str) -> Any:
        """A number, text or switch that is one of the choices and within the limits.

        Parameters
        ----------
        value : object
            The value to check.
        what : str
            What it is, for messages.

        Returns
        -------
        object
            The value in the type of the parameter.

        Raises
        ------
        UsageError
            If it is of another type, no choice, or outside the limits.
        """
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
        wrong = UsageError(f"{what} must be {TYPE_NAMES[self.type]}, not {value!r}.")
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


TYPE_NAMES = {bool: "true or false", str: "a text", int: "a whole number", float: "a number"}
_SWITCHES = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


def param(  # noqa: PLR0913  # its options are its interface
    *,
    default: Any = AUTO,
    help: str,
    min: float | None = None,
    max: float | None = None,
    choices: Sequence[Any] | None = None,
    search: LogGrid | Choices | None = None,
    options: Mapping[str, type[Any]] | None = None,
    convert: Callable[[Any], Any] | None = None,
    metavar: str = "",
    repeated: bool = False,
) -> Any:
    """Declare a parameter in the body of a :class:`Parametrized` class.

    The annotation is its type: ``float``, ``int``, ``str`` or ``bool``, or one of them or None.

    Parameters
    ----------
    default : object, default AUTO
        The default; ``AUTO`` for a parameter that is chosen from the data, over ``search``, or
        without that has to be given.
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

    Raises
    ------
    TypeError
        By the class, when it is defined, for a declaration that contradicts itself, such as a
        default out of range, or ``search`` without ``default=AUTO``.
    """
    if isinstance(choices, str):
        raise TypeError(f"choices are a list of values, not the text '{choices}'")
    if options is not None:
        if choices is not None:
            raise TypeError("options are choices already: leave out choices")
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


def described(declaration: Param) -> str:
    """The type of a parameter and its default, as numpydoc writes them."""
    kind = declaration.type_name
    if declaration.choices is not None:
        kind = "{" + ", ".join(map(repr, declaration.choices)) + "}"
    if declaration.default is AUTO:
        return f"{kind}, chosen from the data by default"
    if declaration.default is None:
        return f"{kind}, optional"
    return f"{kind}, default {declaration.default!r}"


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
_NUMBERS = (int, float)


def own_params(cls: type, inherited: Mapping[str, Param]) -> dict[str, Param]:
    """The parameters that a class declares itself, with their types, checked.

    Raises TypeError for a class or a declaration that contradicts itself; the message says what to
    write instead.
    """
    # Copies, as the same declaration may stand in several classes.
    declared = {name: replace(it) for name, it in vars(cls).items() if isinstance(it, Param)}
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
    attributes = vars(cls)
    for name in inherited.keys() & attributes.keys() - declared.keys():
        raise TypeError(
            f"{cls.__name__}.{name} is a parameter of the class above, which a plain value does "
            f"not change. Declare it again, {name}: ... = param(default=..., help=...), or take "
            "another name."
        )
    init = attributes.get("__init__")
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
        forgotten = type(attributes.get(name, ...)) in (*TYPE_NAMES, NoneType) and name[0] != "_"
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
        clash = switch != other and {switch, other} <= together.keys()
        if clash and together[switch].type is bool:
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
    limits = [it for it in (declared.min, declared.max) if it is not None]
    if limits and declared.type not in _NUMBERS:
        yield f"min and max are for numbers, and the type is {declared.type_name}."
    for limit in limits:
        number = isinstance(limit, _NUMBERS) and not isinstance(limit, bool)
        if not number or not math.isfinite(limit):
            yield f"min and max must be finite numbers, not {limit!r}: leave out what is not there."
    if len(limits) == 2 and limits[0] > limits[1]:
        yield f"min={limits[0]:g} is above max={limits[1]:g}."


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


if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        return lambda cls: cls


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
    TypeError
        By the definition of a subclass, for a declaration that contradicts itself.
    """

    name: ClassVar[str] = ""
    _declared: ClassVar[dict[str, Param]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared: dict[str, Param] = {}
        for base in reversed(cls.__mro__[1:]):
            declared |= vars(base).get("_declared", {})
        own = own_params(cls, declared)
        for key, declaration in own.items():
            setattr(cls, key, declaration.default)
        cls._declared = declared = declared | own
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

    def changed(self) -> dict[str, Any]:
        """The parameters whose values are not their defaults."""
        declared = self.declared(**self.params())
        return {key: it for key, it in self.params().items() if it != declared[key].default}

    def params_of(self, key: str) -> dict[str, Any]:
        """The values of the parameters that the choice of ``key`` brings.

        Parameters
        ----------
        key : str
            A parameter whose values have parameters of their own, such as ``solver``.

        Returns
        -------
        dict of str to object
        """
        options = self._declared[key].options
        assert options is not None
        return {name: self.__dict__[name] for name in options[self.__dict__[key]].declared()}

    def replace(self, /, **values: Any) -> Self:
        """A copy with some parameters changed.

        Parameters that only the previous value of another one brought are left out.

        Parameters
        ----------
        **values
            Parameters and their new values.

        Returns
        -------
        Parametrized
            Of the same class.

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
            choices = [
                f"'{choice}'"
                for choice, options in (declaration.options or {}).items()
                if key in options.declared()
            ]
            if choices:
                return UsageError(
                    f"{cls.label()}: {key} is for {name} {' or '.join(choices)}: leave it out, or "
                    "choose that."
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
        names = {*self.changed(), *self.undecided()}
        shown = [f"{key}={value!r}" for key, value in self.params().items() if key in names]
        return f"{type(self).__name__}({', '.join(shown)})"


def _with_parameters(doc: str, declared: Mapping[str, Param]) -> str:
    """A docstring with a section on the declared parameters, before its other sections."""
    doc = cleandoc(doc)
    if not declared or "\nParameters\n---" in doc:
        return doc
    section = ["Parameters", "----------"]
    for key, declaration in declared.items():
        meaning = declaration.help[:1].upper() + declaration.help[1:]
        section += [f"{key} : {described(declaration)}", f"    {meaning.rstrip('.')}."]
    sections = re.search(r"\n\n(?=\w+\n---)", doc)
    head, rest = (doc[: sections.start()], doc[sections.start() :]) if sections else (doc, "")
    return f"{head}\n\n" + "\n".join(section) + rest


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "textreg"


class Plugin(Parametrized, ABC):
    """Base of all kinds of plugin."""

    kind: ClassVar[str] = ""
    # Version of the plugin interface that the class is made for.
    api: ClassVar[int] = 1

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        private = {name for name in vars(cls) if re.match("_[^_]", name)} - {"_declared"}
        for base in filter(_is_ours, () if _is_ours(cls) else cls.__mro__[1:]):
            for name in private & vars(base).keys():
                clash = f"{cls.__name__}.{name} would replace {base.__name__}.{name}"
                raise TypeError(f"{clash}, which textreg uses itself: take another name.")
        for key, declared in cls.declared().items():
            if declared.default is AUTO and not hasattr(cls, "candidates"):
                raise TypeError(
                    f"{cls.__name__}.{key}: only parameters of a regularizer are chosen from the "
                    "data by default: give it a default. Users search it with search_space."
                )


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
