"""Logarithms and powers of e of several numbers at once, without a call for each.

Compilers make vectors of these loops where ``count`` is a constant. They add, multiply and divide
only, so the result is the same on every machine and does not depend on the number beside it; that
of a library's ``exp`` may depend on the processor.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    LANES = 16


cdef inline void exp_of_negative(const double* x, double* e, int count) noexcept nogil:
    """e_j = exp(x_j) for up to LANES numbers x_j <= 0, to two units of the last place.

    x = k log 2 + r with a whole k and |r| <= log(2) / 2; exp(r) is its Taylor polynomial, and k is
    added to the exponent of the result. What would be less than 3e-308 is 0.
    """
    cdef double[LANES] t
    cdef int64_t[LANES] bits
    cdef double[LANES] scale
    cdef double k, r, p
    cdef double to_whole = 6755399441055744.0  # 1.5 * 2^52: sums with it are whole numbers
    cdef int j
    for j in range(count):
        t[j] = x[j] * 1.4426950408889634 + to_whole
    memcpy(&bits[0], &t[0], count * sizeof(double))
    for j in range(count):
        bits[j] = <int64_t> ((<uint64_t> bits[j] + 1023) << 52)
    memcpy(&scale[0], &bits[0], count * sizeof(double))
    for j in range(count):
        k = t[j] - to_whole
        r = x[j] - k * 0.6931471803691238  # 32 bits of log 2
        r -= k * 1.9082149292705877e-10
        p = 1.6059043836821613e-10  # 1 / 13!
        p = p * r + 2.08767569878681e-09
        p = p * r + 2.505210838544172e-08
        p = p * r + 2.755731922398589e-07
        p = p * r + 2.7557319223985893e-06
        p = p * r + 2.48015873015873e-05
        p = p * r + 0.0001984126984126984
        p = p * r + 0.001388888888888889
        p = p * r + 0.008333333333333333
        p = p * r + 0.041666666666666664
        p = p * r + 0.16666666666666666
        p = p * r + 0.5
        p = (p * r + 1.0) * r + 1.0
        e[j] = 0.0 if x[j] < -708.0 else p * scale[j]


cdef inline double log1p_of_unit(double e) noexcept nogil:
    """log(1 + e) for 0 <= e <= 1, to two units of the last place.

    f is e, or (e - 1) / 2 where 1 + e is halved. With s = f / (2 + f), log(1 + f) is
    2 artanh(s) = 2 s + s R(s^2); the coefficients of R are those of fdlibm's log.
    """
    cdef bint halved = e > 0.4142135623730951
    cdef double f = 0.5 * (e - 1.0) if halved else e
    cdef double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f, R
    R = 0.14798198605116586
    R = R * z + 0.15313837699209373
    R = R * z + 0.1818357216161805
    R = R * z + 0.22222198432149784
    R = R * z + 0.2857142874366239
    R = R * z + 0.3999999999940942
    R = (R * z + 0.6666666666666735) * z
    return (0.6931471805599453 if halved else 0.0) - ((half - s * (half + R)) - f)
