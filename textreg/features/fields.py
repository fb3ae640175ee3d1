"""The features of documents of several fields, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from textreg.errors import DataError
from textreg.features.encoder import Encoder, field_texts
from textreg.features.joined import AnyEncoder, JoinedEncoder, prefix_of
from textreg.features.numbers import VALUES, NumberEncoder
from textreg.features.rows import MatrixRows
from textreg.features.vectorize import Features, Vectorizer
from textreg.kinds import Tokenizer
from textreg.plugins import registry
from textreg.records import Documents, Tokens
from textreg.records.fields import Field
from textreg.structure.joining import joined

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class FieldFeatures:
    """How one field becomes features.

    tokenizer, vectorizer: of a text; a category has the tokenizer ``value``, and neither counts for
    a number.
    """

    field: Field
    tokenizer: Tokenizer
    vectorizer: Vectorizer = VALUES

    @classmethod
    def of_values(cls, field: Field) -> FieldFeatures:
        """Those of a category or a number."""
        return cls(field, registry.create("tokenizer", "textreg:value"))


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
        try:
            features = plan.vectorizer.fit(plan.tokenizer, texts)
        except DataError as error:
            raise DataError(f"field '{plan.field.name}': {error}") from None
        at = 0
        for part in features.encoder.parts:
            part.field = Field(plan.field.name, plan.field.kind)
            own = part, features.X[:, at : at + len(part.names)]
            at += len(part.names)
            if plan.field.kind == "text" and part is features.encoder.parts[0]:
                first.append(own)
                tokens.append(features.tokens)
            else:
                others.append(own)
    encoder = JoinedEncoder([part for part, _ in (*first, *others)])
    seen: set[str] = set()
    for name in encoder.names:
        if name in seen:
            raise DataError(f"two features are called '{name}': rename one of the columns.")
        seen.add(name)
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
