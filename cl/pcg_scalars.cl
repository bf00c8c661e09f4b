/* The scalars of an iteration: r . r of the step before, p . s and s . s of the product. One
   group. See src/kernel/pcg_scalars.rs, which does the same. */
ADDING_KERNEL void pcg_scalars_kernel(__global REAL *state, __global const REAL *rr,
                                 __global const REAL *ps, __global const REAL *ss,
                                 const uint blocks) {
    /* Read before the sums are there, which hides the time. */
    const REAL stop = state[PCG_STOP], weight = state[PCG_WEIGHT], bound = state[PCG_BOUND];
    const REAL iterations = state[PCG_ITERATIONS];
    TOTALS(rr, ps, ss, blocks)
    if (get_local_id(0) != 0)
        return;
    if (stop > 0) {
        state[PCG_STOP] = 2;
        return;
    }
    const REAL nu = SUM_OF(0), mu = SUM_OF(1), gamma = SUM_OF(2);
    const REAL alpha = DIVIDE(nu, mu);
    const REAL product = alpha * gamma;
    const REAL next = fma(alpha, product, -nu);
    state[PCG_ALPHA] = 0;
    state[PCG_STOP] = 2;
    if (!(mu > 0) || !(nu > 0) || !isfinite(alpha) || !isfinite(next))
        return;
    state[PCG_ALPHA] = alpha;
    state[PCG_BETA] = next > 0 ? DIVIDE(next, nu) : 0;
    state[PCG_NEXT] = next;
    state[PCG_ITERATIONS] = iterations + 1;
    state[PCG_STOP] = weight * next <= bound ? 1 : 0;
}
