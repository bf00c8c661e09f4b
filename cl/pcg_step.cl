/* y <- y + alpha p, of two steps at once; r <- r - alpha s; p <- r + beta p; sum <- r . r, one
   partial sum per block. The last one of a solve is done with PCG_STOP at 1; then only the sum is,
   for rows may since have gone to the other side, and what y may be owed.
   Rows come from the last to the first, for the last ones are those that the product before has read
   last: `couloir bench pcg --matrix grid:160`, 109 and 107 us an iteration on an H200, 105 and 104
   so; and with vectors loaded ONCE `tet:1600000 --order rcm` 60.3 and 61.3, 56.6 and 56.5.
   WAITING, its first groups compute the scalars, meanwhile the others load what they will need. */
#undef BACKWARD
#define BACKWARD 1
#if PAIRED && !WAITING
/* The rows of r take turns between two step lengths. See src/kernel/pcg_scalars.rs. */
#if VECTOR == 1
#define ROWS_OF_(i) ((uint)(i))
#define TO_REAL_ PASTE(convert_, REAL)
#else
__constant uint PLACE_[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#define ROWS_OF_(i) ((uint)(i) + PASTE(vload, VECTOR)(0, PLACE_))
#define TO_REAL_ PASTE(PASTE(convert_, REAL), VECTOR)
#endif
#define STEP_LENGTH_(i)                                                     \
    (TO_REAL_(PCG_STRIDE * ROWS_OF_(i) % PCG_PATTERN) + 0.5f < takers ? beside : alpha)
#elif !WAITING
#define STEP_LENGTH_(i) alpha
#endif
#undef EARLY_
#undef UNLESS_OVER_
#define EARLY_ (WAITING && ITEM == VECTOR)
#if EARLY_
#define UNLESS_OVER_(x) (x)
#else
#define UNLESS_OVER_(x) (over ? (realv)(0) : (x))
#endif
#define STEP_SCALARS_(told)                                                 \
    const bool over = (told).stop > 1, later = (told).later > 0, owes = (told).owed != 0; \
    const realv alpha = (realv)((told).alpha), beta = (realv)((told).beta); \
    const realv owed = (realv)((told).owed);                                \
    const realv beside = (realv)((told).beside), takers = (realv)((told).takers);
/* Rows i of y, r and p, of which v of r, q of p and w of s are there, and `old` of y where that is not
   left LATER; v of the new r. */
#define STEP_ROWS_(i, v, q, w, old)                                         \
    if (!over) {                                                            \
        if (!later)                                                         \
            STORE_ONCE(y, i, fma(alpha, q, fma(owed, q - v, old)));         \
        v = fma(-STEP_LENGTH_(i), w, v);                                    \
        STORE_ONCE(r, i, v);                                                \
        STORE(p, i, fma(beta, q, v));                                       \
    } else if (owes)                                                        \
        STORE_ONCE(y, i, fma(owed, LOAD(p, i) - v, old));
#if WAITING
__kernel void pcg_step_kernel(__global REAL *y, __global REAL *r, __global REAL *p,
                              __global REAL *sum, __global const REAL *s, __global REAL *state,
                              __global const REAL *rr, __global const REAL *ps,
                              __global const REAL *ss, __global REAL *room, const uint blocks,
                              const uint turn) {
    FIRST_LOCALS(Pcg_before_, Pcg_told_)
    if (IS_ADDER) {
        FIRST_SHARE(rr, ps, ss, blocks, room)
        if (IS_IDLE_FIRST)
            before_ = pcg_before_(state);
        FIRST_TOTALS(room)
        const Pcg_told_ told =
            pcg_scalars_(state, before_, FIRST_SUM(0), FIRST_SUM(1), FIRST_SUM(2));
        FIRST_DONE(room, turn, told)
        return;
    }
#if !EARLY_
    AWAIT_FIRST(room, turn)
    STEP_SCALARS_(told_)
#endif
#else
__kernel void pcg_step_kernel(__global REAL *y, __global REAL *r, __global REAL *p,
                              __global REAL *sum, __global const REAL *s,
                              __global const REAL *state) {
    const Pcg_told_ told = pcg_told_(state);
    STEP_SCALARS_(told)
#endif
    REDUCTION(t);
    EACH_ROW(i) {
        realv v = LOAD_ONCE(r, i);
        const realv q = UNLESS_OVER_(LOAD(p, i)), w = UNLESS_OVER_(LOAD_ONCE(s, i));
#if EARLY_
        AWAIT_FIRST(room, turn)
        STEP_SCALARS_(told_)
#endif
        STEP_ROWS_(i, v, q, w, LOAD_ONCE(y, i))
        ADD(t, i, v * v);
    }
    FINISH_SUM(sum, t)
}
