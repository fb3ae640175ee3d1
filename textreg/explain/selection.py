"""What training selected: features, groups, the order of entry, and how it changes along a path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textreg.errors import DataError, ModelError, PluginError, UsageError
from textreg.explain.contributions import gives_offsets, sentence_of
from textreg.features.fields import fit_again
from textreg.features.vectorize import Features
from textreg.model import summary as summaries
from textreg.model.json_records import to_json
from textreg.model.model import Model
from textreg.model.summary import SupportSummary, TrainingSummary
from textreg.plugins import calls, registry
from textreg.records import Bools, Corpus, Documents, Floats, Graph, Groups, Int64s, Tokens
from textreg.records.arrays import row_of, sums
from textreg.records.text import as_corpus, find_names
from textreg.structure.grouping import SegmentNames
from textreg.training.recipe import summary_of


@dataclass(frozen=True)
class SelectedGroup:
    """A group with a feature that has a weight.

    Attributes
    ----------
    name : str
        Name of the group, as its builder gives it.
    norm : float
        Euclidean norm of the weights of its features, over all weight vectors.
    label : str
        The label with the largest sum of these weights, or the one that was asked for.
    value : float
        The sum of the weights for this label.
    words : tuple of (str, float)
        The features with a weight for this label and their weights, by absolute value, largest
        first.
    text : str or None
        The sentence as it was written, where the group is one.
    """

    name: str
    norm: float
    label: str
    value: float
    words: tuple[tuple[str, float], ...]
    text: str | None


@dataclass(frozen=True)
class Neighbor:
    """A feature that is linked to another one in the graph.

    Attributes
    ----------
    feature : str
        The linked feature.
    share : float
        Weight of the link as a share of all links of its kind of the other feature.
    weight : float
        Weight of the linked feature in the model.
    pull : float
        ``share * weight``: what the network penalty draws the other feature's weight towards
        (sandler2008); with the other sign for a dissimilar link.
    """

    feature: str
    share: float
    weight: float
    pull: float


@dataclass(frozen=True)
class LinkedFeature:
    """A feature with one of the largest weights, and its neighbors in the graph.

    Attributes
    ----------
    feature : str
        The feature.
    label : str
        The label that its weight supports.
    weight : float
        The weight for this label.
    neighbors : tuple of Neighbor
        Linked features by absolute ``pull``, largest first.
    """

    feature: str
    label: str
    weight: float
    neighbors: tuple[Neighbor, ...]


@dataclass(frozen=True)
class EntryStep:
    """One step of a pursuit of groups: what entered the model.

    Attributes
    ----------
    group : str or None
        Name of the group; None where a single feature entered.
    text : str or None
        The sentence as it was written, where the group is one.
    features : tuple of str
        The features that entered in this step.
    """

    group: str | None
    text: str | None
    features: tuple[str, ...]


@dataclass(frozen=True)
class Profile:
    """The weights of a feature along a regularization path.

    Attributes
    ----------
    feature : str
        The feature.
    label : str
        The label that its weight in the chosen model supports.
    weights : tuple of float
        Its weight for this label at each point of the path.
    """

    feature: str
    label: str
    weights: tuple[float, ...]


@dataclass(frozen=True)
class PathProfiles:
    """The weights of the features with the largest weights along a regularization path.

    Attributes
    ----------
    parameter : str
        The parameter that changes along the path.
    values : tuple of float
        Its values, point by point, from the model with the fewest features on.
    chosen : int
        Index of the point that is the model itself.
    profiles : tuple of Profile
        One for each feature.
    """

    parameter: str
    values: tuple[float, ...]
    chosen: int
    profiles: tuple[Profile, ...]


@dataclass(frozen=True)
class Selection:
    """What training selected in its corpus.

    Where ``documents`` differs from ``trained_on`` or ``missing`` is not 0, the corpus is not the
    one of the training.

    Attributes
    ----------
    regularizer : str
        Name of the regularizer.
    documents, features : int
        Number of documents of the corpus, and of their features.
    trained_on : int
        Number of documents of the training.
    missing : int
        Number of features of the model that the corpus lacks, but for inferred ones.
    builder : str
        Name of the group builder.
    by_group : bool
        Whether the regularizer selected groups. If not, the groups only show where the features
        that it selected are.
    groups, empty, selected : int
        Number of groups; of those without a feature; and of those with a weight.
    strongest : tuple of SelectedGroup
        Selected groups by norm, largest first.
    typical : dict of str to tuple of SelectedGroup
        By label, the selected groups in documents with this label that support it most. Empty
        unless every group is a part of one document.
    shares : tuple of float
        For each document with a group that is not empty, the share of these that is selected.
    order : tuple of tuple of str
        Of a pursuit, the features in order of entry, for each weight vector.
    order_groups : tuple of tuple of EntryStep
        Of a pursuit of groups, its steps, for each weight vector.
    linked : tuple of LinkedFeature
        Of a regularizer with a graph, the features with the largest weights and their neighbors.
    path : PathProfiles or None
        Weights along the regularization path, where the model keeps one.
    notes : tuple of str
        What the model file does not hold, in words.
    proven : SupportSummary or None
        How many features and groups surely have no weight at the optimum, surely have one, or are
        undecided; None where nothing is proven.
    """

    regularizer: str
    documents: int
    trained_on: int
    features: int
    missing: int
    builder: str
    by_group: bool
    groups: int
    empty: int
    selected: int
    strongest: tuple[SelectedGroup, ...]
    typical: dict[str, tuple[SelectedGroup, ...]]
    shares: tuple[float, ...]
    order: tuple[tuple[str, ...], ...]
    order_groups: tuple[tuple[EntryStep, ...], ...]
    linked: tuple[LinkedFeature, ...]
    path: PathProfiles | None
    notes: tuple[str, ...]
    proven: SupportSummary | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as numbers, texts, lists and dicts, ready for JSON."""
        plain: dict[str, Any] = to_json(self)
        return plain


def entry_steps(
    summary: TrainingSummary, groups: Groups, text_of: Callable[[int], str | None], top: int
) -> tuple[tuple[EntryStep, ...], ...]:
    """The first steps of a pursuit of groups, for every weight vector; nothing of other fits.

    ``groups`` are built again from the corpus, and ``text_of`` gives the sentence of a group by
    its index in them. A group with another name there has no text.
    """

    def entered(step: summaries.GroupStep) -> EntryStep:
        g, name = step.group, step.name
        if g is None:
            return EntryStep(None, None, step.features)
        known = groups.names is not None and 0 <= g < len(groups) and groups.names[g] == name
        shown = f"group {g + 1}" if name is None else name
        return EntryStep(shown, text_of(g) if known else None, step.features)

    return tuple(tuple(map(entered, steps[:top])) for steps in summary.order_groups)


def path_profiles(model: Model, top: int) -> PathProfiles | None:
    """The weights of the strongest features along the path of a model; None without a path."""
    path = model.path
    if path is None:
        return None
    strongest = sorted(path.at(path.chosen).items(), key=lambda item: -np.abs(item[1]).max())
    profiles = []
    for name, weights in strongest[:top]:
        row = int(np.abs(weights).argmax())
        side = model.task.side_of(row, float(weights[row]))
        # Adding 0.0 leaves no negative zeros.
        profile = model.task.side_rows(path.profile(name).T)[side] + 0.0
        profiles.append(Profile(name, model.task.sides[side], tuple(profile.tolist())))
    return PathProfiles(path.parameter, tuple(path.values), path.chosen, tuple(profiles))


# The groups that are shown of a model whose regularizer has none.
DEFAULT_GROUPS = "textreg:sentences"


def find_selection(
    model: Model,
    corpus: Corpus | tuple[Documents, Sequence[Any]],
    top: int = 10,
    *,
    unlabeled: Corpus | tuple[Documents, None] | None = None,
    features: Features | None = None,
) -> Selection:
    """Find what training selected in its corpus.

    Features, groups and graph are built again from ``corpus`` with the settings that the model
    holds. If it is not the corpus of the training, the groups and links are those of ``corpus``;
    :class:`Selection` describes how to tell.

    Parameters
    ----------
    model : Model
        A trained model.
    corpus : Corpus or (texts, labels)
        The labeled documents that it was trained on.
    top : int, default 10
        Number of groups and features of each kind in the result.
    unlabeled : Corpus or (texts, None), optional
        Further documents that training learned links from.
    features : Features, optional
        Those of all documents, the ones without labels at the end, if they are at hand.

    Returns
    -------
    Selection

    Raises
    ------
    ModelError
        If the model has no summary of its training, or a builder that it names is not installed.
    DataError
        If the corpus has none of the features of the model.
    UsageError
        If ``model`` is no model, or ``corpus`` no corpus.
    """
    summary, documents = summary_of(model), model.encoder.documents
    given, unlabeled = as_corpus(corpus, "corpus", documents), as_corpus(unlabeled, "unlabeled")
    if given is None:
        raise UsageError("a selection is found in the documents of the training: give corpus.")
    corpus = _as_trained(given, summary)
    if features is None:
        texts = [*corpus.texts, *(() if unlabeled is None else unlabeled.texts)]
        features = fit_again(model.encoder, texts)
    all_tokens = tokens = features.tokens
    names = features.encoder.names
    if len(corpus) < tokens.n_documents:
        tokens = tokens.select(np.arange(len(corpus)))
    weights, missing = _spread(model, names)
    if summary.groups is None:
        builder = registry.create("groups", DEFAULT_GROUPS)
    else:
        builder = _again(summary, "groups", summary.groups)
    groups = calls.build_groups(builder, tokens)
    parts = None
    if _same_groups(summary, groups, len(corpus), missing):
        parts = _part_weights(summary, weights, groups)
    group_weights = _GroupWeights(model, corpus, tokens, groups, weights, parts)
    selected = group_weights.norms > 0
    filled = np.diff(groups.indptr) > 0
    document_of = None  # unless each group is a part of one document
    if isinstance(groups.names, SegmentNames):
        document_of = row_of(groups.names.document_ptr)
    return Selection(
        regularizer=summary.reg.name,
        documents=len(corpus),
        trained_on=summary.documents,
        features=len(names),
        missing=missing,
        builder=builder.label(),
        by_group=summary.selected is not None,
        groups=len(groups),
        empty=int((~filled).sum()),
        selected=int(selected.sum()),
        strongest=group_weights.strongest(top),
        typical={} if document_of is None else group_weights.typical(document_of, top),
        shares=() if document_of is None else _shares(document_of, filled, selected),
        order=tuple(order[:top] for order in summary.order),
        order_groups=entry_steps(summary, groups, group_weights.text, top),
        linked=_linked_features(
            model, _graph(summary, all_tokens, groups, len(names)), weights, names, top
        ),
        path=path_profiles(model, top),
        notes=_notes(model, summary, unlabeled is not None, parts is not None),
        proven=summary.support,
    )


def _same_groups(summary: TrainingSummary, groups: Groups, documents: int, missing: int) -> bool:
    """Whether the summary knows parts by the numbers of these groups, and all of them are there."""
    if not summary.parts or summary.groups is None or missing or documents != summary.documents:
        return False
    there = all(0 <= g < len(groups) for chosen in summary.parts for g in chosen)
    return there and len(groups) == summary.groups.before


def _part_weights(summary: TrainingSummary, weights: Floats, groups: Groups) -> dict[int, Floats]:
    """By group, the weights (k, members) of its part in every weight vector; no part that is zero.

    weights: (k, p).
    """
    regularizer = _again(summary, "regularizer", summary.reg)
    part_of: dict[int, Floats] = {}
    for row, selected in enumerate(summary.parts):
        parts = calls.parts(regularizer, weights[row], groups, selected)
        for g, part in zip(selected, parts, strict=True):
            if part.any():
                part_of.setdefault(g, np.zeros((len(weights), len(part))))[row] = part
    return part_of


def _as_trained(corpus: Corpus, summary: TrainingSummary) -> Corpus:
    """The corpus without the documents of rare labels that training left out."""
    rare = summary.rare
    if rare is None or rare.label is not None or corpus.labels is None or corpus.multilabel:
        return corpus
    rows = [row for row, label in enumerate(corpus.labels) if label not in rare.labels]
    return corpus.select(np.array(rows, dtype=np.intp))


def _spread(model: Model, vocabulary: Sequence[str]) -> tuple[Floats, int]:
    """Weights (k, p) over the features of the corpus; and how many of the model's it lacks."""
    columns = find_names(model.encoder.names, vocabulary)
    present = columns >= 0
    if len(columns) and not present.any():
        raise DataError(
            f"None of the {len(columns):,} features of the model is one of these texts: give the "
            "corpus that it was trained on."
        )
    weights = np.zeros((len(model.weights), len(vocabulary)))
    weights[:, columns[present]] = model.weights[:, present]
    return weights, int((~present & ~model.inferred).sum())


def _again(
    summary: TrainingSummary,
    kind: str,
    built: summaries.GroupsSummary | summaries.GraphSummary | summaries.RegularizerSummary,
) -> Any:
    try:
        return registry.create(kind, summary.spelled(kind, built.name), **built.params)
    except (PluginError, UsageError) as error:
        raise ModelError(
            f"the model was trained with {kind} '{built.name}', which cannot be built again: "
            f"{error}"
        ) from error


def _over_groups(groups: Groups, values: Floats) -> Floats:
    """The sum over the features of every group."""
    return sums(row_of(groups.indptr), values[groups.indices], len(groups))


def _shares(document_of: Int64s, filled: Bools, selected: Bools) -> tuple[float, ...]:
    """For every document with a filled group, the share of its filled groups that is selected."""
    size = int(document_of.max(initial=-1)) + 1
    n_filled = np.bincount(document_of[filled], minlength=size)
    n_selected = np.bincount(document_of[selected], minlength=size)
    return tuple((n_selected[n_filled > 0] / n_filled[n_filled > 0]).tolist())


class _GroupWeights:
    """The groups of a corpus, and what a model weighs them with.

    labels, weights: what the weights support, and a row of weights for each (``Model.sides``).
    norms: Euclidean norm of each group over the weight vectors of the model. values: sums of each
    row of ``weights`` over each group. parts: where weights are sums of parts within groups, those
    of every group; norms and values are then theirs.
    """

    def __init__(
        self,
        model: Model,
        corpus: Corpus,
        tokens: Tokens,
        groups: Groups,
        weights: Floats,
        parts: dict[int, Floats] | None,
    ) -> None:
        """``weights``: (k, p) over the features of the corpus."""
        sums_of_rows = np.stack([_over_groups(groups, row) for row in weights])
        norms = np.sqrt(_over_groups(groups, (weights * weights).sum(axis=0)))
        if parts is not None:
            sums_of_rows, norms = np.zeros_like(sums_of_rows), np.zeros_like(norms)
            for g, part in parts.items():
                sums_of_rows[:, g], norms[g] = part.sum(axis=1), np.linalg.norm(part)
        task = self.task = model.task
        self.model, self.corpus, self.tokens, self.groups = model, corpus, tokens, groups
        self.norms, self.parts = norms, parts
        self.labels, self.weights = task.sides, task.side_rows(weights)
        self.values = task.side_rows(sums_of_rows)
        self.has_offsets = gives_offsets(model)

    def strongest(self, top: int) -> tuple[SelectedGroup, ...]:
        """The selected groups with the largest norms."""
        order = np.argsort(-self.norms, kind="stable")[: int((self.norms > 0).sum())]
        return tuple(self.record(g) for g in self.distinct(order, top))

    def typical(self, document_of: Int64s, top: int) -> dict[str, tuple[SelectedGroup, ...]]:
        """By label, the selected groups in its documents that support it most."""
        task, has_labels = self.task, self.corpus.labels is not None
        y_true = task.known_targets(self.corpus)
        groups = {}
        for row, label in enumerate(self.labels):
            eligible = (self.norms > 0) & (self.values[row] > 0)
            if has_labels:
                eligible &= task.documents_of(y_true, row)[document_of]
            order = np.argsort(-self.values[row], kind="stable")
            best = self.distinct(order[eligible[order]], top)
            groups[label] = tuple(self.record(g, row) for g in best)
        return groups

    def record(self, g: int, row: int | None = None) -> SelectedGroup:
        """A group for one label, by default the one that it supports most."""
        row = int(np.argmax(self.values[:, g])) if row is None else row
        members = self.groups.members(g)
        weights = self.weights[row, members]
        if self.parts is not None:
            weights = self.task.side_rows(self.parts[g])[row]
        order = np.argsort(-np.abs(weights), kind="stable")  # stable: ties as in the vocabulary
        return SelectedGroup(
            name=self.groups.label(g),
            norm=float(self.norms[g]),
            label=self.labels[row],
            value=float(self.values[row, g]),
            words=tuple(
                (self.tokens.vocabulary[members[at]], float(weights[at]))
                for at in order
                if weights[at]
            ),
            text=self.text(g),
        )

    def distinct(self, order: Iterable[int], top: int) -> list[int]:
        """The first ``top`` groups whose features differ, so a repeated sentence is shown once."""
        first_of: dict[bytes, int] = {}
        for g in order:
            first_of.setdefault(self.groups.members(g).tobytes(), int(g))
            if len(first_of) == top:
                break
        return list(first_of.values())

    def text(self, g: int) -> str | None:
        """The text of a sentence; None of other groups, and without character offsets."""
        names = self.groups.names
        if not isinstance(names, SegmentNames) or names.segment != "sentence":
            return None
        if not self.has_offsets:
            return None
        return sentence_of(self.model, self.corpus.texts, names.document_ptr, g)


def _graph(
    summary: TrainingSummary, tokens: Tokens, groups: Groups, n_features: int
) -> Graph | None:
    """The graph of the training; tokens: of all documents, groups: those of the labeled ones."""
    if summary.graph is None:
        return None
    builder = _again(summary, "graph", summary.graph)
    graph = calls.build_graph(builder, tokens, None if summary.groups is None else groups)
    return graph.widened(n_features)


def _linked_features(
    model: Model, graph: Graph | None, weights: Floats, names: Sequence[str], top: int
) -> tuple[LinkedFeature, ...]:
    """The features with the largest weights and their neighbors; nothing without a graph."""
    if graph is None:
        return ()
    labels, rows = model.task.sides, model.task.side_rows(weights)
    best = rows.argmax(axis=0)
    size = rows.max(axis=0, initial=0.0)
    strongest = [int(j) for j in np.argsort(-size, kind="stable")[:top] if size[j] > 0]
    return tuple(
        LinkedFeature(
            feature=names[j],
            label=labels[best[j]],
            weight=float(size[j]),
            neighbors=_neighbors(graph, names, rows[best[j]], j, top),
        )
        for j in strongest
    )


def _neighbors(
    graph: Graph, names: Sequence[str], weights: Floats, j: int, top: int
) -> tuple[Neighbor, ...]:
    """The ``top`` linked features of feature ``j`` by absolute pull, the largest first."""
    neighbors = []
    for links, sign in ((graph.similar, 1.0), (graph.dissimilar, -1.0)):
        if links is None:
            continue
        row = slice(int(links.indptr[j]), int(links.indptr[j + 1]))
        columns, strength = links.indices[row], links.data[row]
        total = strength.sum()
        for column, link in zip(columns.tolist(), strength.tolist(), strict=True):
            if column < graph.n_features:  # virtual features have no weight in the model
                # sandler2008, section 2: the penalty draws w_j to the mean of the weights of its
                # neighbors, with links that are normalized to a sum of one.
                share, weight = link / total, float(weights[column])
                neighbors.append(Neighbor(names[column], share, weight, sign * share * weight))
    return tuple(sorted(neighbors, key=lambda linked: (-abs(linked.pull), linked.feature))[:top])


def _notes(model: Model, summary: TrainingSummary, unlabeled: bool, parts: bool) -> tuple[str, ...]:
    """What the model file does not hold."""
    notes = []
    if summary.reg.name == "stagewise" and model.path is None:
        notes.append(
            "the model file holds the final weights of stagewise, but neither its path nor "
            "the order of its steps: textreg train --path keeps the path."
        )
    if summary.parts and not parts:
        notes.append(
            "the model has its parts by the groups of its training: of these other texts, groups "
            "with a feature that has a weight are counted as selected."
        )
    if summary.graph is not None and not unlabeled:
        notes.append(
            "the links are those of this corpus; unlabeled documents of the training may have "
            "added others."
        )
    return tuple(notes)
