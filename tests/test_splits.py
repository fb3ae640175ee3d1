"""Splits by group and by time: what they promise, and what they refuse."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import draws

import textreg
from textreg.errors import DataError, DataWarning, UsageError
from textreg.model.summary import SplitSummary
from textreg.reading.columns import moment
from textreg.reading.corpus import read_corpus
from textreg.records import Corpus
from textreg.training import splits as training_splits
from textreg.training.prepare import read_training
from textreg.training.settings import TrainingSettings
from textreg.training.splits import (
    Split,
    folds,
    group_names,
    holdout,
    left_out,
    left_out_of,
    of_texts,
    splits_of,
    time_folds,
    time_holdout,
)

TEXTS = ["good kettle", "fine lamp", "bad kettle", "poor lamp"] * 10
LABELS = ["pos", "pos", "neg", "neg"] * 10


def drawn(seed: int, n: int, n_groups: int) -> tuple[np.ndarray, list[str]]:
    random = np.random.default_rng(seed)
    codes = np.concatenate([[0, 1] * n_groups, random.integers(2, size=n)])
    groups = [f"g{at // 2}" for at in range(2 * n_groups)]  # both classes in every group
    return codes, groups + [f"g{at}" for at in random.integers(n_groups, size=n)]


def check_cover(splits: list[Split], n: int) -> None:
    assert np.array_equal(np.sort(np.concatenate([split.held for split in splits])), np.arange(n))
    for split in splits:
        assert np.array_equal(np.sort(np.concatenate(split)), np.arange(n))


@draws(50)
@given(st.integers(0, 50), st.integers(4, 60), st.integers(4, 12), st.integers(2, 4))
def test_no_group_is_on_both_sides(seed: int, n: int, n_groups: int, count: int) -> None:
    codes, groups = drawn(seed, n, n_groups)
    splits = folds(codes, "ab", count, seed, groups)
    check_cover(splits, len(codes))
    one = holdout(codes, "ab", 0.3, seed, groups)
    check_cover([one, one._replace(train=one.held, held=one.train)], len(codes))
    for split in [*splits, one]:
        assert not {groups[row] for row in split.train} & {groups[row] for row in split.held}


def test_groups_keep_the_shares_of_classes() -> None:
    random = np.random.default_rng(1)
    groups = [f"g{at // 5}" for at in range(600)]
    codes = np.repeat(random.random(120) < 0.3, 5).astype(int)  # a class for every group
    for split in folds(codes, "ab", 4, 0, groups):
        assert len(split.held) == pytest.approx(150, abs=5)
        assert codes[split.held].mean() == pytest.approx(codes.mean(), abs=0.02)
    held = holdout(codes, "ab", 0.1, 0, groups).held
    assert (len(held), codes[held].mean()) == pytest.approx((60, codes.mean()), rel=0.15)


def test_grouped_splits_depend_on_the_seed_alone() -> None:
    codes, groups = drawn(3, 200, 40)
    held = [holdout(codes, "ab", 0.2, seed, groups).held.tolist() for seed in (7, 7, 8)]
    assert held[0] == held[1] != held[2]


def test_a_share_smaller_than_any_group_still_holds_one_out() -> None:
    codes = np.array([0, 1] * 50)
    split = holdout(codes, "ab", 0.001, 0, ["a"] * 50 + ["b"] * 40 + ["c"] * 10)
    assert split.held.tolist() == list(range(90, 100))


def test_the_latest_are_held_out() -> None:
    times = np.random.default_rng(0).permutation(100).astype(float)
    codes = (times % 2).astype(int)
    split = time_holdout(codes, "ab", times, 0.2)
    assert times[split.held].min() == 80 > times[split.train].max()
    chain = time_folds(codes, "ab", times, 4)
    assert [len(split.train) for split in chain] == [20, 40, 60, 80]
    for split in chain:
        assert len(split.held) == 20
        assert times[split.train].max() < times[split.held].min()
        assert (np.diff(split.train) > 0).all()


def test_documents_of_one_time_stay_together() -> None:
    times = np.repeat([1.0, 2.0, 3.0], [40, 10, 50])
    codes = np.arange(100) % 2
    assert time_holdout(codes, "ab", times, 0.1).held.tolist() == list(range(50, 100))
    first, second = time_folds(codes, "ab", times, 2)
    assert (len(first.train), len(first.held), len(second.held)) == (40, 10, 50)
    with pytest.raises(DataError, match=r"3 different times.*4 blocks"):
        time_folds(codes, "ab", times, 3)
    with pytest.raises(DataError, match="1 different times"):
        time_holdout(codes, "ab", np.ones(100), 0.5)


def test_a_split_that_leaves_a_class_out_is_refused() -> None:
    codes = np.array([0, 1] * 10 + [2] * 5)
    groups = [f"g{at // 4}" for at in range(20)] + ["last"] * 5
    for split in (holdout, folds):
        how = 0.3 if split is holdout else 3
        with pytest.raises(DataError, match=r"documents (to fit on|held out).* label 'c'"):
            split(codes, "abc", how, 0, groups)  # type: ignore[arg-type]
    times = np.arange(25.0)
    with pytest.raises(DataError, match="documents to fit on have none with the label 'c'"):
        time_holdout(codes, "abc", times, 0.2)
    with pytest.raises(DataError, match="documents held out have none with the label 'c'"):
        time_holdout(codes, "abc", -times, 0.2)
    with pytest.raises(DataError, match="to fit on of part 1 of 4 have none with the label 'c'"):
        time_folds(codes, "abc", times, 4)


COPIED = [f"{word} {at}" for word in ("good", "bad") for at in range(40)] * 3


@pytest.mark.parametrize("options", [{}, {"holdout": 0.25}, {"cv": 4}, {"dev": True}])
def test_copies_of_a_text_are_on_one_side(options: dict[str, Any]) -> None:
    corpus = Corpus(COPIED, labels=[text.split()[0] for text in COPIED])
    texts = COPIED
    if options.get("dev"):
        options = {"dev": corpus.select(np.arange(30, 50))}
        texts = [*COPIED, *options["dev"].texts]
    settings = TrainingSettings.from_options(**options)
    training = read_training(corpus, settings)
    splits = splits_of(training.corpus, training.target, settings)
    for split in splits:
        fitted, held = ({texts[row] for row in side} for side in split)
        assert fitted | held == set(texts)
        assert not fitted & held
        assert {text.split()[0] for text in held} == {"good", "bad"}
    once = left_out_of(texts, training.target.task, np.resize(training.target.y, len(texts)), 0)
    assert len(once) == 5
    assert not any(
        {texts[row] for row in it.train} & {texts[row] for row in it.held} for it in once
    )


def test_copies_are_held_out_where_a_class_has_few_other_texts() -> None:
    codes = np.array([0, 1] * 10)
    for texts in (["good", "bad"] * 10, [["x"], ["y"], ["z"], ["w"]] * 5):
        for split in of_texts(texts, codes, lambda it: folds(it, "ab", 5, 0)):
            assert set(codes[split.held]) == set(codes[split.train]) == {0, 1}
    none = np.zeros((20, 2), dtype=bool)
    none[:2] = True
    assert len(of_texts([*"ab", *["c"] * 18], none, lambda it: folds(it, "ab", 5, 0))) == 5
    both = np.ones((6, 2), dtype=bool)
    (one,) = of_texts(["same"] * 6, both, lambda it: [holdout(it, "ab", 0.5, 0)])
    assert len(one.held) == 3
    with pytest.raises(UsageError, match="2 to 10, the number of documents, without copies, not 2"):
        of_texts([*range(10)] * 2, codes, lambda it: folds(it, "ab", 20, 0))


@pytest.mark.parametrize("several", [False, True])
def test_no_part_is_of_one_frequent_text(several: bool) -> None:
    texts = [*COPIED, *["bad news"] * 60]
    labels = [text.split()[0] for text in texts]
    codes = np.array([["good", "bad"].index(label) for label in labels])
    of = np.eye(2, dtype=bool)[codes] if several else codes
    for split in of_texts(texts, of, lambda it: folds(it, ("good", "bad"), 5, 0)):
        fitted, held = ([texts[row] for row in side] for side in split)
        assert 1 < held.count("bad news") < 24
        assert {*fitted} & {*held} == {"bad news"}


def test_a_frequent_text_does_not_move_the_intercept_for_others() -> None:
    random = np.random.default_rng(0)
    starts = np.resize([0, 20], 600)
    words = [random.integers(start, start + 60, size=6) for start in starts]
    texts = [" ".join(f"w{at}" for at in each) for each in words]
    labels = np.resize(["bad", "good"], 600).tolist()
    more = ["unlike all others"] * 200
    model = textreg.train([*texts[:200], *more], [*labels[:200], *["bad"] * 200], tokenizer="words")
    right = np.array(model.predict(texts[200:])) == labels[200:]
    assert right[::2].mean() == pytest.approx(right[1::2].mean(), abs=0.08)
    assert right.mean() > 0.9


def test_a_text_known_by_heart_praises_no_setting() -> None:
    random = np.random.default_rng(0)
    words = [[f"w{at}" for at in random.integers(300, size=6)] for _ in range(60)]
    labels = ["yes" if random.random() < 0.5 else "no" for _ in words]
    model = textreg.train([" ".join(it) for it in words] * 3, labels * 3, tokenizer="words")
    assert model.summary.dev.metrics["log-loss"] > 0.6  # of labels by chance


def test_wrong_counts_are_refused() -> None:
    codes, groups = drawn(0, 10, 4)
    with pytest.raises(UsageError, match="cv must be 2 to 4, the number of groups, not 5"):
        folds(codes, "ab", 5, 0, groups)
    with pytest.raises(UsageError, match="cv must be 2 to 17, the number of documents but one"):
        time_folds(codes, "ab", np.arange(18.0), 18)
    with pytest.raises(DataError, match="All documents are of one group, 'x'"):
        holdout(codes, "ab", 0.5, 0, ["x"] * 18)
    with pytest.raises(DataError, match="All documents are of one group, 'x'"):
        folds(codes, "ab", 3, 0, ["x"] * 18)


UTC = timezone.utc


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0),
        ("  -2.5e3", -2500.0),
        ("1970-01-02", 86400.0),
        ("1970-01-01T00:01", 60.0),
        ("1970-01-01 00:00:01.25Z", 1.25),
        ("1970-01-01T02:00:00+0100", 3600.0),
        ("1970-01-01T02:00:00,5-01:00", 10800.5),
        (date(1970, 1, 3), 172800.0),
        (datetime(1970, 1, 1, 1, tzinfo=UTC), 3600.0),
        (np.datetime64("1970-01-01T00:00:30.123456789"), 30.123456789),
    ],
)
def test_times(value: Any, number: float) -> None:
    assert moment(value)[0] == pytest.approx(number)


@pytest.mark.parametrize(
    "value", ["", None, "soon", "nan", float("inf"), True, "2024-13-01", "01/02/2024", [1], "NaT"]
)
def test_what_is_no_time(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        moment(value)


def test_train_by_group_and_by_time() -> None:
    writers = [f"w{at % 8}" for at in range(40)]
    summary = textreg.train(TEXTS, LABELS, reg="lasso", group_of=writers, holdout=0.25).summary
    assert summary.split == SplitSummary("holdout", parts=1, seed=0, by="group")
    days = [f"2024-{1 + at // 20:02}-{1 + at % 20:02}" for at in range(40)]
    summary = textreg.train(TEXTS, LABELS, reg="lasso", time_of=days, cv=3).summary
    assert summary.split.by == "time"
    assert summary.dev.documents == 30
    assert summary.documents == 40


def test_the_estimator_takes_groups_and_times() -> None:
    classifier = textreg.TextClassifier(reg="lasso", holdout=0.25)
    classifier.fit(TEXTS, LABELS, group_of=np.arange(40) % 8)
    assert classifier.model_.summary.split.by == "group"
    classifier.fit(TEXTS, LABELS, time_of=np.arange(40))
    assert classifier.model_.summary.dev.documents == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group_of": ["a"] * 40, "time_of": range(40)}, "groups and times"),
        ({"group_of": ["a", "b"] * 20, "dev": (TEXTS, LABELS)}, "dev already says"),
        ({"group_of": ["a", "b"] * 20, "reg_l1": 0.1}, "nothing is held out"),
        ({"group_of": ["a", None] * 20}, "document 2: the group is missing"),
        ({"group_of": ["a"]}, "40 texts but 1 group_of"),
        ({"time_of": [1, None] * 20}, "document 2: the time is missing"),
        ({"time_of": [1, "2024-01-01"] * 20}, "document 2: the time 2024-01-01 is a date, but"),
        ({"time_of": [1, "soon"] * 20}, "document 2: the time 'soon' is neither"),
    ],
)
def test_contradictions_and_gaps(options: dict[str, Any], message: str) -> None:
    with pytest.raises((UsageError, DataError), match=message):
        textreg.train(TEXTS, LABELS, reg="lasso", **options)


def test_a_time_that_pandas_has_none_for_is_missing() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="document 2: the time is missing"):
        textreg.train(TEXTS, LABELS, reg="lasso", time_of=[1, pandas.NA] * 20)


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


ROWS = [
    {"text": text, "label": label, "author": f"w{at % 8}", "day": f"2024-01-{1 + at % 28:02}"}
    for at, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True))
]


def test_columns_of_groups_and_times(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", [*ROWS, {**ROWS[0], "day": "soon"}])
    with pytest.warns(DataWarning, match=r"time is missing or not one"):
        corpus = read_corpus(path, group_col="author", time_col="DAY", on_error="skip")
    assert len(corpus.skipped) == 1
    assert corpus.group_of is not None
    assert corpus.group_of[:2] == ["w0", "w1"]
    assert corpus.columns["time"] == "day"
    chosen = corpus.select(np.array([3, 1]))
    assert (chosen.group_of, chosen.time_of) == (["w3", "w1"], ["2024-01-04", "2024-01-02"])
    with pytest.raises(DataError, match=r"c\.jsonl:41: the time 'soon' is neither .* Fix the row"):
        read_corpus(path, time_col="day")
    path = write(tmp_path / "d.jsonl", [*ROWS, {**ROWS[0], "author": ""}])
    with pytest.raises(DataError, match=r"d\.jsonl:41: group \"\" in 'author' is not a text or"):
        read_corpus(path, group_col="author")


def test_the_command_line_splits_by_columns(cli: Cli, tmp_path: Path) -> None:
    path, dev = (write(tmp_path / name, ROWS) for name in ("c.jsonl", "dev.jsonl"))
    model = str(tmp_path / "m.textreg")
    by_author = ("--group-col", "author", "--holdout", "0.25")
    code, out, _ = cli("train", path, "--reg", "lasso", *by_author, "-o", model)
    assert code == 0
    assert "documents held out, by group" in out
    code, out, _ = cli(
        "train", path, "--reg", "lasso", "--time-col", "day", "--cv", "3", "-o", model
    )
    assert code == 0
    assert "cross-validation, 3 parts, by time" in out
    for bad, message in [
        (("--time-col", "day", "--group-col", "author"), "leave out --group-col or --time-col"),
        (("--time-col", "day", "--dev", dev), "dev already says which documents to choose on"),
        (("--group-col", "autor"), "Did you mean 'author'"),
    ]:
        code, _, err = cli("train", path, *bad, "-o", model)
        assert code == 2
        assert message in err


def test_splits_of_a_seed() -> None:
    """Which documents are held out is part of what a seed promises."""
    codes, labels = np.arange(18) % 3, ("a", "b", "c")
    codes[:3] = 2
    sets = np.arange(36).reshape(18, 2) % 5 < 2
    groups = [f"g{row // 4}" for row in range(18)]
    times = np.array([3, 1, 2, 2, 5, 4, 4, 4, 9, 8, 7, 6, 6, 5, 1, 0, 2, 3], dtype=float)
    given: list[Any] = [
        ("holdout", [holdout(codes, labels, 0.3, 1)]),
        ("holdout of groups", [holdout(codes, labels, 0.3, 1, groups)]),
        ("holdout of sets", [holdout(sets, labels[:2], 0.3, 1)]),
        ("folds", folds(codes, labels, 3, 1)),
        ("folds of groups", folds(codes, labels, 3, 1, groups)),
        ("folds of sets", folds(sets, labels[:2], 3, 1)),
        ("left out", left_out(np.append(codes, 3), 4, 1)),
        ("later ones", [time_holdout(codes, labels, times, 0.3)]),
        ("folds of times", time_folds(codes, labels, times, 2)),
    ]
    found = {
        name: [" ".join(map(str, split.held.tolist())) for split in splits]
        for name, splits in given
    }
    assert found == HELD
    for name, splits in given:
        for split in splits:
            assert (np.diff(split.train) > 0).all()
            count = 19 if name == "left out" else 18
            rest = np.setdiff1d(np.arange(count), split.held)
            if "times" not in name:
                assert split.train.tolist() == rest.tolist()
    fitted = [" ".join(map(str, split.train.tolist())) for split in given[-1][1]]
    assert fitted == FITTED


HELD = {
    "holdout": ["1 3 4 13 14 15"],
    "holdout of groups": ["8 9 10 11"],
    "holdout of sets": ["0 5 9 11 14"],
    "folds": ["4 8 9 10 15 17", "1 2 3 7 11 12", "0 5 6 13 14 16"],
    "folds of groups": ["0 1 2 3 12 13 14 15", "4 5 6 7", "8 9 10 11 16 17"],
    "folds of sets": ["2 4 5 11 13 15", "8 9 10 12 16 17", "0 1 3 6 7 14"],
    "left out": ["11 12 15 16 17", "0 2 3 10 13", "1 4 5 6", "7 8 9 14"],
    "later ones": ["8 9 10 11 12"],
    "folds of times": ["0 5 6 7 17", "4 8 9 10 11 12 13"],
}
FITTED = ["1 2 3 14 15 16", "0 1 2 3 5 6 7 14 15 16 17"]


@pytest.mark.parametrize(
    ("n", "options", "held"),
    [
        (20, {}, [4, 4, 4, 4, 4]),
        (4, {}, [1, 1, 1, 1]),
        (21, {}, [2]),  # enough documents
        (12, {"labels": 3}, [3]),  # enough labels: one document of each
        (20, {"refit": False}, [2]),
        (20, {"holdout": 0.3}, [6]),
        (20, {"cv": 2}, [10, 10]),
        (20, {"group_of": ["a", "a", "b", "b"] * 5}, [10]),
        (20, {"group_of": ["a", "a", "b", "b"] * 5, "cv": 2}, [10, 10]),
        (20, {"time_of": list(range(20))}, [2]),
        (20, {"time_of": list(range(20)), "cv": 2}, [6, 7]),
        # Nothing is searched: some are held out for what else is learned from them.
        (20, {"reg_l1": 1.0}, []),
        (20, {"reg_l1": 1.0, "calibrate": "none", "intercept": "fitted"}, []),
        (20, {"reg_l1": 1.0, "calibrate": "temperature"}, [4] * 5),
        (20, {"reg_l1": 1.0, "intercept": "left-out"}, [4] * 5),
        (20, {"reg_l1": 1.0, "threshold": {"a": "f1"}}, [4] * 5),
        (20, {"reg_l1": 1.0, "path": True}, [4] * 5),
        (20, {"reg_l1": 1.0, "unknown": "u"}, [4] * 5),
        (20, {"reg_l1": 1.0, "evidence_words": "file"}, [4] * 5),
        (20, {"reg_l1": 1.0, "evidence_of": [[(0, 1)]] + [[]] * 19}, [4] * 5),
        (20, {"reg_l1": 1.0, "evidence_of": [[]] * 20}, []),
        (20, {"reg_l1": 1.0, "holdout": 0.5}, [10]),
        (20, {"reg": "ridge", "reg_l2": 1.0, "unlabeled": Corpus(["a"])}, [4] * 5),
        # Few documents of dev are added to the parts, others are held out as they are.
        (20, {"dev": 19}, [8, 8, 8, 8, 7]),
        (30, {"dev": 10}, [8] * 5),
        (31, {"dev": 10}, [10]),  # there are enough others
        (20, {"dev": 20}, [20]),
        (12, {"dev": 9, "labels": 3}, [9]),
        (20, {"dev": 10, "refit": False}, [10]),
        (20, {"dev": 10, "unknown": "u"}, [10]),
        (20, {"dev": 10, "reg_l1": 1.0}, [6] * 5),
    ],
)
def test_what_is_held_out(
    monkeypatch: pytest.MonkeyPatch, n: int, options: dict[str, Any], held: list[int]
) -> None:
    for name, value in {"ENOUGH": 20, "FEW": 30, "LABELS": 3}.items():
        monkeypatch.setattr(training_splits, name, value)
    options = {"reg": "lasso", "labels": 2, **options}
    names = "abc"[: options.pop("labels")]

    def corpus(count: int, **columns: Any) -> Corpus:
        return Corpus(["a"] * count, [names[at % len(names)] for at in range(count)], **columns)

    own = {
        key: options.pop(key) for key in ("group_of", "time_of", "evidence_of") if key in options
    }
    if "dev" in options:
        options["dev"] = corpus(options["dev"])
    settings, documents = TrainingSettings.from_options(**options), corpus(n, **own)
    splits = splits_of(documents, read_training(documents, settings).target, settings)
    assert [len(split.held) for split in splits] == held
    every = n + (0 if settings.dev is None else len(settings.dev))
    for split in splits:
        assert (np.diff(split.train) > 0).all()
        assert (np.diff(split.held) > 0).all()
        if own.get("time_of") is None:
            assert sorted([*split.train, *split.held]) == list(range(every))
    if settings.dev is not None and len(splits) == 1:
        assert splits[0].held.tolist() == list(range(n, every))


def test_labels_of_dev_alone_are_held_out_once() -> None:
    settings = TrainingSettings.from_options(
        reg="lasso", dev=Corpus(["a"] * 5, ["a", "new", "b", "new", "b"])
    )
    documents = Corpus(["a"] * 10, ["a", "b"] * 5)
    with pytest.warns(DataWarning, match=r"in 2 of 5 documents: 'new' \(2\)"):
        splits = splits_of(documents, read_training(documents, settings).target, settings)
    assert len(splits) == 5
    assert [row in split.held for split in splits for row in (11, 13)] == [True] * 2 + [False] * 8
    for split in splits:
        assert not np.isin([11, 13], split.train).any()
        assert (np.diff(split.held) > 0).all()
    known = np.concatenate([split.held for split in splits])
    assert sorted(known.tolist()) == list(range(15))


def test_groups_of_any_type_have_names() -> None:
    pd = pytest.importorskip("pandas")
    assert group_names([1, "b", 2.5, 0]) == ["1", "b", "2.5", "0"]
    for missing in (None, "", float("nan"), np.float32("nan"), pd.NA):
        with pytest.raises(DataError, match="document 3: the group is missing"):
            group_names(["a", "b", missing])
