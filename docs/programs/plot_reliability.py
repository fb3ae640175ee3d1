"""
Are the probabilities calibrated?
=================================

A penalty shrinks weights, so scores are too small and probabilities too close to one half. A
temperature fitted on held-out documents corrects this (Guo et al. 2017). ``TextClassifier`` is a
scikit-learn estimator, so scikit-learn's displays accept its predictions.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import log_loss

from textreg import Lasso, TextClassifier
from textreg.demo import make_reviews

labels, texts = zip(*make_reviews(600), strict=True)
test_labels, test_texts = zip(*make_reviews(2000, seed=1), strict=True)

figure, axis = plt.subplots(figsize=(5, 4), layout="constrained")
for calibrate in (None, "temperature"):
    classifier = TextClassifier(reg=Lasso(l1=0.5), calibrate=calibrate).fit(texts, labels)
    probabilities = classifier.predict_proba(test_texts)[:, 1]
    print(calibrate, round(log_loss(test_labels, probabilities), 3))
    CalibrationDisplay.from_predictions(
        test_labels,
        probabilities,
        pos_label="pos",
        n_bins=8,
        name=calibrate or "as fitted",
        ax=axis,
    )
axis.set(xlabel="probability of 'pos'", ylabel="share of 'pos'")
plt.show()
