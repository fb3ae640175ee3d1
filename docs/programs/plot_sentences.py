"""
Which sentences decide
======================

Most sentences of a review do not express an opinion. The regularizer ``sentence`` selects the few
that do, and an explanation gives the exact share of every sentence in the score.
"""

import matplotlib.pyplot as plt

import textreg
from textreg.demo import make_reviews

labels, texts = zip(*make_reviews(800), strict=True)
model = textreg.train(texts, labels, reg="sentence")

# %%
# The decrease of the log-odds of the label without each sentence:

review = "The box came on a Monday. The keys feel superb. It is black. But the battery is a joke."
explanation = model.explain(review)
sentences = [review[each.start : each.end].strip() for each in explanation.sentences]
print(
    explanation.label,
    {label: round(share, 2) for label, share in explanation.probabilities.items()},
)

figure, axis = plt.subplots(figsize=(7, 2.2), layout="constrained")
colors = ["tab:green" if each.removal > 0 else "tab:red" for each in explanation.sentences]
axis.barh(sentences, [each.removal for each in explanation.sentences], color=colors)
axis.invert_yaxis()
axis.axvline(0, color="black", linewidth=0.8)
axis.set_xlabel(f"log-odds of '{explanation.of}' with the sentence, less those without it")
plt.show()
