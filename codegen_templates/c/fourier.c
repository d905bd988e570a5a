/* Fourier transforms of rows, every step-th of the elements of arrays. Of a row of the operand
   the first `given` elements are read, and zeros behind them; `work` has 3 n places.

   A transform of n elements is made of those of every p-th element, for one prime factor p of n
   after the other: it takes n additions for each factor, times the factor. */

void complex_roots_S(int64_t n, R sign, T *roots)
{
    for (int64_t k = 0; k < n; k++) {
        const double angle = 6.283185307179586 * (double)k / (double)n;
        roots[k] = CMPLX_F((R)cos(angle), sign * (R)sin(angle));
    }
}

void complex_dft_S(T *x, int64_t n, const T *roots, T *sums)
{
    for (int64_t length = 1, p = 2; length < n; length *= p) {
        while (n / length % p != 0)
            p++;
        const int64_t step = n / length / p;
        for (int64_t k = 0; k < length * p; k++) {
            const T *terms = x + k % length * p * step;
            memcpy(sums + k * step, terms, (size_t)step * sizeof(T));
            for (int64_t j = 1; j < p; j++) {
                const T root = roots[j * k % (length * p) * step];
                for (int64_t i = 0; i < step; i++)
                    sums[k * step + i] += complex_product_S(root, terms[j * step + i]);
            }
        }
        memcpy(x, sums, (size_t)n * sizeof(T));
    }
}

void complex_fft_S(const T *a, int64_t rows, int64_t given, int64_t step, int64_t n, R sign, R scale, int64_t count, T *spectrum, T *work)
{
    T *x = work, *roots = work + n;
    complex_roots_S(n, sign, roots);
    for (int64_t row = 0; row < rows; row++) {
        const T *from = a + row / step * given * step + row % step;
        T *to = spectrum + row / step * count * step + row % step;
        for (int64_t i = 0; i < n; i++)
            x[i] = i < given ? from[step * i] : 0;
        complex_dft_S(x, n, roots, work + 2 * n);
        for (int64_t i = 0; i < count; i++)
            to[step * i] = scale * x[i];
    }
}

void complex_irfft_S(const T *a, int64_t rows, int64_t given, int64_t step, int64_t n, R scale, R *signal, T *work)
{
    T *x = work, *roots = work + n;
    complex_roots_S(n, 1, roots);
    for (int64_t row = 0; row < rows; row++) {
        const T *from = a + row / step * given * step + row % step;
        R *to = signal + row / step * n * step + row % step;
        for (int64_t i = 0; i <= n / 2; i++) {
            x[i] = i < given ? from[step * i] : 0;
            if (i > 0 && 2 * i < n)
                x[n - i] = conj_F(x[i]);
        }
        complex_dft_S(x, n, roots, work + 2 * n);
        for (int64_t i = 0; i < n; i++)
            to[step * i] = scale * creal_F(x[i]);
    }
}
