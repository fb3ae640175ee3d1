"""docs/references.bib has every work that is cited, and no other; CITATION.cff is up to date."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import pytest
from test_layers import ROOT

import textreg

CHECKOUT = ROOT.parent
if not (CHECKOUT / "docs").is_dir():
    pytest.skip("textreg is not installed from a checkout", allow_module_level=True)
ENTRIES = (CHECKOUT / "docs" / "references.bib").read_text(encoding="utf-8")
KEYS = re.findall(r"^@\w+\{(\w+),$", ENTRIES, re.MULTILINE)

KEY = re.compile(r"\b[a-z]{2,}(?:19|20)\d\d\b")  # hooker2004
# Hooker & Weng (2004), Skianis et al. 2018, Efron 1979: the first author's name, and the year.
AUTHORS = re.compile(
    r"\b([A-Z][\w'-]+)(?:(?:, [A-Z][\w'-]+)*,? (?:&|and) [A-Z][\w'-]+| et al\.)?,?"
    r" \(?((?:19|20)\d\d)\b"
)
NOT_AUTHORS = {"On", "NIPS", "RFC", "SemEval", "January", "March"}


def pages() -> Iterator[tuple[str, str]]:
    """Name and text of everything that may cite, with line breaks as spaces."""
    for folder, pattern in (
        ("docs", "*.md"),
        ("docs", "*.py"),
        ("textreg", "*.p*"),
        ("plugins", "*"),
    ):
        for path in sorted((CHECKOUT / folder).rglob(pattern)):
            if path.suffix in {".md", ".py", ".pyx", ".pxd"} and "_build" not in path.parts:
                text = path.read_text(encoding="utf-8")
                yield str(path.relative_to(CHECKOUT)), re.sub(r"\s+(?:#\s)?\s*", " ", text)


def cited(text: str) -> set[str]:
    """The keys of the works that a text cites, by key or by authors and year."""
    authors = {
        re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", name.lower())) + year
        for name, year in AUTHORS.findall(text)
        if name not in NOT_AUTHORS
    }
    return authors | set(KEY.findall(text))


def test_every_work_cited_is_in_the_bibliography() -> None:
    missing = {name: cited(text) - set(KEYS) for name, text in pages()}
    assert not {name: keys for name, keys in missing.items() if keys}


def test_every_work_in_the_bibliography_is_cited() -> None:
    assert len(KEYS) == len(set(KEYS)) == ENTRIES.count("\n@")
    assert set(KEYS) == set(KEYS) & set().union(*(cited(text) for _, text in pages()))


def test_works_can_be_found() -> None:
    """By a DOI, a number of arXiv, an ISBN or an address; these few have none."""
    found = re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", ENTRIES, re.MULTILINE | re.DOTALL)
    assert len(found) == len(KEYS)
    named = re.compile(r"^  (doi|eprint|url|isbn) +=|\\url", re.MULTILINE)
    assert {key for key, entry in found if not named.search(entry)} == {
        "fan2007",
        "hooker2004",
        "knuth1998",
        "rennie2005",
        "sandler2008",
    }


def test_the_citation_names_this_version() -> None:
    citation = (CHECKOUT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {textreg.__version__}\n" in citation
    assert "license: BSD-3-Clause\n" in citation
