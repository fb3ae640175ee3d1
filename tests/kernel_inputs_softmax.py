"""Arguments for the curvature of the softmax loss."""

from __future__ import annotations

import numpy as np
from kernel_inputs import Arguments, Kernel, ragged, some


def softmax_product(rng: np.random.Generator, n: int, p: int) -> Arguments:
    indptr, indices = ragged(rng, n, p)
    classes = int(rng.integers(1, 40))
    return {
        "indptr": indptr, "indices": indices, "data": rng.normal(size=len(indices)),
        "c": np.abs(some(rng, n)), "P": rng.dirichlet(np.ones(classes), n),
        "V": rng.normal(size=(p + 1, classes)), "out": rng.normal(size=(p + 1, classes)),
        "z": np.empty(classes),
    }  # fmt: skip


KERNELS = {
    "softmax.softmax_product": Kernel(softmax_product, "out z", "indptr c P V out z", room="z"),
}
