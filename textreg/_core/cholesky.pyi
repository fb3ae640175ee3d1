from textreg._core.reference.cholesky import solve_normal as solve_normal
