"""TextClassifier: a scikit-learn classifier of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from textreg.errors import DataError, UsageError
from textreg.estimators.base import TextEstimator, by_name, coded
from textreg.estimators.labelsets import NEVER, LabelSets, label_sets
from textreg.tasks import Classification, check_classes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from textreg.kinds import GraphBuilder, GroupBuilder, Loss, Regularizer, Tokenizer
    from textreg.records import Floats
    from textreg.records.documents import Document


class TextClassifier(ClassifierMixin, TextEstimator):  # type: ignore[misc]
    """Classify texts with a linear model whose regularizer knows the structure of text.

    A part such as ``reg`` is given by its name or as an instance: ``reg="sentence"`` or
    ``reg=Sentence(l1=0.1)``. ``set_params(reg__l1=0.1)`` sets a parameter of a part, so a
    GridSearchCV can search over it. Hyperparameters without a value are chosen in ``fit``, on
    documents that it holds out.

    Parameters
    ----------
    reg : str or Regularizer, default 'sentence'
        Regularizer; 'textreg plugins' lists those installed.
    groups : str or GroupBuilder, optional
        Group builder, for a regularizer that needs groups.
    graph : str or GraphBuilder, optional
        Graph builder, for a regularizer that needs a graph.
    tokenizer : str or Tokenizer or Callable[[str], Any], default 'auto'
        Tokenizer, or several separated by commas; auto is words,chars, and words where the training
        texts have more than 10 million characters.
    ngrams : int, default 2
        Maximum number of words in an n-gram.
    min_df : float, default 1
        Minimum number of documents with a feature; below 1, a fraction.
    max_df : float, default 1
        Maximum number of documents with a feature; up to 1, a fraction.
    max_features : int, optional
        Use only the most frequent features, this many.
    stop_words : str, optional
        File of words to drop before n-grams are formed.
    weighting : {'count', 'binary', 'log', 'unit', 'unit-idf', 'tfidf'}, default 'unit-idf'
        Term weighting.
    strip_html : bool, default False
        Remove HTML from the texts first.
    fields : Sequence[str] or Mapping[str, Any], optional
        Columns that a document consists of, where these are several: a list of the names of texts,
        or for each name 'text', 'number', 'category' or a dict of a text's own settings.
    holdout : float, optional
        Fraction of the training documents to hold out for choosing hyperparameters; 0.1 if not
        given.
    cv : int, optional
        Choose hyperparameters by K-fold cross-validation instead.
    metric : str, optional
        Metric that hyperparameters are chosen by; by default calibrated-log-loss (the log-loss
        after temperature scaling), accuracy for losses without probabilities, with several labels
        micro-macro-f1 (the mean of both), in a regression r2.
    loss : str or Loss, default 'logistic'
        Loss: hinge, logistic, squared, squared-hinge, or one of a plugin; squared for a regression.
    multiclass : {'ovr', 'softmax'}, default 'ovr'
        For three or more labels: fit each one against the rest (ovr), or all together (softmax).
    refit : bool, default True
        Fit the final model on all documents, held-out ones included.
    min_label : int, optional
        Leave out labels with fewer training documents than this, and their documents.
    rare_label : str, optional
        Join labels with fewer training documents than min_label into one label of this name;
        min_label is then 2 if not given, or the number of parts of a cross-validation.
    class_weight : str or Mapping[Any, float], optional
        Factor for the weights of a label's documents, or 'balanced'.
    calibrate : {'temperature', 'isotonic'}, optional
        Calibrate probabilities on held-out documents.
    threshold : Mapping[Any, str], optional
        Rule to choose a label's decision threshold by, on held-out documents: f1, precision:P or
        costs:FP:FN.
    at_least_one : bool, default False
        With several labels a document: predict one at least, if need be the one that comes nearest
        to its threshold.
    unknown : str, optional
        Label to predict for texts that belong to none of the others: where the highest score is
        below a threshold chosen on held-out documents; never fitted itself.
    unknown_rule : str, optional
        Rule to choose that threshold by: coverage:C, risk:R, accuracy or f1; if not given, accuracy
        with held-out documents of that label, else coverage:0.95.
    prune : float, default 0.005
        After the fit leave out the smallest weights of a model with more than 20,000 of them, as
        many as hold no more than this share of the variance of the scores; 0 for none.
    path : bool, default False
        Save the whole regularization path in the model.
    select : {'best', '1se', 'sparsest'}, default 'best'
        Setting to choose: the best, the smallest model within one standard error of the best (1se),
        or the smallest model within a given distance of the best (sparsest).
    within : float, optional
        Distance from the best score that sparsest allows; 0.01 if not given.
    max_nonzero : int, optional
        Largest number of features with a nonzero weight.
    search : {'narrow', 'grid'}, default 'narrow'
        Search strategy: a coarse grid refined around the best settings (narrow), or all settings
        (grid).
    search_space : Mapping[str, Sequence[Any]], optional
        Values to try of any parameter of the parts or features, such as weighting=log,tfidf.
    budget : float or str, optional
        Time limit for a training, the final fit included, such as 90s, 5m or 2h; the best model so
        far is kept.
    backend : {'threads', 'dask'}, default 'threads'
        Where fits and blocks are: in threads, or on the workers of a Dask cluster.
    address : str, optional
        Dask scheduler, such as tcp://10.0.0.5:8786.
    jobs : int, default 1
        Number of threads for fits, features and predictions; -1 for one per core.
    memory : float or str, optional
        Train on documents block by block, in about this much memory, such as 1GB; hyperparameters
        are searched on a part of them.
    scratch : str, optional
        Folder for what does not fit into that memory; by default that of the system for temporary
        files.
    seed : int, default 0
        Seed of random choices, such as held-out documents.
    tol : float, default 0.0001
        Relative duality gap at which a fit stops.
    max_iter : int, default 1000
        Number of iterations after which a fit stops without converging.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    model_ : textreg.model.model.Model
        The trained model. Its labels are those of ``y`` as strings.
    n_iter_ : int
        Number of iterations of the final fit.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> search = GridSearchCV(TextClassifier(reg="lasso"), {"reg__l1": [0.1, 1.0]})
    """

    def __init__(  # noqa: PLR0913  # a public constructor
        self,
        reg: str | Regularizer = "sentence",
        *,
        groups: str | GroupBuilder | None = None,
        graph: str | GraphBuilder | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Any] = "auto",
        ngrams: int = 2,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        stop_words: str | None = None,
        weighting: str = "unit-idf",
        strip_html: bool = False,
        fields: Sequence[str] | Mapping[str, Any] | None = None,
        holdout: float | None = None,
        cv: int | None = None,
        metric: str | None = None,
        loss: str | Loss = "logistic",
        multiclass: str = "ovr",
        refit: bool = True,
        min_label: int | None = None,
        rare_label: str | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        calibrate: str | None = None,
        threshold: Mapping[Any, str] | None = None,
        at_least_one: bool = False,
        unknown: str | None = None,
        unknown_rule: str | None = None,
        prune: float = 0.005,
        path: bool = False,
        select: str = "best",
        within: float | None = None,
        max_nonzero: int | None = None,
        search: str = "narrow",
        search_space: Mapping[str, Sequence[Any]] | None = None,
        budget: float | str | None = None,
        backend: str = "threads",
        address: str | None = None,
        jobs: int = 1,
        memory: float | str | None = None,
        scratch: str | None = None,
        seed: int = 0,
        tol: float = 1e-4,
        max_iter: int = 1000,
    ) -> None:
        self.reg = reg
        self.groups = groups
        self.graph = graph
        self.tokenizer = tokenizer
        self.ngrams = ngrams
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.stop_words = stop_words
        self.weighting = weighting
        self.strip_html = strip_html
        self.fields = fields
        self.holdout = holdout
        self.cv = cv
        self.metric = metric
        self.loss = loss
        self.multiclass = multiclass
        self.refit = refit
        self.min_label = min_label
        self.rare_label = rare_label
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.threshold = threshold
        self.at_least_one = at_least_one
        self.unknown = unknown
        self.unknown_rule = unknown_rule
        self.prune = prune
        self.path = path
        self.select = select
        self.within = within
        self.max_nonzero = max_nonzero
        self.search = search
        self.search_space = search_space
        self.budget = budget
        self.backend = backend
        self.address = address
        self.jobs = jobs
        self.memory = memory
        self.scratch = scratch
        self.seed = seed
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self,
        X: Iterable[Document],
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        unlabeled: Iterable[Document] | None = None,
        group_of: Iterable[Any] | None = None,
        time_of: Iterable[Any] | None = None,
    ) -> Self:
        """Train a model.

        Parameters
        ----------
        X : iterable of str
            The texts; or lists of tokens, or lists of sentences that are lists of tokens. With
            ``fields``, a data frame, or a dict for each document.
        y : array-like of shape (n,), or of shape (n, n_classes), or n lists or sets
            The labels, of any type that scikit-learn accepts. For texts with several labels, or
            none, an indicator matrix, or a list or set of labels for each text.
        sample_weight : array-like of shape (n,), optional
            Weights of the documents, 0 or more.
        unlabeled : iterable of str, optional
            Further texts without labels, for regularizers with a graph.
        group_of : iterable of length n, optional
            The group of each document, such as its author. Groups are held out as a whole.
        time_of : iterable of length n, optional
            When each document was written, as numbers or dates. The latest are held out.

        Returns
        -------
        TextClassifier
            The estimator itself.

        Raises
        ------
        DataError
            If no model can be trained on the data. It is a ValueError.
        UsageError
            For wrong parameters. It is a ValueError.

        Warns
        -----
        ConvergenceWarning
            If the final fit does not reach ``tol``.
        """
        changes = {name: by_name(getattr(self, name)) for name in ("class_weight", "threshold")}
        several = label_sets(y)
        if several is not None:
            return self._fit_sets(X, several, sample_weight, unlabeled, group_of, time_of, changes)
        texts = self._texts(X)
        labels, weights = self._checked(len(texts), y, sample_weight, "texts")
        classes, codes = coded(labels)
        check_classes((classes if weights is None else np.unique(labels[weights > 0])).tolist())
        names = [str(label) for label in classes.tolist()]
        rare, unknown = (
            _as_class(name, getattr(self, name), classes) for name in ("rare_label", "unknown")
        )
        self._train(
            texts, [names[c] for c in codes], weights, unlabeled, group_of, time_of, **changes
        )
        kept = self._keep(classes, rare)
        answers = np.concatenate([kept, unknown])  # of the codes of the model
        self._answers = answers[[*np.argsort(self._order), *range(len(kept), len(answers))]]
        return self

    def _keep(self, classes: NDArray[Any], rare: NDArray[Any]) -> NDArray[Any]:
        """The classes that the model has, which are kept as ``classes_`` with their places."""
        known = self.model_.labels  # not all that y has, if labels of few texts are left out
        names = [str(label) for label in classes.tolist()]
        kept = classes[np.isin(names, known)]
        if self.rare_label in known and self.rare_label not in names:
            kept = np.unique(np.concatenate([kept, rare]))
        self.classes_ = kept
        # The model sorts its labels as strings: "10" comes before "9".
        self._order = np.array([known.index(str(label)) for label in kept.tolist()])
        return kept

    def _fit_sets(  # noqa: PLR0913  # the columns of the texts
        self,
        X: Iterable[Document],
        several: LabelSets,
        sample_weight: ArrayLike | None,
        unlabeled: Iterable[Document] | None,
        group_of: Iterable[Any] | None,
        time_of: Iterable[Any] | None,
        changes: dict[str, Any],
    ) -> Self:
        """Train a model of several labels for each text."""
        if several.indicator and self.rare_label is not None:
            raise UsageError(
                "an indicator matrix has no column for rare_label: give a list of labels for each "
                "text, or leave rare_label out."
            )
        rare = several.classes[:0]
        if self.rare_label is not None:
            rare = _as_class("rare_label", self.rare_label, several.classes)
        # The rows of a table stand for their sets, to be checked as any y is.
        texts = self._texts(X)
        rows, weights = self._checked(
            len(texts), np.arange(len(several.sets)), sample_weight, "texts"
        )
        sets = [several.sets[row] for row in rows.tolist()]
        self._train(texts, sets, weights, unlabeled, group_of, time_of, **changes)
        self._keep(several.classes, rare)
        if several.indicator:
            self.classes_ = several.classes
        self._indicator = several.indicator
        return self

    @property
    def _several(self) -> bool:
        """Whether texts have several labels."""
        return bool(self.model_.task.multilabel)

    def _in_columns(self, table: NDArray[Any], absent: float) -> NDArray[Any]:
        """(n, n_classes) columns of the model's labels as those of ``classes_``."""
        if not self._several or not self._indicator:
            return np.asarray(table[:, self._order])
        columns = np.full((len(table), len(self.classes_)), absent, dtype=table.dtype)
        columns[:, [int(label) for label in self.model_.labels]] = table
        return columns

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The accuracy: the share of texts whose labels are all right, and no other.

        Parameters
        ----------
        X : iterable of str
            The n texts, or lists of tokens if it was trained on these.
        y : array-like of shape (n,), or of shape (n, n_classes), or n lists or sets
            The true labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the documents.

        Returns
        -------
        float

        Raises
        ------
        DataError
            If there are not as many labels as texts.
        """
        check_is_fitted(self)
        if not self._several or self._indicator:
            return float(super().score(X, y, sample_weight))
        true = [{str(label) for label in labels} for labels in y]
        predicted = [{str(label) for label in labels} for labels in self.predict(X)]
        if len(true) != len(predicted):
            raise DataError(f"{len(predicted):,} texts but {len(true):,} labels: give as many.")
        right = [one == other for one, other in zip(true, predicted, strict=True)]
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return float(np.average(np.asarray(right, dtype=np.float64), weights=weights))

    def decision_function(self, X: Iterable[Document]) -> Floats:
        """Scores of texts.

        Parameters
        ----------
        X : iterable of str
            The n texts, or lists of tokens if it was trained on these.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            With two classes one score, which is positive for ``classes_[1]``; otherwise one for
            each class. With several labels for each text one for each class; that of a column of an
            indicator matrix that is 0 for all texts of the training is -1000.
        """
        check_is_fitted(self)
        task = self.model_.task
        assert isinstance(task, Classification)
        scores = self._scores(X)
        if self._several:
            return self._in_columns(task.as_table(scores), NEVER)
        return task.arranged(scores, self._order)

    def predict(self, X: Iterable[Document]) -> NDArray[Any]:
        """Predict the labels of texts.

        Parameters
        ----------
        X : iterable of str
            The n texts, or lists of tokens if it was trained on these.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            Labels, in the type of the ``y`` of ``fit``: an indicator matrix where that was one, and
            an array of tuples of labels where it had lists or sets.
        """
        check_is_fitted(self)
        if self._several:
            decided = self.model_.decide(self._scores(X))
            columns = self._in_columns(decided.astype(np.int64), 0)
            if self._indicator:
                return columns
            answers = np.empty(len(columns), dtype=object)
            answers[:] = [tuple(self.classes_[row == 1].tolist()) for row in columns]
            return answers
        codes = self.model_.decide(self._scores(X)).astype(np.int64)
        return np.asarray(self._answers[codes])

    def predict_proba(self, X: Iterable[Document]) -> Floats:
        """Predict the probabilities of the labels of texts.

        Parameters
        ----------
        X : iterable of str
            The n texts, or lists of tokens if it was trained on these.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities, in the order of ``classes_``. They sum to one, unless texts have several
            labels: then each is that of one label by itself.

        Raises
        ------
        UsageError
            If the loss gives no probabilities.
        """
        check_is_fitted(self)
        return self._in_columns(self.model_.probabilities(self._scores(X)), 0.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _as_class(name: str, label: str | None, classes: NDArray[Any]) -> NDArray[Any]:
    """The label that a parameter names in the type of ``classes``; none if it is None.

    DataError if it cannot have that type.
    """
    if label is None:
        return classes[:0]
    kind = classes.dtype.kind
    if kind in "US":
        return np.array([label])
    try:
        if kind == "b":
            raise ValueError
        return np.array([label]).astype(classes.dtype)
    except ValueError:
        raise DataError(
            f"{name} is '{label}', but the labels in y are of the type {classes.dtype}: give a "
            "label of that type, or convert those in y to strings."
        ) from None
