"""Marked passages as a prior: what people marked is penalized less, what they saw and left more.

Feature j occurs a_j times in marked passages and b_j times beside them, in documents with marks;
r is the share of what is marked. With a pseudo-count A, its log-odds beyond those of all features
are

    rho_j = log((a_j + A r) / (b_j + A (1 - r))) - log(r / (1 - r))

A column times exp(t rho_j / 2) is a penalty of that feature by exp(-t rho_j) for squares, and by
exp(-t rho_j / 2) for absolute values: the lambda_{d,s} of (yogatama2014) for single features.
Weights of the fit are multiplied back, so that the model is one of the documents as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.features.encoder import AnyEncoder
from textreg.files import numbered_lines
from textreg.records import Corpus, Floats
from textreg.training import trials

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from textreg.records import Bools, Tokens

# Strengths t that are tried, and minus the logarithms of their prior: |log2(t)| with 1/16 in place
# of 0. Evidence gains more than the loss of held-out documents shows.
STRENGTHS = (0.0, 0.5, 1.0, 2.0)
PRIORS = (4.0, 1.0, 0.0, 1.0)

# rho of a word that is listed: its odds to be marked are those of others, times 8.
LISTED = np.log(8.0)

# A, as of five occurrences of every feature: without, rare ones would follow chance.
COUNT = 5.0


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

    strengths: ClassVar[tuple[float, ...]] = STRENGTHS
    costs: ClassVar[tuple[float, ...]] = PRIORS

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
        If all of the documents with marks is marked, or a passage is not in its text.
    """
    evidence = corpus.evidence_of or ()
    rows = [row for row, spans in enumerate(evidence) if len(spans)]
    texts = [corpus.texts[row] for row in rows]
    for row, text in zip(rows, texts, strict=True):
        for start, end in evidence[row]:
            if not 0 <= start < end <= len(text):
                raise DataError(
                    f"{corpus.where(row)}: [{start}, {end}] is no passage of its {len(text):,} "
                    "characters. Correct it, or give the document no passage."
                )
    marked, other = np.zeros(encoder.n_columns), np.zeros(encoder.n_columns)
    first = 0
    for part in encoder.parts:
        tokens = part.features(part.words(texts, spans=True))
        inside = _inside(tokens, [evidence[row] for row in rows])
        some = slice(first, first + part.n_columns)
        for counts, which in ((marked, inside), (other, ~inside)):
            counts[some] = np.bincount(tokens.ids[which], minlength=part.n_columns)
        first = some.stop
    share = marked.sum() / max(marked.sum() + other.sum(), 1.0)
    if not 0.0 < share < 1.0:
        what = "nothing" if share == 0.0 else "all"
        raise DataError(
            f"{what} of the words of the documents with marks is marked, which says nothing: mark "
            "the passages that are a reason of the label, and leave the others."
        )
    odds = (marked + COUNT * share) / (other + COUNT * (1.0 - share))
    return np.asarray(np.log(odds) - np.log(share / (1.0 - share)))


def log_odds_of_words(encoder: AnyEncoder, path: str) -> Floats:
    """(p,) rho of features that a file lists: :data:`LISTED`, minus that, or 0.

    Raises UsageError for a file that cannot be read, DataError if none of its words is a feature.
    """
    rho = np.zeros(encoder.n_columns)
    column = {name: at for at, name in enumerate(encoder.names)}
    known = 0
    for _, line in numbered_lines(path):
        word = line.strip()
        sign, word = (-1.0, word[1:].strip()) if word.startswith("-") else (1.0, word)
        if word in column:
            rho[column[word]] = sign * LISTED
            known += 1
    if not known:
        raise DataError(
            f"{path}: none of its words is in the training texts. Check that there is one on each "
            "line, as the tokenizer writes it, such as in small letters."
        )
    return rho


def _inside(tokens: Tokens, evidence: Any) -> Bools:
    """Which occurrences lie in a marked passage of their document."""
    assert tokens.spans is not None
    inside = np.zeros(len(tokens.ids), dtype=bool)
    ptr = tokens.token_document_ptr
    for start, end, spans in zip(ptr, ptr[1:], evidence, strict=False):
        own = tokens.spans[start:end]
        for first, last in spans:
            inside[start:end] |= (own[:, 0] >= first) & (own[:, 1] <= last)
    return inside


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
    for name in filter(needs.get, needs):
        raise UsageError(
            f"marked passages do not go with {name}: leave it out, or the passages "
            "(--evidence-col, --evidence-words)."
        )
