"""A loss from outside: found by name, searched over, and not needed to predict."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli

import textreg
from textreg import TextClassifier, TextRegressor
from textreg.errors import BrokenPluginError, UsageError
from textreg.losses import Logistic, Loss, SmoothedHinge, SquaredHinge
from textreg.params import param
from textreg.plugins import calls, registry
from textreg.records import Floats
from textreg_testing import check_loss

TEXTS = ["a good box", "a bad box", "so good", "so bad"] * 10
LABELS = ["pos", "neg"] * 20

PLUGIN = '''
import numpy as np
from textreg.hookspecs import hookimpl
from textreg.kinds import Loss
from textreg.params import param

class Cosh(Loss):
    """log cosh of the error, for numbers."""

    name = "log-cosh"
    binary = False
    third_derivative_bound = 0.77
    width: float = param(default=1.0, min=1.0, max=1.0, help="unit of the error")

    def value(self, z, y, c):
        off = np.abs(z - y)
        return float(c @ (off + np.log1p(np.exp(-2 * off)) - np.log(2)))

    def derivatives(self, z, y, c, r, h):
        slope = np.tanh(z - y)
        r[:], h[:] = c * slope, c * (1 - slope**2)
        return self.value(z, y, c)

    def curvature_bound(self, c):
        return 1.0 * c

    def dual_value(self, alpha, y, c):
        from scipy.special import xlog1py

        some = c > 0
        s = np.clip(alpha[some] / c[some], -1, 1)
        entropy = 0.5 * (xlog1py(1 + s, s) + xlog1py(1 - s, -s))
        return float(alpha[some] @ y[some] - c[some] @ entropy)

@hookimpl
def textreg_losses():
    return [Cosh]
'''


@pytest.fixture
def log_cosh(tmp_path: Path) -> Path:
    """The plugin, as a file."""
    path = tmp_path / "log_cosh.py"
    path.write_text(PLUGIN, encoding="utf-8")
    return path


CLASSIFIERS: list[Any] = [
    "hinge",
    SmoothedHinge,
    SmoothedHinge(smoothing=0.3),
    textreg.loss("hinge", smoothing=0.3),
    "textreg:hinge",
]


@pytest.mark.parametrize("loss", CLASSIFIERS, ids=str)
def test_a_loss_by_name_class_or_instance(loss: Any) -> None:
    model = textreg.train(TEXTS, LABELS, reg="ridge", reg_l2=0.1, loss=loss)
    assert model.loss == "hinge"
    assert model.predict(["good", "bad"]) == ["pos", "neg"]
    assert model.summary is not None
    smoothing = loss.smoothing if isinstance(loss, Loss) else 0.025
    assert model.summary.loss_params == {"smoothing": smoothing}
    unsmoothed = model.summary.unsmoothed
    assert unsmoothed is not None
    assert unsmoothed.gap is not None
    assert unsmoothed.objective >= model.summary.objective
    assert model.summary.from_json(model.summary.to_json()).unsmoothed == unsmoothed


def test_parameters_of_a_loss_in_an_estimator() -> None:
    model = TextClassifier(loss="hinge", reg="ridge").set_params(loss__smoothing=0.5)
    assert model.loss == SmoothedHinge(smoothing=0.5)
    assert model.get_params()["loss__smoothing"] == 0.5
    assert model.fit(TEXTS, LABELS).score(TEXTS, LABELS) == 1.0
    with pytest.raises(UsageError, match="hinge: no parameter 'smoothness'"):
        model.set_params(loss__smoothness=1)


def test_parameters_of_a_loss_are_searched() -> None:
    model = textreg.train(
        TEXTS,
        LABELS,
        reg="ridge",
        reg_l2=0.1,
        loss="hinge",
        search_space={"loss_smoothing": [0.01, 1.0]},
    )
    assert model.summary is not None
    assert model.summary.chosen.keys() == {"loss_smoothing"}
    assert model.summary.loss_params == {"smoothing": model.summary.chosen["loss_smoothing"]}
    with pytest.raises(UsageError, match="no parameter 'loss_smoothing'"):
        textreg.train(TEXTS, LABELS, search_space={"loss_smoothing": [0.01, 1.0]})


def test_prediction_does_not_need_the_plugin(log_cosh: Path, tmp_path: Path, cli: Cli) -> None:
    numbers = ["2.5" if label == "pos" else "-1" for label in LABELS]
    rows = [f"{number}\t{text}" for number, text in zip(numbers, TEXTS, strict=True)]
    train, file = tmp_path / "train.tsv", tmp_path / "model.textreg"
    train.write_text("\n".join(["label\ttext", *rows]) + "\n", encoding="utf-8")
    options = ["--task", "regression", "--loss", "log-cosh", "--reg", "lasso", "-o", file]
    done = cli("--plugin", log_cosh, "train", train, *options)
    assert done.code == 0, done.err
    assert "converged" in done.out
    # A process that has never seen the plugin.
    code = f"import textreg; print(textreg.load({str(file)!r}).predict(['good', 'bad']))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    good, bad = map(float, told.stdout.strip(" []\n").split(","))
    assert good > 1 > 0 > bad
    shown = cli("show", file)
    assert "log-cosh" in shown.out


def test_a_plugin_loss_keeps_the_contract_and_fits_by_every_solver(log_cosh: Path) -> None:
    local = registry.Registry()
    local.register_file(log_cosh)
    loss = local.create("loss", "log-cosh")
    check_loss(loss, skip={"loss-imports": "a file", "loss-state": "a file"})
    numbers = [2.5 if label == "pos" else -1.0 for label in LABELS]
    strengths: dict[str, dict[str, float]] = {
        "ridge": {"l2": 0.1},
        "lasso": {"l1": 0.1},
        "sentence": {"group": 0.01, "l1": 0.01, "l2": 0.0},
        "omp": {"budget": 2, "l2": 0.1},
        "stagewise": {"steps": 200},
    }
    for name, params in strengths.items():
        reg = textreg.regularizer(name, **params)
        model = TextRegressor(reg=reg, loss=loss, tokenizer="words", ngrams=1).fit(TEXTS, numbers)
        good, bad = model.predict(["good", "bad"])
        assert good > bad


def test_only_the_logistic_loss_goes_with_softmax_and_probabilities() -> None:
    three = ["a", "b", "c", "a"] * 10
    with pytest.raises(UsageError, match="hinge loss cannot go with softmax"):
        textreg.train(TEXTS, three, reg="ridge", loss="hinge", multiclass="softmax")
    with pytest.raises(UsageError, match="gives no probabilities"):
        textreg.train(TEXTS, LABELS, reg="ridge", loss="hinge", calibrate="temperature")
    model = textreg.train(TEXTS, LABELS, reg="ridge", reg_l2=0.1, loss="hinge")
    assert not model.has_probabilities
    with pytest.raises(UsageError, match="no probabilities"):
        model.predict_proba(["good"])


class Probit(Logistic):
    """The logistic loss by another name, as a plugin with log odds may be."""

    name = "other-logistic"


def test_a_plugin_loss_may_give_probabilities(tmp_path: Path) -> None:
    one = textreg.train(TEXTS, LABELS, reg="ridge", reg_l2=0.1, loss=Probit())
    other = textreg.train(TEXTS, LABELS, reg="ridge", reg_l2=0.1)
    np.testing.assert_array_equal(one.predict_proba(TEXTS), other.predict_proba(TEXTS))
    one.save(tmp_path / "one.textreg")
    again = textreg.load(tmp_path / "one.textreg")
    assert again.loss == "other-logistic"
    np.testing.assert_array_equal(again.predict_proba(TEXTS), other.predict_proba(TEXTS))


class Faulty(SquaredHinge):
    """A loss with one fault."""

    name = "faulty"
    fault: str = param(default="raises", help="what it does wrong")

    def derivatives(self, z: Floats, y: Floats, c: Floats, r: Floats, h: Floats) -> float:
        if self.fault == "raises":
            raise ZeroDivisionError("by the loss")
        value = super().derivatives(z, y, c, r, h)
        if self.fault == "writes":
            z[:] = 0.0
        if self.fault == "nan":
            r[0] = np.nan
        if self.fault == "no value":
            return np.nan
        return "one" if self.fault == "text" else value  # type: ignore[return-value]

    def curvature_above(self, z: Floats, y: Floats, c: Floats) -> Floats:
        return np.full(3, 2.0) if self.fault == "short" else super().curvature_above(z, y, c)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("raises", "fails in derivatives: ZeroDivisionError: by the loss"),
        ("writes", "must not be changed, so copy it first"),
        ("nan", "derivatives must give finite numbers, not NaN or infinite ones"),
        ("text", "derivatives must give a number, not one"),
        ("no value", "derivatives must give a number, not NaN"),
        ("short", r"curvature_above must give an array of float64 of the shape \(40,\), not .*3"),
    ],
)
def test_the_faults_of_a_loss_are_called_its_own(fault: str, message: str) -> None:
    """And not those of the regularizer whose solver calls it."""
    reg, loss = textreg.regularizer("sentence", group=0.01, l1=0.01), Faulty(fault=fault)
    with pytest.raises(
        BrokenPluginError, match=f"^loss 'faulty' of test_loss_plugins.Faulty .*{message}"
    ):
        textreg.train(TEXTS, LABELS, reg=reg, loss=loss)


def test_a_guarded_loss_has_no_methods_that_the_loss_has_not() -> None:
    assert not calls.guarded(Faulty(fault="")).smoothed


def test_a_guarded_loss_is_pickled_as_what_it_guards() -> None:
    loss = calls.guarded(Faulty(fault="nan"))
    again = pickle.loads(pickle.dumps(loss))
    assert (type(again), again.params()) == (type(loss), {"fault": "nan"})
    assert isinstance(again, Faulty)
    assert calls.guarded(SmoothedHinge()) == SmoothedHinge()
