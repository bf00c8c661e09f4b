/* r <- G t; p <- r; z <- 0; sum <- r . r, one partial sum per block */
__kernel void fsai_begin_kernel(__global REAL *r, __global REAL *p, __global REAL *z,
                                __global REAL *sum, __global const REAL *t, MATRIX(g),
                                __global const REAL *g_val) {
    REDUCTION(s);
    EACH_ROW(i) {
        realv v = (realv)(0);
        EACH_ENTRY(e, g, i, v = fma(VALUE(g_val, e), GATHER(t, e), v))
        STORE(r, i, v);
        STORE(p, i, v);
        STORE(z, i, (realv)(0));
        ADD(s, i, v * v);
    }
    FINISH_SUM(sum, s)
}
