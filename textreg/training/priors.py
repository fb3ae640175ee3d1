"""What weights lean on beside labels: marked passages, and word vectors.

**Marked passages.** What people marked is penalized less, what they saw and left more. Feature j
occurs a_j times in marked passages and b_j times beside them, in documents with marks; r is the
share of what is marked. Where few documents have marks most words of the others are in none. So a
logistic ridge on vectors of words, learned from the company they keep in all training texts, gives
every word its odds to be marked, and the words that hold a feature give a share r_j expected of it.
With a pseudo-count A, the log-odds of a feature beyond those of all are

    rho_j = log((a_j + A r_j) / (b_j + A (1 - r_j))) - log(r / (1 - r))

A column times exp(t rho_j / 2) is a penalty of that feature by exp(-t rho_j) for squares, and by
exp(-t rho_j / 2) for absolute values: the lambda_{d,s} of (yogatama2014) for single features.
Weights of the fit are multiplied back, so that the model is one of the documents as they are.

**Word vectors** are a prior on the weights of words, which they are folded into after the fit.
T has the words of the documents, weighted as features are, and E their vectors. A ridge on the
columns of [X, s T E] is one on X whose weights of words have the prior covariance I + s^2 E E':
that of a network of similar words (sandler2008) in closed form. Its scores are linear in words,

    f(x) = x b + s t E u,        w_j = b_j + s e_j u        for every word j of the table,

so that the model is one of words as any other, also of words that no training text holds.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from textreg.errors import DataError, DataWarning, UsageError
from textreg.features.encoder import AnyEncoder, Encoder, JoinedEncoder
from textreg.files import numbered_lines
from textreg.measure.intercept import sigmoid
from textreg.plugins import calls, registry
from textreg.records import Corpus, Documents, Floats, Int64s, Problem, Tokens
from textreg.records.text import find_names
from textreg.solvers.dual_ascent import ridges
from textreg.text import document_frequencies, word_vectors
from textreg.training import trials

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.kinds import WordVectors

# rho of a word that is listed: its odds to be marked are those of others, times 8.
LISTED = np.log(8.0)

# A, as of so many occurrences of every feature: without, rare ones would follow chance.
COUNT = 30.0

# l2 of the ridge on vectors of words: with 2 to 15 reasons are found as well.
RIDGE = 5.0


def marked_documents(corpus: Corpus) -> int:
    """How many documents have a marked passage."""
    return sum(map(bool, corpus.evidence_of or ()))


@dataclass(frozen=True, eq=False)
class Marks:
    """The log-odds rho (p,) of features to be marked, and how many documents tell them.

    None do where a list of words does.
    """

    rho: Floats
    documents: int

    # Strengths t that are tried, and minus the logarithms of their prior: |log2(t)| with 1/16 in
    # place of 0. Evidence gains more than the loss of held-out documents shows.
    strengths: ClassVar[tuple[float, ...]] = (0.0, 0.5, 1.0, 2.0)
    costs: ClassVar[tuple[float, ...]] = (4.0, 1.0, 0.0, 1.0)

    def applied(self, X: csr_array, strength: float, texts: Any = None) -> csr_array:
        """Columns times exp(t rho / 2)."""
        from scipy.sparse import csr_array

        X = csr_array(X)
        factors = np.exp(strength * self.rho / 2.0)
        return csr_array((X.data * factors[X.indices], X.indices, X.indptr), shape=X.shape)

    def regularizer(
        self, regularizer: Any, plain: trials.Problems, applied: trials.Problems
    ) -> Any:
        """The same share of the scale of every strength, which the factors change."""
        names = [name for name, value in regularizer.params().items() if value]
        problems = plain.hardest(), applied.hardest()
        scales = (trials.scales_of(regularizer, names, problem) for problem in problems)
        return trials.carried_over(regularizer, *scales)

    def fold_in(
        self, encoder: AnyEncoder, w: Floats, strength: float
    ) -> tuple[AnyEncoder, Floats, int]:
        """The weights of the documents as they are; no features are added."""
        return encoder, w * np.exp(strength * self.rho / 2.0), 0


def log_odds_of(encoder: AnyEncoder, corpus: Corpus) -> Floats:
    """(p,) rho of every feature.

    Raises
    ------
    UsageError
        If a tokenizer has no offsets of characters.
    DataError
        If all of the documents with marks is marked.
    """
    evidence = corpus.evidence_of or ()
    rows = [row for row, spans in enumerate(evidence) if len(spans)]
    texts = [corpus.texts[row] for row in rows]
    spans = [evidence[row] for row in rows]
    counts = [_counts(part.located(texts), spans, part.n_columns) for part in encoder.parts]
    marked, unmarked = np.hstack(counts)
    share = marked.sum() / max(marked.sum() + unmarked.sum(), 1.0)
    if not 0.0 < share < 1.0:
        what = "nothing" if share == 0.0 else "all"
        raise DataError(
            f"{what} of the words of the documents with marks is marked, which says nothing: mark "
            "the passages that are a reason of the label, and leave the others."
        )
    overall = np.log(share / (1.0 - share))
    expected = sigmoid(overall + _expected(encoder, corpus.texts, texts, spans))
    odds = (marked + COUNT * expected) / (unmarked + COUNT * (1.0 - expected))
    return np.asarray(np.log(odds) - overall)


def _expected(
    encoder: AnyEncoder, every: Sequence[Any], texts: Sequence[Any], spans: Sequence[Any]
) -> Floats:
    """(p,) The log-odds of features to be marked, beyond those of all, by what similar words have.

    every: the training texts. texts, spans: those with marks, and their passages. The odds of a
    feature are the mean of the words that hold it, which count as often as Zipf's law has them. 0
    where the first part of the encoder has no words, or texts are too few for vectors.
    """
    part = encoder.parts[0]
    place, table = _of_texts(part, every) if part.tokenizer.forms_ngrams else ({}, None)
    if table is None:
        return np.zeros(encoder.n_columns)
    words, tokens = list(place), part.words(texts, spans=True)
    index = find_names(words, tokens.vocabulary)
    seen = np.flatnonzero(index >= 0)
    counts = _counts(tokens, spans, len(tokens.vocabulary))[:, index[seen]]
    y = np.repeat([1.0, -1.0], len(seen))
    problem = Problem(np.tile(table[seen], (2, 1)), y, sample_weight=counts.ravel())
    odds, shares = table @ ridges([problem], RIDGE)[0].w, 1.0 / np.arange(1.0, len(table) + 1.0)
    by_part = []
    for part in encoder.parts:
        held = part.features(part.words(words))
        word = np.repeat(np.arange(len(table)), np.diff(held.token_document_ptr))
        sums, total = (
            np.bincount(held.ids, weights[word], minlength=part.n_columns)
            for weights in (odds * shares, shares)
        )
        by_part.append(np.divide(sums, total, out=sums, where=total > 0.0))
    return np.concatenate(by_part)


def log_odds_of_words(encoder: AnyEncoder, path: str) -> Floats:
    """(p,) rho of features that a file lists: :data:`LISTED`, minus that, or 0.

    Raises UsageError for a file that cannot be read, DataError if none of its words is a feature.
    """
    rho = np.zeros(encoder.n_columns)
    column = {name: at for at, name in enumerate(encoder.names)}
    for _, line in numbered_lines(path):
        word = line.strip()
        sign, word = (-1.0, word[1:].strip()) if word.startswith("-") else (1.0, word)
        if word in column:
            rho[column[word]] = sign * LISTED
    if not rho.any():
        raise DataError(
            f"{path}: none of its words is in the training texts. Check that there is one on each "
            "line, as the tokenizer writes it, such as in small letters."
        )
    return rho


def _counts(tokens: Tokens, evidence: Any, size: int) -> Floats:
    """(2, size) How often each feature occurs in marked passages, and beside them."""
    assert tokens.spans is not None
    inside = np.zeros(len(tokens.ids), dtype=bool)
    ptr = tokens.token_document_ptr
    for start, end, spans in zip(ptr, ptr[1:], evidence, strict=False):
        token_spans = tokens.spans[start:end]
        for first, last in spans:
            inside[start:end] |= (token_spans[:, 0] >= first) & (token_spans[:, 1] <= last)
    counts = [np.bincount(tokens.ids[it], minlength=size) for it in (inside, ~inside)]
    return np.array(counts, dtype=np.float64)


def check_marks(settings: Any) -> None:
    """UsageError for settings that marked passages cannot be beside."""
    reg = settings.reg
    needs = {
        f"the regularizer {reg.label()}": reg.name
        not in ("ridge", "lasso", "elastic", "auto", "group", "sentence"),
        "vectors or unlabeled documents": settings.leans_on_vectors,
        "fields": settings.fields is not None,
        "memory": settings.memory is not None,
        "path": settings.path,
        "no-refit": not settings.refit,
    }
    if name := next((it for it, given in needs.items() if given), ""):
        raise UsageError(
            f"marked passages do not go with {name}: leave it out, or the passages "
            "(--evidence-col, --evidence-words)."
        )


# Words that the model gets beside those of the training texts: the most frequent of the table,
# fewer where labels are many, so that there are no more than so many inferred weights.
MOST, WEIGHTS = 30_000, 600_000

# Of vectors that are learned from text: fewest documents of a word, words of a window, dimensions.
LEAST, WINDOW, DIMENSIONS = 5, 10, 100

# Share of the words of the training texts that a table of their language has at least.
FEW_KNOWN = 0.2

# Inferred weights are rounded to so many steps from zero to the largest of a label.
STEPS = 127


def find_vectors(name: str) -> WordVectors:
    """The table of a name, or of a file; PluginError or UsageError if there is none."""
    if name in registry.names("vectors"):
        table: WordVectors = registry.create("vectors", name)
    else:
        table = registry.create("vectors", "file", path=name)
    return table


@dataclass(frozen=True, eq=False)
class Vectors:
    """Words of a table of vectors, and what they give for documents.

    Attributes
    ----------
    encoder : Encoder
        Makes T of texts. Its vocabulary are words of the training texts and the most frequent ones.
    columns : ndarray of shape (words,)
        Which feature each of them is; -1 for one that is none.
    ranks : ndarray of shape (words,)
        Their places in the table, from the most frequent on.
    table : ndarray of shape (words, d)
        E, with the mean 0 and the mean square length 1 over words as frequent as in text.
    known : float
        Share of the words of the training texts that have a vector.
    block : ndarray of shape (n, d)
        T E of all documents.
    """

    encoder: Encoder
    columns: Int64s
    ranks: Int64s
    table: Floats
    known: float
    block: Floats

    # Scales s that are tried, and minus the logarithms of their prior, |log2(s / (1/2))| with 1/32
    # in place of 0: few documents alone choose 0 too often (on 40 of subj accuracy 81.9 in place
    # of 84.1).
    strengths: ClassVar[tuple[float, ...]] = (0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
    costs: ClassVar[tuple[float, ...]] = (4.0, 3.0, 2.0, 1.0, 0.0, 1.0)

    @classmethod
    def of(  # what there is, and what is wanted
        cls,
        settings: Any,
        encoder: AnyEncoder,
        texts: Sequence[Any],
        documents: Sequence[Any],
        n: int,
    ) -> Vectors:
        """Those that the settings name, or those of training texts and unlabeled ones.

        Parameters
        ----------
        settings : TrainingSettings
            With ``vectors`` or ``unlabeled``.
        encoder : Encoder or JoinedEncoder
            Of the training texts; its first part has their words.
        texts : sequence of str
            The training texts.
        documents : sequence of str
            All documents, of ``dev`` too.
        n : int
            How many documents the idf of the features is of.

        Raises
        ------
        DataError
            If the table is damaged, or has no word of the texts; if the texts have too few words.
        UsageError
            If the tokenizer gives no words.
        """
        part = encoder.parts[0]
        if not part.tokenizer.forms_ngrams:
            raise UsageError(
                f"word vectors need a tokenizer that gives words, which '{part.tokenizer.name}' "
                "does not: name words first (--tokenizer words,chars)."
            )
        tree, numbers = part.tree
        known = dict(zip(tree.words, numbers[0].tolist(), strict=True))
        place, every = (
            _of_table(settings.vectors, part, known)
            if settings.vectors is not None
            else _of_texts(part, [*texts, *settings.unlabeled.texts])
        )
        if every is None:
            raise DataError(
                f"the training texts and the unlabeled ones have fewer than two words in {LEAST} "
                "documents or more, too few to learn vectors of words from: give more unlabeled "
                "texts."
            )
        words = sorted(place)
        columns = np.array([known.get(word, -1) for word in words], dtype=np.int64)
        assert part.idf is not None
        # That of no document, as for the tokenizer's features of some.
        idf = np.where(columns < 0, 1.0 + np.log(1.0 + n), part.idf[columns])
        of_words = part.with_names(words, idf)
        share = sum(word in place for word in known) / max(len(known), 1)
        rows = [place[word] for word in words]
        table = every[rows]
        block = np.asarray(of_words.transform(documents) @ table)
        return cls(of_words, columns, np.array(rows), table, share, block)

    def applied(self, X: csr_array, strength: float, texts: Documents | None = None) -> csr_array:
        """The columns of features with those of the block beside them, of all documents or others.

        strength: the scale s of the block.
        """
        from scipy.sparse import csr_array, hstack

        block = self.block if texts is None else self.encoder.transform(texts) @ self.table
        return hstack([X, csr_array(strength * block)], format="csr")

    def regularizer(
        self, regularizer: Any, plain: trials.Problems, applied: trials.Problems
    ) -> Any:
        """The regularizer with a plain ridge on the block; problems without the block, and with."""
        if not regularizer.params().get("l1"):
            return regularizer
        features = plain.problem.design.shape[1]
        block = applied.problem.design.shape[1] - features
        return regularizer.replace(weights=(1.0,) * features + (0.0,) * block)

    def fold_in(
        self, encoder: AnyEncoder, w: Floats, strength: float
    ) -> tuple[AnyEncoder, Floats, int]:
        """The encoder and the weights (k, p) of all words, and how many no training text holds.

        Parameters
        ----------
        encoder : Encoder or JoinedEncoder
            Of the features.
        w : ndarray of shape (k, p + d)
            The weights of the features and of the block.
        strength : float
            The scale s of the block.
        """
        p, (first, *other_parts) = encoder.n_columns, encoder.parts
        weights = strength * (w[:, p:] @ self.table.T)
        new = np.flatnonzero(self.columns < 0)
        new = np.sort(new[np.argsort(self.ranks[new])[: WEIGHTS // len(w)]])
        inferred = weights[:, new]
        step = np.abs(inferred).max(axis=1, initial=0.0, keepdims=True) / STEPS
        inferred = np.round(inferred / np.where(step > 0.0, step, 1.0)) * step
        in_training = self.columns >= 0
        learned = w[:, :p].copy()
        learned[:, self.columns[in_training]] += weights[:, in_training]
        words, size = self.encoder.vocabulary, len(first.vocabulary)
        names = [*first.vocabulary, *(words[at] for at in new.tolist())]
        assert first.idf is not None
        assert self.encoder.idf is not None
        idf = np.concatenate([first.idf, self.encoder.idf[new]])
        order = sorted(range(len(names)), key=lambda at: names[at].split(" "))
        part = first.with_names([names[at] for at in order], idf[order])
        table = np.hstack([learned[:, :size], inferred])[:, order]
        joined: AnyEncoder = JoinedEncoder([part, *other_parts]) if other_parts else part
        return joined, np.hstack([table, learned[:, size:]]), len(new)


def _of_table(name: str, part: Encoder, known: dict[str, int]) -> tuple[dict[str, int], Floats]:
    """Words as the tokenizer writes them, with their rows in a table of vectors that is named."""
    rows, table = calls.rows_of_vectors(
        find_vectors(name),
        lambda place, word: place < MOST or word in known or word.lower() in known,
    )
    # A row that the tokenizer cuts, or leaves out, is no word to it.
    tokens = calls.encode_lines(part.tokenizer, rows)
    whole = np.flatnonzero(np.diff(tokens.token_document_ptr) == 1)
    ids = tokens.ids[tokens.token_document_ptr[whole]]
    place: dict[str, int] = {}
    for row, id in zip(whole.tolist(), ids.tolist(), strict=True):
        if row < MOST or tokens.vocabulary[id] in known:
            place.setdefault(tokens.vocabulary[id], row)
    share = sum(word in place for word in known) / max(len(known), 1)
    if not share:
        raise DataError(
            f"{name}: it has a vector for none of the words of the training texts. Give one of "
            "their language, with words as the tokenizer writes them."
        )
    if share < FEW_KNOWN:
        warnings.warn(
            f"{name}: {share:.0%} of the words of the training texts are known. Give vectors of "
            "their language, if these are not.",
            DataWarning,
            stacklevel=2,
        )
    return place, _standardized(table)


def _of_texts(part: Encoder, texts: Sequence[Any]) -> tuple[dict[str, int], Floats | None]:
    """The words of texts from the most frequent on, with vectors from the company they keep.

    None where fewer than two words are in LEAST documents or more.
    """
    tokens = part.words(texts)
    frequencies = document_frequencies(tokens)
    frequent = np.flatnonzero(frequencies >= LEAST)
    if len(frequent) < 2:
        return {}, None
    frequent = frequent[np.argsort(-frequencies[frequent], kind="stable")]
    table = word_vectors(tokens, frequent, WINDOW, DIMENSIONS)
    words = (tokens.vocabulary[id] for id in frequent.tolist())
    return {word: row for row, word in enumerate(words)}, _standardized(table)


def _standardized(table: Floats) -> Floats:
    """With the mean 0 and the mean square length 1, rows weighted by Zipf's law: 1 / rank."""
    share = 1.0 / np.arange(1.0, min(MOST, len(table)) + 1.0)
    share /= share.sum()
    table = table - share @ table[: len(share)]
    length = np.sqrt(share @ (table[: len(share)] ** 2).sum(axis=1))
    return table / (length if length > 0.0 else 1.0)


def check_vectors(settings: Any) -> None:
    """UsageError for settings that a block of word vectors cannot be beside."""
    weighting = settings.vectorizer.decided(0, vectors=True).weighting
    room = settings.reg.name in ("ridge", "elastic", "auto")  # for the ridge on a block
    needs = {
        f"the regularizer {settings.reg.label()}": not room,
        "weights of penalties": settings.reg.params().get("weights", "none") != "none",
        f"the weighting {weighting}": weighting != "unit-idf",
        "fields": settings.fields is not None,
        "memory": settings.memory is not None,
        "path": settings.path,
        "max_nonzero": settings.tuning.max_nonzero is not None,
    }
    if settings.vectors is not None and settings.unlabeled is not None:
        raise UsageError(
            "vectors come from a table or from unlabeled documents: give vectors or unlabeled."
        )
    if name := next((it for it, given in needs.items() if given), ""):
        raise UsageError(
            f"{'unlabeled documents' if settings.vectors is None else 'vectors'} do not go with "
            f"{name}: leave one out. They are for ridge, elastic and auto, and weighting unit-idf."
        )
