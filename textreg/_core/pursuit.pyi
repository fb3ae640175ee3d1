from textreg._core.reference.pursuit import best_column as best_column
from textreg._core.reference.pursuit import ridge_descent as ridge_descent
