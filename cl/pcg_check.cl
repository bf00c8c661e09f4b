/* t <- f - (share y + A y), as pcg_residual; x <- s k y; sums of d t . d t and of d m . d m,
   m = |f| + |share y| + |A| |y|. The caller gives y twice. */
__kernel void pcg_check_kernel(__global REAL *t, __global REAL *x, __global REAL *tt,
                               __global REAL *mm, __global const REAL *f, __global const REAL *y,
                               REPEATED(d), REPEATED(s), __global const REAL *z, MATRIX(a),
                               ONE_PLANE(a), const REAL share, const REAL k) {
    REDUCTION(u);
    REDUCTION(v);
    EACH_ROW(i) {
        realv r = LOAD(y, i);
        STORE(x, i, REPEAT(s, i) * ((realv)(k) * r));
        r = (realv)(share) * r;
        realv m = fabs(r);
        EACH_ENTRY_OF(e, a, z, i, {
            const realv c = VALUE(a_val, e);
            const realv g = GATHER(z, e);
            r = fma(c, g, r);
            m = fma(fabs(c), fabs(g), m);
        })
        r = LOAD(f, i) - r;
        STORE(t, i, r);
        r = REPEAT(d, i) * r;
        m = REPEAT(d, i) * (fabs(LOAD(f, i)) + m);
        ADD(u, i, r * r);
        ADD(v, i, m * m);
    }
    FINISH_TWO_SUMS(tt, u, mm, v)
}
