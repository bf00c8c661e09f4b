/* With what a solve begins, from the totals of a question, value and rest of each: |b|^2 and what is summed
   for the mean of b, |b - A x|^2 and what round-off in that is counted by, and r . r; behind these the third
   and the last where it has gone `along` other steps. One work-item. See src/kernel/pcg_first.rs. */
#define GIVEN_                                                              \
    const REAL tolerance, const REAL floor_, const REAL mean, const REAL least, \
        const REAL round_off, const REAL farthest, const REAL origin, const REAL along
INLINE_ void pcg_first_(__global REAL *state, __local const REAL *totals, GIVEN_) {
    const REAL bb = totals[0], sum = totals[2];
    const REAL rr = totals[along > 0 ? 10 : 4], now = totals[along > 0 ? 12 : 8];
    const REAL rounded = round_off * totals[6];
    const REAL norm = fmax(tolerance * sqrt(bb), floor_), bound = norm * norm;
    const bool stays = mean < 0 || sum * sum <= mean * bb;
    const bool grows = bound < least && bb > 0;
    const bool goes = isfinite(rr) && !(sqrt(rr) <= norm) && !(rr <= rounded) && stays && !grows;
    for (uint k = 0; k < PCG_LENGTH; ++k)
        state[k] = 0;
    state[PCG_STOP] = goes ? 0 : 2;
    state[PCG_ALPHA] = goes ? 0 : -1;
    state[PCG_WEIGHT] = DIVIDE(rr, now);
    state[PCG_BOUND] = fmax(fmax(bound, rounded), farthest * rr);
    state[PCG_ORIGIN] = origin;
}
#define VALUES_ tolerance, floor_, mean, least, round_off, farthest, origin, along
RULE_KERNELS(pcg_first, GIVEN_, VALUES_)
#undef VALUES_
#undef GIVEN_
