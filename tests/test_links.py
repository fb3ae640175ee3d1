"""Links of the pages lead somewhere: files and headings are there, addresses are well formed."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from test_documents import CHECKOUT

pytestmark = pytest.mark.skipif(
    not (CHECKOUT / "docs").is_dir(), reason="textreg is not installed from a checkout"
)
PAGES = sorted([*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").glob("*.md")])
BUILT = {"examples", "gallery", "live"}
"""Folders that the build of the documentation writes."""


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)


def links(page: Path) -> list[str]:
    """The targets of all links of a page."""
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    return re.findall(r"\]\(<?([^)\s>]+)>?\)", text)


def anchors(page: Path) -> set[str]:
    """The names of the headings of a page, as GitHub and MyST make them."""
    titles = re.findall(r"^#{1,6} (.*)$", prose(page), re.MULTILINE)
    named = re.findall(r"^\(([\w-]+)\)=$", prose(page), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", title.lower()) for title in titles]
    made = {title.strip().replace(" ", "-") for title in plain}
    return made | {re.sub("-+", "-", name) for name in made} | set(named)


def missing(page: Path, link: str) -> bool:
    """Whether a link within the project leads nowhere."""
    path, _, anchor = link.partition("#")
    target = page if not path else (page.parent / path)
    if Path(path).parts[:1] and Path(path).parts[0] in BUILT:
        return False
    if not target.exists():
        return True
    return bool(anchor) and target.suffix == ".md" and anchor not in anchors(target)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    own = [link for link in links(page) if not re.match(r"[a-z]+:", link)]
    assert [link for link in own if missing(page, link)] == []


def test_addresses_are_well_formed() -> None:
    """https, with a host that has a dot and no blank; they are not fetched."""
    found = {(page.name, link) for page in PAGES for link in links(page) if ":" in link}
    assert len(found) > 1
    for where, link in found:
        parts = urlsplit(link)
        assert parts.scheme in ("https", "mailto"), f"{where}: {link}"
        assert parts.scheme == "mailto" or "." in parts.netloc, f"{where}: {link}"


def test_a_link_to_nothing_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One heading\n\n[there](page.md#one-heading) [not](page.md#two) [nor](no.md)\n"
    )
    assert [missing(page, link) for link in links(page)] == [False, True, True]
