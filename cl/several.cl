/* Several rows at a time, of a device that is a core with vector instructions: part of EACH_ENTRY
   (matrix.cl). A loop for each kind of step, so that the compiler knows where values and columns are. */
#if VECTOR > 1
#define ALL_ROWS (0xffffffffu >> (32 - VECTOR))
#define EACH_ENTRY(e, m, i, DO)                                                                   \
    if (HAS_ENTRIES_(m)) {                                                                        \
        Slice_ s_ = slice_(PASTE(m, _slices), PASTE(m, _index), i);                               \
        uint k_ = 0;                                                                              \
        if (s_.flags & PACKED_)                                                                   \
            KINDS_(e, true, DO)                                                                   \
        else                                                                                      \
            KINDS_(e, false, DO)                                                                  \
    }
#define KINDS_(e, packed, DO)                                                                     \
    {                                                                                             \
        STEPS_(e, s_.affine, true, false, false, packed, DO)                                      \
        STEPS_(e, s_.ones, true, true, false, packed, DO)                                         \
        STEPS_(e, s_.shorts, false, false, false, packed, DO)                                     \
        s_.taken += s_.taken & 1;                                                                 \
        STEPS_(e, s_.end, false, false, true, packed, DO)                                         \
    }
#define STEPS_(e, end, affine, one, wide, packed, DO)                                             \
    for (; k_ < end; ++k_) {                                                                      \
        const Entry e = entry_(&s_, k_, affine, one, wide, packed);                               \
        if (e.mask) {                                                                             \
            DO;                                                                                   \
        }                                                                                         \
    }

/* Asks for what is so many bytes ahead, into the first cache (3) or the second (2), as the CPU's own kernels
   do, by a function of the compiler that PoCL uses. */
#ifdef POCL_DEVICE_ADDRESS_BITS
#define ASK_(p, bytes, cache) __builtin_prefetch((const void *)((size_t)(p) + (bytes)), 0, cache)
#else
#define ASK_(p, bytes, cache)
#endif

typedef struct {
    uint mask;   /* of the rows at hand, those that have the entry */
    uint value;  /* the first one's value */
    bool one;    /* it stands for all */
    bool gaps;   /* rows that lack the entry have a place, too */
    bool affine; /* columns follow each other from base on; else they are base and a difference */
    bool wide;   /* of a word, not half of one */
    uint base;
    __global const uint *words;
    __global const ushort *halves;
} Entry;

/* What step k is; most of it the compiler knows. Differences are asked for a line at a time. */
INLINE_ Entry entry_(Slice_ *s, uint k, bool affine, bool one, bool wide, bool packed) {
    const uint2 step = STEP_(*s, k);
    const uint all = packed ? COUNT_(step.s0) : SLICE;
    const uint before = packed ? COUNT_(step.s0 & ((1u << s->lane) - 1u)) : s->lane;
    Entry e;
    e.mask = step.s0 >> s->lane & ALL_ROWS;
    e.one = one;
    e.gaps = !packed;
    e.affine = affine;
    e.wide = wide;
    e.value = s->values + (one ? 0 : before);
    e.base = s->first + step.s1 + (affine ? s->lane : 0);
    e.words = &WORD_(*s, s->taken / 2 + before);
    e.halves = &HALF_(*s, s->taken + before);
    if (!affine && s->lane == 0)
        ASK_(e.halves, 1024, 3);
    s->values += one ? 1 : all;
    s->taken += affine ? 0 : wide ? 2 * all : all;
    return e;
}

#define EACH_SPACE_(of) of(__global) of(__local) of(__private)
#define VALUE(p, e) value_(p, &(e))
#define OWN_VALUE_ VALUE
#define GATHER(x, e) gather_(x, &(e))
/* Asks for values. `couloir bench spmv --where device --device 0 --matrix M`, medians. On a core of a Xeon
   beside other work, 4 KiB ahead into the first cache, `tet:1600000 --order rcm` 17.7 to 20.3 ms without,
   12.5 to 13.0 with. More can be on its way to the second cache: where columns follow each other it alone
   is asked into, else both, on a Zen 4 `grid:100` 5.1 -> 3.3 ms, `nodes:1000000 --order rcm` 21.6 -> 16.8,
   `tet:1600000` 7.5 -> 6.2, in RCM order 8.6 -> 9.1. */
#define FETCH_(p, affine)                                                                         \
    {                                                                                             \
        if (!(affine))                                                                            \
            ASK_(p, 2048, 3);                                                                     \
        ASK_(p, 8192, 2);                                                                         \
    }

/* Whether masked.cl takes the rows. */
#define MASKED_ 0
#if defined(POCL_DEVICE_ADDRESS_BITS) && VECTOR >= 8 && defined(__AVX512BW__) && defined(__AVX512VL__)
#if __has_builtin(__builtin_ia32_loadupd512_mask) &&                                              \
    __has_builtin(__builtin_ia32_expandloaddf512_mask) &&                                         \
    __has_builtin(__builtin_ia32_selectpd_512) &&                                                 \
    __has_builtin(__builtin_ia32_expandloadsi256_mask) &&                                         \
    __has_builtin(__builtin_ia32_loaddquhi128_mask) &&                                            \
    __has_builtin(__builtin_ia32_expandsi256_mask)
#undef MASKED_
#define MASKED_ 1
#endif
#endif

#if !MASKED_
/* v where the mask has the row, else `other`. */
#if PAIRED
#define WIDTH_ 32
typedef PASTE(uint, VECTOR) bitsv;
#else
#define WIDTH_ 64
typedef PASTE(ulong, VECTOR) bitsv;
#endif
#define LEFT_2 1, 0
#define LEFT_4 3, 2, 1, 0
#define LEFT_8 7, 6, 5, 4, 3, 2, 1, 0
#define LEFT_16 15, 14, 13, 12, 11, 10, 9, 8, LEFT_8
INLINE_ realv has_(realv v, uint mask, REAL other) {
    if (mask == ALL_ROWS)
        return v;
    /* Each row's bit becomes the highest. */
    const bitsv left = (bitsv)(PASTE(LEFT_, VECTOR)) + (bitsv)(WIDTH_ - VECTOR);
    return select((realv)(other), v, (bitsv)(mask) << left);
}

/* f(l) for each row l at hand, in registers: what goes by way of memory in parts is waited for. */
#define ROWS_2_(f) f(0), f(1)
#define ROWS_4_(f) ROWS_2_(f), f(2), f(3)
#define ROWS_8_(f) ROWS_4_(f), f(4), f(5), f(6), f(7)
#define ROWS_16_(f)                                                                               \
    ROWS_8_(f), f(8), f(9), f(10), f(11), f(12), f(13), f(14), f(15)
#define ROWS_(f) (realv)(CASE_(CASE_(ROWS_, VECTOR), _)(f))

/* The place of row l among those that have the entry; 0 where it lacks it. */
INLINE_ uint place_(uint mask, uint l) {
    return mask >> l & 1 ? COUNT_(mask & ((1u << l) - 1u)) : 0;
}

#define PACKED_VALUE_(l) p[place_(e->mask, l)]
#define OF_SPACE_VALUE_(space)                                                                    \
    INLINE_ __attribute__((overloadable)) realv value_(space const REAL *p, const Entry *e) {     \
        const REAL none = (REAL)(-0.0f);                                                          \
        p += e->value;                                                                            \
        if (e->one)                                                                               \
            return has_((realv)(*p), e->mask, none);                                              \
        FETCH_(p, e->affine)                                                                      \
        if (e->gaps || e->mask == ALL_ROWS)                                                       \
            return has_(LOAD(p, 0), e->mask, none);                                               \
        return has_(ROWS_(PACKED_VALUE_), e->mask, none);                                         \
    }
EACH_SPACE_(OF_SPACE_VALUE_)

#define WORD_COLUMN_(l) x[e->base + e->words[l]]
#define HALF_COLUMN_(l) x[e->base + e->halves[l]]
#define WORD_PACKED_(l) x[e->base + e->words[place_(e->mask, l)]]
#define HALF_PACKED_(l) x[e->base + e->halves[place_(e->mask, l)]]
INLINE_ realv gather_(__global const REAL *x, const Entry *e) {
    realv v;
    if (e->affine) {
        /* No column is before the first one, nor beyond the last where the last row has one. */
        if (e->mask >> (VECTOR - 1) && e->base < -(uint)VECTOR)
            v = LOAD(x, e->base);
        else {
            REAL each[VECTOR];
            for (uint l = 0; l < VECTOR; ++l)
                each[l] = e->mask >> l & 1 ? x[e->base + l] : (REAL)(0);
            v = LOAD(each, 0);
        }
    } else if (e->gaps || e->mask == ALL_ROWS) {
        /* A row that lacks the entry has a column that can be read. */
        if (e->wide)
            v = ROWS_(WORD_COLUMN_);
        else
            v = ROWS_(HALF_COLUMN_);
    } else if (e->wide)
        v = ROWS_(WORD_PACKED_);
    else
        v = ROWS_(HALF_PACKED_);
    return has_(v, e->mask, (REAL)(0));
}
#endif
#endif
