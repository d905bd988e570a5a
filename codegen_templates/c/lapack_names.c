/* LAPACK's functions have names of Fortran, integers of 32 bits, and lengths of strings behind the
   other arguments: -D'LAPACK(name)=...' gives them other names. */
#ifndef LAPACK
#define LAPACK(name) name##_
#endif
