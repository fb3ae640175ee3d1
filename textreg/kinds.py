"""What a plugin must provide: the five kinds of part that come from outside the core.

A plugin subclasses one of these, gives it a ``name``, declares its parameters with
:func:`textreg.params.param`, and writes the one method that its kind is for.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from textreg.errors import UsageError
from textreg.losses import Loss
from textreg.params import Plugin, check_decided
from textreg.records import Floats, Graph, Groups, Int64s, MultiSolution, Problem, Solution, Tokens

if TYPE_CHECKING:
    from textreg.penalties import Penalty

__all__ = [
    "API",
    "KINDS",
    "GraphBuilder",
    "GroupBuilder",
    "Loss",
    "Penalized",
    "Plugin",
    "Regularizer",
    "Tokenizer",
]

API = 1
"""Version of the plugin interface. What may change without a new one: docs/promises.md."""


class Tokenizer(Plugin):
    """Text to sentences of tokens. Write ``__call__``; ``encode`` follows, or may be overridden."""

    kind: ClassVar[str] = "tokenizer"

    @abstractmethod
    def __call__(self, text: str) -> list[list[str]]:
        """The tokens of ``text``, one list a sentence."""

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """Tokens of all ``texts``, feature ids in order of first occurrence.

        This plain version calls the tokenizer for every text; override it with something fast.
        ``spans`` asks for character offsets, which a plain tokenizer cannot give: UsageError.
        """
        if spans:
            raise UsageError(f"tokenizer '{self.name}' does not give character offsets.")
        vocabulary: dict[str, int] = {}
        ids: list[int] = []
        sentence_ptr, document_ptr = [0], [0]
        for text in texts:
            for sentence in self(text):
                if isinstance(sentence, str):
                    raise TypeError(f"{text!r:.40} gives {sentence!r:.40}, not a list, as sentence")
                ids.extend(vocabulary.setdefault(token, len(vocabulary)) for token in sentence)
                sentence_ptr.append(len(ids))
            document_ptr.append(len(sentence_ptr) - 1)
        return Tokens(
            ids=np.array(ids, dtype=np.int32),
            sentence_ptr=np.array(sentence_ptr, dtype=np.int64),
            document_ptr=np.array(document_ptr, dtype=np.int64),
            vocabulary=list(vocabulary),
        )


class GroupBuilder(Plugin):
    """Training tokens to overlapping sets of features."""

    kind: ClassVar[str] = "groups"

    @abstractmethod
    def build(self, tokens: Tokens) -> Groups:
        """Groups over the features of ``tokens`` (its ids are feature ids)."""


class GraphBuilder(Plugin):
    """Training tokens to weighted links between features."""

    kind: ClassVar[str] = "graph"
    takes_groups: ClassVar[bool] = False
    """Whether a group builder may be named beside it; then :meth:`build_from` is asked for."""

    @abstractmethod
    def build(self, tokens: Tokens) -> Graph:
        """A graph over the features of ``tokens``, which include those of unlabeled documents."""

    def build_from(self, tokens: Tokens, groups: Groups) -> Graph:
        """The same where the user named a group builder: with its ``groups`` of features."""
        raise UsageError(f"graph '{self.label()}' makes no use of groups: leave them out.")


class Regularizer(Plugin):
    """Finds the weights of a model. Its one duty is :meth:`solve`."""

    kind: ClassVar[str] = "regularizer"
    needs: ClassVar[Literal["", "groups", "graph"]] = ""
    default_builder: ClassVar[str] = ""
    """Name of the group or graph builder used when the user names none."""

    softmax: ClassVar[bool] = False
    """Whether :meth:`solve_softmax` is there."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.needs not in ("", "groups", "graph"):
            wanted = '"", "groups" or "graph"'
            raise TypeError(f"{cls.__name__}.needs must be {wanted}, not {cls.needs!r}")
        if cls.softmax and cls.solve_softmax is Regularizer.solve_softmax:
            raise TypeError(f"{cls.__name__}.softmax is True, so it must define solve_softmax")

    @abstractmethod
    def solve(self, problem: Problem) -> Solution:
        """Weights for ``problem``; honours its ``weights``, ``fit_intercept`` and ``callback``."""

    def solve_softmax(
        self, problem: Problem, codes: Int64s, start: tuple[Floats, Floats] | None = None
    ) -> MultiSolution:
        """Weights for all classes together, under the softmax loss.

        problem: as for :meth:`solve`, its ``y`` without meaning. codes: (n,) class of every
        document, 0 to the number of classes - 1, all of which occur. start: weights (classes, p)
        and intercepts (classes,) to begin from.
        """
        raise UsageError(f"{self.label()} has no softmax: leave out multiclass.")

    def scale(self, problem: Problem, parameter: str) -> float:
        """The price of ``parameter`` that empties the model; search grids are fractions of it.

        Default: the largest absolute gradient of the loss at zero weights, which is the smallest l1
        price with no feature in the model.
        """
        return problem.largest_gradient_at_zero()

    def candidates(self, problem: Problem) -> list[Regularizer]:
        """Versions of this regularizer with every ``AUTO`` parameter decided: the search grid.

        In an order that suits warm starts: the last undecided parameter runs fastest, each from
        the emptiest model down. A regularizer with nothing undecided returns itself alone.
        """
        grid: list[Regularizer] = [self]
        for key in self.undecided():
            search = self.declared()[key].search
            if search is None:
                raise UsageError(f"{self.name}: {key} has no default; give it a value.")
            scale = self.scale(problem, key)
            if not 0 <= scale < math.inf:
                raise ValueError(f"scale must give a number, 0 or more, not {scale} for {key}")
            values = search.values(scale)
            grid = [part.replace(**{key: value}) for part in grid for value in values]
        return grid

    def path(
        self, problem: Problem, candidates: Sequence[Regularizer] | None = None
    ) -> Iterator[tuple[Regularizer, Solution]]:
        """Solutions of ``candidates``, by default the whole grid, each started from its neighbor's.

        Override it where one run passes through many candidates, as a greedy pursuit does.
        """
        start = problem.start
        for part in self.candidates(problem) if candidates is None else candidates:
            solution = part.solve(problem.replace(start=start))
            start = (solution.w, solution.b)
            yield part, solution


class Penalized(Regularizer):
    """A regularizer that adds a penalty to the loss. Write :meth:`penalty`; the rest follows."""

    @abstractmethod
    def penalty(self, problem: Problem) -> Penalty:
        """The penalty on the weights (p,) of ``problem``: an object with ``value`` and ``prox``."""

    def solve(self, problem: Problem) -> Solution:
        """Minimize loss + penalty by accelerated proximal gradient; UsageError for open prices."""
        from textreg.solvers.proximal import proximal

        check_decided(self.label(), **self.params())
        return proximal(problem, self.penalty(problem))


KINDS: dict[str, type[Any]] = {
    part.kind: part for part in (Tokenizer, GroupBuilder, GraphBuilder, Regularizer, Loss)
}
