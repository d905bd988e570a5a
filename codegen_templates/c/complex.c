#ifndef CMPLX
#define CMPLX(x, y) ((double)(x) + (double)(y) * I)
#define CMPLXF(x, y) ((float)(x) + (float)(y) * I)
#endif
