"""Every regularizer and group builder by `textreg train`, the search included."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.performance.ground import Ground
from benchmarks.performance.harness import Side, python, run
from benchmarks.performance.line import OURS, Line
from benchmarks.performance.training import trained

REGULARIZERS = ("none", "ridge", "lasso", "elastic", "sentence")
BUILDERS = (
    *("sentences", "paragraphs", "documents", "windows", "file"),
    *("lda", "lsi", "clusters", "brown", "communities"),
)
OTHERS = ("omp", "gomp", "stagewise", "network", "laplacian", "pcr", "lle")
CORPUS = "computer"


def options(name: str, builder: str, ground: Ground) -> list[object]:
    """What a user writes; files that a builder needs are made first."""
    words: list[object] = ["--reg", name, "--tokenizer", "words"]
    if builder:
        words += ["--groups", builder]
    if builder == "brown":
        words += ["--groups-path", ground.data / "lexicons" / "brown_twitter6m.tsv.gz"]
    if builder == "file":
        path = ground.work / "groups.tsv"
        if not path.exists():
            train = ground.file(f"{CORPUS}/train")
            run(python("textreg", "groups", train, "--groups", "lda", "-o", path))
        words += ["--groups-path", path]
    return words


def method(name: str, builder: str = "") -> Line:
    """One of them on a pair of newsgroups."""

    def sides(ground: Ground) -> Mapping[str, Side]:
        files = [ground.file(f"{CORPUS}/train"), *options(name, builder, ground)]
        return {OURS: trained(ground, "method", files, ground.file(f"{CORPUS}/test"))}

    what = f"`{name} --groups {builder}`" if builder else f"`{name}`"
    return Line(f"method-{builder or name}", what, sides, once=True)


LINES = (
    *(method(name) for name in REGULARIZERS),
    *(method("group", builder) for builder in BUILDERS),
    *(method(name) for name in OTHERS),
)
