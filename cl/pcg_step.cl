/* y <- y + alpha p; r <- r - alpha s; p <- r + beta p; sum <- r . r, one partial sum per block.
   The last one of a solve is done with PCG_STOP at 1; then only the sum is, for rows may since have
   gone to the other side. */
__kernel void pcg_step_kernel(__global REAL *y, __global REAL *r, __global REAL *p,
                              __global REAL *sum, __global const REAL *s,
                              __global const REAL *state) {
    const bool over = state[PCG_STOP] > 1;
    const realv alpha = (realv)(state[PCG_ALPHA]), beta = (realv)(state[PCG_BETA]);
    REDUCTION(t);
    EACH_ROW(i) {
        realv v = LOAD(r, i);
        if (!over) {
            const realv q = LOAD(p, i);
            v = fma(-alpha, LOAD(s, i), v);
            STORE(y, i, fma(alpha, q, LOAD(y, i)));
            STORE(r, i, v);
            STORE(p, i, fma(beta, q, v));
        }
        ADD(t, i, v * v);
    }
    FINISH_SUM(sum, t)
}
