"""
Do its probabilities come true?
===============================

Prices shrink weights, so scores are too small and probabilities too near one half. A temperature
that is learned on held-out documents mends it (Guo et al. 2017). ``TextClassifier`` is an estimator
of scikit-learn, so scikit-learn's displays take its answers.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import log_loss

from textreg import Lasso, TextClassifier
from textreg.demo.corpus import make_reviews

labels, texts = zip(*make_reviews(600), strict=True)
test_labels, test_texts = zip(*make_reviews(2000, seed=1), strict=True)

figure, axis = plt.subplots(figsize=(5, 4), layout="constrained")
for calibrate in (None, "temperature"):
    classifier = TextClassifier(reg=Lasso(l1=0.5), calibrate=calibrate).fit(texts, labels)
    chances = classifier.predict_proba(test_texts)[:, 1]
    print(calibrate, round(log_loss(test_labels, chances), 3))
    CalibrationDisplay.from_predictions(
        test_labels, chances, pos_label="pos", n_bins=8, name=calibrate or "as fitted", ax=axis
    )
axis.set(xlabel="probability of 'pos'", ylabel="share of 'pos'")
plt.show()
