"""
From the empty model to the full one
====================================

The penalty strength decreases step by step, and features enter the model. ``path=True`` keeps all
models of the path, and one call each gives the weights of features, the error, and the selected
sentences along it. The dotted lines are the model that the search chose, by its log-loss on
held-out documents.
"""

import matplotlib.pyplot as plt

import textreg
from textreg.demo import make_reviews
from textreg.explain import path_sentences

labels, texts = zip(*make_reviews(800), strict=True)
model = textreg.train(texts, labels, reg="sentence", ngrams=1, path=True)
path = model.path


def show_along(axis, table):
    """A line for each column of a table, and one for the chosen model."""
    for name in table.names:
        axis.plot(table.values, table[name], label=name)
    axis.axvline(table.values[table.chosen], color="black", linestyle=":")
    axis.set(xscale="log", xlabel=f"penalty strength {table.parameter}", ylabel=table.quantity)
    axis.invert_xaxis()


# %%
# The weights of the eight strongest features. They enter one after the other:

figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
show_along(axis, path.coefficients(top=8))
figure.legend(loc="outside right center")
plt.show()

# %%
# The error on the documents that the models were fitted to falls to zero. On documents that a fit
# has not seen it does not:

figure, axis = plt.subplots(figsize=(5, 3.4), layout="constrained")
show_along(axis, path.errors("accuracy"))
axis.legend()
plt.show()

# %%
# The sentences of a review, each from the model on that selects it:

review = "The box came on a Monday. The keys feel superb. It is black. But the battery is a joke."
table = path_sentences(model, [review])
figure, axis = plt.subplots(figsize=(7, 2), layout="constrained")
points = range(len(table.values))
axis.pcolormesh(points, table.sentences, table.array.T, cmap="Blues", edgecolors="white")
axis.axvline(table.chosen, color="black", linestyle=":")
axis.set_xticks(points[::4], [f"{value:.2g}" for value in table.values[::4]])
axis.set_xlabel(f"penalty strength {table.parameter}")
axis.invert_yaxis()
plt.show()
