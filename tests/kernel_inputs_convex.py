"""Arguments for the kernels of the convex solvers."""

from __future__ import annotations

import numpy as np
from kernel_inputs import Arguments, Kernel, chosen, columns, ragged, some


def column_curvature(rng: np.random.Generator, n: int, p: int) -> Arguments:
    features = chosen(rng, p)
    out = np.full(len(features), np.nan)
    return {**columns(rng, n, p), "h": some(rng, n) ** 2, "features": features, "out": out}


def column_damping(rng: np.random.Generator, n: int, p: int) -> Arguments:
    features = chosen(rng, p)
    return {
        **columns(rng, n, p), "alpha": some(rng, n), "features": features,
        "excess": some(rng, len(features)), "factor": np.ones(n),
    }  # fmt: skip


def strengths(rng: np.random.Generator, p: int) -> Arguments:
    return {
        "q": np.abs(some(rng, p)), "mu": some(rng, p), "lam": np.abs(some(rng, p)),
        "w": some(rng, p),
    }  # fmt: skip


def select_active(rng: np.random.Generator, n: int, p: int) -> Arguments:
    out = np.full(p, -1, dtype=np.int32)
    gradients = rng.normal(size=(p, 2))  # as of several labels, each with gaps
    return {"gradient": gradients[:, 1], **strengths(rng, p), "out": out}


def coordinate_descent(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {
        **columns(rng, n, p), **strengths(rng, p),
        "h": np.abs(some(rng, n)), "v": rng.normal(size=n),
        "active": chosen(rng, p), "curvature": np.full(p, np.nan), "b": rng.normal(),
        "fit_intercept": bool(rng.integers(2)), "passes": int(rng.integers(0, 5)),
    }  # fmt: skip


def documents(rng: np.random.Generator, n: int) -> Arguments:
    return {"y": rng.choice([-1.0, 1.0], n), "c": np.abs(some(rng, n))}


def logistic_value(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {"z": some(rng, n) * 10.0 ** rng.integers(0, 4, n), **documents(rng, n)}


def logistic_derivatives(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {**logistic_value(rng, n, p), "r": np.full(n, np.nan), "h": np.full(n, np.nan)}


def logistic_entropy(rng: np.random.Generator, n: int, p: int) -> Arguments:
    others = documents(rng, n)
    s = rng.choice([0.0, 1.0, 0.5, -1e-17, 1.0 + 1e-15], n) * (rng.random(n) < 0.3)
    s = np.where(s == 0.0, rng.random(n), s)
    return {"alpha": s * others["y"] * others["c"], **others}


def groups(rng: np.random.Generator, n: int, p: int) -> Arguments:
    indptr, indices = ragged(rng, n, p)
    return {"indptr": indptr, "indices": indices}


def group_norms(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {**groups(rng, n, p), "w": some(rng, p), "out": np.full(n, np.nan)}


def group_spread(rng: np.random.Generator, n: int, p: int) -> Arguments:
    return {**groups(rng, n, p), "values": some(rng, n), "out": rng.normal(size=p)}


def ball_sweeps(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = groups(rng, n, p)
    return {
        **given, "strengths": np.abs(some(rng, n)), "lam": 0.3 * np.abs(some(rng, p)),
        "u": 0.1 * some(rng, len(given["indices"])), "z": rng.normal(size=p),
        "over": np.empty(p, dtype=np.uint8), "active": np.empty(n, dtype=np.int32),
        "sweeps": int(rng.integers(0, 5)),
    }  # fmt: skip


def group_scale(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = groups(rng, n, p)
    u = np.full(len(given["indices"]), np.nan)
    return {**given, "rates": some(rng, n), "w": some(rng, p), "u": u}


def copy_norms(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = groups(rng, n, p)
    u, strengths = some(rng, len(given["indices"])), np.abs(some(rng, n))
    return {**given, "strengths": strengths, "w": some(rng, p), "u": u, "out": np.full(n, np.nan)}


def group_gather(rng: np.random.Generator, n: int, p: int) -> Arguments:
    indices = groups(rng, n, p)["indices"]
    return {"indices": indices, "u": some(rng, len(indices)), "out": rng.normal(size=p)}


def select_groups(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = groups(rng, n, p)
    features, some_groups = chosen(rng, p), np.sort(chosen(rng, n))
    place = np.full(p, -1, dtype=np.int32)
    place[np.sort(features)] = np.arange(len(features))
    return {
        **given, "strengths": np.abs(some(rng, n)), "groups": some_groups, "place": place,
        "lam": rng.random(len(features)),
        "out_indptr": np.zeros(len(some_groups) + 1, dtype=np.int64),
        "out_indices": np.full(len(given["indices"]), -1, dtype=np.int32),
        "out_strengths": np.zeros(len(some_groups)), "origin": np.zeros(n, dtype=np.int64),
    }  # fmt: skip


def group_sums(rng: np.random.Generator, n: int, p: int) -> Arguments:
    some_groups = chosen(rng, n)
    out = np.full(len(some_groups), np.nan)
    return {**groups(rng, n, p), "values": some(rng, p), "chosen": some_groups, "out": out}


def group_add(rng: np.random.Generator, n: int, p: int) -> Arguments:
    some_groups = chosen(rng, n)
    values = some(rng, len(some_groups))
    return {**groups(rng, n, p), "values": values, "chosen": some_groups, "out": some(rng, p)}


def fill_groups(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given, features = groups(rng, p, n), chosen(rng, p)  # here the groups of every feature
    return {
        **given, "room": np.abs(some(rng, n)), "features": features,
        "share": some(rng, len(features)), "load": 0.1 * rng.random(n),
        "taken": np.empty(len(features), dtype=np.uint8),
    }  # fmt: skip


def admm_copies(rng: np.random.Generator, n: int, p: int) -> Arguments:
    given = groups(rng, n, p)
    entries = len(given["indices"])
    return {
        **given, "strengths": np.abs(some(rng, n)), "w": some(rng, p), "rho": rng.random() + 0.1,
        "relax": 1.0 + rng.random(), "v": some(rng, entries), "u": some(rng, entries),
        "norms": np.full(n, np.nan), "target": rng.normal(size=p),
    }  # fmt: skip


KERNELS = {
    "columns.column_curvature": Kernel(column_curvature, "out", "out"),
    "columns.column_damping": Kernel(column_damping, "factor", "excess"),
    "descent.select_active": Kernel(select_active, "out", "gradient w q mu lam out"),
    "descent.coordinate_descent": Kernel(
        coordinate_descent, "v active curvature w", "h v curvature q mu lam w indptr"
    ),
    "logistic.logistic_value": Kernel(logistic_value, "", "z y c"),
    "logistic.logistic_derivatives": Kernel(logistic_derivatives, "r h", "z y c r h"),
    "logistic.logistic_entropy": Kernel(logistic_entropy, "", "alpha y c"),
    "groups.group_norms": Kernel(group_norms, "out", "out indptr"),
    "groups.group_spread": Kernel(group_spread, "out", "values indptr"),
    # The count of groups hangs on the last bit of a sum.
    "groups.ball_sweeps": Kernel(
        ball_sweeps, "u z over active", "u z lam over strengths active", room="over active result"
    ),
    "groups.group_scale": Kernel(group_scale, "u", "rates u"),
    "groups.copy_norms": Kernel(copy_norms, "out", "strengths u out"),
    "groups.group_gather": Kernel(group_gather, "out", "u"),
    "groups.select_groups": Kernel(
        select_groups,
        "lam out_indptr out_indices out_strengths origin",
        "strengths groups out_indices origin out_indptr out_strengths",
        room="out_indices",
    ),
    "groups.group_sums": Kernel(group_sums, "out", "out"),
    "groups.group_add": Kernel(group_add, "out", "values"),
    "groups.fill_groups": Kernel(fill_groups, "load taken", "room load share taken"),
    "groups.admm_copies": Kernel(admm_copies, "v u norms target", "v u norms strengths"),
}
