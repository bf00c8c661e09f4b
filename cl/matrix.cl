/* A compressed sliced-ELLPACK matrix; the format is described in src/sparse/sell/mod.rs, and
   src/kernel/mat.rs is the twin of this file. EACH_ENTRY(e, m, i, statement) does the statement for
   the entries of the rows i .. i + VECTOR of matrix m in turn, the diagonal first and then by
   ascending column (or all by that); VALUE(p, e) is their value in plane p, GATHER(x, e) is x at their
   columns. Where a row lacks an entry their product is -0, which adds nothing, and that of their sizes
   0: -0 and 0, or a value and the zero of the other sign. So a statement uses them in products alone.
   OWN_VALUE(v, p, e, first) makes v that of values which the kernel has computed itself, from element
   `first` on, of a matrix whose slices have each its own, in a program that is not SMALL.

   The statement is written out once for each kind of slice, and of step, so that the compiler knows
   what differs between them: it does not find out by itself. All its commas are in brackets, for
   OpenCL C has no macros of any number of arguments. */
#define MATRIX(m)                                                                                 \
    __global const uint4 *PASTE(m, _slices), __global const uint *PASTE(m, _index),               \
        const uint16 PASTE(m, _usual)
/* The values of a matrix of one plane; and those that most slices of a grid have, if they are the
   same for all rows of many. */
#define ONE_PLANE(m) __global const REAL *PASTE(m, _val), const Same_ PASTE(m, _same)
#if PAIRED
typedef PASTE(REAL, 16) Same_;
#define BITS_ uint
#else
typedef PASTE(REAL, 8) Same_;
#define BITS_ ulong
#endif
/* A vector of which like slices are stored once, and its rows i .. i + VECTOR. */
#define REPEATED(w) __global const uint *PASTE(w, _at), __global const REAL *PASTE(w, _kinds)
#define REPEAT(w, i)                                                                              \
    LOAD(PASTE(w, _kinds), PASTE(w, _at)[(i) / SLICE] + (Row_number)(i) % SLICE)
#define OWN_VALUE(v, p, e, first)                                                                 \
    Entry PASTE(v, _at) = e;                                                                      \
    PASTE(v, _at).value -= first;                                                                 \
    const realv v = OWN_VALUE_(p, PASTE(v, _at));
/* Of two matrices one may have none at all: gradients of a mesh that needs no nodes. */
#define HAS_ENTRIES_(m) (SMALL || PASTE(m, _usual).sa != 0)
#define FULL_ (1u << 31)
#define PACKED_ (1u << 30)
#define USUAL_ (1u << 29)
#define FAR_ (1u << 28) /* means something to the CPU alone */
#define LACKING_ (1u << 27) /* some of the usual steps: see ahead.cl */
#define GIVEN_ (1u << 26)   /* these, with the values that are given */
#define WIDE_STEPS_(at) ((at).s3 & ~(FULL_ | PACKED_ | USUAL_ | FAR_ | LACKING_ | GIVEN_))
#define INLINE_ static inline __attribute__((always_inline))
#ifndef UNROLL_
#define UNROLL_ _Pragma("unroll")
#endif

#if __OPENCL_VERSION__ >= 120
#define COUNT_(mask) popcount(mask)
#else
INLINE_ uint COUNT_(uint m) {
    m = m - ((m >> 1) & 0x55555555u);
    m = (m & 0x33333333u) + ((m >> 2) & 0x33333333u);
    return (((m + (m >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
}
#endif

typedef struct {
    __global const uint *index;
    uint block, differences;           /* first word of the steps; of the differences */
    uint affine, ones, shorts, end;    /* where each kind of step ends */
    uint flags;
    uint first, lane;                  /* first row of the slice; row in it */
    uint values;                       /* first value of the next step */
    uint taken;                        /* differences so far: words, of packed ones halves of words */
} Slice_;

/* Mask and base of step k, and differences, by words and by halves of words. */
#define STEP_(s, k) (*(__global const uint2 *)((s).index + ((s).block + 2 * (k))))
#define WORD_(s, k) ((s).index[(s).differences + (k)])
#define HALF_(s, k) (((__global const ushort *)(s).index)[2 * (s).differences + (k)])

INLINE_ Slice_ slice_(__global const uint4 *slices, __global const uint *index, size_t i) {
    const uint4 at = slices[i / SLICE];
    Slice_ s;
    s.index = index;
    s.affine = at.s2 & 0xff;
    s.ones = s.affine + ((at.s2 >> 8) & 0xff);
    s.shorts = s.ones + (at.s2 >> 16);
    s.end = s.shorts + WIDE_STEPS_(at);
    s.flags = at.s3;
    s.block = at.s1;
    s.differences = at.s1 + 2 * s.end;
    s.lane = (uint)(i % SLICE);
    s.first = (uint)i - s.lane;
    s.values = at.s0;
    s.taken = 0;
    return s;
}

#if VECTOR == 1
/* One row. What a row lacks is read from elsewhere, so that nothing branches. Memory is slow and
   many loads have to be under way: where the registers last (SMALL), steps are taken four at once
   (eight of LONG rows), then two, then one. Kinds that a slice lacks are jumped over, for the
   compiler would walk through their last steps. */
#define MOST_ (LONG ? 8 : 4)
#define AFFINE_ 0
#define ONES_ 1
#define SHORTS_ 2
#define WIDE_ 3
#define EACH_ENTRY(e, m, i, DO)                                                                   \
    if (HAS_ENTRIES_(m)) {                                                                        \
        Row_ r_ = row_(PASTE(m, _slices), PASTE(m, _index), i);                                   \
        PASTE(SAMES_, SMALL)(e, r_, m, DO)                                                        \
        if (SMALL && (r_.at.s3 & (USUAL_ | FULL_)) == (USUAL_ | FULL_))                           \
            USUALS_(e, r_, PASTE(m, _usual), true, DO)                                            \
        else if (SMALL && (r_.at.s3 & USUAL_))                                                    \
            USUALS_(e, r_, PASTE(m, _usual), false, DO)                                           \
        else PASTE(SEVENS_, SMALL)(e, r_, m, DO)                                                  \
        if (IS_PACKED_(r_.at))                                                                    \
            PACKEDS_(e, m, i, DO)                                                                 \
        else                                                                                      \
            PASTE(SLICES_, SMALL)(e, r_, DO)                                                      \
    }
#define PACKEDS_(e, m, i, DO)                                                                     \
    {                                                                                             \
        Slice_ s_ = slice_(PASTE(m, _slices), PASTE(m, _index), i);                               \
        _Pragma("unroll 1") for (uint k_ = 0; k_ < s_.end; ++k_) {                                \
            const Entry e = packed_(&s_, k_);                                                     \
            DO;                                                                                   \
        }                                                                                         \
    }
/* Where every step has one value for all rows, and columns that follow each other, nothing is stored
   for each row, so that nothing is to be found by counting. */
#define IS_PACKED_(at) (((at).s3 & PACKED_) && (((at).s2 & 0xffff00ffu) | WIDE_STEPS_(at)))
#define SAMES_0(e, r, m, DO)
#define SLICES_0(e, r, DO)                                                                        \
    if (IS_PLAIN_(r.at)) {                                                                        \
        if (r.at.s3 & FULL_)                                                                      \
            PLAIN_(e, r, true, DO)                                                                \
        else                                                                                      \
            PLAIN_(e, r, false, DO)                                                               \
    } else                                                                                        \
        KINDS_(LOOP_, e, r, false, DO)
#define SLICES_1(e, r, DO)                                                                        \
    if (IS_NEAR_(r.at, 1))                                                                        \
        NEARS_(e, r, 1, DO)                                                                       \
    else if (EAGER && IS_NEAR_(r.at, 2))                                                          \
        NEARS_(e, r, 2, DO)                                                                       \
    else if (r.at.s3 & FULL_)                                                                     \
        KINDS_(LOOPS_, e, r, true, DO)                                                            \
    else                                                                                          \
        KINDS_(LOOPS_, e, r, false, DO)
#define KINDS_(OF, e, r, full, DO)                                                                \
    {                                                                                             \
        OF(e, r, full, AFFINE_, DO)                                                               \
        OF(e, r, full, ONES_, DO)                                                                 \
        OF(e, r, full, SHORTS_, DO)                                                               \
        OF(e, r, full, WIDE_, DO)                                                                 \
    }
#define LOOP_(e, r, full, kind, DO)                                                               \
    _Pragma("unroll 1") for (uint n_ = begin_(&r, kind); n_ > 0; --n_)                            \
        STEPS_(1, e, r, full, kind, DO)
/* Steps of columns that follow each other, all with a value for each row or all with one: matrices of
   several vectors or planes on a grid have few others, and an H100 does not wait for memory there but
   issues instructions. Of one step of four planes (this source through clang and ptxas): 28 where no
   row lacks the entry, else 46, 55 in a loop for each kind. */
#define IS_PLAIN_(at)                                                                             \
    (!((at).s2 >> 16 | WIDE_STEPS_(at)) && (!((at).s2 & 0xff) || !((at).s2 & 0xff00)))
#define PLAIN_(e, r, full, DO)                                                                    \
    {                                                                                             \
        const uint affine_ = r.at.s2 & 0xff, by_ = affine_ ? SLICE : 1;                           \
        r.value -= affine_ ? 0 : r.lane;                                                          \
        _Pragma("unroll 1") for (uint n_ = affine_ + (r.at.s2 >> 8); n_ > 0; --n_) {              \
            const Entry e = step_(&r, full, AFFINE_, 0, 0);                                       \
            DO;                                                                                   \
            r.step += 2;                                                                          \
            r.value += by_;                                                                       \
        }                                                                                         \
    }
#define LOOPS_(e, r, full, kind, DO)                                                              \
    {                                                                                             \
        uint n_ = begin_(&r, kind);                                                               \
        if (n_) {                                                                                 \
            _Pragma("unroll 1") for (; n_ >= MOST_; n_ -= MOST_)                                  \
                STEPS_(MOST_, e, r, full, kind, DO)                                               \
            if (MOST_ > 4 && (n_ & 4))                                                            \
                STEPS_(4, e, r, full, kind, DO)                                                   \
            if (n_ & 2)                                                                           \
                STEPS_(2, e, r, full, kind, DO)                                                   \
            if (n_ & 1)                                                                           \
                STEPS_(1, e, r, full, kind, DO)                                                   \
        }                                                                                         \
    }
#define STEPS_(count, e, r, full, kind, DO)                                                       \
    {                                                                                             \
        UNROLL_ for (uint j_ = 0; j_ < count; ++j_) {                                             \
            const Entry e = step_(&r, full, kind, j_, j_);                                        \
            DO;                                                                                   \
        }                                                                                         \
        pass_(&r, kind, count);                                                                   \
    }

typedef struct {
    size_t value, column;
    uint has;
    /* Then `own` is the value, of rows that lack the entry as well; `none`, of the other sign, is
       what they gather, for that product is -0, too. */
    bool known;
    REAL own, none;
    /* Then `there` is what it gathers: see ahead.cl. */
    bool is_there;
    REAL there;
} Entry;

/* Where a row has got to. */
typedef struct {
    __global const uint *index;
    uint4 at;                      /* the slice */
    uint row, lane;
    uint step, value, difference;  /* places of the next step, of its value and its difference */
} Row_;

INLINE_ Row_ row_(__global const uint4 *slices, __global const uint *index, size_t i) {
    Row_ r;
    r.index = index;
    r.at = KEPT_WORDS(slices + i / SLICE);
    r.row = (uint)i;
    r.lane = r.row % SLICE;
    r.step = r.at.s1;
    r.value = r.at.s0 + r.lane;
    r.difference = 0;
    return r;
}

/* Goes on to the steps of a kind, which come in this order; returns their number. */
INLINE_ uint begin_(Row_ *r, uint kind) {
    const uint affine = r->at.s2 & 0xff, ones = (r->at.s2 >> 8) & 0xff, shorts = r->at.s2 >> 16;
    const uint wide = WIDE_STEPS_(r->at);
    if (kind == ONES_)
        r->value -= r->lane;
    if (kind == SHORTS_) {
        r->value += r->lane;
        r->difference = 2 * (r->at.s1 + 2 * (affine + ones + shorts + wide)) + r->lane;
    }
    if (kind == WIDE_)
        r->difference = (r->difference + r->lane) / 2;
    return kind == AFFINE_ ? affine : kind == ONES_ ? ones : kind == SHORTS_ ? shorts : wide;
}

/* Goes on by so many steps of a kind. */
INLINE_ void pass_(Row_ *r, uint kind, uint steps) {
    r->step += 2 * steps;
    r->value += steps * (kind == ONES_ ? 1 : SLICE);
    if (kind >= SHORTS_)
        r->difference += steps * SLICE;
}

/* The entry of step j from here, of a kind, with difference number d from here, if that has any. Offsets
   that the compiler knows stay apart. */
INLINE_ Entry step_(const Row_ *r, bool full, uint kind, uint j, uint d) {
    __global const uint *step = &r->index[r->step];
    __global const ushort *halves = (__global const ushort *)r->index;
    uint2 both;
    if (full)
        both.s1 = step[2 * j + 1];
    else
        both = *(__global const uint2 *)&step[2 * j];
    Entry e;
    e.known = e.is_there = false;
    e.has = full || (both.s0 >> r->lane & 1);
    e.value = (size_t)r->value + j * (kind == ONES_ ? 1 : SLICE);
    uint column = r->row + both.s1;
    if (kind == SHORTS_)
        column += ONCE_HALF(&halves[(size_t)r->difference + SLICE * d]) - r->lane;
    if (kind == WIDE_)
        column += ONCE_WORD(&r->index[(size_t)r->difference + SLICE * d]) - r->lane;
    /* A row that lacks an entry of a step with differences has a column that can be read. */
    e.column = full || kind >= SHORTS_ || e.has ? column : 0;
    return e;
}

INLINE_ Entry packed_(Slice_ *s, uint k) {
    const uint2 step = STEP_(*s, k);
    const uint all = COUNT_(step.s0), before = COUNT_(step.s0 & ((1u << s->lane) - 1u));
    const bool one = k >= s->affine && k < s->ones, wide = k >= s->shorts;
    Entry e;
    e.known = e.is_there = false;
    e.has = step.s0 >> s->lane & 1;
    e.value = s->values + (one || !e.has ? 0 : before);
    s->values += one ? 1 : all;
    uint difference = s->lane;
    if (k >= s->ones) {
        if (k == s->shorts)
            s->taken += s->taken & 1;
        const uint at = e.has ? before : 0;
        difference = wide ? WORD_(*s, s->taken / 2 + at) : HALF_(*s, s->taken + at);
        s->taken += wide ? 2 * all : all;
    }
    e.column = e.has ? s->first + step.s1 + difference : 0;
    return e;
}

#define VALUE(p, e)                                                                               \
    ((e).known ? (e).own : PASTE(OWN_, LONG)(&(p)[(e).value], (e).has))
#define GATHER(x, e)                                                                              \
    has_((e).is_there ? (e).there : (x)[(e).column], (e).has, (e).known ? (e).none : (REAL)(0))
#define OWN_VALUE_(p, e) has_((p)[(e).value], (e).has, (REAL)(-0.0f))
#define OWN_0(p, has) has_(ONCE(p), (has), (REAL)(-0.0f))
/* Of many values, those that rows lack are a part: `nodes:1000000` as given, on an H100, 80.8 -> 79.7 us. */
#define OWN_1(p, has) ONCE_IF(p, has)
INLINE_ REAL has_(REAL v, uint has, REAL other) { return has ? v : other; }

#endif
