from textreg._core.reference.logistic import logistic_derivatives as logistic_derivatives
from textreg._core.reference.logistic import logistic_entropy as logistic_entropy
from textreg._core.reference.logistic import logistic_value as logistic_value
