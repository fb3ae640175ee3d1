"""Rounds over the links of a graph: the part of the penalty that NumPy has no words for."""

from libc.math cimport fabs

from textreg.kernels cimport clip, soft


def link_rounds(const int[::1] heads, const int[::1] tails, const double[::1] bounds, double l1,
                double[::1] u, double[::1] z, int[::1] apart, double least, int most):
    """Lower 1/2 ||soft(z, l1)||^2 over the dual variables |u_e| <= bounds_e, link after link.

    heads, tails, bounds, u: one a link. z: (p,), comes in as w - sum_e u_e (e_head - e_tail) and is
    kept so; u and z are changed in place. apart: room to work in, one a link.

    A round finds the links whose ends differ in x = soft(z, l1), and sweeps over them ten times.
    The duality gap is the sum of bounds_e |x_head - x_tail| - u_e (x_head - x_tail). Ends when it
    has fallen to ``least``, or after ``most`` rounds, and returns it.
    """
    cdef double gap
    if not heads.shape[0] == tails.shape[0] == bounds.shape[0] == u.shape[0] == apart.shape[0]:
        raise ValueError("heads, tails, bounds, u and apart must have one entry a link")
    with nogil:
        gap = _rounds(heads, tails, bounds, l1, u, z, apart, least, most)
    return gap


cdef double _rounds(const int[::1] heads, const int[::1] tails, const double[::1] bounds, double l1,
                    double[::1] u, double[::1] z, int[::1] apart, double least,
                    int most) noexcept nogil:
    cdef Py_ssize_t e, k, found
    cdef int rounds, _turn
    cdef double step, new, gap = 0.0
    for rounds in range(most + 1):
        gap = 0.0
        found = 0
        for e in range(u.shape[0]):
            step = soft(z[heads[e]], l1) - soft(z[tails[e]], l1)
            if step != 0.0:
                gap += bounds[e] * fabs(step) - u[e] * step
                apart[found] = e
                found += 1
        if gap <= least or rounds == most:
            break
        for _turn in range(10):
            for k in range(found):
                e = apart[k]
                new = clip(u[e] + _meeting(z[heads[e]], z[tails[e]], l1), bounds[e])
                step = new - u[e]
                u[e] = new
                z[heads[e]] -= step
                z[tails[e]] += step
    return gap


cdef inline double _meeting(double a, double c, double l1) noexcept nogil:
    """The shortest d with soft(a - d, l1) = soft(c + d, l1)."""
    if fabs(a + c) >= 2.0 * l1:  # they meet in the middle
        return 0.5 * (a - c)
    if a > c:  # or at zero
        return max(a - l1, -l1 - c, 0.0)
    return min(a + l1, l1 - c, 0.0)
