/* p <- r; sum <- r . r, one partial sum per block */
__kernel void pcg_begin_kernel(__global REAL *p, __global REAL *sum, __global const REAL *r) {
    REDUCTION(s);
    EACH_ROW(i) {
        const realv v = LOAD(r, i);
        STORE(p, i, v);
        ADD(s, i, v * v);
    }
    FINISH_SUM(sum, s)
}
