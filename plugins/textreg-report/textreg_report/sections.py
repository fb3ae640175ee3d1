"""The sections of a report: facts, search, features, stability, and the documents it shows."""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import platform
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textreg.cli import show
from textreg.explain import Explanation, SentenceScore, explain, gives_offsets
from textreg.explain.contributions import strongest
from textreg.explain.selection import path_profiles
from textreg.measure.evaluation import suspects
from textreg.model.model import Model
from textreg.records import Corpus, Int64s
from textreg.records.arrays import row_of, sums
from textreg.records.documents import check_texts
from textreg.text import scan_words
from textreg_report.page import Facts, Section, clip
from textreg_report.predictions import LABELS, OutOfFold, Predictions, Refits, answers_of, beside

LIBRARIES = ("textreg", "numpy", "scipy", "scikit-learn")


def facts_of(model: Model) -> Facts:
    """What ``textreg show`` tells of a model, and the training documents of every label."""
    facts, summary = show.facts_of(model), model.summary
    if summary is not None:
        _, facts["trained on"] = model.task.label_lines(summary.labels)
        if rare := summary.rare:
            fate = "left out" if rare.label is None else f"joined into {rare.label}"
            counts = [f"{label} {count:,}" for label, count in rare.labels.items()]
            facts[f"labels of fewer than {rare.least:,} documents, {fate}"] = counts
    return tuple(show.told(facts))


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

    tried: settings in words, number of features and metric of each; chosen: index of one.
    """
    summary = model.summary
    if summary is None or len(summary.search) < 2 or summary.metric is None or summary.dev is None:
        return None
    rows = summary.search
    params = {key: summary.reg.params.get(key) for key in rows[0].params}
    settings = [(row.params, row.settings) for row in rows]
    if (params, summary.chosen) not in settings:
        return None
    chosen = settings.index((params, summary.chosen))
    shown = sorted({*range(0, len(rows), -(-len(rows) // TRIED)), chosen})
    names = [show.text_of({**rows[at].settings, **rows[at].params}) for at in shown]
    return _trials(model, summary.metric, names, [rows[at] for at in shown], shown.index(chosen))


def path_section(model: Model) -> Section | None:
    """The regularization path of the model; None if it has none (``train --path``).

    curve: size and metric of each model, measured on documents that its fit has not seen, as of
    :func:`search_section`. values: of the parameter, the emptiest model first. whole: whether they
    are whole numbers, otherwise penalty strengths. profiles: weights of the strongest features.
    """
    path = model.path
    if path is None:
        return None
    along = path_profiles(model, PROFILES)
    assert along is not None
    names = [f"{path.parameter} {value:.4g}" for value in path.values]
    return Section(
        curve=_trials(model, path.metric, names, path.points, path.chosen),
        parameter=path.parameter,
        values=along.values,
        whole=all(isinstance(value, int) for value in path.values),
        profiles=along.profiles,
    )


def _trials(
    model: Model, metric: str, names: Sequence[str], rows: Sequence[Any], chosen: int
) -> Section:
    """Points of a search or a path, told in words, and which documents they are measured on."""
    dev, split = (None, None) if model.summary is None else (model.summary.dev, model.summary.split)
    how = SPLITS["holdout"] if split is None else SPLITS.get(split.kind, SPLITS["holdout"])
    return Section(
        metric=metric,
        documents=0 if dev is None else dev.documents,
        how=f"{how} in {split.parts} parts" if split and split.kind == "cv" else how,
        tried=[
            Section(settings=words, features=row.nonzero, value=row.metrics[metric])
            for words, row in zip(names, rows, strict=True)
        ],
        chosen=chosen,
    )


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


def label_words(model: Model, X: Any, y_true: Any) -> tuple[tuple[Section, ...], int]:
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
        inside = np.bincount(X[task.documents_of(y_true, c)].indices, minlength=X.shape[1])
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
    best, label = np.zeros(X.shape[1]), np.zeros(X.shape[1], dtype=np.int64)
    for c in range(len(task.sides)):
        mine = task.documents_of(y_true, c)
        size = int(np.count_nonzero(mine))
        if 0 < size < len(y_true):  # of several labels one may be everywhere
            count = np.bincount(X[mine].indices, minlength=X.shape[1])
            # P(feature | label) - P(feature | others), for the label where it is largest.
            apart = count / size - (totals - count) / (len(y_true) - size)
            label[apart > best] = c
            best = np.maximum(apart, best)
    best[refits.selected] = 0.0
    rows = []
    for j in np.argsort(-best, kind="stable")[:UNUSED].tolist():
        if best[j] > 0:
            mine, holds = task.documents_of(y_true, label[j]), X[:, [j]].toarray()[:, 0] != 0
            row = {"feature": refits.data.encoder.names[j], "label": task.sides[label[j]]}
            shares = {"inside": float(holds[mine].mean()), "outside": float(holds[~mine].mean())}
            rows.append(Section(**row, **shares))
    return rows


def stability_of(model: Model, refits: Refits) -> Section:
    """How often the model's features are selected by fits without a part of the corpus.

    histogram: number of the model's features that were selected in 0, 1, ... of the fits. overlap:
    mean Jaccard index of the features of two fits. sizes: features of every fit. strongest: the
    features with the largest weights, the number of fits that selected each (parts), and the mean
    and the deviation of its weights there.
    """
    fits = refits.own.fits
    columns = refits.columns
    present = columns >= 0
    used = np.array([fit.w.any(axis=0) for fit in fits])
    times = np.zeros(model.n_features, dtype=np.int64)
    times[present] = used[:, columns[present]].sum(axis=0)
    # Jaccard index |A ∩ B| / |A ∪ B| of the features of every two fits; 1 of two without any.
    shares = [
        float((one & other).sum() / union) if (union := (one | other).sum()) else 1.0
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
        overlap=float(np.mean(shares)),
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


def baseline_of(refits: Refits, other: OutOfFold | None, name: str) -> Section | None:
    """The model beside another one, each document predicted by fits that have not seen it.

    versus: the comparison; features_own, features_other: mean number of features over the fits.
    Predictions go by the highest score, without thresholds; those of several labels are of the
    other half each time. None if there is no other one.
    """
    if other is None:
        return None
    own, y_true = refits.own, refits.y_true
    answers = answers_of(refits.data.task, y_true, own.scores, other.scores)
    return Section(
        documents=len(y_true),
        hyperparameters=show.text_of(other.part.params()),
        versus=beside(name, refits.data.task, y_true, *answers),
        features_own=float(np.mean(own.sizes)),
        features_other=float(np.mean(other.sizes)),
    )


# Characters shown of a document and of a sentence; the rest is counted and summed.
CHARACTERS, LINE_CHARACTERS = 3000, 1200

# Characters that a part counts at least, as each takes room on the page.
PART = 3

LEVELS = 5
# A part is colored if its value is at least this share of the largest.
MIN_SHARE = 0.02


class _Part(NamedTuple):
    start: int
    end: int
    value: float


def lines_of(
    explanation: Explanation, passages: Int64s | None = None, characters: int = CHARACTERS
) -> tuple[Section, ...]:
    """The text in sentences; of a long text, those with the largest effect of removal.

    Intercept and lines sum to the score; so do intercept and marks if nothing is hidden. passages:
    (p, 2) where those that people marked begin and end. characters: how many are shown.
    """
    text, sentences = explanation.text, _sentences(explanation, passages)
    parts = _parts(explanation, [sentence.start for sentence in sentences])
    largest = max((abs(part.value) for part in parts), default=0.0)
    firsts = [bisect_left(parts, (sentence.start,)) for sentence in sentences]
    counts = [after - first for first, after in itertools.pairwise([*firsts, len(parts)])]
    chosen = _within_budget(sentences, counts, characters)
    longest = min(LINE_CHARACTERS, characters)
    lines: list[Section] = []
    for whole, run in itertools.groupby(range(len(sentences)), key=chosen.__contains__):
        numbers = list(run)
        if not whole:
            value = sum(sentences[number].value for number in numbers)
            plural = "s" if len(numbers) > 1 else ""
            lines.append(_line(value, hidden=f"{len(numbers):,} more sentence{plural}"))
            continue
        for number in numbers:
            sentence, first = sentences[number], firsts[number]
            last = min(first + counts[number], first + longest // PART)
            end = min(sentence.start + longest, parts[last - 1].end)
            sentence.marks = [
                Section(text=text[start : min(stop, end)], value=it, level=_level(it, largest))
                for start, stop, it in parts[first:last]
            ]
            if sentence.end > end:
                sentence.hidden = f"{sentence.end - end:,} more characters"
            lines.append(sentence)
    return tuple(lines)


def _line(value: float, **values: Any) -> Section:
    """A line of a document, a sentence or what stands for those that are not shown."""
    usual = {"marks": (), "removal": None, "evidence": 0.0, "field": "", "marked": False}
    return Section(**{**usual, "hidden": "", "value": value, **values})


def telling_words(explanation: Explanation, top: int) -> tuple[tuple[str, float], ...]:
    """The words that speak most for the label explained, as features of whole words tell them.

    Where there is none, by what the characters in every word add to the score.
    """
    text, inside = explanation.text, _word_around(explanation.text)
    units: Any = [it for it in explanation.words if not (inside(it.start) or inside(it.end))]
    if not any(word.value > 0 for word in units):
        units = _parts(explanation, ())
    sums: dict[str, float] = {}
    for unit in units:
        words = " ".join(text[unit.start : unit.end].split()).casefold()
        sums[words] = sums.get(words, 0.0) + unit.value
    ranked = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return tuple(pair for pair in ranked[:top] if pair[1] > 0)


def _word_around(text: str) -> Callable[[int], tuple[int, int] | None]:
    """Gives the word around a place in a text, its start and end; None between words."""
    spans = scan_words([text], spans=True).spans
    words = [] if spans is None else spans.tolist()
    starts = [start for start, _ in words]

    def around(place: int) -> tuple[int, int] | None:
        start, end = words[bisect_right(starts, place) - 1] if words else (0, 0)
        return (start, end) if start < place < end else None

    return around


def _sentences(explanation: Explanation, passages: Int64s | None) -> list[Section]:
    """The whole text; what lies between two sentences belongs to the first of them.

    Values are those of :class:`textreg.explain.SentenceScore`, and whether a passage is in it.
    """
    text, scores = explanation.text, explanation.sentences
    spans = [] if passages is None else passages.tolist()
    if not scores:
        return [_line(0.0, start=0, end=len(text), marked=bool(spans))]
    boundaries = [0, *(sentence.start for sentence in scores[1:]), len(text)]
    return [
        _line(**{**score._asdict(), "start": start, "end": end}, marked=_touches(score, spans))
        for score, (start, end) in zip(scores, itertools.pairwise(boundaries), strict=True)
    ]


def _touches(sentence: SentenceScore, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < sentence.end and sentence.start < end for start, end in spans)


def _within_budget(
    sentences: Sequence[Section], counts: Sequence[int], characters: int
) -> set[int]:
    """Indices of the sentences to show: all, or those with the largest effect of removal.

    counts: parts of every sentence.
    """
    chosen: set[int] = set()
    size = 0
    for number in sorted(range(len(sentences)), key=lambda it: -abs(sentences[it].removal or 0.0)):
        # A part takes room of its own on the page, however short it is.
        cost = max(sentences[number].end - sentences[number].start, PART * counts[number])
        size += min(cost, LINE_CHARACTERS)
        # The first is shown however long it is: an empty document would explain nothing.
        if chosen and size > characters:
            break
        chosen.add(number)
    return chosen


def _parts(explanation: Explanation, cuts: Sequence[int]) -> list[_Part]:
    """The text in consecutive parts, cut where a feature starts or ends and at ``cuts``.

    Words stay whole, so that n-grams of characters count for theirs. A feature's value is divided
    equally among the parts that it touches and that are not blank, so nothing counts twice where
    n-grams overlap.
    """
    text = explanation.text
    word_at = _word_around(text)
    boundaries_of = {0, len(text), *cuts}
    for place in {end for word in explanation.words for end in (word.start, word.end)}:
        boundaries_of.update(word_at(place) or (place,))
    boundaries = sorted(boundaries_of)
    ranges = list(itertools.pairwise(boundaries))
    values = [0.0] * len(ranges)
    for word in explanation.words:
        first = bisect_right(boundaries, word.start) - 1
        touched = range(first, bisect_left(boundaries, word.end))
        solid = [number for number in touched if not text[slice(*ranges[number])].isspace()]
        # v_j / m for each of the m parts that feature j touches: the parts sum to the score.
        for number in solid or touched:
            values[number] += word.value / len(solid or touched)
    return [_Part(*span, value) for span, value in zip(ranges, values, strict=True)]


def _level(value: float, largest: float) -> int:
    """The strength of a part's color."""
    if abs(value) <= MIN_SHARE * largest:
        return 0
    return int(math.copysign(math.ceil(LEVELS * abs(value) / largest), value))


# Documents of each kind; if one has fewer, the following kinds get more.
SHOWN = {"wrong": 7, "unsure": 7, "right": 6}

# Wrong predictions beside those, and characters shown of each.
ERRORS, BRIEF = 30, 800

# Characters of the preview of a closed document, a wrong answer or a doubtful label.
PREVIEW = 160


def documents_of(
    predictions: Predictions,
    more: Sequence[int] = (),
    passages: Mapping[str, Int64s] | None = None,
) -> tuple[Section, ...]:
    """The most certain wrong predictions, the least certain ones, and the most certain right ones.

    In a regression: those with the largest errors, with medium ones, and with the smallest. Each is
    explained by the model that predicted it. Further errors follow the first ones, with less text.

    Parameters
    ----------
    predictions : Predictions
        The answers.
    more : sequence of int
        Rows of wrong predictions that are shown in any case.
    passages : mapping of str to ndarray, optional
        The marked passages of texts.
    """
    sure = predictions.certainty
    # Stable, so that equally certain documents keep the order of the corpus on every machine.
    by_certainty = np.argsort(-sure, kind="stable")
    task, every = predictions.model.task, check_texts(predictions.corpus.texts)
    strata, _ = task.strata(predictions.y_true)
    orders = {"unsure": by_certainty[::-1], "right": by_certainty}
    brief: list[int] = []
    if task.discrete:
        right = task.right(*predictions.judged)[by_certainty]
        orders |= {"wrong": by_certainty[~right], "right": by_certainty[right]}
        ranked = itertools.islice(_by_turns(orders["wrong"].tolist(), strata), ERRORS)
        brief = list(dict.fromkeys([*more, *ranked]))[:ERRORS]
    else:  # largest, medium and smallest errors
        middle = np.argsort(np.abs(sure - np.median(sure)), kind="stable")
        orders |= {"wrong": by_certainty[::-1], "unsure": middle}
    chosen = take(orders, SHOWN, strata, every)
    wrong = {row: kind for row, kind in chosen.items() if kind == "wrong"}
    kinds = wrong | {row: "wrong" for row in brief if row not in chosen} | chosen
    return tuple(
        document_of(
            predictions,
            row,
            kind,
            predictions.models[predictions.model_of[row]].explain(every[row]),
            None if passages is None else passages.get(str(every[row])),
            CHARACTERS if row in chosen else BRIEF,
        )
        for row, kind in kinds.items()
    )


def take(
    orders: Mapping[str, NDArray[np.intp]],
    shown: Mapping[str, int],
    strata: Int64s,
    texts: Sequence[str],
) -> dict[int, str]:
    """The first rows of every order, as many as ``shown`` says, with their kind; no text twice.

    If there are too few of a kind, the following kinds get more.
    """
    taken: dict[int, str] = {}
    seen: set[str] = set()
    wanted = 0
    for kind, count in shown.items():
        wanted += count
        for row in _by_turns(orders[kind].tolist(), strata):
            if len(taken) >= wanted:
                break
            if texts[row] not in seen:
                taken[row] = kind
                seen.add(texts[row])
    return taken


def _by_turns(rows: Sequence[int], strata: Int64s) -> Iterator[int]:
    """The rows, one of each stratum in turn, so that every label is shown."""
    queues: dict[int, list[int]] = {}
    for row in rows:
        queues.setdefault(int(strata[row]), []).append(row)
    for turn in range(max(map(len, queues.values()), default=0)):
        yield from (queue[turn] for queue in queues.values() if turn < len(queue))


def place_of(corpus: Corpus, row: int) -> str:
    """The file and line of a document; empty where it is not from a file."""
    return os.path.basename(corpus.where(row)) if corpus.source_of is not None else ""


def preview(text: str) -> str:
    """The beginning of a text, on one line."""
    return clip(" ".join(text[: 2 * PREVIEW].split()), PREVIEW)


def document_of(
    predictions: Predictions,
    row: int,
    kind: str,
    explanation: Explanation,
    passages: Int64s | None = None,
    characters: int = CHARACTERS,
) -> Section:
    """A document as a page shows it, from its ``explanation``.

    passages, characters: see ``textreg_report.sections.lines_of``.
    """
    lines = lines_of(explanation, passages, characters)
    best = max(explanation.sentences, key=lambda it: it.evidence, default=None)
    found = None if passages is None or best is None else _touches(best, passages.tolist())
    corpus, task = predictions.corpus, predictions.model.task
    (answer,) = task.answers(predictions.y_pred[row : row + 1])
    label = "" if corpus.labels is None else corpus.labels[row]
    return Section(
        number=row + 1,
        where=place_of(corpus, row),
        kind=kind,
        y_true=", ".join(label) or "no label" if isinstance(label, tuple) else str(label),
        predicted=task.text(answer),
        probability=explanation.probabilities.get(
            explanation.of if task.multilabel else explanation.label
        ),
        certainty=float(predictions.certainty[row]),
        of=explanation.of,
        intercept=explanation.intercept,
        score=explanation.score,
        lines=lines,
        words=tuple(strongest(explanation)),
        characters=len(explanation.text),
        preview=preview(explanation.text),
        evidence=0.0 if best is None else best.evidence,
        found=found,
        fields=tuple(explanation.fields.items()),
    )


# Pairs of labels that the verdict names, and documents of each.
CONFUSED, EXAMPLES = 3, 3

# Words of an example that spoke for the wrong answer.
EXAMPLE_WORDS = 4


def confusions_of(
    predictions: Predictions, scores: Section
) -> tuple[tuple[Section, ...], tuple[int, ...]]:
    """The labels that are confused most often, and the rows of all their examples.

    Examples are the most certain errors.
    """
    support = {one.label: one.support for one in getattr(scores.result, "classes", ())}
    answerable, explained = list(support), gives_offsets(predictions.model)
    pairs, rows = [], dict[int, None]()
    for pair in scores.confused[:CONFUSED]:
        codes = answerable.index(pair.y_true), answerable.index(pair.predicted)
        own = _examples(predictions, *codes) if explained else []
        examples = tuple(_example(predictions, row, pair.predicted) for row in own)
        more = {"support": support[pair.y_true], "examples": examples}
        pairs.append(Section(**vars(pair), **more))
        rows |= dict.fromkeys(own)
    return tuple(pairs), tuple(rows)


def _examples(predictions: Predictions, y_true: int, predicted: int) -> list[int]:
    """The most certain errors of a pair of labels, of different texts."""
    if predictions.model.task.multilabel:
        truly, given = predictions.y_true.astype(bool), predictions.y_pred.astype(bool)
        if max(y_true, predicted) >= truly.shape[1]:
            return []  # a label that the model does not know
        wrong = truly[:, y_true] & ~given[:, y_true] & given[:, predicted] & ~truly[:, predicted]
    else:
        codes: Int64s = predictions.y_true.astype(np.int64)
        wrong = (codes == y_true) & (predictions.y_pred == predicted)
    # The surest errors tell most of what the model has learned wrongly.
    order = np.argsort(-predictions.certainty, kind="stable")
    ranked = order[wrong[order]].tolist()
    texts = check_texts([predictions.corpus.texts[row] for row in ranked])
    return list(dict(zip(reversed(texts), reversed(ranked), strict=True)).values())[::-1][:EXAMPLES]


def _example(predictions: Predictions, row: int, predicted: str) -> Section:
    """A wrong answer with the words that spoke for it."""
    (text,) = check_texts([predictions.corpus.texts[row]])
    model, words = predictions.models[predictions.model_of[row]], tuple[tuple[str, float], ...]()
    if predicted in model.task.sides:
        (explanation,) = explain(model, [text], of=predicted)
        words = telling_words(explanation, EXAMPLE_WORDS)
    where = place_of(predictions.corpus, row)
    return Section(number=row + 1, where=where, preview=preview(text), words=words)


# Documents of a label, and labels, that are shown.
DOCUMENTS, LABELS_SELECTED = 2, 4

# Least and largest number of sentences of such a document, and of characters.
LENGTHS, LONGEST = (4, 14), 2_500


def selected_documents(model: Model, refits: Refits) -> tuple[Section, ...]:
    """Documents of every label in which about half of the sentences have a selected feature.

    Yogatama & Smith (2014, tables 4 and 5) show their selection in this way. Empty for a regression
    and if the tokenizer gives no character offsets.
    """
    task = model.task
    if not (task.discrete and gives_offsets(model)):
        return ()
    tokens = refits.data.tokens.select(np.arange(len(refits.corpus)))  # without the unlabeled ones
    ours = refits.selected[tokens.ids].astype(np.float64)
    # Which sentences have a feature of the model, and the share of these in every document.
    holds = sums(row_of(tokens.sentence_ptr), ours, tokens.n_sentences) > 0
    total = np.concatenate([[0], np.cumsum(holds)])
    counts = np.diff(tokens.document_ptr)
    shares = np.diff(total[tokens.document_ptr]) / np.maximum(counts, 1)
    fits = (counts >= LENGTHS[0]) & (counts <= LENGTHS[1])
    fits &= np.array([len(text) <= LONGEST for text in refits.corpus.texts])
    selected = []
    for code, label in enumerate(task.sides[:LABELS_SELECTED]):
        mine = np.flatnonzero(fits & task.documents_of(refits.data.y, code))
        chosen = mine[np.argsort(np.abs(shares[mine] - 0.5), kind="stable")][:DOCUMENTS].tolist()
        texts = [refits.corpus.texts[row] for row in chosen]
        for row, it in zip(chosen, explain(model, texts, of=label), strict=True):
            sentences = [
                Section(
                    text=" ".join(it.text[one.start : one.end].split()),
                    selected=any(one.start <= word.start < one.end for word in it.words),
                    removal=one.removal,
                )
                for one in it.sentences
            ]
            if len({sentence.selected for sentence in sentences}) > 1:
                facts = {"where": refits.corpus.where(row), "label": label, "predicted": it.label}
                selected.append(Section(**facts, sentences=sentences))
    return tuple(selected)


SUSPECTS_SHOWN = 20


def suspected_of(model: Model, refits: Refits) -> Section | None:
    """The documents whose labels the model's own fits contradict (northcutt2021, section 3.1).

    None for a model without probabilities, in a regression, and where documents are no texts.
    """
    task, y = model.task, refits.y_true.astype(np.int64)
    if not (task.discrete and model.has_probabilities):
        return None
    probabilities = task.probabilities(task.as_scores(refits.own.scores))
    labels = np.arange(len(task.labels))
    if y.ndim == 1:  # in the order of times the earliest documents are predicted by none
        labels = np.unique(y)
        probabilities, y = probabilities[:, labels], np.searchsorted(labels, y)
    descriptions = suspects(probabilities, y, [task.labels[code] for code in labels.tolist()])
    listed = []
    for at in list(descriptions)[:SUSPECTS_SHOWN]:
        row = int(refits.rows[at])
        text = refits.corpus.texts[row]
        if not isinstance(text, str):
            return None
        where = place_of(refits.corpus, row) or f"document {row + 1}"
        listed.append(Section(where=where, told=descriptions[at], preview=preview(text)))
    return Section(count=len(descriptions), total=len(refits.rows), listed=listed)
