"""Arguments for the products with a Gram matrix."""

from __future__ import annotations

import numpy as np
from kernel_inputs import Arguments, Kernel, columns, some


def gram_product(rng: np.random.Generator, n: int, p: int) -> Arguments:
    rows = columns(rng, p, n)  # n rows with places below p
    return {
        **rows, "h": rng.random(n), "v": some(rng, p), "shift": rng.normal(), "out": some(rng, p)
    }  # fmt: skip


KERNELS = {"gram.gram_product": Kernel(gram_product, written="out", checked="h v out")}
