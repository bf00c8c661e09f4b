/* Sums that the first groups of a kernel add up and the others wait for (WAITING), so that no launch
   is needed between a call's partial results and the next call. For devices that start groups in
   the order of their numbers, and whose groups see what others store.

   A number is there when its place no longer holds NOTHING_, bits that no sum has: then it need not be
   announced. The room that they share: what each of the ADDERS has come to; from number ROOM_TOLD on, what
   follows from the sums, in turns at one of two places, so that the other can be emptied.

   Each of the ADDERS has a share of the lanes of one of three sums: LANES_LEFT neighbours, and the same
   again every FEW_LANES_. It adds these pairwise, until LANES_LEFT are left. */
#define NOTHING_ ((BITS_)0xfffe5eedfffe5eedul)
#define SHARES_ (ADDERS / 3)
#define FEW_LANES_ (SHARES_ * LANES_LEFT)
#define SHARE_LANES_ (TOTAL_LANES / SHARES_)
#define LANE_(share, l) ((l) / LANES_LEFT * FEW_LANES_ + (share) * LANES_LEFT + (l) % LANES_LEFT)
#define WORDS_LEFT_ (LANES_LEFT * sizeof(Total) / sizeof(REAL))
#define ROOM_LEFT_(room) ((volatile __global BITS_ *)(room))
#define ROOM_TOLD_(room, turn) (ROOM_LEFT_(room) + ROOM_TOLD + (turn) % 2 * TOLD_ROOM)

/* Between two questions, for all groups ask the same place. */
#ifdef __NV_CL_C_VERSION
#define PAUSE_ pause_()
INLINE_ uint clock_(void) {
    uint cycles;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
    return cycles;
}
INLINE_ void pause_(void) {
    const uint start = clock_();
    while (clock_() - start < 200)
        ;
}
#else
#define PAUSE_
#endif
/* What comes to that place. */
INLINE_ REAL comes_(volatile __global const BITS_ *place) {
    BITS_ v;
    while ((v = *place) == NOTHING_) {
        PAUSE_;
    }
    return PASTE(as_, REAL)(v);
}

#define IS_ADDER (get_group_id(0) < ADDERS)
#define FIRST_LOCALS(before, told)                                          \
    __local Total t_[SHARE_LANES_ > 3 * FEW_LANES_ ? SHARE_LANES_ : 3 * FEW_LANES_]; \
    __local before before_;                                                 \
    __local told told_;
#define AHEAD_FIRST_ 8
/* A share of so many parts, by lane, in t. Where several work-items have a lane, each asks for some of its
   parts at once, and they add them in turns, for a lane takes its parts in ascending order. */
INLINE_ void share_(__local Total *t, __global const REAL *parts, uint share, uint count,
                    const bool largest) {
    const uint each = get_local_size(0) / SHARE_LANES_;
    if (each < 2) {
        EACH_LANE_(l, SHARE_LANES_) {
            Total s = BEGIN_(parts, 0, 0);
            TAKE_(s, parts, LANE_(share, l), count, AHEAD_FIRST_, EITHER)
            t[l] = s;
        }
    } else {
        const uint l = get_local_id(0) % SHARE_LANES_, own = get_local_id(0) / SHARE_LANES_;
        uint i = LANE_(share, l) + own * AHEAD_FIRST_ * TOTAL_LANES;
        for (uint from = 0; from < count; from += each * AHEAD_FIRST_ * TOTAL_LANES) {
            REAL v[AHEAD_FIRST_];
            UNROLL_ for (uint k = 0; k < AHEAD_FIRST_; ++k)
                v[k] = PART_(parts, i + k * TOTAL_LANES, count);
            i += each * AHEAD_FIRST_ * TOTAL_LANES;
            for (uint turn = 0; turn < each; ++turn) {
                if (turn == own) {
                    Total s = from || turn ? t[l] : BEGIN_(parts, 0, 0);
                    UNROLL_ for (uint k = 0; k < AHEAD_FIRST_; ++k)
                        s = EITHER_PART(s, v[k]);
                    t[l] = s;
                }
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
/* A share of so many parts, of which LANES_LEFT are left, where the others find them. */
#define LEAVE_SHARE(parts, share, count, left, largest)                     \
    share_(t_, parts, share, count, largest);                               \
    FOLD_(t_, 1, SHARE_LANES_, SHARE_LANES_, 4 * LANES_LEFT, EITHER)        \
    FOLD_(t_, 1, SHARE_LANES_, 4 * LANES_LEFT, LANES_LEFT, EITHER)          \
    EACH_LANE_(w_, WORDS_LEFT_)                                             \
        ROOM_LEFT_(left)[(share) * WORDS_LEFT_ + w_] =                      \
            PASTE(as_, BITS_)(((__local REAL *)t_)[w_]);
/* An adding group's share of the sums of a, b and c. The last group goes on; the others return. */
#define FIRST_SHARE(a, b, c, parts, room)                                   \
    {                                                                       \
        const uint adder_ = get_group_id(0), list_ = adder_ / SHARES_;      \
        __global const REAL *parts_ = list_ == 0 ? a : list_ == 1 ? b : c;  \
        const bool largest = false;                                         \
        LEAVE_SHARE(parts_, adder_ % SHARES_, parts, room + list_ * SHARES_ * WORDS_LEFT_, largest) \
        if (adder_ != ADDERS - 1)                                           \
            return;                                                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                       \
    }
/* A work-item that has nothing to wait for meanwhile. */
#define IS_IDLE_FIRST (get_local_id(0) == get_local_size(0) - 1)
/* Of n lists, in the places of t_ that follow each other by FEW_LANES_, what the shares come to. */
#define GATHER_SHARES(n, left, OP)                                          \
    EACH_LANE_(w_, (n) * SHARES_ * WORDS_LEFT_) {                           \
        ((__local REAL *)t_)[w_] = comes_(ROOM_LEFT_(left) + w_);           \
        ROOM_LEFT_(left)[w_] = NOTHING_;                                    \
    }                                                                       \
    barrier(CLK_LOCAL_MEM_FENCE);                                           \
    FOLD_(t_, n, FEW_LANES_, FEW_LANES_, FEW_LANES_ / 8, OP)                \
    FOLD_(t_, n, FEW_LANES_, FEW_LANES_ / 8, 1, OP)
/* The sums, as TOTALS has them, when the others have come to their shares. One work-item goes on. */
#define FIRST_TOTALS(room)                                                  \
    GATHER_SHARES(3, room, PLUS)                                            \
    if (get_local_id(0) != 0)                                               \
        return;
#define FIRST_SUM(k) settled_(t_[(k) * FEW_LANES_])

/* What follows from the sums, TOLD_ROOM numbers at most, is told to those who wait. */
#define FIRST_DONE(room, turn, told)                                        \
    UNROLL_ for (uint k_ = 0; k_ < sizeof(told) / sizeof(REAL); ++k_) {     \
        ROOM_TOLD_(room, turn)[k_] = PASTE(as_, BITS_)(((REAL *)&(told))[k_]); \
        ROOM_TOLD_(room, (turn) + 1)[k_] = NOTHING_;                        \
    }

/* Waits for it: it is in told_ then. */
#define AWAIT_FIRST(room, turn)                                             \
    EACH_LANE_(k_, sizeof(told_) / sizeof(REAL))                            \
        ((__local REAL *)&told_)[k_] = comes_(ROOM_TOLD_(room, turn) + k_); \
    barrier(CLK_LOCAL_MEM_FENCE);
