"""Tokenizers as strangers write them, and their mistakes."""

from __future__ import annotations

import itertools
import random
import re
import time
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from textreg.kinds import Tokenizer
from textreg.params import param
from textreg.records import Tokens
from textreg_testing import check_tokenizer as check

from .bug import Bug

__all__ = ["BUGS", "ORIGINALS", "check"]

WORD = re.compile(r"\w+")
END = re.compile(r"(?<=[.!?])\s+|\n\s*\n")


class Offsets(Tokenizer):
    """Words by a regular expression, with their offsets."""

    name = "offsets"
    lowercase: bool = param(default=True, help="convert to lower case")
    min_length: int = param(default=1, min=1, help="fewest characters of a word")

    def __call__(self, text: str) -> list[list[str]]:
        return [[self.token(text, span) for span in one] for one in self.scan(text)]

    def token(self, text: str, span: tuple[int, int]) -> str:
        word = text[slice(*span)]
        return word.lower() if self.lowercase else word

    def scan(self, text: str) -> list[list[tuple[int, int]]]:
        """The words of every sentence."""
        borders = [0, *(match.end() for match in END.finditer(text)), len(text)]
        found = []
        for start, end in itertools.pairwise(borders):
            words = [match.span() for match in self.words(text, start, end)]
            found.append([span for span in words if span[1] - span[0] >= self.min_length])
        return [one for one in found if one]

    def words(self, text: str, start: int, end: int) -> list[re.Match[str]]:
        return list(WORD.finditer(text, start, end))

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        vocabulary: dict[str, int] = {}
        ids: list[int] = []
        places: list[tuple[int, int]] = []
        sentences, documents, sentence_places = [0], [0], []
        for text in texts:
            for sentence in self.scan(text):
                for span in sentence:
                    ids.append(vocabulary.setdefault(self.token(text, span), len(vocabulary)))
                    places.append(self.place(text, span))
                sentences.append(len(ids))
                sentence_places.append(
                    (self.place(text, sentence[0])[0], self.place(text, sentence[-1])[1])
                )
            documents.append(len(sentences) - 1)
        return Tokens(
            ids=np.array(ids, dtype=np.int32),
            sentence_ptr=np.array(sentences, dtype=np.int64),
            document_ptr=np.array(documents, dtype=np.int64),
            vocabulary=list(vocabulary),
            spans=np.array(places, dtype=np.int32).reshape(-1, 2) if spans else None,
            sentence_spans=(
                np.array(sentence_places, dtype=np.int32).reshape(-1, 2) if spans else None
            ),
        )

    def place(self, text: str, span: tuple[int, int]) -> tuple[int, int]:
        return span


class Trigrams(Tokenizer):
    """Runs of three characters inside words, with marks of their borders."""

    name = "trigrams"
    size: int = param(default=3, min=1, max=10, help="characters in a token")

    def __call__(self, text: str) -> list[list[str]]:
        return [self.grams(word) for word in self.pieces(text)]

    def pieces(self, text: str) -> list[str]:
        return text.casefold().split()

    def grams(self, word: str) -> list[str]:
        marked = f"<{word}>"
        return [
            marked[start : start + self.size]
            for start in range(max(len(marked) - self.size + 1, 1))
        ]


class Marked(Tokenizer):
    """Words by a regular expression; those after a negation are marked."""

    name = "marked"
    window: int = param(default=2, min=0, help="words after a negation that are marked")

    def __call__(self, text: str) -> list[list[str]]:
        found = []
        for sentence in END.split(text):
            left, words = 0, []
            for word in WORD.findall(sentence.lower()):
                words.append(f"not_{word}" if left else word)
                left = self.window if word in ("not", "no", "never", "don") else max(left - 1, 0)
            found.append(words)
        return found


class Bytes(Offsets):
    def place(self, text: str, span: tuple[int, int]) -> tuple[int, int]:
        return tuple(len(text[:at].encode()) for at in span)  # type: ignore[return-value]


class BytesForSmallTexts(Offsets):
    def place(self, text: str, span: tuple[int, int]) -> tuple[int, int]:
        if len(text.encode()) == len(text.encode("latin-1", "replace")):
            return span
        start = len(text[: span[0]].encode())
        return start, start + span[1] - span[0]


class LowerFirst(Offsets):
    def scan(self, text: str) -> list[list[tuple[int, int]]]:
        return super().scan(text.lower())

    def token(self, text: str, span: tuple[int, int]) -> str:
        return text.lower()[slice(*span)]


class EndIncluded(Offsets):
    def place(self, text: str, span: tuple[int, int]) -> tuple[int, int]:
        return span[0], span[1] - 1 if span[1] - span[0] > 1 else span[1]


class EndTooFar(Offsets):
    def place(self, text: str, span: tuple[int, int]) -> tuple[int, int]:
        return span[0], min(span[1] + 1, len(text))


class StartOffByOne(Offsets):
    def place(self, text: str, span: tuple[int, int]) -> tuple[int, int]:
        return max(span[0] - 1, 0), span[1]


class FromTheBeginning(Offsets):
    def place(self, text: str, span: tuple[int, int]) -> tuple[int, int]:
        start = text.find(text[slice(*span)])
        return start, start + span[1] - span[0]


class OfTheSentence(Offsets):
    def place(self, text: str, span: tuple[int, int]) -> tuple[int, int]:
        borders = [0, *(match.end() for match in END.finditer(text))]
        start = max(border for border in borders if border <= span[0])
        return span[0] - start, span[1] - start


class Stripped(Offsets):
    def __call__(self, text: str) -> list[list[str]]:
        return super().__call__(text.strip())

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        return super().encode([text.strip() for text in texts], spans=spans)


class Composed(Offsets):
    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        import unicodedata

        return super().encode([unicodedata.normalize("NFC", t) for t in texts], spans=spans)

    def __call__(self, text: str) -> list[list[str]]:
        import unicodedata

        return super().__call__(unicodedata.normalize("NFC", text))


class SetOrder(Offsets):
    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        tokens = super().encode(texts, spans=spans)
        names = list(set(tokens.vocabulary))
        place = {name: number for number, name in enumerate(names)}
        new = np.array([place[name] for name in tokens.vocabulary], dtype=np.int32)
        return Tokens(
            new[tokens.ids] if len(new) else tokens.ids,
            tokens.sentence_ptr,
            tokens.document_ptr,
            names,
            tokens.spans,
            tokens.sentence_spans,
        )


class Padded(Trigrams):
    """Its tokens hold blanks, and it does not say so: n-grams of them could not be told apart."""

    def grams(self, word: str) -> list[str]:
        return [gram.replace("<", " ").replace(">", " ") for gram in super().grams(word)]


class SaysSo(Padded):
    """Runs of three characters inside words, with blanks at their borders."""

    forms_ngrams = False


class EmptyLeftOut(Trigrams):
    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        return super().encode([text for text in texts if text.strip()], spans=spans)


class EmptyAtTheEnd(Trigrams):
    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        full = [text for text in texts if text]
        return super().encode([*full, *[""] * (len(texts) - len(full))], spans=spans)


class LastTokenLost(Offsets):
    def words(self, text: str, start: int, end: int) -> list[re.Match[str]]:
        return list(re.compile(r"\w+(?=\W)").finditer(text, start, end))


class LastSentenceLost(Offsets):
    def scan(self, text: str) -> list[list[tuple[int, int]]]:
        found = super().scan(text)
        return found[:-1] if len(found) > 1 else found


class LastLineLost(Tokenizer):
    """Words between spaces; every line is a sentence."""

    name = "lines"

    def __call__(self, text: str) -> list[list[str]]:
        return [line.split() for line in text.split("\n")[:-1]]


class CallLosesCase(Offsets):
    def token(self, text: str, span: tuple[int, int]) -> str:
        return text[slice(*span)].lower()


class Ignored(Offsets):
    def scan(self, text: str) -> list[list[tuple[int, int]]]:
        return Offsets(lowercase=self.lowercase).scan(text)


class GrowingVocabulary(Trigrams):
    known: ClassVar[dict[str, int]] = {}

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        tokens = super().encode(texts, spans=spans)
        new = [self.known.setdefault(name, len(self.known)) for name in tokens.vocabulary]
        ids = np.array(new, dtype=np.int32)[tokens.ids] if new else tokens.ids
        return Tokens(ids, tokens.sentence_ptr, tokens.document_ptr, list(self.known))


class RareUntilSeen(Marked):
    seen: ClassVar[Counter[str]] = Counter()

    def __call__(self, text: str) -> list[list[str]]:
        found = super().__call__(text)
        self.seen.update(word for sentence in found for word in sentence)
        return [[w if self.seen[w] > 40 else "rare" for w in sentence] for sentence in found]


class Sorts(Marked):
    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        if isinstance(texts, list):
            texts.sort(key=len)
        return super().encode(texts, spans=spans)


class Dropout(Marked):
    """Words by a regular expression; those after a negation are marked, and some left out."""

    def __call__(self, text: str) -> list[list[str]]:
        return [[word for word in one if random.random() > 0.1] for one in super().__call__(text)]


class Hashed(Marked):
    def __call__(self, text: str) -> list[list[str]]:
        return [[f"bucket{hash(word) % 1000}" for word in one] for one in super().__call__(text)]


class SharedBuffer(Marked):
    buffer: ClassVar[list[str]] = []

    def __call__(self, text: str) -> list[list[str]]:
        self.buffer.clear()
        for sentence in super().__call__(text):
            for word in sentence:
                self.buffer.append(word)
            time.sleep(0)  # lets another thread in, as longer work would
        return [list(self.buffer)]


class OnlyTheBeginning(Marked):
    def __call__(self, text: str) -> list[list[str]]:
        return super().__call__(text[:1000])


class NoTokens(Marked):
    def __call__(self, text: str) -> list[list[str]]:
        return [re.findall(r"^\w+$", sentence) for sentence in super().__call__(text) if False]


class CrossesSentences(Offsets):
    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        tokens = super().encode(texts, spans=spans)
        moved = tokens.sentence_ptr.copy()
        inner = np.setdiff1d(np.arange(len(moved)), tokens.document_ptr)
        inner = inner[moved[inner] + 1 < moved[inner + 1]]
        moved[inner] += 1
        return Tokens(
            tokens.ids,
            moved,
            tokens.document_ptr,
            tokens.vocabulary,
            tokens.spans,
            tokens.sentence_spans,
        )


class EmptyTokens(Marked):
    def __call__(self, text: str) -> list[list[str]]:
        return [re.split(r"\W+", sentence.lower()) for sentence in END.split(text)]


class SpansOnly(Offsets):
    """Words by a regular expression, with their offsets."""

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        if spans:
            return Offsets(lowercase=False, min_length=self.min_length).encode(texts, spans=True)
        return super().encode(texts)


class KeepsTexts(Offsets):
    """Words by a regular expression, with their offsets."""

    def __call__(self, text: str) -> list[list[str]]:
        found = super().__call__(text)
        return found if len(text) < 1500 else found[:1]


class SplitsAtNewlines(Offsets):
    """Words between blanks, line by line."""

    def words(self, text: str, start: int, end: int) -> list[re.Match[str]]:
        return list(re.compile(r"[^ \t\n.!?]+").finditer(text, start, end))


class LetterAtTheEndLost(Offsets):
    def words(self, text: str, start: int, end: int) -> list[re.Match[str]]:
        found = super().words(text, start, end)
        return [match for match in found if len(match[0]) > 1 or match.end() < len(text)]


class FirstWordNotFolded(Offsets):
    def token(self, text: str, span: tuple[int, int]) -> str:
        word = super().token(text, span)
        return word.replace("ß", "ss") if span[0] else word


ORIGINALS = (
    Offsets,
    Offsets(lowercase=False, min_length=3),
    Trigrams,
    SaysSo,
    Marked,
)
BUGS = (
    Bug("offsets in bytes", Bytes),
    Bug("starts in bytes", BytesForSmallTexts),
    Bug("offsets of the text in lower case", LowerFirst),
    Bug("offsets of the last character", EndIncluded),
    Bug("offsets end too far", EndTooFar),
    Bug("offsets start too early", StartOffByOne),
    Bug("offsets of the first such word", FromTheBeginning),
    Bug("offsets in the sentence", OfTheSentence),
    Bug("offsets in the stripped text", Stripped),
    Bug("offsets in the composed text", Composed),
    Bug("vocabulary in the order of a set", SetOrder),
    Bug("empty documents left out", EmptyLeftOut),
    Bug("empty documents at the end", EmptyAtTheEnd),
    Bug("last token lost without punctuation", LastTokenLost),
    Bug("last sentence lost", LastSentenceLost),
    Bug("last line lost", LastLineLost),
    Bug("lowercase is ignored", CallLosesCase),
    Bug("min_length is ignored", Ignored),
    Bug("vocabulary grows from call to call", GrowingVocabulary),
    Bug("depends on texts before", RareUntilSeen),
    Bug("sorts the list of texts", Sorts),
    Bug("random tokens", Dropout),
    Bug("tokens by hash", Hashed),
    Bug("buffer shared by threads", SharedBuffer),
    Bug("nothing found", NoTokens),
    Bug("blanks in tokens", Padded),
    Bug(
        "long texts are cut",
        OnlyTheBeginning,
        missed="a tokenizer may well read no more than the beginning of a text",
    ),
    Bug("encode moves ends of sentences", CrossesSentences),
    Bug("empty tokens", EmptyTokens),
    Bug("other tokens with offsets", SpansOnly),
    Bug("call cuts long texts, encode does not", KeepsTexts),
    Bug("carriage returns at the ends of words", SplitsAtNewlines),
    Bug("a letter at the end lost", LetterAtTheEndLost),
    Bug("the first word is not folded", FirstWordNotFolded),
)
