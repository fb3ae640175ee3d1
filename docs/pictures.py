"""Draw the pictures of the pages about regularizers: `make pictures`.

All come from the demo corpus, but for that of networks, which is the table of its page.
"""

from __future__ import annotations

import html
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import textreg
from textreg.builtin.sentences import Sentences
from textreg.builtin.words import Words
from textreg.demo.corpus import write_demo
from textreg.errors import ConvergenceWarning
from textreg.features.vectorize import Features, Vectorizer
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus, Problem
from textreg.report.drawing import ticks
from textreg.solvers.pursuit import Pursuit
from textreg.solvers.stagewise import stagewise
from textreg.solvers.stagewise_rules import StepRules

FOLDER = Path(__file__).with_name("pictures")
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")  # told apart by every eye (Okabe & Ito)
ROW = 15
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 300, 64, 44, 16, 120

Series = tuple[str, Sequence[float], Sequence[float]]


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


def signs(corpus: Corpus) -> np.ndarray:
    """1 for a good review, -1 for a bad one."""
    return np.where(np.array(corpus.labels) == "pos", 1.0, -1.0)


def svg(body: Sequence[str], height: float = HEIGHT) -> str:
    """A picture; text stays text."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
        'font-family="sans-serif" font-size="13">'
        f'<rect width="{WIDTH}" height="{height:g}" fill="white"/>'
    )
    return "\n".join([head, *body, "</svg>", ""])


def text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{html.escape(words)}</text>'


def curves(series: Sequence[Series], x_title: str, y_title: str) -> str:
    """Lines, each named at its end."""
    xs = np.concatenate([np.asarray(x, dtype=float) for _, x, _ in series])
    ys = np.concatenate([np.asarray(y, dtype=float) for _, _, y in series])
    low_x, high_x, low_y, high_y = xs.min(), xs.max(), ys.min(), ys.max()

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            LEFT + (x - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - (y - low_y) / (high_y - low_y) * (HEIGHT - BOTTOM - TOP),
        )

    body = []
    for x in ticks(low_x, high_x):
        at, bottom = place(x, low_y)
        body.append(text(at, bottom + 18, f"{x:g}", 'text-anchor="middle" fill="#555"'))
    for y in ticks(low_y, high_y):
        left, at = place(low_x, y)
        body += [
            f'<path d="M{left:.1f} {at:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>',
            text(LEFT - 6, at + 4, f"{y:g}", 'text-anchor="end" fill="#555"'),
        ]
    ends = []
    for number, (name, x_values, y_values) in enumerate(series):
        points = [place(x, y) for x, y in zip(x_values, y_values, strict=True)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        color = COLORS[number % len(COLORS)]
        body.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        ends.append((points[-1][1], points[-1][0], name, color))
    ends.sort()
    rows = [end for end, *_ in ends]  # a row for each name, in the order of the lines
    for at in range(1, len(rows)):
        rows[at] = max(rows[at], rows[at - 1] + ROW)
    for at in reversed(range(len(rows))):
        rows[at] = min(rows[at], HEIGHT - BOTTOM - ROW * (len(rows) - 1 - at))
    for row, (_, right, name, color) in zip(rows, ends, strict=True):
        body.append(text(right + 6, row + 4, name, f'fill="{color}"'))
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    body.append(text(middle, HEIGHT - 8, x_title, 'text-anchor="middle"'))
    turn = f'transform="rotate(-90 14 {HEIGHT / 2})" text-anchor="middle"'
    body.append(text(14, HEIGHT / 2, y_title, turn))
    return svg(body)


def sentence(demo: Demo) -> str:
    """A review that the model has not seen: what each of its sentences adds to the score."""
    model = textreg.train(demo.train.texts, demo.train.labels or (), reg="sentence")
    review = next(text for text in demo.test.texts if text.count(".") >= 6)
    account = model.explain(review)
    largest = max(abs(part.value) for part in account.sentences)
    body, y = [], 30.0
    for part in account.sentences:
        words = review[part.start : part.end].strip()
        length = 90 * abs(part.value) / largest
        color = COLORS[0] if part.value >= 0 else COLORS[1]
        start = 110 if part.value >= 0 else 110 - length
        body.append(
            f'<rect x="{start:.1f}" y="{y - 11}" width="{length:.1f}" height="14" fill="{color}"/>'
        )
        shown = words if len(words) < 60 else words[:58] + "…"
        weight = "bold" if abs(part.value) > 0.3 * largest else "normal"
        body.append(text(214, y, shown, f'font-weight="{weight}"'))
        y += 26
    body.append(f'<path d="M110 14V{y - 16}" stroke="#555"/>')
    body.append(text(20, y, f"share of the score for “{account.of}”", 'fill="#555"'))
    return svg(body, y + 14)


TOPICS = """\
praise\t\tsuperb\tbrilliant\texcellent\tlovely\tlove\tloves\tperfect\thappy\trecommend\tbest
complaint\t\tawful\tuseless\tpoor\tterrible\tworst\twaste\tdisappointed\tfailed\tbroke\tback
colors\t\tblack\twhite\tblue\tgrey\tred\tolive\tgreen\tcream
people\t\twife\thusband\tsister\tfather\tcolleague\tneighbour
"""


def groups(demo: Demo) -> str:
    """Norms of four lists of words, as the price of groups falls."""
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
    series = [(name, powers, [row[g] for row in norms]) for g, name in enumerate(made.names or ())]
    return curves(series, "price of groups, powers of ten below the highest", "norm of the group")


def networks(page: str) -> str:
    """The table of measured accuracies that the page begins with."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("|")
    ]
    sizes = [float(cell.replace(",", "")) for cell in rows[0][1:]]
    drawn = [row for row in rows[2:] if row[0] in ("network", "lle", "pcr", "ridge")]
    series = [(name, sizes, [float(cell) for cell in cells]) for name, *cells in drawn]
    return curves(series, "labeled documents of 20 classes", "accuracy, percent")


def profiles(demo: Demo) -> str:
    """Sizes of the weights of four regularizers."""
    fits = {
        "ridge": textreg.Ridge(l2=1.0),
        "elastic": textreg.Elastic(l1=0.5, l2=0.5),
        "lasso": textreg.Lasso(l1=1.0),
        "sentence": textreg.Sentence(group=0.05, l1=0.5),
    }
    series = []
    for name, part in fits.items():
        sizes = np.sort(np.abs(part.solve(demo.problem).w))[::-1][:150]
        series.append((name, np.arange(1, len(sizes) + 1), sizes))
    return curves(series, "features, the heaviest first", "size of the weight")


def pursuit(demo: Demo) -> str:
    """Accuracy from feature to feature."""
    run = Pursuit(demo.problem, l2=0.1)
    budgets = [1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 80, 100]
    found = [run.solution(budget) for budget in budgets]
    X_test = demo.features.encoder.transform(demo.test.texts)
    kinds = {
        "training": (demo.problem.X, demo.problem.y),
        "test": (X_test, signs(demo.test)),
    }
    series = [
        (name, budgets, [float(np.mean(np.sign(X @ it.w + it.b) == y)) for it in found])
        for name, (X, y) in kinds.items()
    ]
    return curves(series, "features taken", "share of right answers")


def stages(demo: Demo) -> str:
    """Weights of the heaviest features, step by step."""
    path = stagewise(demo.problem, StepRules(steps=400, every=10)).report.path
    steps = list(range(0, 401, 10))
    weights = np.array([path.weights(step) for step in steps])
    heaviest = np.argsort(-np.abs(weights[-1]))[:4]
    names = demo.features.encoder.names
    return curves([(names[j], steps, weights[:, j]) for j in heaviest], "steps", "weight")


def main() -> None:
    """All of them."""
    FOLDER.mkdir(exist_ok=True)
    demo = Demo.make()
    pictures = {
        "profiles": profiles(demo),
        "sentence": sentence(demo),
        "groups": groups(demo),
        "networks": networks(FOLDER.with_name("networks.md").read_text(encoding="utf-8")),
        "pursuit": pursuit(demo),
        "stagewise": stages(demo),
    }
    for name, picture in pictures.items():
        (FOLDER / f"{name}.svg").write_text(picture, encoding="utf-8")
        print(FOLDER / f"{name}.svg")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        main()
