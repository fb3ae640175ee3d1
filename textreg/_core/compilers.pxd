"""What kernels tell the compiler: memory that is read soon, and loops for wider vectors."""

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define PREFETCH(p) __builtin_prefetch(p)
    #else
    #define PREFETCH(p)
    #endif

    /* Two versions of a function and all that it calls, one with wider vectors for processors that
       have them: their results are the same bits. It needs GCC and the loader of glibc. */
    #if !defined(__GNUC__)
    #define TEXTREG_WIDE
    #elif defined(__clang__) || !defined(__x86_64__) || !defined(__GLIBC__) \\
        || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    #define TEXTREG_WIDE __attribute__((flatten))
    #else
    #define TEXTREG_WIDE __attribute__((flatten, target_clones("avx2", "default")))
    #endif
    """
    ctypedef void wide "TEXTREG_WIDE void"
    void PREFETCH(const void* p) noexcept nogil
