"""HTML in documents: removing it, its places in the text, and the warning."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import textreg
from textreg.builtin.tokenizers import Chars, Words
from textreg.cli import main
from textreg.errors import DataWarning, UsageError
from textreg.features.markup import _stripped, encode, strip_html, warn_of_html
from textreg.kinds import Tokenizer
from textreg.records import Corpus

PIECES = st.sampled_from(
    [
        *("<br />", "<b>", "</b>", "<!--", "-->", "<script>", "</script>", "<a href='x>y'>"),
        *("&amp;", "&#228;", "&nope;", "<", "&", ">", '"', "'", "a", "word", " ", "\n", "é", ". "),
    ]
)
TEXT = st.lists(PIECES).map("".join)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Great.<br /><br />Next", "Great.\n\nNext"),
        ("<p class=\"a>b\" id='c>d'>One</P >two", "\nOne\ntwo"),
        ("un<b>believ</b>able", "unbelievable"),
        ("caf&eacute; &#228;&#xE4; &amp;lt; R&D AT&T; &nope;", "café ää &lt; R&D AT&T; &nope;"),
        ("a < b and c > d, a<b, x <- 3, i<3, <3", "a < b and c > d, a<b, x <- 3, i<3, <3"),
        ("From: me <me.too@mail.org> <http://a.b/c>", "From: me <me.too@mail.org> <http://a.b/c>"),
        ("a<!-- <b>no</b>\n-->b<script type=x>if (a<b) {}</script>c", "ab\nc"),
        ("<STYLE>p {}</style ><!DOCTYPE html><?xml version='1'?>x", "\n\n\nx"),
        ("not <!-- closed, <script> neither, <!-- so", "not  closed, \n neither,  so"),
        ("<a href='it's'>x", "<a href='it's'>x"),
    ],
)
def test_what_is_left(text: str, left: str) -> None:
    assert strip_html(text) == left


@given(TEXT)
@example("&NotEqualTilde;<b>")
def test_places(text: str) -> None:
    left, begins, ends = _stripped(text)
    assert left == strip_html(text)
    n = len(left)
    assert len(begins) == len(ends) == n + 1
    assert begins[n] == ends[n] == len(text)
    for c, start, end in zip(left, begins, ends, strict=False):
        assert 0 <= start < end <= len(text)
        assert text[start:end] == c or text[start] in "<&"
    assert (begins[1:] >= begins[:-1]).all()


@given(st.lists(TEXT), st.sampled_from([Words(), Chars()]))
def test_spans_are_those_in_the_given_text(texts: list[str], tokenizer: Tokenizer) -> None:
    tokens = encode(tokenizer, texts, strip=True, spans=True)
    plain = tokenizer.encode([strip_html(text) for text in texts])
    assert tokens.ids.tolist() == plain.ids.tolist()
    assert tokens.spans is not None
    assert tokens.sentence_spans is not None
    document = 0
    for place, (id, (start, end)) in enumerate(zip(tokens.ids, tokens.spans, strict=True)):
        while tokens.token_document_ptr[document + 1] <= place:
            document += 1
        part = strip_html(texts[document][start:end])
        assert tokens.vocabulary[id].strip() in part.casefold()


def test_a_word_with_a_tag_and_a_reference_inside() -> None:
    text = "Un<i>caf&eacute;</i>s. New"
    tokens = encode(Words(), [text], strip=True, spans=True)
    assert tokens.spans is not None
    assert [text[start:end] for start, end in tokens.spans] == ["Un<i>caf&eacute;</i>s", "New"]


HOSTILE = ["<a ", "<!--", "<script>", '<a "<a" ', "<a '", "<br a= ", "&a", "<a x=", "<p>"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_texts_take_no_time(piece: str) -> None:
    start = time.process_time()
    strip_html(piece * 50_000)
    warn_of_html(Corpus([piece * 50_000, *["plain"] * 99]))
    assert time.process_time() - start < 2.0


def test_the_warning() -> None:
    some = ["Good.<br />Bad", *["plain a < b"] * 9]
    with pytest.warns(
        DataWarning, match=r"10% of the documents hold HTML, such as '<br />' in doc"
    ):
        warn_of_html(Corpus(some))
    fine = ["a < b > c", "me <me@mail.org>", "i <3 u & me", "<grin> <I think so>", "AT&T; x&y;"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_html(Corpus([*some, "more"]))
        warn_of_html(Corpus(fine))
        warn_of_html(Corpus([]))


def test_the_model_does_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [f"It is <b>{'good' if n % 2 else 'bad'}</b>.<br/>{n}" for n in range(40)]
    labels = ["neg", "pos"] * 20
    (tmp_path / "train.txt").write_text(
        "".join(f"__label__{label} {text}\n" for label, text in zip(labels, texts, strict=True))
    )
    words = ["train", str(tmp_path / "train.txt"), "--reg", "ridge", "--reg-l2", "0.01"]
    assert main([*words, "-o", str(tmp_path / "with")]) == 0
    assert "100% of the documents hold HTML, such as '<b>' in" in capsys.readouterr().err
    assert main([*words, "--strip-html", "-o", str(tmp_path / "m")]) == 0
    assert "HTML" not in capsys.readouterr().err
    model = textreg.load(tmp_path / "m")
    assert "is good" in model.encoder.names
    assert "b good" in textreg.load(tmp_path / "with").encoder.names
    assert model.predict(["g<i>oo</i>d", "<bad>"]) == ["pos", model.predict([""])[0]]
    assert main(["explain", str(tmp_path / "m"), "So <p>g<i>oo</i>d it is"]) == 0
    assert "g<i>oo</i>d" in capsys.readouterr().out
    assert textreg.TextClassifier(strip_html=True).get_params()["strip_html"]


def test_documents_that_are_tokens_have_no_html() -> None:
    documents = [["a", "b"], ["c"]]
    with pytest.raises(UsageError, match=r"are tokens\. Leave it out, or give texts"):
        textreg.train(documents * 9, ["x", "y"] * 9, reg="ridge", strip_html=True)
    textreg.train(documents * 9, ["x", "y"] * 9, reg="ridge")


@pytest.mark.parametrize("strips", [False, True])
def test_a_field_that_is_stripped_is_not_told_to_hold_html(strips: bool) -> None:
    fields = {"subject": "text", "body": {"strip_html": strips}}
    mails = [{"subject": "a mail", "body": f"<b>{word}</b>"} for word in ("good", "bad")] * 20
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = textreg.train(mails, ["pos", "neg"] * 20, reg="ridge", reg_l2=0.1, fields=fields)
    assert [str(it.message)[:27] for it in caught] == ["100% of the documents hold "] * (not strips)
    assert ("body:b good" in model.encoder.names) is not strips
