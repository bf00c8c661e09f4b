/* Slices of a box of like cells (usual.cl), for kernels that load x at all the columns of the usual steps
   before they know the slice: the loads wait for nothing then, where else one comes after the other. Slices
   that lack some of these, at walls, take what they have (src/sparse/sell/lacking.rs); others load again, by
   loops, for they should be few.

   EACH_ENTRY_OF(e, m, x, i, statement) is EACH_ENTRY of a matrix of one plane where the statement gathers x
   alone. A kernel whose source has it, and a leg of iterations, is compiled twice where the device's tuning
   says `ahead`; the second form, of AHEAD steps, is for matrices whose slices mostly have as many usual ones,
   with the same values.

   `couloir bench pcg --matrix M --device 1 --where device`, us an iteration on an H200, in turns: grid:256
   287, 287 -> 275, 274, grid:160 72.2, 72.5 -> 70.8, 71.1; grid:100, by one launch for all iterations, 17.9,
   17.9 -> 17.0, 17.2. With the true residual so, too, a step of a million hexahedra, `bench step --rows
   1000000`, takes 712, 696 us, else 719, 730. `spmv`, which has a seventh step, the diagonal, loses so:
   grid:256 279 -> 282, grid:160 72.5 -> 73.3, grid:100 17.8 -> 18.8. */
#if VECTOR == 1 && AHEAD
/* Asked for here: a compiler else moves such loads to where they are first used. */
#ifdef __NV_CL_C_VERSION
LOADING_(now_, volatile, "", )
#else
INLINE_ REAL now_(__global const REAL *p) { return *p; }
#endif
#define EACH_ENTRY_OF(e, m, x, i, DO)                                                             \
    {                                                                                             \
        const uint16 usual_ = PASTE(m, _usual);                                                   \
        const Same_ same_ = PASTE(m, _same);                                                      \
        const uint offset_[AHEAD] = {usual_.s2, usual_.s3, usual_.s4,                             \
                                     usual_.s5, usual_.s6, usual_.s7};                            \
        const REAL own_[AHEAD] = {same_.s0, same_.s1, same_.s2, same_.s3, same_.s4, same_.s5};    \
        REAL there_[AHEAD];                                                                       \
        UNROLL_ for (uint j_ = 0; j_ < AHEAD; ++j_)                                               \
            there_[j_] = now_((x) + min((uint)(i) + offset_[j_], usual_.s1));                     \
        Row_ r_ = row_(PASTE(m, _slices), PASTE(m, _index), i);                                   \
        if ((r_.at.s3 & (USUAL_ | GIVEN_)) && usual_.s0 == AHEAD) {                               \
            if ((r_.at.s3 & USUAL_) && r_.at.s0 != usual_.s9)                                     \
                AHEAD_(e, r_, (r_.at.s3 & FULL_) ? ~0u : steps_of_(&r_, AHEAD), false, false, DO) \
            else if ((r_.at.s3 & (FULL_ | LACKING_)) == FULL_)                                    \
                AHEAD_(e, r_, ~0u, true, true, DO)                                                \
            else                                                                                  \
                AHEAD_(e, r_, steps_of_(&r_, AHEAD), false, true, DO)                             \
        } else if ((r_.at.s3 & LACKING_) && usual_.s0 == AHEAD)                                   \
            LACKING_AHEAD_(e, r_, DO)                                                             \
        else if (IS_PACKED_(r_.at))                                                               \
            PACKEDS_(e, m, i, DO)                                                                 \
        else                                                                                      \
            KINDS_(LOOP_, e, r_, false, DO)                                                       \
    }
#define AHEAD_(e, r, has_steps, full, same, DO)                                                   \
    {                                                                                             \
        const uint steps_ = has_steps;                                                            \
        const bool ones_ = (r.at.s2 & 0xff) == 0;                                                 \
        const uint value_ = ones_ ? r.value - r.lane : r.value, by_ = ones_ ? 1 : SLICE;          \
        UNROLL_ for (uint j_ = 0; j_ < AHEAD; ++j_) {                                             \
            Entry e;                                                                              \
            e.known = same;                                                                       \
            e.own = own_[j_];                                                                     \
            e.none = other_zero_(e.own);                                                          \
            e.has = full || (steps_ >> j_ & 1);                                                   \
            e.value = value_ + j_ * by_;                                                          \
            e.column = 0;                                                                         \
            e.is_there = true;                                                                    \
            e.there = there_[j_];                                                                 \
            DO;                                                                                   \
        }                                                                                         \
    }
/* A slice that lacks some of the steps has no values for those. Its index block says which it has, and, where
   that of a usual slice does, of each row. */
#define LACKING_AHEAD_(e, r, DO)                                                                  \
    {                                                                                             \
        const uint steps_ = steps_of_(&r, AHEAD);                                                 \
        const uint affine_ = r.at.s2 & 0xff, count_ = affine_ + (r.at.s2 >> 8);                   \
        const uint all_ = r.index[r.at.s1 + 2 * count_];                                          \
        const uint value_ = affine_ == 0 ? r.value - r.lane : r.value, by_ = affine_ == 0 ? 1 : SLICE; \
        UNROLL_ for (uint j_ = 0; j_ < AHEAD; ++j_) {                                             \
            Entry e;                                                                              \
            e.known = false;                                                                      \
            e.own = e.none = 0;                                                                   \
            e.has = steps_ >> j_ & 1;                                                             \
            e.value = value_ + min(COUNT_(all_ & ((1u << j_) - 1)), count_ - 1) * by_;            \
            e.column = 0;                                                                         \
            e.is_there = true;                                                                    \
            e.there = there_[j_];                                                                 \
            DO;                                                                                   \
        }                                                                                         \
    }
#else
#define EACH_ENTRY_OF(e, m, x, i, DO) EACH_ENTRY(e, m, i, DO)
#endif
