"""The model: everything that prediction needs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg._core import threads
from textreg._core.blocks import block_dots
from textreg.errors import UsageError, first_few
from textreg.files import needed
from textreg.measure.decisions import Calibration
from textreg.records.arrays import as_array, as_whole, dense_rows, used_columns
from textreg.records.documents import check_texts
from textreg.tasks import Task
from textreg.terminal import Displayed, Table, visible

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.explain import Explanation
    from textreg.features.encoder import AnyEncoder
    from textreg.model.regularization_path import SolutionPath
    from textreg.model.summary import TrainingSummary
    from textreg.records import Bools, Documents, Floats, Int64s
    from textreg.tasks.base import Targets


#: The largest weight, intercept or threshold: no sum of them over a text overflows.
LARGEST = 1e100

#: Bytes of weights that any model may have as a table.
SMALL_WEIGHTS = 256_000_000

#: A larger table is sparse if it takes more bytes than this for every weight that is not zero:
#: with twelve for each, that is a quarter of the memory, and texts are scored as fast.
SPARSE = 48

#: Of more bytes than this for every such weight no table is made, as it might not fit into memory.
SPREAD = 1_000

#: Characters of texts that are scored at once.
BLOCK = 1 << 19


class Model(Displayed):
    """A linear model of texts, over the features that have a weight.

    Parameters
    ----------
    task : Task
        What is predicted, with its labels and its loss: see :mod:`textreg.tasks`.
    encoder : Encoder or JoinedEncoder
        Turns texts into features.
    weights : ndarray or csr_array of shape (k, p)
        Weights of the encoder's p features; k is 1 for two labels or a regression, otherwise the
        number of labels. Features without any weight are dropped.
    intercepts : ndarray of shape (k,)
        Intercepts.
    summary : TrainingSummary, optional
        How the model was trained.
    calibration : Calibration, optional
        Changes scores before they become probabilities; predictions do not depend on it.
    thresholds : dict of str to float, optional
        By label, what is subtracted from its score before the highest score is predicted. With two
        labels, for one of them: the score above which it is predicted.
    path : SolutionPath, optional
        The regularization path of the fit.

    Attributes
    ----------
    seconds : dict of str to float
        Seconds of each stage of the training that made the model: "read", "features", "search",
        "fit", "path". A model file does not keep them, so that equal models have equal files.

    Raises
    ------
    UsageError
        If shapes, labels or thresholds do not fit together, or a number is not finite.

    Examples
    --------
    >>> import textreg
    >>> texts, labels = ["so good", "so bad"] * 10, ["pos", "neg"] * 10
    >>> model = textreg.train(texts, labels, tokenizer="words", reg="ridge", reg_l2=0.1)
    >>> model.predict(["good", "bad"]), model.labels
    (['pos', 'neg'], ('neg', 'pos'))
    >>> explanation = model.explain("so good")
    >>> explanation.label
    'pos'
    """

    def __init__(  # noqa: PLR0913  # a public constructor
        self,
        task: Task,
        encoder: AnyEncoder,
        weights: Floats | csr_array,
        intercepts: Floats,
        summary: TrainingSummary | None = None,
        *,
        calibration: Calibration | None = None,
        thresholds: Mapping[str, float] | None = None,
        path: SolutionPath | None = None,
    ) -> None:
        if not hasattr(weights, "indptr"):
            weights = np.asarray(weights, dtype=np.float64)
        intercepts = np.ascontiguousarray(intercepts, dtype=np.float64)
        task.check_weights(weights, intercepts, encoder.n_columns)
        thresholds = dict(thresholds or {})
        task.check_thresholds(thresholds)
        numbers = chain(dense_rows(weights), [intercepts, np.array([*thresholds.values()])])
        # Row by row, because a table of as many flags as weights may be large.
        if not all((np.abs(row) <= LARGEST).all() for row in numbers):
            raise UsageError(
                "the weights, intercepts and thresholds of a model must be finite numbers up to "
                f"{LARGEST:g}, so that scores are."
            )
        if calibration is not None and len(calibration.curves) not in (0, task.n_rows):
            raise UsageError(
                f"its calibration has {len(calibration.curves)} curves, not {task.n_rows}."
            )
        used = used_columns(weights)
        if len(used) < weights.shape[1]:
            encoder = encoder.restrict(used)
        self.task = task
        self.calibration = calibration
        self.thresholds = thresholds
        self.encoder = encoder
        self.n_features = len(used)
        self.by_feature = _by_feature(weights, used)
        self.intercepts = intercepts
        self.path = path
        self.summary = summary
        self.seconds: dict[str, float] = {}

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels in sorted order; none for a regression."""
        return self.task.labels

    @property
    def columns(self) -> dict[str, str]:
        """How the training's files were read, by the names of its options.

        The names of the columns of texts and labels, ``text_col`` and ``label_col``, and
        ``label_sep``; only those that were there.
        """
        source = None if self.summary is None else self.summary.source
        reading = {} if source is None else source.reading
        options = {name: reading.get(name) for name in ("text_col", "label_col", "label_sep")}
        return {name: value for name, value in options.items() if isinstance(value, str)}

    @cached_property
    def inferred(self) -> Bools:
        """(features,) which ones no training text holds: word vectors alone gave them a weight."""
        inferred = np.zeros(self.n_features, dtype=bool)
        vectors = None if self.summary is None else self.summary.vectors
        idf = self.encoder.parts[0].idf
        if vectors is not None and vectors.inferred and idf is not None:
            inferred[: len(idf)] = np.isclose(idf, vectors.unseen_idf)
        return inferred

    @property
    def loss(self) -> str:
        """Name of the loss that was minimized."""
        return self.task.loss

    @property
    def has_probabilities(self) -> bool:
        """Whether scores stand for probabilities."""
        return self.task.probabilistic

    @property
    def weights(self) -> Floats:
        """(k, features) the weights; UsageError where that table has no room.

        Where labels and features are many, it is made anew whenever it is asked for.
        """
        if isinstance(self.by_feature, np.ndarray):
            return np.asarray(self.by_feature.T)
        shape = len(self.intercepts), self.n_features
        if table_bytes(shape) > SPREAD * self.by_feature.nnz:
            raise UsageError(
                f"{shape[0]:,} x {shape[1]:,} weights would take {table_bytes(shape):,} bytes, out "
                "of proportion to those that are not zero: the model predicts, but to show or "
                "explain it train on fewer features (--max-features) or labels (--min-label)."
            )
        return np.asarray(self.by_feature.toarray().T)

    def decision_function(self, texts: Documents) -> Floats:
        """Scores of texts.

        Parameters
        ----------
        texts : sequence of str
            One or more texts; or lists of tokens, as :func:`textreg.train` takes them, if the model
            was trained on these. If documents have several fields, a dict for each, or a data
            frame.

        Returns
        -------
        ndarray
            (n,) for two labels, positive for ``labels[1]``, and for a regression; otherwise, and
            where a document may have several labels, (n, labels). A text without any known feature
            gets the intercept.

        Raises
        ------
        UsageError
            For a single text instead of a list.
        DataError
            For texts where the model takes tokens, and the other way round.

        Notes
        -----
        A score is a sum over the features of its text in their order, so it is the same to the last
        bit whichever other texts are scored with it.
        """
        documents = self.encoder.documents(texts)
        # Tokenizers of others get all texts at once, and need not bear to be called by threads.
        if any(part.known is None for part in self.encoder.parts):
            return self.task.as_scores(self._scores(documents))
        return self.task.as_scores(self._scores_in_pieces(check_texts(documents)))

    def _scores(self, documents: Documents) -> Floats:
        """(n, k) what every weight vector gives."""
        rows = self.encoder.rows(documents)
        if isinstance(self.by_feature, np.ndarray):
            scores = np.empty((len(rows.indptr) - 1, len(self.intercepts)))
            block_dots(*rows, self.by_feature, scores)
        else:
            scores = (rows.matrix(self.n_features) @ self.by_feature).toarray()
        scores += self.intercepts
        return scores

    def _scores_in_pieces(self, texts: Sequence[str]) -> Floats:
        """The same, a piece of the texts at a time, whose rows fit into a cache."""
        sizes = list(map(len, texts))  # once, as texts may lie in a file
        size = sum(sizes)
        # To score a character takes several times as long as what else is cut into pieces.
        pieces = max(size // BLOCK, threads.pieces_of(8 * size))
        if pieces == 1:
            return self._scores(texts)
        cuts = threads.cuts_of(np.cumsum([0, *sizes], dtype=np.int64), pieces).tolist()
        scores = np.empty((len(texts), len(self.intercepts)))

        def score(_: int, piece: int) -> None:
            rows = slice(*cuts[piece : piece + 2])
            scores[rows] = self._scores(texts[rows])

        threads.share(score, len(cuts) - 1)
        return scores

    def predict(self, texts: Documents) -> list[Any]:
        """Predicted labels, lists of labels, or numbers for a regression.

        The label is that of the highest score less its threshold, the first one in a tie. Where a
        document may have several, they are those whose scores are above their thresholds.

        Parameters
        ----------
        texts : iterable of str
            The n documents: texts, or lists of tokens if the model was trained on these.

        Returns
        -------
        list of length n
            A label each, a list of labels where a document may have several, or a number.
        """
        return self.choose(self.decision_function(texts))

    def predict_proba(self, texts: Documents) -> Floats:
        """Probabilities of the labels: see :meth:`probabilities`.

        Parameters
        ----------
        texts : iterable of str
            As for :meth:`predict`.

        Returns
        -------
        ndarray of shape (n, labels)
            In the order of :attr:`labels`.

        Raises
        ------
        UsageError
            If the loss does not give probabilities.
        """
        return self.probabilities(self.decision_function(texts))

    def choose(self, scores: Floats) -> list[Any]:
        """What scores of :meth:`decision_function` predict: see :meth:`predict`.

        Parameters
        ----------
        scores : array-like
            From :meth:`decision_function`.

        Returns
        -------
        list of length n
        """
        return self.task.answers(self.decide(scores))

    def decide(self, scores: Floats) -> Targets:
        """The same as :meth:`choose`, as targets of the task.

        Parameters
        ----------
        scores : array-like
            From :meth:`decision_function`.

        Returns
        -------
        ndarray
            Indices into :attr:`labels` (n,), an indicator matrix (n, labels) where a document may
            have several labels, or numbers (n,).
        """
        return self.task.decide(self._table(scores), self.thresholds)

    def probabilities(self, scores: Floats) -> Floats:
        """Probabilities (n, labels) of scores of :meth:`decision_function`.

        With two labels they are 1 / (1 + exp(-score)). With more, one-vs-rest models divide these
        by their sum over the labels, as scikit-learn does; softmax models take the softmax of the
        scores. Each row sums to one, but where a document may have several labels: there each has a
        probability of its own. A calibration is applied first.

        Parameters
        ----------
        scores : array-like
            From :meth:`decision_function`.

        Returns
        -------
        ndarray of shape (n, labels)

        Raises
        ------
        UsageError
            If the loss does not give probabilities.
        """
        return self.task.probabilities(self._table(scores), self.calibration)

    def log_probabilities(self, scores: Floats) -> Floats:
        """Natural logarithms of :meth:`probabilities`, accurate even if those are close to 0.

        Parameters
        ----------
        scores : array-like
            From :meth:`decision_function`.

        Returns
        -------
        ndarray of shape (n, labels)
        """
        return self.task.log_probabilities(self._table(scores), self.calibration)

    def _table(self, scores: Any) -> Floats:
        """Scores, in lists as well, as a table (n, k); RecordError for any other shape."""
        table = self.task.as_table(np.asarray(scores))
        return as_array("scores", table, np.float64, (None, len(self.intercepts)))

    def top_features(self, n: int = 10) -> dict[str, list[tuple[str, float]]]:
        """The features with the largest weights for each label, the largest first.

        A weight is what one unit of the feature adds to the score of the label; with two labels,
        to the score for it and against the other. Only positive weights are listed. For a
        regression the labels are "lower" and "higher".

        Parameters
        ----------
        n : int, default 10
            Most features for each label.

        Returns
        -------
        dict of str to list of (str, float)
            Name and weight of features, by label.

        Raises
        ------
        RecordError
            If ``n`` is not a whole number, 0 or more.
        """
        top, most = {}, as_whole("n", n)
        for label, row in zip(self.task.sides, self.task.side_rows(self.weights), strict=True):
            order = np.argsort(-row, kind="stable")[:most]
            top[label] = [(self.encoder.names[j], float(row[j])) for j in order if row[j] > 0]
        return top

    def explain(self, text: str, of: str | None = None) -> Explanation:
        """The exact contributions to the score of one text: see :func:`textreg.explain.explain`.

        Parameters
        ----------
        text : str
            The document.
        of : str, optional
            The label whose score is explained; the predicted one by default.

        Returns
        -------
        Explanation
        """
        from textreg.explain import explain

        return next(explain(self, [text], of))

    def plot_path(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw the regularization path, by ``textreg_report.plot_path``.

        Parameters
        ----------
        path : str or path-like, optional
            File to write, ``.svg`` or ``.png``.

        Returns
        -------
        Picture
            It shows itself in a notebook.

        Raises
        ------
        UsageError
            If the model has no path (``train(path=True)``), or ``textreg[report]`` is not
            installed.
        """
        if self.path is None:
            raise UsageError("the model has no regularization path: train it with path=True.")
        return needed("textreg_report", "plot_path", "report").plot_path(self.path, path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: see :func:`textreg.model.storage.save_model`.

        Parameters
        ----------
        path : path-like
            The file to write; it is replaced as a whole if it exists.
        """
        from textreg.model.storage import save_model

        save_model(self, path)

    def headline(self) -> str:
        """The labels, and the number of features."""
        labels = first_few([repr(label) for label in self.labels], 4)
        what = f"labels {labels}" if self.labels else self.task.name
        return f"{what}; {self.n_features:,} features"

    def tables(self) -> list[Table]:
        """How it was trained, and the features that support each label most."""
        tables = [] if self.summary is None else [*self.summary.tables()]
        if table_bytes((len(self.intercepts), self.n_features)) <= SMALL_WEIGHTS:
            rows = [
                (label, ", ".join(f"{visible(name)} {weight:.2f}" for name, weight in top))
                for label, top in self.top_features(8).items()
            ]
            tables.append(("features that support each label most", [("label", "weights"), *rows]))
        return tables


def as_model(given: Model) -> Model:
    """The model itself; UsageError for what is none."""
    if not isinstance(given, Model):
        raise UsageError(
            f"model must be a Model, as textreg.load(path) returns it, not {type(given).__name__}."
        )
    return given


def table_bytes(shape: tuple[int, int]) -> int:
    """What a table of weights takes as a whole."""
    return 8 * shape[0] * shape[1]


def _by_feature(weights: Floats | csr_array, used: Int64s) -> Floats | csr_array:
    """Some columns of a table of weights (k, p) by their features, (used, k).

    So a text is scored for all labels in one pass. Large ones of few weights are sparse. Others are
    copied row by row, as the table may be the largest there is.
    """
    shape = weights.shape[0], len(used)
    if table_bytes(shape) > SMALL_WEIGHTS:
        from scipy.sparse import csr_array

        count = sum(map(np.count_nonzero, dense_rows(weights)))
        if table_bytes(shape) > SPARSE * count:
            return csr_array(csr_array(weights)[:, used].T)
    if isinstance(weights, np.ndarray) and shape == weights.shape:
        return np.asfortranarray(weights).T
    chosen = np.empty(shape, order="F")
    for row, out in zip(dense_rows(weights), chosen, strict=True):
        out[:] = row[used]
    return chosen.T
