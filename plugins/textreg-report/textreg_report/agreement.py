"""How well a model's evidence agrees with the passages that people marked.

The measures are those of the ERASER benchmark (deyoung2020, section 4.1 and the code that the
authors published), here of one document at a time. Evidence is a number for each sentence or token;
marks say which of these are part of a passage that a person gave as a reason.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from textreg.errors import DataError, RecordError, UsageError, shortened
from textreg.explain.contributions import BATCH, explained_batch
from textreg.explain.evidence import Occurrences
from textreg.model.model import Model, as_model
from textreg.records import Bools, Floats, Int64s
from textreg.records.text import plain
from textreg_report.significance import RESAMPLES, resampled


class MarkedDocument(NamedTuple):
    """A text and its marked passages.

    Attributes
    ----------
    text : str
    passages : ndarray of int64, shape (p, 2)
        Where they begin and end, as offsets of characters; they may overlap.
    sentences : ndarray of int64, shape (s, 2), optional
        The same of the sentences, in order and without overlap; None for those of the model's
        tokenizer.
    """

    text: str
    passages: Int64s
    sentences: Int64s | None = None

    @classmethod
    def of(cls, text: str, passages: Any, sentences: Any = None) -> MarkedDocument:
        """The document with lists of pairs; DataError if they are no offsets in the text."""
        row = {"passages": passages, "sentences": sentences}
        named = None if sentences is None else "sentences"
        return cls.of_row(text, row, "passages", named, "document")

    @classmethod
    def of_row(
        cls, text: str, row: Mapping[str, Any], evidence: str, sentences: str | None, where: str
    ) -> MarkedDocument:
        """The document of a row of a file.

        Parameters
        ----------
        text : str
        row : mapping
            The fields by the names of their columns. Passages and sentences are lists of pairs of
            offsets, or texts with such a list as JSON; a missing or empty value stands for none.
        evidence, sentences : str
            The columns of passages and of sentences; the latter is None for those of the tokenizer.
        where : str
            ``file:line`` of the row, for messages.

        Raises
        ------
        DataError
            If a value is no list of pairs, an offset is not within the text, or sentences overlap.
        """
        passages = _spans(row.get(evidence), len(text), f"{where}: '{evidence}'")
        if sentences is None:
            return cls(text, passages)
        place = f"{where}: '{sentences}'"
        spans = _spans(row.get(sentences), len(text), place)
        if (wrong := np.flatnonzero(spans[1:, 0] < spans[:-1, 1])).size:
            first, second = spans[wrong[0] : wrong[0] + 2].tolist()
            raise DataError(
                f"{place} has {second} after {first}: sentences stand in order and do not overlap. "
                "Correct the row, or leave out the column: the tokenizer then finds the sentences."
            )
        return cls(text, passages, spans)


def _spans(value: Any, length: int, place: str) -> Int64s:
    """Pairs of offsets in a text of ``length`` characters."""
    wrong: list[Any] = []
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else []
        except (ValueError, RecursionError):
            wrong = [value]
    pairs = [] if value is None else plain(value)
    if not isinstance(pairs, list):
        wrong = [pairs]
    for pair in wrong or [pair for pair in pairs if not _is_pair(pair)]:
        shown = shortened(pair if isinstance(pair, str) else json.dumps(pair, default=str))
        raise DataError(
            f"{place} has {shown}, not a list of pairs of offsets such as [[0, 12], [40, 55]]: the "
            "first character of each passage, and the one after its last. Correct the row, or name "
            "another column."
        )
    for start, end in pairs:
        if not 0 <= start < end <= length:
            raise DataError(
                f"{place} has [{start}, {end}], but the text has the characters 0 to {length}, and "
                "a passage begins before it ends. Offsets count characters, not bytes, of the text "
                "as it was read, and the end is the first character after the passage: correct the "
                "row."
            )
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and list(map(type, value)) == [int, int]


# Intersection over union from which on a predicted passage counts as found.
IOU_THRESHOLD = 0.5


class Overlap(NamedTuple):
    """Precision and recall of what was predicted, and their harmonic mean."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """0 where precision and recall are."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def auprc(marked: Bools, evidence: Floats) -> float:
    """Area under the curve of precision over recall, by trapezoids, as ERASER computes it.

    Parameters
    ----------
    marked : ndarray of bool, shape (n,)
        Which of the n sentences or tokens are marked; at least one.
    evidence : ndarray of float64, shape (n,)
        More is more evidence. Equal values form one point of the curve.

    Returns
    -------
    float
        1 where the marked ones come first.

    Notes
    -----
    Trapezoids from precision 1 at recall 0 favor ties: equal evidence everywhere gives
    (1 + share of marked ones) / 2. :func:`average_precision` does not.

    References
    ----------
    deyoung2020, section 4.1; ``auc(recall, precision)`` of scikit-learn's curve.
    """
    precision, recall = _curve(marked, evidence)
    return float(np.diff(recall, prepend=0.0) @ (precision + np.append(1.0, precision[:-1])) / 2)


def average_precision(marked: Bools, evidence: Floats) -> float:
    """The same area by steps: the mean of the precision at each marked one.

    Parameters
    ----------
    marked, evidence
        As of :func:`auprc`.

    Returns
    -------
    float
        The share of marked ones for equal evidence everywhere.
    """
    precision, recall = _curve(marked, evidence)
    return float(np.diff(recall, prepend=0.0) @ precision)


def _curve(marked: Bools, evidence: Floats) -> tuple[Floats, Floats]:
    """Precision and recall down to each distinct value, the largest first."""
    order = np.argsort(-evidence, kind="stable")
    last = np.append(np.flatnonzero(np.diff(evidence[order])), len(order) - 1)
    true_positives = np.cumsum(marked[order])[last].astype(np.float64)
    return true_positives / (last + 1), true_positives / true_positives[-1]


def precision_at(marked: Bools, evidence: Floats, k: int) -> float:
    """The share of marked ones among the ``k`` with the most evidence, or all if there are fewer.

    Of those that are equal at the border it is the mean over all orders, so the place in the
    document does not matter.

    Parameters
    ----------
    marked, evidence
        As of :func:`auprc`.
    k : int

    Returns
    -------
    float
        With ``k`` as the number of marked ones this is the R-precision.
    """
    k = min(k, len(marked))
    border = np.partition(evidence, len(evidence) - k)[len(evidence) - k]
    above, equal = evidence > border, evidence == border
    drawn = k - np.count_nonzero(above)
    return float((marked[above].sum() + drawn * marked[equal].mean()) / k)


def r_precision(marked: Bools, evidence: Floats) -> float:
    """:func:`precision_at` as many as are marked."""
    return precision_at(marked, evidence, int(np.count_nonzero(marked)))


def strongest(evidence: Floats, share: float) -> Bools:
    """The ``share`` of tokens with the most evidence, rounded up; of equal ones the first.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    # A share such as 0.07 times 100 is slightly more than 7.
    k = math.ceil(share * len(evidence) - 1e-9)
    chosen = np.zeros(len(evidence), dtype=np.bool_)
    chosen[np.argsort(-evidence, kind="stable")[:k]] = True
    return chosen


def token_overlap(marked: Bools, predicted: Bools) -> Overlap:
    """Precision and recall of predicted tokens; 0 where none is predicted.

    References
    ----------
    deyoung2020, section 4.1: "token-level precision and recall".
    """
    shared = int(np.count_nonzero(marked & predicted))
    return Overlap(shared / max(int(predicted.sum()), 1), shared / max(int(marked.sum()), 1))


def runs(predicted: Bools) -> Int64s:
    """The passages of neighboring tokens that are predicted, as (r, 2) begins and ends."""
    change = np.diff(predicted.astype(np.int8), prepend=0, append=0)
    return np.stack([np.flatnonzero(change > 0), np.flatnonzero(change < 0)], axis=1)


def passage_overlap(marked: Int64s, predicted: Int64s, threshold: float = IOU_THRESHOLD) -> Overlap:
    """Precision and recall of whole passages, by their intersection over union (IOU).

    A predicted passage is right if its tokens and those of some marked one have an IOU of at least
    ``threshold``.

    Parameters
    ----------
    marked, predicted : ndarray of int64, shape (r, 2)
        Distinct passages: the index of the first token, and that after the last.
    threshold : float, default 0.5

    Returns
    -------
    Overlap
        Right passages over predicted ones, and over marked ones. 0 without any.

    References
    ----------
    deyoung2020, section 4.1; ``partial_match_score`` of the authors' code.
    """
    # |A ∩ B| of intervals: the earlier end less the later beginning.
    ends = np.minimum.outer(predicted[:, 1], marked[:, 1])
    common = np.maximum(ends - np.maximum.outer(predicted[:, 0], marked[:, 0]), 0)
    union = np.diff(marked)[None, :, 0] + np.diff(predicted)[:, None, 0] - common
    right = float(np.count_nonzero((common / union).max(axis=1, initial=0.0) >= threshold))
    return Overlap(right / max(len(predicted), 1), right / max(len(marked), 1))


def tokens_in(spans: Int64s, tokens: Int64s) -> Int64s:
    """The tokens that passages of characters touch: distinct (r, 2) indices, begin and end.

    Parameters
    ----------
    spans : ndarray of int64, shape (r, 2)
        Offsets of characters.
    tokens : ndarray of int64, shape (n, 2)
        The same of the tokens, in order and without overlap.

    Returns
    -------
    ndarray of int64, shape (at most r, 2)
        Passages without a token are left out.
    """
    first = np.searchsorted(tokens[:, 1], spans[:, 0], side="right")
    after = np.searchsorted(tokens[:, 0], spans[:, 1], side="left")
    return np.unique(np.stack([first, after], axis=1)[after > first], axis=0)


def touched(passages: Int64s, size: int) -> Bools:
    """Which of ``size`` tokens are in a passage (r, 2) of them."""
    change = np.zeros(size + 1, dtype=np.int64)
    np.add.at(change, passages[:, 0], 1)
    np.add.at(change, passages[:, 1], -1)
    return np.cumsum(change)[:size] > 0


# What the measures are called on a page or a screen.
TITLES = {
    "sentence_auprc": "sentence AUPRC",
    "sentence_average_precision": "sentence average precision",
    "top_1": "top-1 sentence is marked",
    "top_3": "top-3 sentences are marked",
    "r_precision": "R-precision of sentences",
    "token_auprc": "token AUPRC",
    "token_average_precision": "token average precision",
    "token_precision": "token precision",
    "token_recall": "token recall",
    "token_f1": "token F1",
    "iou_f1": "IOU F1",
    "comprehensiveness": "comprehensiveness",
    "sufficiency": "sufficiency",
    "aopc_comprehensiveness": "comprehensiveness, AOPC",
    "aopc_sufficiency": "sufficiency, AOPC",
}

# What each document has; the IOU F1 is that of the mean precision and recall.
AGREEMENT = (*list(TITLES)[:10], "iou_precision", "iou_recall")

# What each document has beside it, if the model has probabilities.
FAITHFULNESS = tuple(TITLES)[11:]


class MeanEstimate(NamedTuple):
    """A mean over documents and its 95 % interval."""

    value: float
    low: float
    high: float


class Difference(NamedTuple):
    """A difference of two means, its 95 % interval, and a two-sided p-value."""

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, eq=False)
class RationaleScores:
    """Rationale scores of documents, in their order.

    Attributes
    ----------
    table : ndarray of float64, shape (documents, columns)
        The columns of :data:`AGREEMENT`, and those of :data:`FAITHFULNESS` of a model with
        probabilities.
    marked_sentences, marked_tokens : float
        Mean share of sentences and of tokens that are marked: what a random order has as average
        precision, in the mean.
    rationale_share : float
        The share of tokens that count as the rationale in token F1, IOU F1, comprehensiveness and
        sufficiency.
    left_out : int, default 0
        Documents without a marked token or sentence, which are not in the table.
    """

    table: Floats
    marked_sentences: float
    marked_tokens: float
    rationale_share: float
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.table)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return (AGREEMENT + FAITHFULNESS)[: self.table.shape[1]]

    def facts(self) -> dict[str, Any]:
        """All but the table, and the number of documents in it."""
        values = {key: value for key, value in vars(self).items() if key != "table"}
        return {"documents": len(self), "left_out": values.pop("left_out"), **values}

    def measures(self, *, seed: int = 0, resamples: int = RESAMPLES) -> dict[str, MeanEstimate]:
        """Every measure with its 95 % percentile interval.

        ``iou_f1`` is the harmonic mean of the mean IOU precision and the mean IOU recall
        (deyoung2020, the authors' code); every other measure is a mean over documents.

        Parameters
        ----------
        seed : int, default 0
        resamples : int, default 10000
            Times that the documents are drawn with replacement (efron1993, chapter 13).
        """
        rows = _means(self.table, seed, resamples)
        return {
            name: MeanEstimate(float(means[0]), *_interval(means[1:]))
            for name, means in _with_f1(rows, self.names).items()
        }

    def differences(
        self, other: RationaleScores, *, seed: int = 0, resamples: int = RESAMPLES
    ) -> dict[str, Difference]:
        """Every measure less that of another model on the same documents: a paired bootstrap.

        The same documents are drawn for both. The p-value is the smallest level at which the
        percentile interval leaves out 0 (efron1993, chapter 13): twice the share of resamples with
        the rarer sign, where those without a difference count half for each. A bootstrap of few
        documents finds too much, so it is no smaller than that of a sign test that n documents
        pass without exception, 2 to the power of 1 - n.

        Raises
        ------
        RecordError
            If the other one has another number of documents, or another share of marked sentences:
            the models split the documents into different sentences.
        """
        if len(self) != len(other) or self.marked_sentences != other.marked_sentences:
            raise RecordError(
                "the two models split these texts into different sentences, "
                f"{self.marked_sentences:.1%} and {other.marked_sentences:.1%} of them marked: "
                "measure both by the same sentences, given as a column (--sentences-col)."
            )
        names = min(self.names, other.names, key=len)
        joined = np.hstack([self.table[:, : len(names)], other.table[:, : len(names)]])
        rows = _means(joined, seed, resamples)
        first, second = (_with_f1(part, names) for part in np.split(rows, 2, axis=1))
        changes = {name: np.split(first[name] - second[name], [1]) for name in first}
        least = 2.0 ** (1 - len(self))
        return {
            name: Difference(float(mean[0]), *_interval(drawn), max(_p_value(drawn), least))
            for name, (mean, drawn) in changes.items()
        }


def _with_f1(means: Floats, names: tuple[str, ...]) -> dict[str, Floats]:
    """Rows of means (r, columns) by name, with the IOU F1 in place of its two parts."""
    measures = dict(zip(names, means.T, strict=True))
    precision, recall = measures.pop("iou_precision"), measures.pop("iou_recall")
    f1 = [Overlap(*pair).f1 for pair in zip(precision.tolist(), recall.tolist(), strict=True)]
    measures["iou_f1"] = np.array(f1)
    return {name: measures[name] for name in TITLES if name in measures}


def _means(table: Floats, seed: int, resamples: int) -> Floats:
    """(1 + resamples, columns) means of the rows, then of rows drawn with replacement."""
    once, random = np.ones(len(table), dtype=np.int64), np.random.default_rng(seed)
    drawn = resampled(once, resamples, random, lambda times: times @ table / len(table))
    return np.vstack([table.mean(axis=0), drawn])


def _interval(drawn: Floats) -> tuple[float, float]:
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    return low, high


def _p_value(change: Floats) -> float:
    """Two-sided p-value of differences of resamples; at least 1 / (resamples + 1)."""
    # 2 (k + 1) / (B + 1), where k of B resamples have the rarer sign.
    ties = np.count_nonzero(change == 0) / 2
    fewer = min(np.count_nonzero(change < 0), np.count_nonzero(change > 0)) + ties
    return float(min(2 * (fewer + 1) / (len(change) + 1), 1.0))


# Shares of the tokens that the area over the perturbation curve is taken at (deyoung2020, 4.2).
BINS = (0.01, 0.05, 0.1, 0.2, 0.5)


class _Judged(NamedTuple):
    """A document with marked tokens and sentences, and its evidence for the label explained."""

    text: str
    side: int
    tokens: Int64s
    passages: Int64s
    marked_tokens: Bools
    of_tokens: Floats
    marked_sentences: Bools
    of_sentences: Floats


def rationale_scores(
    model: Model,
    documents: Sequence[MarkedDocument],
    of: str | None = None,
    *,
    share: float | None = None,
) -> RationaleScores:
    """Compare the evidence for the predicted label with the passages that people marked.

    A token is a run of characters without blanks, and is marked if a marked passage touches it; so
    is a sentence. Evidence is that of docs/maths.md (V2) for sentences and (V3) for tokens. The
    rationale is the ``share`` of tokens with the most evidence (deyoung2020, section 4.1).
    Comprehensiveness is by how much the probability of the label falls without the rationale,
    sufficiency by how much with nothing but it (section 4.2); the areas over the perturbation
    curve are their means for 1, 5, 10, 20 and 50 % of the tokens.

    Parameters
    ----------
    model : Model
    documents : sequence of MarkedDocument
        Those without a marked token, or without a marked sentence, are left out.
    of : str, optional
        The label whose evidence is taken; by default the predicted one of each document.
    share : float, optional
        By default the mean share of marked tokens in these documents.

    Returns
    -------
    RationaleScores

    Raises
    ------
    DataError
        If no document has a marked passage.
    UsageError
        If documents may have several labels, or consist of several fields, or the model has no
        such label, or its tokenizer gives no character offsets.

    References
    ----------
    deyoung2020
    """
    if as_model(model).task.multilabel and of is None:
        raise UsageError(
            "the documents of the model may have several labels: say which one the marked passages "
            "are evidence for, with of (--of LABEL)."
        )
    if model.encoder.fields:
        raise UsageError(
            "the documents of the model have several columns, and marked passages are offsets in "
            "one text: train on one column of texts."
        )
    if share is not None and not 0 < share <= 1:
        raise UsageError(f"share is {share}: give a number above 0, and 1 at most.")
    judged = [
        document
        for start in range(0, len(documents), BATCH)
        for document in _judged(model, documents[start : start + BATCH], of)
    ]
    if not judged:
        raise DataError(
            f"none of the {len(documents):,} documents has a marked passage with a word, in one of "
            "its sentences: name the column that has the passages, and if sentences are given "
            "theirs."
        )
    token_share = float(np.mean([document.marked_tokens.mean() for document in judged]))
    share = token_share if share is None else share
    table = np.array([_agreement(document, share) for document in judged])
    if model.has_probabilities:
        table = np.hstack([table, _faithfulness(model, judged, share)])
    return RationaleScores(
        table,
        marked_sentences=float(np.mean([document.marked_sentences.mean() for document in judged])),
        marked_tokens=token_share,
        rationale_share=share,
        left_out=len(documents) - len(judged),
    )


def _judged(model: Model, documents: Sequence[MarkedDocument], of: str | None) -> Iterator[_Judged]:
    batch = explained_batch(model, [document.text for document in documents], of)
    evidence = batch.evidence(_given_sentences(documents))
    for d, document in enumerate(documents):
        inside = slice(*evidence.token_ptr[d : d + 2].tolist())
        within = slice(*evidence.sentence_ptr[d : d + 2].tolist())
        tokens, spans = evidence.tokens[inside], evidence.sentences[within]
        if not len(tokens):
            continue
        passages = tokens_in(document.passages, tokens)
        marked_sentences = touched(tokens_in(document.passages, spans), len(spans))
        if len(passages) and marked_sentences.any():
            yield _Judged(
                text=document.text,
                side=int(batch.sides[d]),
                tokens=tokens,
                passages=passages,
                marked_tokens=touched(passages, len(tokens)),
                # Evidence that is equal but for rounding shares its rank.
                of_tokens=np.round(evidence.of_tokens[inside], 12),
                marked_sentences=marked_sentences,
                of_sentences=np.round(evidence.of_sentences[within], 12),
            )


def _given_sentences(documents: Sequence[MarkedDocument]) -> Occurrences | None:
    """The sentences that come with the documents; None if they do not."""
    sentences = [document.sentences for document in documents if document.sentences is not None]
    if len(sentences) != len(documents):
        if sentences:
            raise UsageError("some documents have sentences and others none: give all or none.")
        return None
    ptr = np.concatenate([[0], np.cumsum([len(spans) for spans in sentences], dtype=np.int64)])
    return Occurrences((), ptr, np.concatenate(sentences).astype(np.int32))


def _agreement(document: _Judged, share: float) -> tuple[float, ...]:
    """The columns of ``AGREEMENT``."""
    rationale = strongest(document.of_tokens, share)
    tokens = token_overlap(document.marked_tokens, rationale)
    passages = passage_overlap(document.passages, runs(rationale))
    sentences = document.marked_sentences, document.of_sentences
    return (
        auprc(*sentences),
        average_precision(*sentences),
        precision_at(*sentences, 1),
        precision_at(*sentences, 3),
        r_precision(*sentences),
        auprc(document.marked_tokens, document.of_tokens),
        average_precision(document.marked_tokens, document.of_tokens),
        *tokens,
        tokens.f1,
        *passages,
    )


def _faithfulness(model: Model, judged: Sequence[_Judged], share: float) -> Floats:
    """The columns of ``FAITHFULNESS`` (deyoung2020, section 4.2)."""
    sides = np.array([document.side for document in judged])
    whole = _probabilities(model, [document.text for document in judged], sides)
    falls = np.zeros((len(judged), len(BINS) + 1, 2))
    for column, part in enumerate((share, *BINS)):
        chosen = [strongest(document.of_tokens, part) for document in judged]
        without = [_without(document, mask) for document, mask in zip(judged, chosen, strict=True)]
        only = [_without(document, ~mask) for document, mask in zip(judged, chosen, strict=True)]
        falls[:, column, 0] = whole - _probabilities(model, without, sides)
        falls[:, column, 1] = whole - _probabilities(model, only, sides)
    return np.hstack([falls[:, 0], falls[:, 1:].mean(axis=1)])


def _without(document: _Judged, dropped: Bools) -> str:
    """The text without some tokens; the blanks and line ends around them stay."""
    pieces, end = [], 0
    for start, after in document.tokens[dropped].tolist():
        pieces.append(document.text[end:start])
        end = after
    return "".join([*pieces, document.text[end:]])


def _probabilities(model: Model, texts: Sequence[str], sides: Int64s) -> Floats:
    """The probability of each text's own label."""
    table = model.task.as_table(model.decision_function(texts))
    return np.exp(model.log_probabilities(table)[np.arange(len(texts)), sides])
