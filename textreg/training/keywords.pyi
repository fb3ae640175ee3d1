# ruff: noqa: E501
# fmt: off
"""The keywords of ``train`` and ``compare``, for type checkers: written by ``make reference``.

Parameters of built-in parts are here. A part of a plugin is given as an object with its parameters:
``reg=Slope(rate=0.1)``, or by its name, ``reg=textreg.regularizer("slope", rate=0.1)``.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from textreg.kinds import GraphBuilder, GroupBuilder, Loss, Tokenizer
from textreg.records.documents import Field

class FitSettings(TypedDict, total=False):
    """The settings of every fit."""

    metric: Literal["calibrated-log-loss", "accuracy", "macro-f1", "log-loss", "micro-macro-f1", "micro-f1", "r2", "mse"] | None
    loss: str | type[Loss] | Loss
    path: bool
    select: Literal["best", "1se", "sparsest"]
    within: float | None
    max_nonzero: int | None
    jobs: int
    tol: float
    max_iter: int


class TextSettings(FitSettings, total=False):
    """The same with those that every training of texts has."""

    groups: str | type[GroupBuilder] | GroupBuilder | Sequence[str | type[GroupBuilder] | GroupBuilder] | None
    graph: str | type[GraphBuilder] | GraphBuilder | None
    tokenizer: str | type[Tokenizer] | Tokenizer | Sequence[str | type[Tokenizer] | Tokenizer] | Callable[[str], Any]
    ngrams: int
    min_df: float
    max_df: float
    max_features: int | None
    stop_words: str | None
    weighting: Literal["auto", "count", "binary", "log", "unit", "unit-idf", "tfidf"]
    strip_html: bool
    fields: Sequence[str | Field] | Mapping[str, Any] | None
    vectors: str | None
    evidence_words: str | None
    holdout: float | None
    cv: int | None
    refit: bool
    prune: float
    search: Literal["narrow", "grid"]
    search_space: Mapping[str, Sequence[Any]] | None
    budget: float | str | None
    backend: str
    address: str | None
    memory: float | str | None
    scratch: str | os.PathLike[str] | None


class LabelSettings(TextSettings, total=False):
    """The same with those of a classification."""

    multiclass: Literal["ovr", "softmax"]
    min_label: int | None
    rare_label: str | None
    intercept: Literal["left-out", "fitted"] | None
    calibrate: Literal["temperature", "isotonic", "none"] | None
    at_least_one: bool
    unknown: str | None
    unknown_rule: str | None


class SettingsKeywords(LabelSettings, total=False):
    """The settings of a training that ``compare`` takes as well."""

    reg_alpha: float
    reg_also: str
    reg_balanced: bool
    reg_beta: float
    reg_budget: int
    reg_cache: float
    reg_change: float
    reg_columns: Literal["unit", "given"]
    reg_epsilon: float | None
    reg_epsilon_of: Literal["score", "residual"]
    reg_every: int
    reg_features: int | None
    reg_grid: Literal["relative", "papers"]
    reg_group: float
    reg_inside: float
    reg_intercept: Literal["free", "ridge", "feature"]
    reg_keep_best: bool
    reg_l1: float
    reg_l2: float
    reg_likelihood: Literal["loss", "linear", "exponential"]
    reg_lookup: Literal["random", "queue"]
    reg_normalized: bool
    reg_patience: int | None
    reg_relative: bool
    reg_relax: float
    reg_rho: float
    reg_sample: int | None
    reg_scaled: bool
    reg_score: Literal["projection", "mean", "sum", "orthonormal"]
    reg_seed: int
    reg_singletons: bool
    reg_solver: Literal["majorize", "admm", "algorithm-1"]
    reg_standardize: bool
    reg_steps: int
    reg_stop: Literal["gap", "paper"]
    reg_threshold: float
    reg_weights: Any
    groups_documents_weight: Literal["one", "sqrt"]
    groups_fields_weight: Literal["one", "sqrt"]
    groups_file_weight: Literal["one", "sqrt"]
    groups_ngrams: Literal["all", "any", "none"]
    groups_paragraphs_weight: Literal["one", "sqrt"]
    groups_path: str | None
    groups_sentences_weight: Literal["one", "sqrt"]
    groups_size: int
    groups_stride: int | None
    groups_weight: Literal["one", "sqrt"]
    groups_windows_weight: Literal["one", "sqrt"]
    graph_antonyms: str | None
    graph_directed: bool
    graph_distance: Literal["cosine", "euclidean"]
    graph_lists: str | None
    graph_min_df: int
    graph_min_seed_df: int
    graph_negations: str
    graph_neighbors: int
    graph_opposite: str | None
    graph_path: str | None
    graph_seeds: str | None
    graph_threshold: float
    tokenizer_analyzer: Literal["char_wb", "char"]
    tokenizer_chars_lowercase: bool | None
    tokenizer_chars_normalize: Literal["nfc", "nfkc", "none"] | None
    tokenizer_chars_sentences: Literal["punct", "lines", "paragraphs", "none"] | None
    tokenizer_emoji: bool
    tokenizer_lowercase: bool
    tokenizer_max_n: int
    tokenizer_min_length: int
    tokenizer_min_n: int
    tokenizer_normalize: Literal["nfc", "nfkc", "none"]
    tokenizer_punctuation: bool
    tokenizer_sentences: Literal["punct", "lines", "paragraphs", "none"]
    tokenizer_value_lowercase: bool
    tokenizer_words_lowercase: bool | None
    tokenizer_words_normalize: Literal["nfc", "nfkc", "none"] | None
    tokenizer_words_sentences: Literal["punct", "lines", "paragraphs", "none"] | None
    task: Literal["classification", "multilabel", "regression"] | None
    loss_smoothing: float
    class_weight: str | Mapping[str, float] | None
    threshold: Mapping[str, str] | None


class TrainKeywords(SettingsKeywords, total=False):
    """The settings of a training that ``train`` does not name itself."""

    seed: int


class RegressorKeywords(TextSettings, total=False):
    """The parameters of ``TextRegressor``."""

    seed: int


class ClassifierKeywords(LabelSettings, total=False):
    """The parameters of ``TextClassifier``, whose labels may be of any type."""

    class_weight: str | Mapping[Any, float] | None
    threshold: Mapping[Any, str] | None
    seed: int


class LinearKeywords(FitSettings, total=False):
    """The parameters of ``LinearRegressor``."""

    groups: Any
    graph: Any
    fit_intercept: bool
    cv: Any


class LinearClassifierKeywords(LinearKeywords, total=False):
    """The parameters of ``LinearClassifier``, whose labels may be of any type."""

    class_weight: str | Mapping[Any, float] | None
    multiclass: Literal["ovr", "softmax"]
