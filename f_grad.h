/*
 * Written by stcompile: changes are lost when it writes this again.
 *
 * The value of `f` and its gradient with respect to `x1` and `x2`.
 * What Python's function returns are, in this order, value_out, d_x1_out, d_x2_out.
 *
 * Arrays lie in C order, and none may overlap another. The caller owns all of them. What is not
 * const is written: results, whose contents before the call do not matter, and arguments that the
 * function changes. The workspace holds intermediate values; it need not be cleared, may be static,
 * has 4 bytes, lies where a double may, and is for one call at a time. NaN and infinity are no
 * errors. Returned is 0, or the code of an error, after which the results mean nothing.
 */
#ifndef F_GRAD_H
#define F_GRAD_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
struct f_value_and_grad_workspace {
    int error;
};

#ifdef __cplusplus
int f_value_and_grad(double x1, double x2, double *value_out, double *d_x1_out, double *d_x2_out,
    struct f_value_and_grad_workspace *work);
}
#else
int f_value_and_grad(double x1, double x2, double *value_out, double *d_x1_out, double *d_x2_out,
    struct f_value_and_grad_workspace *work);
#endif

#endif
