/* The slices of a grid, for devices of one row per work-item: part of EACH_ENTRY (matrix.cl). */
#if VECTOR == 1
/* The steps that most slices of a grid have: their offsets are arguments of the kernel, so that
   nothing but the slice's four words is waited for before the loads of vectors. */
#define USUALS_(e, r, usual, full, DO)                                                            \
    {                                                                                             \
        const uint offset_[] = {usual.s2, usual.s3, usual.s4, usual.s5,                           \
                                usual.s6, usual.s7, usual.s8};                                    \
        const bool ones_ = (r.at.s2 & 0xff) == 0;                                                 \
        const uint value_ = ones_ ? r.value - r.lane : r.value, by_ = ones_ ? 1 : SLICE;          \
        switch (usual.s0) {                                                                       \
        case 4:                                                                                   \
            USUAL_STEPS_(4, e, r, usual, full, DO)                                                \
        case 5:                                                                                   \
            USUAL_STEPS_(5, e, r, usual, full, DO)                                                \
        case 6:                                                                                   \
            USUAL_STEPS_(6, e, r, usual, full, DO)                                                \
        default:                                                                                  \
            USUAL_STEPS_(7, e, r, usual, full, DO)                                                \
        }                                                                                         \
    }
#define USUAL_STEPS_(count, e, r, usual, full, DO)                                                \
    {                                                                                             \
        const uint steps_ = full ? 0 : steps_of_(&r, count);                                      \
        UNROLL_ for (uint j_ = 0; j_ < count; ++j_) {                                             \
            const Entry e =                                                                       \
                usual_(&r, full || (steps_ >> j_ & 1), full, value_ + j_ * by_, offset_[j_], usual.s1); \
            DO;                                                                                   \
        }                                                                                         \
    }                                                                                             \
    break;
/* The same where the values are arguments, too: most slices of a grid of one kind of cells. Loading a
   value takes the first cache as long as loading a row's number of the vector, and that cache, not
   memory, is what a product of an H100 waits for. */
#define SAMES_1(e, r, m, DO)                                                                      \
    if ((r.at.s3 & USUAL_) && r.at.s0 == PASTE(m, _usual).s9) {                                   \
        if (r.at.s3 & FULL_)                                                                      \
            SAME_(e, r, PASTE(m, _usual), PASTE(m, _same), true, DO)                              \
        else                                                                                      \
            SAME_(e, r, PASTE(m, _usual), PASTE(m, _same), false, DO)                             \
    } else
#define SAME_(e, r, usual, same, full, DO)                                                        \
    {                                                                                             \
        const uint offset_[] = {usual.s2, usual.s3, usual.s4, usual.s5,                           \
                                usual.s6, usual.s7, usual.s8};                                    \
        const uint steps_ = full ? 0 : steps_of_(&r, usual.s0);                                   \
        const REAL own_[] = {same.s0, same.s1, same.s2, same.s3, same.s4, same.s5, same.s6};      \
        if (usual.s0 == 6)                                                                        \
            SAME_STEPS_(6, e, r, usual, full, DO)                                                 \
        else                                                                                      \
            SAME_STEPS_(7, e, r, usual, full, DO)                                                 \
    }
#define SAME_STEPS_(count, e, r, usual, full, DO)                                                 \
    UNROLL_ for (uint j_ = 0; j_ < count; ++j_) {                                                 \
        Entry e = usual_(&r, full || (steps_ >> j_ & 1), full, 0, offset_[j_], usual.s1);         \
        e.known = true;                                                                           \
        e.own = own_[j_];                                                                         \
        e.none = other_zero_(e.own);                                                              \
        DO;                                                                                       \
    }
/* The zero of the other sign. */
INLINE_ REAL other_zero_(REAL v) {
    return PASTE(as_, REAL)(~PASTE(as_, BITS_)(v) & (BITS_)1 << (8 * sizeof(REAL) - 1));
}
/* The steps of so many that a row has an entry in, by bits. */
INLINE_ uint steps_of_(const Row_ *r, uint count) {
    return ((__global const uchar *)(r->index + (r->at.s1 + 2 * count)))[r->lane];
}
/* A row that lacks the entry has a column that can be read: that of a row that has it, or the last
   one. */
INLINE_ Entry usual_(const Row_ *r, bool has, bool full, uint value, uint offset, uint last) {
    Entry e;
    e.known = e.is_there = false;
    e.has = has;
    e.value = value;
    const uint column = r->row + offset;
    e.column = full ? column : min(column, last);
    return e;
}
#endif
