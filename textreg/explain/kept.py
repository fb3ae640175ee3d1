"""What a learner selected in its training texts: groups with a weight, and what pulled one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from textreg.errors import DataError, ModelError, PluginError, UsageError
from textreg.explain.account import gives_offsets, sentence_of
from textreg.explain.kept_records import Kept, KeptGroup, Neighbor, Pulled
from textreg.explain.trajectory import groups_taken, path_of
from textreg.model.model import Model
from textreg.plugins import calls, registry
from textreg.records import Corpus, Floats, Groups, Int64s, Tokens
from textreg.records.ragged import row_of, sums
from textreg.structure.grouping import SegmentNames

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from textreg.model.summary import TrainingSummary
    from textreg.records import Graph

    Bools = NDArray[np.bool_]

DEFAULT = "sentences"
"""The groups that are shown of a model whose regularizer has none."""


def kept_in(
    model: Model,
    corpus: Corpus,
    top: int = 10,
    *,
    unlabeled: Corpus | None = None,
    tokens: Tokens | None = None,
) -> Kept:
    """Find what the learner of ``model`` selected in the texts that it was trained on.

    Features, groups and graph are built anew from ``corpus`` with the settings that the model
    holds. Where it is not the whole corpus of training, the groups and links are those of
    ``corpus``; see :class:`Kept` for what tells. top: how many groups and features to give of each
    kind. unlabeled: further documents that training learned links from. tokens: features of all
    documents, those without labels at the end, where they are known.

    ModelError where the model does not hold its settings, or a builder it names is not there;
    DataError where the texts have none of its features.
    """
    summary = model.summary
    if summary is None:
        raise ModelError(
            "the model does not say how it was trained, so its selection cannot be found: train it "
            "again with textreg train."
        )
    encoder = model.encoder
    if tokens is None:
        texts = [*corpus.texts, *(unlabeled.texts if unlabeled is not None else ())]
        tokens = encoder.vectorizer.fit(encoder.tokenizer, texts).tokens
    whole = tokens
    if len(corpus) < whole.n_documents:
        tokens = whole.select(np.arange(len(corpus)))
    weights, missing = _spread(model, tokens.vocabulary)
    described = summary.groups
    if described is None:
        builder = _builder("groups", DEFAULT, {})
    else:
        builder = _builder("groups", described.name, described.params)
    groups = calls.build_groups(builder, tokens)

    norms = np.sqrt(_over_groups(groups, (weights * weights).sum(axis=0)))
    sizes = np.diff(groups.indptr)
    kept = norms > 0
    values = np.stack([_over_groups(groups, row) for row in weights])
    shower = _Shower(model, corpus, tokens, groups, weights, norms, values)
    strongest = np.argsort(-norms, kind="stable")[: int(kept.sum())]
    home = _home(groups)
    return Kept(
        regularizer=summary.reg.name,
        documents=len(corpus),
        trained_on=summary.documents,
        features=len(tokens.vocabulary),
        missing=missing,
        builder=builder.label(),
        by_group=described is not None,
        groups=len(groups),
        empty=int((sizes == 0).sum()),
        kept=int(kept.sum()),
        strongest=tuple(shower.group(g) for g in shower.different(strongest, top)),
        typical={} if home is None else shower.typical(home, top),
        shares=() if home is None else _shares(home, sizes > 0, kept),
        order=tuple(order[:top] for order in summary.order),
        order_groups=groups_taken(model, groups, shower.text, top),
        pulled=_pulled(model, summary, whole, groups, weights, top),
        path=path_of(model, top),
        notes=_notes(model, summary, unlabeled is not None),
    )


def _spread(model: Model, vocabulary: Sequence[str]) -> tuple[Floats, int]:
    """Weights (k, p) over the features of the texts; how many of the model's are not there."""
    columns = places(model.encoder.names, vocabulary)
    known = columns >= 0
    if len(columns) and not known.any():
        raise DataError(
            f"None of the {len(columns):,} features of the model is one of these texts: give the "
            "corpus that it was trained on."
        )
    weights = np.zeros((len(model.weights), len(vocabulary)))
    weights[:, columns[known]] = model.weights[:, known]
    return weights, int((~known).sum())


def places(names: Sequence[str], vocabulary: Sequence[str]) -> Int64s:
    """The place of each name in a vocabulary, which may be much longer; -1 of those not in it."""
    wanted = {name: number for number, name in enumerate(names)}
    found = np.full(len(names), -1, dtype=np.int64)
    for place, name in enumerate(vocabulary):
        if name in wanted:
            found[wanted[name]] = place
    return found


def _builder(kind: str, name: str, params: dict[str, Any]) -> Any:
    """The builder that a model's summary names."""
    try:
        return registry.resolve(kind, name, params)
    except (PluginError, UsageError) as error:
        raise ModelError(
            f"the model was trained with {kind} of '{name}', which cannot be built again: {error}"
        ) from error


def _over_groups(groups: Groups, values: Floats) -> Floats:
    """The sum over the features of every group."""
    return sums(row_of(groups.indptr), values[groups.indices], len(groups))


def _home(groups: Groups) -> Int64s | None:
    """The document of every group, where each is a piece of one."""
    return row_of(groups.names.document_ptr) if isinstance(groups.names, SegmentNames) else None


def _shares(home: Int64s, filled: Bools, kept: Bools) -> tuple[float, ...]:
    """Of every document with a filled group, the share of its filled groups that is kept."""
    size = int(home.max(initial=-1)) + 1
    whole = np.bincount(home[filled], minlength=size)
    part = np.bincount(home[kept], minlength=size)
    return tuple((part[whole > 0] / whole[whole > 0]).tolist())


class _Shower:
    """Turns numbers of groups into records."""

    def __init__(
        self,
        model: Model,
        corpus: Corpus,
        tokens: Tokens,
        groups: Groups,
        weights: Floats,
        norms: Floats,
        values: Floats,
    ) -> None:
        self.model, self.corpus, self.tokens, self.groups = model, corpus, tokens, groups
        self.norms = norms
        self.labels, self.weights = model.sides(weights)
        self.values = model.sides(values)[1]
        self.offsets = gives_offsets(model)

    def group(self, g: int, row: int | None = None) -> KeptGroup:
        """One group as it speaks for a label, by default the one it speaks for most."""
        row = int(np.argmax(self.values[:, g])) if row is None else row
        members = self.groups.members(g)
        weights = self.weights[row, members]
        order = np.argsort(-np.abs(weights), kind="stable")
        return KeptGroup(
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

    def typical(self, home: Int64s, top: int) -> dict[str, tuple[KeptGroup, ...]]:
        """By label, the kept groups of its documents that speak most for it."""
        y_true = np.array(self.corpus.labels or [], dtype=object)
        found = {}
        for row, label in enumerate(self.labels):
            mine = self.norms > 0
            if self.model.labels and len(y_true):
                mine &= y_true[home] == label
            order = np.argsort(-self.values[row], kind="stable")
            best = order[mine[order] & (self.values[row, order] > 0)]
            found[label] = tuple(self.group(g, row) for g in self.different(best, top))
        return found

    def different(self, order: Iterable[int], top: int) -> list[int]:
        """The first ``top`` groups of an order that have not the same features as an earlier one.

        Where texts repeat a sentence, it is shown once.
        """
        seen: dict[bytes, int] = {}
        for g in order:
            seen.setdefault(self.groups.members(g).tobytes(), int(g))
            if len(seen) == top:
                break
        return list(seen.values())

    def text(self, g: int) -> str | None:
        """What a sentence says; None of other groups, and where nobody knows where words stand."""
        names = self.groups.names
        if not (isinstance(names, SegmentNames) and names.segment == "sentence" and self.offsets):
            return None
        return sentence_of(self.model, self.corpus.texts, names.document_ptr, g)


def _pulled(
    model: Model,
    summary: TrainingSummary,
    tokens: Tokens,
    groups: Groups,
    weights: Floats,
    top: int,
) -> tuple[Pulled, ...]:
    """The features of most weight, and what pulled them; nothing without a graph.

    tokens: those of all documents; groups: those of the labeled ones.
    """
    if summary.graph is None:
        return ()
    builder = _builder("graph", summary.graph.name, summary.graph.params)
    graph = calls.build_graph(builder, tokens, None if summary.groups is None else groups)
    labels, rows = model.sides(weights)
    best = rows.argmax(axis=0)
    size = rows.max(axis=0, initial=0.0)
    strongest = [int(j) for j in np.argsort(-size, kind="stable")[:top] if size[j] > 0]
    return tuple(
        Pulled(
            feature=tokens.vocabulary[j],
            label=labels[best[j]],
            weight=float(size[j]),
            neighbors=_neighbors(graph, tokens, rows[best[j]], j, top),
        )
        for j in strongest
    )


def _neighbors(
    graph: Graph, tokens: Tokens, weights: Floats, j: int, top: int
) -> tuple[Neighbor, ...]:
    """The ``top`` linked features of feature ``j``, the strongest pull first."""
    found = []
    for links, sign in ((graph.similar, 1.0), (graph.dissimilar, -1.0)):
        if links is None:
            continue
        row = slice(int(links.indptr[j]), int(links.indptr[j + 1]))
        others, strength = links.indices[row], links.data[row]
        total = strength.sum()
        for other, link in zip(others.tolist(), strength.tolist(), strict=True):
            if other < graph.n_features:  # virtual features have no weight in the model
                share, weight = link / total, float(weights[other])
                found.append(
                    Neighbor(tokens.vocabulary[other], share, weight, sign * share * weight)
                )
    return tuple(sorted(found, key=lambda one: (-abs(one.pull), one.feature))[:top])


def _notes(model: Model, summary: TrainingSummary, unlabeled: bool) -> tuple[str, ...]:
    """What the model file cannot tell."""
    notes = []
    if summary.reg.name == "stagewise" and model.path is None:
        notes.append(
            "the file holds the weights of stagewise at its end, and neither the order of its "
            "steps nor their path, which textreg train --path keeps."
        )
    if summary.graph is not None and not unlabeled:
        notes.append("links are those of these texts; further documents may have added some.")
    return tuple(notes)
