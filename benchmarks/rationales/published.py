"""Published figures for the film reviews of ERASER, from the papers."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """A model, its macro-F1 or accuracy, and the agreement of its rationales."""

    name: str
    performance: float
    iou_f1: float
    token_f1: float


ERASER = (
    Published("Lei et al. (2016)", 0.914, 0.124, 0.285),
    Published("Lei et al. (2016), without supervision by rationales", 0.920, 0.012, 0.322),
    Published("Lehman et al. (2019)", 0.750, 0.063, 0.139),
    Published("BERT-to-BERT", 0.860, 0.075, 0.145),
)
"""Models that select rationales: deyoung2020, table 3."""
