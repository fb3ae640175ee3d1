"""Classes with declared parameters."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Mapping
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar

from textreg.errors import UsageError, did_you_mean
from textreg.params.checks import own_params
from textreg.params.declaration import Param, described, param
from textreg.params.values import AUTO

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
        section += [f"{key} : {described(declaration)}", f"    {meaning.rstrip('.')}."]
    sections = re.search(r"\n\n(?=\w+\n---)", doc)
    head, rest = (doc[: sections.start()], doc[sections.start() :]) if sections else (doc, "")
    return f"{head}\n\n" + "\n".join(section) + rest


class Plugin(Parametrized, ABC):
    """Base of the five kinds of plugin."""

    kind: ClassVar[str] = ""
    api: ClassVar[int] = 1
    """Version of the plugin interface that the class is made for."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
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
