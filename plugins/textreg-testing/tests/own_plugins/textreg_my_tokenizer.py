"""Words with the letters at their ends, where each stands in the text."""

import re
from collections.abc import Sequence

import numpy as np

from textreg.hookspecs import hookimpl
from textreg.kinds import Tokenizer
from textreg.params import param
from textreg.records import Tokens


class Endings(Tokenizer):
    """The last letters of every word; every line is a sentence."""

    name = "my-tokenizer"
    letters: int = param(default=4, min=1, help="letters of an ending")
    keep_case: bool = param(default=False, help="leave capital letters")

    def __call__(self, text: str) -> list[list[str]]:
        """The endings of ``text``, one list a line."""
        return [[token for token, _ in line] for line in self.lines(text)]

    def lines(self, text: str) -> list[list[tuple[str, tuple[int, int]]]]:
        """The endings with their places, line by line."""
        found, start = [], 0
        for line in text.splitlines(keepends=True):
            endings = []
            for word in re.finditer(r"\w+", line):
                last = word[0][-self.letters :]
                end = start + word.end()
                endings.append((last if self.keep_case else last.lower(), (end - len(last), end)))
            found.append(endings)
            start += len(line)
        return found

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """The same for many texts, with the places of all endings if wanted."""
        if not spans:
            return super().encode(texts)
        plain = super().encode(texts)
        documents = [self.lines(text) for text in texts]
        places = [place for lines in documents for line in lines for _, place in line]
        ends = [
            (line[0][1][0], line[-1][1][1]) if line else (0, 0)
            for lines in documents
            for line in lines
        ]
        return Tokens(
            plain.ids,
            plain.sentence_ptr,
            plain.document_ptr,
            plain.vocabulary,
            spans=np.array(places, dtype=np.int32).reshape(-1, 2),
            sentence_spans=np.array(ends, dtype=np.int32).reshape(-1, 2),
        )


@hookimpl
def textreg_tokenizers() -> list[type[Tokenizer]]:
    return [Endings]
