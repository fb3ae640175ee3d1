"""Documents of several fields: how a user names them, and how they become features side by side."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from textreg.errors import DataError, UsageError, alternatives
from textreg.features.encoder import AnyEncoder, Encoder, JoinedEncoder, field_texts, prefix_of
from textreg.features.vectorize import FEW, Features, MatrixRows, Vectorizer
from textreg.kinds import Tokenizer
from textreg.plugins import calls, registry
from textreg.records import Documents, Tokens
from textreg.records.documents import MISSING, Field
from textreg.structure.joining import joined, parts_of
from textreg.terminal import logger
from textreg.text import CsrArrays, document_frequencies, renumber

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from textreg.params import Parametrized


# How single values become features.
VALUES = Vectorizer(ngrams=1, weighting="binary")


class NumberEncoder(Encoder):
    """Turns the numbers of a field into one column, and missing ones into another.

    A column of numbers x is (x - mean) / scale, 1e50 at most, 0 for one that is missing; that of
    the missing ones is 1 for them, and is there if training had some.

    Parameters
    ----------
    field : str
    mean, scale : float
        Mean and standard deviation of the numbers of the training documents; a scale of 1 where all
        are equal.
    vocabulary : sequence of str
        The columns: an empty name for the numbers, ``missing`` for those that are missing.
    """

    def __init__(self, field: str, mean: float, scale: float, vocabulary: Sequence[str]) -> None:
        super().__init__(
            registry.create("tokenizer", "textreg:value"),
            VALUES,
            vocabulary,
            field=Field(field, "number"),
        )
        self.mean = mean
        self.scale = scale

    @classmethod
    def of(cls, field: str, texts: Documents) -> NumberEncoder:
        """The encoder of training documents."""
        values = field_texts(texts, field)
        numbers = np.array([float(value) for value in values if value != MISSING])
        mean, scale = 0.0, 1.0
        if len(numbers):
            # Divided first, so that sums and squares of the largest numbers do not overflow.
            largest = float(np.abs(numbers).max()) or 1.0
            parts = numbers / largest
            mean = float(parts.mean()) * largest
            scale = float(parts.std()) * largest or 1.0
        names = ["", MISSING] if len(numbers) < len(values) else [""]
        return cls(field, mean, scale, names)

    def restrict(self, columns: NDArray[np.int64]) -> NumberEncoder:
        """The encoder of some columns only."""
        names = [self.vocabulary[column] for column in np.asarray(columns).tolist()]
        assert self.field is not None
        return NumberEncoder(self.field.name, self.mean, self.scale, names)

    def features(self, words: Tokens) -> Tokens:
        """Every number, and every one that is missing."""
        number = {name: at for at, name in enumerate(self.vocabulary)}
        new = [number.get(name if name == MISSING else "", -1) for name in words.vocabulary]
        return renumber(words, np.array(new, dtype=np.int32), self.vocabulary)

    def weigh(self, rows: CsrArrays, words: Tokens) -> None:
        """The numbers, in place of the counts."""
        if "" not in self.vocabulary:
            return
        numbers = [np.nan if name == MISSING else float(name) for name in words.vocabulary]
        reach = 1e50 * self.scale  # of farther ones squares of scores would overflow
        values = np.clip(np.array(numbers) - self.mean, -reach, reach)[words.ids] / self.scale
        rows.data[rows.indices == self.vocabulary.index("")] = values[~np.isnan(values)]


@dataclass(frozen=True)
class FieldFeatures:
    """How one field becomes features.

    tokenizer, vectorizer: of a text; a category has the tokenizer ``value``, and neither counts for
    a number.
    """

    field: Field
    tokenizer: Tokenizer | AutoTokenizer
    vectorizer: Vectorizer = VALUES


def fit_fields(plans: Sequence[FieldFeatures], documents: Documents) -> Features:
    """The features of training documents.

    The columns are those of the first tokenizer of every text, then those of further tokenizers,
    categories and numbers. The tokens are of the former: in every document the sentences of its
    texts, one text after the other.

    Raises
    ------
    DataError
        If a text has no features, or two features have one name.
    """
    from scipy.sparse import hstack

    first: list[tuple[Encoder, csr_array]] = []
    others: list[tuple[Encoder, csr_array]] = []
    tokens: list[Tokens] = []
    for plan in plans:
        texts = field_texts(documents, plan.field.name)
        if plan.field.kind == "number":
            number = NumberEncoder.of(plan.field.name, documents)
            others.append((number, number.transform(documents)))
            continue
        tokenizer = plan.tokenizer
        if isinstance(tokenizer, AutoTokenizer):
            tokenizer = tokenizer.decide(documents, words=plan.vectorizer.stop_words is not None)
        try:
            features = plan.vectorizer.fit(tokenizer, texts)
        except DataError as error:
            raise DataError(f"field '{plan.field.name}': {error}") from None
        at = 0
        for part in features.encoder.parts:
            part.field = Field(plan.field.name, plan.field.kind)
            pair = part, features.X[:, at : at + len(part.names)]
            at += len(part.names)
            if plan.field.kind == "text" and part is features.encoder.parts[0]:
                first.append(pair)
                tokens.append(features.tokens)
            else:
                others.append(pair)
    encoder = JoinedEncoder([part for part, _ in (*first, *others)])
    name, times = Counter(encoder.names).most_common(1)[0]
    if times > 1:
        raise DataError(f"two features are called '{name}': rename one of the columns.")
    X = hstack([block for _, block in (*first, *others)], format="csr")
    X.sort_indices()
    return Features(rows=MatrixRows(X), tokens=_side_by_side(tokens, encoder), encoder=encoder)


def fit_again(encoder: AnyEncoder, documents: Documents) -> Features:
    """The features of training documents with the settings of an encoder."""
    if not encoder.fields:
        return encoder.vectorizer.fit(encoder.tokenizer, documents)
    return fit_fields(field_features(encoder), documents)


def first_of_texts(encoder: AnyEncoder) -> list[Encoder]:
    """The first tokenizer of every text, whose sentences are those of the documents."""
    if not encoder.fields:
        return [encoder.parts[0]]
    first: dict[str, Encoder] = {}
    for part in encoder.parts:
        if part.field is not None and part.field.kind == "text":
            first.setdefault(part.field.name, part)
    return list(first.values())


def field_features(encoder: AnyEncoder) -> list[FieldFeatures]:
    """How the fields of an encoder became its features."""
    plans = []
    for field in encoder.fields:
        parts = [part for part in encoder.parts if part.field == field]
        tokenizer = cast(Tokenizer, joined("tokenizer", [part.tokenizer for part in parts]))
        plans.append(FieldFeatures(field, tokenizer, parts[0].vectorizer))
    return plans


def _words_named(part: Encoder) -> list[str]:
    """The names of a part's features for builders: in an n-gram every word is after its field."""
    assert part.field is not None
    prefix = f"{prefix_of(part.field.name)}:"
    if part.ngrams == 1:
        return [prefix + name for name in part.names]
    return [prefix + name.replace(" ", f" {prefix}") for name in part.names]


def _side_by_side(blocks: Sequence[Tokens], encoder: JoinedEncoder) -> Tokens:
    """Tokens of several fields as one: the sentences of a document are those of its fields."""
    n = blocks[0].n_documents
    ids, sentence_ptr, document_ptr, paragraph_ptr = [], [], [], []
    features = words = sentences = 0
    for block in blocks:
        ids.append(block.ids + np.int32(features))
        sentence_ptr.append(block.sentence_ptr[:-1] + words)
        document_ptr.append(block.document_ptr[:-1] + sentences)
        if block.paragraph_ptr is not None:
            paragraph_ptr.append(block.paragraph_ptr[:-1] + sentences)
        features += len(block.vocabulary)
        words += len(block.ids)
        sentences += block.n_sentences
    together = Tokens(
        ids=np.concatenate(ids),
        sentence_ptr=np.concatenate([*sentence_ptr, [words]]),
        document_ptr=np.concatenate([*document_ptr, [sentences]]),
        vocabulary=[name for part in encoder.parts[: len(blocks)] for name in _words_named(part)],
        # Only where every tokenizer finds them.
        paragraph_ptr=np.concatenate([*paragraph_ptr, [sentences]])
        if len(paragraph_ptr) == len(blocks)
        else None,
    )
    order = np.arange(len(blocks) * n).reshape(len(blocks), n).T.ravel()
    by_document = together.select(order)
    return replace(
        by_document,
        document_ptr=by_document.document_ptr[:: len(blocks)],
        fields=tuple(field.name for field in encoder.fields),
        field_of=encoder.field_of,
    )


LOG = logger("training")

# What users call it.
AUTO_TOKENIZER = "auto"

WORDS = "textreg:words"

BESIDE = "textreg:words,textreg:chars"

# In more characters of training text than these, words are alone.
#
# There characters gain the least (0.4 points on 20 Newsgroups, with 22 million), and six times the
# values take six times as long.
MOST_CHARACTERS = 10_000_000

# The least share of words that another text has, too, at the beginning of so many texts: of 1,000
# texts of twelve corpora it was .41 or more, of hashtags, single words and texts without spaces .18
# or less.
RECURRING, SAMPLE, BEGINNING = 0.2, 1_000, 300


@dataclass(frozen=True)
class AutoTokenizer:
    """What ``tokenizer="auto"`` stands for until the documents are known.

    words: words alone, for many documents. beside: words, and characters beside them. Characters
    are alone where words say nothing of other texts, as hardly any is in two.
    """

    words: Tokenizer
    beside: Tokenizer

    def replace(self, **params: Any) -> Tokenizer | AutoTokenizer:
        """Both with these parameters; no choice where one of them is of characters alone."""
        beside: Tokenizer = registry.create("tokenizer", self.beside, **params)
        if params.keys() <= self.words.declared().keys():
            return AutoTokenizer(self.words.replace(**params), beside)
        return beside

    def decide(self, texts: Documents, *, words: bool = False) -> Tokenizer:
        """The tokenizer for documents to train on; words: whether other parts need words."""
        free = len(texts) > FEW and not words and not self.words.changed()
        if free and self._recurring(texts) < RECURRING:
            LOG.info("tokenizer auto: characters alone, as hardly any word is in two texts")
            return cast(Tokenizer, parts_of(self.beside)[-1])
        characters = 0
        # Counted only until that is decided: corpora may be large.
        for text in texts:
            characters += len(text)
            if characters > MOST_CHARACTERS:
                LOG.info(
                    "tokenizer auto: words alone, as texts have over %d characters", MOST_CHARACTERS
                )
                return self.words
        LOG.info("tokenizer auto: words and characters, as texts have %d characters", characters)
        return self.beside

    def _recurring(self, texts: Documents) -> float:
        """The share of words, of the first texts, that another one of these has, too."""
        first = [text[:BEGINNING] for text in itertools.islice(texts, SAMPLE)]
        words = calls.encode(self.words, first)
        frequencies = document_frequencies(words)
        return float((frequencies[words.ids] > 1).mean()) if len(words.ids) else 1.0


def tokenizer_of(part: Any, params: Mapping[str, Any] | None = None) -> Tokenizer | AutoTokenizer:
    """A tokenizer as :meth:`Registry.create` makes it; of "auto" what it stands for."""
    params = params or {}
    if part == AUTO_TOKENIZER:
        words, beside = (registry.create("tokenizer", name) for name in (WORDS, BESIDE))
        part = AutoTokenizer(words, beside)
    if isinstance(part, AutoTokenizer):
        return part.replace(**params) if params else part
    return cast(Tokenizer, registry.create("tokenizer", part, **params))


def plan_fields(
    fields: Sequence[Field], tokenizer: Tokenizer, vectorizer: Vectorizer
) -> list[FieldFeatures]:
    """How every field becomes features.

    tokenizer, vectorizer: what a text has that names no settings of its own. Raises UsageError for
    a setting that there is not, or its value.
    """
    return [_plan(field, tokenizer, vectorizer) for field in fields]


def fields_of(encoder: AnyEncoder) -> tuple[Field, ...]:
    """The fields of a model, with all settings that they had."""
    return tuple(
        Field(plan.field.name, "text", {"tokenizer": plan.tokenizer, **plan.vectorizer.params()})
        if plan.field.kind == "text"
        else plan.field
        for plan in field_features(encoder)
    )


def _plan(field: Field, usual: Tokenizer, vectorizer: Vectorizer) -> FieldFeatures:
    if field.kind != "text":
        return FieldFeatures(field, registry.create("tokenizer", "textreg:value"))
    options = dict(field.options)
    # The tokenizer first: the other options are its parameters.
    named = tokenizer_of(options.pop("tokenizer")) if "tokenizer" in options else usual
    tokenizer = named.beside if isinstance(named, AutoTokenizer) else named
    of_tokenizer: dict[str, Any] = {}
    of_features: dict[str, Any] = {}
    for key, value in options.items():
        # As for the options of a whole document: tokenizer_min_n, but ngrams.
        prefix, _, name = key.partition("_")
        if prefix == "tokenizer" and name in tokenizer.declared():
            of_tokenizer[name] = _read(tokenizer, name, value)
        elif key in vectorizer.declared():
            of_features[key] = _read(vectorizer, key, value)
        else:
            known = ["tokenizer", *vectorizer.declared()]
            known += [f"tokenizer_{name}" for name in tokenizer.declared()]
            hint = alternatives(key, known)
            raise UsageError(f"field '{field.name}': no setting '{key}'.{hint}")
    if of_tokenizer:
        named = named.replace(**of_tokenizer)
    return FieldFeatures(field, named, vectorizer.replace(**of_features))


def _read(part: Parametrized, name: str, value: Any) -> Any:
    """A value, which may be a text from the command line."""
    declared = part.declared(**part.params())[name]
    return declared.read(value, part.label()) if isinstance(value, str) else value


# The options of a command that name fields, in order.
FIELD_OPTIONS = ("text_col", "category_col", "number_col", "field")
