"""
From the empty model to the full one
====================================

The penalty strength decreases step by step, and features enter the model. ``path=True`` keeps all
models of the path. The dotted line is the one that the search chose, by its log-loss on held-out
documents.
"""

import matplotlib.pyplot as plt

import textreg
from textreg.demo.corpus import make_reviews

labels, texts = zip(*make_reviews(800), strict=True)
model = textreg.train(texts, labels, reg="lasso", path=True)
path = model.path

figure, axis = plt.subplots(figsize=(5, 3.4), layout="constrained")
sizes = [point.nonzero for point in path.points]
axis.plot(sizes, [point.metrics["accuracy"] for point in path.points], marker="o")
axis.axvline(sizes[path.chosen], color="black", linestyle=":", label="chosen")
axis.set(xlabel="features", ylabel="accuracy on documents held out")
axis.legend()
plt.show()

# %%
# The weights of the eight strongest features:

last = path.at(len(path) - 1)
first = sorted(last, key=lambda name: -abs(path.profile(name)[path.chosen, 0]))[:8]
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name in first:
    axis.plot(path.values, path.profile(name)[:, 0], label=name)
axis.set(xscale="log", xlabel=f"penalty strength {path.parameter}", ylabel="weight")
axis.invert_xaxis()
figure.legend(loc="outside right center")
plt.show()
