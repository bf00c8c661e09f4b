/* Rows i of s; what they add to p . s goes to u, to s . s to v. */
#define PRODUCT_ROWS_(i, x, u, v)                                                                 \
    EACH_ROW(i) {                                                                                 \
        const realv q = LOAD(p, i);                                                               \
        realv t = (realv)(c) * q;                                                                 \
        EACH_ENTRY_OF(e, a, x, i, t = fma(VALUE(a_val, e), GATHER(x, e), t))                      \
        STORE(s, i, t);                                                                           \
        ADD(u, i, q * t);                                                                         \
        ADD(v, i, t * t);                                                                         \
    }
/* s <- c p + A x; sums of p . s and s . s. Nothing once the solve has stopped. */
__kernel void pcg_product_kernel(__global REAL *s, __global REAL *ps, __global REAL *ss,
                                 __global const REAL *p, __global const REAL *x, MATRIX(a),
                                 ONE_PLANE(a), const REAL c,
                                 __global const REAL *state) {
    if (state[PCG_STOP] > 0)
        return;
    REDUCTION(u);
    REDUCTION(v);
    PRODUCT_ROWS_(i, x, u, v)
    FINISH_TWO_SUMS(ps, u, ss, v)
}
