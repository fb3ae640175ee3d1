"""The shadow of a structure: groups and links of features drawn by chance."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from scipy.sparse import csr_array, random_array

import textreg
from textreg.errors import PluginError
from textreg.plugins import calls, registry
from textreg.records import Graph, Groups
from textreg.structure.shuffling import shuffle_graph, shuffle_groups
from textreg.text import scan_words


def drawn(groups: int = 200, features: int = 150, share: float = 0.05) -> Groups:
    rng = np.random.default_rng(1)
    table = rng.random((groups, features)) < share * rng.uniform(0.2, 4.0, features)
    table[:, 0] = True  # in every group, so that it cannot go anywhere
    indptr = np.concatenate([[0], np.cumsum(table.sum(axis=1))])
    weights = rng.random(groups) + 0.5
    return Groups(indptr, np.nonzero(table)[1].astype(np.int32), weights, features)


def table_of(groups: Groups) -> np.ndarray:
    table = np.zeros((len(groups), groups.n_features), dtype=int)
    for g in range(len(groups)):
        table[g, groups.members(g)] += 1
    return table


def test_sizes_and_frequencies_stay_and_nothing_else() -> None:
    groups = drawn()
    before, after = table_of(groups), table_of(shuffle_groups(groups))
    assert after.max() == 1  # no group has a feature twice
    np.testing.assert_array_equal(before.sum(axis=0), after.sum(axis=0))
    np.testing.assert_array_equal(before.sum(axis=1), after.sum(axis=1))
    np.testing.assert_array_equal(shuffle_groups(groups).weights, groups.weights)
    # As many are left as two tables of these sums have in common by chance.
    expected = np.minimum(1.0, np.outer(before.sum(axis=1), before.sum(axis=0)) / before.sum())
    assert (before * after).sum() < 1.25 * (before * expected).sum()
    np.testing.assert_array_equal(after, table_of(shuffle_groups(groups)))
    assert (table_of(shuffle_groups(groups, seed=1)) != after).any()


@pytest.mark.parametrize("groups", [Groups([0], [], [], 3), Groups([0, 2], [0, 2], [1.0], 3)])
def test_where_nothing_can_move(groups: Groups) -> None:
    np.testing.assert_array_equal(shuffle_groups(groups).indices, groups.indices)


def test_links_stay_between_features_of_other_names() -> None:
    links = csr_array(random_array((12, 12), density=0.3, rng=np.random.default_rng(0)))
    links.setdiag(0.0)
    links.eliminate_zeros()
    graph = shuffle_graph(Graph(links, links.T.tocsr(), classes=2))
    again = shuffle_graph(Graph(links, links.T.tocsr(), classes=2), seed=0)
    assert (graph.similar != again.similar).nnz == 0
    assert graph.classes == 2
    assert graph.dissimilar is not None
    np.testing.assert_array_equal(graph.dissimilar.toarray(), graph.similar.T.toarray())
    before, after = links.toarray(), graph.similar.toarray()
    assert (before != after).any()
    np.testing.assert_array_equal(np.sort(before.ravel()), np.sort(after.ravel()))
    np.testing.assert_array_equal(before[10:, 10:], after[10:, 10:])  # those of classes


def test_any_builder_by_its_name() -> None:
    tokens = scan_words(["It is red. I love it.", "It is blue. I hate it."] * 4)
    cls = registry.find("groups", "shuffled:windows")
    assert cls is registry.find("groups", "shuffled:windows")
    builder = registry.create("groups", cls, size=3)
    assert builder.label() == "shuffled:windows"
    assert builder.params()["size"] == 3
    assert not cls.within_documents
    plain = registry.create("groups", "windows", size=3).build(tokens)
    np.testing.assert_array_equal(
        np.bincount(builder.build(tokens).indices), np.bincount(plain.indices)
    )
    assert registry.origin(builder).distribution == "textreg"
    both = registry.create("groups", "shuffled:sentences,documents", sentences_weight="sqrt")
    joined = registry.create("groups", "sentences,documents", sentences_weight="sqrt")
    made, before = calls.build_groups(both, tokens), calls.build_groups(joined, tokens)
    assert both.label() == "shuffled:sentences,documents"
    np.testing.assert_array_equal(np.diff(made.indptr), np.diff(before.indptr))
    np.testing.assert_array_equal(made.weights, before.weights)
    assert (made.indices != before.indices).any()
    graph = registry.create("graph", "shuffled:cooccurrence").build(tokens)
    assert graph.n_links == registry.create("graph", "cooccurrence").build(tokens).n_links
    with pytest.raises(PluginError, match="no group builder 'nosuch'"):
        registry.find("groups", "shuffled:nosuch")


def test_by_the_command(tmp_path: Path, cli: Cli) -> None:
    path, model = tmp_path / "corpus.jsonl", tmp_path / "m"
    texts = ["It is red. I love it.", "It is blue. I hate it.", "A red one.", "A blue one. Blue!"]
    rows = [
        {"text": text, "label": label} for text, label in zip(texts * 6, "pnpn" * 6, strict=True)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    words = ["--reg", "sentence", "--groups", "shuffled:sentences"]
    out = cli("train", path, *words, "-o", model).out
    assert "shuffled:sentences, " in out
    assert " of 42 shuffled:sentences; proven at the optimum: " in out
    assert " ".join(words) in cli("show", model, "--command").out
    loaded = textreg.load(model)
    assert loaded.summary is not None
    assert loaded.summary.groups is not None
    assert loaded.summary.groups.name == "shuffled:sentences"
    old, newer = tmp_path / "old.jsonl", tmp_path / "newer"
    old.write_text(path.read_text())
    assert cli("update", model, path, "--old", old, "-o", newer).code == 0
    wrong = cli("train", path, "--reg", "sentence", "--groups", "shuffled:nosuch")
    assert wrong.code == 2
    assert "no group builder 'nosuch'" in wrong.err
