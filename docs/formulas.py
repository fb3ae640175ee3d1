"""Write formulas as MathML, which browsers show by themselves: a Sphinx extension.

A page with formulas then needs no script and no network. What the converter does not know stops
the build, so that no reader sees raw TeX.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from html import escape, unescape
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from fontTools import subset
from latex2mathml.converter import convert_to_element

FONT = distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")
"""A font with a table for mathematics (SIL Open Font License), for machines that have none."""
CHARACTERS = [*range(0x20, 0x400), *range(0x2000, 0x2400), *range(0x1D400, 0x1D7D0)]
STYLE = """\
@font-face { font-family: "formulas"; src: url("formulas.woff"); }
math { font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", "formulas", math; }
math { font-size: 1.1em; }
.formula { display: flex; align-items: center; gap: 1rem; margin: 1rem 0; }
.formula .shown { flex: 1; min-width: 0; overflow-x: auto; overflow-y: hidden; padding: .25rem 0; }
"""
TAG = re.compile(r"\\tag\{([^}]*)\}")
UNKNOWN = {r"\arg\min": r"\argmin", r"\arg\max": r"\argmax"}
"""What the converter does not know, in its words."""
FUNCTIONS = {"log", "exp", "tanh"}
BARS = {"|": "|", "\u2016": "\u2016", "\\|": "\u2016"}
PRIMES = {"\u2032", "\u2033"}
BELOW = {"min", "max", "arg\u2009min", "arg\u2009max"}
"""Operators that have what belongs to them below, in a formula on lines of its own."""


def mathml(tex: str, display: str = "inline") -> str:
    """A formula in TeX as an element ``math``.

    Raises
    ------
    ValueError
        If some of it would stay TeX.
    """
    known = tex.strip()
    for command, other in UNKNOWN.items():
        known = known.replace(command, other)
    root = convert_to_element(known, display=display)
    del root.attrib["xmlns"]  # which HTML does not need
    for element in root.iter():
        element.text = unescape(element.text or "") or None
        if element.text in PRIMES:
            element.tag = "mo"  # or fonts set it as high as a letter
        elif element.tag == "mi" and element.text in FUNCTIONS:
            element.tag = "mo"
            element.attrib.update({"lspace": "0.15em", "rspace": "0.15em"})
        elif element.tag == "mo" and element.text in BARS:
            element.text = BARS[element.text]
            # neither as tall as a sum beside it nor apart from what it surrounds
            element.attrib.update({"lspace": "0", "rspace": "0"})
            element.attrib.setdefault("stretchy", "false")
        elif (
            element.tag == "msub"
            and display == "block"
            and unescape(element[0].text or "") in BELOW
        ):
            element.tag = "munder"
    made = ElementTree.tostring(root, encoding="unicode")
    if "\\" in made or "<merror" in made:
        raise ValueError(f"a formula is not understood and would be shown as TeX: {tex!r}")
    return made


def block(tex: str) -> str:
    """A formula on lines of its own, with the number that its ``\\tag`` gives it."""
    tags = TAG.findall(tex)
    if len(tags) > 1:
        raise ValueError(f"a formula has several numbers: {tex!r}")
    shown = f'<div class="shown">{mathml(TAG.sub("", tex), "block")}</div>'
    number = "".join(f'<span class="number">({escape(tag)})</span>' for tag in tags)
    return f'<div class="formula">{shown}{number}</div>\n'


def renderer(write: Callable[[str], str]) -> Callable[[Any, Any], None]:
    """What Sphinx calls for a formula; it writes all of it and visits nothing below."""
    from docutils.nodes import SkipNode

    def visit(translator: Any, node: Any) -> None:
        translator.body.append(write(node.astext()))
        raise SkipNode

    return visit


def write_style(app: Any) -> None:
    """The style of formulas and its font, beside the other files of the site."""
    if app.builder.format == "html":
        folder = Path(app.outdir, "_static")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "formulas.css").write_text(STYLE, encoding="utf-8")
        logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells of every table
        options = subset.Options(layout_features=["*"], flavor="woff")
        font = subset.load_font(str(FONT), options)
        part = subset.Subsetter(options)
        part.populate(unicodes=CHARACTERS)
        part.subset(font)
        subset.save_font(font, folder / "formulas.woff", options)


def setup(app: Any) -> dict[str, bool]:
    """Make MathML the way in which pages show formulas."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(renderer(mathml), None), block_renderers=(renderer(block), None)
    )
    app.add_css_file("formulas.css")
    app.connect("build-finished", lambda app, _: write_style(app))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
