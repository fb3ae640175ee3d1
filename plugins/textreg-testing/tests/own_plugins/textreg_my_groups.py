"""Groups of words that begin alike."""

import numpy as np

from textreg.errors import DataError
from textreg.hookspecs import hookimpl
from textreg.kinds import GroupBuilder
from textreg.params import param
from textreg.records import Groups, Tokens


class Beginnings(GroupBuilder):
    """Features whose last word begins with the same letters."""

    name = "my-groups"
    first: int = param(default=2, min=1, help="letters that are the same")

    def build(self, tokens: Tokens) -> Groups:
        """A group for every beginning of two features."""
        sets: dict[str, list[int]] = {}
        for feature, name in enumerate(tokens.vocabulary):
            sets.setdefault(name.rpartition(" ")[2][: self.first], []).append(feature)
        sets = {start: members for start, members in sets.items() if len(members) > 1}
        if not sets:
            raise DataError(f"my-groups: no two words begin with the same {self.first} letters.")
        sizes = [len(members) for members in sets.values()]
        return Groups(
            indptr=np.cumsum([0, *sizes]),
            indices=np.concatenate(list(sets.values())).astype(np.int32),
            weights=np.sqrt(sizes),
            n_features=len(tokens.vocabulary),
            names=list(sets),
        )


@hookimpl
def textreg_group_builders() -> list[type[GroupBuilder]]:
    return [Beginnings]
