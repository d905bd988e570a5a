/* Short functions of generated C, which are printed where they are called.

   T is the type of numbers, and _S the ending of the names of functions for them. For complex
   numbers R is the type of a part, _F the ending of functions of C for them, and CMPLX_F makes
   one of its parts. */

T maximum_S(T x, T y)
{
    const T larger = x >= y ? x : y;
    return x != x ? x : larger;
}

T minimum_S(T x, T y)
{
    const T smaller = x <= y ? x : y;
    return x != x ? x : smaller;
}

T int_maximum_S(T x, T y) { return x > y ? x : y; }

T int_minimum_S(T x, T y) { return x < y ? x : y; }

T int_sign_S(T x) { return (x > 0) - (x < 0); }

T sign_S(T x) { return x != x ? x : (T)((x > 0) - (x < 0)); }

T square_S(T x) { return x * x; }

T reciprocal_S(T x) { return 1 / x; }

T deg2rad_S(T x) { return x * (T)0.017453292519943295; }

T rad2deg_S(T x) { return x * (T)57.29577951308232; }

/* Complex numbers as Numba has them: products by their parts, and quotients by Smith's method.
   Those of C ask for NaN and infinity as well, each time. */

T complex_product_S(T x, T y)
{
    const R a = creal_F(x), b = cimag_F(x), c = creal_F(y), d = cimag_F(y);
    return CMPLX_F(a * c - b * d, a * d + b * c);
}

T complex_square_S(T x)
{
    const R a = creal_F(x), b = cimag_F(x);
    return CMPLX_F(a * a - b * b, a * b + b * a);
}

T complex_divide_S(T x, T y)
{
    const R a = creal_F(x), b = cimag_F(x), c = creal_F(y), d = cimag_F(y);
    if (c == 0 && d == 0)
        return CMPLX_F(a / fabs_F(c), b / fabs_F(c));
    if (fabs_F(c) >= fabs_F(d)) {
        const R ratio = d / c, scale = c + d * ratio;
        return CMPLX_F((a + b * ratio) / scale, (b - a * ratio) / scale);
    }
    const R ratio = c / d, scale = c * ratio + d;
    return CMPLX_F((a * ratio + b) / scale, (b * ratio - a) / scale);
}

T sinc_S(T x)
{
    const T y = (T)3.141592653589793 * x;
    return y == 0 ? 1 : (T)sin(y) / y;
}

T logaddexp_S(T x, T y)
{
    if (x == y)
        return x + (T)0.6931471805599453;
    return x > y ? x + (T)log1p(exp(y - x)) : y + (T)log1p(exp(x - y));
}

T int_abs_S(T x) { return x < 0 ? -x : x; }

/* As NumPy has it: 0 by 0, and integers wrap around. */

T int_floor_divide_S(T x, T y)
{
    if (y == 0 || y == -1)
        return y == 0 ? 0 : (T)(0 - (uint64_t)x);
    T q = x / y;
    return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;
}

T int_modulo_S(T x, T y)
{
    if (y == 0 || y == -1)
        return 0;
    T r = x % y;
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

T floor_divide_S(T x, T y)
{
    T rest = (T)fmod(x, y), whole = (x - rest) / y;
    if (y == 0)
        return x / y;
    if (rest != 0 && (rest < 0) != (y < 0))
        whole -= 1;
    if (whole == 0)
        return (T)copysign(0, x / y);
    T result = (T)floor(whole);
    return whole - result > (T)0.5 ? result + 1 : result;
}

T modulo_S(T x, T y)
{
    T r = (T)fmod(x, y);
    if (r == 0)
        return (T)copysign(0, y);
    return (r < 0) != (y < 0) ? r + y : r;
}

T whole_power_S(T x, int64_t n)
{
    T product = 1;
    for (; n > 0; n /= 2, x *= x)
        if (n % 2)
            product *= x;
    return product;
}

/* The order of NumPy's sorts, in which NaN comes last; a sort by merging keeps equal ones as they
   are. A row is every step-th of n elements, and `order` has 2 n places, of which the first n hold
   the places to be sorted. */

bool precedes_S(T x, T y)
{
    return x < y || (!(x >= y) && (x <= 0 || x >= 0));
}

void order_row_S(const T *a, int64_t n, int64_t step, int64_t *order)
{
    int64_t *merged = order + n;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t start = 0; start < n; start += 2 * width) {
            const int64_t middle = n - start > width ? start + width : n;
            const int64_t end = n - middle > width ? middle + width : n;
            int64_t i = start, j = middle;
            for (int64_t k = start; k < end; k++) {
                const bool is_right = i == middle ||
                    (j < end && precedes_S(a[step * order[j]], a[step * order[i]]));
                merged[k] = order[is_right ? j++ : i++];
            }
        }
        memcpy(order, merged, (size_t)n * sizeof(int64_t));
    }
}

void numbered_S(int64_t rows, int64_t n, int64_t step, T *places)
{
    for (int64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < n; i++)
            places[row / step * n * step + row % step + step * i] = i;
}

void argsort_S(const T *a, int64_t rows, int64_t n, int64_t step, int64_t *places, int64_t *order)
{
    for (int64_t row = 0; row < rows; row++) {
        const int64_t at = row / step * n * step + row % step;
        for (int64_t i = 0; i < n; i++)
            order[i] = places[at + step * i];
        order_row_S(a + at, n, step, order);
        for (int64_t i = 0; i < n; i++)
            places[at + step * i] = order[i];
    }
}

void sort_S(const T *a, int64_t rows, int64_t n, int64_t step, T *sorted, int64_t *order)
{
    for (int64_t row = 0; row < rows; row++) {
        const int64_t at = row / step * n * step + row % step;
        for (int64_t i = 0; i < n; i++)
            order[i] = i;
        order_row_S(a + at, n, step, order);
        for (int64_t i = 0; i < n; i++)
            sorted[at + step * i] = a[at + step * order[i]];
    }
}

void cumprod_S(const T *a, int64_t rows, int64_t n, int64_t step, T *products)
{
    for (int64_t row = 0; row < rows; row++) {
        const int64_t at = row / step * n * step + row % step;
        T product = 1;
        for (int64_t i = 0; i < n; i++)
            products[at + step * i] = product *= a[at + step * i];
    }
}

void spread_S(const T *a, int64_t rows, int64_t n, int64_t step, T less, bool is_root, T *found)
{
    for (int64_t row = 0; row < rows; row++) {
        const int64_t at = row / step * n * step + row % step;
        double mean = 0, squares = 0;
        for (int64_t i = 0; i < n; i++)
            mean += (double)a[at + step * i];
        mean /= (double)n;
        for (int64_t i = 0; i < n; i++) {
            const double rest = (double)a[at + step * i] - mean;
            squares += rest * rest;
        }
        squares /= fmax((double)n - (double)less, 0);
        found[row] = (T)(is_root ? sqrt(squares) : squares);
    }
}

void convolve_S(const T *a, int64_t n, const T *b, int64_t m, int64_t start, int64_t count, T *sums)
{
    for (int64_t k = 0; k < count; k++) {
        const int64_t last = start + k;
        sums[k] = 0;
        for (int64_t i = last < m ? 0 : last - m + 1; i < n && i <= last; i++)
            sums[k] += a[i] * b[last - i];
    }
}

int64_t searchsorted_S(const T *a, int64_t n, T x, bool is_right)
{
    int64_t low = 0;
    for (int64_t high = n; low < high;) {
        const int64_t middle = low + (high - low) / 2;
        if (is_right ? !precedes_S(x, a[middle]) : precedes_S(a[middle], x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool is_monotonic_S(const T *bins, int64_t n)
{
    bool rises = true, falls = true;
    for (int64_t i = 1; i < n; i++) {
        rises = rises && bins[i - 1] <= bins[i];
        falls = falls && bins[i - 1] >= bins[i];
    }
    return rises || falls;
}

int64_t digitize_S(const T *bins, int64_t n, T x, bool is_right)
{
    const bool falls = n > 0 && bins[0] > bins[n - 1];
    int64_t low = 0;
    for (int64_t high = n; low < high;) {
        const int64_t middle = low + (high - low) / 2;
        const bool is_below = precedes_S(bins[middle], x), is_above = precedes_S(x, bins[middle]);
        if (falls ? is_above || (is_right && !is_below) : is_below || (!is_right && !is_above))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

T interp_S(T x, const T *xp, const T *fp, int64_t n)
{
    const int64_t j = searchsorted_S(xp, n, x, true) - 1;
    if (isnan(x))
        return x;
    if (j < 0 || j == n - 1 || xp[j] == x)
        return fp[j < 0 ? 0 : j];
    const T slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]);
    T y = slope * (x - xp[j]) + fp[j];
    if (isnan(y))
        y = slope * (x - xp[j + 1]) + fp[j + 1];
    return isnan(y) && fp[j] == fp[j + 1] ? fp[j] : y;
}

int64_t wrapped_S(int64_t index, int64_t length)
{
    return index < 0 ? index + length : index;
}

int64_t place_S(int64_t index, int64_t length, int *error, int code)
{
    if (index >= 0 && index < length)
        return index;
    if (index < 0 && index >= -length)
        return index + length;
    *error = *error ? *error : code;
    return 0;
}
