/* -DREORDER_SUMS -fopenmp-simd adds the terms of long sums several at a time. */
#ifdef REORDER_SUMS
#define PRAGMA(text) _Pragma(#text)
#define IN_ANY_ORDER(total) PRAGMA(omp simd reduction(+ : total))
#else
#define IN_ANY_ORDER(total)
#endif
