/* g_k <- base_k + A_k p + B_k q; u_k <- s_k - dt g_k; per block sum of w |u|^2, largest |u|^2, and what
   monitor.cl finds, with z for its w: first, and by a loop of its own, so that a work-item of many rows has
   the lanes of its sums in registers. `couloir run` of a box of 100^3 on an H200, by events, medians: 48 and
   49 us; after the others 57, between them and their stores 57; by two kernels 35 and 23. */
__kernel void gradient_correct_kernel(
    __global REAL *u0, __global REAL *u1, __global REAL *u2, __global REAL *g0,
    __global REAL *g1, __global REAL *g2, __global REAL *sum, __global REAL *largest,
    __global REAL *rate_sum, __global REAL *rate_max, __global REAL *net_sum, __global REAL *div_max,
    __global const REAL *s0, __global const REAL *s1, __global const REAL *s2,
    REPEATED(base0), REPEATED(base1), REPEATED(base2), REPEATED(w), REPEATED(z),
    __global const REAL *p, __global const REAL *q, __global const REAL *phi, MATRIX(a),
    __global const REAL *a0, __global const REAL *a1, __global const REAL *a2, MATRIX(b),
    __global const REAL *b0, __global const REAL *b1, __global const REAL *b2, MATRIX(m),
    __global const REAL *m0, const REAL dt) {
    REDUCTION(s);
    REDUCTION(l);
    REDUCTION(rs);
    REDUCTION(rl);
    REDUCTION(ns);
    REDUCTION(dl);
    EACH_ROW(i) {
        realv through = (realv)(0), net = (realv)(0);
        EACH_ENTRY(e, m, i, {
            const realv x = GATHER(phi, e);
            const realv sign = VALUE(m0, e);
            through = fma(fabs(sign), fabs(x), through);
            net = fma(sign, x, net);
        })
        const realv c = REPEAT(z, i), rate = c * ((realv)(0.5f) * through);
        net = fabs(net);
        ADD(rs, i, rate);
        MAXIMUM(rl, i, rate);
        ADD(ns, i, net);
        MAXIMUM(dl, i, c * net);
    }
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
        MAXIMUM(l, i, t0);
    }
    FINISH_THREE_SUMS_AND_MAXIMA(sum, s, largest, l, rate_sum, rs, rate_max, rl, net_sum, ns, div_max,
                                 dl)
}
