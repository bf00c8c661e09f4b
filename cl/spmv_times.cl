/* y <- f (A x) */
__kernel void spmv_times_kernel(__global REAL *y, __global const REAL *x, MATRIX(a), ONE_PLANE(a),
                                const REAL f) {
    EACH_ROW(i) {
        realv s = (realv)(0);
        EACH_ENTRY(e, a, i, s = fma(VALUE(a_val, e), GATHER(x, e), s))
        STORE(y, i, (realv)(f) * s);
    }
}
