/* The entries of eight rows at once, or twice eight, by AVX-512, whose masks do at once what several.cl does
   row by row, for PoCL: part of EACH_ENTRY (matrix.cl). What a mask lacks is not read.
   PoCL 3.1, a core of a Xeon, `couloir bench K --matrix M --where device --device 0 --threads 1`, medians,
   before this and the loops for each kind of several.cl -> with both, sixteen rows at once: `spmv`, of three
   runs in turns, `tet:1600000 --order rcm` 8.6 -> 4.7 ms (the CPU's own path, --where cpu --device none, 5.1,
   5.2), `nodes:1000000 --order rcm` 20.0 -> 16.3 (12.9, 13.4); of one, `pcg` `tet:1600000 --order rcm`
   8.7 -> 5.3, `grid:100` 3.0 -> 2.3; `gspmv` `nodes:1000000` 35.1 -> 27.0; `step`, `--rows 1000000`,
   366 -> 303. */
#if MASKED_
typedef PASTE(REAL, 8) Eight_;
/* As the compiler's functions have them. */
typedef REAL Reals_ __attribute__((vector_size(8 * sizeof(REAL))));
typedef int Words_ __attribute__((vector_size(8 * sizeof(int))));
typedef short Halves_ __attribute__((vector_size(8 * sizeof(short))));
#if PAIRED
#define LOAD_MASKED_ __builtin_ia32_loadups256_mask
#define EXPAND_ __builtin_ia32_expandloadsf256_mask
#define SELECT_ __builtin_ia32_selectps_256
#else
#define LOAD_MASKED_ __builtin_ia32_loadupd512_mask
#define EXPAND_ __builtin_ia32_expandloaddf512_mask
#define SELECT_ __builtin_ia32_selectpd_512
#endif
#define AS_(type, v) __builtin_astype(v, type)
#define AT_(type, p) ((const type *)(size_t)(p))

/* For the rows of the mask numbers that follow each other, with places for all rows or for these alone, or v;
   for others `other`. */
#define IN_PLACE_(p, mask, other)                                                                 \
    AS_(Eight_, LOAD_MASKED_(AT_(Reals_, p), AS_(Reals_, (Eight_)(other)), mask))
#define SPREAD_(p, mask, other)                                                                   \
    AS_(Eight_, EXPAND_(AT_(Reals_, p), AS_(Reals_, (Eight_)(other)), mask))
INLINE_ Eight_ select_(Eight_ v, uint mask, REAL other) {
    return AS_(Eight_, SELECT_(mask, AS_(Reals_, v), AS_(Reals_, (Eight_)(other))));
}

/* Rows row .. row + 8 of those at hand: which have the entry, and places of those before. */
#define MASK_(e, row) ((e)->mask >> (row)&0xff)
#define SKIPPED_(e, row) ((e)->gaps ? (row) : COUNT_((e)->mask & ((1u << (row)) - 1u)))
#define OF_SPACE_EIGHT_(space)                                                                    \
    INLINE_ __attribute__((overloadable)) Eight_ eight_values_(space const REAL *p,               \
                                                               const Entry *e, uint row) {        \
        const REAL none = (REAL)(-0.0f);                                                          \
        const uint mask = MASK_(e, row);                                                          \
        p += e->value;                                                                            \
        if (e->one)                                                                               \
            return select_((Eight_)(*p), mask, none);                                             \
        p += SKIPPED_(e, row);                                                                    \
        FETCH_(p, e->affine)                                                                      \
        return e->gaps ? IN_PLACE_(p, mask, none) : SPREAD_(p, mask, none);                       \
    }
EACH_SPACE_(OF_SPACE_EIGHT_)

/* Differences of a packed step; where a row lacks it, one by which its column can be read. */
INLINE_ uint8 spread_words_(__global const uint *p, uint mask, uint other) {
    const uint8 others = (uint8)(other);
    return AS_(uint8, __builtin_ia32_expandloadsi256_mask(AT_(Words_, p), AS_(Words_, others), mask));
}
INLINE_ uint8 spread_halves_(__global const ushort *p, uint mask) {
    const ushort8 none = (ushort8)(0);
    const uint packed = (1u << COUNT_(mask)) - 1u;
    const ushort8 v = AS_(
        ushort8, __builtin_ia32_loaddquhi128_mask(AT_(Halves_, p), AS_(Halves_, none), packed));
    return AS_(uint8, __builtin_ia32_expandsi256_mask(AS_(Words_, convert_uint8(v)),
                                                      AS_(Words_, (uint8)(0)), mask));
}
/* Loads of their own: of some the compiler else makes a gather, which is slower. */
#define ONE_(p) (*(volatile __global const REAL *)(p))
#define WORD_COLUMN_(l) ONE_(x + (e->base + e->words[row + l]))
#define HALF_COLUMN_(l) ONE_(x + e->base + e->halves[row + l])
#define COLUMN_(l) ONE_(x + at[l])
#define ROWS_(f) (Eight_)(f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7))
INLINE_ Eight_ eight_gathered_(__global const REAL *x, const Entry *e, uint row) {
    const REAL none = (REAL)(0);
    const uint mask = MASK_(e, row);
    if (e->affine) {
        /* Columns before the first one are large numbers. */
        const long before = e->base >= -(uint)VECTOR ? 1l << 32 : 0;
        return IN_PLACE_(x + (e->base - before + row), mask, none);
    }
    if (e->gaps || e->mask == ALL_ROWS)
        return select_(e->wide ? ROWS_(WORD_COLUMN_) : ROWS_(HALF_COLUMN_), mask, none);
    const uint skipped = SKIPPED_(e, row);
    const uint8 at = (uint8)(e->base) + (e->wide ? spread_words_(e->words + skipped, mask, *e->words)
                                                 : spread_halves_(e->halves + skipped, mask));
    return select_(ROWS_(COLUMN_), mask, none);
}
#if VECTOR == 8
#define BY_EIGHTS_(of, p, e) of(p, e, 0)
#else
#define BY_EIGHTS_(of, p, e) (realv)(of(p, e, 0), of(p, e, 8))
#endif
#define OF_SPACE_VALUE_(space)                                                                    \
    INLINE_ __attribute__((overloadable)) realv value_(space const REAL *p, const Entry *e) {     \
        return BY_EIGHTS_(eight_values_, p, e);                                                   \
    }
EACH_SPACE_(OF_SPACE_VALUE_)
INLINE_ realv gather_(__global const REAL *x, const Entry *e) {
    return BY_EIGHTS_(eight_gathered_, x, e);
}
#endif
