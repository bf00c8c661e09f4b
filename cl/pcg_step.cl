/* y <- y + alpha p, of two steps at once; r = p - kept old - alpha s; old <- r + beta p, the next direction;
   sum <- r . r of the r that this one has in it, one partial sum per block. The last one of a solve is done
   with PCG_STOP at 1; then only the sum is, for rows may since have gone to the other side, and what y may
   be owed.
   Without a vector for r, `couloir bench pcg --matrix M --device 1 --where device`, us an iteration on an
   H200: grid:100 19.4 -> 17.9, grid:160 79.3 -> 72.9, grid:256 320 -> 282, tet:1600000 --order rcm
   44.4 -> 43.2.
   Rows come from the last to the first, for the last ones are those that the product before has read
   last: grid:160, 109 and 107 us on an H200, 105 and 104 so; and with vectors loaded ONCE
   `tet:1600000 --order rcm` 60.3 and 61.3, 56.6 and 56.5. With p loaded so, too, which comes round as the
   old one: grid:160 73.2 -> 72.2, tet:1600000 43.5 -> 42.4, nodes:1000000 68.5 -> 67.8 and tet:6400000 154
   and 155, these two in RCM, too; but grid:256 282 -> 287.
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
    const realv owed = (realv)((told).owed), kept = (realv)((told).kept);   \
    const realv beside = (realv)((told).beside), takers = (realv)((told).takers);
/* Rows i, of which q of p, w of s and o of the direction before are there, and `last` of y where that is
   not left LATER; v of the new r. */
#define STEP_ROWS_(i, v, o, q, w, last)                                     \
    {                                                                       \
        v = fma(-kept, o, q);                                               \
        if (!over) {                                                        \
            if (!later)                                                     \
                STORE_ONCE(y, i, fma(alpha, q, fma(owed, o, last)));        \
            const realv d_ = fma(beta, q, fma(-STEP_LENGTH_(i), w, v));     \
            STORE(old, i, d_);                                              \
            v = fma(-beta, q, d_);                                          \
        } else if (owes)                                                    \
            STORE_ONCE(y, i, fma(owed, o, last));                           \
    }
#if WAITING
__kernel void pcg_step_kernel(__global REAL *y, __global REAL *old, __global REAL *sum,
                              __global const REAL *p, __global const REAL *s, __global REAL *state,
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
__kernel void pcg_step_kernel(__global REAL *y, __global REAL *old, __global REAL *sum,
                              __global const REAL *p, __global const REAL *s,
                              __global const REAL *state) {
    const Pcg_told_ told = pcg_told_(state);
    STEP_SCALARS_(told)
#endif
    REDUCTION(t);
    EACH_ROW(i) {
        const realv o = LOAD_ONCE(old, i), q = LOAD_ONCE(p, i), w = UNLESS_OVER_(LOAD_ONCE(s, i));
#if EARLY_
        AWAIT_FIRST(room, turn)
        STEP_SCALARS_(told_)
#endif
        realv v;
        STEP_ROWS_(i, v, o, q, w, LOAD_ONCE(y, i))
        ADD(t, i, v * v);
    }
    FINISH_SUM(sum, t)
}
