/* s_k <- u_k + c1 r_k + c0 o_k; v_k <- s_k - dt g_k */
__kernel void predict_kernel(__global REAL *s0, __global REAL *s1, __global REAL *s2,
                             __global REAL *v0, __global REAL *v1, __global REAL *v2,
                             __global const REAL *u0, __global const REAL *u1,
                             __global const REAL *u2, __global const REAL *r0,
                             __global const REAL *r1, __global const REAL *r2,
                             __global const REAL *o0, __global const REAL *o1,
                             __global const REAL *o2, __global const REAL *g0,
                             __global const REAL *g1, __global const REAL *g2, const REAL c1,
                             const REAL c0, const REAL dt) {
    EACH_ROW(i) {
#define COMPONENT(s, v, u, r, o, g)                                                         \
    {                                                                                       \
        const realv t = fma((realv)(c0), LOAD(o, i), fma((realv)(c1), LOAD(r, i), LOAD(u, i))); \
        STORE(s, i, t);                                                                     \
        STORE(v, i, fma((realv)(-dt), LOAD(g, i), t));                                      \
    }
        COMPONENT(s0, v0, u0, r0, o0, g0)
        COMPONENT(s1, v1, u1, r1, o1, g1)
        COMPONENT(s2, v2, u2, r2, o2, g2)
#undef COMPONENT
    }
}
