"""Wrong labels found by textreg check and by cleanlab, of labels flipped at random.

    python -m benchmarks.label_errors --data DIR [--corpora imdb trec ...] [--share 0.05] [--seed 0]

Of every training file 5 % of the labels are replaced by another label of the corpus. Both packages
get the same out-of-sample probabilities, those of textreg check. AP: average precision of the
documents in the order of suspicion (textreg's; cleanlab's get_label_quality_scores). found:
precision and recall of the documents that are named (textreg's; cleanlab's find_label_issues with
its default, and with filter_by="low_self_confidence"). Labels that were wrong in the corpus before
count as false alarms. cpu: user and system seconds of textreg's probabilities and answers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score

from benchmarks.corpora import FOLDERS, read
from textreg.checking import CheckSettings
from textreg.checking.copies import same_texts
from textreg.checking.documents import Documents
from textreg.checking.labels import out_of_sample
from textreg.measure.evaluation import contradicted, self_confidence
from textreg.records import Corpus

CORPORA = {"imdb": "imdb", **FOLDERS}
DEFAULT = ("imdb", "trec", "banking77", "science", "chnsenticorp", "masakhane-yor")
HEAD = (
    *("corpus", "documents", "labels", "AP textreg", "AP cleanlab", "found textreg"),
    *("found cleanlab", "found cleanlab, low_self_confidence", "cpu"),
)


def flipped(labels: Sequence[str], share: float, seed: int) -> tuple[list[str], np.ndarray]:
    """Labels of which a share is replaced by another one, and which were."""
    generator = np.random.default_rng(seed)
    names, wrong = sorted(set(labels)), np.zeros(len(labels), dtype=bool)
    changed = list(labels)
    for row in generator.choice(len(labels), round(share * len(labels)), replace=False):
        others = [name for name in names if name != labels[row]]
        changed[row] = others[generator.integers(len(others))]
        wrong[row] = True
    return changed, wrong


def found(named: np.ndarray, wrong: np.ndarray) -> str:
    """Precision and recall, and the number of documents named."""
    right = np.count_nonzero(wrong[named])
    share = right / max(1, len(named))
    return f"{share:.3f}, {right / np.count_nonzero(wrong):.3f} ({len(named):,})"


def row_of(name: str, path: Path, share: float, seed: int) -> tuple[str, ...]:
    """The row of the table of one corpus."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    rows = read(path)
    labels, wrong = flipped([row["label"] for row in rows], share, seed)
    documents = Documents(Corpus([row["text"] for row in rows], labels), CheckSettings())
    started = time.process_time()
    judged = out_of_sample(documents, same_texts(documents.texts))
    assert judged is not None
    p, y = judged.probabilities, judged.y
    named = contradicted(p, y).rows
    seconds = time.process_time() - started
    wrong = wrong[judged.rows]
    orders = self_confidence(p, y), get_label_quality_scores(y, p)
    ap = [f"{average_precision_score(wrong, -order):.3f}" for order in orders]
    theirs = [
        np.flatnonzero(find_label_issues(y, p, filter_by=rule, n_jobs=1))
        for rule in ("prune_by_noise_rate", "low_self_confidence")
    ]
    every = [found(one, wrong) for one in (named, *theirs)]
    return (name, f"{len(y):,}", f"{len(judged.labels)}", *ap, *every, f"{seconds:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with data/")
    parser.add_argument("--corpora", nargs="+", default=list(DEFAULT), choices=CORPORA)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    try:
        import cleanlab
    except ImportError:
        print("skipped: cleanlab is not installed (pip install cleanlab)")
        return
    print(f"cleanlab {cleanlab.__version__}; {options.share:.0%} of labels flipped")
    print("|", " | ".join(HEAD), "|")
    print("|", " | ".join("---:" if at else "---" for at in range(len(HEAD))), "|", flush=True)
    for name in options.corpora:
        path = options.data / "data" / CORPORA[name] / "train.jsonl.gz"
        print("|", " | ".join(row_of(name, path, options.share, options.seed)), "|", flush=True)


if __name__ == "__main__":
    main()
