"""Several parts of one kind as one: ``--groups lda,sentences``, ``--tokenizer words,chars``."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from textreg.errors import UsageError
from textreg.kinds import GroupBuilder, Plugin, Tokenizer
from textreg.params import Param
from textreg.records import Groups, Tokens
from textreg.structure.grouping import LazyNames


class Joined(Plugin):
    """Several parts of one kind, in order: base of the classes that :func:`join` makes.

    A parameter of a part is called as there if no other has one of that name, and else has the
    part's name before it: ``lda_weight`` (``--groups-lda-weight``).

    Attributes
    ----------
    shared : dict of str to tuple of str
        Parameters of all parts that have them, with the names that they have for one part alone.
    """

    classes: ClassVar[tuple[type[Plugin], ...]] = ()
    shared: ClassVar[dict[str, tuple[str, ...]]] = {}
    parts: list[Any]

    def __init__(self, /, **values: Any) -> None:
        super().__init__(**values)
        own = self.__dict__
        for key, names in self.shared.items():
            alone = [own[key] if own[name] is None else own[name] for name in names]
            same = all(value == alone[0] for value in alone)
            # One way to say the same, so that equal parts are equal.
            own[key] = alone[0] if same else self._declared[key].default
            own |= {name: None if same else it for name, it in zip(names, alone, strict=True)}
        own["parts"] = [
            part(**{key: self._value(key, name) for key, name in names.items()})
            for part, names in zip(self.classes, _names_of(self.classes), strict=True)
        ]

    def _value(self, key: str, name: str) -> Any:
        """The value of a parameter of a part, which is called ``name`` here."""
        one = self.__dict__[name]
        return self.__dict__[key] if one is None and key in self.shared else one

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"

    def __reduce__(self) -> Any:
        # pickle looks classes up by their names, which all that join makes share.
        return joined, (self.kind, self.parts)


class JoinedBuilder(Joined, GroupBuilder):
    """The groups of several builders, one after the other."""

    def build(self, tokens: Tokens) -> Groups:
        """All groups, named with their builder first: ``lda: topic 3``."""
        return self.joined([part.build(tokens) for part in self.parts], tokens)

    def joined(self, built: Sequence[Groups], tokens: Tokens) -> Groups:
        """The same from groups that are built already."""
        sizes = np.concatenate([np.diff(groups.indptr) for groups in built])
        return Groups(
            indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            indices=np.concatenate([groups.indices for groups in built]),
            weights=np.concatenate([groups.weights for groups in built]),
            n_features=max(groups.n_features for groups in built),
            names=_Names([(part.label(), it) for part, it in zip(self.parts, built, strict=True)]),
        )


class JoinedTokenizer(Joined, Tokenizer):
    """The tokens of several tokenizers.

    A parameter that several have in the same way, as ``lowercase``, is one for all of them, unless
    a part is given its own: ``chars_lowercase``. Features are made of the tokens of each part for
    itself, side by side: see :class:`textreg.features.encoder.JoinedEncoder`.
    """

    def __call__(self, text: str) -> list[list[str]]:
        """The sentences of every part, one part after the other; all but the first with its name
        before their tokens: ``chars: th``."""
        first, *others = self.parts
        return [
            *first(text),
            *(
                [f"{part.label()}: {token}" for token in sentence]
                for part in others
                for sentence in part(text)
            ),
        ]


class _Names(LazyNames):
    """Names of groups, with their builder first."""

    def __init__(self, parts: Sequence[tuple[str, Groups]]) -> None:
        self.parts = parts
        self.starts = [0, *accumulate(len(groups) for _, groups in parts)]

    def __len__(self) -> int:
        return self.starts[-1]

    def name(self, group: int) -> str:
        part = bisect_right(self.starts, group) - 1
        label, groups = self.parts[part]
        return f"{label}: {groups.label(group - self.starts[part])}"


_BASES: dict[str, type[Joined]] = {"groups": JoinedBuilder, "tokenizer": JoinedTokenizer}


@cache
def join(kind: str, classes: tuple[type[Plugin], ...]) -> type[Joined]:
    """A class that joins several parts of a kind, with the parameters of all; cached.

    Raises UsageError where two of them have one name: their parameters could not be told apart.
    """
    labels = [part.label() for part in classes]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"{kind}: '{label}' is named twice; name each one once.")
    base = _BASES[kind]
    body: dict[str, Any] = {"__doc__": base.__doc__, "name": ",".join(labels), "classes": classes}
    for trait in ("order_matters", "forms_ngrams"):
        if hasattr(base, trait):
            body[trait] = any(getattr(part, trait) for part in classes)
    made: type[Joined] = type(base.__name__, (base,), body)
    made.shared = _shared(classes) if kind == "tokenizer" else {}
    made._declared = {}
    for part, names in zip(classes, _names_of(classes), strict=True):
        for key, param in part.declared().items():
            own = replace(param, name=names[key], help=f"{part.label()}: {param.help}")
            if key in made.shared:
                made._declared.setdefault(key, param)
                own = replace(own, default=None, optional=True, help=f"{own.help}, this one alone")
            made._declared[names[key]] = own
    return made


def _shared(classes: Sequence[type[Plugin]]) -> dict[str, tuple[str, ...]]:
    """Parameters that several parts declare in the same way, with their names for each alone."""
    found: dict[str, list[tuple[Param, str]]] = {}
    for part, names in zip(classes, _names_of(classes), strict=True):
        for key, param in part.declared().items():
            found.setdefault(key, []).append((param, names[key]))
    return {
        key: tuple(name for _, name in ones)
        for key, ones in found.items()
        if len(ones) > 1
        and not ones[0][0].optional
        and all(_alike(it, ones[0][0]) for it, _ in ones)
    }


def _alike(one: Param, other: Param) -> bool:
    return replace(one, help="") == replace(other, help="")


def joined(kind: str, parts: Sequence[Plugin]) -> Any:
    """One part of several instances; the instance itself of one alone. UsageError of none."""
    parts = [single for part in parts for single in parts_of(part)]
    if not parts:
        raise UsageError(f"{kind}: the list is empty; give one at least, or leave out {kind}.")
    if len(parts) == 1:
        return parts[0]
    names = joint_names([(part.label(), part.params()) for part in parts])
    made = join(kind, tuple(type(part) for part in parts))(
        **{
            own[key]: value
            for part, own in zip(parts, names, strict=True)
            for key, value in part.params().items()
        }
    )
    made.__dict__["parts"] = list(parts)
    return made


def parts_of(part: Any) -> list[Any]:
    """The parts that a part joins; itself if it is a single one."""
    return list(part.parts) if isinstance(part, Joined) else [part]


def joint_names(parts: Sequence[tuple[str, Iterable[str]]]) -> list[dict[str, str]]:
    """What parameters are called in a joined part: for every part a name by its own name.

    parts: the label and the names of the parameters of each.
    """
    keys = [list(own) for _, own in parts]
    every = [key for own in keys for key in own]
    return [
        {key: key if every.count(key) == 1 else f"{label.replace('-', '_')}_{key}" for key in own}
        for (label, _), own in zip(parts, keys, strict=True)
    ]


def _names_of(classes: Sequence[type[Plugin]]) -> list[dict[str, str]]:
    return joint_names([(part.label(), part.declared()) for part in classes])
