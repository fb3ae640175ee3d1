"""
From the empty model to the full one
====================================

The penalty strength decreases step by step, and features enter the model. ``path=True`` keeps all
models of the path; the one with the best accuracy on held-out documents is chosen, ties go to the
smallest.
"""

import matplotlib.pyplot as plt

import textreg
from textreg.demo.corpus import make_reviews

labels, texts = zip(*make_reviews(800), strict=True)
model = textreg.train(texts, labels, reg="lasso", path=True)
path = model.path

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
sizes = [point.nonzero for point in path.points]
left.plot(sizes, [point.metrics["accuracy"] for point in path.points], marker="o")
left.axvline(sizes[path.chosen], color="black", linestyle=":", label="chosen")
left.set(xlabel="features", ylabel="accuracy on documents held out")
left.legend()

# %%
# The weights of the eight strongest features:

last = path.at(len(path) - 1)
first = sorted(last, key=lambda name: -abs(path.profile(name)[path.chosen, 0]))[:8]
for name in first:
    right.plot(path.values, path.profile(name)[:, 0], label=name)
right.set(xscale="log", xlabel=f"penalty strength {path.parameter}", ylabel="weight")
right.invert_xaxis()
right.legend(fontsize="small", loc="upper left")
plt.show()
