/* sums of t . d0, t . d1 and t . d2, one partial sum of each per block */
__kernel void guess_sums_kernel(__global REAL *s0, __global REAL *s1, __global REAL *s2,
                                __global const REAL *t, __global const REAL *d0,
                                __global const REAL *d1, __global const REAL *d2) {
    REDUCTION(u);
    REDUCTION(v);
    REDUCTION(w);
    EACH_ROW(i) {
        const realv q = LOAD(t, i);
        ADD(u, i, q * LOAD(d0, i));
        ADD(v, i, q * LOAD(d1, i));
        ADD(w, i, q * LOAD(d2, i));
    }
    FINISH_THREE_SUMS(s0, u, s1, v, s2, w)
}
