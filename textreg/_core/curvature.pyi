from textreg._core.reference.curvature import curvature_diagonal as curvature_diagonal
from textreg._core.reference.curvature import curvature_product as curvature_product
from textreg._core.reference.curvature import row_scores as row_scores
from textreg._core.reference.curvature import row_sums as row_sums
from textreg._core.reference.curvature import scaled_gram as scaled_gram
