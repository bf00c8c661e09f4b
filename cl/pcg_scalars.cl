/* The scalars of an iteration: r . r of the step before, p . s and s . s of the product. See
   src/kernel/pcg_scalars.rs, which does the same. */
/* What is read before the sums are there, which hides the time: volatile, for a compiler may put it off. */
typedef struct {
    REAL stop, weight, bound, iterations, put_off, owed, kept;
} Pcg_before_;
INLINE_ Pcg_before_ pcg_before_(volatile __global const REAL *state) {
    Pcg_before_ b;
    b.stop = state[PCG_STOP];
    b.weight = state[PCG_WEIGHT];
    b.bound = state[PCG_BOUND];
    b.iterations = state[PCG_ITERATIONS];
    b.put_off = state[PCG_PUT_OFF];
    b.owed = state[PCG_LATER] > 0 ? state[PCG_ALPHA] : 0;
    b.kept = state[PCG_BETA];
    return b;
}
/* What a step needs of them. */
typedef struct {
    REAL alpha, beta, stop, later, owed, kept, beside, takers;
} Pcg_told_;
INLINE_ Pcg_told_ pcg_told_(__global const REAL *state) {
    Pcg_told_ t;
    t.alpha = state[PCG_ALPHA];
    t.beta = state[PCG_BETA];
    t.stop = state[PCG_STOP];
    t.later = state[PCG_LATER];
    t.owed = state[PCG_OWED];
    t.kept = state[PCG_KEPT];
    t.beside = state[PCG_BESIDE];
    t.takers = state[PCG_TAKERS];
    return t;
}
/* The state that follows, in memory; what a step needs of it is returned, too. */
INLINE_ Pcg_told_ pcg_scalars_(__global REAL *state, Pcg_before_ b, Total nus, Total mus,
                               Total gammas) {
    Pcg_told_ t = {0, 0, 2, 0, 0, b.kept, 0, 0};
    state[PCG_STOP] = 2;
    state[PCG_KEPT] = b.kept;
    if (b.stop > 0) {
        state[PCG_OWED] = 0;
        return t;
    }
    state[PCG_OWED] = t.owed = b.owed;
    state[PCG_LATER] = 0;
    const REAL nu = VALUE_OF(nus), mu = VALUE_OF(mus);
#if PAIRED
    const Total alphas = OVER(nus, mus), ratio = OVER(gammas, mus);
    const REAL alpha = VALUE_OF(alphas);
    const REAL left = fma(alpha, REST_OF(ratio), REST_OF(alphas) * VALUE_OF(ratio));
    const REAL beta = fma(alpha, VALUE_OF(ratio), (REAL)-1) + left, next = beta * nu;
#else
    const REAL alpha = DIVIDE(nu, mu);
    const REAL product = alpha * gammas;
    const REAL next = fma(alpha, product, -nu), beta = DIVIDE(next, nu);
#endif
    state[PCG_ALPHA] = 0;
    if (!(mu > 0) || !(nu > 0) || !isfinite(alpha) || !isfinite(next))
        return t;
    state[PCG_ALPHA] = t.alpha = alpha;
#if PAIRED
    const REAL part = 0.75f * FLT_EPSILON;
    state[PCG_BESIDE] = t.beside = fma(REST_OF(alphas) < 0 ? -part : part, alpha, alpha);
    state[PCG_TAKERS] = t.takers = DIVIDE(PCG_PATTERN * REST_OF(alphas), t.beside - alpha);
#endif
    state[PCG_BETA] = t.beta = next > 0 ? beta : 0;
    state[PCG_NEXT] = next;
    state[PCG_ITERATIONS] = b.iterations + 1;
    const bool last = b.weight * next <= b.bound;
    state[PCG_STOP] = t.stop = last ? 1 : 0;
    if (!last && b.owed == 0 && t.beta > 0) {
        state[PCG_LATER] = t.later = 1;
        state[PCG_PUT_OFF] = b.put_off + 1;
    }
    return t;
}
ADDING_KERNEL void pcg_scalars_kernel(__global REAL *state, __global const REAL *rr,
                                 __global const REAL *ps, __global const REAL *ss,
                                 const uint blocks, const uint rests) {
    const Pcg_before_ before = pcg_before_(state);
    TOTALS(rr, ps, ss, blocks, rests)
    pcg_scalars_(state, before, SUM_OF(0), SUM_OF(1), SUM_OF(2));
}
/* A state that the host gives: a launch holds the queue up for less time than a copy. */
#define PCG_GIVEN                                                           \
    const REAL v0, const REAL v1, const REAL v2, const REAL v3, const REAL v4, const REAL v5, \
        const REAL v6, const REAL v7, const REAL v8, const REAL v9, const REAL v10, \
        const REAL v11, const REAL v12, const REAL v13
#define PCG_TAKE_GIVEN(state)                                               \
    {                                                                       \
        const REAL v_[PCG_LENGTH] = {v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13}; \
        for (uint k_ = 0; k_ < PCG_LENGTH; ++k_)                            \
            (state)[k_] = v_[k_];                                           \
    }
__kernel void pcg_state_kernel(__global REAL *state, PCG_GIVEN) { PCG_TAKE_GIVEN(state) }
