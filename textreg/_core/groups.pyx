"""Sums over overlapping groups: group g is ``indices[indptr[g]:indptr[g + 1]]``.

An array over all entries of all groups (copies of weights, dual variables) is called ragged here:
entry e belongs to feature ``indices[e]``.
"""

from libc.math cimport fabs, sqrt


def group_norms(const long long[::1] indptr, const int[::1] indices, const double[::1] w,
                double[::1] out):
    """out[g] = ||w_g||_2. w: (p,), out: (groups,)."""
    cdef Py_ssize_t g, e
    cdef double total
    if out.shape[0] != indptr.shape[0] - 1:
        raise ValueError("out must have one entry per group")
    with nogil:
        for g in range(out.shape[0]):
            total = 0.0
            for e in range(indptr[g], indptr[g + 1]):
                total += w[indices[e]] * w[indices[e]]
            out[g] = sqrt(total)


def group_spread(const long long[::1] indptr, const int[::1] indices, const double[::1] values,
                 double[::1] out):
    """out[j] += sum of values[g] over the groups g that hold j. values: (groups,), out: (p,)."""
    cdef Py_ssize_t g, e
    cdef double t
    if values.shape[0] != indptr.shape[0] - 1:
        raise ValueError("values must have one entry per group")
    with nogil:
        for g in range(values.shape[0]):
            t = values[g]
            for e in range(indptr[g], indptr[g + 1]):
                out[indices[e]] += t


def ball_sweeps(const long long[::1] indptr, const int[::1] indices, const double[::1] strengths,
                const double[::1] lam, double[::1] u, double[::1] z, unsigned char[::1] over,
                int[::1] active, int sweeps):
    """Choose u, ||u_g|| <= strengths[g], that brings |z_j| down to lam_j, z = a - sum_g u_g.

    Block coordinate descent on 1/2 sum_j (|z_j| - lam_j)_+^2: one round over all groups that hold a
    feature above its lam, then up to ``sweeps`` - 1 over the same groups. Each block is solved by a
    projection (docs/maths.md, D2). u: ragged, z: (p,), both changed. over: (p,) and active:
    (groups,) are work space. Returns the number of groups in the first round.
    """
    cdef Py_ssize_t g, e, k, count = 0
    cdef int _sweep_number
    if u.shape[0] != indices.shape[0]:
        raise ValueError("u must have one entry for every entry of the groups")
    if not (z.shape[0] == lam.shape[0] == over.shape[0]):
        raise ValueError("z, lam and over must have one entry per feature")
    if not (strengths.shape[0] == active.shape[0] == indptr.shape[0] - 1):
        raise ValueError("strengths and active must have one entry per group")
    with nogil:
        for e in range(z.shape[0]):
            over[e] = fabs(z[e]) > lam[e]
        for g in range(strengths.shape[0]):
            for e in range(indptr[g], indptr[g + 1]):
                if over[indices[e]]:
                    active[count] = <int>g
                    count += 1
                    _project(indptr[g], indptr[g + 1], indices, strengths[g], lam, u, z, over)
                    break
        for _sweep_number in range(1, sweeps):
            for k in range(count):
                g = active[k]
                for e in range(indptr[g], indptr[g + 1]):
                    if over[indices[e]]:
                        _project(indptr[g], indptr[g + 1], indices, strengths[g], lam, u, z, over)
                        break
    return count


cdef inline double _beyond(double z, double lam) noexcept nogil:
    """The part of z outside [-lam, lam]; without branches, which would be mispredicted here."""
    cdef double inside = z if z < lam else lam
    return z - (inside if inside > -lam else -lam)


cdef void _project(Py_ssize_t first, Py_ssize_t last, const int[::1] indices, double strength,
                   const double[::1] lam, double[::1] u, double[::1] z,
                   unsigned char[::1] over) noexcept nogil:
    """Project u_g + (the parts of z_g outside [-lam, lam]) onto the ball of u_g (D2)."""
    cdef Py_ssize_t e
    cdef int j
    cdef double new, rest, scale, total = 0.0
    for e in range(first, last):
        j = indices[e]
        new = u[e] + _beyond(z[j], lam[j])
        total += new * new
    scale = 1.0 if total <= strength * strength else strength / sqrt(total)
    for e in range(first, last):
        j = indices[e]
        new = scale * (u[e] + _beyond(z[j], lam[j]))
        rest = z[j] - (new - u[e])
        z[j] = rest
        u[e] = new
        over[j] = fabs(rest) > lam[j]


def group_scale(const long long[::1] indptr, const int[::1] indices, const double[::1] rates,
                const double[::1] w, double[::1] u):
    """u_g = rates[g] w_g. rates: (groups,), u: ragged, written."""
    cdef Py_ssize_t g, e
    if rates.shape[0] != indptr.shape[0] - 1 or u.shape[0] != indices.shape[0]:
        raise ValueError("rates must have one entry per group, u one for every entry of the groups")
    with nogil:
        for g in range(rates.shape[0]):
            for e in range(indptr[g], indptr[g + 1]):
                u[e] = rates[g] * w[indices[e]]


def copy_norms(const long long[::1] indptr, const int[::1] indices, const double[::1] strengths,
               const double[::1] w, const double[::1] u, double[::1] out):
    """out[g] = ||prox(w_g + u_g)||_2, that is max(||w_g + u_g|| - strengths[g], 0).

    A length that exceeds the strength by rounding alone gives 0. u: ragged, out: (groups,).
    """
    cdef Py_ssize_t g, e
    cdef double z, total
    if not out.shape[0] == strengths.shape[0] == indptr.shape[0] - 1:
        raise ValueError("strengths and out must have one entry per group")
    if u.shape[0] != indices.shape[0]:
        raise ValueError("u must have one entry for every entry of the groups")
    with nogil:
        for g in range(out.shape[0]):
            total = 0.0
            for e in range(indptr[g], indptr[g + 1]):
                z = w[indices[e]] + u[e]
                total += z * z
            total = sqrt(total) - strengths[g]
            out[g] = total if total > 1e-9 * strengths[g] else 0.0


def group_gather(const int[::1] indices, const double[::1] u, double[::1] out):
    """out[j] += sum of the entries of u that belong to feature j. u: ragged, out: (p,)."""
    cdef Py_ssize_t e
    if u.shape[0] != indices.shape[0]:
        raise ValueError("u must have one entry for every entry of the groups")
    with nogil:
        for e in range(u.shape[0]):
            out[indices[e]] += u[e]


def admm_copies(const long long[::1] indptr, const int[::1] indices, const double[::1] strengths,
                const double[::1] w, double rho, double relax, double[::1] v, double[::1] u,
                double[::1] norms, double[::1] target):
    """The v and u steps of ADMM for overlapping groups, fused.

        m = relax w_g + (1 - relax) v_g
        v_g = prox(m - u_g / rho), shrunk by strengths[g] / rho
        u_g += rho (v_g - m)

    v, u: ragged, changed. norms: (groups,), ||v_g||, written. target: (p,), += v + u / rho.
    Returns (sum (v - w)^2, sum (v - v_old)^2, sum v^2, sum u^2).
    """
    cdef Py_ssize_t g, e
    cdef double m, z, old, total, size, shrink, new, multiplier
    cdef double stay = 1.0 - relax, inverse = 1.0 / rho
    cdef double apart = 0.0, moved = 0.0, v_size = 0.0, u_size = 0.0
    if (v.shape[0] != indices.shape[0] or u.shape[0] != indices.shape[0]
            or norms.shape[0] != indptr.shape[0] - 1 or strengths.shape[0] != norms.shape[0]):
        raise ValueError("v and u are ragged, norms and strengths have one entry per group")
    with nogil:
        for g in range(norms.shape[0]):
            total = 0.0
            for e in range(indptr[g], indptr[g + 1]):
                z = relax * w[indices[e]] + stay * v[e] - u[e] * inverse
                total += z * z
            size = sqrt(total)
            shrink = 0.0 if size * rho <= strengths[g] else 1.0 - strengths[g] / (rho * size)
            norms[g] = shrink * size
            for e in range(indptr[g], indptr[g + 1]):
                z, old, multiplier = w[indices[e]], v[e], u[e]
                m = relax * z + stay * old
                new = shrink * (m - multiplier * inverse)
                multiplier += rho * (new - m)
                u[e] = multiplier
                v[e] = new
                target[indices[e]] += new + multiplier * inverse
                apart += (new - z) * (new - z)
                moved += (new - old) * (new - old)
                v_size += new * new
                u_size += multiplier * multiplier
    return apart, moved, v_size, u_size


def select_groups(const long long[::1] indptr, const int[::1] indices,
                  const double[::1] strengths, const int[::1] groups, const int[::1] place,
                  double[::1] lam, long long[::1] out_indptr, int[::1] out_indices,
                  double[::1] out_strengths, long long[::1] origin):
    """Groups over some of the features alone, as the others have no weight.

    groups: those to look at, ascending. place: (p,) the new number of a feature, -1 for those left
    out. Groups that keep two features or more are written one after the other: offsets, features
    and strengths. A group that keeps one adds its strength to that feature's lam. origin: (all
    groups,), where each of ``groups`` went: its new index, -1 if nothing is left, -2 - j if feature
    j alone is. Returns the number of groups written.
    """
    cdef Py_ssize_t k, g, e, begin, end = 0, count = 0
    cdef int j
    if not strengths.shape[0] == origin.shape[0] == indptr.shape[0] - 1:
        raise ValueError("strengths and origin must have one entry per group")
    if not groups.shape[0] == out_strengths.shape[0] == out_indptr.shape[0] - 1:
        raise ValueError("what is written must have one entry for each of groups")
    if out_indices.shape[0] != indices.shape[0]:
        raise ValueError("out_indices must have room for all entries")
    with nogil:
        out_indptr[0] = 0
        for k in range(groups.shape[0]):
            g = groups[k]
            begin = end
            for e in range(indptr[g], indptr[g + 1]):
                j = place[indices[e]]
                if j >= 0:
                    out_indices[end] = j
                    end += 1
            if end - begin > 1:
                out_strengths[count] = strengths[g]
                origin[g] = count
                count += 1
                out_indptr[count] = end
                continue
            origin[g] = -1
            if end > begin:
                j = out_indices[begin]
                lam[j] += strengths[g]
                origin[g] = -2 - j
                end = begin
    return count


def group_sums(const long long[::1] indptr, const int[::1] indices, const double[::1] values,
               const int[::1] chosen, double[::1] out):
    """out[k] = the sum of ``values`` over what group chosen[k] holds. out: (chosen,), written."""
    cdef Py_ssize_t k, e
    cdef int g
    cdef double total
    if out.shape[0] != chosen.shape[0]:
        raise ValueError("out must have one entry for each of chosen")
    with nogil:
        for k in range(chosen.shape[0]):
            g = chosen[k]
            total = 0.0
            for e in range(indptr[g], indptr[g + 1]):
                total += values[indices[e]]
            out[k] = total


def group_add(const long long[::1] indptr, const int[::1] indices, const double[::1] values,
              const int[::1] chosen, double[::1] out):
    """Add values[k] to ``out`` of everything that group chosen[k] holds."""
    cdef Py_ssize_t k, e
    cdef int g
    if values.shape[0] != chosen.shape[0]:
        raise ValueError("values must have one entry for each of chosen")
    with nogil:
        for k in range(chosen.shape[0]):
            g = chosen[k]
            for e in range(indptr[g], indptr[g + 1]):
                out[indices[e]] += values[k]


def fill_groups(const long long[::1] indptr, const int[::1] indices, const double[::1] room,
                const int[::1] features, const double[::1] share, double[::1] load,
                unsigned char[::1] taken):
    """Add share[k]^2 of feature features[k] to the load of its groups, if all have room for it.

    One feature after the other. indptr, indices: the groups of every feature. room: (groups,) the
    most that the load of each may be, 0 for groups that take no part. load: (groups,), changed.
    taken: (features,), written: whether it was added.
    """
    cdef Py_ssize_t k, e
    cdef int j, g
    cdef double more
    cdef bint fits
    if load.shape[0] != room.shape[0]:
        raise ValueError("room and load must have one entry per group")
    if not share.shape[0] == taken.shape[0] == features.shape[0]:
        raise ValueError("share and taken must have one entry for each of features")
    with nogil:
        for k in range(features.shape[0]):
            j = features[k]
            more = share[k] * share[k]
            fits = True
            for e in range(indptr[j], indptr[j + 1]):
                g = indices[e]
                if room[g] > 0.0 and not load[g] + more <= room[g]:
                    fits = False
                    break
            taken[k] = fits
            if fits:
                for e in range(indptr[j], indptr[j + 1]):
                    load[indices[e]] += more
