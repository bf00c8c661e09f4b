/* x <- s y */
__kernel void pcg_leave_kernel(__global REAL *x, __global const REAL *y, __global const REAL *s) {
    EACH_ROW(i) STORE(x, i, LOAD(s, i) * LOAD(y, i));
}
