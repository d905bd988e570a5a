import numpy as np
from scipy import special
from scipy.linalg.blas import dgemv


def workspace():
    """`probit_value_and_grad` with its buffers: 225 bytes, made once."""
    v1 = np.empty(9, np.float64)
    v2 = np.empty(9, np.float64)
    v3 = np.empty(9, np.bool_)
    v4 = np.empty(9, np.float64)

    def probit_value_and_grad(w, x, sign):
        """The value of `probit` and its gradient with respect to `w`."""
        # --- forward ----------------------------------------------------------
        # scipy_models.py:30  return -np.sum(special.log_ndtr(sign * (x @ w)))
        dgemv(1.0, x.T, w, 0.0, v1, 0, 1, 0, 1, 1, 1)  # v1 = x @ w
        np.multiply(sign, v1, out=v1)
        special.log_ndtr(v1, out=v2)
        value = -np.add.reduce(v2, axis=None)
        # --- adjoint ----------------------------------------------------------
        # scipy_models.py:30  return -np.sum(special.log_ndtr(sign * (x @ w)))
        np.less(v1, -1, out=v3)
        np.copyto(v2, -1.0)
        np.copyto(v2, v1, where=v3)
        np.copyto(v4, v1)
        np.copyto(v4, -1.0, where=v3)
        np.divide(v2, -1.4142135623730951, out=v2)
        special.erfcx(v2, out=v2)
        np.divide(-0.7978845608028654, v2, out=v2)
        np.multiply(-0.5, v4, out=v1)
        np.multiply(v1, v4, out=v1)
        np.exp(v1, out=v1)
        special.ndtr(v4, out=v4)
        np.multiply(-2.5066282746310002, v4, out=v4)
        np.divide(v1, v4, out=v1)
        np.copyto(v4, v1)
        np.copyto(v4, v2, where=v3)
        np.multiply(v4, sign, out=v4)
        d_w = np.empty(4, np.float64)
        dgemv(1.0, x.T, v4, 0.0, d_w, 0, 1, 0, 1, 0, 1)  # d_w = x.T @ v4
        return value, d_w

    return probit_value_and_grad
