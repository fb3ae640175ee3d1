"""How texts and the other fields of documents become features, as a user names it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from textreg.errors import UsageError, did_you_mean
from textreg.features.fields import FieldFeatures, field_features, fit_fields
from textreg.features.vectorize import Vectorizer
from textreg.kinds import Tokenizer
from textreg.logs import logger
from textreg.plugins import registry
from textreg.records import Documents
from textreg.records.fields import Field

if TYPE_CHECKING:
    from textreg.features.joined import AnyEncoder
    from textreg.features.vectorize import Features
    from textreg.params import Parametrized


LOG = logger("training")

AUTO_TOKENIZER = "auto"
"""What users call it."""

WORDS = "textreg:words"

BESIDE = "textreg:words,textreg:chars"

MOST_CHARACTERS = 10_000_000
"""In more characters of training text than these, words are alone.

There characters gain the least (0.4 points on 20 Newsgroups, with 22 million), and six times the
values take six times as long.
"""


@dataclass(frozen=True)
class AutoTokenizer:
    """What ``tokenizer="auto"`` stands for until the documents are known.

    words: words alone, for many documents. beside: words, and characters beside them.
    """

    words: Tokenizer
    beside: Tokenizer

    def replace(self, **params: Any) -> Tokenizer | AutoTokenizer:
        """Both with these parameters; no choice where one of them is of characters alone."""
        beside: Tokenizer = registry.create("tokenizer", self.beside, **params)
        if params.keys() <= self.words.declared().keys():
            return AutoTokenizer(self.words.replace(**params), beside)
        return beside

    def decide(self, texts: Documents) -> Tokenizer:
        """The tokenizer for documents to train on."""
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
) -> list[tuple[FieldFeatures, AutoTokenizer | None]]:
    """How every field becomes features, and its tokenizer if that depends on the documents.

    tokenizer, vectorizer: what a text has that names no settings of its own. Raises UsageError for
    a setting that there is not, or its value.
    """
    return [_plan(field, tokenizer, vectorizer) for field in fields]


def make_field_features(
    fields: Sequence[Field], tokenizer: Tokenizer, vectorizer: Vectorizer, documents: Documents
) -> Features:
    """Features of documents with several fields."""
    plans = []
    for plan, auto in plan_fields(fields, tokenizer, vectorizer):
        decided = plan.tokenizer if auto is None else auto.decide(documents)
        plans.append(FieldFeatures(plan.field, decided, plan.vectorizer))
    return fit_fields(plans, documents)


def fields_of(encoder: AnyEncoder) -> tuple[Field, ...]:
    """The fields of a model, with all settings that they had."""
    return tuple(
        Field(plan.field.name, "text", {"tokenizer": plan.tokenizer, **plan.vectorizer.params()})
        if plan.field.kind == "text"
        else plan.field
        for plan in field_features(encoder)
    )


def _plan(
    field: Field, tokenizer: Tokenizer, vectorizer: Vectorizer
) -> tuple[FieldFeatures, AutoTokenizer | None]:
    if field.kind != "text":
        return FieldFeatures.of_values(field), None
    options = dict(field.options)
    auto = None
    if "tokenizer" in options:
        # The tokenizer first: the other options are its parameters.
        named = tokenizer_of(options.pop("tokenizer"))
        if isinstance(named, AutoTokenizer):
            auto, tokenizer = named, named.beside
        else:
            tokenizer = named
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
            raise UsageError(
                f"field '{field.name}': no setting '{key}'.{did_you_mean(key, known)} There are: "
                f"{', '.join(known)}."
            )
    if of_tokenizer:
        tokenizer = tokenizer.replace(**of_tokenizer)
        auto = None if auto is None else _as_auto(auto.replace(**of_tokenizer))
    if of_features:
        vectorizer = vectorizer.replace(**of_features)
    return FieldFeatures(field, tokenizer, vectorizer), auto


def _as_auto(tokenizer: Tokenizer | AutoTokenizer) -> AutoTokenizer | None:
    return tokenizer if isinstance(tokenizer, AutoTokenizer) else None


def _read(part: Parametrized, name: str, value: Any) -> Any:
    """A value, which may be a text from the command line."""
    declared = part.declared(**part.params())[name]
    return declared.read(value, part.label()) if isinstance(value, str) else value


FIELD_OPTIONS = ("text_col", "category_col", "number_col", "field")
"""The options of a command that name fields, in order."""
