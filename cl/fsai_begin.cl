/* p <- G t + k (p - r), or G t where k is 0; r <- G t; z <- 0; sum <- r . r, one partial sum per
   block */
__kernel void fsai_begin_kernel(__global REAL *z, __global REAL *r, __global REAL *p,
                                __global REAL *sum, __global const REAL *t, MATRIX(g),
                                ONE_PLANE(g), const REAL k) {
    REDUCTION(s);
    EACH_ROW(i) {
        realv v = (realv)(0);
        EACH_ENTRY(e, g, i, v = fma(VALUE(g_val, e), GATHER(t, e), v))
        realv w = v;
        if (k != 0)
            w = fma((realv)(k), LOAD(p, i) - LOAD(r, i), v);
        STORE(p, i, w);
        STORE(r, i, v);
        STORE(z, i, (realv)(0));
        ADD(s, i, v * v);
    }
    FINISH_SUM(sum, s)
}
