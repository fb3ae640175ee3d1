"""Builders that ask for the texts get them, with places; all others see none."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from conftest import Cli
from scipy.sparse import csr_array

from textreg import TextVectorizer, load, train
from textreg.errors import UsageError
from textreg.kinds import GraphBuilder, GroupBuilder, Tokenizer
from textreg.records import Corpus, Graph, Groups, Tokens
from textreg.structure.grouping import SegmentBuilder

CLASS = '''
import numpy as np
from textreg.hookspecs import hookimpl
from textreg.structure.grouping import SegmentBuilder


class Headed(SegmentBuilder):
    """Parts of a text that begin with a line in capitals."""

    name = "headed"
    segment = "part"
    wants_texts = True

    def segments(self, tokens):
        import re

        ptr, document_ptr = [0], [0]
        for document, text in enumerate(tokens.texts):
            start, end = tokens.document_ptr[document : document + 2]
            heads = [head.start() for head in re.finditer("^[A-Z]+$", text, re.MULTILINE)]
            first = start + np.searchsorted(tokens.sentence_spans[start:end, 0], heads)
            cuts = sorted({*first.tolist(), int(end)} - {int(start)})
            ptr += tokens.sentence_ptr[cuts].tolist() if end > start else []
            document_ptr.append(len(ptr) - 1)
        return tokens.ids, np.array(ptr), np.array(document_ptr)


@hookimpl
def textreg_group_builders():
    return [Headed]
'''
TEXTS = [
    "INTRO\nA fine lamp, see. It works.\nEND\nI like it, 2021-03-04.",
    "INTRO\nA dull lamp, alas. It hums.\nEND\nIt broke, 2022-05-06.",
    "",
    "no heading, so one part",
]
LABELS = ["good", "bad", "bad", "good"]
FEW: dict[str, Any] = {"reg": "group", "reg_l1": 0.1, "reg_group": 0.05, "tol": 1e-6}


def headed() -> Any:
    space: dict[str, Any] = {}
    exec(CLASS, space)
    return space["Headed"]


class Watching(SegmentBuilder):
    """Whole documents; keeps what it was given."""

    name = "watching"
    wants_texts = True
    seen: list[Tokens] = []

    def segments(self, tokens: Tokens) -> Any:
        self.seen.append(tokens)
        ptr = tokens.token_document_ptr
        return tokens.ids, ptr, np.arange(len(ptr), dtype=np.int64)


class Blind(Watching):
    """The same without the texts."""

    name = "blind"
    wants_texts = False


class WatchingLinks(GraphBuilder):
    """No links but one."""

    name = "watching-links"
    wants_texts = True

    def build(self, tokens: Tokens) -> Graph:
        Watching.seen.append(tokens)
        p = len(tokens.vocabulary)
        return Graph(csr_array(([1.0], ([0], [1])), shape=(p, p)))


@pytest.fixture(autouse=True)
def seen() -> list[Tokens]:
    Watching.seen.clear()
    return Watching.seen


def require_places(tokens: Tokens) -> None:
    """The words of the spans are those of the tokens."""
    assert tokens.texts is not None
    assert tokens.spans is not None
    assert tokens.sentence_spans is not None
    assert len(tokens.texts) == tokens.n_documents
    for document, text in enumerate(tokens.texts):
        first, last = tokens.token_document_ptr[document : document + 2]
        for id, (start, end) in zip(tokens.ids[first:last], tokens.spans[first:last], strict=True):
            words = re.findall(r"\w+", re.sub("<.*?>", "", text[start:end].lower()))
            assert " ".join(words) == tokens.vocabulary[id].replace("-", " ")


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_texts_come_with_the_places_of_features(
    memory: str | None, seen: list[Tokens], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textreg.blocks.scratch.DOCUMENTS", 6)
    options: dict[str, Any] = {} if memory is None else {"memory": memory}
    train(TEXTS * 5, LABELS * 5, groups=Watching(), ngrams=2, **FEW, **options)
    for tokens in seen:
        require_places(tokens)
    assert sum(tokens.n_documents for tokens in seen[-4 if memory else -1 :]) == 20
    # In a search every fold has its own documents.
    searched = {"reg_l1": [0.1, 0.2]}
    options |= {"reg": "group", "reg_group": 0.05, "search_space": searched}
    train(TEXTS * 5, LABELS * 5, groups=Watching(), **options)
    for tokens in seen:
        require_places(tokens)


def test_groups_by_headings_are_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textreg.blocks.scratch.DOCUMENTS", 6)
    whole = train(TEXTS * 5, LABELS * 5, groups=headed()(), **FEW)
    blocks = train(TEXTS * 5, LABELS * 5, groups=headed()(), memory="1GB", **FEW)
    assert whole.summary is not None
    assert blocks.summary is not None
    assert whole.summary.groups is not None
    assert blocks.summary.objective == pytest.approx(whole.summary.objective, rel=1e-5)


def test_html_stays_in_the_texts(seen: list[Tokens]) -> None:
    texts = [f"<p>A <b>fine</b> lamp. {text}</p>" for text in TEXTS]
    train(texts * 5, LABELS * 5, groups=Watching(), strip_html=True, **FEW)
    require_places(seen[-1])
    assert seen[-1].texts is not None
    assert seen[-1].texts[0].startswith("<p>")


def test_links_may_be_of_unlabeled_texts_too(seen: list[Tokens]) -> None:
    more = Corpus(["an unlabeled lamp", "fine and dull"])
    options: dict[str, Any] = {"reg_alpha": 0.1, "reg_beta": 0.1}
    train(TEXTS * 5, LABELS * 5, reg="network", graph=WatchingLinks(), unlabeled=more, **options)
    require_places(seen[-1])
    assert seen[-1].texts is not None
    assert list(seen[-1].texts[-2:]) == more.texts


def test_who_does_not_ask_sees_no_text(seen: list[Tokens]) -> None:
    train(TEXTS * 5, LABELS * 5, groups=Blind(), **FEW)
    train(TEXTS * 5, LABELS * 5, groups=Blind(), memory="1GB", **FEW)
    train(TEXTS * 5, LABELS * 5, groups=[Blind(), Watching()], **FEW)
    blind = [tokens for tokens in seen if tokens.texts is None]
    assert len(blind) == len(seen) - 1
    for tokens in blind:
        assert (tokens.locate, tokens.spans, tokens.sentence_spans) == (None, None, None)


def test_a_model_needs_no_builder_to_predict(tmp_path: Any, cli: Cli) -> None:
    (tmp_path / "headed.py").write_text(CLASS)
    rows = "".join(f'"{t}",{label}\n' for t, label in zip(TEXTS * 5, LABELS * 5, strict=True))
    (tmp_path / "rows.csv").write_text("text,label\n" + rows)
    plugin, file = ("--plugin", str(tmp_path / "headed.py")), str(tmp_path / "rows.csv")
    out = cli(*plugin, "groups", file, "--groups", "headed", "--top", "3")
    assert out.code == 0, out.err
    assert "document 1, part 2" in out.out
    model = str(tmp_path / "m.textreg")
    options = ("--groups", "headed", "--reg", "group", "--reg-l1", "0.1", "--reg-group", "0.05")
    assert cli(*plugin, "train", file, *options, "-o", model).code == 0
    assert load(model).predict(["a fine lamp"]) == ["good"]


class Spaced(Tokenizer):
    """Words without places."""

    name = "spaced"

    def __call__(self, text: str) -> list[list[str]]:
        return [text.lower().split()]


def test_where_there_are_no_texts_the_error_says_so() -> None:
    lists = [text.split() for text in TEXTS if text]
    with pytest.raises(UsageError, match="watching reads the texts, and there are none here"):
        train(lists * 5, (LABELS[:2] + LABELS[3:]) * 5, groups=Watching(), **FEW)
    columns = [{"head": "a lamp", "body": text} for text in TEXTS]
    with pytest.raises(UsageError, match="watching reads the texts"):
        train(columns * 5, LABELS * 5, groups=Watching(), fields=["head", "body"], **FEW)
    matrix = TextVectorizer().fit_transform(TEXTS)
    with pytest.raises(UsageError, match="watching reads the texts"):
        matrix.groups(Watching())
    with pytest.raises(UsageError, match="watching needs places in the texts: tokenizer 'spaced'"):
        train(TEXTS * 5, LABELS * 5, groups=Watching(), tokenizer=Spaced(), **FEW)


def test_builders_do_not_ask_unless_they_say_so() -> None:
    assert not GroupBuilder.wants_texts
    assert not GraphBuilder.wants_texts
    tokens = TextVectorizer().fit_transform(TEXTS).tokens
    assert tokens is not None
    assert tokens.texts is None
    built: Groups = Blind().build(tokens)
    assert len(built) == len(TEXTS)
