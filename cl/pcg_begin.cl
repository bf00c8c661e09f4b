/* p <- r + k q, or r where k is 0; sum <- r . r, one partial sum per block */
__kernel void pcg_begin_kernel(__global REAL *p, __global REAL *sum, __global const REAL *r,
                               __global const REAL *q, const REAL k) {
    REDUCTION(s);
    EACH_ROW(i) {
        const realv v = LOAD(r, i);
        realv w = v;
        if (k != 0)
            w = fma((realv)(k), LOAD(q, i), v);
        STORE(p, i, w);
        ADD(s, i, v * v);
    }
    FINISH_SUM(sum, s)
}
