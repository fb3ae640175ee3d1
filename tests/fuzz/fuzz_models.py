"""Model files: bytes that were changed, and other content behind a right checksum.

A file must be refused with a ModelError, or give a model that predicts, explains, shows itself and
can be saved again; in either case without memory out of proportion to the file.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from model_files import content

import textreg
from textreg.cli import main
from textreg.errors import ModelError
from textreg.model import container
from textreg.model.model import Model

SECONDS, MEGABYTES = 30, 400
ALLOWED = (ModelError,)

TEXTS = ["good fine film", "bad dull plot", "so so and nothing", "the plot of the film is fine"]
LABELS = ["p", "n", "m", "p"]
ODD_TEXTS = ["", "good", "bad dull. fine film!", "\ud800 broken", "zzz " * 30, "so so " * 50]

STRENGTHS = {"reg_l1": [1.0, 0.3, 0.1, 0.03]}
MODELS: dict[str, dict[str, Any]] = {
    "binary": {"reg": "sentence", "labels": 2},
    "path": {
        "reg": "lasso",
        "search_space": STRENGTHS,
        "path": True,
        "calibrate": "isotonic",
        "cv": 2,
        "labels": 2,
    },
    "one-vs-rest": {
        "reg": "elastic",
        "reg_l1": 0.1,
        "reg_l2": 0.1,
        "calibrate": "temperature",
        "threshold": {"p": "f1"},
    },
    "isotonic": {
        "reg": "lasso",
        "search_space": STRENGTHS,
        "path": True,
        "calibrate": "isotonic",
        "cv": 2,
        "tol": 1e-2,
    },
    "softmax": {"reg": "ridge", "reg_l2": 0.1, "multiclass": "softmax", "ngrams": 3},
    "regression": {
        "reg": "ridge",
        "reg_l2": 0.1,
        "task": "regression",
        "labels": 0,
        "weighting": "count",
    },
    "pursuit": {"reg": "gomp", "groups": "documents", "weighting": "unit", "reg_budget": 3},
    "network": {
        "reg": "network",
        "reg_alpha": 0.1,
        "reg_beta": 0.1,
        "graph": "cooccurrence",
        "ngrams": 1,
        "weighting": "log",
    },
    "hinge": {"reg": "ridge", "reg_l2": 0.1, "loss": "hinge", "weighting": "binary", "labels": 2},
    "joined": {
        "reg": "ridge",
        "reg_l2": 0.1,
        "tokenizer": "words,chars",
        "tokenizer_max_n": 3,
        "weighting": "unit-idf",
        "labels": 2,
    },
    "tokens": {
        "reg": "lasso",
        "reg_l1": 0.1,
        "tokenizer": "words",
        "tokenizer_sentences": "lines",
        "stop_words": "the",
    },
}
FILES: list[Path] = []


def prepare(shared: Path) -> None:
    """One model of every kind, in files."""
    rng = np.random.default_rng(5)
    words = "good fine bad dull so film plot the of and is nothing great poor weak strong".split()
    texts = [" ".join(rng.choice(words, size=8)) for _ in range(60)]
    for name, options in MODELS.items():
        file = shared / f"{name}.textreg"
        if not file.exists():
            _train(file, texts, dict(options))
        FILES.append(file)
    corpus = [{"text": text, "label": LABELS[i % 3]} for i, text in enumerate(texts[:12])]
    (shared / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))


def _train(file: Path, texts: list[str], options: dict[str, Any]) -> None:
    labels = options.pop("labels", 3)
    if "stop_words" in options:
        listed = file.with_suffix(".words")
        listed.write_text(options["stop_words"])
        options["stop_words"] = str(listed)
    if labels:
        answers = [LABELS[len(text) % labels] for text in texts]
    else:
        answers = [str(len(text)) for text in texts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        textreg.train(texts, answers, **options).save(file)


def case(rng: np.random.Generator, folder: Path) -> str:
    """One file, made from one or two of the models."""
    source = FILES[rng.integers(len(FILES))]
    file = folder / "model.textreg"
    if rng.random() < 0.35:
        kind = "raw"
        _write_changed(rng, source.read_bytes(), file)
    else:
        kind = "re-signed"
        file.write_bytes(_signed_again(rng, source))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", textreg.errors.PluginWarning)
            model = textreg.load(file)
    except ModelError:
        _command("show", file, expected=None)
        raise
    _use(rng, model, file)
    return f"{kind} loaded"


# What a model that was loaded must do


def _use(rng: np.random.Generator, model: Model, file: Path) -> None:
    answers = model.predict(ODD_TEXTS)
    assert len(answers) == len(ODD_TEXTS)
    scores = model.decision_function(ODD_TEXTS)
    assert np.isfinite(scores).all(), f"scores {scores}"
    if model.has_probabilities:
        sums = model.predict_proba(ODD_TEXTS).sum(axis=1)
        assert np.allclose(sums, 1), f"probabilities add up to {sums}"
    for text in ODD_TEXTS:
        explained = model.explain(text)
        assert np.isfinite(explained.score)
    model.top_features(3)
    repr(model)
    if model.path is not None:
        for point in range(len(model.path)):
            model.path.at(point)
        if model.path.names:
            model.path.profile(model.path.names[0])
    again = file.with_name("again.textreg")
    model.save(again)
    assert textreg.load(again).predict(ODD_TEXTS) == answers
    _command("show", file)
    _command("show", file, "--json")
    if model.path is not None:
        _command("show", file, "--path")
    _command("explain", file, "good film of the plot")
    (file.parent / "texts.txt").write_text("good film\nbad plot\n")
    _command("predict", file, file.parent / "texts.txt")
    corpus = FILES[0].with_name("corpus.jsonl")
    _command("evaluate", file, corpus, expected=None)
    if rng.random() < 0.3:
        _command("explain", file, "--train", corpus, expected=None)
    if rng.random() < 0.1:
        report = file.with_name("report.html")
        _command("report", file, corpus, "-o", report, expected=None)


def _command(*arguments: object, expected: int | None = 0) -> None:
    """A command that ends as expected (None: well or with a refusal), without a traceback."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(map(str, arguments)))
    said = err.getvalue()
    right = code in (0, 1, 2) if expected is None else code == expected
    assert right, f"{arguments[0]}: exit {code}: {said}"
    assert "Traceback" not in said, said


# Raw changes


def _write_changed(rng: np.random.Generator, data: bytes, file: Path) -> None:
    changed = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        RAW[rng.integers(len(RAW))](rng, changed)
    file.write_bytes(changed)
    if rng.random() < 0.05:  # a hole, which takes no room on the disk
        with file.open("r+b") as opened:
            opened.truncate(len(changed) + int(10 ** rng.uniform(0, 12)))


def _flip(rng: np.random.Generator, data: bytearray) -> None:
    for _ in range(rng.integers(1, 9)):
        if data:
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))


def _flip_header(rng: np.random.Generator, data: bytearray) -> None:
    end = min(len(data), 8 + int.from_bytes(data[:8], "little"))
    if end > 8:
        data[rng.integers(8, end)] = rng.integers(32, 127)


def _truncate(rng: np.random.Generator, data: bytearray) -> None:
    del data[rng.integers(len(data) + 1) :]


def _insert(rng: np.random.Generator, data: bytearray) -> None:
    at = rng.integers(len(data) + 1)
    data[at:at] = rng.bytes(int(rng.integers(1, 40)))


def _remove(rng: np.random.Generator, data: bytearray) -> None:
    at = rng.integers(len(data) + 1)
    del data[at : at + rng.integers(1, 40)]


def _repeat(rng: np.random.Generator, data: bytearray) -> None:
    at, to = (rng.integers(len(data) + 1) for _ in range(2))
    data[to:to] = data[at : at + rng.integers(1, 400)]


def _splice(rng: np.random.Generator, data: bytearray) -> None:
    other = FILES[rng.integers(len(FILES))].read_bytes()
    data[rng.integers(len(data) + 1) :] = other[rng.integers(len(other)) :]


def _other_length(rng: np.random.Generator, data: bytearray) -> None:
    length = int.from_bytes(data[:8], "little")
    choices = [0, 1, length - 1, length + 1, len(data), 10**8, 10**8 + 1, 2**31, 2**63, 2**64 - 1]
    data[:8] = (choices[rng.integers(len(choices))] % 2**64).to_bytes(8, "little")


def _other_table(rng: np.random.Generator, data: bytearray) -> None:
    """Other types, shapes, offsets or texts in the table of arrays."""
    end = 8 + int.from_bytes(data[:8], "little")
    try:
        table = json.loads(data[8:end])
    except (ValueError, RecursionError):  # another change before this one
        return
    _change_json(rng, table)
    text = _odd_text(rng, json.dumps(table)).encode("utf-8", "surrogatepass")
    data[:end] = len(text).to_bytes(8, "little") + text


RAW: list[Callable[[np.random.Generator, bytearray], None]] = [
    _flip, _flip_header, _truncate, _insert, _remove, _repeat, _splice, _other_length,
    _other_table, _other_table, _other_table,
]  # fmt: skip


# Changes behind a right checksum


def _signed_again(rng: np.random.Generator, source: Path) -> bytes:
    header, arrays = content(source)
    if rng.random() < 0.1:  # arrays or header of another model
        other = content(FILES[rng.integers(len(FILES))])
        header, arrays = (header, other[1]) if rng.random() < 0.5 else (other[0], arrays)
    header.pop("format", None)
    n_changes = rng.integers(1, 4)
    for _ in range(n_changes):
        if rng.random() < 0.5:
            _change_leaf(rng, header)
        elif rng.random() < 0.5:
            _change_json(rng, header)
        else:
            _change_arrays(rng, arrays)
    bomb = rng.random() < 0.03
    if bomb:
        name = list(arrays)[rng.integers(len(arrays))]
        length, array = int(10 ** rng.uniform(5, 7)), arrays[name]
        arrays[name] = np.full(length, array.flat[0] if array.size else 0)
    text = json.dumps(header, sort_keys=True)
    return _sign(rng, text, arrays)


def _sign(rng: np.random.Generator, text: str, arrays: dict[str, Any]) -> bytes:
    """What :func:`textreg.model.container.pack` does, for any text and without limits."""
    small, container.SMALL = container.SMALL, 10**15
    try:
        stored, deflated = container.deflate(arrays)
    finally:
        container.SMALL = small
    if rng.random() < 0.05:
        _change_json(rng, deflated)
    if text.startswith("{"):
        text = f'{{"deflated":{json.dumps(deflated)},"format":1,{text[1:]}'
    text = _odd_text(rng, text).replace(",}", "}")
    entries = container.arrange(stored)
    data = [container.little(stored[entry.name]).tobytes() for entry in entries]
    coded = text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(coded)
    for entry, part in zip(entries, data, strict=True):
        digest.update(entry.digest_text())
        digest.update(part)
    return container.join({"textreg": text, "checksum": digest.hexdigest()}, entries, data)


ODD = [
    None, True, False, 0, 1, -1, 2, 3, 1e308, -1e308, 5e-324, 1e-9, 0.5, 2**31, 2**63, -(2**63),
    10**18, 10**40, 10**305, float("inf"), float("nan"), "", "p", "words", "tfidf", "a b c d e f",
    "\ud800", "\x00", "\x1b[31m", "x" * 5000, "../../etc/passwd", [], {}, [None], [[]], {"a": 1},
    {"": None}, [1, 2, 3], ["p", "n"], ["p", "p"], [0.1, 0.2], {"l1": 1}, [[1, 2], [0.1, 0.9]],
]  # fmt: skip


def _change_json(rng: np.random.Generator, root: Any) -> None:
    """Change one value somewhere inside; roots stay what they are."""
    places = _places(root)
    if not places:
        return
    # Deep members are many: choose the depth first.
    depths = sorted({depth for *_, depth in places})
    depth = depths[rng.integers(len(depths))]
    here = [place for place in places if place[2] == depth]
    parent, key, _ = here[rng.integers(len(here))]
    kind = rng.integers(7)
    if kind == 0 and isinstance(parent, dict):
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[f"{key}_more"] = copy.deepcopy(parent[key])
    elif kind == 1:
        parent.insert(key, copy.deepcopy(parent[key]))
    elif kind == 2:
        other, at, _ = places[rng.integers(len(places))]
        parent[key] = copy.deepcopy(other[at])
    elif kind == 3 and type(parent[key]) in (int, float):
        parent[key] = parent[key] * [0, -1, 2, 10, 1000, 1e-3, 1e300][rng.integers(7)]
    elif kind == 4 and type(parent[key]) is int:
        parent[key] += int(rng.integers(-2, 3))
    elif kind == 5 and isinstance(parent[key], (list, str)) and parent[key]:
        parent[key] = parent[key][: rng.integers(len(parent[key]))]
    else:
        parent[key] = copy.deepcopy(ODD[rng.integers(len(ODD))])


def _change_leaf(rng: np.random.Generator, root: Any) -> None:
    """Another value of the same type in one place, which the types of records let pass."""
    leaves = [place for place in _places(root) if not isinstance(place[0][place[1]], (dict, list))]
    parent, key, _ = leaves[rng.integers(len(leaves))]
    kind = type(parent[key])
    others = [*ODD, *(other[at] for other, at, _ in leaves)]
    same = [other for other in others if type(other) is kind]
    parent[key] = same[rng.integers(len(same))]


def _places(value: Any, depth: int = 0) -> list[tuple[Any, Any, int]]:
    """Every parent and key inside a value, and how deep they are."""
    found = []
    keys: Any = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        found.append((value, key, depth))
        if isinstance(value[key], (dict, list)):
            found += _places(value[key], depth + 1)
    return found


def _odd_text(rng: np.random.Generator, text: str) -> str:
    """Now and then, what no JSON value gives: repeated names, depth, endless numbers."""
    if rng.random() > 0.06 or "{" not in text[1:]:
        return text
    deep = int(rng.integers(10, 5000))
    more = [
        '"labels":["a","b"]', '"params":{}', f'"x":{"[" * deep}{"]" * deep}',
        f'"x":{"9" * deep}', f'"x":1e{deep}', '"x":NaN', '"x":-Infinity', '"x":"\\ud800"',
        '"x":\ud800', f'"params":{{"l1":{"[" * 40}{"]" * 40}}}', '"":{}', "{", "}",
    ]  # fmt: skip
    places = [at for at, letter in enumerate(text) if letter == "{"]
    at = places[rng.integers(len(places))] + 1
    return f"{text[:at]}{more[rng.integers(len(more))]},{text[at:]}"


def _change_arrays(rng: np.random.Generator, arrays: dict[str, Any]) -> None:
    names = list(arrays)
    if not names:
        return
    name = names[rng.integers(len(names))]
    array = np.array(arrays[name])
    ARRAY_CHANGES[rng.integers(len(ARRAY_CHANGES))](rng, arrays, name, array)


def _put(rng: np.random.Generator, arrays: dict[str, Any], name: str, array: Any) -> None:
    extremes: list[Any] = [0, 1, -1, len(array), 2**31 - 1, -(2**31), 2**62, -(2**63), 255, 32]
    if array.dtype.kind == "f":
        extremes += [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e150, -0.0, 1e38]
    for _ in range(rng.integers(1, 4)):
        if len(array):
            value = extremes[rng.integers(len(extremes))]
            with np.errstate(all="ignore"):
                array[rng.integers(len(array))] = np.array(value).astype(array.dtype)
    arrays[name] = array


def _cut(rng: np.random.Generator, arrays: dict[str, Any], name: str, array: Any) -> None:
    arrays[name] = array[: rng.integers(len(array) + 1)]


def _grow(rng: np.random.Generator, arrays: dict[str, Any], name: str, array: Any) -> None:
    arrays[name] = np.concatenate([array, array[: rng.integers(1, 5)]])


def _order(rng: np.random.Generator, arrays: dict[str, Any], name: str, array: Any) -> None:
    arrays[name] = [np.sort(array), array[::-1], rng.permutation(array)][rng.integers(3)]


def _scale(rng: np.random.Generator, arrays: dict[str, Any], name: str, array: Any) -> None:
    factor = [0, -1, 2, 1e3, 1e100, 1e300][rng.integers(6)]
    with np.errstate(all="ignore"):
        arrays[name] = (array * np.float64(factor)).astype(array.dtype)


def _retype(rng: np.random.Generator, arrays: dict[str, Any], name: str, array: Any) -> None:
    types = ["u1", "i1", "i2", "i4", "i8", "u8", "f2", "f4", "f8", "?"]
    with np.errstate(all="ignore"):
        arrays[name] = array.astype(types[rng.integers(len(types))])


def _reshape(rng: np.random.Generator, arrays: dict[str, Any], name: str, array: Any) -> None:
    shapes = [(-1, 1), (1, -1), (1, 1, -1)]
    arrays[name] = array.reshape(shapes[rng.integers(3)])


def _drop(rng: np.random.Generator, arrays: dict[str, Any], name: str, array: Any) -> None:
    del arrays[name]


def _rename(rng: np.random.Generator, arrays: dict[str, Any], name: str, array: Any) -> None:
    others = ["idf", "columns", "path_ptr", "other", "\ud800", "a" * 3000, *arrays]
    arrays[others[rng.integers(len(others))]] = arrays.pop(name)


ARRAY_CHANGES: list[Callable[..., None]] = [
    _put, _put, _put, _cut, _grow, _order, _scale, _retype, _reshape, _drop, _rename,
]  # fmt: skip
