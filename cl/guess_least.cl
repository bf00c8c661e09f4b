/* How much of each of three steps a solve begins with, from the totals of a question: value and rest
   of each of three products of the newest step, where there is a new one, then t . d_k, |b|^2 and the
   sum of b, |t|^2. One work-item. See src/kernel/guess_least.rs, which does the same, and says what is
   the largest coefficient. */
#define STEPS_ 3
INLINE_ void along_(const REAL g[STEPS_][STEPS_], const REAL sums[STEPS_], const REAL parallel,
                    const int steps, REAL c[STEPS_]) {
    REAL l[STEPS_][STEPS_], z[STEPS_];
    for (int i = 0; i < STEPS_; ++i) {
        c[i] = z[i] = 0;
        for (int j = 0; j < STEPS_; ++j)
            l[i][j] = 0;
    }
    for (int i = 0; i < steps; ++i) {
        for (int j = 0; j < i; ++j)
            if (l[j][j] > 0) {
                REAL below = 0;
                for (int k = 0; k < j; ++k)
                    below = fma(l[i][k], l[j][k], below);
                l[i][j] = DIVIDE(g[i][j] - below, l[j][j]);
            }
        REAL own = 0, before = 0;
        for (int k = 0; k < i; ++k) {
            own = fma(l[i][k], l[i][k], own);
            before = fma(l[i][k], z[k], before);
        }
        const REAL left = g[i][i] - own;
        if (left > parallel * g[i][i] && g[i][i] > 0) {
            l[i][i] = sqrt(left);
            z[i] = DIVIDE(sums[i] - before, l[i][i]);
        }
    }
    for (int i = steps - 1; i >= 0; --i)
        if (l[i][i] > 0) {
            REAL after = 0;
            for (int k = i + 1; k < steps; ++k)
                after = fma(l[k][i], c[k], after);
            c[i] = DIVIDE(z[i] - after, l[i][i]);
        }
}
#define GIVEN_                                                              \
    const REAL g00, const REAL g01, const REAL g02, const REAL g11, const REAL g12, \
        const REAL g22, const REAL is_new, const REAL tolerance, const REAL floor_, \
        const REAL parallel
INLINE_ void guess_least_(__global REAL *state, __local const REAL *totals, GIVEN_) {
    REAL g[STEPS_][STEPS_] = {{g00, g01, g02}, {g01, g11, g12}, {g02, g12, g22}};
    if (is_new > 0) {
        g[2][2] = g11;
        g[1][2] = g[2][1] = g01;
        g[1][1] = g00;
        for (int k = 0; k < STEPS_; ++k)
            g[0][k] = g[k][0] = totals[2 * k];
        totals += 2 * STEPS_;
    }
    REAL sums[STEPS_], c[STEPS_] = {0, 0, 0};
    bool adds = true;
    for (int k = 0; k < STEPS_; ++k) {
        sums[k] = totals[2 * k];
        for (int j = 0; j < STEPS_; ++j)
            adds = adds && isfinite(g[k][j]);
    }
    const REAL bb = totals[2 * STEPS_], tt = totals[2 * (STEPS_ + 2)];
    const REAL least = fmax(tolerance * sqrt(bb), floor_);
    adds = adds && tt > least * least;
    bool fits = false;
    for (int steps = STEPS_; adds && !fits && steps > 0; --steps) {
        along_(g, sums, parallel, steps, c);
        fits = true;
        for (int k = 0; k < STEPS_; ++k)
            fits = fits && fabs(c[k]) <= 8;
    }
    for (int k = 0; k < STEPS_; ++k)
        state[k] = fits ? c[k] : 0;
    state[STEPS_] = adds ? 1 : 0;
}
#define VALUES_ g00, g01, g02, g11, g12, g22, is_new, tolerance, floor_, parallel
RULE_KERNELS(guess_least, GIVEN_, VALUES_)
#undef VALUES_
#undef GIVEN_
#undef STEPS_
