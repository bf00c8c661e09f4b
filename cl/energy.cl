/* sum <- w (a0 b0 + a1 b1 + a2 b2), one partial sum per block */
__kernel void energy_kernel(__global REAL *sum, __global const REAL *a0,
                            __global const REAL *a1, __global const REAL *a2,
                            __global const REAL *b0, __global const REAL *b1,
                            __global const REAL *b2, REPEATED(w)) {
    REDUCTION(s);
    EACH_ROW(i) {
        const realv t = fma(LOAD(a1, i), LOAD(b1, i), LOAD(a0, i) * LOAD(b0, i));
        ADD(s, i, REPEAT(w, i) * fma(LOAD(a2, i), LOAD(b2, i), t));
    }
    FINISH_SUM(sum, s)
}
