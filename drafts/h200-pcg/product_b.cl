/* both sums with one tree */
__kernel void pcg_product_kernel(__global REAL *s, __global REAL *ps, __global REAL *ss,
                                 __global const REAL *p, __global const REAL *x, MATRIX(a),
                                 __global const REAL *a_val, const REAL c,
                                 __global const REAL *state) {
    if (state[PCG_STOP] > 0) return;
    __local REAL u[2 * BLOCK];
    const size_t i = get_global_id(0);
    const uint l = get_local_id(0);
    const REAL q = p[i];
    REAL t = c * q;
    EACH_ENTRY(e, a, i) t = fma(VALUE(a_val, e), GATHER(x, e), t);
    s[i] = t;
    u[l] = q * t;
    u[BLOCK + l] = t * t;
    barrier(CLK_LOCAL_MEM_FENCE);
    REAL v = 0;
    const uint b = l / LANES * BLOCK + l % LANES;
    if (l < 2 * LANES) for (uint r = 0; r < BLOCK; r += LANES) v = v + u[b + r];
    if (l < 2 * LANES) u[b] = v;
    for (uint w = LANES / 2; w > 0; w /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < 2 * LANES && l % LANES < w) u[b] = u[b] + u[b + w];
    }
    if (l == 0) ps[get_group_id(0)] = u[0];
    if (l == LANES) ss[get_group_id(0)] = u[BLOCK];
}
