/* The slices of tetrahedra, for devices of one row per work-item: part of EACH_ENTRY (matrix.cl). An
   EAGER kernel has code for more of them: `couloir bench spmv --order rcm --device 1 --where device` on an
   H100, 1.6M and 6.4M tetrahedra, 34.8 and 151 -> 30.7 and 134 us. The product of an iteration has no
   registers left for it (52.9 -> 54.2 us). */
#if VECTOR == 1
#define EAGER 0
/* A diagonal and four columns near it; or as many steps, two of which are affine. All loads go out at
   once, where the loops wait for the first ones (a product of 1.6M, RCM, on an H100 39.1 -> 37.8 us). */
#define IS_NEAR_(at, affine) ((at).s2 == ((affine) | (5u - (affine)) << 16) && !WIDE_STEPS_(at))
#define NEARS_(e, r, affine, DO)                                                                  \
    {                                                                                             \
        if (r.at.s3 & FULL_)                                                                      \
            NEAR_(e, r, affine, true, DO)                                                         \
        else                                                                                      \
            NEAR_(e, r, affine, false, DO)                                                        \
    }
#define NEAR_(e, r, affine, full, DO)                                                             \
    {                                                                                             \
        r.difference = 2 * (r.at.s1 + 2 * 5) + r.lane;                                            \
        UNROLL_ for (uint j_ = 0; j_ < 5; ++j_) {                                                 \
            const Entry e = step_(&r, full, j_ < (affine) ? AFFINE_ : SHORTS_, j_, j_ - (affine)); \
            DO;                                                                                   \
        }                                                                                         \
    }
/* Seven affine steps, packed: of cells each of which has five of seven distances. */
#define SEVENS_0(e, r, m, DO)
#define SEVENS_1(e, r, m, DO)                                                                     \
    if (EAGER && r.at.s2 == 7 && (r.at.s3 & ~FAR_) == PACKED_)                                    \
        SEVEN_(e, r, PASTE(m, _val), DO)                                                          \
    else
#define SEVEN_(e, r, values, DO)                                                                  \
    {                                                                                             \
        uint value_ = r.at.s0;                                                                    \
        UNROLL_ for (uint j_ = 0; j_ < 7; ++j_) {                                                 \
            const uint2 pair_ = *(__global const uint2 *)&r.index[r.step + 2 * j_];               \
            const uint before_ = COUNT_(pair_.s0 & ((1u << r.lane) - 1u));                        \
            Entry e;                                                                              \
            e.has = pair_.s0 >> r.lane & 1;                                                       \
            e.value = 0;                                                                          \
            e.column = e.has ? r.row + pair_.s1 : 0;                                              \
            e.known = true;                                                                       \
            e.is_there = false;                                                                   \
            e.own = ONCE_IF((values) + (value_ + before_), e.has);                                \
            e.none = 0;                                                                           \
            value_ += COUNT_(pair_.s0);                                                           \
            DO;                                                                                   \
        }                                                                                         \
    }
#endif
