/* p <- G t + k q, or G t where k is 0; z <- 0; sum <- |G t|^2, one partial sum per block */
__kernel void fsai_begin_kernel(__global REAL *z, __global REAL *p, __global REAL *sum,
                                __global const REAL *q, __global const REAL *t, MATRIX(g),
                                ONE_PLANE(g), const REAL k) {
    REDUCTION(s);
    EACH_ROW(i) {
        realv v = (realv)(0);
        EACH_ENTRY(e, g, i, v = fma(VALUE(g_val, e), GATHER(t, e), v))
        realv w = v;
        if (k != 0)
            w = fma((realv)(k), LOAD(q, i), v);
        STORE(p, i, w);
        STORE(z, i, (realv)(0));
        ADD(s, i, v * v);
    }
    FINISH_SUM(sum, s)
}
