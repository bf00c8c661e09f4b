/* sum <- x, one partial sum per block */
__kernel void read_kernel(__global REAL *sum, __global const REAL *x) {
    REDUCTION(s);
    EACH_ROW(i) ADD(s, i, LOAD(x, i));
    FINISH_SUM(sum, s)
}
