"""The tokenizer frozen-tokenizer, for textreg."""

from textreg.hookspecs import hookimpl
from textreg.kinds import Tokenizer
from textreg.params import param


class FrozenTokenizer(Tokenizer):
    """Words between spaces; every line is a sentence. Put your own rules here.

    Examples
    --------
    >>> FrozenTokenizer()("A box.\\nIt is blue.")
    [['a', 'box.'], ['it', 'is', 'blue.']]
    """

    name = "frozen-tokenizer"
    lowercase: bool = param(default=True, help="convert to lower case")

    def __call__(self, text: str) -> list[list[str]]:
        """The tokens of ``text``, one list a sentence."""
        if self.lowercase:
            text = text.lower()
        return [line.split() for line in text.splitlines()]


@hookimpl
def textreg_tokenizers() -> list[type[Tokenizer]]:
    """The tokenizers of this module."""
    return [FrozenTokenizer]
