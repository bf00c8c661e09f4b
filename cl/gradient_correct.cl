/* g_k <- base_k + A_k p + B_k q; u_k <- s_k - dt g_k; sums of w |u|^2 and largest |u|^2, one of each
   per block */
__kernel void gradient_correct_kernel(
    __global REAL *u0, __global REAL *u1, __global REAL *u2, __global REAL *g0,
    __global REAL *g1, __global REAL *g2, __global REAL *sum, __global REAL *largest,
    __global const REAL *s0, __global const REAL *s1, __global const REAL *s2,
    REPEATED(base0), REPEATED(base1), REPEATED(base2), REPEATED(w),
    __global const REAL *p, __global const REAL *q, MATRIX(a),
    __global const REAL *a0, __global const REAL *a1, __global const REAL *a2, MATRIX(b),
    __global const REAL *b0, __global const REAL *b1, __global const REAL *b2, const REAL dt) {
    REDUCTION(s);
    REDUCTION(m);
    EACH_ROW(i) {
        const realv v0 = LOAD(s0, i), v1 = LOAD(s1, i), v2 = LOAD(s2, i);
        realv t0 = REPEAT(base0, i), t1 = REPEAT(base1, i), t2 = REPEAT(base2, i);
        EACH_ENTRY(e, a, i, {
            const realv x = GATHER(p, e);
            t0 = fma(VALUE(a0, e), x, t0);
            t1 = fma(VALUE(a1, e), x, t1);
            t2 = fma(VALUE(a2, e), x, t2);
        })
        EACH_ENTRY(e, b, i, {
            const realv x = GATHER(q, e);
            t0 = fma(VALUE(b0, e), x, t0);
            t1 = fma(VALUE(b1, e), x, t1);
            t2 = fma(VALUE(b2, e), x, t2);
        })
        STORE(g0, i, t0);
        STORE(g1, i, t1);
        STORE(g2, i, t2);
        t0 = fma((realv)(-dt), t0, v0);
        t1 = fma((realv)(-dt), t1, v1);
        t2 = fma((realv)(-dt), t2, v2);
        STORE(u0, i, t0);
        STORE(u1, i, t1);
        STORE(u2, i, t2);
        t0 = fma(t0, t0, fma(t1, t1, t2 * t2));
        ADD(s, i, REPEAT(w, i) * t0);
        MAXIMUM(m, i, t0);
    }
    FINISH_SUM_AND_MAXIMUM(sum, s, largest, m)
}
