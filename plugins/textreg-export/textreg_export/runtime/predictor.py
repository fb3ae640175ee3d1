"""A text classifier exported by textreg, in plain Python: it needs the standard library alone.

``predict(text)`` gives the label, ``probabilities(text)`` those of all labels,
``explain(text)`` the words and sentences that decide. Where documents have several fields, each is
a dict of them, and a list where they are tokens. On the command line, each line of the standard
input is a text, or such a document as JSON.
"""

from __future__ import annotations

import json
import math
import re
import sys
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from re import Pattern
from typing import Any, NamedTuple

Span = tuple[int, int]


class Token(NamedTuple):
    """A token of a text, and where it begins and ends."""

    name: str
    start: int
    end: int


class Sentence(NamedTuple):
    """A sentence of a text: where it begins and ends, and its tokens."""

    start: int
    end: int
    tokens: list[Token]


class Document(NamedTuple):
    """A document as one text, and where its fields are in it; one without a name if it has none.

    sentences: those of a document that was given as tokens, which have no places.
    """

    text: str
    spans: dict[str, Span]
    sentences: list[Sentence] | None = None


class Runs:
    """A class of characters: their first and last code points, run by run."""

    def __init__(self, runs: Sequence[Span]) -> None:
        self.firsts = [first for first, _ in runs]
        self.lasts = [last for _, last in runs]

    def points(self) -> Iterator[int]:
        """All code points of the class."""
        for first, last in zip(self.firsts, self.lasts, strict=True):
            yield from range(first, last + 1)

    def __contains__(self, letter: str) -> bool:
        point = ord(letter)
        place = bisect_right(self.firsts, point) - 1
        return place >= 0 and point <= self.lasts[place]


class Html:
    """What is HTML in a text: tags, comments, scripts, style sheets and character references."""

    def __init__(self, given: dict[str, Any], space: str) -> None:
        self.inline = set(given["inline"].split(" "))
        names: list[str] = given["names"].split(" ")
        pairs = (name.partition(";") for name in names)
        self.names = {name: value for name, _, value in pairs}
        self.bare = set(given["bare"].split(" "))
        self.codes: dict[int, str] = dict(given["codes"])
        # The letters that case folding takes for a to z, as textreg does.
        letter = "A-Za-z\u0130\u0131\u017f\u212a"
        self.piece = re.compile(
            f"<(?:(!--)|/?([{letter}][{letter}0-9:-]*)"
            f"(?:[{space}](?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*|/)?>|[!?][{letter}][^<>]*>)"
            f"|&(?:#([0-9]{{1,7}})|#[xX]([0-9a-fA-F]{{1,6}})|([{letter}][{letter}0-9]{{1,31}}));"
        )
        self.closers = {
            "comment": re.compile("-->"),
            "script": re.compile(f"</[Ss\u017f][Cc][Rr][Ii\u0130\u0131][Pp][Tt][{space}]*>"),
            "style": re.compile(f"</[Ss\u017f][Tt][Yy][Ll][Ee][{space}]*>"),
        }

    def strip(self, text: str) -> tuple[str, list[int], list[int]]:
        """A text without HTML, and where its characters, and its end, begin and end in the text."""
        parts: list[str] = []
        begins: list[int] = []
        ends: list[int] = []
        last = 0
        for start, end, instead in [*self._pieces(text), (len(text), len(text), "")]:
            parts += [text[last:start], instead]
            begins += [*range(last, start), *([start] * len(instead))]
            ends += [*range(last + 1, start + 1), *([end] * len(instead))]
            last = end
        return "".join(parts), [*begins, len(text)], [*ends, len(text)]

    def _pieces(self, text: str) -> Iterator[tuple[int, int, str]]:
        """What is to be replaced: where it begins and ends, and by what."""
        at, closers = 0, dict(self.closers)
        while match := self.piece.search(text, at):
            start, at = match.span()
            if match[0][0] == "&":
                instead = self._referred(match)
                if instead != match[0]:
                    yield start, at, instead
                continue
            name = "comment" if match[1] else (match[2] or "").lower()
            if name in closers and match[0][1] != "/":
                closer = closers[name].search(text, at)
                if closer is None:
                    del closers[name]  # nor has what follows
                else:
                    at = closer.end()
            yield start, at, "" if name in self.inline or name == "comment" else "\n"

    def _referred(self, match: re.Match[str]) -> str:
        """The character that a reference stands for; the reference where there is none."""
        _, _, decimal, hexadecimal, name = match.groups()
        if name is None:
            code = int(decimal) if decimal else int(hexadecimal, 16)
            if code in self.codes:
                return self.codes[code]
            if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
                return "\ufffd"
            return "" if 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE else chr(code)
        if name in self.names:
            return self.names[name]
        for length in range(len(name), 1, -1):
            if name[:length] in self.bare:
                return self.names[name[:length]] + name[length:] + ";"
        return match[0]


class Characters:
    """Classes of characters, and the patterns of words and of the ends of sentences."""

    def __init__(self, given: dict[str, Any]) -> None:
        classes = {name: _ranges(runs) for name, runs in given["classes"].items()}
        # Runs as parts of sets of a regular expression.
        sets = {
            name: "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in runs)
            for name, runs in classes.items()
        }
        members = {name: Runs(runs) for name, runs in classes.items()}
        self.lower, self.upper = members["lower"], members["upper"]
        self.alpha, self.decimal = members["alpha"], members["decimal"]
        self.spaces, self.ignored = members["space"], members["ignored"]
        none = Runs([])
        self.cased, self.ignorable = members.get("cased", none), members.get("ignorable", none)
        self.unprinted = members.get("unprinted", none)
        self.titles, self.numbered = set(given["titles"]), set(given["numbered"])
        self.number_length = given["number_length"]
        self.fold = _case_map(given["fold"])
        self.small = _case_map(given.get("small", {"runs": "", "more": []}))

        space, letter, spaceless = sets["space"], sets["letter"], sets["spaceless"]
        more = sets["mark"] + sets["ignored"]
        end, strong, full = sets["end"], sets["strong"], sets["full"]
        close, closer = sets["closer"] + sets["opener"], sets["closer"]
        self.word = re.compile(f"([{spaceless}])[{more}]*|[{letter}][{letter}{more}]*")
        self.silent = re.compile(f"[{sets['ignored']}]")
        self.run = re.compile(f"[^{space}]+")
        self.line_end = re.compile("\r\n|\r|\n")
        self.line = re.compile("[\r\n]")
        length = given["header_length"] - 1
        self.header = re.compile(rf"[A-Z][A-Za-z0-9-]{{0,{length}}}:(?=[{space}]|\Z)")
        self.lead_in = re.compile(f"[{sets['colon']}][{space}]*[\r\n]")
        self.everywhere = re.compile(f"[{full}]|[{end}][{end}{close}]*<")
        self.alone = re.compile(rf"[{space}][.{strong}][{strong}{close}]*[{space}]")
        self.before_space = re.compile(f"[{end}][{end}{close}]*[{space}]")
        self.single_stop = re.compile(rf"\.[{close}]*[{space}]")
        self.tail = re.compile(f"[{full}][{full}{end}{closer}]*")
        self.cut = re.compile(f"[{end}][{end}{close}]*(?=[{space}<])")
        self.attached = re.compile(f"[^{space}<{letter}{spaceless}]*")
        self.joins = re.compile(f"[{sets['joining']}]")
        self.cluster = re.compile(
            f"[^{sets['joining']}]?[{sets['joining']}]+|"
            f"[^{sets['joining']}]+(?![{sets['joining']}])"
        )
        self.unassigned = re.compile(f"([{sets['unassigned']}]+)")
        self.html = Html(given["html"], space) if "html" in given else None
        self.picture: Pattern[str] | None = None
        if "emoji" in sets:
            flag, emoji = sets["flag"], sets["emoji"] + sets["flag"]
            self.picture = re.compile(
                f"(?:[{flag}]{{2}}|[{emoji}])"
                f"(?:[\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]|\u200d[{emoji}])*"
            )

    def normal(self, text: str, form: str) -> str:
        """A text in a normal form; characters that the model does not know stay."""
        if form == "none":
            return text
        standard: Any = form.upper()
        parts = self.unassigned.split(text)
        parts[::2] = [unicodedata.normalize(standard, part) for part in parts[::2]]
        return "".join(parts)

    def places(self, text: str, form: str) -> tuple[list[int], list[int]]:
        """Where the parts of a text begin and end that make the characters of its normal form."""
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        for match in self.cluster.finditer(text):
            part = match[0]
            whole = self.normal(part, form)
            pieces = [part]
            if whole == part or not self.joins.search(part):
                pieces = list(part)
            for piece in pieces:
                size = len(whole) if piece is part else len(self.normal(piece, form))
                starts += [at] * size
                at += len(piece)
                ends += [at] * size
        return starts, ends

    def final_sigmas(self, text: str) -> str:
        """A text with a small final sigma in place of every capital sigma that ends a word."""
        letters = list(text)
        for at, letter in enumerate(text):
            if letter != "Σ":
                continue
            before, after = at - 1, at + 1
            while before >= 0 and text[before] in self.ignorable:
                before -= 1
            while after < len(text) and text[after] in self.ignorable:
                after += 1
            follows = before >= 0 and text[before] in self.cased
            if follows and not (after < len(text) and text[after] in self.cased):
                letters[at] = "ς"
        return "".join(letters)

    # -- sentences --------------------------------------------------------------------------------

    def ends_sentence(self, text: str, word: Span, after: int, words: int, rule: str) -> bool:
        """Whether a sentence ends between a word and the next one, which begins at ``after``.

        words: their number in the sentence so far.
        """
        gap, following = text[word[1] : after], text[after]
        lines = len(self.line_end.findall(gap))
        if rule == "none":
            return False
        if rule == "lines":
            return lines >= 1
        if lines >= 2:
            return True
        if rule == "paragraphs":
            return False
        headed = gap[-1] in "\r\n" and self.header.match(text, after) is not None
        if lines == 1 and (self.lead_in.search(gap) or headed):
            return True
        if self.everywhere.search(gap) or self.alone.search(gap):
            return True
        if not self.before_space.search(gap) or following in self.lower:
            return False
        return not (self.single_stop.match(gap) and self._abbreviates(text, word, following, words))

    def _abbreviates(self, text: str, span: Span, following: str, words: int) -> bool:
        start, end = span
        word = text[start:end]
        folded = [self.fold.get(letter, letter) for letter in word]
        small = "".join(letter if len(letter) == 1 else "ß" for letter in folded)
        if small in self.titles or (small in self.numbered and following in self.decimal):
            return True
        if len(word) == 1 and word in self.alpha:
            inner = start > 0 and text[start - 1] == "."
            return inner or (word in self.upper and word != "I") or words == 1
        decimal = all(letter in self.decimal for letter in word)
        return words == 1 and len(word) <= self.number_length and decimal

    # -- words ------------------------------------------------------------------------------------

    def words(self, text: str, options: dict[str, Any]) -> Iterator[Sentence]:
        """The sentences of a text, with its words as tokens."""
        matches = list(self.word.finditer(text))
        tokens: list[Token] = []
        begin, end, words = -1, 0, 0
        for number in range(len(matches) + 1):
            last = number == len(matches)
            after = len(text) if last else matches[number].start()
            word = matches[number - 1].span() if number else (0, 0)
            ended = words > 0 and after > end and not last
            ended = ended and self.ends_sentence(text, word, after, words, options["sentences"])
            cut = self._cut(text, end, after) if ended else after
            marks = self._marks(text, end, cut, options)
            if last or ended:
                if marks and begin < 0:
                    begin = marks[0].start
                tokens += marks
                if tokens:
                    tail = self.tail.search(text, end, after) or self.attached.match(text, end)
                    stops = [mark.end for mark in marks] + [tail.end() if tail else end]
                    yield Sentence(begin, max(stops), tokens)
                tokens, begin, words = [], -1, 0
                marks = self._marks(text, cut, after, options)
            if last:
                break
            tokens += marks
            start, end = matches[number].span()
            if begin < 0:
                begin = marks[0].start if marks else start
            words += 1
            if matches[number][1] or end - start >= options["min_length"]:
                name = self.silent.sub("", matches[number][0])
                if options["lowercase"]:
                    name = "".join(self.fold.get(letter, letter) for letter in name)
                tokens.append(Token(name, start, end))

    def _cut(self, text: str, start: int, end: int) -> int:
        """Where in the gap after a word its sentence ends."""
        mark = self.tail.search(text, start, end) or self.cut.search(text, start, end)
        if mark:
            return mark.end()
        line = self.line_end.search(text, start, end)
        if line:
            return line.start()
        mark = self.attached.match(text, start)
        return mark.end() if mark else start

    def _marks(self, text: str, at: int, end: int, options: dict[str, Any]) -> list[Token]:
        """The runs of punctuation and the emoji between two words, where these are tokens."""
        marks: list[Token] = []
        if self.picture is None:
            return marks
        while at < end:
            start = at
            picture = self.picture.match(text, at, end)
            if picture:
                at = picture.end()
                wanted = options["emoji"]
            else:
                while at < end and self._is_punctuation(text[at]):
                    at += 1
                wanted = options["punctuation"] and at > start
                at = max(at, start + 1)
            if wanted:
                marks.append(Token(text[start:at].replace("\ufe0f", ""), start, at))
        return marks

    def _is_punctuation(self, letter: str) -> bool:
        if letter in self.unprinted or letter in self.spaces or self.silent.match(letter):
            return False
        return self.picture is None or not self.picture.match(letter)

    # -- character n-grams ------------------------------------------------------------------------

    def chars(self, text: str, options: dict[str, Any]) -> Iterator[Sentence]:
        """The sentences of a text, with its character n-grams as tokens."""
        lowercase, across = options["lowercase"], options["analyzer"] == "char"
        if lowercase and "Σ" in text:
            text = self.final_sigmas(text)
        start = 0
        for end in self._char_ends(text, options["sentences"]):
            pieces = [match.span() for match in self.run.finditer(text, start, end)]
            runs: list[list[Token]] = []
            for number, (first, after) in enumerate(pieces):
                run = [
                    Token(letter, at, at + 1)
                    for at in range(first, after)
                    for letter in (self._small(text[at]) if lowercase else text[at])
                ]
                if across and number:
                    runs[-1] += [Token(" ", first, pieces[number - 1][1]), *run]
                    continue
                if not across and (first == 0 or text[first - 1] in self.spaces):
                    run.insert(0, Token(" ", first, first + 1))
                if not across and (after == len(text) or text[after] in self.spaces):
                    run.append(Token(" ", after - 1, after))
                runs.append(run)
            if runs:
                grams = [gram for run in runs for gram in _char_grams(run, options)]
                yield Sentence(runs[0][0].start, runs[-1][-1].end, grams)
            start = end

    def _small(self, letter: str) -> str:
        return "σ" if letter == "Σ" else self.small.get(letter, letter)

    def _char_ends(self, text: str, rule: str) -> Iterator[int]:
        words = [match.span() for match in self.word.finditer(text)]
        begin = 0
        for number in range(1, len(words)):
            before, (after, _) = words[number - 1 : number + 1]
            end = before[1]
            if end < after and self.ends_sentence(text, before, after, number - begin, rule):
                yield self._in_gap(text, end, after)
                begin = number
        yield len(text)

    def _in_gap(self, text: str, start: int, end: int) -> int:
        line = self.line.search(text, start, end)
        if line:
            return line.end()
        tail = self.tail.search(text, start, end)
        for at in reversed(range(tail.end() if tail else start, end)):
            if text[at] in self.spaces:
                return at + 1
        mark = tail or self.attached.match(text, start)
        return mark.end() if mark else start

    def sentences(self, text: str, part: dict[str, Any]) -> list[Sentence]:
        """The sentences and tokens of a text by the tokenizer of a part."""
        if self.html is None or not part["strip_html"]:
            return self._split(text, part)
        stripped, begins, ends = self.html.strip(text)

        def place(start: int, end: int) -> Span:
            return begins[start], ends[end - 1] if end > start else begins[start]

        return [
            Sentence(
                *place(begin, end), [Token(name, *place(low, high)) for name, low, high in tokens]
            )
            for begin, end, tokens in self._split(stripped, part)
        ]

    def _split(self, text: str, part: dict[str, Any]) -> list[Sentence]:
        options = part["options"]
        if part["tokenizer"] in ("value", "number"):
            return self._whole(text, lowercase=options.get("lowercase", False))
        normal = self.normal(text, options["normalize"])
        split = self.words if part["tokenizer"] == "words" else self.chars
        sentences = list(split(normal, options))
        if normal == text:
            return sentences
        starts, ends = self.places(text, options["normalize"])
        return [
            Sentence(
                starts[begin],
                ends[end - 1],
                [Token(name, starts[low], ends[high - 1]) for name, low, high in tokens],
            )
            for begin, end, tokens in sentences
        ]

    def _whole(self, text: str, *, lowercase: bool) -> list[Sentence]:
        """A text as one token, unless it is blank."""
        runs = list(self.run.finditer(text))
        if not runs:
            return []
        name = " ".join(run[0] for run in runs)
        if lowercase:
            name = "".join(map(self._small, self.final_sigmas(name)))
        start, end = runs[0].start(), runs[-1].end()
        return [Sentence(start, end, [Token(name, start, end)])]

    def value(self, kind: str, given: Any) -> str:
        """The value of a field as text; ValueError if it is none of this kind."""
        absent = given is None or (isinstance(given, float) and given != given)
        if kind == "text":
            if not absent and not isinstance(given, str):
                raise ValueError(f"{given!r} is not a text")
            return "" if absent else str(given)
        if absent or (isinstance(given, str) and not self.run.search(given)):
            return _MISSING
        if kind == "number":
            try:
                number = float(given)
            except (TypeError, ValueError, OverflowError):
                number = math.nan
            if not math.isfinite(number):
                raise ValueError(f"{given!r} is not a number")
            return repr(number + 0.0)  # one zero
        if not isinstance(given, (str, int, float)):
            raise ValueError(f"{given!r} is neither a text nor a number, as categories are")
        text = " ".join(self.run.findall(str(given)))
        if text in ("True", "TRUE", "False", "FALSE"):
            return text.lower()
        return re.sub(r"^(-?[0-9]+)\.0+$", r"\1", text)


def _char_grams(run: list[Token], options: dict[str, Any]) -> Iterator[Token]:
    least = min(options["min_n"], len(run))
    for first in range(len(run) - least + 1):
        for last in range(first + least, min(first + options["max_n"], len(run)) + 1):
            name = "".join(token.name for token in run[first:last])
            start, end = sorted((run[first].start, run[last - 1].end))
            yield Token(name, start, end)


def _numbers(text: str) -> list[int]:
    """Numbers without anything between them.

    Their last digits have the base 36; those before are capital letters, of the base 26.
    """
    values, high = [], 0
    for digit in text:
        if "A" <= digit <= "Z":
            high = high * 26 + ord(digit) - ord("A")
        else:
            values.append(high * 36 + int(digit, 36))
            high = 0
    return values


def _ranges(runs: str) -> list[Span]:
    """First and last code points of runs that are written as gaps and lengths, less one."""
    numbers = _numbers(runs)
    ranges, at = [], 0
    for gap, more in zip(numbers[::2], numbers[1::2], strict=True):
        ranges.append((at + gap, at + gap + more))
        at += gap + more + 1
    return ranges


def _case_map(table: dict[str, Any]) -> dict[str, str]:
    """What letters become; runs are written as gap, number of letters, step, and difference."""
    numbers = _numbers(table["runs"])
    cases = {}
    at = 0
    for gap, count, step, difference in zip(
        *(numbers[place::4] for place in range(4)), strict=True
    ):
        at += gap
        difference = difference // 2 if difference % 2 == 0 else -(difference + 1) // 2
        for letter in range(at, at + count * step, step):
            cases[chr(letter)] = chr(letter + difference)
    return {**cases, **dict(table["more"])}


# What stands for a number or a category that a document does not have.
_MISSING = "missing"

# Tokens without evidence that every sentence counts beside its own.
_SHRINKAGE = 8

# Tokens on either side whose evidence counts for that of a sentence.
_AROUND = 100


class Gram(NamedTuple):
    """An occurrence of a token or an n-gram, and the number of its sentence."""

    name: str
    start: int
    end: int
    sentence: int


class Part:
    """The features of one tokenizer, and their weights."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.field: str = given["field"]
        self.names = [given["prefix"] + name for name in given["names"]]
        self.norm: str = given["norm"]
        self.columns = {name: column for column, name in enumerate(given["names"])}
        self.idf: list[float] = given["idf"] or [1.0] * len(self.columns)
        self.weights: list[list[float]] = given["weights"]
        self.others = {name: idf for idf, names in given["others"] for name in names.split("\n")}
        self.stop_words = {*given["stop_words"]}

    def grams(self, number: int, sentence: Sentence) -> Iterator[Gram]:
        """All n-grams of a sentence."""
        tokens = [token for token in sentence.tokens if token.name not in self.stop_words]
        for first, token in enumerate(tokens):
            name = token.name
            yield Gram(name, token.start, token.end, number)
            for last in tokens[first + 1 : first + self.given["ngrams"]]:
                name += " " + last.name
                yield Gram(name, token.start, last.end, number)

    def column(self, name: str) -> int | None:
        """The column of an n-gram."""
        return self.columns.get(name)

    def value(self, name: str, count: int) -> float:
        """The value of an n-gram that occurs so often, without idf and norm."""
        term = self.given["term"]
        if count == 0:
            return 0.0
        if term == "count":
            return float(count)
        if term == "binary":
            return 1.0
        return math.log1p(count) if term == "log" else 1.0 + math.log(count)

    def size(self, name: str) -> float:
        """What the value of an n-gram is multiplied by in the length of a row."""
        if self.norm == "ngrams":
            return 1.0
        if self.norm != "features":
            return 0.0
        column = self.columns.get(name)
        return self.others.get(name, 0.0) if column is None else self.idf[column]

    def sums(self, counts: dict[str, int], whole: dict[str, int] | None = None) -> _Sums:
        """What n-grams with these counts add to a row; with ``whole``, what goes without them."""
        sums = _Sums([0.0] * len(self.weights), 0.0, 0)
        for name, count in counts.items():
            value, left = self.value(name, count), 0.0
            if whole is not None:
                before = whole[name]
                value, left = self.value(name, before), self.value(name, before - count)
            size = self.size(name)
            if size:
                sums.squares += size * size * (value * value - left * left)
                sums.distinct += left == 0.0
            column = self.column(name)
            if column is not None:
                factor = self.idf[column] * (value - left)
                for row, weights in enumerate(self.weights):
                    sums.scores[row] += weights[column] * factor
        return sums


class NumberPart(Part):
    """The features of a field of numbers: the number itself, and whether it is missing."""

    def column(self, name: str) -> int | None:
        """The column of a number."""
        return self.columns.get(":missing" if name == _MISSING else "")

    def value(self, name: str, count: int) -> float:
        """The number, standardized; 1 where it is missing."""
        if not count or name == _MISSING:
            return float(count)
        options = self.given["options"]
        return float(max(-1e50, min((float(name) - options["mean"]) / options["scale"], 1e50)))


class _Sums:
    """Sums over the n-grams of a text: scores, squares of values, and how many count for these."""

    def __init__(self, scores: list[float], squares: float, distinct: int) -> None:
        self.scores, self.squares, self.distinct = scores, squares, distinct

    def minus(self, other: _Sums) -> _Sums:
        scores = [one - two for one, two in zip(self.scores, other.scores, strict=True)]
        return _Sums(scores, self.squares - other.squares, self.distinct - other.distinct)

    @property
    def length(self) -> float:
        """The length of the row; 1 if it is empty."""
        return math.sqrt(self.squares) if self.distinct else 1.0


class Predictor:
    """A model, from its description as ``textreg export --to json`` writes it."""

    def __init__(self, given: dict[str, Any]) -> None:
        if (given["format"], given["version"]) != ("textreg-export", 1):
            raise ValueError("this is no model exported by textreg, or by another version of it")
        self.given = given
        self.labels: list[str] = given["labels"]
        self.task: str = given["task"]
        self.characters = Characters(given["characters"])
        self.fields: list[dict[str, str]] = given["fields"]
        self.tokens = given["parts"][0]["tokenizer"] == "tokens"
        self.parts = [
            (NumberPart if part["tokenizer"] == "number" else Part)(part) for part in given["parts"]
        ]

    def document(self, given: Any) -> Document:
        """What was given as a document, as one text; ValueError if it is none of this model."""
        if self.tokens:
            return Document("", {}, _given_sentences(given))
        if not self.fields:
            return Document(given, {"": (0, len(given))})
        names = ", ".join(field["name"] for field in self.fields)
        if not isinstance(given, Mapping):
            raise ValueError(f"a document of this model is a dict with {names}, not {given!r:.40}")
        at, lines, spans = 0, [], {}
        for field in self.fields:
            name = field["name"]
            if name not in given:
                raise ValueError(f"the document has no field {name!r}: it needs {names}")
            try:
                value = self.characters.value(field["kind"], given[name])
            except ValueError as error:
                raise ValueError(f"field {name!r}: {error}") from None
            at += len(name) + 2
            spans[name] = at, at + len(value)
            at += len(value) + 1
            lines.append(f"{name}: {value}")
        return Document("\n".join(lines), spans)

    def _sentences(self, document: Document, part: Part) -> list[Sentence]:
        """Those of a part's field, as places in it."""
        if document.sentences is not None:
            return document.sentences
        start, end = document.spans[part.field]
        return self.characters.sentences(document.text[start:end], part.given)

    # -- answers ----------------------------------------------------------------------------------

    def scores(self, text: Any) -> list[float]:
        """The score of every label; of two that of the second one, of a regression the number."""
        return self._scores(self.document(text))

    def _scores(self, document: Document) -> list[float]:
        scores = list(self.given["intercepts"])
        for part in self.parts:
            sums = part.sums(self._counts(document, part))
            scores = [
                score + term / sums.length for score, term in zip(scores, sums.scores, strict=True)
            ]
        return scores

    def _counts(self, document: Document, part: Part) -> Counter[str]:
        sentences = self._sentences(document, part)
        return Counter(gram.name for sentence in sentences for gram in part.grams(0, sentence))

    def values(self, text: str) -> dict[str, float]:
        """The features in a text and their values, of a model with one part."""
        (part,) = self.parts
        counts = self._counts(self.document(text), part)
        length = part.sums(counts).length
        return {
            name: part.value(name, count) * part.idf[part.columns[name]] / length
            for name, count in counts.items()
            if name in part.columns
        }

    def predict(self, text: Any) -> Any:
        """The label of a text; a list where it may have several, and of a regression a number."""
        return self._answer(self.scores(text))

    def probabilities(self, text: Any) -> dict[str, float]:
        """The probabilities of all labels; ValueError of a model that has none."""
        if not self.given["probabilities"]:
            raise ValueError("this model has no probabilities: use scores")
        return self._probabilities(self.scores(text))

    def _probabilities(self, scores: list[float]) -> dict[str, float]:
        probabilities = map(math.exp, self._log_probabilities(scores))
        return dict(zip(self.labels, probabilities, strict=True))

    def _answer(self, scores: list[float]) -> Any:
        if self.task == "regression":
            return scores[0]
        if self.task == "multilabel":
            margins = self._margins(scores)
            pairs = zip(self.labels, margins, strict=True)
            labels = [label for label, margin in pairs if margin > 0.0]
            if not labels and self.given["at_least_one"]:
                labels = [self.labels[margins.index(max(margins))]]
            return labels
        least = self.given["unknown_threshold"]
        if least is not None and self._confidence(scores) < least:
            return self.given["unknown"]
        return self.labels[self._best(scores)]

    def _best(self, scores: list[float]) -> int:
        """The index of the label that scores speak for most."""
        if self.task != "binary":
            margins = self._margins(scores)
            return margins.index(max(margins))
        first, second = self.given["thresholds"]
        if first is not None:
            return int(-scores[0] <= first)
        return int(scores[0] > (second or 0.0))

    def _confidence(self, scores: list[float]) -> float:
        if self.task != "binary":
            return max(self._margins(scores))
        first, second = self.given["thresholds"]
        return abs(scores[0] - (second or 0.0) + (first or 0.0))

    def _margins(self, scores: list[float]) -> list[float]:
        pairs = zip(scores, self.given["thresholds"], strict=True)
        return [score - (least or 0.0) for score, least in pairs]

    def _log_probabilities(self, scores: list[float]) -> list[float]:
        scores = self._calibrated(scores)
        if self.task == "binary":
            return [_log_sigmoid(-scores[0]), _log_sigmoid(scores[0])]
        if self.task == "multilabel":
            return [_log_sigmoid(score) for score in scores]
        logits = scores
        if self.task == "one-vs-rest":
            logits = [_log_sigmoid(score) for score in scores]
        total = _log_sum(logits)
        return [logit - total for logit in logits]

    def _calibrated(self, scores: list[float]) -> list[float]:
        calibration = self.given["calibration"]
        if calibration is None:
            return scores
        if calibration["method"] == "temperature":
            return [score / calibration["temperature"] for score in scores]
        softmax = self.task == "softmax"
        calibrated = []
        for row, (score, curve) in enumerate(zip(scores, calibration["curves"], strict=True)):
            x = score - _log_sum(scores[:row] + scores[row + 1 :]) if softmax else score
            p = _interpolated(x, *curve)
            calibrated.append(math.log(p) - (0.0 if softmax else math.log1p(-p)))
        return calibrated

    # -- explanations -----------------------------------------------------------------------------

    def explain(self, text: Any, of: str | None = None) -> dict[str, Any]:
        """What the words and sentences of a text add to the score of a label.

        of: the label; by default the predicted one.
        """
        if self.tokens:
            raise ValueError("documents of this model are lists of tokens, which have no places")
        document = self.document(text)
        scores = self._scores(document)
        side = self._side(scores, of)
        row, sign = side, 1.0
        if self.task in ("binary", "regression"):
            row, sign = 0, 1.0 if side else -1.0
        sentences, fields, grams = self._occurrences(document)
        answer = self._answer(scores)
        if isinstance(answer, list):
            answer = ", ".join(answer) or "no label"
        words: list[dict[str, Any]] = []
        values = [0.0] * len(sentences)
        for part, part_grams in zip(self.parts, grams, strict=True):
            for gram, name, value in self._values(part, part_grams, row):
                values[gram.sentence] += sign * value
                if value:
                    where = {"start": gram.start, "end": gram.end, "feature": name}
                    words.append({**where, "value": sign * value})
        if len(self.parts) > 1:
            words.sort(key=lambda word: word["start"])
        removals = self._removals(grams, scores, side, len(sentences))
        evidence = self._evidence(document.text, sentences, words)
        by_field: dict[str, float] = {}
        for name, value in zip(fields, values, strict=True):
            by_field[name] = by_field.get(name, 0.0) + value
        several = bool(self.fields and by_field)
        return {
            "text": document.text,
            "label": str(answer),
            "probabilities": self._probabilities(scores) if self.given["probabilities"] else {},
            "of": self.labels[side] if self.labels else "",
            "intercept": sign * self.given["intercepts"][row],
            "score": sign * scores[row],
            "sentences": [
                {
                    "start": start,
                    "end": end,
                    "value": value,
                    "removal": removal,
                    "evidence": strength,
                    **({"field": field} if several else {}),
                }
                for (start, end), field, value, removal, strength in zip(
                    sentences, fields, values, removals, evidence, strict=True
                )
            ],
            "words": words,
            **({"fields": by_field} if several else {}),
        }

    def _side(self, scores: list[float], of: str | None) -> int:
        """The index of the label that is explained."""
        if of is not None:
            if of not in self.labels:
                raise ValueError(f"the model has no label {of!r}: it has {', '.join(self.labels)}")
            return self.labels.index(of)
        return 1 if self.task == "regression" else self._best(scores)

    def _occurrences(self, document: Document) -> tuple[list[Span], list[str], list[list[Gram]]]:
        """The sentences of a document, their fields, and of every part the n-grams in them.

        Sentences are those of the first part of each field. What others find belongs to the
        sentence of the field that begins last before it.
        """
        spans: list[Span] = []
        fields: list[str] = []
        grams: list[list[Gram]] = [[] for _ in self.parts]
        for field, (at, _) in document.spans.items():
            places = [place for place, part in enumerate(self.parts) if part.field == field]
            by_part = [self._sentences(document, self.parts[place]) for place in places]
            homes = [(sentence.start, sentence.end) for sentence in by_part[0]]
            tokens = [token for other in by_part[1:] for one in other for token in one.tokens]
            if not homes and tokens:
                homes = [(min(token.start for token in tokens), max(token.end for token in tokens))]
            begins = [start for start, _ in homes]
            for place, sentences in zip(places, by_part, strict=True):
                part = self.parts[place]
                for name, start, end, home in (
                    gram for n, sentence in enumerate(sentences) for gram in part.grams(n, sentence)
                ):
                    if place != places[0]:
                        home = max(bisect_right(begins, start) - 1, 0)
                    grams[place].append(Gram(name, at + start, at + end, len(spans) + home))
            spans += [(at + start, at + end) for start, end in homes]
            fields += [field] * len(homes)
        return spans, fields, grams

    def _values(self, part: Part, grams: list[Gram], row: int) -> Iterator[tuple[Gram, str, float]]:
        """Every occurrence of a feature, its name, and what it adds to a score."""
        counts = Counter(gram.name for gram in grams)
        length = part.sums(counts).length if part.norm else 1.0
        for gram in grams:
            column = part.column(gram.name)
            if column is not None:
                count = counts[gram.name]
                value = part.value(gram.name, count) * part.idf[column] / length / count
                yield gram, part.names[column], part.weights[row][column] * value

    def _removals(
        self, grams: list[list[Gram]], scores: list[float], side: int, sentences: int
    ) -> list[float]:
        """By how much the log-probability of a label falls without each sentence."""
        without = [list(self.given["intercepts"]) for _ in range(sentences)]
        for part, part_grams in zip(self.parts, grams, strict=True):
            counts = Counter(gram.name for gram in part_grams)
            whole = part.sums(counts)
            parted: list[Counter[str]] = [Counter() for _ in range(sentences)]
            for gram in part_grams:
                parted[gram.sentence][gram.name] += 1
            for number, inside in enumerate(parted):
                rest = whole.minus(part.sums(inside, counts))
                for row, score in enumerate(rest.scores):
                    without[number][row] += score / rest.length
        log_odds = self._log_odds(scores, side)
        return [log_odds - self._log_odds(one, side) for one in without]

    def _evidence(
        self, text: str, sentences: list[Span], words: list[dict[str, Any]]
    ) -> list[float]:
        """How strong the evidence in each sentence is: (V2) of textreg's docs/maths.md.

        A token is a run of characters without a blank. What a word adds to the score is divided
        equally among the tokens that it touches.
        """
        tokens = [match.span() for match in self.characters.run.finditer(text)]
        starts, ends = [start for start, _ in tokens], [end for _, end in tokens]
        added = [0.0] * len(tokens)
        for word in words:
            first, after = bisect_right(ends, word["start"]), bisect_left(starts, word["end"])
            for token in range(first, after):
                added[token] += word["value"] / (after - first)
        begins = [start for start, _ in sentences]
        squares = [max(value, 0.0) ** 2 for value in added]
        total = [0.0, *accumulate(squares)]
        sums = [[0.0, 0.0, 0.0] for _ in sentences]
        for token, end in enumerate(ends if sentences else ()):
            entry = sums[max(bisect_right(begins, end - 1) - 1, 0)]
            low, high = max(token - _AROUND, 0), min(token + _AROUND + 1, len(tokens))
            entry[0] += squares[token]
            entry[1] += (total[high] - total[low]) / (high - low)
            entry[2] += 1
        return [
            math.sqrt(inside / (length + _SHRINKAGE)) + math.sqrt(around / max(length, 1))
            for inside, around, length in sums
        ]

    def _log_odds(self, scores: list[float], side: int) -> float:
        """The log-probability of a label; without probabilities, its score."""
        if self.given["probabilities"]:
            return self._log_probabilities(scores)[side]
        if self.task in ("binary", "regression"):
            return scores[0] if side else -scores[0]
        return scores[side]


def _given_sentences(given: Any) -> list[Sentence]:
    """A document that is a list of tokens, or of sentences of tokens; ValueError for another."""
    listed = isinstance(given, (list, tuple))
    sentences = given if listed and given and not isinstance(given[0], str) else [given]
    if not listed or not all(
        isinstance(sentence, (list, tuple)) and all(isinstance(token, str) for token in sentence)
        for sentence in sentences
    ):
        raise ValueError(
            "a document of this model is a list of tokens, or of sentences of them, not "
            f"{given!r:.40}"
        )
    return [Sentence(0, 0, [Token(token, 0, 0) for token in sentence]) for sentence in sentences]


def _log_sigmoid(score: float) -> float:
    return -math.log1p(math.exp(-score)) if score >= 0 else score - math.log1p(math.exp(score))


def _log_sum(logits: Sequence[float]) -> float:
    """The logarithm of the sum of exponentials."""
    most = max(logits)
    return most + math.log(math.fsum(math.exp(logit - most) for logit in logits))


def _interpolated(x: float, xs: list[float], ys: list[float]) -> float:
    """The value at x of a curve through points, constant beyond them."""
    at = bisect_right(xs, x)
    if at == 0 or at == len(xs):
        return ys[max(at - 1, 0)]
    slope = (ys[at] - ys[at - 1]) / (xs[at] - xs[at - 1])
    return slope * (x - xs[at - 1]) + ys[at - 1]


def main(predictor: Predictor) -> None:
    """Print the answer for every line of the standard input, as JSON."""
    for number, line in enumerate(sys.stdin, 1):
        text = line.rstrip("\r\n")
        try:
            document = json.loads(text) if predictor.fields or predictor.tokens else text
            label = predictor.predict(document)
        except ValueError as error:
            sys.exit(f"line {number} is not a document of this model: {error}")
        print(json.dumps({"text": document, "label": label}))
