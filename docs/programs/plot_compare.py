"""
Does structured regularization help?
====================================

Several regularizers on the same documents, features and splits, measured on documents that none of
them has seen. The bars are 95 % intervals; the verdicts follow from paired tests.
"""

import matplotlib.pyplot as plt

import textreg_report
from textreg.demo import make_reviews
from textreg_report import Benchmark

labels, texts = zip(*make_reviews(600), strict=True)
test_labels, test_texts = zip(*make_reviews(400, seed=1), strict=True)
benchmark = Benchmark("reviews", train=(texts, labels), test=(test_texts, test_labels))
result = textreg_report.compare(["lasso", "elastic", "sentence", "omp"], [benchmark], ngrams=1)
print("\n".join(result.verdicts()))

figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name in ("lasso", "elastic", "sentence", "omp"):
    cell = result.cell("reviews", name)
    low, high = cell.accuracy_interval
    spread = [[cell.accuracy - low], [high - cell.accuracy]]
    axis.errorbar([cell.features], [cell.accuracy], yerr=spread, marker="o", capsize=3, label=name)
axis.set(xscale="log", xlabel="features with a weight", ylabel="accuracy on test documents")
axis.legend()
plt.show()
