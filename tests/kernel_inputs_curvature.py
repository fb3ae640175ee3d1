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
    return {**documents(rng, n, p), "h": h, "w": w, "b": b, "out": rng.normal(size=p)}


def curvature_diagonal(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {**documents(rng, n, p), "h": rng.random(n), "out": rng.normal(size=p)}


def scaled_gram(rng: np.random.Generator, n: int, p: int) -> Arguments:
    arguments = documents(rng, n, p)
    m = len(arguments["rows"])
    return {**arguments, "scale": rng.random(p), "out": rng.normal(size=(m, m))}


KERNELS = {
    "curvature.curvature_product": Kernel(curvature_product, "out", "w"),
    "curvature.curvature_diagonal": Kernel(curvature_diagonal, "out", "h indptr"),
    "curvature.scaled_gram": Kernel(scaled_gram, "out", "out"),
}
