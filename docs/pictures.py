"""Draw the pictures of the pages about regularizers: `make pictures`.

All show the demo corpus, except that of networks, which shows the table of its page, and that of
the tutorial, which shows the model of its commands.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from matplotlib.axes import Axes

import textreg
from textreg.builtin.group_builders import Sentences
from textreg.builtin.tokenizers import Words
from textreg.demo import write_demo
from textreg.errors import ConvergenceWarning
from textreg.explain.contributions import Explanation
from textreg.features.vectorize import Features, Vectorizer
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus, Problem
from textreg.solvers.pursuit import Pursuit
from textreg.solvers.stagewise import stagewise
from textreg.solvers.stagewise_rules import StepRules
from textreg_report.charts import SERIES, Series, draw, draw_lines
from textreg_report.page import clip
from textreg_report.sections import lines_of

Save = Callable[[Path], None]
FOLDER = Path(__file__).with_name("pictures")


class Demo(NamedTuple):
    """The demo corpus, and its training part as numbers with a group for every sentence."""

    train: Corpus
    test: Corpus
    features: Features
    problem: Problem

    @classmethod
    def make(cls) -> Demo:
        with tempfile.TemporaryDirectory() as folder:
            write_demo(folder)
            train, test = (read_corpus([f"{folder}/{part}.jsonl"]) for part in ("train", "test"))
        features = Vectorizer(weighting="log", ngrams=1).fit(Words(), train.texts)
        made = Sentences().build(features.tokens)
        return cls(train, test, features, Problem(X=features.X, y=signs(train), groups=made))


def line_chart(series: list[Series], x_title: str, y_title: str) -> Save:
    """Lines and their names."""
    return partial(draw_lines, {"": series}, titles=(x_title, y_title), scales=("linear", "linear"))


def signs(corpus: Corpus) -> np.ndarray:
    """1 for a good review, -1 for a bad one."""
    return np.where(np.array(corpus.labels) == "pos", 1.0, -1.0)


def sentence(demo: Demo) -> Save:
    """What each sentence of a test review adds to the score."""
    model = textreg.train(demo.train.texts, demo.train.labels or (), reg="sentence")
    review = next(text for text in demo.test.texts if text.count(".") >= 6)
    return shares("review", model.explain(review))


def shares(what: str, explanation: Explanation) -> Save:
    """What each sentence of a text adds to the score."""
    values = [part.value for part in explanation.sentences]
    texts = [explanation.text[part.start : part.end].strip() for part in explanation.sentences]
    title = f"share of the score for “{explanation.of}”"

    def fill(panels: Sequence[Axes]) -> None:
        (axes,) = panels
        colors = [SERIES[0] if value >= 0 else SERIES[1] for value in values]
        axes.barh(range(len(values)), values, 0.6, color=colors)
        axes.set_yticks(range(len(texts)), [clip(text, 60) for text in texts])
        axes.invert_yaxis()
        axes.set_xlabel(title)

    return partial(draw, title=f"Sentences of a {what} and their {title}", fill=fill)


# Size of a character of the explained text, and space around it, in pixels.
WIDE, HIGH, MARGIN = 8.4, 24, 12


def explained(demo: Demo) -> Save:
    """A test review, a sentence a line, its words colored by what they add to the score."""
    settings = {"reg": "sentence", "tokenizer": "words"}
    model = textreg.train(demo.train.texts, demo.train.labels or (), **settings)
    review = next(it for it in demo.test.texts if "waste of money" in it)
    explanation = model.explain(review)
    lines = lines_of(explanation)
    largest = max(abs(mark.value) for line in lines for mark in line.marks)
    longest = max(len("".join(mark.text for mark in line.marks).rstrip()) for line in lines)
    wide, high = (longest + 8) * WIDE + 2 * MARGIN, (len(lines) + 1) * HIGH + MARGIN
    parts = [f'<rect width="{wide:g}" height="{high}" rx="6" fill="#fff" stroke="#d0d7de"/>']

    def put(text: str, x: float, y: float, more: str = "") -> None:
        size = f'textLength="{len(text) * WIDE:g}" xml:space="preserve"'
        parts.append(f'<text x="{x:g}" y="{y:g}" {size}{more}>{escape(text)}</text>')

    for row, line in enumerate(lines):
        x, y = float(MARGIN), HIGH * (row + 1.0)
        for mark in line.marks:
            text = mark.text.rstrip() if mark is line.marks[-1] else mark.text
            if round(mark.value, 2):
                color, share = SERIES[mark.value < 0], 0.6 * abs(mark.value) / largest
                parts.append(
                    f'<rect x="{x:g}" y="{y - 16:g}" width="{len(text) * WIDE:g}" height="21" '
                    f'rx="3" fill="{color}" fill-opacity="{share:.2f}"/>'
                )
            put(text, x, y)
            x += len(text) * WIDE
        put(f"{line.value:+.2f}", wide - MARGIN - 5 * WIDE, y)
    total = f"score of {explanation.of} {explanation.score:+.2f}"
    put(f"{total} = intercept {explanation.intercept:+.2f} + words", MARGIN, y + HIGH)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high}" width="{wide:g}"'
    style = 'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14" fill="#1f2328"'
    title = "<title>A review, and what its words add to the score</title>"
    whole = "\n".join([f'{head} role="img" {style}>', title, *parts, "</svg>\n"])
    return lambda path: path.write_text(whole, encoding="utf-8")


def tutorial(page: str) -> Save:
    """What each part of a message adds to the score of its queue."""
    program = FOLDER.with_name("programs").joinpath("tickets.py").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ textreg ((?:check|train) .*)", page, re.MULTILINE)[:2]
    with tempfile.TemporaryDirectory() as folder:
        for run in (["-c", program], *(["-m", "textreg", *shlex.split(it)] for it in commands)):
            subprocess.run([sys.executable, *run], cwd=folder, check=True, capture_output=True)
        model = textreg.load(f"{folder}/tickets.textreg")
    said = "The courier left parcel 802 in the rain. Please help."
    return shares("message", model.explain({"message": said, "amount": 18.15}))


TOPICS = """\
praise\t\tsuperb\tbrilliant\texcellent\tlovely\tlove\tloves\tperfect\thappy\trecommend\tbest
complaint\t\tawful\tuseless\tpoor\tterrible\tworst\twaste\tdisappointed\tfailed\tbroke\tback
colors\t\tblack\twhite\tblue\tgrey\tred\tolive\tgreen\tcream
people\t\twife\thusband\tsister\tfather\tcolleague\tneighbour
"""


def groups(demo: Demo) -> Save:
    """Norms of four lists of words, as the penalty strength of groups falls."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(TOPICS)
        file.flush()
        made = textreg.group_builder("file", path=file.name).build(demo.features.tokens)
    problem = demo.problem.replace(groups=made)
    part = textreg.regularizer("group", l1=2.0, l2=0.1)
    most = part.scale(problem, "group")
    powers = np.linspace(0.0, 2.5, 26)
    norms = []
    for power in powers:
        w = part.replace(group=most * 10.0**-power).solve(problem).w
        norms.append([float(np.linalg.norm(w[made.members(g)])) for g in range(len(made))])
    series = [
        Series(name, powers.tolist(), [row[g] for row in norms])
        for g, name in enumerate(made.names or ())
    ]
    x_title = "penalty strength of groups, powers of ten below the highest"
    return line_chart(series, x_title, "norm of the group")


def networks(page: str) -> Save:
    """The table of accuracies at the top of the page."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("|")
    ]
    sizes = [float(cell.replace(",", "")) for cell in rows[0][1:]]
    drawn = [row for row in rows[2:] if row[0] in ("network", "lle", "pcr", "ridge")]
    series = [Series(name, sizes, [float(cell) for cell in cells]) for name, *cells in drawn]
    return line_chart(series, "labeled documents of 20 classes", "accuracy, percent")


def profiles(demo: Demo) -> Save:
    """Sizes of the weights of four regularizers."""
    fits = {
        "ridge": textreg.Ridge(l2=1.0),
        "elastic": textreg.Elastic(l1=0.5, l2=0.5),
        "lasso": textreg.Lasso(l1=1.0),
        "sentence": textreg.Sentence(group=0.05, l1=0.5),
    }
    series = []
    for name, part in fits.items():
        sizes = np.sort(np.abs(part.solve(demo.problem).w))[::-1][:150:5]
        series.append(Series(name, list(range(1, 151, 5)), sizes.tolist()))
    return line_chart(series, "features, largest weight first", "absolute weight")


def pursuit(demo: Demo) -> Save:
    """Accuracy from feature to feature."""
    run = Pursuit(demo.problem, l2=0.1)
    budgets = [1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 80, 100]
    solutions = [run.solution(budget) for budget in budgets]
    X_test = demo.features.encoder.transform(demo.test.texts)
    kinds = {
        "training": (demo.problem.X, demo.problem.y),
        "test": (X_test, signs(demo.test)),
    }
    series = [
        Series(name, budgets, [float(np.mean(np.sign(X @ it.w + it.b) == y)) for it in solutions])
        for name, (X, y) in kinds.items()
    ]
    return line_chart(series, "selected features", "accuracy")


def stages(demo: Demo) -> Save:
    """Weights of the heaviest features, step by step."""
    path = stagewise(demo.problem, StepRules(steps=400, every=10)).report.path
    steps = list(range(0, 401, 10))
    weights = np.array([path.weights(step) for step in steps])
    heaviest = np.argsort(-np.abs(weights[-1]))[:4]
    names = demo.features.encoder.names
    series = [Series(names[j], steps, weights[:, j].tolist()) for j in heaviest]
    return line_chart(series, "steps", "weight")


def main() -> None:
    """Draw all of them."""
    FOLDER.mkdir(exist_ok=True)
    demo = Demo.make()
    pictures = {
        "profiles": profiles(demo),
        "explained": explained(demo),
        "sentence": sentence(demo),
        "groups": groups(demo),
        "networks": networks(FOLDER.with_name("networks.md").read_text(encoding="utf-8")),
        "pursuit": pursuit(demo),
        "stagewise": stages(demo),
        "tutorial": tutorial(FOLDER.with_name("tutorial.md").read_text(encoding="utf-8")),
    }
    for name, save in pictures.items():
        save(FOLDER / f"{name}.svg")
        print(FOLDER / f"{name}.svg")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        main()
