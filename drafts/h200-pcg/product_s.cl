inline double shfl_(double v, uint d) {
    uint lo, hi, lo2, hi2;
    asm volatile("mov.b64 {%0,%1}, %2;" : "=r"(lo), "=r"(hi) : "d"(v));
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(lo2) : "r"(lo), "r"(d));
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(hi2) : "r"(hi), "r"(d));
    double o;
    asm volatile("mov.b64 %0, {%1,%2};" : "=d"(o) : "r"(lo2), "r"(hi2));
    return o;
}
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
    if (l >= 2 * LANES) return;
    REAL v = 0;
    const uint b = l / LANES * BLOCK + l % LANES;
    for (uint r = 0; r < BLOCK; r += LANES) v = v + u[b + r];
    for (uint w = LANES / 2; w > 0; w /= 2) v = v + shfl_(v, w);
    if (l == 0) ps[get_group_id(0)] = v;
    if (l == LANES) ss[get_group_id(0)] = v;
}
