"""What is said of a learner's selection, as plain records."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple


class KeptGroup(NamedTuple):
    """A group of which some feature has a weight.

    name: as its builder calls it. norm: Euclidean norm of the weights of its features, over all
    weight vectors. words: its features with a weight for ``label``, the strongest first, and these
    weights. label: what it speaks for, by the sum of them; value: that sum. text: the sentence, as
    it was written, where the group is one.
    """

    name: str
    norm: float
    label: str
    value: float
    words: tuple[tuple[str, float], ...]
    text: str | None


class Neighbor(NamedTuple):
    """A linked feature: its share of the links, its weight, and share times weight, the pull.

    The pull of an opposite (a dissimilar link) has the other sign.
    """

    feature: str
    share: float
    weight: float
    pull: float


class Pulled(NamedTuple):
    """A feature, its weight for ``label``, and its linked features, the strongest pull first."""

    feature: str
    label: str
    weight: float
    neighbors: tuple[Neighbor, ...]


class Came(NamedTuple):
    """One step of a pursuit of groups: the features that came, all of them with ``group``.

    group: its name, None where a single feature came; text: the sentence, where the group is one.
    """

    group: str | None
    text: str | None
    features: tuple[str, ...]


class Profile(NamedTuple):
    """A feature's weights for a label along a path."""

    feature: str
    label: str
    weights: tuple[float, ...]


class Along(NamedTuple):
    """The weights of the strongest features along the path that a model keeps.

    parameter, values: what changes, the emptiest model first; chosen: the place of the model.
    """

    parameter: str
    values: tuple[float, ...]
    chosen: int
    profiles: tuple[Profile, ...]


@dataclass(frozen=True)
class Kept:
    """The selection of a learner in texts that it was trained on.

    regularizer: its name. documents, features: how many the texts have; trained_on: the
    number of documents of the training, if the model says; missing: features of the model that the
    texts do not have. If these tell of a difference, the texts are not all that training saw.
    builder: of the groups. by_group: False where the regularizer chose words and not groups, so
    that the groups only show where these words are. groups, empty, kept: how many there are, are
    without a feature, and have a weight. strongest: kept groups by norm. typical: by label, the
    kept groups in documents with this label that speak most for it; empty unless every group is a
    piece of one document. shares: of every document with a group that is not empty, the share of
    them that is kept. order: of a pursuit, the features in the order they came in, for every weight
    vector; order_groups: the same by groups, where it is one of groups. pulled: of a graph, the
    strongest features and the neighbors that pulled them. path: weights along the path, where the
    model keeps one. notes: what the model file cannot tell.
    """

    regularizer: str
    documents: int
    trained_on: int | None
    features: int
    missing: int
    builder: str
    by_group: bool
    groups: int
    empty: int
    kept: int
    strongest: tuple[KeptGroup, ...]
    typical: dict[str, tuple[KeptGroup, ...]]
    shares: tuple[float, ...]
    order: tuple[tuple[str, ...], ...]
    order_groups: tuple[tuple[Came, ...], ...]
    pulled: tuple[Pulled, ...]
    path: Along | None
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain numbers, texts, lists and dicts, ready for JSON."""
        plain = asdict(self)
        for key in ("strongest", "pulled"):
            plain[key] = [_plain(each) for each in plain[key]]
        plain["typical"] = {
            label: [_plain(each) for each in found] for label, found in plain["typical"].items()
        }
        plain["order_groups"] = [
            [_plain(each) for each in steps] for steps in plain["order_groups"]
        ]
        if self.path is not None:
            plain["path"] = {
                **self.path._asdict(),
                "profiles": [_plain(each) for each in self.path.profiles],
            }
        return plain


def _plain(record: Any) -> dict[str, Any]:
    values: dict[str, Any] = record._asdict()
    if "neighbors" in values:
        values["neighbors"] = [neighbor._asdict() for neighbor in values["neighbors"]]
    return values
