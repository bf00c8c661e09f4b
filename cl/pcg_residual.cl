/* t <- f - (share y + A y); sums of d t . d t, of d m . d m and of t . t,
   m = |f| + |share y| + |A| |y|. The caller gives y twice. */
__kernel void pcg_residual_kernel(__global REAL *t, __global REAL *tt, __global REAL *mm,
                                  __global REAL *rr, __global const REAL *f,
                                  __global const REAL *y, REPEATED(d), __global const REAL *x,
                                  MATRIX(a), ONE_PLANE(a), const REAL share) {
    REDUCTION(u);
    REDUCTION(v);
    REDUCTION(w);
    EACH_ROW(i) {
        realv s = (realv)(share) * LOAD(y, i), m = fabs(s);
        EACH_ENTRY_OF(e, a, x, i, {
            const realv c = VALUE(a_val, e);
            const realv g = GATHER(x, e);
            s = fma(c, g, s);
            m = fma(fabs(c), fabs(g), m);
        })
        s = LOAD(f, i) - s;
        STORE(t, i, s);
        ADD(w, i, s * s);
        s = REPEAT(d, i) * s;
        m = REPEAT(d, i) * (fabs(LOAD(f, i)) + m);
        ADD(u, i, s * s);
        ADD(v, i, m * m);
    }
    FINISH_THREE_SUMS(tt, u, mm, v, rr, w)
}
