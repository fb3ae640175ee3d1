"""Sphinx settings; `make docs` builds the pages, with warnings as errors."""

import logging
import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import gallery  # beside this file
import live

# A style for code sets up logging of everything when it is imported.
logging.getLogger("textreg").setLevel(logging.WARNING)

project = "textreg"
author = "The textreg developers"
copyright = "the textreg developers"
release = version = installed_version("textreg")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinxcontrib.bibtex",
    "sphinx_gallery.gen_gallery",
    "formulas",  # this and the next: beside this file
    "named",
    "quoted",
]
nitpicky = True
# Types in signatures and in numpydoc sections are words for readers: "array-like", "Floats".
nitpick_ignore_regex = [("py:class", r"(?!textreg\.).*")]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "programs"]
sphinx_gallery_conf = {
    "examples_dirs": "programs",
    "gallery_dirs": "examples",
    "ignore_pattern": r"(serve|tickets)\.py",  # they are on pages of their own
    "image_scrapers": ("drawn.scrape",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "copyfile_regex": r"^$",
}
html_theme = "furo"
html_title = f"textreg {release}"

napoleon_google_docstring = False
suppress_warnings = ["ref.python"]  # "shape (documents, features)" in a type is not a reference
napoleon_use_ivar = True
napoleon_use_param = napoleon_use_rtype = False
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "show-inheritance": True,
    # scikit-learn's, described there
    "exclude-members": "set_fit_request, set_score_request",
}
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("Bools", "Floats", "Int32s", "Int64s")}
python_use_unqualified_type_names = True


BIBLIOGRAPHY = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
KEYS = re.findall(r"^@\w+{(\w+),$", BIBLIOGRAPHY, re.MULTILINE)
CITED = re.compile(rf"\b({'|'.join(KEYS)})\b")


def to_restructured_text(app, what, name, obj, options, lines):
    """Docstrings are plain text: |w| is not a substitution, and hooker2004 is a citation."""
    for number, line in enumerate(lines):
        parts = line.split("``")
        parts[::2] = [re.sub(r"\|(?=\S)|(?<=\S)\|", r"\|", part) for part in parts[::2]]
        parts[::2] = [CITED.sub(r":cite:t:`\1`", part) for part in parts[::2]]
        lines[number] = "``".join(parts)


def short_names(app, *described):
    """Types in signatures without their modules, and names of arrays as they are written."""
    *_, signature, returns = described
    if signature is not None:
        signature = re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", signature)
        signature = re.sub(r"~[\w.]+\.(\w+)", r"\1", signature)
    return signature, returns


def write_gallery(app, exception):
    """The pages that gallery.md and live.md show stand beside those of the documentation."""
    if exception is None and app.builder.format == "html":
        gallery.write(Path(app.outdir, "gallery"))
        live.write(Path(app.outdir, "live"))


def setup(app):
    """Connect the hooks above."""
    app.connect("autodoc-process-docstring", to_restructured_text)
    app.connect("autodoc-process-signature", short_names)
    app.connect("build-finished", write_gallery)
