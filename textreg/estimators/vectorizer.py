"""TextVectorizer: a scikit-learn transformer of texts to rows of features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from textreg.estimators.base import OfTexts
from textreg.estimators.textmatrix import TextMatrix
from textreg.features.markup import warn_of_html
from textreg.records import Corpus
from textreg.training.prepare import for_documents, make_features
from textreg.training.settings import TrainingSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array
    from typing_extensions import Self

    from textreg.features.vectorize import Features
    from textreg.kinds import Tokenizer
    from textreg.records.documents import Document


class TextVectorizer(TransformerMixin, OfTexts):  # type: ignore[misc]
    """Turn texts into rows of features, and tell the estimator beside it of their sentences.

    The features are those of :class:`~textreg.estimators.classifier.TextClassifier`.
    ``fit_transform`` returns a TextMatrix, a csr_array that also knows the sentences of its rows:

    - ``make_pipeline(TextVectorizer(), LinearClassifier("sentence"))`` takes its groups from there,
      also in a cross-validation, where every part is fitted on the sentences of its own texts;
    - ``X.groups("windows")`` are the groups of any group builder, to be given by hand.

    Any step between that changes rows or columns, such as a feature selection, leaves a matrix that
    knows no sentences; an estimator that needs some then refuses it.

    Parameters
    ----------
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
        self.tokenizer = tokenizer
        self.ngrams = ngrams
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.stop_words = stop_words
        self.weighting = weighting
        self.strip_html = strip_html
        self.fields = fields

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
        return TextMatrix.of(features.X, features.tokens, features.encoder.names)

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
