from textreg._core.reference.columns import column_curvature as column_curvature
from textreg._core.reference.columns import column_damping as column_damping
from textreg._core.reference.columns import column_dots as column_dots
from textreg._core.reference.columns import column_sums as column_sums
