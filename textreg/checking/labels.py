"""What is wrong with labels, which are suspect, and which columns give them away."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from textreg.checking.documents import LEAST, NAMED, Documents, Example, Finding, is_missing
from textreg.errors import first_few, shortened
from textreg.losses import find_loss
from textreg.measure.evaluation import suspects
from textreg.records import Corpus, Floats, Int64s
from textreg.tasks import TASKS, Classification, Multilabel, Target
from textreg.tasks.base import label_variants, several_labels, sounds_like_ids, variants_told
from textreg.training.fit import Scores, fit_rows
from textreg.training.prepare import prepare
from textreg.training.running import Progress, Work
from textreg.training.settings import TrainingSettings
from textreg.training.splits import Split, folds

NO_LABELS = "not what labels look like"
# The most frequent label has so many times the documents of another one: told.
TIMES = 20


def count_labels(corpus: Corpus) -> Counter[str]:
    """The number of documents of every label."""
    labels = corpus.labels or ()
    if corpus.multilabel:
        return Counter(label for several in labels for label in several)
    return Counter(map(str, labels))


def label_findings(documents: Documents, counts: Counter[str]) -> Iterator[Finding]:
    """What is wrong with the labels of one corpus."""
    n = len(documents)
    ranked = ranking(counts)
    if len(counts) == 1:
        what = f"the same label, '{ranked[0][0]}', so there is nothing to learn"
        yield Finding("single-label", n, n, (), what, {"label": ranked[0][0]})
        return
    first = _first_rows(documents)

    def examples(labels: list[str]) -> tuple[Example, ...]:
        return documents.examples(dict.fromkeys(first[label] for label in labels))

    none = tuple((label, count) for label, count in ranked if is_missing(label))
    missing = examples([label for label, _ in none])
    what = f"a label that stands for a missing one: {_counted(none)}"
    count = sum(count for _, count in none)
    yield Finding("missing-labels", count, n, missing, what, {"labels": none})
    if not documents.corpus.multilabel:
        column = documents.corpus.column_names.get("label", "")
        ids = sounds_like_ids(list(map(str, documents.labels or ())), len(counts), column)
        if why := ids or several_labels(counts):
            yield Finding("label-column", len(counts), len(counts), (), NO_LABELS, {"why": why})
            return
    rare = [(label, count) for label, count in ranked if count < LEAST]
    shown = examples([label for label, _ in reversed(rare)])
    what = f"fewer than {LEAST} documents: {_counted(rare)}"
    yield Finding("rare-labels", len(rare), len(counts), shown, what, {"labels": tuple(rare)})
    frequent = [pair for pair in ranked if pair[1] >= LEAST]
    if len(frequent) > 1 and frequent[0][1] >= TIMES * frequent[-1][1]:
        (most, many), (least, few) = frequent[0], frequent[-1]
        what = f"the label '{most}', {many / few:,.0f} times as many as '{least}' ({few:,})"
        details = {"largest": frequent[0], "smallest": frequent[-1]}
        yield Finding("imbalance", many, n, (), what, details)
    variants = label_variants(counts)
    alike: dict[str, list[str]] = {}
    for variant, label in variants.items():
        alike.setdefault(label, [label]).append(variant)
    what = f"alike but for case, blanks, marks or one letter: {variants_told(counts, variants)}"
    count, groups = len(variants) + len(alike), tuple(map(tuple, alike.values()))
    shown = examples(list(variants))
    yield Finding("similar-labels", count, len(counts), shown, what, {"groups": groups})


def _counted(labels: Sequence[tuple[str, int]]) -> str:
    """The first labels with their numbers of documents."""
    return first_few([f"'{label}' {count:,}" for label, count in labels], NAMED)


def not_numbers(documents: Documents) -> Finding:
    """The documents of a regression whose labels are no finite numbers."""
    wrong = [row for row, label in enumerate(documents.labels or ()) if not _is_number(label)]
    why = (
        "A regression needs a finite number for every document: correct them, or leave out --task "
        "regression."
    )
    return documents.finding("label-column", wrong, NO_LABELS, why=why)


def labels_of_one(documents: Documents, other: Documents) -> Finding:
    """Labels that only one of two corpora has."""
    one, two = count_labels(documents.corpus), count_labels(other.corpus)
    first = [label for label, _ in ranking(one) if label not in two]
    second = [label for label, _ in ranking(two) if label not in one]
    shown, alone = (other, second) if second else (documents, first)
    where = _first_rows(shown)
    examples = shown.examples(where[label] for label in alone)
    listed = [
        f"only in {side}: " + first_few([f"'{label}'" for label in labels], NAMED)
        for side, labels in (("the first file", first), ("the second", second))
        if labels
    ]
    what = f"in one of the two files; {'; '.join(listed)}"
    details = {"first": tuple(first), "second": tuple(second)}
    count = len(first) + len(second)
    return Finding("labels-of-one-file", count, len(one | two), examples, what, details)


def ranking(counts: Counter[str]) -> list[tuple[str, int]]:
    """Labels with their numbers of documents, the most frequent first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _is_number(label: Any) -> bool:
    try:
        return math.isfinite(float(label))
    except (TypeError, ValueError):
        return False


def _first_rows(documents: Documents) -> dict[str, int]:
    """The first document of every label."""
    rows: dict[str, int] = {}
    several = documents.corpus.multilabel
    for row, label in enumerate(documents.labels or ()):
        for name in label if several else (str(label),):
            rows.setdefault(name, row)
    return rows


# Parts of the documents; each is judged by a fit of the others.
FOLDS = 5
# Ridge penalty of the fits, with rows of the weighting unit-idf: the average precision on labels
# flipped at random is flat about it.
STRENGTH = 3.0
# Relative duality gap of the fits; a smaller one changes no order that matters.
TOLERANCE = 0.03
# With more characters than these, times the fits of a part, words are alone: to take minutes.
MOST = 50_000_000


class OutOfSample(NamedTuple):
    """Probabilities of labels, of fits that have not seen the document.

    Attributes
    ----------
    rows : ndarray of int, shape (m,)
        The documents: those with a text and a label that enough others have.
    y : ndarray of int, shape (m,) or (m, k)
        Their labels as indices; or 1 for the labels that they have, and 0 for others.
    labels : tuple of str
        The names of the k labels.
    probabilities : ndarray of float, shape (m, k)
    """

    rows: Int64s
    y: Int64s
    labels: tuple[str, ...]
    probabilities: Floats


def out_of_sample(
    documents: Documents, rows_of: dict[str, list[int]], progress: Progress | None = None
) -> OutOfSample | None:
    """Probabilities by ridge on words, and on characters where these are not too many.

    Documents of the same text are held out together. None where fewer than two labels have
    ``FOLDS`` different texts.

    rows_of: the documents of every text that is not empty. progress: called after every fit.
    """
    corpus = documents.corpus
    text_of = np.full(len(corpus), -1)
    for text, copies in enumerate(rows_of.values()):
        text_of[copies] = text
    labels = [it if corpus.multilabel else (str(it),) for it in documents.labels or ()]
    texts_of: dict[str, set[int]] = {}
    for names, text in zip(labels, text_of.tolist(), strict=True):
        for label in names if text >= 0 else ():
            texts_of.setdefault(label, set()).add(text)
    usable = {label for label, texts in texts_of.items() if len(texts) >= FOLDS}
    if len(usable) < 2:
        return None
    rows = np.array(
        [row for row, names in enumerate(labels) if text_of[row] >= 0 and usable.issuperset(names)]
    )
    task = TASKS[Multilabel.name if corpus.multilabel else Classification.name]
    known = [labels[row] if corpus.multilabel else labels[row][0] for row in rows]
    judged = Corpus([documents.texts[row] for row in rows], known)
    if len(judged.label_names()) < 2:
        return None
    posed = task.of(judged, find_loss("logistic"), "ovr")
    target = Target(posed, posed.targets(judged))
    work = Work(documents.settings.jobs, progress, partial=False)
    probabilities = _held_out(judged, target, text_of[rows], work)
    return OutOfSample(rows, target.y.astype(np.int64), target.task.labels, probabilities)


def suspected_labels(documents: Documents, found: OutOfSample) -> Finding:
    """The documents whose labels the probabilities contradict."""
    reasons = suspects(found.probabilities, found.y, found.labels)
    rows = {int(found.rows[at]): why for at, why in reasons.items()}
    if found.y.ndim == 1:
        right = found.probabilities.argmax(axis=1) == found.y
    else:
        right = (found.probabilities > 0.5) == (found.y > 0)
    examples = documents.examples(rows, rows.__getitem__)
    places = tuple(documents.corpus.where(row) for row in rows)
    what = (
        "the other documents speak for another label, the most suspicious first (these fits agree "
        f"with {right.mean():.1%} of all labels)"
    )
    details = {"accuracy": float(right.mean()), "places": places}
    return Finding("suspected-labels", len(rows), len(found.rows), examples, what, details)


def _held_out(corpus: Corpus, target: Target, text_of: Int64s, work: Work) -> Floats:
    """(n, k) probabilities by fits of the documents in the other parts."""
    settings = TrainingSettings.from_options(
        reg="ridge", reg_l2=STRENGTH, weighting="unit-idf", tol=TOLERANCE
    )
    rows, characters = target.task.n_rows, sum(map(len, corpus.texts))
    if rows * characters > MOST:
        settings = settings.replace(tokenizer="words")
    data = prepare(corpus, target, settings.for_texts(corpus.texts))
    scores = np.zeros((len(corpus), rows))
    alone = replace(work, progress=None)
    for number, split in enumerate(_splits(target, text_of)):
        if work.progress is not None:
            work.progress("labels", number, FOLDS)
        fold = data.fold(split)
        kept = Scores([fold.X_held], rows)  # a table of all weights may be large
        fitted, _ = fit_rows(settings.reg, fold, None, alone, keep=kept)
        scores[split.held] = kept.scores[0] + fitted.b
    return target.task.probabilities(target.task.as_scores(scores))


def _splits(target: Target, text_of: Int64s) -> list[Split]:
    """Folds of the different texts, each with the documents of its texts."""
    _, first, copy_of = np.unique(text_of, return_index=True, return_inverse=True)
    codes, names = target.task.memberships(target.y)
    splits = []
    for split in folds(codes[first], names, FOLDS, seed=0):
        held = np.isin(copy_of.ravel(), split.held)
        splits.append(Split(np.flatnonzero(~held), np.flatnonzero(held)))
    return splits


# Documents from which on a column may be told to give the label away.
FEW = 20
# Share of labels that such a column tells at least.
SHARE = 0.9
# The most words of an id or a date: texts in their order bring documents of one label together.
WORDS = 2
# Share of the errors of the best guess without the column that may be left with it.
LEFT = 0.2


def giveaway_columns(documents: Documents, columns: Mapping[str, Sequence[Any]]) -> Finding:
    """The columns that tell the label, by their values or by their order.

    columns: by name, a value for each document. A column is judged by what it tells of the label of
    a document from all others: those with the same value, or where values hardly occur twice, the
    one before in the order of values.
    """
    labels = [documents.label(row) for row in range(len(documents))]
    written = [_plain(label) for label in labels]  # in one way, whatever the case
    giveaways: list[tuple[str, str, float]] = []
    examples: list[Example] = []
    for name, values in columns.items() if len(labels) >= FEW else ():
        plain = [_plain(value) for value in values]
        if (giveaway := _told(name, plain, written)) is not None:
            giveaways.append(giveaway)
            value = shortened(str(values[0]))
            examples.append(documents.example(0, f"{name} {value}, label {labels[0]}"))
    listed = first_few([f"'{name}' {how} ({share:.1%})" for name, how, share in giveaways], NAMED)
    what = f"they give the label away: {listed}"
    shown = tuple(examples[: documents.settings.examples])
    details = {"columns": tuple(giveaways)}
    return Finding("giveaway-columns", len(giveaways), len(columns), shown, what, details)


def _told(name: str, values: Sequence[str], labels: Sequence[str]) -> tuple[str, str, float] | None:
    """The column, how it gives the label away, and for which share of documents; else None."""
    n, counts = len(labels), Counter(labels)
    same = sum(value == label for value, label in zip(values, labels, strict=True)) / n
    if same >= SHARE:
        return name, "is the label", same
    guess = counts.most_common(1)[0][1] / n
    if _tells(share := _by_value(values, labels), guess):
        return name, "determines the label", share
    ids = sum(len(value.split()) <= WORDS for value in values)  # not texts, alike where they begin
    if 2 * len(set(values)) > n and 2 * ids > n:
        chance = sum(count * (count - 1) for count in counts.values()) / (n * (n - 1))
        if _tells(share := _by_order(values, labels), chance):
            return name, "is in the order of the labels", share
    return None


def _tells(share: float, without: float) -> bool:
    """Whether a share of right answers is far above that without the column."""
    return share >= SHARE and 1 - share <= LEFT * (1 - without)


def _by_value(values: Sequence[str], labels: Sequence[str]) -> float:
    """Share of documents whose label is the most frequent one of others with the same value."""
    tables: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for value, label in zip(values, labels, strict=True):
        tables[value][label] += 1
    right = 0
    for table in tables.values():
        (_, most), *others = [*table.most_common(2), ("", 0)]
        # Without the document itself, its label must still be ahead of the others.
        right += most if most - 1 > others[0][1] else 0
    return right / len(labels)


def _by_order(values: Sequence[str], labels: Sequence[str]) -> float:
    """Share of documents with the label of the one before in the order of values."""
    keys: list[Any] = [_number(value) for value in values]
    if None in keys:
        keys = list(values)
    order = sorted(range(len(keys)), key=lambda row: (keys[row], row))
    return sum(labels[one] == labels[two] for one, two in pairwise(order)) / max(1, len(order) - 1)


def _plain(value: Any) -> str:
    return "" if value is None else str(value).strip().casefold()


def _number(value: str) -> float | None:
    with suppress(ValueError):
        number = float(value)
        return number if number == number else None
    return None
