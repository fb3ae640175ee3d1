"""Arguments for the products with the curvature of a loss."""

from __future__ import annotations

import numpy as np
from kernel_inputs import Arguments, Kernel, chosen, ragged, some


def documents(rng: np.random.Generator, n: int, p: int) -> Arguments:
    indptr, indices = ragged(rng, n, p)
    data = rng.normal(size=len(indices)).astype(rng.choice(["f4", "f8"]))
    return {"indptr": indptr, "indices": indices, "data": data, "rows": chosen(rng, n)}


def curvature_product(rng: np.random.Generator, n: int, p: int) -> Arguments:
    h, w, b = rng.random(n), some(rng, p), float(rng.normal())
    scores, out = rng.normal(size=n), rng.normal(size=p)
    return {**documents(rng, n, p), "h": h, "w": w, "b": b, "scores": scores, "out": out}


def row_scores(rng: np.random.Generator, n: int, p: int) -> Arguments:
    w, b = some(rng, p), float(rng.normal())
    return {**documents(rng, n, p), "w": w, "b": b, "scores": rng.normal(size=n)}


def row_sums(rng: np.random.Generator, n: int, p: int) -> Arguments:
    arguments = documents(rng, n, p)
    return {**arguments, "v": some(rng, len(arguments["rows"])), "out": rng.normal(size=p)}


def curvature_diagonal(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {**documents(rng, n, p), "h": rng.random(n), "out": rng.normal(size=p)}


KERNELS = {
    "curvature.curvature_product": Kernel(curvature_product, "scores out", "w h"),
    "curvature.row_scores": Kernel(row_scores, "scores", "indptr"),
    "curvature.row_sums": Kernel(row_sums, "out", "v"),
    "curvature.curvature_diagonal": Kernel(curvature_diagonal, "out", "h indptr"),
}
