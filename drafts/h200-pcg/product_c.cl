__kernel void pcg_product_kernel(__global REAL *s, __global REAL *ps, __global REAL *ss,
                                 __global const REAL *p, __global const REAL *x, MATRIX(a),
                                 __global const REAL *a_val, const REAL c,
                                 __global const REAL *state) {
    if (state[PCG_STOP] > 0) return;
    __local REAL lanes_[256 * 2];
    const uint l = get_local_id(0) % 32;
    __local REAL *u = lanes_ + get_local_id(0) / 32 * 64, *v = u + 32;
    REAL su = 0, sv = 0;
    const size_t first = get_global_id(0) / 32 * BLOCK + l;
    for (size_t i = first; i < first + BLOCK; i += 32) {
    const REAL q = p[i];
    REAL t = c * q;
    EACH_ENTRY(e, a, i) t = fma(VALUE(a_val, e), GATHER(x, e), t);
    s[i] = t;
    su = su + q * t; sv = sv + t * t;
    }
    u[l] = su; v[l] = sv;
    for (uint w = 16; w > 0; w /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < w) { u[l] = u[l] + u[l + w]; v[l] = v[l] + v[l + w]; }
    }
    if (l == 0) { ps[get_global_id(0) / 32] = u[0]; ss[get_global_id(0) / 32] = v[0]; }
}
