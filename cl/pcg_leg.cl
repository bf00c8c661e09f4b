/* A leg of iterations by one launch: products and steps by no more groups than the device runs at once, which
   wait for each other. A row is the same work-item's in both, so that what groups have for others is the
   partial sums, the scalars and p alone. See src/split/leg.rs.

   A sum is there when its place no longer holds NOTHING_, bits that no sum has: then it need not be
   announced. The last group has no rows, unless it is the only one: it adds the partial sums up as they come,
   and asks for all that it lacks at once. What all groups wait for is told at LEG_PLACES places, for the
   second cache answers one after the other those who ask at the same; so they need no pause between two
   questions.

   `couloir bench pcg --matrix M --device 1 --where device`, us an iteration on an H200: grid:64, most of
   whose time is waiting, 9.89 -> 9.30 by places, then 9.25 -> 8.78 without pauses, 8.57 -> 8.06, 8.24 by the
   group without rows for twelve that added up and another; grid:100 17.6 -> 17.2 without pauses, 16.1, 16.6
   -> 16.4, 16.5. No gain: fences of acq_rel, a count that all ask for, lanes added up by shuffles, the loads
   of the next block before this one's sums (16.1 -> 16.7, 17.3), s and the direction before in local memory.
   Groups that wait for those alone whose rows they read lose (16.8 -> 20), for each fence empties the first
   cache of them all.

   The room, by lines of 32 words: how many have met; whether a group has waited too long, so that all give
   up; then a line of each place for the phase, and two, in turns, for what a step needs. */
#undef BACKWARD
#define BACKWARD 2
#undef LOAD_ONCE
#define LOAD_ONCE LOAD_ANEW
#define LINE_(n) ((volatile __global uint *)room + 32 * (n))
#define MET_ LINE_(0)
#define STUCK_ (*LINE_(1))
#define PHASE_(place) (*LINE_(2 + (place)))
#define TOLD_(place, turn) ((volatile __global BITS_ *)LINE_(2 + LEG_PLACES * (1 + (turn) % 2) + (place)))
#define TOLD_WORDS_ (sizeof(Pcg_told_) / sizeof(BITS_))
#ifdef __NV_CL_C_VERSION
#define FENCE_ asm volatile("membar.gl;" : : : "memory")
#define SEEN_ asm volatile("" : : : "memory")
/* A fence waits until all others see what was stored before it; so who is counted has been seen, and who
   counts the last need not wait once more (grid:100 17.2 -> 16.9 us on an H200). */
#define COUNTED_
#else
#define FENCE_ mem_fence(CLK_GLOBAL_MEM_FENCE)
#define SEEN_ mem_fence(CLK_GLOBAL_MEM_FENCE)
#define COUNTED_ FENCE_
#endif
#define LANES_EACH_ (TOTAL_LANES / BLOCK)
#if TOTAL_LANES != 4 * BLOCK
#error A work-item of a leg adds four lanes up.
#endif
/* Once more in vain; false when it has been too often. */
INLINE_ bool asks_(__global REAL *room, uint *left) {
    if (--*left % 256 == 0 && (STUCK_ || !*left))
        STUCK_ = 1, *left = 0;
    return *left;
}
/* Four lanes, pairwise. */
INLINE_ Total four_of_(const Total a, const Total b, const Total c, const Total d) {
    return PLUS_TOTAL(PLUS_TOTAL(a, c), PLUS_TOTAL(b, d));
}
/* This work-item's lanes of so many parts, pairwise. */
INLINE_ Total lanes_(volatile __global const REAL *parts, uint blocks) {
    Total sum[LANES_EACH_];
    UNROLL_ for (uint k = 0; k < LANES_EACH_; ++k)
        sum[k] = BEGIN_(parts, 0, 0);
    for (uint b = get_local_id(0); b < blocks; b += TOTAL_LANES)
        UNROLL_ for (uint k = 0; k < LANES_EACH_; ++k)
            sum[k] = PLUS_PART(sum[k], PART_(parts, b + k * BLOCK, blocks));
    return four_of_(sum[0], sum[1], sum[2], sum[3]);
}
/* The same of two lists that come; nothing is left in their places. It asks for all that it lacks at once. */
#define LANES_THAT_COME_(a, parts, b, more_parts)                           \
    {                                                                       \
        Total sum_[2 * LANES_EACH_];                                        \
        UNROLL_ for (uint k_ = 0; k_ < 2 * LANES_EACH_; ++k_)               \
            sum_[k_] = BEGIN_(room, 0, 0);                                  \
        for (uint b_ = get_local_id(0); b_ < blocks; b_ += TOTAL_LANES) {   \
            volatile __global BITS_ *const x_ = (volatile __global BITS_ *)(parts) + b_; \
            volatile __global BITS_ *const z_ = (volatile __global BITS_ *)(more_parts) + b_; \
            BITS_ v_[2 * LANES_EACH_];                                      \
            bool lacks_;                                                    \
            UNROLL_ for (uint k_ = 0; k_ < 2 * LANES_EACH_; ++k_)           \
                v_[k_] = b_ + k_ / 2 * BLOCK < blocks ? NOTHING_ : 0;       \
            do {                                                            \
                UNROLL_ for (uint k_ = 0; k_ < 2 * LANES_EACH_; ++k_)       \
                    if (v_[k_] == NOTHING_)                                 \
                        v_[k_] = (k_ % 2 ? z_ : x_)[k_ / 2 * BLOCK];        \
                lacks_ = false;                                             \
                UNROLL_ for (uint k_ = 0; k_ < 2 * LANES_EACH_; ++k_)       \
                    lacks_ = lacks_ || v_[k_] == NOTHING_;                  \
            } while (lacks_ && left && asks_(room, &left));                 \
            UNROLL_ for (uint k_ = 0; k_ < 2 * LANES_EACH_; ++k_) {         \
                sum_[k_] = PLUS_PART(sum_[k_], PASTE(as_, REAL)(v_[k_]));   \
                if (b_ + k_ / 2 * BLOCK < blocks)                           \
                    (k_ % 2 ? z_ : x_)[k_ / 2 * BLOCK] = NOTHING_;          \
            }                                                               \
        }                                                                   \
        a = four_of_(sum_[0], sum_[2], sum_[4], sum_[6]);                   \
        b = four_of_(sum_[1], sum_[3], sum_[5], sum_[7]);                   \
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
    __local Total t_[3 * BLOCK];
    __local Pcg_told_ told_;
    __local uint goes_on, begins;
    const uint group = get_group_id(0), groups = get_num_groups(0);
    const uint place = group % LEG_PLACES, workers = groups > 1 ? groups - 1 : 1;
    const bool works = group < workers;
    uint phase = PHASE_(place), met = 0, left = patience;
    if (get_local_id(0) == 0) {
        goes_on = 1;
        /* A state that says stop from the start ends the leg; nobody changes it before all have met. */
        begins = steps > 0 && (given || !(((volatile __global REAL *)state)[PCG_STOP] > 0));
    }
    if (given && group == groups - 1 && get_local_id(0) == 0)
        PCG_TAKE_GIVEN(state)
    if (!multiplied)
        for (uint b = group + groups * get_local_id(0); b < blocks; b += groups * BLOCK)
            ((__global BITS_ *)ps)[b] = ((__global BITS_ *)ss)[b] = NOTHING_;
    MEET_
    bool more = begins;
    for (uint n = 0; more; ++n) {
        if (n > 0 || !multiplied)
            for (uint block = group, turn = 0; works && block < blocks; block += workers, turn ^= 1) {
                const uint this_ = block * (BLOCK / ITEM) + get_local_id(0);
                __local REAL *const u = terms + turn * 2 * BLOCK, *const v = u + BLOCK;
                PRODUCT_ROWS_(i, p, u, v)
                FINISH_TWO_SUMS(ps, u, ss, v)
            }
        if (group == groups - 1) {
            /* Who has rows, too, has stored what is asked for. */
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            const Pcg_before_ before = pcg_before_(state);
            const Total nu = lanes_(n > 0 ? rr : rr_before, blocks);
            Total mu, gamma;
            LANES_THAT_COME_(mu, ps, gamma, ss)
            t_[get_local_id(0)] = nu;
            t_[get_local_id(0) + BLOCK] = mu;
            t_[get_local_id(0) + 2 * BLOCK] = gamma;
            ALL_HAVE_
            FOLD_(t_, 3, BLOCK, BLOCK, BLOCK / 8, PLUS)
            FOLD_(t_, 3, BLOCK, BLOCK / 8, BLOCK / 64, PLUS)
            /* By FOLD_, PoCL 3.1 loses this one. */
            if (get_local_id(0) < 3) {
                __local Total *const t = t_ + BLOCK * get_local_id(0);
                t[0] = settled_(four_of_(t[0], t[1], t[2], t[3]));
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (get_local_id(0) == 0)
                told_ = pcg_scalars_(state, before, t_[0], t_[BLOCK], t_[2 * BLOCK]);
            barrier(CLK_LOCAL_MEM_FENCE);
            /* What was told before this has been read by all. */
            if (get_local_id(0) < LEG_PLACES * TOLD_WORDS_) {
                const uint to = get_local_id(0) / TOLD_WORDS_, word = get_local_id(0) % TOLD_WORDS_;
                TOLD_(to, n)[word] = PASTE(as_, BITS_)(((__local REAL *)&told_)[word]);
                TOLD_(to, n + 1)[word] = NOTHING_;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        /* Who has no rows loads the first ones in vain. */
        const uint last = works ? blocks - 1 - (blocks - 1 - group) % workers : 0;
        Row_number i = (last * (BLOCK / ITEM) + get_local_id(0)) * ITEM;
        realv o = LOAD_ONCE(old, i), q = LOAD(p, i), z = LOAD_ONCE(s, i);
        if (get_local_id(0) < TOLD_WORDS_) {
            volatile __global BITS_ *word = TOLD_(place, n) + get_local_id(0);
            BITS_ v = *word;
            while (v == NOTHING_ && left && asks_(room, &left))
                v = *word;
            /* Who has waited in vain goes on with zeros: vectors must not get bits that no sum has. */
            ((__local REAL *)&told_)[get_local_id(0)] = v == NOTHING_ ? 0 : PASTE(as_, REAL)(v);
        }
        ALL_HAVE_
        STEP_SCALARS_(told_)
        more = told_.stop == 0 && n + 1 < steps && goes_on;
        if (works) {
            realv last_ = later ? 0 : LOAD_ONCE(y, i);
            for (uint block = last, turn = 0;; turn ^= 1) {
                const uint this_ = block * (BLOCK / ITEM) + get_local_id(0);
                __local REAL *const u = terms + turn * BLOCK;
                const bool another = block >= workers;
                realv v;
                STEP_ROWS_(i, v, o, q, z, last_)
                ADD(u, i, v * v);
                if (another) {
                    i -= workers * BLOCK;
                    o = LOAD_ONCE(old, i), q = LOAD(p, i), z = LOAD_ONCE(s, i);
                    if (!later)
                        last_ = LOAD_ONCE(y, i);
                }
                FINISH_SUM(rr, u)
                if (!another)
                    break;
                block -= workers;
            }
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
