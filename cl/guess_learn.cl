/* d <- y - d; e <- e - t; sums of d . e, d . e0 and d . e1, one partial sum of each per block */
__kernel void guess_learn_kernel(__global REAL *d, __global REAL *e, __global REAL *s,
                                 __global REAL *s0, __global REAL *s1, __global const REAL *y,
                                 __global const REAL *t, __global const REAL *e0,
                                 __global const REAL *e1) {
    REDUCTION(u);
    REDUCTION(v);
    REDUCTION(w);
    EACH_ROW(i) {
        const realv p = LOAD(y, i) - LOAD(d, i), q = LOAD(e, i) - LOAD(t, i);
        STORE(d, i, p);
        STORE(e, i, q);
        ADD(u, i, p * q);
        ADD(v, i, p * LOAD(e0, i));
        ADD(w, i, p * LOAD(e1, i));
    }
    FINISH_THREE_SUMS(s, u, s0, v, s1, w)
}
