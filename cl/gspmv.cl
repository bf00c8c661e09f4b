/* y_k <- b_k + A x_k */
__kernel void gspmv_kernel(__global REAL *y0, __global REAL *y1, __global REAL *y2,
                           __global const REAL *b0, __global const REAL *b1,
                           __global const REAL *b2, __global const REAL *x0,
                           __global const REAL *x1, __global const REAL *x2, MATRIX(a),
                           __global const REAL *a_val) {
    EACH_ROW(i) {
        realv s0 = LOAD(b0, i), s1 = LOAD(b1, i), s2 = LOAD(b2, i);
        EACH_ENTRY(e, a, i, {
            const realv v = VALUE(a_val, e);
            s0 = fma(v, GATHER(x0, e), s0);
            s1 = fma(v, GATHER(x1, e), s1);
            s2 = fma(v, GATHER(x2, e), s2);
        })
        STORE(y0, i, s0);
        STORE(y1, i, s1);
        STORE(y2, i, s2);
    }
}
