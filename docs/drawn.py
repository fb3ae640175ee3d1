"""Take the pictures of the programs for the gallery; one without data ends the build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: Any, **options: Any) -> str:
    """The pictures of one block of a program, as Sphinx-Gallery asks for them.

    It closes all figures after every block, so what a later block draws on an earlier figure is
    in no picture.
    """
    from matplotlib import pyplot
    from sphinx.errors import ExtensionError
    from sphinx_gallery.scrapers import matplotlib_scraper

    for figure in map(pyplot.figure, pyplot.get_fignums()):
        empty = empty_axes(figure)
        if empty or not figure.axes:
            place = f"{block_vars['src_file']}:{block[2]}"
            panel = f"panel {empty[0] + 1} of {len(figure.axes)}" if empty else "a figure"
            raise ExtensionError(
                f"{place}: {panel} has no data after this block. Draw all of a figure in one "
                "block: a line '# %%' begins the next one."
            )
    return str(matplotlib_scraper(block, block_vars, gallery_conf, **options))


def empty_axes(figure: Figure) -> list[int]:
    """The numbers of the axes that show no data; lines across a whole axes are none."""
    return [number for number, axes in enumerate(figure.axes) if not _has_data(axes)]


def _has_data(axes: Axes) -> bool:
    # What is drawn in data coordinates extends these limits in both directions; they are
    # infinite at first. axes.has_data() is also true of axhline, and of lines without points.
    return bool(np.isfinite(axes.dataLim.get_points()).all())
