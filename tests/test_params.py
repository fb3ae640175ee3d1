"""Declared parameters: constructor, checks, search grids."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import re
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from textreg.builtin.separable import Lasso
from textreg.errors import PluginError, UsageError
from textreg.kinds import Penalized, Regularizer
from textreg.params import AUTO, Choices, LogGrid, Parametrized, check_decided, param
from textreg.records import Groups, Problem, Solution


class Part(Parametrized):
    """All types of parameter."""

    name = "part"
    strength: float = param(default=AUTO, min=0, search=LogGrid(0.01, 1, 3), help="a strength")
    count: int = param(default=3, min=1, max=10, help="a count")
    way: str = param(default="fast", choices=("fast", "slow"), help="a way")
    loud: bool = param(default=False, help="a switch")
    limit: float | None = param(default=None, max=5, help="a limit")


class Child(Part):
    """Inherits, adds one, changes one."""

    name = "child"
    count: int = param(default=5, min=1, help="another default")
    extra: str = param(default="", help="one more")


class Slow(Parametrized):
    """What one choice brings."""

    name = "slow"
    pause: float = param(default=1.0, min=0, help="seconds to wait")


class Chooser(Parametrized):
    """A choice that brings parameters of its own."""

    name = "chooser"
    way: str = param(default="fast", options={"fast": Parametrized, "slow": Slow}, help="a way")
    last: int = param(default=1, min=0, help="stands behind")


def test_a_choice_brings_parameters_of_its_own() -> None:
    assert list(Chooser.declared()) == ["way", "last"]
    assert list(Chooser.declared(way="slow")) == ["way", "pause", "last"]
    slow = Chooser(way="slow", pause="2")
    assert slow.params() == {"way": "slow", "pause": 2.0, "last": 1}
    assert slow.params_of("way") == {"pause": 2.0}
    assert Chooser().params_of("way") == {}
    assert repr(slow) == "Chooser(way='slow', pause=2.0)"
    assert slow.replace(way="fast") == Chooser()
    assert slow.replace(last=2).params()["pause"] == 2.0
    assert pickle.loads(pickle.dumps(slow)) == slow
    assert hash(slow) == hash(slow.replace())


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"pause": 1.0}, "^chooser: pause is for way 'slow': leave it out, or choose that.$"),
        ({"way": "slow", "pause": -1}, "pause must be at least 0, not -1"),
        ({"way": "slwo"}, "way must be one of fast, slow, not 'slwo'. Did you mean 'slow'?"),
        ({"way": "slow", "puase": 1}, "Did you mean 'pause'. It has: way, pause, last"),
    ],
)
def test_what_a_choice_does_not_bring_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Chooser(**values)


def test_defaults_and_values() -> None:
    part = Part()
    assert part.params() == {
        "strength": AUTO,
        "count": 3,
        "way": "fast",
        "loud": False,
        "limit": None,
    }
    assert part.undecided() == ["strength"]
    assert Part(strength=0.5, limit=2).undecided() == []
    assert Part.count == 3
    assert list(Child.declared()) == ["strength", "count", "way", "loud", "limit", "extra"]
    assert Child().count == 5
    assert Part().count == 3
    assert Part.declared()["limit"].optional
    assert Part.declared()["limit"].type is float


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"strength": -1}, r"^part: strength must be at least 0, not -1\.$"),
        ({"strength": float("nan")}, r"strength must be a finite number, not nan\.$"),
        ({"strength": float("inf")}, r"strength must be a finite number, not inf\.$"),
        ({"strength": "much"}, r"strength must be a number, not 'much'\.$"),
        ({"strength": True}, r"strength must be a number, not True\.$"),
        ({"strength": None}, r"strength must be a number, not None\.$"),
        ({"strength": [1.0]}, r"strength must be a number, not \[1\.0\]\.$"),
        ({"count": 0}, r"count must be at least 1, not 0\.$"),
        ({"count": 11}, r"count must be at most 10, not 11\.$"),
        ({"count": 2.5}, r"count must be a whole number, not 2\.5\.$"),
        ({"count": "2.5"}, r"count must be a whole number, not '2\.5'\.$"),
        ({"count": float("inf")}, r"count must be a whole number, not inf\.$"),
        ({"count": AUTO}, r"count must be a whole number, not AUTO\.$"),
        ({"way": "fats"}, r"must be one of fast, slow, not 'fats'\. Did you mean 'fast'\?$"),
        ({"way": 1}, r"way must be a text, not 1\.$"),
        ({"loud": 1}, r"loud must be true or false, not 1\.$"),
        ({"loud": "yes"}, r"loud must be true or false, not 'yes'\.$"),
        ({"limit": 6}, r"limit must be at most 5, not 6\.$"),
        (
            {"cuont": 1},
            r"^part: no parameter 'cuont'\. Did you mean 'count'\? It has: strength, count, way, ",
        ),
    ],
)
def test_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Part(**values)


@pytest.mark.parametrize(
    ("value", "expected"), [(np.float32(0.5), 0.5), (np.int64(2), 2.0), (2, 2.0), ("0.25", 0.25)]
)
def test_numbers_become_the_declared_type(value: Any, expected: float) -> None:
    strength = Part(strength=value).strength
    assert strength == expected
    assert type(strength) is float


def test_numpy_whole_numbers_and_switches() -> None:
    assert type(Part(count=np.int32(4)).count) is int
    assert type(Part(count=4.0).count) is int
    assert Part(loud=np.bool_(True)).loud is True


def test_replace_leaves_the_original() -> None:
    part = Part(strength=1.0)
    other = part.replace(count=4)
    assert (part.count, other.count, other.strength) == (3, 4, 1.0)
    with pytest.raises(AttributeError, match=r"part cannot be changed; use \.replace\(count="):
        part.count = 4
    with pytest.raises(UsageError):
        part.replace(count=0)


def test_repr_shows_what_differs_from_the_default() -> None:
    assert repr(Part()) == "Part(strength=AUTO)"
    assert repr(Part(strength=2, way="slow")) == "Part(strength=2.0, way='slow')"
    assert eval(repr(Part(strength=2, limit=1))) == Part(strength=2, limit=1)


def test_equal_by_type_and_values() -> None:
    assert Part(strength=1) == Part(strength=1.0)
    assert hash(Part(strength=1)) == hash(Part(strength=1.0))
    assert Part() != Part(count=4)
    assert Part() != Child(count=3)


def test_auto_is_one_object_however_it_travels() -> None:
    assert pickle.loads(pickle.dumps(AUTO)) is AUTO
    assert copy.deepcopy(AUTO) is AUTO
    assert pickle.loads(pickle.dumps(Part(count=4))) == Part(count=4)


def test_only_four_types() -> None:
    with pytest.raises(TypeError, match="parameters are float, int, str or bool"):

        class Wrong(Parametrized):
            names: list = param(default=(), help="a list")  # type: ignore[type-arg]


def test_a_parameter_has_one_type() -> None:
    with pytest.raises(TypeError, match="parameters are float, int, str or bool"):

        class Two(Parametrized):
            strength: int | str = param(default=1, help="either")

    with pytest.raises(
        TypeError, match=r"Bare.strength has no type: strength: float = param\(...\)"
    ):

        class Bare(Parametrized):
            strength = param(default=1, help="bare")


@given(
    scale=st.floats(1e-6, 1e6),
    low=st.floats(1e-4, 0.9),
    points=st.integers(2, 20),
)
def test_grid_falls_from_high_to_low(scale: float, low: float, points: int) -> None:
    values = LogGrid(low, 1.0, points).values(scale)
    assert len(values) == points
    np.testing.assert_allclose([values[0], values[-1]], [scale, low * scale], rtol=1e-3)
    assert all(a >= b for a, b in itertools.pairwise(values))
    # What is reported in four digits is what was tried.
    assert values == [float(f"{value:.4g}") for value in values]
    ratios = np.diff(np.log(values))
    np.testing.assert_allclose(ratios, ratios.mean(), atol=2e-3)


def test_a_stronger_candidate_comes_first() -> None:
    grid = LogGrid(0.01, 1.0, 2, zero=True, strongest=30.0)
    assert grid.values(0.5) == [15.0, 0.5, 0.005, 0.0]


def test_choices_ignore_the_scale() -> None:
    assert Choices([1, "two"]).values(9.0) == [1, "two"]


@given(value=st.floats(allow_nan=True, allow_infinity=True))
def test_every_accepted_strength_is_finite_and_in_range(value: float) -> None:
    good = bool(np.isfinite(value)) and value >= 0
    if good:
        assert Part(strength=value).strength == value
    else:
        with pytest.raises(UsageError):
            Part(strength=value)


def test_strengths_have_to_be_chosen() -> None:
    check_decided("elastic", l1=0.1, l2=0.0)
    with pytest.raises(UsageError, match=re.escape("elastic: l1 and l2 not chosen yet.")):
        check_decided("elastic", l1=AUTO, l2=AUTO)


class Documented(Parametrized):
    """A part.

    It has more to tell.

    Examples
    --------
    >>> Documented()
    """

    strength: float = param(default=AUTO, min=0, search=Choices([1.0]), help="penalty strength")
    form: str = param(default="one", choices=("one", "two"), help="one of two forms.")
    path: str | None = param(default=None, help="a file")


def test_the_docstring_describes_the_parameters() -> None:
    assert Documented.__doc__ == (
        "A part.\n\nIt has more to tell.\n\n"
        "Parameters\n----------\n"
        "strength : float, chosen from the data by default\n    Penalty strength.\n"
        "form : {'one', 'two'}, default 'one'\n    One of two forms.\n"
        "path : str, optional\n    A file.\n\n"
        "Examples\n--------\n>>> Documented()"
    )
    assert Part.__doc__ is None or "Parameters" in Part.__doc__


@pytest.mark.parametrize("scale", [0.0, 2.0, -1.0, math.inf, math.nan])
def test_grids_of_a_scale(scale: float) -> None:
    class Scaled(Lasso):
        name = "scaled"

        def scale(self, problem: Problem, parameter: str) -> float:
            assert parameter == "l1"
            return scale

    problem = Problem(np.eye(2), np.array([1.0, -1.0]))
    if 0.0 <= scale < math.inf:
        shares = [one.l1 for one in Lasso().candidates(problem)]  # type: ignore[attr-defined]
        found = [one.l1 for one in Scaled().candidates(problem)]  # type: ignore[attr-defined]
        wanted = scale * np.array(shares) / problem.largest_gradient_at_zero()
        assert found == pytest.approx(wanted, rel=1e-3)  # of four digits
        assert Scaled(l1=0.5).candidates(problem) == [Scaled(l1=0.5)]
    else:
        with pytest.raises(ValueError, match="scale must give a number, 0 or more, not"):
            Scaled().candidates(problem)


class Halving(Regularizer):
    """Gives half of the weights it starts from, or those of its strength."""

    name = "halving"
    first: float = param(default=AUTO, min=0, search=LogGrid(0.25, 1.0, 2), help="a strength")
    second: int = param(default=AUTO, search=Choices((3, 5)), help="a number")

    def solve(self, problem: Problem) -> Solution:
        start = np.full(2, self.first) if problem.start is None else problem.start[0] / 2.0
        return Solution(w=start, b=float(self.second), objective=0.0)

    def scale(self, problem: Problem, parameter: str) -> float:
        return {"first": 8.0, "second": 0.0}[parameter]


class Summed(Penalized):
    """A penalty that tests give."""

    name = "summed"
    made: ClassVar[Any] = None

    def penalty(self, problem: Problem) -> Any:
        return self.made


def test_what_regularizers_do_by_default() -> None:
    problem = Problem(csr_array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), [1.0, -1.0, 1.0])
    one = Halving(first=4.0, second=3)
    some: Any = None
    assert one.support(problem, some) is None
    assert (one.rivals(), one.fits_blocks(), one.candidates(problem)) == ((), False, [one])
    assert [(it.first, it.second) for it in Halving().candidates(problem)[:2]] == [
        *((8.0, 3), (8.0, 5)),
    ]
    with_scale = [it.first for it in Halving(second=5).candidates(problem)]
    assert with_scale == [8.0, 2.0]
    base = Regularizer.scale(one, problem, "first")
    assert base == pytest.approx(1.0)  # |sum_i x_ij y_i / 2|: (1 + 1)/2 and (-2 + 1)/2
    # Each starts from the one before, the first from the start of the problem.
    path = list(one.path(problem, [one, one.replace(second=5), one]))
    assert [(it.second, fit.w[0], fit.b) for it, fit in path] == [
        *((3, 4.0, 3.0), (5, 2.0, 5.0), (3, 1.0, 3.0)),
    ]
    warm = problem.replace(start=(np.full(2, 64.0), 0.0))
    assert [fit.w[0] for _, fit in one.path(warm)] == [32.0]
    assert len(list(Halving().path(problem))) == 4
    each = one.solve_each([problem, warm])
    assert [fit.w[0] for fit in each] == [4.0, 32.0]
    groups = Groups([0, 2, 3], [0, 1, 1], np.ones(2), n_features=2)
    assert [part.tolist() for part in one.parts(np.array([5.0, 6.0]), groups, [1, 0])] == [
        *([6.0], [5.0, 6.0]),
    ]
    w = np.array([1.0, -0.5])
    z = np.array([1.0, -1.0, 0.5]) + 0.25
    loss = float(np.logaddexp(0.0, -z * [1.0, -1.0, 1.0]).sum())
    assert one.objective(problem, w, 0.25) == pytest.approx(loss)
    Summed.made = SimpleNamespace(value=lambda w: np.abs(w).sum(), prox=None)
    assert Summed().objective(problem, w, 0.25) == pytest.approx(loss + 1.5)
    # Of all classes together: the softmax loss, and the penalty of each.
    W, codes = np.array([w, -2.0 * w]), np.array([0, 1, 0])
    both = [it.objective_softmax(problem, codes, W, np.zeros(2)) for it in (one, Summed())]
    assert both[1] - both[0] == pytest.approx(1.5 + 3.0)
    assert (Summed().fits_blocks(), Summed.softmax) == (True, True)


def test_what_regularizers_say_by_default() -> None:
    problem = Problem(csr_array([[1.0], [2.0]]), [1.0, -1.0])
    one = Halving(first=4.0, second=3)
    with pytest.raises(UsageError) as raised:
        one.solve_softmax(problem, np.array([0, 1]))
    assert str(raised.value) == f"{one.label()} has no softmax: leave out multiclass."
    Summed.made = SimpleNamespace(value=None)
    with pytest.raises(PluginError) as broken:
        Summed().solve(problem)
    assert str(broken.value) == (
        f"Summed.penalty returned {Summed.made!r}, which has no prox, instead of a penalty. Fix "
        "that method, or tell its authors."
    )
    Summed.made = 5
    with pytest.raises(PluginError, match="returned 5, which has no value and no prox, instead of"):
        Summed().solve_softmax(problem, np.array([0, 1]))
    with pytest.raises(TypeError, match=r"Odd.softmax is True, so it must define solve_softmax"):
        type("Odd", (Halving,), {"softmax": True, "name": "odd"})
    with pytest.raises(TypeError, match=r'Odd.needs must be "", "groups" or "graph", not \'x\''):
        type("Odd", (Halving,), {"needs": "x", "name": "odd"})
