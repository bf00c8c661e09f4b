/* Sums or maxima of partial results by lanes, TOTAL_LANES work-items each. See src/split/lanes.rs. */
#define LANE_(lanes, parts, count, OP)                                       \
    {                                                                        \
        const uint l_ = (uint)get_global_id(0) % TOTAL_LANES;                \
        Total s_ = BEGIN_(parts, l_, 0);                                     \
        TAKE_(s_, parts, l_, count, 64, OP)                                  \
        KEEP_(lanes, l_, s_);                                                \
    }
__kernel void sum_lanes_kernel(__global REAL *lanes, __global const REAL *parts, const uint count) {
    LANE_(lanes, parts, count, PLUS)
}
__kernel void maximum_lanes_kernel(__global REAL *lanes, __global const REAL *parts,
                                   const uint count) {
    LANE_(lanes, parts, count, LARGEST)
}
/* Three sums at once, TOTAL_LANES work-items for each. */
__kernel void three_lanes_kernel(__global REAL *a, __global REAL *b, __global REAL *c,
                                 __global const REAL *pa, __global const REAL *pb,
                                 __global const REAL *pc, const uint count) {
    const uint which = (uint)get_global_id(0) / TOTAL_LANES;
    __global REAL *lanes = which == 0 ? a : which == 1 ? b : c;
    __global const REAL *parts = which == 0 ? pa : which == 1 ? pb : pc;
    LANE_(lanes, parts, count, PLUS)
}
/* Lists of parts, a group or several for each, to their sum, or their maximum where `maxima` has the
   list's bit, and its rest. */
#define LISTS_                                                              \
    __global const REAL *p0, __global const REAL *p1, __global const REAL *p2, \
        __global const REAL *p3, __global const REAL *p4, __global const REAL *p5, \
        __global const REAL *p6, __global const REAL *p7, __global const REAL *p8, \
        __global const REAL *p9, __global const REAL *p10, __global const REAL *p11
#define OF_FOUR_(k, a, b, c, d) (list == k ? a : list == k + 1 ? b : list == k + 2 ? c : d)
#define OF_LISTS_                                                           \
    (list < 4   ? OF_FOUR_(0, p0, p1, p2, p3)                               \
     : list < 8 ? OF_FOUR_(4, p4, p5, p6, p7)                               \
                : OF_FOUR_(8, p8, p9, p10, p11))
#define LEAVE_TOTAL_(t)                                                     \
    if (get_local_id(0) == 0) {                                             \
        const Total all = settled_(t);                                      \
        totals[2 * list] = VALUE_OF(all);                                   \
        totals[2 * list + 1] = REST_OF(all);                                \
    }
#define ADD_LIST_(t, list, count, rests, maxima)                            \
    __global const REAL *parts = OF_LISTS_;                                 \
    const bool largest = (maxima) >> (list) & 1;                            \
    EACH_LANE_(l_, TOTAL_LANES) {                                           \
        Total s_ = BEGIN_(parts, l_, rests);                                \
        TAKE_(s_, parts, l_, count, 8, EITHER)                              \
        t[l_] = s_;                                                         \
    }                                                                       \
    ADD_LANES(t, 1, EITHER)                                                 \
    LEAVE_TOTAL_(t[0])
ADDING_KERNEL void totals_kernel(__global REAL *totals, LISTS_, const uint count, const uint rests,
                                 const uint maxima) {
    const uint list = (uint)get_group_id(0);
    __local Total t[TOTAL_LANES];
    ADD_LIST_(t, list, count, rests, maxima)
}
/* The same of many parts by several groups, of which the last of a list waits for the others. */
ADDING_KERNEL void many_totals_kernel(__global REAL *totals, LISTS_, __global REAL *room,
                                      const uint count, const uint maxima) {
    const uint list = (uint)get_group_id(0) / SHARES_, share = (uint)get_group_id(0) % SHARES_;
    __global const REAL *parts = OF_LISTS_;
    __global REAL *left = room + list * SHARES_ * WORDS_LEFT_;
    const bool largest = maxima >> list & 1;
    __local Total t_[SHARE_LANES_ > FEW_LANES_ ? SHARE_LANES_ : FEW_LANES_];
    LEAVE_SHARE(parts, share, count, left, largest)
    if (share != SHARES_ - 1)
        return;
    barrier(CLK_LOCAL_MEM_FENCE);
    GATHER_SHARES(1, left, EITHER)
    LEAVE_TOTAL_(t_[0])
}
/* A rule, by which one work-item computes a state from what is told, value and rest of each total, and from
   values: a kernel of its own behind the totals, and one that adds them up, too, for devices whose groups may
   wait for earlier ones: its last group waits for the others. Where there are rules a rest is 0. See
   src/split/rule.rs. */
#define TOLD_ 24
#define RULE_KERNELS(name, GIVEN, VALUES)                                   \
    __kernel void name##_kernel(__global REAL *state, __global const REAL *totals, GIVEN) { \
        __local REAL told[TOLD_];                                           \
        for (uint k = 0; k < TOLD_; ++k)                                    \
            told[k] = totals[k];                                            \
        name##_(state, told, VALUES);                                       \
    }                                                                       \
    ADDING_KERNEL void name##_totals_kernel(                                \
        __global REAL *totals, LISTS_, __global REAL *room, const uint count, const uint maxima, \
        __global REAL *state, GIVEN) {                                      \
        const uint list = (uint)get_group_id(0), lists = (uint)get_num_groups(0) - 1; \
        __local Total t[TOTAL_LANES];                                       \
        __local REAL told[TOLD_];                                           \
        if (list < lists) {                                                 \
            ADD_LIST_(t, list, count, 0, maxima)                            \
            if (get_local_id(0) == 0)                                       \
                ROOM_LEFT_(room)[list] = PASTE(as_, BITS_)(VALUE_OF(t[0])); \
            return;                                                         \
        }                                                                   \
        EACH_LANE_(k, lists) {                                              \
            told[2 * k] = comes_(ROOM_LEFT_(room) + k);                     \
            told[2 * k + 1] = 0;                                            \
            ROOM_LEFT_(room)[k] = NOTHING_;                                 \
        }                                                                   \
        barrier(CLK_LOCAL_MEM_FENCE);                                       \
        if (get_local_id(0) == 0)                                           \
            name##_(state, told, VALUES);                                   \
    }
