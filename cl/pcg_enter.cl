/* f <- s k (b - m); y <- d k x; sums of d f . d f and of d f, one partial sum of each per block */
__kernel void pcg_enter_kernel(__global REAL *f, __global REAL *y, __global REAL *square,
                               __global REAL *sum,
                               __global const REAL *b, __global const REAL *x,
                               REPEATED(s), REPEATED(d), const REAL m, const REAL k) {
    REDUCTION(t);
    REDUCTION(u);
    EACH_ROW(i) {
        const realv v = REPEAT(s, i) * ((realv)(k) * (LOAD(b, i) - (realv)(m))), w = REPEAT(d, i) * v;
        STORE(f, i, v);
        STORE(y, i, REPEAT(d, i) * ((realv)(k) * LOAD(x, i)));
        ADD(t, i, w * w);
        ADD(u, i, w);
    }
    FINISH_TWO_SUMS(square, t, sum, u)
}
