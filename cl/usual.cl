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
    UNROLL_ for (uint j_ = 0; j_ < count; ++j_) {                                                 \
        const Entry e = usual_(&r, full, value_ + j_ * by_, offset_[j_], usual.s1, j_);           \
        DO;                                                                                       \
    }                                                                                             \
    break;
/* A row that lacks the entry has a column that can be read: that of a row that has it, or the last
   one. */
INLINE_ Entry usual_(const Row_ *r, bool full, uint value, uint offset, uint last, uint j) {
    Entry e;
    e.has = full || (r->index[r->step + 2 * j] >> r->lane & 1);
    e.value = value;
    const uint column = r->row + offset;
    e.column = full ? column : min(column, last);
    return e;
}
#endif
