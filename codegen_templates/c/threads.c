/* -fopenmp runs loops in several threads. */
#ifdef _OPENMP
#define IN_THREADS _Pragma("omp parallel forCLAUSE")
#else
#define IN_THREADS
#endif
