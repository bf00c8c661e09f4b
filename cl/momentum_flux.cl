/* F_k <- base_k - phi (a_0k + b_0k) + theta |phi| (a_1k + b_1k) + nu (a_2k + b_2k), a_pk = plane p
   of A times u_k, b_pk = plane p of B times n_k; per block the sums of phi sum_k b_0k a_1k and
   |phi| sum_k (a_1k + b_1k) a_1k. One component after the other, for the sake of registers. */
#define PRODUCTS(m, x, s0, s1, s2)                       \
    EACH_ENTRY(e, m, i, {                                \
        const realv v = GATHER(x, e);                    \
        s0 = fma(VALUE(PASTE(m, 0), e), v, s0);           \
        s1 = fma(VALUE(PASTE(m, 1), e), v, s1);           \
        s2 = fma(VALUE(PASTE(m, 2), e), v, s2);           \
    })
#define COMPONENT(f, base, u, n)                                               \
    {                                                                          \
        realv p0 = (realv)(0), p1 = p0, q0 = p0, q1 = p0, d = p0;              \
        PRODUCTS(a, u, p0, p1, d)                                              \
        PRODUCTS(b, n, q0, q1, d)                                              \
        const realv j = p1 + q1;                                               \
        const realv c = fma(-flux, p0 + q0, REPEAT(base, i));                    \
        STORE(f, i, fma((realv)(nu), d, fma((realv)(theta) * size, j, c)));    \
        skew = fma(q0, p1, skew);                                              \
        jump = fma(j, p1, jump);                                               \
    }
__kernel void momentum_flux_kernel(
    __global REAL *f0, __global REAL *f1, __global REAL *f2, __global REAL *skew_sum,
    __global REAL *jump_sum, __global const REAL *phi, REPEATED(base0), REPEATED(base1),
    REPEATED(base2), __global const REAL *u0, __global const REAL *u1,
    __global const REAL *u2, __global const REAL *n0,
    __global const REAL *n1, __global const REAL *n2, MATRIX(a), __global const REAL *a0,
    __global const REAL *a1, __global const REAL *a2, MATRIX(b), __global const REAL *b0,
    __global const REAL *b1, __global const REAL *b2, const REAL theta, const REAL nu) {
    REDUCTION(s);
    REDUCTION(t);
    EACH_ROW(i) {
        const realv flux = LOAD(phi, i), size = fabs(flux);
        realv skew = (realv)(0), jump = skew;
        COMPONENT(f0, base0, u0, n0)
        COMPONENT(f1, base1, u1, n1)
        COMPONENT(f2, base2, u2, n2)
        ADD(s, i, flux * skew);
        ADD(t, i, size * jump);
    }
    FINISH_TWO_SUMS(skew_sum, s, jump_sum, t)
}
#undef COMPONENT
#undef PRODUCTS
