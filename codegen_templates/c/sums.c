/* -DREORDER_SUMS -fopenmp-simd adds the terms of long sums several at a time, and
   unrolls short ones. */
#ifdef REORDER_SUMS
#define PRAGMA(text) _Pragma(#text)
#define IN_ANY_ORDER(total) PRAGMA(omp simd reduction(+ : total))
#define UNROLLED PRAGMA(GCC unroll 16)
#else
#define IN_ANY_ORDER(total)
#define UNROLLED
#endif
