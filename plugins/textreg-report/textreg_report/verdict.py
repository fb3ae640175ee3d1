"""How good a model is, what it confuses, where it is unsure and what would help, in sentences."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from textreg.checking.check import check_corpus
from textreg.checking.documents import KINDS, CheckResult, CheckSettings
from textreg.explain import gives_offsets
from textreg.measure import metrics
from textreg.measure.decisions import Selective, halves
from textreg.measure.evaluation import Evaluation
from textreg.records import Bools, Corpus, Floats, Int64s
from textreg.records.documents import FieldedText, check_texts
from textreg.tasks import Classification, Task
from textreg.tasks.base import Held
from textreg.terminal import counted
from textreg_report import page, significance
from textreg_report.page import Estimate, Section, Suggestion, Versus
from textreg_report.predictions import RESAMPLED, RESAMPLES, Predictions, Refits, answers_of, beside
from textreg_report.significance import ALPHA, p_text

# Characters of a label in a sentence.
LONGEST_LABEL = 40


def quoted(label: str) -> str:
    """A label in quotation marks, not too long."""
    return f"“{page.clip(label, LONGEST_LABEL)}”"


def listed(items: Sequence[str]) -> str:
    """One, two and three."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def too_few(count: int) -> str:
    """3 documents are too few."""
    return f"{counted(count, 'document')} {'is too little' if count == 1 else 'are too few'}"


def share(value: float, digits: int = 0) -> str:
    """A share in percent; with another digit where all of them would be 0 or 100."""
    text = page.fixed(100 * value, digits)
    if 0 < value < 1 and float(text) in (0.0, 100.0) and digits < 3:
        return share(value, digits + 1)
    return f"{text}\N{NO-BREAK SPACE}%"


def share_of(count: int, total: int) -> str:
    """A share of documents with its 95 % interval (Wilson 1927)."""
    ends = " to ".join(page.fixed(100 * end, 0) for end in metrics.wilson(count, total))
    return f"{share(count / total)} of {total:,} ({ends})"


def often(
    counts: Mapping[str, tuple[int, int]], overall: float
) -> list[tuple[str, tuple[int, int]]]:
    """The items whose count (some, of) is measurably above a share of ``overall``, most first.

    By exact binomial tests, adjusted for all of them (Holm 1979).
    """
    # Under the hypothesis, some is Binomial(of, overall).
    p = significance.holm([significance.share_test(*pair, overall) for pair in counts.values()])
    above = [
        (name, (count, of))
        for (name, (count, of)), value in zip(counts.items(), p, strict=True)
        if value <= ALPHA and count > overall * of
    ]
    return sorted(above, key=lambda item: (-item[1][0], item[0]))


def often_wrong(parts: Mapping[str, Bools], wrong: Bools) -> list[tuple[str, tuple[int, int]]]:
    """The parts (n,) of documents that are wrong measurably more often than all."""
    counts = {name: (int(wrong[part].sum()), int(part.sum())) for name, part in parts.items()}
    return often(counts, float(wrong.mean()))


def points(difference: Estimate) -> str:
    """A difference in points of percent with its interval."""
    value, low, high = (page.signed(100 * (it or 0.0), 1) for it in difference[1:])
    return f"{value} points, 95\N{NO-BREAK SPACE}% interval {low} to {high}"


def number(figure: Estimate) -> str:
    """A number with its interval, if there is one."""
    value, *ends = (
        page.fixed(it) if abs(it) < 10 else page.short(it) for it in figure[1:] if it is not None
    )
    return f"{value} ({ends[0]} to {ends[1]})" if ends else value


# An accuracy with a wider interval than this says little.
WIDE = 0.2

# From so many labels on, the mean F1 of the labels is told beside the accuracy.
MANY_LABELS = 3


def quality(
    scores: Section, constant: Versus | None, against: Sequence[Versus] = ()
) -> Iterator[str]:
    """How good a model is, in sentences, the most important first.

    scores: as of the report. constant: as of :func:`versus_constant`. against: other models.
    """
    by_name = {figure.name: figure for figure in scores.figures}
    main, known = scores.figures[0], counted(scores.documents, "document")
    if main.name == "R²":
        error = number(by_name["mean absolute error"])
        yield f"Its numbers are off by {error} on average, over {known}."
    else:
        interval = f"95\N{NO-BREAK SPACE}% interval {share(main.low, 1)} to {share(main.high, 1)}"
        if main.name == "accuracy":
            yield f"Right on {share(main.value, 1)} of {known} ({interval})."
        else:
            exact = by_name["subset accuracy"].value
            yield (
                f"Its labels and the true ones agree by {share(main.value, 1)} (micro-F1; "
                f"{interval}), over {known}; {share(exact)} of these got exactly their labels."
            )
        if main.name != "accuracy" or len(scores.labels) >= MANY_LABELS:
            yield f"With every label counted alike, its F1 is {number(by_name['macro-F1'])}."
        if main.high - main.low > WIDE:
            yield (
                f"{too_few(scores.documents)} for more than a first impression: measure it on "
                "others as well."
            )
    if constant is None:
        yield (
            "All of these documents have the same label, so they say nothing about how well labels "
            "are told apart: measure it on documents of all labels."
        )
    else:
        yield _beside_constant(main, constant)
    yield from map(_beside_other, against)


def _beside_constant(main: Estimate, constant: Versus) -> str:
    """The model and the simplest answer."""
    known = f"{constant.name}, which reaches {share(constant.other, 1)}"
    figures = points(constant.difference)
    if main.name == "R²":
        known, figures = constant.name, f"R² {number(main)}"
        if constant.verdict == "better":  # R² = 1 - mean squared error / variance
            less = share(constant.difference.value / (1 - constant.other))
            known += f": its squared errors are {less} smaller"
    return {
        "better": f"That is better than {known} ({figures}).",
        "worse": f"That is worse than {known} ({figures}): do not use it.",
        "level": f"That is not measurably better than {known} ({figures}): nothing shows yet that "
        "the model is of use.",
    }[constant.verdict]


def _beside_other(other: Versus) -> str:
    """The model and another one."""
    figures = number(other.difference) if other.metric == "R²" else points(other.difference)
    if other.p is not None:
        adjusted = "adjusted p" if other.comparisons > 1 else "p"
        figures += (
            f"; right on {counted(other.won, 'document')} that the other one gets wrong, wrong on "
            f"{other.lost:,} that it gets right, {adjusted} = {p_text(other.p)}"
        )
    if other.p is not None and other.won == other.lost == 0:
        return f"It is right on the same documents as {other.name}."
    phrase = {
        "better": f"Better than {other.name}",
        "worse": f"Worse than {other.name}",
        "level": f"No measurable difference from {other.name}",
    }[other.verdict]
    rest = ": keep the other one" if other.verdict == "worse" else ""
    return f"{phrase} in {other.metric} ({figures}){rest}."


def versus_constant(predictions: Predictions, trained: Mapping[str, float]) -> Versus | None:
    """The model beside one that always gives the most frequent label, or the mean number.

    trained: training documents of every label, or the ``mean`` of the numbers; if it is empty, it
    is taken of the documents of ``predictions``. None where all documents have one label, which
    the comparison would know beforehand.
    """
    task, (y, y_pred) = predictions.model.task, predictions.judged
    if not task.discrete:
        mean = trained.get("mean", float(y.mean()))
        name = f"always answering the mean, {page.short(mean)}"
        return beside(name, task, y, y_pred, np.full(len(y), mean))
    codes = y.astype(np.int64)
    if task.multilabel:
        counts = codes.sum(axis=0)
    else:
        counts = np.bincount(codes, minlength=len(task.labels))
        if np.count_nonzero(counts) < 2:
            return None
    if trained:
        counts = np.array([trained.get(label, 0) for label in task.labels])
    most = int(np.argmax(counts[: len(task.labels)]))
    constant = np.full(len(y), most)
    if task.multilabel:
        constant = np.tile(np.arange(y.shape[1]) == most, (len(y), 1))
    return beside(f"always answering {quoted(task.labels[most])}", task, y, y_pred, constant)


# Labels found least of that a sentence names.
WEAK = 3


def errors_in_words(scores: Section) -> str:
    """Which labels it finds measurably fewer documents of than of all; empty in a regression."""
    classes = [one for one in getattr(scores.result, "classes", ()) if one.support]
    if len(classes) < 2:
        return ""
    missed = {it.label: (it.support - round(it.recall * it.support), it.support) for it in classes}
    overall = sum(count for count, _ in missed.values()) / sum(of for _, of in missed.values())
    weak = often(missed, overall)
    if not weak:
        return "It misses no label measurably more often than the others."
    phrases = [f"{quoted(it)}, found {share_of(of - count, of)}" for it, (count, of) in weak[:WEAK]]
    rest = f"; and {len(weak) - WEAK:,} more labels" if len(weak) > WEAK else ""
    return f"Labels that it misses most: {'; '.join(phrases)}{rest}."


# Share of the documents that are called the least sure.
LEAST_SURE = 0.2

# Fewer documents do not show where a model is unsure.
FEW = 50

# Parts of the documents by their lengths.
PARTS = 3


def unsure(predictions: Predictions, unknown: int, selective: Selective | None) -> Iterator[str]:
    """Where the answers of a model are unsure, in sentences.

    unknown: documents without a feature of the model. selective: coverage against risk, of models
    that do not answer every text.
    """
    task, sure = predictions.model.task, predictions.certainty
    if selective is not None:
        now = selective.now
        yield (
            f"It answers {share(now.coverage)} of the documents, and calls the others "
            f"{quoted(selective.label)}; {share(now.risk, 1)} of its answers are wrong."
        )
        if now.recall is not None:
            held = share_of(round(now.recall * selective.unknown), selective.unknown)
            yield f"Of the documents that belong to no label it holds back {held}."
    if unknown:
        yield (
            f"{counted(unknown, 'document')} {'has' if unknown == 1 else 'have'} no word that "
            "the model knows: it answers by the intercept alone."
        )
    if len(sure) < FEW:
        yield f"{too_few(len(sure))} to tell more."
    if len(sure) < FEW or not task.discrete:
        return
    right = task.right(*predictions.judged)
    yield from least_sure(sure, right)
    if not task.multilabel:
        codes, proba = predictions.y_pred.astype(np.int64), predictions.proba
        yield from of_labels(sure, codes, [*task.labels, *filter(None, [task.unknown])])
        if proba is not None:
            answered = np.flatnonzero(codes < proba.shape[1])
            if len(answered) >= FEW:
                yield of_probabilities(proba[answered, codes[answered]], right[answered])
    if gives_offsets(predictions.model):  # so that documents are texts
        lengths = np.array([len(text) for text in check_texts(predictions.corpus.texts)])
        yield from of_lengths(lengths, right)


def least_places(sure: Floats) -> Bools:
    """(n,) which documents are the least sure, :data:`LEAST_SURE` of them; equal ones together."""
    # The least sure one of the 80 % that are answered; rounding must not add one.
    last = math.ceil((1 - LEAST_SURE) * len(sure) - 1e-9)
    return np.asarray(sure < np.sort(sure)[len(sure) - last])


def least_sure(sure: Floats, right: Bools) -> Iterator[str]:
    """How many answers are right where the model is the least sure, and elsewhere."""
    least = least_places(sure)
    count, others = int(np.count_nonzero(least)), int(np.count_nonzero(~least))
    if not count or not others:
        yield "It is equally unsure of too many documents to tell which ones it gets wrong."
        return
    of_least, of_others = int(right[least].sum()), int(right[~least].sum())
    figures = (
        f"{share_of(of_least, count)} right there, and {share_of(of_others, others)} elsewhere"
    )
    # Two 95 % intervals apart: a stricter test than one of the difference, so few false claims.
    if metrics.wilson(of_least, count)[1] < metrics.wilson(of_others, others)[0]:
        wrong, there = int(np.count_nonzero(~right)), count - of_least
        knows = "knows when it is unsure" if 2 * there >= wrong else "errs more where it is unsure"
        yield (
            f"It {knows}: {share(there / wrong)} of its errors are among the "
            f"{share(count / len(sure))} of the documents that it is least sure of ({figures})."
        )
    else:
        yield (
            "How sure it is does not measurably tell right answers from wrong ones: among the "
            f"{share(count / len(sure))} that it is least sure of, {figures}."
        )


def of_labels(sure: Floats, y_pred: Int64s, names: Sequence[str]) -> Iterator[str]:
    """The answers that are measurably often among the least sure."""
    least = least_places(sure)
    parts = {name: y_pred == code for code, name in enumerate(names)}
    phrases = [f"{quoted(it)} ({n:,} of {of:,})" for it, (n, of) in often_wrong(parts, least)]
    if phrases:
        yield f"It is most often unsure where it answers {listed(phrases[:3])}."


def of_probabilities(own: Floats, right: Bools) -> str:
    """Whether probabilities of answers agree, on average, with the share of right ones."""
    mean, observed = float(own.mean()), int(right.sum())
    low, high = metrics.wilson(observed, len(right))
    # Calibrated on average if the mean probability is in the interval of the share observed.
    bias = "too high" if mean > high else "too low" if mean < low else ""
    return (
        f"Its probabilities are {bias or 'neither measurably too high nor too low'}: "
        f"{share(mean, 1)} on average, where {share(observed / len(right), 1)} are right "
        f"({page.fixed(100 * low, 1)} to {page.fixed(100 * high, 1)})."
    )


def of_lengths(lengths: Int64s, right: Bools) -> Iterator[str]:
    """Whether short or long texts are wrong measurably more often than all."""
    low, high = np.quantile(lengths, [1 / PARTS, 1 - 1 / PARTS]).astype(int).tolist()
    parts = {
        f"short texts, of up to {low:,} characters": lengths <= low,
        f"long texts, of {high:,} characters or more": lengths >= high,
    }
    for name, counts in often_wrong(parts, ~right):
        overall = share(float(np.mean(~right)))
        yield f"It errs more often on {name}: on {share_of(*counts)}, and on {overall} of all."


NOT_CONVERGED = (
    "Its fit stopped before the optimum: the figures below may change with more iterations or a "
    "stronger penalty."
)


def verdict_of(  # noqa: PLR0913  # what it is made from
    predictions: Predictions,
    scores: Section,
    unknown: int,
    confusions: Sequence[Section] = (),
    against: Sequence[Versus] = (),
    suggestions: Sequence[Suggestion] = (),
    evidence: Section | None = None,
) -> Section:
    """What to know of a model, in plain words.

    Parameters
    ----------
    predictions : Predictions
        Its answers.
    scores : Section
        How good they are.
    unknown : int
        Documents without a feature of the model.
    confusions : sequence of Section
        The labels that are confused most often.
    against : sequence of Versus
        Comparisons with other models.
    suggestions : sequence of Suggestion
        What would help.
    evidence : Section or None
        How well its evidence agrees with the passages that people marked.

    Returns
    -------
    Section
        tone: ``better``, ``worse`` or ``level`` beside the simplest answer, or ``unclear``.
        Sentences on its quality, its errors, and where it is unsure; confusions; suggestions, the
        largest gain first.
    """
    model, result = predictions.model, scores.result
    # Training documents of every label, or the mean number, from the model file.
    constant = versus_constant(predictions, {} if model.summary is None else model.summary.labels)
    statements = list(quality(scores, constant, against))
    if evidence is not None:
        statements.append(evidence_in_words(evidence))
    if model.summary is not None and not model.summary.converged:
        statements.append(NOT_CONVERGED)
    selective = result.selective if isinstance(result, Evaluation) else None
    return Section(
        tone="unclear" if constant is None else constant.verdict,
        quality=statements,
        errors=errors_in_words(scores),
        confusions=tuple(confusions),
        unsure=list(unsure(predictions, unknown, selective)),
        suggestions=tuple(sorted(suggestions, key=lambda one: (not one.first, -one.gain))),
    )


def evidence_in_words(evidence: Section) -> str:
    """Whether the sentence with the most evidence is a marked one more often than by chance."""
    top, chance = evidence.means["top_1"], evidence.marked_sentences
    verb, beside = "do not measurably agree with", "and chance would give"
    if top.low > chance:
        verb, beside = "agree with", "where chance would give"
    elif top.high < chance:
        verb, beside = "are not", "less often than chance would give,"
    return (
        f"Its reasons {verb} those of people: its strongest sentence is one that they marked in "
        f"{share(top.value)} of {counted(evidence.documents, 'document')} ({share(top.low)} to "
        f"{share(top.high)}), {beside} {share(chance)}."
    )


# Fewer documents are too few to choose thresholds or a calibration on one half of them.
ENOUGH_TO_HALVE = 100


def suggestions_of(
    predictions: Predictions, refits: Refits | None, baseline: Section | None, suspected: int
) -> Iterator[Suggestion]:
    """What may help, where a figure speaks for it.

    refits: further fits, of the training documents. baseline: the comparison with the elastic net.
    suspected: training documents whose labels are probably wrong.
    """
    n = len(predictions.y_true)
    yield from other_thresholds(predictions)
    yield from calibrated(predictions)
    yield from fuller_fields(predictions)
    if refits is not None:
        yield from more_documents(refits, n)
    if refits is not None and suspected:
        yield Suggestion(
            "Read the training documents whose labels may be wrong.",
            "Fits that have not seen them contradict the labels of "
            f"{counted(suspected, 'document')}, "
            f"{share(suspected / len(refits.corpus), 1)} of all; they are listed below.",
        )
    if baseline is not None:
        yield from simpler(baseline, n)


def other_thresholds(predictions: Predictions) -> Iterator[Suggestion]:
    """Thresholds chosen on one half of the documents, measured on the other."""
    model, task = predictions.model, predictions.model.task
    n = len(predictions.y_true)
    if n < ENOUGH_TO_HALVE or len(task.labels) > RESAMPLED:
        return
    if task.multilabel or not isinstance(task, Classification):  # several have theirs together
        return
    y_true, before = (it.astype(np.int64) for it in (predictions.y_true, predictions.y_pred))
    chosen = task.labels[1:] if len(task.labels) == 2 else task.labels
    unknown = {label: it for label, it in model.thresholds.items() if label == task.unknown}
    after = before.copy()
    # Chosen on one half and measured on the other, in turn: no document judges its own threshold.
    for choosing, rows in halves(n):
        held = Held(predictions.scores[choosing], predictions.y_true[choosing])
        rules = task.choose_thresholds(dict.fromkeys(chosen, "f1"), held)
        thresholds = {**{label: it.value for label, it in rules.items()}, **unknown}
        after[rows] = task.decide(predictions.scores[rows], thresholds)
    answers = significance.Answers(y_true, after, before)
    interval = significance.bootstrap([answers], resamples=RESAMPLES)[1]
    if interval.low <= 0:
        return
    new, old = (metrics.measure_labels(y_true, it, len(task.labels)) for it in (after, before))
    gain = Estimate("gain", new["macro-f1"] - old["macro-f1"], *interval)
    option = f"--threshold '{chosen[0]}=f1'" if len(chosen) == 1 else "--threshold LABEL=f1"
    yield Suggestion(
        f"Set the threshold of {'a label' if len(chosen) == 1 else 'each label'} ({option}).",
        "Thresholds that one half of these documents chooses raise the macro-F1 of the other by "
        f"{number(gain)}; its accuracy is then {share(new['accuracy'], 1)} in place of "
        f"{share(old['accuracy'], 1)}.",
        float(answers.won - answers.lost),
    )


def calibrated(predictions: Predictions) -> Iterator[Suggestion]:
    """A temperature chosen on one half of the documents, measured on the other."""
    model, task = predictions.model, predictions.model.task
    if task.multilabel or not (task.discrete and model.has_probabilities):
        return
    known = np.flatnonzero(task.known(predictions.y_true))
    n = len(known)
    warm = model.calibration is not None and model.calibration.method == "temperature"
    if n < ENOUGH_TO_HALVE or warm:  # the option would change nothing
        return
    scores, y = predictions.scores[known], predictions.y_true[known]
    true_cells = np.arange(n), y.astype(np.int64)
    now, then = task.log_probabilities(scores, model.calibration)[true_cells], np.empty(n)
    # As above: the gain in log-likelihood is of documents that the temperature has not seen.
    for choosing, rows in halves(n):
        calibration = task.calibrate("temperature", Held(scores[choosing], y[choosing]))
        then[rows] = task.log_probabilities(scores, calibration)[true_cells][rows]
    gain = page.mean_of("gain", then - now)
    if gain.low is not None and gain.low > 0:
        yield Suggestion(
            "Calibrate its probabilities (--calibrate temperature).",
            f"A temperature that one half of these documents chooses lowers the log-loss of the "
            f"other by {number(gain)}, from {page.fixed(-float(now.mean()))}. Answers stay the "
            "same.",
        )


def simpler(baseline: Section, n: int) -> Iterator[Suggestion]:
    """The elastic net, where it is measurably better."""
    versus = baseline.versus
    if versus.p is None or versus.verdict != "worse":
        return
    value, low, high = (it and -it for it in versus.difference[1:])
    yield Suggestion(
        "Use the elastic net (--reg elastic).",
        f"On the same documents its {versus.metric} is higher by "
        f"{points(Estimate('gain', value or 0.0, high, low))}, p = {p_text(versus.p)}.",
        n * (versus.lost - versus.won) / baseline.documents,
    )


def fuller_fields(predictions: Predictions) -> Iterator[Suggestion]:
    """Columns that are empty where the model errs measurably more often."""
    task, columns = predictions.model.task, _columns(predictions.corpus)
    if task.discrete and columns:
        empty = {
            name: np.array([value.strip() in {"", "missing"} for value in values])
            for name, values in columns.items()
        }
        yield from emptier(empty, ~task.right(*predictions.judged))


def emptier(empty: Mapping[str, Bools], wrong: Bools) -> Iterator[Suggestion]:
    """The columns whose documents without a value are wrong measurably more often than all.

    empty: by column, (n,) which documents have none. wrong: (n,).
    """
    overall = float(wrong.mean())
    for name, (errors, total) in often_wrong(empty, wrong):
        yield Suggestion(
            f"Fill the column {quoted(name)}.",
            f"Where it is empty, {share_of(errors, total)} are wrong, and {share(overall)} of all.",
            errors - overall * total,
        )


# Documents up to which near copies are looked for, which takes a second for 3,000 reviews.
NEAR = 10_000
LISTED = 3


def corpus_advice(task: Task, measured: Corpus | None, train: Corpus | None) -> list[Suggestion]:
    """What to mend in the documents of a report, as far as :func:`check` finds it.

    Parameters
    ----------
    task : Task
        The task of the model.
    measured : Corpus or None
        The documents that the model is measured on; None where those are the training documents.
    train : Corpus or None
        The training documents.

    Returns
    -------
    list of Suggestion
        Those without which the figures of the report are wrong say so with ``first``.
    """
    corpus = measured if train is None else train
    if corpus is None or corpus.tokenized:
        return []
    against = None if train is None else measured
    names = {"duplicates", "overlap"}
    if task.discrete:
        names |= {"conflicting-labels", "giveaway-columns"}
    if len(corpus) + (0 if against is None else len(against)) <= NEAR:
        names |= {"near-duplicates", "near-overlap"}
    settings = CheckSettings(task=task.name, skip=frozenset(KINDS) - names)
    result = check_corpus(corpus, against, settings, columns=_columns(corpus))
    return list(_advice(result, "measured" if train is None else "training", measured is None))


# What the check calls texts of the first file in the second one.
SEEN = {
    "overlap": "the text of a training document",
    "near-overlap": "nearly the text of a training document",
}


def _advice(result: CheckResult, which: str, out_of_fold: bool) -> Iterator[Suggestion]:
    """A suggestion for each finding. which: documents it is about."""
    for finding in result.findings:
        where = [os.path.basename(case.where) for case in finding.examples[:LISTED] if case.where]
        places = f", such as {listed(where)}" if where else ""
        copied = out_of_fold and finding.name.endswith("duplicates")
        wrong = copied or finding.name in SEEN or finding.name == "giveaway-columns"
        of, unit = "measured" if finding.name in SEEN else which, finding.unit.split()[0]
        yield Suggestion(
            finding.advice,
            f"Of the {of} {unit} {finding.count:,} ({share(finding.share, 1)}): "
            f"{SEEN.get(finding.name, finding.what)}{places}."
            f"{' So the figures of this page are too good.' if wrong else ''}",
            first=wrong,
        )


def _columns(corpus: Corpus) -> dict[str, list[str]]:
    """The fields of the documents, by name; none where a document is one text."""
    columns: dict[str, list[str]] = {}
    for text in corpus.texts:
        if isinstance(text, FieldedText):
            for name, (start, end) in text.spans.items():
                columns.setdefault(name, []).append(text[start:end])
    return columns


# Labels that the suggestion names.
LABELS_GAINING = 3


def more_documents(refits: Refits, n: int) -> Iterator[Suggestion]:
    """Whether twice as many training documents were measurably better than half of them.

    n: the documents measured, by which suggestions are ranked.
    """
    task, y = refits.data.task, refits.y_true
    if not task.discrete:
        return
    answers = answers_of(task, y, refits.own.scores, refits.halved.scores)
    gains = {}
    for code, label in enumerate(task.labels):
        if task.multilabel:
            of_label, first, second = (it[:, code].astype(bool) for it in (y, *answers))
        else:
            of_label, (first, second) = y == code, (it == y for it in answers)
        won, lost = of_label & first & ~second, of_label & ~first & second
        gains[label] = int(won.sum()), int(lost.sum())
    yield from learning_still(gains, beside("half of them", task, y, *answers), n / len(y))


def learning_still(
    gains: Mapping[str, tuple[int, int]], versus: Versus, scale: float
) -> Iterator[Suggestion]:
    """The suggestion, where the gain of the second half is measurable.

    gains: documents of every label that only the whole, or only the half, has right. versus: the
    whole beside the half. scale: measured documents per training document.
    """
    p = versus.p
    if p is None or versus.verdict != "better":
        return
    adjusted = significance.holm([significance.sign_test(*gain) for gain in gains.values()])
    more = {
        label: first - second
        for (label, (first, second)), value in zip(gains.items(), adjusted, strict=True)
        if value <= ALPHA and first > second
    }
    clear = sorted(more, key=lambda label: (-more[label], label))[:LABELS_GAINING]
    words = [f"{quoted(label)} (+{more[label]:,})" for label in clear]
    most = f", most for {listed(words)}" if words else ", for no label measurably more than others"
    above = f"above all of {listed([quoted(label) for label in clear])}"
    yield Suggestion(
        f"Add training documents, {above if 0 < len(more) < len(gains) else 'of all labels'}.",
        f"Fitted to all of them rather than half, the {versus.metric} is higher by "
        f"{points(versus.difference)}, p = {p_text(p)}{most}: so more should help, if less.",
        scale * (versus.won - versus.lost),
    )
