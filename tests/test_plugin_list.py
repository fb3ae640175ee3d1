"""The page that lists plugins of others is made of a small file, entry by entry."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="there is no checkout")


def test_an_entry_becomes_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not `distributions`, which the tests have as well.
    monkeypatch.syspath_prepend(DOCS)
    monkeypatch.delitem(sys.modules, "distributions", raising=False)
    import distributions as pages

    monkeypatch.delitem(sys.modules, "distributions")
    file = tmp_path / "plugin-entries.toml"
    monkeypatch.setattr(pages, "ENTRIES", file)
    file.write_text("")
    assert "None yet" in pages.page()
    entry = (
        '[[plugin]]\ndistribution = "textreg-slope"\nparts = ["regularizer.slope", "groups.a"]\n'
        'line = "Shared weights"\n'
    )
    file.write_text(entry + 'link = "https://example.org/slope"\n')
    row = "| [`textreg-slope`](https://example.org/slope) | regularizer `slope`, group builder `a` "
    assert row + "| Shared weights |" in pages.page()
    file.write_text(entry)
    with pytest.raises(ValueError, match="needs distribution, parts, line and link"):
        pages.page()
