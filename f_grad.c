/*
 * Written by stcompile: changes are lost when it writes this again.
 * Compile this without -ffast-math, and with -fwrapv if integers may overflow.
 */
#include "f_grad.h"

#include <math.h>
#include <string.h>

/* The value of `f` and its gradient with respect to `x1` and `x2`. */
int f_value_and_grad(double x1, double x2, double *value_out, double *d_x1_out, double *d_x2_out,
    struct f_value_and_grad_workspace *work)
{
    work->error = 0;
    /* Forward */
    /* model.py:5  return np.log(x1) + x1 * x2 - np.sin(x2) */
    const double value = log(x1) + x1 * x2 - sin(x2);
    /* Adjoint */
    /* model.py:5  return np.log(x1) + x1 * x2 - np.sin(x2) */
    const double d_x2 = x1 - cos(x2);
    const double d_x1 = x2 + 1.0 / x1;
    *value_out = value;
    *d_x1_out = d_x1;
    *d_x2_out = d_x2;
    return work->error;
}

#ifdef SELF_TEST
#include <stdio.h>

static int differ_float64(const char *name, const double *found, const double *expected,
    int64_t count, double allowed)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        const bool are_equal = found[i] == expected[i] || (isnan(found[i]) && isnan(expected[i]));
        const double error = are_equal ? 0 : fabs((double)found[i] - (double)expected[i]);
        if (!(error <= largest) && largest == largest)
            largest = error;
    }
    printf("%s: largest error %.3g, allowed %.3g\n", name, largest, allowed);
    return !(largest <= allowed);
}

int main(void)
{
    const double given_x1 = 2.0;
    const double given_x2 = 5.0;
    static const double expected_value_out[1] = {11.652071455223084};
    static double found_value_out[1];
    static const double expected_d_x1_out[1] = {5.5};
    static double found_d_x1_out[1];
    static const double expected_d_x2_out[1] = {1.7163378145367738};
    static double found_d_x2_out[1];
    static struct f_value_and_grad_workspace memory, *work = &memory;
    int code = f_value_and_grad(given_x1, given_x2, found_value_out, found_d_x1_out, found_d_x2_out,
            work);
    if (code) {
        printf("error %d\n", code);
        return 1;
    }
    int failed = 0;
    failed += differ_float64("value_out", (const double *)found_value_out,
            (const double *)expected_value_out, 1, 1.17e-07);
    failed += differ_float64("d_x1_out", (const double *)found_d_x1_out,
            (const double *)expected_d_x1_out, 1, 5.5e-08);
    failed += differ_float64("d_x2_out", (const double *)found_d_x2_out,
            (const double *)expected_d_x2_out, 1, 1.72e-08);
    printf(failed ? "failed\n" : "ok\n");
    return failed != 0;
}
#endif
