"""Coordinate descent on the quadratic model of one Newton step."""

from libc.math cimport fabs

from textreg.kernels cimport soft


def select_active(const double[:] gradient, const double[::1] w, const double[::1] q,
                  const double[::1] mu, const double[::1] lam, int[::1] out):
    """Write into ``out`` the active set: features that are in the model or that would enter it.

    These are the j with w_j != 0 or |gradient_j + q_j (w_j - mu_j)| > lam_j, in order. All (p,).
    Returns their number.
    """
    cdef Py_ssize_t j, count = 0
    if not (gradient.shape[0] == w.shape[0] == q.shape[0] == mu.shape[0] == lam.shape[0]
            == out.shape[0]):
        raise ValueError("gradient, w, q, mu, lam and out must have one entry per column")
    with nogil:
        for j in range(w.shape[0]):
            if w[j] != 0.0 or fabs(gradient[j] + q[j] * (w[j] - mu[j])) > lam[j]:
                out[count] = <int> j
                count += 1
    return count


def coordinate_descent(const long long[::1] indptr, const int[::1] indices,
                       const double[::1] data, const double[::1] h, double[::1] v,
                       int[::1] active, double[::1] curvature, const double[::1] q,
                       const double[::1] mu, const double[::1] lam, double[::1] w, double b,
                       bint fit_intercept, int passes):
    """Minimize over w_j, j in active, and b, the model of Newton's method plus the penalty:

        v . (X d + d_b) + 1/2 sum_i h_i (X d + d_b)_i^2
            + sum_j 1/2 q_j (w_j - mu_j)^2 + lam_j |w_j|

    where d is the change of w (docs/maths.md, E3; Friedman, Hastie & Tibshirani 2010). ``v`` comes
    in as the loss's derivatives and goes out as those of the model at the new w. ``curvature``:
    (p,), becomes sum_i h_i x_ij^2 for every active j that is or was not zero. q, mu, lam, w: (p,),
    w changed in place. ``active`` is permuted: features that stay at zero are moved to its end.
    Stops after ``passes``, or at the first that moves no weight onto, off or across zero.

    Returns b.
    """
    cdef double h_sum = 0.0
    cdef Py_ssize_t i
    if h.shape[0] != v.shape[0]:
        raise ValueError("h and v must have one entry per row")
    if not (curvature.shape[0] == q.shape[0] == mu.shape[0] == lam.shape[0] == w.shape[0]
            == indptr.shape[0] - 1):
        raise ValueError("curvature, q, mu, lam and w must have one entry per column")
    with nogil:
        for i in range(h.shape[0]):
            h_sum += h[i]
        _descend(indptr, indices, data, h, v, active, curvature, q, mu, lam, w, &b, h_sum,
                 fit_intercept, passes)
    return b


cdef void _descend(const long long[::1] indptr, const int[::1] indices, const double[::1] data,
                   const double[::1] h, double[::1] v, int[::1] active, double[::1] curvature,
                   const double[::1] q, const double[::1] mu, const double[::1] lam,
                   double[::1] w, double* b, double h_sum, bint fit_intercept,
                   int passes) noexcept nogil:
    cdef Py_ssize_t k, e, i, size = active.shape[0]
    cdef int j, used = 0
    cdef bint crossed
    cdef double g, H, new, step
    while used < passes:
        used += 1
        crossed = False
        if fit_intercept and h_sum > 0.0:
            g = 0.0
            for i in range(v.shape[0]):
                g += v[i]
            step = -g / h_sum
            if step != 0.0:
                b[0] += step
                for i in range(v.shape[0]):
                    v[i] += h[i] * step
        k = 0
        while k < size:
            j = active[k]
            g = q[j] * (w[j] - mu[j])
            for e in range(indptr[j], indptr[j + 1]):
                g += data[e] * v[indices[e]]
            if w[j] == 0.0 and fabs(g) <= lam[j]:
                # It stays at zero: skip it in all later passes (a working set, Yuan et al. 2012).
                size -= 1
                active[k] = active[size]
                active[size] = j
                continue
            if used == 1:
                H = 0.0
                for e in range(indptr[j], indptr[j + 1]):
                    H += data[e] * data[e] * h[indices[e]]
                curvature[j] = H
            k += 1
            H = curvature[j] + q[j]
            new = 0.0
            if H > 0.0:
                new = soft(w[j] - g / H, lam[j] / H)
            elif fabs(g) >= lam[j]:  # without curvature there is no minimum, or w_j is one
                continue
            step = new - w[j]
            if step != 0.0:
                if w[j] * new <= 0.0:
                    crossed = True
                w[j] = new
                for e in range(indptr[j], indptr[j + 1]):
                    v[indices[e]] += h[indices[e]] * data[e] * step
        if not crossed:
            break
