"""Facts about a model: data, settings, search, features, and how to repeat it."""

from __future__ import annotations

import hashlib
import itertools
import platform
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import numpy as np

from textreg.errors import first_few
from textreg.explain.selection import path_profiles
from textreg.features.encoder import AnyEncoder
from textreg.features.fields import fields_of
from textreg.measure.metrics import measure_numbers
from textreg.model.model import Model
from textreg.model.summary import GraphSummary, GroupsSummary, RegularizerSummary, TrainingSummary
from textreg.records import Corpus, Floats, Int64s
from textreg.tasks import Multilabel
from textreg.training.recipe import changed, changed_options
from textreg_report.page import Estimate, Facts, Section, Versus, signed
from textreg_report.predictions import LABELS, OutOfFold, Refits, Targets, beside, resampled

LIBRARIES = ("textreg", "numpy", "scipy", "scikit-learn")


# Labels listed with their counts.
LISTED = 12

# Steps of a training, in order.
STEPS = ("read", "features", "search", "fit", "path")

# Parameters of the vectorizer that are written in words.
IN_TITLE = ("ngrams", "weighting")


def number(value: Any) -> str:
    """A value for people: thousands separated, four digits, no quotes."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "none" if value is None else str(value)


def parameter_facts(params: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Parameters and their values."""
    return [(name.replace("_", " "), number(value)) for name, value in params.items()]


def _named(name: str, params: Mapping[str, Any]) -> str:
    listed = ", ".join(f"{key} {value}" for key, value in parameter_facts(params))
    return f"{name} ({listed})" if listed else name


def _part(
    summary: TrainingSummary, kind: str, part: RegularizerSummary | GroupsSummary | GraphSummary
) -> str:
    """Name of a part, and its parameters that differ from their defaults."""
    return _named(part.name, changed(summary, kind, part.name, part.params))


def data_facts(model: Model) -> Facts:
    """What the model was trained on."""
    summary = model.summary
    title, shown = model.task.label_lines({} if summary is None else summary.labels)
    more = f" and {len(shown) - LISTED:,} more" if len(shown) > LISTED else ""
    labels = [(title, ", ".join(shown[:LISTED]) + more)] if shown else []
    weights = ("features with a weight", f"{model.n_features:,}")
    if summary is None:
        return (*labels, weights)
    facts = [("trained on", f"{summary.documents:,} documents"), *labels]
    if rare := summary.rare:
        told = first_few([f"{label} {count:,}" for label, count in rare.labels.items()], LISTED)
        fate = "left out" if rare.label is None else f"joined into {rare.label}"
        facts.append((f"labels of fewer than {rare.least:,} documents", f"{fate}: {told}"))
    facts += [("features in training", f"{summary.features:,}"), weights]
    if groups := summary.groups:
        differ = "" if groups.after is None else f", {groups.after:,} differ"
        made = f"{groups.before:,} {_part(summary, 'groups', groups)}"
        facts.append(("groups", made + differ))
        if summary.selected is not None:
            facts.append(("groups selected", summary.selected))
    if graph := summary.graph:
        facts.append(("links", f"{graph.links:,} of {_part(summary, 'graph', graph)}"))
    return tuple(facts)


def settings_facts(model: Model) -> Facts:
    """How it was trained; parameters only where they differ from their defaults."""
    summary, encoder = model.summary, model.encoder
    facts = []
    if summary is not None:
        facts.append(("regularizer", _part(summary, "regularizer", summary.reg)))
        searched = [*summary.chosen, *summary.reg.searched]
        names = ", ".join(name.replace("_", " ") for name in searched)
        facts.append(("chosen by search", names or "nothing"))
    facts.append(("loss", model.loss))
    if summary is not None and summary.multiclass:
        facts.append(("several labels", summary.multiclass))
    if summary is not None and (given := summary.class_weight):
        if not isinstance(given, str):
            given = ", ".join(f"{label} {number(factor)}" for label, factor in given.items())
        facts.append(("weights of labels", given))
    facts += _feature_facts(encoder)
    if model.calibration is not None:
        facts.append(("calibration", model.calibration.method))
    for label, value in model.thresholds.items():
        chosen = None if summary is None else summary.thresholds.get(label)
        rule = "given" if chosen is None else chosen.rule
        if label == model.task.unknown and summary is not None and summary.unknown is not None:
            rule = summary.unknown.rule
        facts.append((f"threshold of {label}", f"{signed(value)} ({rule})"))
    if summary is not None:
        facts.append(("tolerance of the gap", number(summary.tol)))
        facts.append(("iterations", number(summary.iterations)))
    if seconds := model.seconds:
        times = ", ".join(f"{key} {seconds[key]:.1f} s" for key in STEPS if key in seconds)
        facts.append(("time", times))
    return tuple(facts)


def _feature_facts(encoder: AnyEncoder) -> list[tuple[str, str]]:
    """How documents become features; of several fields, each of them."""
    if encoder.fields:
        return [
            (f"field {field.name}", _named(field.kind, changed_options(field)))
            for field in fields_of(encoder)
        ]
    tokenizer, vectorizer = encoder.tokenizer, encoder.vectorizer
    named = {key: it for key, it in vectorizer.changed().items() if key not in IN_TITLE}
    runs = "single words" if vectorizer.ngrams == 1 else f"1 to {vectorizer.ngrams} words in a row"
    return [
        ("tokenizer", _named(tokenizer.name, tokenizer.changed())),
        ("features", _named(f"{vectorizer.weighting} of {runs}", named)),
    ]


# Settings of a search that are shown at most.
TRIED = 300

# Features whose weights are drawn along the path.
PROFILES = 8

SPLITS = {
    "dev": "development documents",
    "holdout": "documents held out",
    "cv": "documents, by cross-validation",
}


def search_section(model: Model) -> Section | None:
    """The search, from the model's summary; None if there was none.

    tried: settings in words, number of features and metric of each; chosen: index of one. interval:
    95 % Wilson interval of the chosen one, if the metric is the accuracy.
    """
    summary = model.summary
    if summary is None or len(summary.search) < 2 or summary.metric is None or summary.dev is None:
        return None
    rows, metric, dev = summary.search, summary.metric, summary.dev
    params = {key: summary.reg.params.get(key) for key in rows[0].params}
    chosen = params, summary.chosen
    settings = [(row.params, row.settings) for row in rows]
    if chosen not in settings:
        return None
    chosen_row = settings.index(chosen)
    shown = sorted({*range(0, len(rows), -(-len(rows) // TRIED)), chosen_row})
    tried = []
    for number in shown:
        facts = parameter_facts({**settings[number][1], **settings[number][0]})
        what = ", ".join(f"{name} {value}" for name, value in facts)
        tried.append(_trial(what, rows[number], metric))
    interval = dev.accuracy_interval if metric == "accuracy" else None
    at = shown.index(chosen_row)
    return Section(
        metric=metric,
        documents=dev.documents,
        how=_how(model),
        tried=tried,
        chosen=at,
        interval=interval,
    )


def _trial(settings: str, row: Any, metric: str) -> Section:
    """A point of a search, or of a path."""
    return Section(settings=settings, features=row.nonzero, value=row.metrics[metric])


def path_section(model: Model) -> Section | None:
    """The regularization path of the model; None if it has none (``train --path``).

    curve: size and metric of each model, measured on documents that its fit has not seen, as of
    :func:`search_section`. values: of the parameter, the emptiest model first. whole: whether they
    are whole numbers, otherwise penalty strengths. profiles: weights of the strongest features.
    """
    path = model.path
    if path is None:
        return None
    dev = None if model.summary is None else model.summary.dev
    curve = Section(
        metric=path.metric,
        documents=0 if dev is None else dev.documents,
        how=_how(model),
        tried=[
            _trial(f"{path.parameter} {value:.4g}", point, path.metric)
            for value, point in zip(path.values, path.points, strict=True)
        ],
        chosen=path.chosen,
        interval=None,
    )
    along = path_profiles(model, PROFILES)
    assert along is not None
    whole = all(isinstance(value, int) for value in path.values)
    return Section(
        curve=curve,
        parameter=path.parameter,
        values=along.values,
        whole=whole,
        profiles=along.profiles,
    )


def _how(model: Model) -> str:
    split = None if model.summary is None else model.summary.split
    if split is None:
        return "documents held out"
    how = SPLITS.get(split.kind, "documents held out")
    return f"{how} in {split.parts} parts" if split.kind == "cv" else how


def versions() -> Facts:
    """Versions of Python and of the numerical libraries."""
    return (
        ("Python", platform.python_version()),
        *((name, metadata.version(name)) for name in LIBRARIES),
    )


def fingerprint(corpus: Corpus) -> str:
    """SHA-256 of the labels and texts in order; it does not depend on the file format."""
    digest = hashlib.sha256()
    labels = corpus.labels or [""] * len(corpus)
    for label, text in zip(labels, corpus.texts, strict=True):
        digest.update(f"{label}\0{text}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


# Features shown for each label.
TOP = 15

# Features whose stability is shown, and features without a weight.
STABLE, UNUSED = 25, 15


def columns_of(X: Any, columns: Int64s) -> Any:
    """(documents, columns): the given columns of X; empty where the index is -1."""
    from scipy.sparse import csr_array

    present = np.flatnonzero(columns >= 0)
    choice = (np.ones(len(present)), (columns[present], present))
    return X @ csr_array(choice, shape=(X.shape[1], len(columns)))


def label_words(model: Model, X: Any, y_true: Targets) -> tuple[tuple[Section, ...], int]:
    """The strongest features of every label, and the number of labels that are not listed.

    X: (documents, the model's features). y_true: (documents,) as ``Predictions.y_true``.
    """
    task = model.task
    names, rows = task.sides, task.side_rows(model.weights)
    totals = np.bincount(X.indices, minlength=X.shape[1])
    sizes = np.array([np.count_nonzero(task.documents_of(y_true, c)) for c in range(len(names))])
    shown = np.sort(np.argsort(-sizes, kind="stable")[:LABELS])
    labels = []
    for c in shown.tolist():
        order = [j for j in np.argsort(-rows[c], kind="stable")[:TOP] if rows[c, j] > 0]
        mine = task.documents_of(y_true, c)
        inside = np.bincount(X[mine].indices, minlength=X.shape[1])
        rows_shown = [
            Section(
                feature=model.encoder.names[j],
                weight=float(rows[c, j]),
                inside=int(inside[j]),
                outside=int(totals[j] - inside[j]),
            )
            for j in order
        ]
        labels.append(Section(label=names[c], rows=rows_shown))
    return tuple(labels), len(names) - len(labels)


def dropped_of(model: Model, refits: Refits | None, skipped: int, unknown: int) -> Section:
    """What training had and the model does not use; more of it from ``refits``.

    skipped: rows of the files that could not be read. unknown: documents without any feature of the
    model. features, selected: in training, and with a weight; informative: those without whose
    frequency differs most between labels.
    """
    dropped = Section(
        skipped=skipped,
        unknown=unknown,
        features=None if model.summary is None else model.summary.features,
        selected=model.n_features,
        informative=[],
    )
    if refits is not None:
        dropped.features = len(refits.selected)
        dropped.informative = _informative(model, refits)
    return dropped


def _informative(model: Model, refits: Refits) -> list[Section]:
    """Features without a weight whose frequency differs most between labels."""
    task = model.task
    if not task.discrete:
        return []
    X, y_true = refits.data.X, refits.data.y
    totals = np.bincount(X.indices, minlength=X.shape[1])
    best = np.zeros(X.shape[1])
    label, inside, outside = (np.zeros(X.shape[1]) for _ in range(3))
    for c in range(len(task.sides)):
        mine = task.documents_of(y_true, c)
        size = int(np.count_nonzero(mine))
        if not 0 < size < len(y_true):  # of several labels one may be everywhere
            continue
        count = np.bincount(X[mine].indices, minlength=X.shape[1])
        share, others = count / size, (totals - count) / (len(y_true) - size)
        # P(feature | label) - P(feature | others), for the label where it is largest.
        better = share - others > best
        best[better] = (share - others)[better]
        for array, value in ((label, np.full(len(best), c)), (inside, share), (outside, others)):
            array[better] = value[better]
    best[refits.selected] = 0.0
    names = refits.data.encoder.names
    order = [j for j in np.argsort(-best, kind="stable")[:UNUSED] if best[j] > 0]
    return [
        Section(
            feature=names[j],
            label=task.sides[int(label[j])],
            inside=float(inside[j]),
            outside=float(outside[j]),
        )
        for j in order
    ]


def stability_of(model: Model, refits: Refits) -> Section:
    """How often the model's features are selected by fits without a part of the corpus.

    histogram: number of the model's features that were selected in 0, 1, ... of the fits. overlap:
    mean Jaccard index of the features of two fits. sizes: features of every fit. strongest: the
    features with the largest weights, the number of fits that selected each (parts), and the mean
    and the deviation of its weights there.
    """
    fits = refits.solutions
    columns = refits.columns
    present = columns >= 0
    used = np.array([fit.w.any(axis=0) for fit in fits])
    times = np.zeros(model.n_features, dtype=np.int64)
    times[present] = used[:, columns[present]].sum(axis=0)
    # Jaccard index |A ∩ B| / |A ∪ B| of the features of every two fits.
    shares = [
        int((one & other).sum()) / max(1, int((one | other).sum()))
        for one, other in itertools.combinations(used, 2)
    ]
    task = model.task
    names, rows = task.sides, task.side_rows(model.weights)
    best, size = rows.argmax(axis=0), rows.max(axis=0, initial=0.0)
    weights = np.zeros((len(fits), *rows.shape))
    for fit, out in zip(fits, weights, strict=True):
        out[:, present] = task.side_rows(fit.w[:, columns[present]])
    order = np.argsort(-size, kind="stable")[:STABLE].tolist()
    return Section(
        parts=len(fits),
        histogram=np.bincount(times, minlength=len(fits) + 1).tolist(),
        overlap=float(np.mean(shares)) if shares else 1.0,
        sizes=refits.own.sizes,
        strongest=[
            Section(
                feature=model.encoder.names[j],
                label=names[best[j]],
                weight=float(size[j]),
                parts=int(times[j]),
                mean=float(weights[:, best[j], j].mean()),
                deviation=float(weights[:, best[j], j].std()),
            )
            for j in order
            if size[j] > 0
        ],
    )


def baseline_of(model: Model, refits: Refits, other: OutOfFold | None, name: str) -> Section | None:
    """The model beside another one, each document predicted by fits that have not seen it.

    own: the model's metric; versus: the comparison; features_own, features_other: mean number of
    features over the fits. Predictions go by the highest score, without thresholds; those of
    several labels are of the other half each time. None if there is no other one.
    """
    if other is None:
        return None
    own, y_true, task = refits.own, refits.y_true, model.task
    scores = own.scores, other.scores
    facts = parameter_facts(other.part.params())
    if not task.discrete:
        measured, versus = _r2_beside(name, y_true.astype(np.float64), *(it[:, 0] for it in scores))
    elif isinstance(task, Multilabel):
        answers = (task.decide_by_halves(it, y_true.astype(bool)) for it in scores)
        measured, versus = beside(name, task, y_true, *answers)
    else:
        measured, versus = beside(name, task, y_true, *map(task.decide, scores))
    return Section(
        documents=len(y_true),
        hyperparameters=", ".join(f"{name} {value}" for name, value in facts),
        own=measured,
        versus=versus,
        features_own=float(np.mean(own.sizes)),
        features_other=float(np.mean(other.sizes)),
    )


def _r2_beside(name: str, y_true: Floats, own: Floats, other: Floats) -> tuple[float, Versus]:
    """R² of both, and the difference with a percentile bootstrap interval over documents."""
    first, second = (measure_numbers(scores, y_true)["r2"] for scores in (own, other))

    def gain(rows: Int64s) -> float:
        one, two = (measure_numbers(scores[rows], y_true[rows])["r2"] for scores in (own, other))
        return one - two

    interval = resampled(gain, len(y_true))
    return first, Versus(name, "R²", second, Estimate("difference", first - second, *interval))
