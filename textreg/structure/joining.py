"""Several tokenizers or group builders as one, and tokenizers that are callables of a program."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import accumulate
from typing import Any, ClassVar, NoReturn

import numpy as np

from textreg.errors import DataError, UsageError
from textreg.isolation import blaming
from textreg.kinds import GroupBuilder, Plugin, Tokenizer
from textreg.params import Param, Parametrized
from textreg.records import Documents, Groups, Tokens
from textreg.records.arrays import offsets_of
from textreg.records.documents import WANTED, NotTokensError, cut, names_of, tokenized
from textreg.records.text import LazyNames, tokens_of
from textreg.terminal import single_line


class Joined(Plugin):
    """Several parts of one kind, in order: base of the classes that :func:`join` makes.

    A parameter of a part is called as there if no other has one of that name, and else has the
    part's name before it: ``lda_weight`` (``--groups-lda-weight``).

    Attributes
    ----------
    shared : dict of str to tuple of str
        Parameters of all parts that have them, with the names that they have for one part alone.
    """

    classes: ClassVar[tuple[type[Plugin], ...]] = ()
    shared: ClassVar[dict[str, tuple[str, ...]]] = {}
    parts: list[Any]

    def __init__(self, /, **values: Any) -> None:
        super().__init__(**values)
        state = self.__dict__
        for key, names in self.shared.items():
            alone = [state[key] if state[name] is None else state[name] for name in names]
            same = all(value == alone[0] for value in alone)
            # One way to say the same, so that equal parts are equal.
            state[key] = alone[0] if same else self._declared[key].default
            state |= {name: None if same else it for name, it in zip(names, alone, strict=True)}
        state["parts"] = [
            part(**{key: self._value(key, name) for key, name in names.items()})
            for part, names in zip(self.classes, _names_of(self.classes), strict=True)
        ]

    def _value(self, key: str, name: str) -> Any:
        """The value of a parameter of a part, which is called ``name`` here."""
        value = self.__dict__[name]
        return self.__dict__[key] if value is None and key in self.shared else value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"

    def __reduce__(self) -> Any:
        # pickle looks classes up by their names, which all that join makes share.
        return joined, (self.kind, self.parts)


class JoinedBuilder(Joined, GroupBuilder):
    """The groups of several builders, one after the other."""

    def build(self, tokens: Tokens) -> Groups:
        """All groups, named with their builder first: ``lda: topic 3``."""
        return self.joined([part.build(tokens) for part in self.parts], tokens)

    def joined(self, built: Sequence[Groups], tokens: Tokens) -> Groups:
        """The same from groups that are built already."""
        sizes = np.concatenate([np.diff(groups.indptr) for groups in built])
        return Groups(
            indptr=offsets_of(sizes),
            indices=np.concatenate([groups.indices for groups in built]),
            weights=np.concatenate([groups.weights for groups in built]),
            n_features=max(groups.n_features for groups in built),
            names=_Names([(part.label(), it) for part, it in zip(self.parts, built, strict=True)]),
        )


class JoinedTokenizer(Joined, Tokenizer):
    """The tokens of several tokenizers.

    A parameter that several have in the same way, as ``lowercase``, is one for all of them, unless
    a part is given its own: ``chars_lowercase``. Features are made of the tokens of each part for
    itself, side by side: see :class:`textreg.features.encoder.JoinedEncoder`.
    """

    def __call__(self, text: str) -> list[list[str]]:
        """The sentences of every part, one part after the other; all but the first with its name
        before their tokens: ``chars: th``."""
        first, *others = self.parts
        return [
            *first(text),
            *(
                [f"{part.label()}: {token}" for token in sentence]
                for part in others
                for sentence in part(text)
            ),
        ]


class _Names(LazyNames):
    """Names of groups, with their builder first."""

    def __init__(self, parts: Sequence[tuple[str, Groups]]) -> None:
        self.parts = parts
        self.starts = [0, *accumulate(len(groups) for _, groups in parts)]

    def __len__(self) -> int:
        return self.starts[-1]

    def name(self, group: int) -> str:
        part = bisect_right(self.starts, group) - 1
        label, groups = self.parts[part]
        return f"{label}: {groups.label(group - self.starts[part])}"


_BASES: dict[str, type[Joined]] = {"groups": JoinedBuilder, "tokenizer": JoinedTokenizer}


@cache
def join(kind: str, classes: tuple[type[Plugin], ...]) -> type[Joined]:
    """A class that joins several parts of a kind, with the parameters of all; cached.

    Raises UsageError where two of them have one name: their parameters could not be told apart.
    """
    labels = [part.label() for part in classes]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"{kind}: '{label}' is named twice; name each one once.")
    base = _BASES[kind]
    body: dict[str, Any] = {"__doc__": base.__doc__, "name": ",".join(labels), "classes": classes}
    for trait in ("order_matters", "forms_ngrams"):
        if hasattr(base, trait):
            body[trait] = any(getattr(part, trait) for part in classes)
    cls: type[Joined] = type(base.__name__, (base,), body)
    cls.shared = _shared(classes) if kind == "tokenizer" else {}
    cls._declared = {}
    for part, names in zip(classes, _names_of(classes), strict=True):
        for key, param in part.declared().items():
            own = replace(param, name=names[key], help=f"{part.label()}: {param.help}")
            if key in cls.shared:
                cls._declared.setdefault(key, param)
                own = replace(own, default=None, optional=True, help=f"{own.help}, this one alone")
            cls._declared[names[key]] = own
    return cls


def _shared(classes: Sequence[type[Plugin]]) -> dict[str, tuple[str, ...]]:
    """Parameters that several parts declare in the same way, with their names for each alone."""
    declarations: dict[str, list[tuple[Param, str]]] = {}
    for part, names in zip(classes, _names_of(classes), strict=True):
        for key, param in part.declared().items():
            declarations.setdefault(key, []).append((param, names[key]))
    return {
        key: tuple(name for _, name in ones)
        for key, ones in declarations.items()
        if len(ones) > 1
        and not ones[0][0].optional
        and all(_alike(it, ones[0][0]) for it, _ in ones)
    }


def _alike(one: Param, other: Param) -> bool:
    return replace(one, help="") == replace(other, help="")


def joined(kind: str, parts: Sequence[Plugin]) -> Any:
    """One part of several instances; the instance itself of one alone. UsageError of none."""
    parts = [single for part in parts for single in parts_of(part)]
    if not parts:
        raise UsageError(f"{kind}: the list is empty; give one at least, or leave out {kind}.")
    if len(parts) == 1:
        return parts[0]
    names = joint_names([(part.label(), part.params()) for part in parts])
    joint = join(kind, tuple(type(part) for part in parts))(
        **{
            renamed[key]: value
            for part, renamed in zip(parts, names, strict=True)
            for key, value in part.params().items()
        }
    )
    joint.__dict__["parts"] = list(parts)
    return joint


def parts_of(part: Any) -> list[Any]:
    """The parts that a part joins; itself if it is a single one."""
    return list(part.parts) if isinstance(part, Joined) else [part]


def joint_names(parts: Sequence[tuple[str, Iterable[str]]]) -> list[dict[str, str]]:
    """What parameters are called in a joined part: for every part a name by its own name.

    parts: the label and the names of the parameters of each.
    """
    keys = [list(names) for _, names in parts]
    every = [key for names in keys for key in names]
    return [
        {key: key if every.count(key) == 1 else f"{label.replace('-', '_')}_{key}" for key in names}
        for (label, _), names in zip(parts, keys, strict=True)
    ]


def _names_of(classes: Sequence[type[Plugin]]) -> list[dict[str, str]]:
    return joint_names([(part.label(), part.declared()) for part in classes])


# Characters of the name of a callable that are kept.
_MOST = 100


class Unnamed(Tokenizer):
    """A tokenizer that no name stands for, so that a model file cannot bring it back alone."""

    def replace(self, /, **values: Any) -> NoReturn:
        """UsageError, as it has no parameters."""
        raise UsageError(
            f"tokenizer '{self.name}' has no parameters: leave out "
            f"{', '.join(f'tokenizer_{key}' for key in values)}."
        )


class CallableTokenizer(Unnamed):
    """A callable of the user's program: a function, a method, or an object such as spaCy's.

    Attributes
    ----------
    name : str
        The callable's own name, for messages only.
    function : callable
        Takes a text; returns a list of tokens, or of sentences of tokens, as for
        :func:`textreg.records.documents.cut`.
    """

    function: ClassVar[Any]

    @classmethod
    def of(cls, function: Callable[[str], Any]) -> CallableTokenizer:
        """The tokenizer that calls a function: of a class of its own, as its name differs."""
        named = _named(function)
        body = {
            "name": name_of(function),
            "function": staticmethod(function),
            "__module__": _module_of(named),  # so that it is no part of textreg
            "__qualname__": named.__qualname__,
        }
        subclass: type[CallableTokenizer] = type(cls.__name__, (cls,), body)
        return subclass()

    def __call__(self, text: str) -> list[list[str]]:
        """The tokens of every sentence of ``text``."""
        return names_of(self._cut(text, "a text"))

    def encode(self, texts: Sequence[str], *, spans: bool = False) -> Tokens:
        """The tokens of all ``texts``.

        ``spans`` can be had where tokens state their offset, ``idx``, as those of spaCy do. Raises
        UsageError if one does not, and for a result that is no tokens.
        """
        documents = [self._cut(text, f"document {n}") for n, text in enumerate(texts, 1)]
        tokens = tokens_of(documents, names_of)
        if not spans:
            return tokens
        sentences = [sentence for document in documents for sentence in document]
        places = [self._span(token) for sentence in sentences for token in sentence]
        token_spans = np.array(places, dtype=np.int32).reshape(-1, 2)
        first, last = tokens.sentence_ptr[:-1], tokens.sentence_ptr[1:] - 1
        sentence_spans = np.column_stack([token_spans[first, 0], token_spans[last, 1]])
        return replace(tokens, spans=token_spans, sentence_spans=sentence_spans)

    def _cut(self, text: str, what: str) -> list[list[Any]]:
        """The tokens of a text; UsageError for another result, BrokenPluginError for a failure."""
        which = f"{what} ({single_line(repr(text[:40]))})"
        advice = "Correct it, or leave the document out."
        with blaming(lambda: f"tokenizer '{self.name}'", which, lambda: advice, often=True):
            try:
                return cut(self.function(text))
            except NotTokensError as error:
                raise UsageError(
                    f"tokenizer '{self.name}' gives {error} for {which}: it must give {WANTED}."
                ) from None

    def _span(self, token: Any) -> tuple[int, int]:
        start = getattr(token, "idx", None)
        if not isinstance(start, int):
            raise UsageError(f"tokenizer '{self.name}' does not give character offsets.")
        return start, start + len(token.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CallableTokenizer) and self.function is other.function

    def __hash__(self) -> int:
        return hash(id(self.function))

    def __repr__(self) -> str:
        return f"CallableTokenizer({self.name})"

    def __reduce__(self) -> Any:
        # pickle looks classes up by their names, which are those of the functions here.
        return CallableTokenizer.of, (self.function,)


class Pretokenized(Unnamed):
    """Takes documents that are lists of tokens, or of sentences of tokens, in place of texts."""

    name = "pretokenized"

    def __call__(self, text: Any) -> list[list[str]]:
        """The tokens of every sentence of a document."""
        return tokenized([text])[0]

    def encode(self, texts: Documents, *, spans: bool = False) -> Tokens:
        """The tokens of all documents; DataError for a text among them."""
        if spans:
            raise UsageError(
                "the model takes lists of tokens, which have no character offsets: nothing can be "
                "shown in a text. Model.top_features shows the weights."
            )
        for number, document in enumerate(texts, 1):
            if isinstance(document, str):
                raise DataError(
                    f"document {number} is a text ({single_line(repr(document[:40]))}), but the "
                    "model takes lists of tokens, as it was trained on such lists. Give them in "
                    "Python, model.predict([['a', 'document']]); commands read texts only."
                )
        return tokens_of(tokenized(texts), iter)


def is_function(part: Any) -> bool:
    """Whether something can be called that is no part of textreg."""
    cls = part if isinstance(part, type) else type(part)
    return callable(part) and not issubclass(cls, Parametrized)


def name_of(function: Callable[..., Any]) -> str:
    """The name of a callable, with its module, for messages; that of its class if it has none."""
    named = _named(function)
    module = _module_of(named)
    name = named.__qualname__
    if module not in ("builtins", "__main__"):
        name = f"{module}.{name}"
    return single_line(name)[:_MOST]


def _named(function: Callable[..., Any]) -> Any:
    """What gives a callable its name: itself, what it calls, or its class."""
    while isinstance(function, partial):
        function = function.func
    return function if hasattr(function, "__qualname__") else type(function)


def _module_of(named: Any) -> str:
    return getattr(named, "__module__", None) or "builtins"
