/* y <- x */
__kernel void copy_kernel(__global REAL *y, __global const REAL *x) {
    EACH_ROW(i) STORE(y, i, LOAD(x, i));
}
