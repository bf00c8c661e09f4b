/* y <- y + c d + c0 d0 + c1 d1; t <- t - c e - c0 e0 - c1 e1; d, e <- y, t before; sums of k t . k t
   and of t . t, one partial sum of each per block. The state has c0, c1, c, and 0 where nothing is to be
   added. */
__kernel void guess_add_kernel(__global REAL *y, __global REAL *t, __global REAL *d,
                               __global REAL *e, __global REAL *sum, __global REAL *rr,
                               __global const REAL *d0, __global const REAL *e0,
                               __global const REAL *d1, __global const REAL *e1, REPEATED(k),
                               __global const REAL *state) {
    const REAL c0 = state[0], c1 = state[1], c = state[2];
    const bool adds = state[3] != 0;
    REDUCTION(s);
    REDUCTION(u);
    EACH_ROW(i) {
        realv next = LOAD(t, i);
        if (adds) {
            const realv v = LOAD(y, i), w = next;
            next = fma((realv)(c0), LOAD(d0, i), fma((realv)(c1), LOAD(d1, i), v));
            STORE(y, i, fma((realv)(c), LOAD(d, i), next));
            next = fma((realv)(-c0), LOAD(e0, i), fma((realv)(-c1), LOAD(e1, i), w));
            next = fma((realv)(-c), LOAD(e, i), next);
            STORE(t, i, next);
            STORE(d, i, v);
            STORE(e, i, w);
        }
        ADD(u, i, next * next);
        next = REPEAT(k, i) * next;
        ADD(s, i, next * next);
    }
    FINISH_TWO_SUMS(sum, s, rr, u)
}
