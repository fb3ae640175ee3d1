"""TextClassifier, TextRegressor and TextVectorizer: scikit-learn estimators of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from textreg._core.threads import allowing
from textreg.errors import DataError, UsageError
from textreg.estimators import base
from textreg.estimators.base import PartsEstimator, TextMatrix, declared, stored
from textreg.features.markup import warn_of_html
from textreg.jobs import threads_of
from textreg.records import Corpus, Documents, Floats, documents
from textreg.records.documents import Document
from textreg.tasks import Regression
from textreg.training.prepare import for_documents, make_features
from textreg.training.settings import TrainingSettings, declared_settings
from textreg.training.train import train

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array
    from typing_extensions import Self, Unpack

    from textreg.features.vectorize import Features
    from textreg.kinds import Regularizer, Tokenizer
    from textreg.training.keywords import ClassifierKeywords, RegressorKeywords


#: Settings that a regression makes no use of.
OF_LABELS = (
    *("multiclass", "min_label", "rare_label", "class_weight", "threshold"),
    *("intercept", "calibrate", "at_least_one", "unknown", "unknown_rule"),
)

#: Settings that are parameters of the estimators of texts.
OF_TEXTS = [it for it in declared_settings() if it not in ("task", "dev", "unlabeled")]


def texts_of(X: Any) -> Documents:
    """``X`` as a list; DataError if it contains anything but texts, or lists of tokens.

    A data frame or an array of one column is taken for that column; it may be of any package.
    """
    texts = documents.as_column(X, "X")
    if documents.is_tokenized(texts):
        return documents.tokenized(texts, lambda row: f"X[{row}]")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(
                f"X[{row}] is {text!r:.40}, which is not a text. Leave it out, or replace "
                "it by an empty text."
            )
    return list(texts)


class OfTexts(PartsEstimator):
    """An estimator whose X are texts, lists of tokens, or tables of the columns ``fields``."""

    fields: Any

    def _texts(self, X: Any) -> Documents:
        """``X`` as a list of documents: of texts or tokens, or of the values of ``fields``."""
        if self.fields is None:
            return texts_of(X)
        return documents.fielded(X, documents.as_fields(self.fields), "row {} of X")

    def _scores(self, X: Any) -> Floats:
        """Those of :meth:`Model.decision_function`, in as many threads as there are jobs."""
        with allowing(threads_of(self.jobs)):
            scores: Floats = self.model_.decision_function(self._texts(X))
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # X is a list of texts: checks with matrices are not for it.
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags


class TextEstimator(OfTexts):
    """A scikit-learn estimator on texts, whose parameters are the settings of a training."""

    tokenizer: Any

    def _train(self, texts: Documents, labels: Sequence[Any], **more: Any) -> None:
        """Train ``model_`` with the estimator's parameters.

        more: further columns of the documents, and changes of parameters, as for
        :func:`textreg.train`.
        """
        settings = {**self.get_params(deep=False), **more}
        if (
            documents.is_tokenized(texts)
            and self.tokenizer == declared_settings()["tokenizer"].default
        ):
            del settings["tokenizer"]  # nobody asked for it
        if settings["unlabeled"] is not None:
            settings["unlabeled"] = self._texts(settings["unlabeled"])
        self.model_ = train(texts, labels, **settings)
        assert self.model_.summary is not None  # it was trained
        self.n_iter_ = self.model_.summary.iterations

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the trained model as a file for ``textreg.load`` and the command line.

        Parameters
        ----------
        path : str or path
            The file, such as ``reviews.textreg``. One that is there already is replaced.

        Raises
        ------
        UsageError
            If the file cannot be written.
        """
        check_is_fitted(self)
        self.model_.save(path)


class TextClassifier(ClassifierMixin, TextEstimator):  # type: ignore[misc]
    """Classify texts with a linear model whose regularizer knows the structure of text.

    A part such as ``reg`` is given by its name or as an instance: ``reg="sentence"`` or
    ``reg=Sentence(l1=0.1)``. ``set_params(reg__l1=0.1)`` sets a parameter of a part, so a
    GridSearchCV can search over it. Hyperparameters without a value are chosen in ``fit``, on
    documents that it holds out.

    Parameters
    ----------
    reg : str or Regularizer, default 'auto'
        Regularizer; 'textreg plugins' lists those installed.
    groups : str or GroupBuilder, optional
        Group builder, for a regularizer that needs groups.
    graph : str or GraphBuilder, optional
        Graph builder, for a regularizer that needs a graph.
    tokenizer : str or Tokenizer or Callable[[str], Any], default 'auto'
        Tokenizer, or several separated by commas; auto is words,chars, but chars where words hardly
        recur, and words above 10 million characters of training text.
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
    weighting : {'auto', 'count', 'binary', 'log', 'unit', 'unit-idf', 'tfidf'}, default 'auto'
        Term weighting; auto is tfidf for few documents, in all or for each of many labels.
    strip_html : bool, default False
        Remove HTML from the texts first.
    fields : Sequence[str or Field] or Mapping[str, Any], optional
        The columns of a document, if there are several: a list of the names of texts, or for each
        name 'text', 'number', 'category' or a dict of a text's own settings.
    vectors : str, optional
        Word vectors, which give similar words similar weights, even words in no training text: a
        file of GloVe, word2vec or fastText, or the name of a table.
    evidence_words : str, optional
        File with one word per line that is a reason for a label or, after a minus, no reason;
        weights of reasons are penalized less.
    holdout : float, optional
        Fraction of the training documents to hold out for choosing hyperparameters; by default 0.1,
        or with up to 1,000 documents each of five parts once.
    cv : int, optional
        Choose hyperparameters by K-fold cross-validation instead.
    metric : str, optional
        Metric for choosing hyperparameters; by default calibrated-log-loss (the log-loss after
        temperature scaling), accuracy for losses without probabilities, micro-macro-f1 (the mean of
        both) for several labels, r2 for a regression.
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
    class_weight : str or Mapping[str, float], optional
        Factor for the weights of a label's documents, or 'balanced'.
    intercept : {'left-out', 'fitted'}, optional
        For losses with probabilities: correct the intercepts for new texts by the scores of
        documents left out of the fit (left-out), or keep those of the fit (fitted); by default
        left-out if documents are held out.
    calibrate : {'temperature', 'isotonic', 'none'}, optional
        Calibrate probabilities on documents left out of the fit; by default temperature if
        documents are held out.
    threshold : Mapping[str, str], optional
        Rule for choosing a label's decision threshold on held-out documents: f1, precision:P or
        costs:FP:FN.
    at_least_one : bool, default False
        With several labels per document: predict at least one, if necessary the one nearest to its
        threshold.
    unknown : str, optional
        Label to predict for texts that belong to no other label, whose highest score is below a
        threshold chosen on held-out documents; it is never fitted.
    unknown_rule : str, optional
        Rule for choosing that threshold: coverage:C, risk:R, accuracy or f1; by default accuracy if
        held-out documents have that label, else coverage:0.95.
    prune : float, default 0.005
        After the fit, remove the smallest weights of a model with more than 20,000 of them, up to
        this share of the variance of the scores; 0 removes none.
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
    backend : str, default 'threads'
        Where fits run and blocks are kept: in threads, or where a plugin puts them, such as the
        workers of a Dask cluster.
    address : str, optional
        Address that the backend asks for, such as that of a Dask scheduler, tcp://10.0.0.5:8786.
    jobs : int, default 1
        Number of threads for fits, features and predictions; -1 for one per core.
    memory : float or str, optional
        Train on documents block by block, in about this much memory, such as 1GB; hyperparameters
        are searched on a part of them.
    scratch : str or os.PathLike[str], optional
        Folder for what does not fit into that memory; by default the system's folder for temporary
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

    @declared(OF_TEXTS)
    def __init__(
        self, reg: str | Regularizer = "auto", **settings: Unpack[ClassifierKeywords]
    ) -> None:
        """Store the parameters, unchecked as scikit-learn wants them."""

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
        several, texts = base.label_sets(y), self._texts(X)
        labels: list[Any]
        if several is None:
            classes, codes, weights = self._checked_classes(len(texts), y, sample_weight, "texts")
            names = [str(label) for label in classes.tolist()]
            labels = [names[code] for code in codes]
        else:
            if several.matrix is not None and self.rare_label is not None:
                raise UsageError(
                    "an indicator matrix has no column for rare_label: give a list of labels for "
                    "each text, or leave rare_label out."
                )
            # The rows of a table stand for their sets, to be checked as any y is.
            every, classes = np.arange(len(several.sets)), several.classes
            rows, weights = self._checked(len(texts), every, sample_weight, "texts")
            labels = [several.sets[row] for row in rows.tolist()]
        # Labels that y may not have, in its type: predictions are of that type, too.
        rare = _as_class("rare_label", self.rare_label, classes)
        unknown = _as_class("unknown", None if several else self.unknown, classes)
        columns = {"unlabeled": unlabeled, "group_of": group_of, "time_of": time_of}
        typed = {"rare_label": rare, "unknown": unknown}  # and named as classes: 9 may be 9.0
        columns |= {name: str(it) for name, label in typed.items() for it in label.tolist()}
        self._train(texts, labels, sample_weight=weights, **columns)
        every = np.concatenate([classes, rare])
        place = {str(label): at for at, label in enumerate(every.tolist())}
        # Not all that y has, if labels of few texts are left out.
        learned = every[[place[name] for name in self.model_.labels]]
        # The model sorts its labels as strings: "10" comes before "9".
        self._order = np.argsort(learned)
        self._indicator = several is not None and several.matrix is not None
        self.classes_ = classes if self._indicator else learned[self._order]
        self._answers = np.concatenate([learned, unknown])  # of the codes of the model
        return self

    @property
    def _several(self) -> bool:
        """Whether texts have several labels."""
        return bool(self.model_.task.multilabel)

    def _in_columns(self, table: NDArray[Any], absent: float) -> NDArray[Any]:
        """(n, n_classes) columns of the model's labels as those of ``classes_``."""
        if not self._indicator:
            return np.asarray(table[:, self._order])
        columns = np.full((len(table), len(self.classes_)), absent, dtype=table.dtype)
        # The labels of an indicator matrix are the numbers of its columns.
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
        true, predicted = (base.named_as(self.classes_, sets) for sets in (y, self.predict(X)))
        if len(true) != len(predicted):
            raise DataError(f"{len(predicted):,} texts but {len(true):,} labels: give as many.")
        # A text is right if its whole set of labels is.
        right = [{*one} == {*other} for one, other in zip(true, predicted, strict=True)]
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
        scores = self._scores(X)
        if self._several:
            return self._in_columns(self.model_.task.as_table(scores), base.NEVER)
        if scores.ndim == 2:
            return scores[:, self._order]
        # The sign says which of both labels a score is for.
        return scores if self._order[0] == 0 else -scores

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
        decided = self.model_.decide(self._scores(X)).astype(np.int64)
        if self._several:
            columns = self._in_columns(decided, 0)
            if self._indicator:
                return columns
            # Filled in place: NumPy would make a table of tuples of one length.
            answers = np.empty(len(columns), dtype=object)
            answers[:] = [tuple(self.classes_[row == 1].tolist()) for row in columns]
            return answers
        return np.asarray(self._answers[decided])

    @available_if(base.gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Iterable[Document]) -> Floats:
        """Predict the probabilities of the labels of texts; only with a loss that gives some.

        Parameters
        ----------
        X : iterable of str
            The n texts, or lists of tokens if it was trained on these.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities, in the order of ``classes_``. They sum to one, unless texts have several
            labels: then each is that of one label by itself.
        """
        check_is_fitted(self)
        return self._in_columns(self.model_.probabilities(self._scores(X)), 0.0)

    @available_if(base.gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Iterable[Document]) -> Floats:
        """Predict the logarithms of the probabilities; exact where these are next to 0.

        Parameters
        ----------
        X : iterable of str
            The n texts, or lists of tokens if it was trained on these.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The natural logarithms of what ``predict_proba`` gives.
        """
        check_is_fitted(self)
        return self._in_columns(self.model_.log_probabilities(self._scores(X)), -np.inf)

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
    except (ValueError, OverflowError):
        raise DataError(
            f"{name} is '{label}', but the labels in y are of the type {classes.dtype}: give a "
            "label of that type, or convert those in y to strings."
        ) from None


class TextRegressor(RegressorMixin, TextEstimator):  # type: ignore[misc]
    """Predict numbers from texts with a linear model, by default fitted by least squares.

    The same as ``textreg train --task regression``. See
    :class:`~textreg.estimators.text.TextClassifier` on parts and hyperparameters.

    Parameters
    ----------
    reg : str or Regularizer, default 'auto'
        Regularizer; 'textreg plugins' lists those installed.
    groups : str or GroupBuilder, optional
        Group builder, for a regularizer that needs groups.
    graph : str or GraphBuilder, optional
        Graph builder, for a regularizer that needs a graph.
    tokenizer : str or Tokenizer or Callable[[str], Any], default 'auto'
        Tokenizer, or several separated by commas; auto is words,chars, but chars where words hardly
        recur, and words above 10 million characters of training text.
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
    weighting : {'auto', 'count', 'binary', 'log', 'unit', 'unit-idf', 'tfidf'}, default 'auto'
        Term weighting; auto is tfidf for few documents, in all or for each of many labels.
    strip_html : bool, default False
        Remove HTML from the texts first.
    fields : Sequence[str or Field] or Mapping[str, Any], optional
        The columns of a document, if there are several: a list of the names of texts, or for each
        name 'text', 'number', 'category' or a dict of a text's own settings.
    vectors : str, optional
        Word vectors, which give similar words similar weights, even words in no training text: a
        file of GloVe, word2vec or fastText, or the name of a table.
    evidence_words : str, optional
        File with one word per line that is a reason for a label or, after a minus, no reason;
        weights of reasons are penalized less.
    holdout : float, optional
        Fraction of the training documents to hold out for choosing hyperparameters; by default 0.1,
        or with up to 1,000 documents each of five parts once.
    cv : int, optional
        Choose hyperparameters by K-fold cross-validation instead.
    metric : {'r2', 'mse'}, default 'r2'
        Metric for choosing hyperparameters; by default calibrated-log-loss (the log-loss after
        temperature scaling), accuracy for losses without probabilities, micro-macro-f1 (the mean of
        both) for several labels, r2 for a regression.
    loss : str or Loss, default 'squared'
        Loss: hinge, logistic, squared, squared-hinge, or one of a plugin; squared for a regression.
    refit : bool, default True
        Fit the final model on all documents, held-out ones included.
    prune : float, default 0.005
        After the fit, remove the smallest weights of a model with more than 20,000 of them, up to
        this share of the variance of the scores; 0 removes none.
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
    backend : str, default 'threads'
        Where fits run and blocks are kept: in threads, or where a plugin puts them, such as the
        workers of a Dask cluster.
    address : str, optional
        Address that the backend asks for, such as that of a Dask scheduler, tcp://10.0.0.5:8786.
    jobs : int, default 1
        Number of threads for fits, features and predictions; -1 for one per core.
    memory : float or str, optional
        Train on documents block by block, in about this much memory, such as 1GB; hyperparameters
        are searched on a part of them.
    scratch : str or os.PathLike[str], optional
        Folder for what does not fit into that memory; by default the system's folder for temporary
        files.
    seed : int, default 0
        Seed of random choices, such as held-out documents.
    tol : float, default 0.0001
        Relative duality gap at which a fit stops.
    max_iter : int, default 1000
        Number of iterations after which a fit stops without converging.

    Attributes
    ----------
    model_ : textreg.model.model.Model
        The trained model.
    n_iter_ : int
        Number of iterations of the final fit.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> search = GridSearchCV(TextRegressor(reg="ridge"), {"reg__l2": [0.1, 1.0]})
    """

    @declared(
        [name for name in OF_TEXTS if name not in OF_LABELS],
        metric="r2",
        loss=Regression.default_loss,
    )
    def __init__(
        self, reg: str | Regularizer = "auto", **settings: Unpack[RegressorKeywords]
    ) -> None:
        """Store the parameters, unchecked as scikit-learn wants them."""

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
        y : array-like of shape (n,)
            The numbers to predict.
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
        TextRegressor
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
        texts = self._texts(X)
        targets, weights = self._checked(len(texts), y, sample_weight, "texts")
        numbers = base.as_numbers(targets, "TextClassifier").tolist()
        columns = {"unlabeled": unlabeled, "group_of": group_of, "time_of": time_of}
        self._train(texts, numbers, sample_weight=weights, **columns, task=Regression.name)
        return self

    def predict(self, X: Iterable[Document]) -> Floats:
        """Predict the numbers of texts.

        Parameters
        ----------
        X : iterable of str
            The n texts, or lists of tokens if it was trained on these.

        Returns
        -------
        ndarray of shape (n,)
            The predicted numbers.
        """
        check_is_fitted(self)
        return np.asarray(self.model_.choose(self._scores(X)), dtype=np.float64)


class TextVectorizer(TransformerMixin, OfTexts):  # type: ignore[misc]
    """Turn texts into rows of features, and tell the estimator beside it of their sentences.

    The features are those of :class:`~textreg.estimators.text.TextClassifier`.
    ``fit_transform`` returns a TextMatrix, a csr_array that also knows the sentences of its rows:

    - ``make_pipeline(TextVectorizer(), LinearClassifier("sentence"))`` takes its groups from there,
      also in a cross-validation, where every part is fitted on the sentences of its own texts;
    - ``X.groups("windows")`` are the groups of any group builder, to be given by hand.

    Any step between that changes rows or columns, such as a feature selection, leaves a matrix that
    knows no sentences; an estimator that needs some then refuses it.

    Parameters
    ----------
    tokenizer : str or Tokenizer or Callable[[str], Any], default 'auto'
        Tokenizer, or several separated by commas; auto is words,chars, but chars where words hardly
        recur, and words above 10 million characters of training text.
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
    weighting : {'auto', 'count', 'binary', 'log', 'unit', 'unit-idf', 'tfidf'}, default 'unit-idf'
        Term weighting; auto is tfidf for few documents, in all or for each of many labels.
    strip_html : bool, default False
        Remove HTML from the texts first.
    fields : Sequence[str or Field] or Mapping[str, Any], optional
        The columns of a document, if there are several: a list of the names of texts, or for each
        name 'text', 'number', 'category' or a dict of a text's own settings.

    Attributes
    ----------
    encoder_ : textreg.features.encoder.Encoder
        What makes rows of new texts.

    Examples
    --------
    >>> from textreg import TextVectorizer
    >>> vectorizer = TextVectorizer(tokenizer="words", ngrams=1, weighting="count")
    >>> X = vectorizer.fit_transform(["It works. It is fine.", "It broke."])
    >>> vectorizer.get_feature_names_out()
    array(['broke', 'fine', 'is', 'it', 'works'], dtype=object)
    >>> X.toarray()[0], X.groups()
    (array([0., 1., 1., 2., 1.]), <Groups: 3 over 5 features, 7 entries>)
    """

    @stored
    def __init__(  # noqa: PLR0913  # a public constructor
        self,
        tokenizer: str | Tokenizer | Callable[[str], Any] = "auto",
        *,
        ngrams: int = 2,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        stop_words: str | None = None,
        weighting: str = "unit-idf",
        strip_html: bool = False,
        fields: Sequence[str] | Mapping[str, Any] | None = None,
    ) -> None:
        """Store the parameters, unchecked as scikit-learn wants them."""

    def fit(self, X: Iterable[Document], y: Any = None) -> Self:
        """Learn the features of texts.

        Parameters
        ----------
        X : iterable of str
            The texts; or lists of tokens, or lists of sentences that are lists of tokens. A data
            frame of one column is taken for that column; with ``fields``, one of these columns.
        y : ignored

        Returns
        -------
        TextVectorizer
            The transformer itself.

        Raises
        ------
        DataError
            If there are no words, or no feature is left. It is a ValueError.
        UsageError
            For wrong parameters. It is a ValueError.
        """
        self._features(X)
        return self

    def fit_transform(self, X: Iterable[Document], y: Any = None) -> TextMatrix:
        """Learn the features of texts, and give their rows, which know their sentences.

        Parameters
        ----------
        X : iterable of str
            As for ``fit``.
        y : ignored

        Returns
        -------
        TextMatrix of float64, shape (n, n_features)
            A csr_array.

        Raises
        ------
        DataError, UsageError
            As ``fit`` does.
        """
        features = self._features(X)
        return TextMatrix.of(features.X, features.tokens.without_texts(), features.encoder.names)

    def transform(self, X: Iterable[Document]) -> csr_array:
        """The rows of texts. A row depends on its own text only.

        Parameters
        ----------
        X : iterable of str
            The texts, or lists of tokens if it was fitted on these.

        Returns
        -------
        csr_array of float64, shape (n, n_features)
        """
        check_is_fitted(self)
        return self.encoder_.transform(self._texts(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the features, in the order of the columns.

        Parameters
        ----------
        input_features : ignored
            As texts have no names.

        Returns
        -------
        ndarray of object, shape (n_features,)
        """
        check_is_fitted(self)
        return np.array(self.encoder_.names, dtype=object)

    def _features(self, X: Iterable[Document]) -> Features:
        """The features, as a training makes them of the same texts."""
        corpus = Corpus(texts=self._texts(X))
        settings = TrainingSettings.from_options(**self.get_params(deep=False))
        if not self.strip_html:
            warn_of_html(corpus)
        features = make_features(corpus, for_documents(settings, corpus))
        self.encoder_ = features.encoder
        return features
