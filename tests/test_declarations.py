"""A declaration that contradicts itself is refused when its class is defined."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal, Optional

import pytest

from textreg.kinds import GroupBuilder, Regularizer, Tokenizer
from textreg.params import AUTO, Choices, LogGrid, Parametrized, param


def declare(
    name: str = "l2", annotation: Any = float, base: type = Regularizer, **options: Any
) -> Any:
    """The class that declares one parameter, of the name l2 if nothing else is said."""
    declared = param(**{"default": 1.0, "help": "a strength", **options})
    return type("Mine", (base,), {"__annotations__": {name: annotation}, name: declared})


def test_a_declaration_without_contradictions_is_accepted() -> None:
    for options in (
        {"default": AUTO, "min": 0, "search": LogGrid(1e-3, 1)},
        {"default": AUTO, "max": 3, "search": Choices([1, 2.5, 3])},
        {"default": AUTO},
        {"default": 2, "min": 2, "max": 2},
        {"annotation": float | None, "default": None, "max": 1},
        {"annotation": int | None, "default": AUTO, "search": Choices([1, None])},
        {"annotation": str, "default": "b", "choices": ["a", "b"]},
        {"annotation": list[str], "default": (), "convert": list},
        {"annotation": Optional[float], "default": None},  # noqa: UP045  # an older way
    ):
        assert list(declare(**options).declared()) == ["l2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"default": 0.5, "search": Choices([0.1, 0.5])},
            r"with default=0.5 its candidates are never tried\. Write default=AUTO",
        ),
        ({"default": 0.5, "search": LogGrid(0.1, 1)}, r"Write default=AUTO"),
        ({"default": AUTO, "search": [0.1, 0.5]}, r"must be LogGrid\(.*\) or Choices\(values\)"),
        ({"default": AUTO, "min": 0, "search": Choices([-1.0, 1.0])}, "candidate of search must"),
        ({"default": AUTO, "search": Choices([1.0, "2"])}, "search must be a number, not '2'"),
        ({"default": AUTO, "search": Choices([None, 1.0])}, "must be a number, not None"),
        (
            {"annotation": int, "default": AUTO, "search": LogGrid(0.1, 1)},
            r"LogGrid is for the type float, not int: take Choices\.",
        ),
        ({"default": -1.0, "min": 0}, r"the default must be at least 0, not -1\."),
        ({"default": 2.0, "max": 1}, "the default must be at most 1, not 2"),
        ({"default": math.nan}, "the default must be a finite number, not nan"),
        ({"default": "0.5"}, "the default must be a number, not '0.5'"),
        ({"default": True}, "the default must be a number, not True"),
        ({"annotation": int, "default": 1.0}, "the default must be a whole number, not 1.0"),
        ({"annotation": bool, "default": 1}, "the default must be true or false, not 1"),
        ({"annotation": str, "default": 1}, "the default must be a text, not 1"),
        ({"default": None}, r"the default is None, so the type is float \| None"),
        ({"annotation": str, "default": "c", "choices": ("a", "b")}, "must be one of a, b, not"),
        ({"annotation": str, "default": "a", "choices": ("a", 1)}, "the choice must be a text"),
        ({"annotation": str, "default": "a", "choices": ("a", "a")}, "hold a value twice: a, a"),
        ({"annotation": str, "default": "a", "choices": ()}, "choices are empty"),
        ({"annotation": str, "default": "a", "choices": "ab"}, "not the text 'ab'"),
        ({"annotation": list, "default": [], "convert": list}, r"\[\] can be changed, and all"),
        ({"annotation": list, "default": (), "convert": list, "min": 1}, "min and max are for num"),
        ({"annotation": list, "default": (), "convert": list, "choices": (1,)}, "let convert do"),
        (
            {"annotation": str, "default": "a", "max": 3},
            "min and max are for numbers, and the type",
        ),
        ({"default": 1.0, "min": 2, "max": 0}, "min=2 is above max=0"),
        ({"default": 1.0, "min": math.nan}, "must be finite numbers, not nan"),
        ({"default": 1.0, "max": "3"}, "must be finite numbers, not '3'"),
        ({"help": " "}, "help is empty"),
        ({"convert": 3}, "convert must be a function, not 3"),
        ({"annotation": list[str], "default": "a"}, "parameters are float, int, str or bool"),
        ({"annotation": Literal["a", "b"], "default": "a"}, "write str, with choices"),
        ({"annotation": "Nowhere"}, r"annotations of Mine cannot be read: name 'Nowhere'"),
    ],
    ids=str,
)
def test_a_contradiction_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        declare(**options)


@pytest.mark.parametrize("name", ["solve", "name", "kind", "api", "needs", "scale", "params"])
def test_a_name_of_the_class_is_no_name_of_a_parameter(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^Mine\.{name}: .* has an attribute or method of this"):
        declare(name)


@pytest.mark.parametrize("name", ["_l2", "l2_", "l__2", "λ"])
def test_a_name_that_gives_no_option_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="this name gives no option"):
        declare(name)


def test_two_options_of_one_name() -> None:
    with pytest.raises(TypeError, match="--no-case would turn off 'case' and set 'no_case'"):

        class Switches(Tokenizer):
            case: bool = param(default=True, help="keep case")
            no_case: bool = param(default=False, help="drop case")

    class Slow(Parametrized):
        step: float = param(default=1.0, help="a step")

    with pytest.raises(TypeError, match="the choice 'slow' brings 'step', which is a parameter"):

        class Chooser(Parametrized):
            step: float = param(default=1.0, help="a step")
            way: str = param(default="slow", options={"slow": Slow}, help="a way")

    with pytest.raises(TypeError, match="options are choices already"):
        param(default="slow", options={"slow": Slow}, choices=["slow"], help="a way")


class Strength(Parametrized):
    """One parameter."""

    l2: float = param(default=1.0, min=0, help="a strength")


class Other(Parametrized):
    """Another parameter."""

    l1: float = param(default=2.0, min=0, help="another strength")


def test_a_plain_value_does_not_hide_a_parameter() -> None:
    with pytest.raises(TypeError, match=r"Mine.l2 is a parameter of the class above"):

        class Mine(Strength):
            l2 = 0.5  # type: ignore[assignment]

    class Declared(Strength):
        l2: float = param(default=0.5, min=0, help="a strength")

    assert (Declared().l2, Strength().l2) == (0.5, 1.0)


def test_a_typed_value_is_no_parameter() -> None:
    with pytest.raises(TypeError, match=r"Mine.step has a type but no param\(...\)"):

        class Mine(Regularizer):
            step: float = 0.5

    class Fine(Strength):
        name = "fine"
        step: ClassVar[float] = 0.5
        _step: float = 0.5

    assert Fine(l2=3.0).params() == {"l2": 3.0}


def test_parameters_pass_through_the_constructor() -> None:
    with pytest.raises(TypeError, match=r"Mine writes an __init__ of its own"):

        class Mine(Strength):
            def __init__(self, l2: float = 0.5) -> None:
                pass


def test_parameters_of_all_bases_count() -> None:
    class Both(Strength, Other):
        pass

    assert Both(l1=1, l2=3).params() == {"l1": 1.0, "l2": 3.0}

    class Mixin:
        l3: float = param(default=1.0, help="a strength")

    with pytest.raises(TypeError, match=r"Mine.l3 is declared in Mixin, .*Mixin\(Parametrized\)"):

        class Mine(Mixin, Strength):
            pass


def test_one_declaration_serves_several_parameters() -> None:
    strength = param(default=1.0, min=0, help="a strength")

    class Mine(Parametrized):
        l1: float = strength
        l2: float = strength

    class Yours(Parametrized):
        most: float = strength

    assert [it.name for it in Mine.declared().values()] == ["l1", "l2"]
    assert [it.name for it in Yours.declared().values()] == ["most"]


def test_only_a_regularizer_is_searched_by_itself() -> None:
    with pytest.raises(TypeError, match="only parameters of a regularizer are chosen from the"):
        declare(base=GroupBuilder, default=AUTO, search=LogGrid(0.1, 1))


@pytest.mark.parametrize(
    "grid",
    [
        (0.0, 1.0),
        (-1.0, 1.0),
        (1.0, 0.1),
        (math.nan, 1.0),
        (0.1, math.inf),
        (0.1, 1, 0),
        (0.1, 1, 2, False, 1.0),
        (0.1, 1, 2, False, math.inf),
    ],
)
def test_grids_have_ends(grid: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="LogGrid"):
        LogGrid(*grid)


def test_candidates_differ() -> None:
    for candidates in ("abc", [], [1.0, 1.0]):
        with pytest.raises(ValueError, match="Choices"):
            Choices(candidates)
    once = Choices(number for number in (1, 2))  # type: ignore[arg-type]
    assert once.values(1.0) == once.values(1.0) == [1, 2]


def test_a_private_name_of_a_base_is_refused() -> None:
    from textreg.kinds import Tokenizer

    body = {"name": "mine", "__call__": lambda self, text: [], "_sentences": lambda self: []}
    with pytest.raises(TypeError, match=r"Mine\._sentences would replace Tokenizer\._sentences"):
        type("Mine", (Tokenizer,), {**body, "__module__": "acme"})
    base = type("Mine", (Tokenizer,), {**body, "_sentences": None, "__module__": "textreg.some"})
    del body["_sentences"]
    mine = type("Mine", (base,), {**body, "_own": 1, "__module__": "acme"})
    assert type("Yours", (mine,), {"_own": 2, "__module__": "acme"})._own == 2
