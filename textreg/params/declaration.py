"""One declared parameter: its type and limits, and how values are checked against them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from textreg.errors import UsageError, did_you_mean
from textreg.params.values import AUTO, Choices, LogGrid


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
        if value is AUTO and self.default is AUTO:
            return value
        if value is None and self.optional:
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

    def copy(self) -> Param:
        """A declaration of its own, for one class."""
        return replace(self)

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
    default: Any,
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
