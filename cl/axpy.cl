/* y <- a x + y */
__kernel void axpy_kernel(__global REAL *y, __global const REAL *x, const REAL a) {
    EACH_ROW(i) STORE(y, i, fma((realv)(a), LOAD(x, i), LOAD(y, i)));
}
