/* sums of w |u|^2 and largest |u|^2, one of each per block */
__kernel void kinetic_kernel(__global REAL *sum, __global REAL *largest,
                             __global const REAL *u0, __global const REAL *u1,
                             __global const REAL *u2, REPEATED(w)) {
    REDUCTION(s);
    REDUCTION(m);
    EACH_ROW(i) {
        const realv a = LOAD(u0, i), b = LOAD(u1, i), c = LOAD(u2, i);
        const realv q = fma(a, a, fma(b, b, c * c));
        ADD(s, i, REPEAT(w, i) * q);
        MAXIMUM(m, i, q);
    }
    FINISH_SUM_AND_MAXIMUM(sum, s, largest, m)
}
