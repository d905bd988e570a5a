"""Functions of NumPy and Python in C: libm's, and short ones that are printed where they are
called."""

from __future__ import annotations

_SAME = (
    *("tanh", "sinh", "cosh", "sin", "cos", "tan", "exp", "log", "sqrt", "exp2", "expm1", "log2"),
    *("log10", "log1p", "cbrt", "hypot", "floor", "ceil", "trunc", "rint", "copysign", "fmod"),
    *("atan2", "atan", "asin", "acos", "asinh", "acosh", "atanh", "erf", "erfc", "fabs", "lgamma"),
    *("fmax", "fmin", "pow"),
)
_ARCS = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")
LIBM = {name: name for name in _SAME} | {f"arc{n}": f"a{n}" for n in _ARCS} | {"gamma": "tgamma"}
"""Functions by their names in NumPy and in Python's math; float has the ending f."""

COMPLEX = frozenset({"tanh", "sinh", "cosh", "sin", "cos", "exp", "log", "sqrt"})
"""Functions that C has for complex numbers, with the beginning c."""

SORTS = frozenset({"lexsort", "partition", "argpartition"})
SORTED = "pass the order as an argument, an array of integers made by np.argsort: `x[order]` is C"
LOOPED = "write a loop over the elements, or pass the result as an argument"
"""Advice for functions that sort, and for other functions of whole arrays."""

INLINE = {
    "maximum": "{T} maximum{S}({T} x, {T} y) {{ return x >= y || x != x ? x : y; }}",
    "minimum": "{T} minimum{S}({T} x, {T} y) {{ return x <= y || x != x ? x : y; }}",
    "int_maximum": "{T} int_maximum{S}({T} x, {T} y) {{ return x > y ? x : y; }}",
    "int_minimum": "{T} int_minimum{S}({T} x, {T} y) {{ return x < y ? x : y; }}",
    "int_sign": "{T} int_sign{S}({T} x) {{ return (x > 0) - (x < 0); }}",
    "sign": "{T} sign{S}({T} x) {{ return x != x ? x : ({T})((x > 0) - (x < 0)); }}",
    "square": "{T} square{S}({T} x) {{ return x * x; }}",
    "reciprocal": "{T} reciprocal{S}({T} x) {{ return 1 / x; }}",
    "deg2rad": "{T} deg2rad{S}({T} x) {{ return x * ({T})0.017453292519943295; }}",
    "rad2deg": "{T} rad2deg{S}({T} x) {{ return x * ({T})57.29577951308232; }}",
    # Complex numbers as Numba has them: products by their parts, and quotients by Smith's method.
    # Those of C ask for NaN and infinity as well, each time.
    "complex_product": (
        "{T} complex_product{S}({T} x, {T} y)\n"
        "{{\n"
        "    const {R} a = creal{F}(x), b = cimag{F}(x), c = creal{F}(y), d = cimag{F}(y);\n"
        "    return {CMPLX}(a * c - b * d, a * d + b * c);\n"
        "}}"
    ),
    "complex_square": (
        "{T} complex_square{S}({T} x)\n"
        "{{\n"
        "    const {R} a = creal{F}(x), b = cimag{F}(x);\n"
        "    return {CMPLX}(a * a - b * b, a * b + b * a);\n"
        "}}"
    ),
    "complex_divide": (
        "{T} complex_divide{S}({T} x, {T} y)\n"
        "{{\n"
        "    const {R} a = creal{F}(x), b = cimag{F}(x), c = creal{F}(y), d = cimag{F}(y);\n"
        "    if (c == 0 && d == 0)\n"
        "        return {CMPLX}(a / fabs{F}(c), b / fabs{F}(c));\n"
        "    if (fabs{F}(c) >= fabs{F}(d)) {{\n"
        "        const {R} ratio = d / c, scale = c + d * ratio;\n"
        "        return {CMPLX}((a + b * ratio) / scale, (b - a * ratio) / scale);\n"
        "    }}\n"
        "    const {R} ratio = c / d, scale = c * ratio + d;\n"
        "    return {CMPLX}((a * ratio + b) / scale, (b * ratio - a) / scale);\n"
        "}}"
    ),
    "logaddexp": (
        "{T} logaddexp{S}({T} x, {T} y)\n"
        "{{\n"
        "    if (x == y)\n"
        "        return x + ({T})0.6931471805599453;\n"
        "    return x > y ? x + ({T})log1p(exp(y - x)) : y + ({T})log1p(exp(x - y));\n"
        "}}"
    ),
    "int_abs": "{T} int_abs{S}({T} x) {{ return x < 0 ? -x : x; }}",
    # As NumPy has it: 0 by 0, and integers wrap around.
    "int_floor_divide": (
        "{T} int_floor_divide{S}({T} x, {T} y)\n"
        "{{\n"
        "    if (y == 0 || y == -1)\n"
        "        return y == 0 ? 0 : ({T})(0 - (uint64_t)x);\n"
        "    {T} q = x / y;\n"
        "    return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;\n"
        "}}"
    ),
    "int_modulo": (
        "{T} int_modulo{S}({T} x, {T} y)\n"
        "{{\n"
        "    if (y == 0 || y == -1)\n"
        "        return 0;\n"
        "    {T} r = x % y;\n"
        "    return r != 0 && (r < 0) != (y < 0) ? r + y : r;\n"
        "}}"
    ),
    "floor_divide": (
        "{T} floor_divide{S}({T} x, {T} y)\n"
        "{{\n"
        "    {T} rest = ({T})fmod(x, y), whole = (x - rest) / y;\n"
        "    if (y == 0)\n"
        "        return x / y;\n"
        "    if (rest != 0 && (rest < 0) != (y < 0))\n"
        "        whole -= 1;\n"
        "    if (whole == 0)\n"
        "        return ({T})copysign(0, x / y);\n"
        "    {T} result = ({T})floor(whole);\n"
        "    return whole - result > ({T})0.5 ? result + 1 : result;\n"
        "}}"
    ),
    "modulo": (
        "{T} modulo{S}({T} x, {T} y)\n"
        "{{\n"
        "    {T} r = ({T})fmod(x, y);\n"
        "    if (r == 0)\n"
        "        return ({T})copysign(0, y);\n"
        "    return (r < 0) != (y < 0) ? r + y : r;\n"
        "}}"
    ),
    "int_power": (
        "{T} int_power{S}({T} x, {T} n)\n"
        "{{\n"
        "    {T} result = 1;\n"
        "    for (; n > 0; n /= 2, x *= x)\n"
        "        if (n % 2)\n"
        "            result *= x;\n"
        "    return result;\n"
        "}}"
    ),
    # The order of NumPy's sorts, in which NaN comes last; a sort by merging keeps equal ones as
    # they are. A row is every step-th of n elements, and `order` has 2 n places.
    "precedes": (
        "bool precedes{S}({T} x, {T} y)\n"
        "{{\n"
        "    return x < y || (!(x >= y) && (x <= 0 || x >= 0));\n"
        "}}"
    ),
    "order_row": (
        "void order_row{S}(const {T} *a, int64_t n, int64_t step, int64_t *order)\n"
        "{{\n"
        "    int64_t *merged = order + n;\n"
        "    for (int64_t i = 0; i < n; i++)\n"
        "        order[i] = i;\n"
        "    for (int64_t width = 1; width < n; width *= 2) {{\n"
        "        for (int64_t start = 0; start < n; start += 2 * width) {{\n"
        "            const int64_t middle = n - start > width ? start + width : n;\n"
        "            const int64_t end = n - middle > width ? middle + width : n;\n"
        "            int64_t i = start, j = middle;\n"
        "            for (int64_t k = start; k < end; k++) {{\n"
        "                const bool is_right = i == middle ||\n"
        "                    (j < end && precedes{S}(a[step * order[j]], a[step * order[i]]));\n"
        "                merged[k] = order[is_right ? j++ : i++];\n"
        "            }}\n"
        "        }}\n"
        "        memcpy(order, merged, (size_t)n * sizeof(int64_t));\n"
        "    }}\n"
        "}}"
    ),
    "argsort": (
        "void argsort{S}(const {T} *a, int64_t rows, int64_t n, int64_t step, int64_t *places, "
        "int64_t *order)\n"
        "{{\n"
        "    for (int64_t row = 0; row < rows; row++) {{\n"
        "        const int64_t at = row / step * n * step + row % step;\n"
        "        order_row{S}(a + at, n, step, order);\n"
        "        for (int64_t i = 0; i < n; i++)\n"
        "            places[at + step * i] = order[i];\n"
        "    }}\n"
        "}}"
    ),
    "sort": (
        "void sort{S}(const {T} *a, int64_t rows, int64_t n, int64_t step, {T} *sorted, "
        "int64_t *order)\n"
        "{{\n"
        "    for (int64_t row = 0; row < rows; row++) {{\n"
        "        const int64_t at = row / step * n * step + row % step;\n"
        "        order_row{S}(a + at, n, step, order);\n"
        "        for (int64_t i = 0; i < n; i++)\n"
        "            sorted[at + step * i] = a[at + step * order[i]];\n"
        "    }}\n"
        "}}"
    ),
    "searchsorted": (
        "int64_t searchsorted{S}(const {T} *a, int64_t n, {T} x, bool is_right)\n"
        "{{\n"
        "    int64_t low = 0;\n"
        "    for (int64_t high = n; low < high;) {{\n"
        "        const int64_t middle = low + (high - low) / 2;\n"
        "        if (is_right ? !precedes{S}(x, a[middle]) : precedes{S}(a[middle], x))\n"
        "            low = middle + 1;\n"
        "        else\n"
        "            high = middle;\n"
        "    }}\n"
        "    return low;\n"
        "}}"
    ),
    "interp": (
        "{T} interp{S}({T} x, const {T} *xp, const {T} *fp, int64_t n)\n"
        "{{\n"
        "    const int64_t j = searchsorted{S}(xp, n, x, true) - 1;\n"
        "    if (isnan(x))\n"
        "        return x;\n"
        "    if (j < 0 || j == n - 1 || xp[j] == x)\n"
        "        return fp[j < 0 ? 0 : j];\n"
        "    const {T} slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]);\n"
        "    {T} y = slope * (x - xp[j]) + fp[j];\n"
        "    if (isnan(y))\n"
        "        y = slope * (x - xp[j + 1]) + fp[j + 1];\n"
        "    return isnan(y) && fp[j] == fp[j + 1] ? fp[j] : y;\n"
        "}}"
    ),
    "wrapped": (
        "int64_t wrapped{S}(int64_t index, int64_t length)\n"
        "{{\n"
        "    return index < 0 ? index + length : index;\n"
        "}}"
    ),
    "place": (
        "int64_t place{S}(int64_t index, int64_t length, int *error, int code)\n"
        "{{\n"
        "    if (index >= 0 && index < length)\n"
        "        return index;\n"
        "    if (index < 0 && index >= -length)\n"
        "        return index + length;\n"
        "    *error = *error ? *error : code;\n"
        "    return 0;\n"
        "}}"
    ),
}
"""Short functions by name; T is the type of number, S the ending of the name; for complex numbers R
is the type of a part, F the ending of functions for it, and CMPLX what makes a number of parts."""

CALLED = {
    "order_row": "precedes",
    "argsort": "order_row",
    "sort": "order_row",
    "searchsorted": "precedes",
    "interp": "searchsorted",
}
"""The short function that another one calls."""
