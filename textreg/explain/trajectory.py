"""The trajectory of a fit: order of entry of a pursuit, and weights along a regularization path."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from textreg.explain.selection_records import EntryStep, PathProfiles, Profile
from textreg.model.model import Model
from textreg.model.summary import TrainingSummary
from textreg.records import Groups


def entry_steps(
    summary: TrainingSummary, groups: Groups, text_of: Callable[[int], str | None], top: int
) -> tuple[tuple[EntryStep, ...], ...]:
    """The first steps of a pursuit of groups, for every weight vector; nothing of other fits.

    ``groups`` are built again from the corpus, and ``text_of`` gives the sentence of a group by
    its index in them. A group with another name there has no text.
    """

    def text(g: int, name: str | None) -> str | None:
        known = groups.names is not None and 0 <= g < len(groups) and groups.names[g] == name
        return text_of(g) if known else None

    return tuple(
        tuple(
            EntryStep(None, None, step.features)
            if step.group is None
            else EntryStep(
                step.name if step.name is not None else f"group {step.group + 1}",
                text(step.group, step.name),
                step.features,
            )
            for step in steps[:top]
        )
        for steps in summary.order_groups
    )


def path_profiles(model: Model, top: int) -> PathProfiles | None:
    """The weights of the strongest features along the path of a model; None without a path."""
    path = model.path
    if path is None:
        return None
    strongest = sorted(path.at(path.chosen).items(), key=lambda item: -np.abs(item[1]).max())
    profiles = []
    for name, weights in strongest[:top]:
        row = int(np.abs(weights).argmax())
        side = model.task.side_of(row, float(weights[row]))
        # Adding 0.0 leaves no negative zeros.
        profile = model.task.side_rows(path.profile(name).T)[side] + 0.0
        profiles.append(Profile(name, model.task.sides[side], tuple(profile.tolist())))
    return PathProfiles(path.parameter, tuple(path.values), path.chosen, tuple(profiles))
