inline double shfl_(double v, uint d) {
    uint lo, hi, lo2, hi2;
    asm volatile("mov.b64 {%0,%1}, %2;" : "=r"(lo), "=r"(hi) : "d"(v));
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(lo2) : "r"(lo), "r"(d));
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(hi2) : "r"(hi), "r"(d));
    double o;
    asm volatile("mov.b64 %0, {%1,%2};" : "=d"(o) : "r"(lo2), "r"(hi2));
    return o;
}

#ifndef U
#define U 2
#endif
__kernel void pcg_product_kernel(__global REAL * restrict s, __global REAL *ps, __global REAL *ss,
                                 __global const REAL *p, __global const REAL * restrict x, __global const uint4 * restrict a_slices, __global const uint * restrict a_index,
                                 __global const REAL * restrict a_val, const REAL c,
                                 __global const REAL *state) {
    if (state[PCG_STOP] > 0) return;
    const uint lane = get_local_id(0) % 32;
    REAL su = 0, sv = 0;
    const uint first = (uint)(get_global_id(0) / 32) * BLOCK;
    uint4 at = a_slices[first / 32];
    REAL q = x[first + lane];
    _Pragma("unroll 1") for (uint f = first; f < first + BLOCK; f += 32) {
        const uint nf = f + 32 < first + BLOCK ? f + 32 : f;
        const uint4 next = a_slices[nf / 32];
        const REAL nq = x[nf + lane];
        const uint affine = at.s2 & 0xff, end = affine + ((at.s2 >> 8) & 0xff);
        __global const uint2 *steps = (__global const uint2 *)(a_index + at.s1);
        REAL t = c * q;
        _Pragma("unroll 1") for (uint k = 0; k < end; k += U) {
            REAL v[U], g[U];
            UNROLL_ for (uint j = 0; j < U; ++j) {
                const uint kk = min(k + j, end - 1);
                const uint2 d = steps[kk];
                const bool has = k + j < end && (d.s0 >> lane & 1);
                g[j] = x[has ? f + lane + d.s1 : 0];
                g[j] = has ? g[j] : 0;
                v[j] = a_val[at.s0 + (kk < affine ? 32 * kk + lane : 31 * affine + kk)];
                v[j] = has ? v[j] : (REAL)(-0.0f);
            }
            UNROLL_ for (uint j = 0; j < U; ++j) t = fma(v[j], g[j], t);
        }
        s[f + lane] = t;
        su = su + q * t; sv = sv + t * t;
        at = next; q = nq;
    }
    for (uint w = LANES / 2; w > 0; w /= 2) { su = su + shfl_(su, w); sv = sv + shfl_(sv, w); }
    if (lane == 0) { ps[get_global_id(0) / 32] = su; ss[get_global_id(0) / 32] = sv; }
}
