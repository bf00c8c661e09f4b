/* The scalars of an iteration: r . r of the step before, p . s and s . s of the product. See
   src/kernel/pcg_scalars.rs, which does the same. */
ADDING_KERNEL void pcg_scalars_kernel(__global REAL *state, __global const REAL *rr,
                                 __global const REAL *ps, __global const REAL *ss,
                                 const uint blocks, const uint rests) {
    /* Read before the sums are there, which hides the time. */
    const REAL stop = state[PCG_STOP], weight = state[PCG_WEIGHT], bound = state[PCG_BOUND];
    const REAL iterations = state[PCG_ITERATIONS], put_off = state[PCG_PUT_OFF];
    const REAL owed = state[PCG_LATER] > 0 ? DIVIDE(state[PCG_ALPHA], state[PCG_BETA]) : 0;
    TOTALS(rr, ps, ss, blocks, rests)
    if (stop > 0) {
        state[PCG_STOP] = 2;
        state[PCG_OWED] = 0;
        return;
    }
    state[PCG_OWED] = owed;
    state[PCG_LATER] = 0;
    const Total nus = SUM_OF(0), mus = SUM_OF(1), gammas = SUM_OF(2);
    const REAL nu = VALUE_OF(nus), mu = VALUE_OF(mus);
#if PAIRED
    const Total alphas = OVER(nus, mus), ratio = OVER(gammas, mus);
    const REAL alpha = alphas.value;
    const REAL left = fma(alpha, ratio.rest, alphas.rest * ratio.value);
    const REAL beta = fma(alpha, ratio.value, (REAL)-1) + left, next = beta * nu;
#else
    const REAL alpha = DIVIDE(nu, mu);
    const REAL product = alpha * gammas;
    const REAL next = fma(alpha, product, -nu), beta = DIVIDE(next, nu);
#endif
    state[PCG_ALPHA] = 0;
    state[PCG_STOP] = 2;
    if (!(mu > 0) || !(nu > 0) || !isfinite(alpha) || !isfinite(next))
        return;
    state[PCG_ALPHA] = alpha;
#if PAIRED
    const REAL part = 0.75f * FLT_EPSILON;
    const REAL beside = fma(alphas.rest < 0 ? -part : part, alpha, alpha);
    state[PCG_BESIDE] = beside;
    state[PCG_TAKERS] = DIVIDE(PCG_PATTERN * alphas.rest, beside - alpha);
#endif
    state[PCG_BETA] = next > 0 ? beta : 0;
    state[PCG_NEXT] = next;
    state[PCG_ITERATIONS] = iterations + 1;
    const bool last = weight * next <= bound;
    state[PCG_STOP] = last ? 1 : 0;
    if (!last && owed == 0 && beta >= PCG_LEAST_BETA) {
        state[PCG_LATER] = 1;
        state[PCG_PUT_OFF] = put_off + 1;
    }
}
