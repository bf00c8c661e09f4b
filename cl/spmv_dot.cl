/* q <- A p; sum <- p . q, one partial sum per block. The caller gives p twice. */
__kernel void spmv_dot_kernel(__global REAL *q, __global REAL *sum, __global const REAL *p,
                              __global const REAL *x, MATRIX(a), __global const REAL *a_val) {
    REDUCTION(s);
    EACH_ROW(i) {
        realv t = (realv)(0);
        EACH_ENTRY(e, a, i) t = fma(LOAD(a_val, e), GATHER(x, COLUMN(a, e)), t);
        STORE(q, i, t);
        ADD(s, i, LOAD(p, i) * t);
    }
    FINISH_SUM(sum, s)
}
