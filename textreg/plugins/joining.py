"""Several group builders as one: ``--groups lda,sentences``."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from textreg.errors import UsageError
from textreg.kinds import GroupBuilder
from textreg.records import Groups, Tokens
from textreg.structure.grouping import LazyNames


class JoinedBuilder(GroupBuilder):
    """The groups of several builders, one after the other; made by :func:`join`.

    A parameter of a builder is called as there if no other has one of that name, and else has the
    builder's name before it: ``lda_weight`` (``--groups-lda-weight``).
    """

    builders: ClassVar[tuple[type[GroupBuilder], ...]] = ()
    parts: list[GroupBuilder]

    @classmethod
    def parameter(cls, builder: type[GroupBuilder], key: str) -> str:
        """The name here of the parameter ``key`` of one of the builders."""
        alone = sum(key in other.declared() for other in cls.builders) == 1
        return key if alone else f"{builder.label().replace('-', '_')}_{key}"

    def __init__(self, /, **values: Any) -> None:
        super().__init__(**values)
        own = self.params()
        self.__dict__["parts"] = [
            builder(**{key: own[self.parameter(builder, key)] for key in builder.declared()})
            for builder in self.builders
        ]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"

    def __reduce__(self) -> Any:
        # pickle looks classes up by their names, which all that join makes share.
        return _rejoined, (self.builders, self.params())

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
            n_features=len(tokens.vocabulary),
            names=_Names([(part.label(), it) for part, it in zip(self.parts, built, strict=True)]),
        )


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


@cache
def join(builders: tuple[type[GroupBuilder], ...]) -> type[JoinedBuilder]:
    """A class that joins several builders, with the parameters of all; cached.

    Raises UsageError where two of them have one name: their parameters could not be told apart.
    """
    labels = [builder.label() for builder in builders]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"groups: '{label}' is named twice; name each builder once.")
    body = {
        "__doc__": JoinedBuilder.__doc__,
        "name": ",".join(labels),
        "builders": builders,
        "order_matters": any(builder.order_matters for builder in builders),
    }
    joined: type[JoinedBuilder] = type("JoinedBuilder", (JoinedBuilder,), body)
    joined._declared = {
        (name := joined.parameter(builder, key)): replace(
            param, name=name, help=f"{builder.label()}: {param.help}"
        )
        for builder in builders
        for key, param in builder.declared().items()
    }
    return joined


def _rejoined(builders: tuple[type[GroupBuilder], ...], params: dict[str, Any]) -> JoinedBuilder:
    return join(builders)(**params)
