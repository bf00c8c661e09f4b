/* x <- x + alpha p; r <- r - alpha q; rz <- r . d r, rr <- r . r, one partial sum per block */
__kernel void pcg_update_kernel(__global REAL *x, __global REAL *r, __global REAL *rz,
                                __global REAL *rr, __global const REAL *p,
                                __global const REAL *q, __global const REAL *d,
                                const REAL alpha) {
    REDUCTION(s);
    REDUCTION(t);
    EACH_ROW(i) {
        STORE(x, i, fma((realv)(alpha), LOAD(p, i), LOAD(x, i)));
        const realv v = fma((realv)(-alpha), LOAD(q, i), LOAD(r, i));
        STORE(r, i, v);
        ADD(s, i, v * (LOAD(d, i) * v));
        ADD(t, i, v * v);
    }
    FINISH_SUM(rz, s)
    FINISH_SUM(rr, t)
}
