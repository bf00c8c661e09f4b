/* a warp has a block */
__kernel void pcg_step_kernel(__global REAL *y, __global REAL *r, __global REAL *p,
                              __global REAL *sum, __global const REAL *s,
                              __global const REAL *state) {
    const bool over = state[PCG_STOP] > 1;
    const REAL alpha = state[PCG_ALPHA], beta = state[PCG_BETA];
    __local REAL lanes_[BLOCK];
    const uint l = get_local_id(0);
    const size_t i = get_global_id(0);
        REAL v = r[i];
        if (!over) {
            const REAL q = p[i];
            v = fma(-alpha, s[i], v);
            y[i] = fma(alpha, q, y[i]);
            r[i] = v;
            p[i] = fma(beta, q, v);
        }
    lanes_[l] = v * v;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < LANES) {
    REAL t = 0;
    for (uint k = 0; k < BLOCK; k += LANES) t = t + lanes_[l + k];
    lanes_[l] = t;
    }
    for (uint w = LANES / 2; w > 0; w /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < w) lanes_[l] = lanes_[l] + lanes_[l + w];
    }
    if (l == 0) sum[get_group_id(0)] = lanes_[0];
}
