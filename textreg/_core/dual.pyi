from textreg._core.reference.dual import dual_sweep as dual_sweep
