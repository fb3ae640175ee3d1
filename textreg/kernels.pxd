"""C functions that the kernels of textreg share, and that those of a plugin may cimport:

    from textreg.kernels cimport clip, soft

All are inline: what is compiled with them needs nothing of textreg when it runs.
"""

cdef inline double soft(double x, double t) noexcept nogil:
    """x moved toward zero by t >= 0, and no further."""
    if x > t:
        return x - t
    if x < -t:
        return x + t
    return 0.0

cdef inline double clip(double x, double bound) noexcept nogil:
    """The number nearest to x between -bound and bound >= 0."""
    if x > bound:
        return bound
    if x < -bound:
        return -bound
    return x
