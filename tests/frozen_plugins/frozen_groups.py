"""The group builder frozen-groups, for textreg."""

from textreg.hookspecs import hookimpl
from textreg.kinds import GroupBuilder
from textreg.params import param
from textreg.records import Tokens
from textreg.structure.grouping import WordGroupBuilder


class FrozenGroups(WordGroupBuilder):
    """Words with the same ending. Put your own sets of words here.

    Examples
    --------
    >>> from textreg import tokenizer
    >>> tokens = tokenizer("words").encode(["walking and talking", "a thing"])
    >>> FrozenGroups().build(tokens).names
    ['...ing']
    """

    name = "frozen-groups"
    letters: int = param(default=3, min=1, help="letters that the words of a group end with")

    def sets(self, tokens: Tokens) -> dict[str, list[str]]:
        """The words of every group by its name; what n-grams belong to it follows."""
        sets: dict[str, list[str]] = {}
        for word in tokens.vocabulary:
            if len(word) > self.letters:
                sets.setdefault(f"...{word[-self.letters :]}", []).append(word)
        return {name: words for name, words in sets.items() if len(words) > 1}


@hookimpl
def textreg_group_builders() -> list[type[GroupBuilder]]:
    """The group builders of this module."""
    return [FrozenGroups]
