"""How a fit went along: in what order groups came, and what weights were along its path."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from textreg.explain.kept_records import Along, Came, Profile
from textreg.model.model import Model
from textreg.records import Groups


def groups_taken(
    model: Model, groups: Groups, text_of: Callable[[int], str | None], top: int
) -> tuple[tuple[Came, ...], ...]:
    """The first steps of a pursuit of groups, for every weight vector; nothing of other fits.

    groups: built anew; text_of: says what the sentence with an index in them says. A group that has
    another name there has no text.
    """
    found = []
    for steps in () if model.summary is None else model.summary.order_groups:
        came = []
        for step in steps[:top]:
            g, name = step.group, step.name
            text = None
            if g is not None and groups.names is not None and 0 <= g < len(groups):
                text = text_of(g) if groups.names[g] == name else None
            if g is not None and name is None:
                name = f"group {g + 1}"
            came.append(Came(name, text, step.features))
        found.append(tuple(came))
    return tuple(found)


def path_of(model: Model, top: int) -> Along | None:
    """The path that a model keeps, with the weights of its strongest features; None without one."""
    path = model.path
    if path is None:
        return None
    labels = model.labels or ("lower", "higher")
    strongest = sorted(path.at(path.chosen).items(), key=lambda item: -np.abs(item[1]).max())
    profiles = []
    for name, weights in strongest[:top]:
        row = int(np.abs(weights).argmax())
        along, label = path.profile(name)[:, row], labels[row]
        if len(weights) == 1:  # it speaks for the second label, and its negative for the first
            sign = 1 if weights[0] > 0 else -1
            along, label = sign * along + 0.0, labels[sign > 0]  # + 0.0: no negative zeros
        profiles.append(Profile(name, label, tuple(along.tolist())))
    return Along(path.parameter, tuple(path.values), path.chosen, tuple(profiles))
