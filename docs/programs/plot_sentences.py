"""
Which sentences decide
======================

A review says a great deal and means little of it. The regularizer ``sentence`` looks for the few
sentences that matter, and an explanation gives every sentence its share of the score, exactly.
"""

import matplotlib.pyplot as plt

import textreg
from textreg.demo.corpus import make_reviews

labels, texts = zip(*make_reviews(800), strict=True)
model = textreg.train(texts, labels, reg="sentence")

# %%
# What leaving a sentence out takes from the log-odds of the label:

review = "The box came on a Monday. The keys feel superb. It is black. But the battery is a joke."
found = model.explain(review)
sentences = [review[each.start : each.end].strip() for each in found.sentences]
print(found.label, {label: round(share, 2) for label, share in found.probabilities.items()})

figure, axis = plt.subplots(figsize=(7, 2.2), layout="constrained")
colors = ["tab:green" if each.removal > 0 else "tab:red" for each in found.sentences]
axis.barh(sentences, [each.removal for each in found.sentences], color=colors)
axis.invert_yaxis()
axis.axvline(0, color="black", linewidth=0.8)
axis.set_xlabel(f"log-odds of '{found.of}' with the sentence, less those without it")
plt.show()
