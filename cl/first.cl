/* Sums that the first groups of a kernel add up and the others wait for (WAITING), so that no launch
   is needed between a call's partial results and the next call. For devices that start groups in
   the order of their numbers, and whose groups see what others have stored before a fence.

   The room that they share: number of the launch whose sums are there; a cache line or two further,
   how many groups have arrived; from REAL number ROOM_LANES on, TOTAL_LANES totals for each of three
   sums. Group g of the ADDERS has a quarter of the lanes of one of them. */
#define LANES_OF_ONE_ (3 * TOTAL_LANES / ADDERS)
#define FEW_LANES_ (TOTAL_LANES / 4)
#define ROOM_ARRIVED_ 64 /* words */
#define LANES_WORDS_ (PAIRED ? 2 * TOTAL_LANES : TOTAL_LANES)
#ifdef __NV_CL_C_VERSION
#define FENCE_ asm volatile("membar.gl;" : : : "memory")
#else
#define FENCE_ mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#define ROOM_TURN_(room) (*(volatile __global uint *)(room))
#define ROOM_LANES_OF_(room, list) ((room) + ROOM_LANES + (list) * LANES_WORDS_)

/* In an adding group: the sums of a, b and c, as TOTALS has them. One work-item of the last group to
   arrive goes on; the others return. A lane's total with what is FEW_LANES_ further, as the pairwise
   sum has them, is kept in registers. */
#define IS_ADDER (get_group_id(0) < ADDERS)
#define FIRST_LOCALS                                                        \
    __local Total t_[3 * FEW_LANES_];                                       \
    __local uint last_;
#define FIRST_TOTALS(a, b, c, parts, room)                                  \
    {                                                                       \
        const uint list_ = (uint)get_group_id(0) / (ADDERS / 3);            \
        const uint from_ = (uint)get_group_id(0) % (ADDERS / 3) * LANES_OF_ONE_; \
        __global const REAL *parts_ = list_ == 0 ? a : list_ == 1 ? b : c;  \
        volatile __global REAL *lanes_ = ROOM_LANES_OF_(room, list_) + from_; \
        EACH_LANE_(l_, LANES_OF_ONE_) {                                     \
            Total s_ = BEGIN_(parts_, 0, 0);                                \
            TAKE_(s_, parts_, from_ + l_, parts, 8, PLUS)                   \
            KEEP_(lanes_, l_, s_);                                          \
        }                                                                   \
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                \
        if (get_local_id(0) == 0) {                                         \
            FENCE_;                                                         \
            last_ = atomic_inc((volatile __global uint *)(room) + ROOM_ARRIVED_) == ADDERS - 1; \
        }                                                                   \
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                \
        if (!last_)                                                         \
            return;                                                         \
        UNROLL_ for (uint k_ = 0; k_ < 3; ++k_)                             \
            EACH_LANE_(l_, FEW_LANES_) {                                    \
                volatile __global const REAL *z_ = ROOM_LANES_OF_(room, k_) + l_; \
                t_[k_ * FEW_LANES_ + l_] = four_(z_);                       \
            }                                                               \
        barrier(CLK_LOCAL_MEM_FENCE);                                       \
        FOLD_(t_, 3, FEW_LANES_, FEW_LANES_, FEW_LANES_ / 8, PLUS)          \
        FOLD_(t_, 3, FEW_LANES_, FEW_LANES_ / 8, FEW_LANES_ / 64, PLUS)     \
        FOLD_(t_, 3, FEW_LANES_, FEW_LANES_ / 64, 1, PLUS)                  \
        if (get_local_id(0) != 0)                                           \
            return;                                                         \
        *((volatile __global uint *)(room) + ROOM_ARRIVED_) = 0;            \
    }
#define FIRST_SUM(k) settled_(t_[(k) * FEW_LANES_])
#if PAIRED
#define KEPT_(z, l) total_((z)[l], (z)[TOTAL_LANES + (l)])
#else
#define KEPT_(z, l) ((z)[l])
#endif
INLINE_ Total four_(volatile __global const REAL *z) {
    const Total a = KEPT_(z, 0), b = KEPT_(z, FEW_LANES_), c = KEPT_(z, 2 * FEW_LANES_);
    const Total d = KEPT_(z, 3 * FEW_LANES_);
    return PLUS_TOTAL(PLUS_TOTAL(a, c), PLUS_TOTAL(b, d));
}

/* What came of the sums is there for those who wait. */
#define FIRST_DONE(room, turn)                                              \
    FENCE_;                                                                 \
    ROOM_TURN_(room) = (turn);

/* Waits for it. What it has stored is read after this, and by nobody before: the first cache of a
   core keeps what has been read there. One work-item asks, and not all the time, for all groups
   ask the same place. */
#ifdef __NV_CL_C_VERSION
#define SEEN_ asm volatile("" : : : "memory")
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
#define SEEN_ mem_fence(CLK_GLOBAL_MEM_FENCE)
#define PAUSE_
#endif
#define AWAIT_FIRST(room, turn)                                             \
    if (get_local_id(0) == 0)                                               \
        while (ROOM_TURN_(room) != (turn)) {                                \
            PAUSE_;                                                         \
        }                                                                   \
    barrier(CLK_LOCAL_MEM_FENCE);                                           \
    SEEN_;
