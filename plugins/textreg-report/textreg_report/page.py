"""Pages as one self-contained HTML file without network requests, and what they show."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

from markupsafe import Markup, escape

from textreg.checking import CheckResult
from textreg.files import write_atomically
from textreg.records import Floats
from textreg.terminal import shell_line
from textreg_report.significance import ALPHA, p_text

FOLDER = "templates"


class Section(SimpleNamespace):
    """A part of a page: values by name, made by one function for one place of a template."""


class Page(Section):
    """A record that can be written as an HTML page, by a template of this package."""

    template: ClassVar[str]

    def to_html(self) -> str:
        """The page as one self-contained text: no network requests.

        Style, script and charts are inside; a content security policy allows this style and this
        script by their hashes, and nothing else. The same record gives the same page.
        """
        style, script = _part("page.css"), _part("page.js")
        policy = (
            f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        )
        values = {"style": Markup(style), "script": Markup(script), "policy": policy}
        page = _environment().get_template(self.template)
        return str(page.render(**values, report=self, title=self.title))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all.

        Raises
        ------
        UsageError
            If the file cannot be written.
        """
        write_atomically(Path(path), self.to_html().encode())


@cache
def _part(name: str) -> str:
    return (resources.files(__package__) / FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@cache
def _environment() -> Any:
    """Templates that escape every value and make invisible characters visible."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    from textreg.cli.output import percent
    from textreg.explain.sentences import is_selected, notes_of, title_of
    from textreg.terminal import visible
    from textreg_report import charts
    from textreg_report.agreement import TITLES

    environment = Environment(
        loader=FunctionLoader(_part),
        autoescape=True,
        finalize=safe,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["chart"] = charts
    environment.globals["alpha"] = ALPHA
    environment.globals["titles"] = TITLES
    figures = (clip, fixed, short, signed, telling, thirds)
    environment.filters.update(
        {figure.__name__: figure for figure in figures},
        count=lambda value: f"{value:,.0f}",
        exact=lambda value: f"{value:.12g}",
        feature=lambda name: clip(visible(name), 60),
        is_selected=is_selected,
        notes_of=notes_of,
        title_of=title_of,
        p_value=p_text,
        percent=percent,
        small=lambda value: minus(f"{value:.1e}"),
    )
    return environment


class CheckPage(Page):
    """The page of a check.

    Attributes
    ----------
    result : CheckResult
        What :func:`textreg.check` has found.
    command : tuple of str
        Words of the command line, for the page to show; empty where there was none.
    """

    template = "check.html.jinja"

    def __init__(self, result: CheckResult, command: Sequence[str] = ()) -> None:
        line = shell_line(command)
        super().__init__(title=result.title, result=result, command=command, command_line=line)


# Names and values, both as text.
Facts = tuple[tuple[str, str], ...]


class Estimate(NamedTuple):
    """A measured value and its 95 % interval; the ends are None where there is none."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None


def mean_of(name: str, *samples: Floats, least: float = -math.inf) -> Estimate:
    """The mean of samples, each with the same weight, and its normal 95 % interval.

    A sample of one value has none. least: below which no mean can be.
    """
    mean = sum(float(values.mean()) for values in samples) / len(samples)
    if min(map(len, samples)) < 2:
        return Estimate(name, mean)
    # mean ± 1.96 s / √n; of 50 documents and more, close to Student's interval.
    spread = 1.96 * math.hypot(*(values.std() / math.sqrt(len(values)) for values in samples))
    spread /= len(samples)
    return Estimate(name, mean, max(mean - spread, least), mean + spread)


class Versus(NamedTuple):
    """The model compared with something else on the same documents.

    Attributes
    ----------
    name : str
        What it is compared with, in words.
    metric : str
        Accuracy, micro-F1 or R².
    other : float
        The metric of the other one.
    difference : Estimate
        The model's metric, ``own``, minus ``other``, with its interval.
    won, lost : int
        Documents that only the model, or only the other one, has right; 0 in a regression.
    p : float or None
        P-value of the exact McNemar test, adjusted if there are several comparisons; None in a
        regression.
    comparisons : int
        Comparisons that ``p`` is adjusted for.
    """

    name: str
    metric: str
    other: float
    difference: Estimate
    won: int = 0
    lost: int = 0
    p: float | None = None
    comparisons: int = 1

    @property
    def own(self) -> float:
        """The metric of the model."""
        return self.other + self.difference.value

    @property
    def verdict(self) -> str:
        """``better``, ``worse`` or ``level``: by the p-value, or where there is none, the interval.

        As ``textreg_report.comparison.Contrast.verdict``.
        """
        if self.p is not None:
            if self.p > ALPHA or self.won == self.lost:
                return "level"
            return "better" if self.won > self.lost else "worse"
        low, high = self.difference.low, self.difference.high
        if low is not None and low > 0:
            return "better"
        return "worse" if high is not None and high < 0 else "level"


class Suggestion(NamedTuple):
    """What may help, and the figures that speak for it.

    gain: how many of the measured documents it put right in a measurement, net, by which
    suggestions are ranked; 0 where that is not known, or not what it is for. first: whether it
    stands before all others, since the figures of the report are wrong without it.
    """

    what: str
    why: str
    gain: float = 0.0
    first: bool = False


class Report(Page):
    """Everything that a page says about a model.

    Attributes
    ----------
    title : str
        Title of the page.
    task : str
        The kind of task, such as "binary classification".
    discrete : bool
        Whether the targets are labels; see :class:`textreg.tasks.Task`.
    labels : tuple of str
        The labels; empty in a regression.
    facts : tuple of (str, str)
        About the training data, and the settings of the training.
    n_features : int
        Number of features with a weight.
    converged : bool or None
        Whether the fit reached its tolerance; None if the model does not say.
    gap : float or None
        Relative duality gap of the fit; None where there is no bound.
    verdict : Section
        What to know of it, in sentences: see ``textreg_report.verdict.verdict_of``.
    scores : Section
        How well the model predicts: see ``textreg_report.predictions.scores_of``.
    search : Section or None
        The settings that training tried: see ``textreg_report.sections.search_section``.
    path : Section or None
        The models along the regularization path: see ``textreg_report.sections.path_section``.
    words : tuple of Section
        The strongest features of each label; ``words_left_out`` more labels are not listed.
    selection : Selection or None
        The selected sentences or other groups.
    selected_documents : tuple of Section
        Training documents with their selected sentences.
    dropped : Section
        What the model does not use: see ``textreg_report.sections.dropped_of``.
    stability : Section or None
        How stable the selection is: see ``textreg_report.sections.stability_of``.
    baseline : Section or None
        Comparison with the elastic net: see ``textreg_report.sections.baseline_of``.
    shadow : Section or None
        In the same way with the model's regularizer on shuffled groups or links.
    documents : tuple of Section
        Explained predictions: see ``textreg_report.sections.document_of``.
    evidence : Section or None
        How well its evidence agrees with the passages that people marked.
    tables : tuple of RemovalTable
        What each sentence of some texts is worth to the model, and to others.
    suspected : Section or None
        Training documents whose labels may be wrong.
    reproduce : Section
        ``commands``, ``versions``, ``seed`` and SHA-256 of the texts and labels (``data``).
    missing : tuple of str
        What the page cannot tell, and why.
    """

    template = "report.html.jinja"


def minus(number: str) -> str:
    """A number that Python wrote, with the minus sign of print."""
    return number.replace("-", "\N{MINUS SIGN}")


def fixed(value: float, digits: int = 3) -> str:
    """So many digits after the point."""
    return minus(f"{value:.{digits}f}")


def short(value: float) -> str:
    """Four digits in all, thousands apart."""
    return minus(f"{value:,.4g}")


def signed(value: float, digits: int = 3) -> str:
    """With its sign; without one where all digits are zeros."""
    if not value:
        return "0"
    text = f"{value:+.{digits}f}"
    return minus(text) if float(text) else text[1:]


def telling(pairs: Sequence[tuple[str, float]], digits: int = 2) -> list[tuple[str, float]]:
    """The pairs whose number is not all zeros with so many digits."""
    return [pair for pair in pairs if round(pair[1], digits)]


# Characters of a name; what a document or a file calls itself has no limit of its own.
LONGEST = 200

# Characters that move others or are not seen: control, format, line and paragraph separators, lone
# halves of surrogate pairs, noncharacters, fillers. Joiners are left alone between letters of the
# scripts and the emoji that need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b"
    "\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)


def shown(text: str) -> str:
    """The same with every character that is not seen written as its number, such as [U+202E]."""
    return _UNSEEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", text)


def clip(text: str, length: int = LONGEST) -> str:
    """The start of a text, with dots where something is missing."""
    return text if len(text) <= length else text[: length - 1] + "…"


def safe(value: Any) -> Any:
    """What a template writes for a value: the one door through which text comes onto a page."""
    return (
        escape(shown(value)) if isinstance(value, str) and not isinstance(value, Markup) else value
    )


def thirds(values: Sequence[float]) -> tuple[float, float] | None:
    """The ends of the first and of the second third of some numbers; None if they are not two."""
    ordered = sorted(values)
    if not ordered:
        return None
    first, second = (ordered[(len(ordered) - 1) * part // 3] for part in (1, 2))
    return (first, second) if first < second < ordered[-1] else None
