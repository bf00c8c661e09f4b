/* z <- x + a y */
__kernel void triad_kernel(__global REAL *z, __global const REAL *x, __global const REAL *y, const REAL a) {
    EACH_ROW(i) STORE(z, i, fma((realv)(a), LOAD(y, i), LOAD(x, i)));
}
