#ifndef U
#define U 4
#endif
__kernel void pcg_product_kernel(__global REAL *s, __global REAL *ps, __global REAL *ss,
                                 __global const REAL *p, __global const REAL *x, MATRIX(a),
                                 __global const REAL *a_val, const REAL c,
                                 __global const REAL *state) {
    if (state[PCG_STOP] > 0) return;
    __local REAL u[2 * BLOCK];
    __local uint2 st_[BLOCK];
    __local REAL vl_[BLOCK];
    const size_t i = get_global_id(0);
    const uint l = get_local_id(0), lane = l % 32, w0 = l / 32 * 32;
    const uint4 at = a_slices[i / 32];
    const REAL q = p[i];
    const uint affine = at.s2 & 0xff, end = affine + ((at.s2 >> 8) & 0xff);
    if (lane < end) {
        st_[l] = *(__global const uint2 *)(a_index + at.s1 + 2 * lane);
        if (lane >= affine) vl_[l] = a_val[at.s0 + 31 * affine + lane];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    REAL t = c * q;
    const uint first = (uint)i - lane;
    _Pragma("unroll 1") for (uint k = 0; k < end; k += U) {
        uint col[U]; bool has[U]; REAL v[U], g[U];
        UNROLL_ for (uint j = 0; j < U; ++j) {
            const uint kk = min(k + j, end - 1);
            const uint2 d = st_[w0 + kk];
            has[j] = k + j < end && (d.s0 >> lane & 1);
            col[j] = has[j] ? first + lane + d.s1 : 0;
            g[j] = x[col[j]];
            v[j] = kk < affine ? a_val[at.s0 + 32 * kk + lane] : vl_[w0 + kk];
        }
        UNROLL_ for (uint j = 0; j < U; ++j) t = fma(has[j] ? v[j] : (REAL)(-0.0f), has[j] ? g[j] : 0, t);
    }
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
