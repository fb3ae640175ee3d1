"""
A penalty of one's own
======================

A penalty is an object with a value and a prox. This one penalizes small weights as the lasso does,
and large ones by a constant, so that they are not shrunk (Zhang 2010). ``Penalized`` makes a
regularizer of it; see :doc:`/plugins`.
"""

import matplotlib.pyplot as plt
import numpy as np

import textreg
from textreg.demo import make_reviews
from textreg.kinds import Penalized
from textreg.params import AUTO, LogGrid, param
from textreg_testing import check_penalty


class Minimax:
    """The minimax concave penalty: lam |w| - w^2 / (2 gamma), constant from |w| = gamma lam on."""

    convex = False

    def __init__(self, lam, gamma):
        self.lam, self.gamma = lam, gamma

    def value(self, w):
        size = np.minimum(np.abs(w), self.gamma * self.lam)
        return float((self.lam * size - size**2 / (2.0 * self.gamma)).sum())

    def prox(self, w, step):
        if step >= self.gamma:  # no longer convex: the nearer of two ends
            edge = self.lam * np.sqrt(step * self.gamma)
            return np.where(np.abs(w) > edge, w, 0.0)
        shrunk = np.maximum(np.abs(w) - step * self.lam, 0.0) / (1.0 - step / self.gamma)
        return np.sign(w) * np.where(np.abs(w) > self.gamma * self.lam, np.abs(w), shrunk)


class Unshrunk(Penalized):
    """Few features, whose weights are not shrunk (Zhang 2010)."""

    name = "unshrunk"
    lam: float = param(
        default=AUTO, min=0, search=LogGrid(1e-2, 0.5), help="penalty strength of small weights"
    )
    gamma: float = param(
        default=30.0, min=1, help="concavity: the penalty is constant above gamma * lam"
    )

    def penalty(self, problem):
        return Minimax(self.lam, self.gamma)


check_penalty(Minimax(0.5, 3.0), 6)

# %%
# Compared with the lasso of the same strength: the largest weights are not shrunk, and there are
# fewer of them.

labels, texts = zip(*make_reviews(600), strict=True)
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
for reg in (textreg.Lasso(l1=0.5), Unshrunk(lam=0.5)):
    model = textreg.train(texts, labels, reg=reg, ngrams=1)
    heights = -np.sort(-np.abs(model.weights[0]))
    name = f"{reg.name}: {model.n_features} features"
    axis.step(np.arange(1, len(heights) + 1), heights, where="mid", label=name)
axis.set(xlabel="features, largest weight first", ylabel="|weight|", xlim=(0, 80))
axis.legend()
plt.show()
