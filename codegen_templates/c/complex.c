#ifndef CMPLX
#define CMPLX(x, y) complex_of_parts(x, y)
#define CMPLXF(x, y) complex_of_partsf(x, y)
static inline double complex complex_of_parts(double x, double y)
{
    const union { double parts[2]; double complex number; } both = {{x, y}};
    return both.number;
}
static inline float complex complex_of_partsf(float x, float y)
{
    const union { float parts[2]; float complex number; } both = {{x, y}};
    return both.number;
}
#endif
