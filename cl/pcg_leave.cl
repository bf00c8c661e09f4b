/* x <- s k y */
__kernel void pcg_leave_kernel(__global REAL *x, __global const REAL *y, REPEATED(s),
                               const REAL k) {
    EACH_ROW(i) STORE(x, i, REPEAT(s, i) * ((realv)(k) * LOAD(y, i)));
}
