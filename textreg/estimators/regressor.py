"""TextRegressor: a scikit-learn regressor on texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from textreg.estimators.base import TextEstimator, as_numbers
from textreg.tasks import Regression

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from textreg.kinds import GraphBuilder, GroupBuilder, Loss, Regularizer, Tokenizer
    from textreg.records import Floats
    from textreg.records.documents import Document


class TextRegressor(RegressorMixin, TextEstimator):  # type: ignore[misc]
    """Predict numbers from texts with a linear model, by default fitted by least squares.

    The same as ``textreg train --task regression``. See
    :class:`~textreg.estimators.classifier.TextClassifier` on parts and hyperparameters.

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
    metric : {'r2', 'mse'}, default 'r2'
        Metric that hyperparameters are chosen by; by default calibrated-log-loss (the log-loss
        after temperature scaling), accuracy for losses without probabilities, with several labels
        micro-macro-f1 (the mean of both), in a regression r2.
    loss : str or Loss, default 'squared'
        Loss: hinge, logistic, squared, squared-hinge, or one of a plugin; squared for a regression.
    refit : bool, default True
        Fit the final model on all documents, held-out ones included.
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
    model_ : textreg.model.model.Model
        The trained model.
    n_iter_ : int
        Number of iterations of the final fit.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> search = GridSearchCV(TextRegressor(reg="ridge"), {"reg__l2": [0.1, 1.0]})
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
        metric: str = "r2",
        loss: str | Loss = "squared",
        refit: bool = True,
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
        self.refit = refit
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
        numbers = as_numbers(targets, "TextClassifier")
        labels = [repr(number) for number in numbers.tolist()]
        self._train(
            texts,
            labels,
            weights,
            unlabeled,
            group_of,
            time_of,
            task=Regression.name,
        )
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
