"""python -m benchmarks.rationales: what it measures of a small corpus, and the tables it writes."""

from __future__ import annotations

import gzip
import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import textreg

CHECKOUT = Path(textreg.__file__).parent.parent
pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "benchmarks" / "rationales").is_dir(), reason="there are no benchmarks here"
)


@pytest.fixture(scope="module")
def bench() -> Any:
    """The modules of the benchmark."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(CHECKOUT))
        names = ("__main__", "corpus", "measure", "methods", "page", "rules")
        yield type(
            "Bench",
            (),
            {name: importlib.import_module(f"benchmarks.rationales.{name}") for name in names},
        )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reviews whose second sentence is the reason, and is marked."""
    folder = tmp_path_factory.mktemp("data") / "rationales" / "movies"
    folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    judging = {"POS": ("wonderful", "great", "fine"), "NEG": ("awful", "dull", "bad")}
    for name, n in (("train", 60), ("dev", 12), ("test", 12)):
        rows = []
        for at in range(n):
            label = ("POS", "NEG")[at % 2]
            first = f"we saw film {at} with {random.integers(9)} friends ."
            reason = f"it was {random.choice(judging[label])} and {random.choice(judging[label])} ."
            last = "then we went home ."
            text = "\n".join([first, reason, last])
            starts = np.cumsum([0, len(first) + 1, len(reason) + 1]).tolist()
            spans = [
                [start, start + len(part)]
                for start, part in zip(starts, (first, reason, last), strict=True)
            ]
            rows.append({"text": text, "label": label, "evidence": [spans[1]], "sentences": spans})
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return folder.parent.parent


def test_methods_are_measured_and_compared(bench: Any, data: Path) -> None:
    chosen = [one for one in bench.methods.METHODS if one.name in ("sentence", "ridge", "NB-SVM")]
    found = dict(bench.measure.agreement(data, chosen, None))
    assert list(found) == ["ridge", "lasso", "sentence", "NB-SVM"]
    for name, entry in found.items():
        assert entry["accuracy"] == 1.0, name
        assert entry["measures"]["top_1"][0] == 1.0, name
        assert ("differences" in entry) == (name in ("sentence", "NB-SVM"))
        assert entry["marked"][2] == 12
    assert "sufficiency" not in found["NB-SVM"]["measures"]
    difference = found["sentence"]["differences"]["lasso"]["token_f1"]
    first, second = (found[name]["measures"]["token_f1"][0] for name in ("sentence", "lasso"))
    assert difference[0] == pytest.approx(first - second)


@pytest.mark.thorough
def test_rules_are_judged_on_documents_that_no_fit_has_seen(
    bench: Any, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.measure, "REFITS", 2)
    kind, found = next(bench.measure.rules(data, None))
    assert kind == bench.measure.KINDS[0]
    assert list(found) == list(bench.rules.RULES)
    own = found["evidence: norm of positive parts, and around"]
    assert own["measures"][1] > 0.8  # a random order has 0.61
    assert all(-1.0 <= one["stability"] <= 1.0 for one in found.values())
    parts = bench.corpus.folds(60, 3)
    assert sorted(np.concatenate(parts).tolist()) == list(range(60))


def test_rules_agree_with_what_explain_shows(bench: Any, data: Path) -> None:
    train = bench.corpus.split(data, "train")
    model = textreg.train(train.texts, train.labels, reg="ridge", reg_l2=0.1)
    parts = bench.rules.Parts(model, train.texts[:5])
    shown = [one for text in train.texts[:5] for one in model.explain(text).sentences]
    rules = bench.rules.RULES
    for rule, attribute in (
        ("sum of contributions", "value"),
        ("removal log-odds", "removal"),
        ("evidence: norm of positive parts, and around", "evidence"),
    ):
        wanted = [getattr(one, attribute) for one in shown]
        np.testing.assert_allclose(rules[rule](parts), wanted, atol=1e-9)


def test_the_page_matches_the_results(bench: Any, tmp_path: Path) -> None:
    main = bench.__dict__["__main__"]
    assert main.main(["--check"]) == 0
    results = json.loads(main.RESULTS.read_text(encoding="utf-8"))
    results["methods"]["ridge"]["accuracy"] = 0.1234
    changed = tmp_path / "results.json"
    changed.write_text(json.dumps(results), encoding="utf-8")
    page = tmp_path / "evidence.md"
    page.write_text(main.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    where = ["--results", str(changed), "--page", str(page)]
    assert main.main([*where, "--check"]) == 1
    assert main.main([*where, "--render"]) == 0
    assert "| 0.123 |" in page.read_text(encoding="utf-8")
    assert main.main([*where, "--check"]) == 0
    with pytest.raises(ValueError, match="the page has no"):
        bench.page.put("# Nothing", results)
    with pytest.raises(SystemExit):
        main.main(["--data", str(tmp_path)])
