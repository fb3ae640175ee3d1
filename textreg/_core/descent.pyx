"""Coordinate descent on the quadratic model of one Newton step."""

from libc.math cimport fabs


def coordinate_descent(const long long[::1] indptr, const int[::1] indices,
                       const double[::1] data, const double[::1] h, double[::1] v,
                       int[::1] active, const double[::1] curvature, const double[::1] q,
                       const double[::1] mu, const double[::1] lam, double[::1] w, double b,
                       bint fit_intercept, int passes, double tol):
    """Minimise over w_j, j in active, and b, the model of Newton's method plus the penalty:

        v . (X d + d_b) + 1/2 sum_i h_i (X d + d_b)_i^2
            + sum_j 1/2 q_j (w_j - mu_j)^2 + lam_j |w_j|

    where d is the change of w. ``v`` comes in as the loss's derivatives and goes out as those of the
    model at the new w. ``curvature``: (p,) sum_i h_i x_ij^2, read for active j. q, mu, lam, w: (p,), w
    changed in place. ``active`` is permuted: features that sit safely at zero are moved behind.
    Stops after ``passes``, or when no step of a pass lowers the model by ``tol``.

    Returns (b, passes used, largest fall of the last pass).
    """
    cdef double fall = 0.0, h_sum = 0.0
    cdef Py_ssize_t i
    cdef int used
    if h.shape[0] != v.shape[0]:
        raise ValueError("h and v must have one entry a row")
    if not (curvature.shape[0] == q.shape[0] == mu.shape[0] == lam.shape[0] == w.shape[0]
            == indptr.shape[0] - 1):
        raise ValueError("curvature, q, mu, lam and w must have one entry a column")
    with nogil:
        for i in range(h.shape[0]):
            h_sum += h[i]
        used = _descend(indptr, indices, data, h, v, active, curvature, q, mu, lam, w, &b, h_sum,
                        fit_intercept, passes, tol, &fall)
    return b, used, fall


cdef int _descend(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                  const double[::1] h, double[::1] v, int[::1] active,
                  const double[::1] curvature, const double[::1] q, const double[::1] mu,
                  const double[::1] lam, double[::1] w, double* b, double h_sum,
                  bint fit_intercept, int passes, double tol, double* fall) noexcept nogil:
    cdef Py_ssize_t k, e, i, size = active.shape[0]
    cdef int j, used = 0
    cdef double g, H, u, new, step, worst
    while used < passes:
        used += 1
        worst = 0.0
        if fit_intercept and h_sum > 0.0:
            g = 0.0
            for i in range(v.shape[0]):
                g += v[i]
            step = -g / h_sum
            b[0] += step
            for i in range(v.shape[0]):
                v[i] += h[i] * step
            worst = g * g / h_sum
        k = 0
        while k < size:
            j = active[k]
            H = curvature[j] + q[j]
            if H <= 0.0:
                k += 1
                continue
            g = q[j] * (w[j] - mu[j])
            for e in range(indptr[j], indptr[j + 1]):
                g += data[e] * v[indices[e]]
            if w[j] == 0.0 and fabs(g) <= lam[j]:
                # At rest at zero: out of the way for the rest of this model.
                size -= 1
                active[k] = active[size]
                active[size] = j
                continue
            u = w[j] - g / H
            if u > lam[j] / H:
                new = u - lam[j] / H
            elif u < -lam[j] / H:
                new = u + lam[j] / H
            else:
                new = 0.0
            step = new - w[j]
            if step != 0.0:
                w[j] = new
                for e in range(indptr[j], indptr[j + 1]):
                    v[indices[e]] += h[indices[e]] * data[e] * step
                if H * step * step > worst:
                    worst = H * step * step
            k += 1
        fall[0] = worst
        if worst <= tol:
            break
    return used
