"""Tokenizer 'words': where sentences end, offsets; and group builder 'sentences'."""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thoroughness import draws

from textreg.builtin.group_builders import Sentences
from textreg.builtin.tokenizers import Words
from textreg.errors import DataError, UsageError
from textreg.kinds import Tokenizer
from textreg.plugins import registry
from textreg.records import Tokens
from textreg_testing.tokenizer import check_order


def cut(marked: str) -> tuple[str, list[list[str]]]:
    """A text with a bar where every sentence ends: without the bars, and its sentences."""
    pieces = [Words(sentences="none")(piece) for piece in marked.split("|")]
    return marked.replace("|", ""), [words for piece in pieces for words in piece]


@pytest.mark.parametrize(
    "marked",
    [
        "It was good.| I liked it!| Did you?| Yes…| No.",
        'He said "Stop."| Then (he left.)| Why?',
        '"Why?" she asked.| "Because."',
        "Mr. Smith met Dr. J. R. Jones vs. St. John at Acme Inc. Then they left.",
        "So do I.| The end.| World War I.| The end.",
        "It is e.g. Nice in the U.S. Army, i.e. Fine.",
        "See Fig. 3 and no. 5, pp. 12 and vol. 2.| No.| The answer is no.| Five came.",
        "It cost 3.14 dollars, or 2.50.| Version 1.0.2 is at www.example.com today.",
        "1. First point.| 22. Second point.| B. Third point.| I. Fourth point.",
        "The year was 1984.| Then came 1985.",
        "Wait... what?| Well...| Now!| No?!| Go to node.js or .NET, Yahoo! or what? nothing",
        'the plot drags .| the acting ( by x ) is good !| " really ? "| yes .',
        "wait ... what is this",
        "A title|\n\nA paragraph\nthat goes on.|\n \t\nAnother",
        "From: a@b.com (A B)|\nSubject: Re: good news|\nLines: 3|\n\nHello there",
        "Bob writes:|\n> I like it.| It is\n> good|\n>\n> So there|\n--------\nBob",
        "line one\nline two|\r\n\r\nline three\rline four\r\nline five|\n\rline six",
        "So what?|<br /><br />Equally <b>good</b>.|<br />More",
        "今天很好。|明天呢？|好！|“真的？！”|「是。」|他说：“对。”|好",
        "यह अच्छा है।| वह भी।|हाँ॥| नहीं",
        "မြန်မာ။|ကောင်း၊|ပါ။",
        "ខ្ញុំ។|ស្រឡាញ់៕| ជា",
        "ሰላም።|እንዴት ነህ፧| ደህና",
        "أين أنت؟| هنا۔| نعم.| «لا.»| طيب",
        "Er sagte „So.“| Dann »nein.«| Und ‚ja.‘| Ende",
        "ΟΔΟΣ.| Ναι.| ЭТО ТАК.| Да.",
        "\0 One.| \0Two",
        "",
        " .\n\n! ",
    ],
)
def test_punct(marked: str) -> None:
    text, sentences = cut(marked)
    assert Words()(text) == sentences


@pytest.mark.parametrize(
    ("rule", "marked"),
    [
        ("none", "One. Two\n\nthree\nfour"),
        ("lines", "One. Two|\n\nthree|\nfour|\r\nfive|\rsix|\n--\nseven"),
        ("paragraphs", "One. Two|\n\nthree\nfour\r\nfive\rsix|\n--\nseven|\r\n \r\neight"),
    ],
)
def test_other_sentences(rule: str, marked: str) -> None:
    text, sentences = cut(marked)
    assert Words(sentences=rule)(text) == sentences


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我用iPhone手机", "我 用 iphone 手 机"),
        ("ラーメンをｶﾞ食べる々〇", "ラ ー メ ン を ｶﾞ 食 べ る 々 〇"),
        ("ที่นี่น้ำดี ๑๒๓", "ที่ นี่ น้ำ ดี ๑๒๓"),
        ("ສະບາຍດີ ភាសាខ្មែរ မြန်မာ", "ສ ະ ບ າ ຍ ດີ ភា សា ខ្ មែ រ မြ န် မာ"),
        ("한국어 단어 བོད་ཡིག", "한국어 단어 བོད ཡིག"),
        ("हिन्दी में مُحَمَّدٌ שָׁלוֹם e\u0301te\u0301", "हिन्दी में مُحَمَّدٌ שָׁלוֹם e\u0301te\u0301"),
        ("می\u200cخواهم cof\xadfee 葛\U000e0100", "میخواهم coffee 葛"),
        ("ថ\u200bភ x\u200by", "ថ ភ x y"),
        ("STRASSE Straße ΟΔΟΣ οδος ﬁne İİ Kelvin", "strasse strasse οδοσ οδοσ fine i̇i̇ kelvin"),
        ("\u0301 \u093f\u0915a", "\u0301 \u093f\u0915a"),
    ],
)
def test_scripts(text: str, words: str) -> None:
    """Letters of scripts without spaces are words, marks belong to words, case is folded."""
    tokenizer = Words(sentences="none", normalize="none")
    assert tokenizer(text) == [words.split()]
    tokens = tokenizer.encode([text])
    assert [tokens.vocabulary[i] for i in tokens.ids] == words.split()


def test_a_character_is_no_short_word() -> None:
    assert Words(min_length=3)("我 am 用 the ที่") == [["我", "用", "the", "ที่"]]


def test_the_end_of_a_sentence_takes_what_closes_it() -> None:
    text = "他说：“对。”“是吗？！”「好。」好.”"
    tokens = Words().encode([text], spans=True)
    assert tokens.sentence_spans is not None
    cut = [text[start:end] for start, end in tokens.sentence_spans]
    assert cut == ["他说：“对。”", "是吗？！”", "好。」", "好.”"]


def test_short_words_and_capitals() -> None:
    words = Words(lowercase=False, min_length=2)
    assert words("I am A. I.\n\nX\n\nMe, İİ too") == [["am"], ["Me", "İİ", "too"]]
    tokens = words.encode(["I am A. I.\n\nX\n\nMe, İİ too"])
    assert tokens.vocabulary == ["Me", "am", "too", "İİ"]
    assert tokens.sentence_ptr.tolist() == [0, 1, 4]


class Slow(Tokenizer):
    """Words by the way of a tokenizer that only gives ``__call__``."""

    name = "slow"

    def __call__(self, text: str) -> list[list[str]]:
        return Words()(text)


@settings(deadline=None)
@given(st.lists(st.text("aB İΣς.!\n1")))
def test_both_ways_give_the_same(texts: list[str]) -> None:
    fast, slow = Words().encode(texts), Slow().encode(texts)
    assert fast.sentence_ptr.tolist() == slow.sentence_ptr.tolist()
    assert fast.document_ptr.tolist() == slow.document_ptr.tolist()
    assert [fast.vocabulary[i] for i in fast.ids] == [slow.vocabulary[i] for i in slow.ids]


@settings(deadline=None)
@given(st.lists(st.text('aB İΣς.!\n1é的😀<"')))
def test_spans_point_at_the_text(texts: list[str]) -> None:
    tokens = Words().encode(texts, spans=True)
    assert tokens.spans is not None
    assert tokens.sentence_spans is not None
    for d, text in enumerate(texts):
        for s in range(tokens.document_ptr[d], tokens.document_ptr[d + 1]):
            begin, end = tokens.sentence_spans[s]
            places = range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1])
            spans = tokens.spans[places]
            assert begin == spans[0, 0]
            assert spans[-1, 1] <= end
            assert not re.search(r"[\s\w<]", text[spans[-1, 1] : end])
            for i, (start, stop) in zip(places, spans, strict=True):
                assert tokens.vocabulary[tokens.ids[i]] == text[start:stop].casefold()


def test_a_plain_tokenizer_has_no_spans() -> None:
    with pytest.raises(UsageError, match="slow"):
        Slow().encode(["a"], spans=True)


def test_wrong_texts_are_named() -> None:
    with pytest.raises(DataError, match=r"document 2 is missing \(nan\)"):
        Words().encode(["fine", float("nan")])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="list of texts"):
        Words().encode("one text")


def test_they_come_in_by_the_door() -> None:
    assert registry.create("tokenizer", "words", min_length=2) == Words(min_length=2)
    assert registry.create("groups", "sentences", weight="sqrt") == Sentences(weight="sqrt")


def test_sentences_on_real_mail(data_dir: Path) -> None:
    """No sentence is a whole message, few are crumbs, headers are apart."""
    with gzip.open(data_dir / "data/tasks/science/train.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    tokens = Words().encode(texts, spans=True)
    assert tokens.sentence_spans is not None
    sizes = np.diff(tokens.sentence_ptr)
    assert 8 < np.median(sizes) < 20
    assert np.mean(sizes == 1) < 0.1
    first = [
        text[slice(*tokens.sentence_spans[s])]
        for text, s in zip(texts, tokens.document_ptr, strict=False)
    ]
    assert np.mean([line.startswith(("From:", "Subject:")) for line in first]) > 0.9
    assert not any("\nSubject:" in line for line in first)


TOKENS = Tokens(
    ids=np.array([2, 0, 2, 1, 0, 0], dtype=np.int32),
    sentence_ptr=np.array([0, 3, 3, 4, 6], dtype=np.int64),
    document_ptr=np.array([0, 0, 3, 3, 4], dtype=np.int64),
    vocabulary=["a", "b", "c", "d"],
)


def test_one_group_for_every_sentence() -> None:
    groups = Sentences().build(TOKENS)
    assert groups.indptr.tolist() == [0, 2, 2, 3, 4]
    assert groups.indices.tolist() == [0, 2, 1, 0]
    assert groups.weights.tolist() == [1, 1, 1, 1]
    assert groups.n_features == 4
    assert groups.names is not None
    assert list(groups.names) == [
        "document 2, sentence 1",
        "document 2, sentence 2",
        "document 2, sentence 3",
        "document 4, sentence 1",
    ]
    assert groups.names[-1] == groups.names[1:][-1] == "document 4, sentence 1"
    with pytest.raises(IndexError):
        groups.names[4]


def test_groups_may_cost_the_root_of_their_size() -> None:
    weights = Sentences(weight="sqrt").build(TOKENS).weights
    assert weights.tolist() == [2**0.5, 0, 1, 1]


@pytest.mark.parametrize(
    ("text", "form", "words"),
    [
        ("e\u0301te\u0301 été カ\u3099 \u1112\u1161\u11ab", "nfc", "été été ガ 한"),
        ("e\u0301te\u0301 été", "none", "e\u0301te\u0301 été"),
        ("ＡＢＣ ｶﾞ ① ㍿ 株", "nfkc", "abc ガ 1 株 式 会 社 株"),
        ("ＡＢＣ ｶﾞ", "nfc", "ａｂｃ ｶﾞ"),
        ("Σ\u0301 ǰ ΰ", "nfc", "σ\u0301 ǰ ΰ"),
    ],
)
def test_normal_forms(text: str, form: str, words: str) -> None:
    assert Words(normalize=form)(text) == [words.split()]
    tokens = Words(normalize=form).encode([text])
    assert [tokens.vocabulary[i] for i in tokens.ids] == words.split()


def test_spans_of_a_normal_form_are_those_of_the_text() -> None:
    text = "Un e\u0301te\u0301, e\u0301\u0323. ＡＢ ㍿ 한\u1112\u1161\u11abе\u0301"
    tokens = Words(normalize="nfkc").encode(["plain", text, "été"], spans=True)
    assert tokens.spans is not None
    assert tokens.sentence_spans is not None
    parts = [text[start:end] for start, end in tokens.spans[1:-1]]
    hangul = "한\u1112\u1161\u11abе\u0301"
    assert parts == ["Un", "e\u0301te\u0301", "e\u0301\u0323", "ＡＢ", *"㍿㍿㍿㍿", hangul]
    assert [text[start:end] for start, end in tokens.sentence_spans[1:-1]] == [
        "Un e\u0301te\u0301, e\u0301\u0323.",
        f"ＡＢ ㍿ {hangul}",
    ]
    assert tokens.spans[[0, -1]].tolist() == [[0, 5], [0, 3]]


@settings(deadline=None)
@given(
    st.text(
        st.sampled_from("aé\u0301\u0323ﬁ½①ガカ\u3099ｶﾞ한\u1112\u1161\u11abㅏ…। . İ")
        | st.characters()
    )
)
def test_any_text_has_a_normal_form_with_places(text: str) -> None:
    for form in ("nfc", "nfkc"):
        whole = Words(normalize=form).encode([text], spans=True)
        made = unicodedata.normalize(form.upper(), text)
        plain = Words(normalize="none").encode([made])
        assert whole.vocabulary == plain.vocabulary
        assert whole.ids.tolist() == plain.ids.tolist()
        assert whole.spans is not None
        for i, (start, end) in zip(whole.ids, whole.spans.tolist(), strict=True):
            part = Words(normalize=form, sentences="none").encode([text[start:end]])
            assert whole.vocabulary[i] in part.vocabulary


MARKED = [
    ("Really?! No... (yes) :-)", "really ?!|no ... ( yes ) :-)"),
    ('He said "So." He left.', 'he said " so ."|he left .'),
    ("a - b\n\n* c", "a - b|* c"),
    ("yes . no !", "yes .|no !"),
    ("$5 + 3 = €8 §1", "$ 5 + 3 = € 8 § 1"),
    ("好。“是！”", "好 。|“ 是 ！”"),
    ("a\n。b", "a 。|b"),
    ("!!!", "!!!"),
    ("So 👍🏽👩‍🔬❤️🇩🇪🇫🇷 good", "so 👍🏽 👩‍🔬 ❤ 🇩🇪 🇫🇷 good"),
    ("🏴\U000e0067\U000e0062\U000e007f 1️⃣ ©", "🏴\U000e0067\U000e0062\U000e007f 1\u20e3 ©"),
    ("👍!👍", "👍 ! 👍"),
]


@pytest.mark.parametrize(("text", "marked"), MARKED)
def test_punctuation_and_emoji_on_request(text: str, marked: str) -> None:
    sentences = [sentence.split() for sentence in marked.split("|")]
    words = Words(punctuation=True, emoji=True)
    assert words(text) == sentences
    tokens = words.encode([text], spans=True)
    assert [tokens.vocabulary[i] for i in tokens.ids] == [it for one in sentences for it in one]
    assert tokens.spans is not None
    for i, (start, end) in zip(tokens.ids, tokens.spans, strict=True):
        part = text[start:end].casefold().replace("\ufe0f", "")
        assert tokens.vocabulary[i] == part


def test_either_may_be_left_out() -> None:
    text = "Yes!!! 👍"
    assert Words()(text) == [["yes"]]
    assert Words(punctuation=True)(text) == [["yes", "!!!"]]
    assert Words(emoji=True)(text) == [["yes", "👍"]]
    assert Words(emoji=True, min_length=4)(text) == [["👍"]]
    tokens = Words(emoji=True).encode([text, "👍 a"], spans=True)
    assert tokens.spans is not None
    assert tokens.sentence_spans is not None
    assert tokens.spans.tolist() == [[0, 3], [7, 8], [0, 1], [2, 3]]
    assert tokens.sentence_spans.tolist() == [[0, 8], [0, 3]]


@draws(300)
@given(st.lists(st.text('aB .!\n1é的。“”😀🏽\u200d<"') | st.text()), st.booleans(), st.booleans())
def test_words_do_not_depend_on_marks(texts: list[str], punctuation: bool, emoji: bool) -> None:
    """With marks there are the same words in the same sentences, but for sentences of marks."""
    every = Words(punctuation=punctuation, emoji=emoji).encode(texts, spans=True)
    plain = Words().encode(texts, spans=True)
    assert every.spans is not None
    assert plain.spans is not None
    check_order(texts, every)
    known = set(plain.vocabulary)
    kept = np.array([every.vocabulary[i] in known for i in every.ids], dtype=bool)
    assert every.spans[kept].tolist() == plain.spans.tolist()
    sentence = np.repeat(np.arange(every.n_sentences), np.diff(every.sentence_ptr))[kept]
    apart = np.repeat(np.arange(plain.n_sentences), np.diff(plain.sentence_ptr))
    assert (np.diff(sentence) > 0).tolist() == (np.diff(apart) > 0).tolist()


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (f"so it is\n{'N' + 'a' * 31}: it", ["so it is", f"n{'a' * 31} it"]),
        (f"so it is\n{'N' + 'a' * 32}: it", [f"so it is n{'a' * 32} it"]),  # no header
        ("It is. 123. Next", ["it is", "123 next"]),
        ("It is. 1234. Next", ["it is", "1234", "next"]),  # a year, and no enumeration
        ("See fig. 3 of it", ["see fig 3 of it"]),
        ("See fig. A of it", ["see fig", "a of it"]),
        ("Ask Prof. Ray", ["ask prof ray"]),
        ("So „it“. «Is.» ‘So.’ (It.) Is", ["so it", "is", "so", "it", "is"]),
        ("So it is… Is it", ["so it is", "is it"]),
        ("So it is: It\nis", ["so it is it is"]),
        ("So it is:\nIt is", ["so it is", "it is"]),
        ("So it is：\nIt is", ["so it is", "it is"]),
        ("So։It։ Is", ["so it", "is"]),
        ("هو؟ هي", ["هو", "هي"]),
        ("है।है", ["है", "है"]),
    ],
)
def test_rules_for_ends_of_sentences(text: str, sentences: list[str]) -> None:
    assert [" ".join(tokens) for tokens in Words()(text)] == sentences
