__kernel void pcg_product_kernel(__global REAL *s, __global REAL *ps, __global REAL *ss,
                                 __global const REAL *p, __global const REAL *x, MATRIX(a),
                                 __global const REAL *a_val, const REAL c,
                                 __global const REAL *state) {
    if (state[PCG_STOP] > 0) return;
    const size_t i = get_global_id(0);
    const REAL q = p[i];
    REAL t = c * q;
    EACH_ENTRY(e, a, i) t = fma(VALUE(a_val, e), GATHER(x, e), t);
    s[i] = t;
}
