/* A leg of iterations by one launch: products and steps by no more groups than the device runs at once, which
   wait for each other. A row is the same work-item's in both, so that what groups have for others is the
   partial sums, the scalars and p alone. See src/split/leg.rs.

   A sum is there when its place no longer holds NOTHING_, bits that no sum has: then it need not be
   announced. The last groups, whose blocks are fewer, add up; lanes 4 apart are one's, so that little is
   left. What all groups wait for is told at LEG_PLACES places, for the second cache answers one after the
   other those who ask at the same; so they need no pause between two questions. `couloir bench pcg --matrix
   M --device 1 --where device`, us an iteration on an H200: grid:64, most of whose time is waiting, 9.89 ->
   9.30 by places, then 9.25 -> 8.78 without pauses, grid:100 17.6 -> 17.2. Fences of acq_rel, a count that
   all ask for, and lanes added up by shuffles gain nothing, or lose.

   The room, by lines of 32 words: how many have met; whether a group has waited too long, so that all give
   up; sums of a quarter of the lanes, four of each of three; then a line of each place for the phase, and
   two, in turns, for what a step needs. */
#undef BACKWARD
#define BACKWARD 2
#undef LOAD_ONCE
#define LOAD_ONCE LOAD_ANEW
#define LINE_(n) ((volatile __global uint *)room + 32 * (n))
#define MET_ LINE_(0)
#define STUCK_ (*LINE_(1))
#define QUARTERS_ ((volatile __global BITS_ *)LINE_(2))
#define PHASE_(place) (*LINE_(3 + (place)))
#define TOLD_(place, turn) ((volatile __global BITS_ *)LINE_(3 + LEG_PLACES * (1 + (turn) % 2) + (place)))
#define TOLD_WORDS_ (sizeof(Pcg_told_) / sizeof(BITS_))
#ifdef __NV_CL_C_VERSION
#define FENCE_ asm volatile("membar.gl;" : : : "memory")
#define SEEN_ asm volatile("" : : : "memory")
/* A fence waits until all others see what was stored before it; so who is counted has been seen, and who counts
   the last need not wait once more (grid:100 17.2 -> 16.9 us on an H200). */
#define COUNTED_
#else
#define FENCE_ mem_fence(CLK_GLOBAL_MEM_FENCE)
#define SEEN_ mem_fence(CLK_GLOBAL_MEM_FENCE)
#define COUNTED_ FENCE_
#endif
#define LEG_ADDERS_ 12
#define AT_ONCE_ 4 /* parts that are asked for */
#define QUARTER_WORDS_ (sizeof(Total) / sizeof(BITS_))
/* Once more in vain; false when it has been too often. */
INLINE_ bool asks_(__global REAL *room, uint *left) {
    if (--*left % 256 == 0 && (STUCK_ || !*left))
        STUCK_ = 1, *left = 0;
    return *left;
}
/* What comes to that place, where v was found. */
INLINE_ BITS_ what_comes_(__global REAL *room, volatile __global const BITS_ *place, BITS_ v,
                          uint *left) {
    while (v == NOTHING_ && *left && asks_(room, left))
        v = *place;
    return v;
}
/* This work-item's lane of a quarter of them, of so many parts; nothing is left where they `go`. */
INLINE_ Total lane_(__global REAL *room, volatile __global BITS_ *parts, uint blocks, uint quarter,
                    bool go, uint *left) {
    Total sum = BEGIN_(room, 0, 0);
    uint b = quarter + TOTAL_LANES / BLOCK * get_local_id(0);
    for (; b < blocks; b += AT_ONCE_ * TOTAL_LANES) {
        BITS_ v[AT_ONCE_];
        UNROLL_ for (uint k = 0; k < AT_ONCE_; ++k)
            v[k] = PART_(parts, b + k * TOTAL_LANES, blocks);
        UNROLL_ for (uint k = 0; k < AT_ONCE_; ++k) {
            volatile __global BITS_ *part = parts + b + k * TOTAL_LANES;
            v[k] = what_comes_(room, part, v[k], left);
            sum = PLUS_PART(sum, PASTE(as_, REAL)(v[k]));
            if (go && b + k * TOTAL_LANES < blocks)
                *part = NOTHING_;
        }
    }
    return sum;
}
/* Four lanes, pairwise. */
INLINE_ Total four_of_(__local const Total *t) {
    return PLUS_TOTAL(PLUS_TOTAL(t[0], t[2]), PLUS_TOTAL(t[1], t[3]));
}
/* All work-items of a group have what they have waited for, or `goes_on` is 0: then nothing is waited for
   any more, and the leg ends after this iteration. */
#define ALL_HAVE_                                                           \
    if (!left)                                                              \
        goes_on = 0;                                                        \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                    \
    SEEN_;                                                                  \
    left = goes_on ? patience : 0;
/* The next phase begins when all groups have come here, with all that they have stored. */
#define MEET_                                                               \
    met += groups;                                                          \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                    \
    if (get_local_id(0) == 0) {                                             \
        FENCE_;                                                             \
        if (atomic_inc(MET_) == met - 1) {                                  \
            COUNTED_;                                                       \
            for (uint k_ = 0; k_ < LEG_PLACES; ++k_)                        \
                PHASE_(k_) = phase + 1;                                     \
        }                                                                   \
        while (left && (int)(PHASE_(place) - phase) <= 0 && asks_(room, &left)) \
            ;                                                               \
        FENCE_;                                                             \
    }                                                                       \
    ++phase;                                                                \
    ALL_HAVE_
__kernel void pcg_leg_kernel(__global REAL *y, __global REAL *old, __global REAL *p, __global REAL *s,
                             __global REAL *rr, __global REAL *ps, __global REAL *ss,
                             __global const REAL *rr_before, MATRIX(a), ONE_PLANE(a),
                             __global REAL *state, __global REAL *room, const REAL c, PCG_GIVEN,
                             const uint given, const uint blocks, const uint steps,
                             const uint multiplied, const uint patience) {
    __local REAL terms[4 * BLOCK];
    __local Total t_[BLOCK];
    __local Pcg_told_ told_;
    __local uint goes_on;
    const uint group = get_group_id(0), groups = get_num_groups(0);
    const uint place = group % LEG_PLACES;
    uint phase = PHASE_(place), met = 0, left = patience;
    if (get_local_id(0) == 0)
        goes_on = 1;
    if (given && group == groups - 1 && get_local_id(0) == 0)
        PCG_TAKE_GIVEN(state)
    if (!multiplied)
        for (uint b = group + groups * get_local_id(0); b < blocks; b += groups * BLOCK)
            ((__global BITS_ *)ps)[b] = ((__global BITS_ *)ss)[b] = NOTHING_;
    MEET_
    bool more = steps > 0;
    for (uint n = 0; more; ++n) {
        if (n > 0 || !multiplied)
            for (uint block = group, turn = 0; block < blocks; block += groups, turn ^= 1) {
                const uint this_ = block * (BLOCK / ITEM) + get_local_id(0);
                __local REAL *const u = terms + turn * 2 * BLOCK, *const v = u + BLOCK;
                PRODUCT_ROWS_(i, p, u, v)
                FINISH_TWO_SUMS(ps, u, ss, v)
            }
        for (uint adder = groups - 1 - group; adder < LEG_ADDERS_; adder += groups) {
            const uint list = adder / (LEG_ADDERS_ / 3), quarter = adder % (LEG_ADDERS_ / 3);
            volatile __global BITS_ *parts =
                (volatile __global BITS_ *)(list == 0 ? n > 0 ? rr : rr_before : list == 1 ? ps : ss);
            t_[get_local_id(0)] = lane_(room, parts, blocks, quarter, list > 0, &left);
            ALL_HAVE_
            FOLD_(t_, 1, BLOCK, BLOCK, BLOCK / 8, PLUS)
            FOLD_(t_, 1, BLOCK, BLOCK / 8, BLOCK / 64, PLUS)
            /* By FOLD_, PoCL 3.1 loses this one. */
            if (get_local_id(0) == 0)
                t_[0] = four_of_(t_);
            barrier(CLK_LOCAL_MEM_FENCE);
            if (get_local_id(0) < QUARTER_WORDS_)
                QUARTERS_[adder * QUARTER_WORDS_ + get_local_id(0)] =
                    PASTE(as_, BITS_)(((__local REAL *)t_)[get_local_id(0)]);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (group == groups - 1) {
            const Pcg_before_ before = pcg_before_(state);
            if (get_local_id(0) < LEG_ADDERS_ * QUARTER_WORDS_) {
                volatile __global BITS_ *quarter = QUARTERS_ + get_local_id(0);
                ((__local REAL *)t_)[get_local_id(0)] =
                    PASTE(as_, REAL)(what_comes_(room, quarter, *quarter, &left));
                *quarter = NOTHING_;
            }
            ALL_HAVE_
            if (get_local_id(0) == 0) {
                Total sums[3];
                for (uint k = 0; k < 3; ++k)
                    sums[k] = settled_(four_of_(t_ + 4 * k));
                told_ = pcg_scalars_(state, before, sums[0], sums[1], sums[2]);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            /* What was told before this has been read by all. */
            if (get_local_id(0) < LEG_PLACES * TOLD_WORDS_) {
                const uint to = get_local_id(0) / TOLD_WORDS_, word = get_local_id(0) % TOLD_WORDS_;
                TOLD_(to, n)[word] = PASTE(as_, BITS_)(((__local REAL *)&told_)[word]);
                TOLD_(to, n + 1)[word] = NOTHING_;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        const uint last = blocks - 1 - (blocks - 1 - group) % groups;
        Row_number i = (last * (BLOCK / ITEM) + get_local_id(0)) * ITEM;
        realv o = LOAD_ONCE(old, i), q = LOAD(p, i), z = LOAD_ONCE(s, i);
        if (get_local_id(0) < TOLD_WORDS_) {
            volatile __global BITS_ *word = TOLD_(place, n) + get_local_id(0);
            const BITS_ v = what_comes_(room, word, *word, &left);
            /* Who has waited in vain goes on with zeros: vectors must not get bits that no sum has. */
            ((__local REAL *)&told_)[get_local_id(0)] = v == NOTHING_ ? 0 : PASTE(as_, REAL)(v);
        }
        ALL_HAVE_
        STEP_SCALARS_(told_)
        more = told_.stop == 0 && n + 1 < steps && goes_on;
        realv last_ = later ? 0 : LOAD_ONCE(y, i);
        for (uint block = last, turn = 0;; turn ^= 1) {
            const uint this_ = block * (BLOCK / ITEM) + get_local_id(0);
            __local REAL *const u = terms + turn * BLOCK;
            const bool another = block >= groups;
            realv v;
            STEP_ROWS_(i, v, o, q, z, last_)
            ADD(u, i, v * v);
            if (another) {
                i -= groups * BLOCK;
                o = LOAD_ONCE(old, i), q = LOAD(p, i), z = LOAD_ONCE(s, i);
                if (!later)
                    last_ = LOAD_ONCE(y, i);
            }
            FINISH_SUM(rr, u)
            if (!another)
                break;
            block -= groups;
        }
        MEET_
        __global REAL *const next = old;
        old = p;
        p = next;
    }
    if (group == groups - 1) {
        if (get_local_id(0) < LEG_PLACES * TOLD_WORDS_)
            for (uint turn = 0; turn < 2; ++turn)
                TOLD_(get_local_id(0) / TOLD_WORDS_, turn)[get_local_id(0) % TOLD_WORDS_] = NOTHING_;
        if (get_local_id(0) == 0)
            *MET_ = 0;
    }
    /* What was given may have come after another group gave up. */
    if (!goes_on || (group == groups - 1 && STUCK_))
        state[PCG_ORIGIN] = -1;
}
