from textreg._core.reference.dual import dual_sweep as dual_sweep
from textreg._core.reference.dual import dual_sweep_by_feature as dual_sweep_by_feature
