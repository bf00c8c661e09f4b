/* With what a solve begins, from the totals of a question, value and rest of each: |b|^2 and what is summed
   for the mean of b, |b - A x|^2 and what round-off in that is counted by, and r . r; of these the third and
   the last alone where the host has `told` the others. One work-item. See src/kernel/pcg_first.rs. */
__kernel void pcg_first_kernel(__global REAL *state, __global const REAL *totals, const REAL tolerance,
                               const REAL floor_, const REAL mean, const REAL least,
                               const REAL round_off, const REAL farthest, const REAL origin,
                               const REAL told, const REAL told_bb, const REAL told_sum,
                               const REAL told_counted) {
    const bool all = !(told > 0);
    const REAL bb = all ? totals[0] : told_bb, sum = all ? totals[2] : told_sum;
    const REAL rr = totals[all ? 4 : 0], now = totals[all ? 8 : 2];
    const REAL rounded = round_off * (all ? totals[6] : told_counted);
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
