"""Records of what training selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from textreg.model.json_records import to_json
from textreg.model.summary import SupportSummary


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
        Number of features of the model that the corpus lacks.
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
