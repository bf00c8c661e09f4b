/* sum <- x . y, one partial sum per block */
__kernel void dot_kernel(__global REAL *sum, __global const REAL *x, __global const REAL *y) {
    REDUCTION(s);
    EACH_ROW(i) ADD(s, i, LOAD(x, i) * LOAD(y, i));
    FINISH_SUM(sum, s)
}
