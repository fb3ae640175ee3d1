"""The sentence regularizer of Yogatama & Smith (2014)."""

from __future__ import annotations

from textreg.builtin.group import Group
from textreg.hookspecs import hookimpl
from textreg.kinds import Regularizer
from textreg.params import AUTO, LogGrid, param
from textreg.records import Problem


class Sentence(Group):
    """Sparse overlapping group lasso with one group for every training sentence.

    Assumes that a few sentences of each document are relevant, and the others are not:

        loss + group sum_s ||w_s||_2 + l1 ||w||_1 + l2 ||w||_2^2

    with w_s the weights of the features of sentence s (section 3, eq. (1)). With the same
    strengths it is ``--reg group --groups sentences``.

    Examples
    --------
    >>> import textreg
    >>> texts = ["It is red. I love it.", "It is blue. I hate it."] * 5
    >>> model = textreg.train(texts, ["pos", "neg"] * 5, reg=Sentence(group=0.01, l1=0.1))
    >>> model.predict(["I love it."])
    ['pos']
    """

    name = "sentence"
    default_builder = "sentences"
    group: float = param(
        default=AUTO,
        min=0,
        search=LogGrid(1e-4, 1e-4, 1, zero=True),
        help="group penalty strength",
    )

    def scale(self, problem: Problem, parameter: str) -> float:
        """The smallest l1 strength that leaves no weight, for all three: the search grid's unit."""
        return problem.largest_gradient_at_zero()


@hookimpl
def textreg_regularizers() -> list[type[Regularizer]]:
    """The one."""
    return [Sentence]
