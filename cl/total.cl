/* Sums and maxima of partial results. Where sums are PAIRED, what rounding keeps from a sum is added
   up beside it. See src/kernel/total.rs, which does the same. */
#if PAIRED
/* A vector, for rusticl of Mesa 24 and 25 loses a structure that takes the numbers of an array in turn. */
typedef PASTE(REAL, 2) Total;
#define VALUE_OF(t) ((t).s0)
#define REST_OF(t) ((t).s1)
#define total_(value, rest) ((Total)((value), (rest)))
INLINE_ Total PLUS_PART(Total t, REAL x) {
    const REAL sum = VALUE_OF(t) + x, part = sum - VALUE_OF(t);
    return total_(sum, REST_OF(t) + ((VALUE_OF(t) - (sum - part)) + (x - part)));
}
INLINE_ Total PLUS_TOTAL(Total t, Total other) {
    Total both = PLUS_PART(t, VALUE_OF(other));
    REST_OF(both) = REST_OF(both) + REST_OF(other);
    return both;
}
#define LARGEST_PART(t, x) total_(fmax(VALUE_OF(t), x), 0)
#define LARGEST_TOTAL(t, other) total_(fmax(VALUE_OF(t), VALUE_OF(other)), 0)
INLINE_ Total settled_(Total t) {
    const REAL value = VALUE_OF(t) + REST_OF(t);
    return total_(value, REST_OF(t) - (value - VALUE_OF(t)));
}
/* a / b, both settled, with what its rounding keeps. */
INLINE_ Total OVER(Total a, Total b) {
    const REAL value = DIVIDE(VALUE_OF(a), VALUE_OF(b));
    const REAL left = fma(-value, VALUE_OF(b), VALUE_OF(a)) + fma(-value, REST_OF(b), REST_OF(a));
    return settled_(total_(value, DIVIDE(left, VALUE_OF(b))));
}
/* Lane l before it takes parts: 0, and its rest where the parts are lanes, whose rests follow. */
#define BEGIN_(parts, l, rests) total_(0, (l) < (rests) ? (parts)[TOTAL_LANES + (l)] : 0)
#define KEEP_(lanes, l, t)                                                  \
    ((lanes)[l] = VALUE_OF(t), (lanes)[TOTAL_LANES + (l)] = REST_OF(t))
#else
typedef REAL Total;
#define VALUE_OF(t) (t)
#define REST_OF(t) 0
#define PLUS_PART(t, x) ((t) + (x))
#define PLUS_TOTAL(t, other) ((t) + (other))
#define LARGEST_PART(t, x) fmax(t, x)
#define LARGEST_TOTAL(t, other) fmax(t, other)
#define settled_(t) (t)
#define BEGIN_(parts, l, rests) 0
#define KEEP_(lanes, l, t) ((lanes)[l] = (t))
#endif

/* As `largest` says. */
#define EITHER_PART(t, x) (largest ? LARGEST_PART(t, x) : PLUS_PART(t, x))
#define EITHER_TOTAL(t, other) (largest ? LARGEST_TOTAL(t, other) : PLUS_TOTAL(t, other))

/* TOTAL_LANES totals each of n lists, in local memory, added pairwise by one group: l and l plus
   half of them, and so on. A work-item does two to four of these halvings on its own, for a
   barrier takes as long. The sum of a list is where its first number was. */
#define ADD_LANES(t, n, OP)                                                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                           \
    FOLD_(t, n, TOTAL_LANES, TOTAL_LANES, TOTAL_LANES / 8, OP)              \
    FOLD_(t, n, TOTAL_LANES, TOTAL_LANES / 8, TOTAL_LANES / 64, OP)         \
    FOLD_(t, n, TOTAL_LANES, TOTAL_LANES / 64, 1, OP)
/* `from` totals each of n lists to as few as `to`; a list begins `apart` numbers behind the last. */
#define FOLD_(t, n, apart, from, to, OP)                                    \
    EACH_LANE_(l_, (n) * (to)) {                                            \
        __local Total *z_ = (t) + l_ / (to) * (apart) + l_ % (to);          \
        Total v_[(from) / (to)];                                            \
        UNROLL_ for (uint k_ = 0; k_ < (from) / (to); ++k_)                 \
            v_[k_] = z_[k_ * (to)];                                         \
        UNROLL_ for (uint w_ = (from) / (to) / 2; w_ > 0; w_ /= 2)          \
            UNROLL_ for (uint k_ = 0; k_ < w_; ++k_)                        \
                v_[k_] = OP##_TOTAL(v_[k_], v_[k_ + w_]);                   \
        z_[0] = v_[0];                                                      \
    }                                                                       \
    barrier(CLK_LOCAL_MEM_FENCE);

/* A kernel of one group, which adds. */
#ifdef ADDING
#define ADDING_KERNEL __kernel __attribute__((reqd_work_group_size(ADDING, 1, 1)))
#else
#define ADDING_KERNEL __kernel
#endif

/* s <- s OP the parts of lane l: part b belongs to lane b % TOTAL_LANES, which takes its parts in
   ascending order. So many loads go ahead at once, for there is little else to hide their time
   behind; beyond the end they are 0, which changes nothing, for a lane begins with 0. */
#define TAKE_(s, parts, l, count, ahead, OP)                                \
    for (uint i_ = (l); i_ < (count); i_ += (ahead) * TOTAL_LANES) {        \
        REAL v_[ahead];                                                     \
        UNROLL_ for (uint k_ = 0; k_ < (ahead); ++k_)                       \
            v_[k_] = PART_(parts, i_ + k_ * TOTAL_LANES, count);            \
        UNROLL_ for (uint k_ = 0; k_ < (ahead); ++k_)                       \
            s = OP##_PART(s, v_[k_]);                                       \
    }
#define PART_(parts, i, count) ((i) < (count) ? (parts)[i] : 0)

/* Three sums of partial results by one group, of which one work-item goes on: lanes as above, then
   these are added pairwise. The CPU does the same. */
#define EACH_LANE_(l, n) for (uint l = get_local_id(0); l < (n); l += get_local_size(0))
#define TOTALS(a, b, c, parts, rests)                                       \
    __local Total t_[3 * TOTAL_LANES];                                      \
    EACH_LANE_(l_, TOTAL_LANES) {                                           \
        Total s_[3] = {BEGIN_(a, l_, rests), BEGIN_(b, l_, rests),          \
                       BEGIN_(c, l_, rests)};                               \
        for (uint i_ = l_; i_ < (parts); i_ += 4 * TOTAL_LANES) {           \
            REAL v_[12];                                                    \
            UNROLL_ for (uint k_ = 0; k_ < 4; ++k_) {                       \
                const uint at_ = i_ + k_ * TOTAL_LANES;                     \
                v_[3 * k_] = PART_(a, at_, parts);                          \
                v_[3 * k_ + 1] = PART_(b, at_, parts);                      \
                v_[3 * k_ + 2] = PART_(c, at_, parts);                      \
            }                                                               \
            UNROLL_ for (uint k_ = 0; k_ < 12; ++k_)                        \
                s_[k_ % 3] = PLUS_PART(s_[k_ % 3], v_[k_]);                 \
        }                                                                   \
        UNROLL_ for (uint k_ = 0; k_ < 3; ++k_)                             \
            t_[k_ * TOTAL_LANES + l_] = s_[k_];                             \
    }                                                                       \
    ADD_LANES(t_, 3, PLUS)                                                  \
    if (get_local_id(0) != 0)                                               \
        return;
#define SUM_OF(k) settled_(t_[(k) * TOTAL_LANES])
