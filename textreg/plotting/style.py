"""The look of all charts: one table of styles, used by pages, SVG files and PNG files alike."""

from __future__ import annotations

from collections.abc import Mapping

# Distinguishable for all common forms of color vision (Okabe & Ito 2008), in print and on screen.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = ("circle", "square", "diamond", "up", "down", "plus", "cross")

FONT = "DejaVu Sans"  # ships with matplotlib, so PNG files look the same everywhere
FONT_SIZE = 12.5

PALETTE = {
    "text": "#1c1d21",
    "quiet": "#5b5f69",
    "line": "#dfe1e6",
    "back": "#ffffff",
    "for": SERIES[0],
    "against": SERIES[1],
    "band": "#e6eef7",
    "count": "#d5dae2",
}
"""Colors by name. A page has its own values, which depend on its theme, as CSS variables."""

STYLES: Mapping[str, Mapping[str, str | float]] = {
    "title": {"fill": "text"},
    "tick": {"fill": "quiet", "font-size": 11.5},
    "strong": {"fill": "text", "font-weight": 600},
    "halo": {
        "paint-order": "stroke",
        "stroke": "back",
        "stroke-width": 4,
        "stroke-linejoin": "round",
    },
    "background": {"fill": "back"},
    "grid": {"stroke": "line"},
    "axis": {"stroke": "quiet"},
    "ideal": {"stroke": "quiet", "stroke-dasharray": "5 4"},
    "leader": {"stroke": "quiet", "stroke-width": 0.7},
    "curve": {"fill": "none", "stroke": "for", "stroke-width": 2},
    "thin": {"stroke-opacity": 0.45, "stroke-width": 1.5},
    "error": {"stroke": "for", "stroke-width": 1.5},
    "wide": {"stroke-width": 3},
    "dot": {"fill": "for"},
    "faint": {"fill-opacity": 0.55},
    "ring": {"fill": "none", "stroke": "against", "stroke-width": 2.5},
    "band": {"fill": "band"},
    "count": {"fill": "count"},
    "for": {"fill": "for"},
    "against": {"fill": "against"},
}
"""SVG properties of every style; colors are names of PALETTE. Later styles of a shape win."""


def properties(styles: str, color: str | None = None) -> dict[str, str | float]:
    """SVG properties of space-separated styles; ``color`` replaces their fill, or else stroke."""
    merged: dict[str, str | float] = {}
    for style in styles.split():
        merged.update(STYLES[style])
    merged = {key: PALETTE.get(str(value), value) for key, value in merged.items()}
    if color is not None:
        merged["stroke" if merged.get("fill", "none") == "none" else "fill"] = color
    return merged


def page_css() -> str:
    """Rules for charts inside a page, with the page's variables as colors."""
    rules = []
    for style, table in STYLES.items():
        written = []
        for key, value in table.items():
            if value in PALETTE:
                value = f"var(--{value})"
            written.append(f"{key}: {value}{'px' if key == 'font-size' else ''};")
        rules.append(f"svg .{style} {{ {' '.join(written)} }}\n")
    return "".join(rules)
