/* y <- z + f (A x) */
__kernel void spmv_add_kernel(__global REAL *y, __global const REAL *z, __global const REAL *x,
                              MATRIX(a), ONE_PLANE(a), const REAL f) {
    EACH_ROW(i) {
        const realv base = LOAD(z, i);
        realv s = (realv)(0);
        EACH_ENTRY(e, a, i, s = fma(VALUE(a_val, e), GATHER(x, e), s))
        STORE(y, i, fma((realv)(f), s, base));
    }
}
