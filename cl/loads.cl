/* Loads of what is read once: matrices. They leave the first cache to the vectors, whose values are
   read again by other rows; a hint, no more. LOAD_ONCE and STORE_ONCE are the like of vectors that
   come round again only when much else has been read. */
#ifdef __NV_CL_C_VERSION
#define ONCE(p) once_(p)
#define ONCE_IF(p, has) once_if_((p), (has))
#define ONCE_WORD(p) once_word_(p)
#define ONCE_HALF(p) once_half_(p)
typedef union {
    REAL all;
    ulong two;
    uint one;
} Bits_of_;
#define LOADING_(name, volatile_, cache, and)                               \
    inline REAL name(__global const REAL *p) {                              \
        Bits_of_ u;                                                         \
        if (sizeof(REAL) == sizeof(ulong))                                  \
            asm volatile_("ld.global" cache ".b64 %0, [%1];" : "=l"(u.two) : "l"(p) and); \
        else                                                                \
            asm volatile_("ld.global" cache ".b32 %0, [%1];" : "=r"(u.one) : "l"(p) and); \
        return u.all;                                                       \
    }
LOADING_(once_, , ".cs", )
/* The same of what the launch itself changes. */
LOADING_(once_anew_, volatile, ".cs", : "memory")
/* The same for work-items that have something there; -0, and nothing is read, for others. */
inline REAL once_if_(__global const REAL *p, uint has) {
    Bits_of_ u;
    u.all = (REAL)(-0.0f);
    if (sizeof(REAL) == sizeof(ulong))
        asm("{.reg .pred has; setp.ne.u32 has, %2, 0; @has ld.global.cs.b64 %0, [%1];}"
            : "+l"(u.two) : "l"(p), "r"(has));
    else
        asm("{.reg .pred has; setp.ne.u32 has, %2, 0; @has ld.global.cs.b32 %0, [%1];}"
            : "+r"(u.one) : "l"(p), "r"(has));
    return u.all;
}
#define STORING_(name, cache, hint, policy)                                 \
    inline void name(__global REAL *p, REAL v) {                            \
        Bits_of_ u;                                                         \
        u.all = v;                                                          \
        if (sizeof(REAL) == sizeof(ulong))                                  \
            asm volatile("st.global" cache ".b64 [%0], %1" hint ";"         \
                         : : "l"(p), "l"(u.two) policy : "memory");         \
        else                                                                \
            asm volatile("st.global" cache ".b32 [%0], %1" hint ";"         \
                         : : "l"(p), "r"(u.one) policy : "memory");         \
    }
STORING_(store_once_, ".cs", "", )
inline uint once_word_(__global const uint *p) {
    uint v;
    asm("ld.global.cs.b32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}
inline uint once_half_(__global const ushort *p) {
    ushort v;
    asm("ld.global.cs.u16 %0, [%1];" : "=h"(v) : "l"(p));
    return v;
}
#else
#define ONCE(p) (*(p))
#define ONCE_IF(p, has) ((has) ? *(p) : (REAL)(-0.0f))
#define ONCE_WORD(p) (*(p))
#define ONCE_HALF(p) ((uint)*(p))
#endif
/* The opposite: few bytes that come round with each launch, and that others wait for. The second cache would
   lose them to what is read in between, and is told to keep them: a matrix's slices and partial results. On
   an H100 an iteration of pcg on grids of 4M and 17M rows took 103 and 417 us, 101 and 415 with slices kept;
   with parts, too, of 4M rows 99.5 for 100.5, on 1.6M tetrahedra 53.0 for 53.8. */
#if defined(__NV_CL_C_VERSION) && KEEPS
inline ulong kept_(void) {
    ulong policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
    return policy;
}
inline uint4 kept_words_(__global const uint4 *p) {
    uint4 v;
    asm("ld.global.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
        : "=r"(v.s0), "=r"(v.s1), "=r"(v.s2), "=r"(v.s3)
        : "l"(p), "l"(kept_()));
    return v;
}
#define POLICY_ , "l"(kept_())
STORING_(keep_, ".L2::cache_hint", ", %2", POLICY_)
#define KEPT_WORDS(p) kept_words_(p)
#define KEEP(p, v) keep_((p), (v))
#else
#define KEPT_WORDS(p) (*(p))
#define KEEP(p, v) (*(p) = (v))
#endif
#if defined(__NV_CL_C_VERSION) && VECTOR == 1
#define LOAD_ONCE(p, i) ONCE((p) + (i))
#define LOAD_ANEW(p, i) once_anew_((p) + (i))
#define STORE_ONCE(p, i, v) store_once_((p) + (i), (v))
#else
#define LOAD_ONCE LOAD
#define LOAD_ANEW LOAD
#define STORE_ONCE STORE
#endif
