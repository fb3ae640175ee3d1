"""
A penalty of one's own
======================

A penalty is an object with a value and a prox. This one prices small weights as the lasso does and
large ones with a fixed sum, so that those are not shrunk (Zhang 2010). ``Penalized`` makes a
regularizer of it; :doc:`/plugins` has more.
"""

import matplotlib.pyplot as plt
import numpy as np

import textreg
from textreg.demo.corpus import make_reviews
from textreg.kinds import Penalized
from textreg.params import AUTO, LogGrid, param
from textreg.testing import check_penalty


class Minimax:
    """The minimax concave penalty: price |w| - w^2 / (2 flat), level from |w| = flat price on."""

    convex = False

    def __init__(self, price, flat):
        self.price, self.flat = price, flat

    def value(self, w):
        size = np.minimum(np.abs(w), self.flat * self.price)
        return float((self.price * size - size**2 / (2.0 * self.flat)).sum())

    def prox(self, w, step):
        if step >= self.flat:  # two ends, of which the nearer one is taken
            edge = self.price * np.sqrt(step * self.flat)
            return np.where(np.abs(w) > edge, w, 0.0)
        shrunk = np.maximum(np.abs(w) - step * self.price, 0.0) / (1.0 - step / self.flat)
        return np.sign(w) * np.where(np.abs(w) > self.flat * self.price, np.abs(w), shrunk)


class Unshrunk(Penalized):
    """Few words decide, and those have all of their weight (Zhang 2010)."""

    name = "unshrunk"
    price: float = param(default=AUTO, min=0, search=LogGrid(1e-2, 0.5), help="of small weights")
    flat: float = param(default=30.0, min=1, help="how far prices fall before they are level")

    def penalty(self, problem):
        return Minimax(self.price, self.flat)


check_penalty(Minimax(0.5, 3.0), 6)

# %%
# Beside the lasso at the same price: the heaviest words have all their weight, others make room.

labels, texts = zip(*make_reviews(600), strict=True)
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
for reg in (textreg.Lasso(l1=0.5), Unshrunk(price=0.5)):
    model = textreg.train(texts, labels, reg=reg, ngrams=1)
    heights = -np.sort(-np.abs(model.weights[0]))
    name = f"{reg.name}: {model.n_features} features"
    axis.step(np.arange(1, len(heights) + 1), heights, where="mid", label=name)
axis.set(xlabel="features, the heaviest first", ylabel="|weight|", xlim=(0, 80))
axis.legend()
plt.show()
