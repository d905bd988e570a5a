"""What NumPy would refuse is refused before anything runs, with the shapes or dtypes at fault."""

from __future__ import annotations

import numpy as np

from stcompile import DerivativeError, TypingError
from stcompile.nn import logsumexp
from tests.diagnostics.refusals import Refusals

refused = Refusals()

X = np.linspace(0.5, 1.5, 6).reshape(2, 3)
Y = np.ones((4, 5))
BOTH = r"\(2, 3\).*\(4, 5\)|2,3.*4,5"
TEXTS = np.array(["a", "b"])
OBJECTS = np.array([1, None])


@refused(X, at="x + Y", reason=BOTH, hint="", error=TypingError)
def a_sum(x):
    return np.sum(x + Y)


@refused(X, Y, at="np.maximum(x, y)", reason=BOTH, hint="", error=TypingError)
def a_maximum(x, y):
    return np.sum(np.maximum(x, y))


@refused(X, Y, at="x @ y", reason=BOTH, hint="", error=TypingError)
def a_matrix_product(x, y):
    return np.sum(x @ y)


@refused(X, Y, at="np.dot(x, y)", reason=BOTH, hint="", error=TypingError)
def a_dot_product(x, y):
    return np.sum(np.dot(x, y))


@refused(X, at="x @ 2.0", reason="no matrix product", hint="[*]", error=TypingError)
def a_matrix_product_with_a_number(x):
    return np.sum(x @ 2.0)


@refused(X, Y, at="np.concatenate([x, y])", reason=BOTH, hint="", error=TypingError)
def a_concatenation(x, y):
    return np.sum(np.concatenate([x, y]))


@refused(X, Y, at="np.stack([x, y])", reason=BOTH, hint="", error=TypingError)
def a_stack(x, y):
    return np.sum(np.stack([x, y]))


@refused(X, at="x.reshape(4, 5)", reason=BOTH, hint="", error=TypingError)
def a_reshape(x):
    return np.sum(x.reshape(4, 5))


@refused(X, at="np.reshape(x, (4, -1))", reason=r"\(2, 3\).*\(4, -1\)", hint="", error=TypingError)
def an_open_reshape(x):
    return np.sum(np.reshape(x, (4, -1)))


@refused(X, at="np.broadcast_to(x, (4, 5))", reason=BOTH, hint="", error=TypingError)
def a_broadcast(x):
    return np.sum(np.broadcast_to(x, (4, 5)))


@refused(X, Y, at="np.where(x > 1, x, y)", reason=BOTH, hint="", error=TypingError)
def a_where(x, y):
    return np.sum(np.where(x > 1, x, y))


@refused(X, at="y[:2] = x", reason=r"\(2, 3\).*\(2,\)", hint="", error=TypingError)
def a_write(x):
    y = np.zeros(5)
    y[:2] = x
    return np.sum(y)


@refused(X, at="y += x", reason=r"\(3,\)", hint="", error=TypingError)
def a_write_that_would_grow_the_array(x):
    y = np.zeros(3)
    y += x
    return np.sum(y)


@refused(X, at="x.sum(axis=2)", reason=r"axis 2.*2|axis 2.*\(2, 3\)", hint="", error=TypingError)
def an_axis_out_of_range(x):
    return x.sum(axis=2)


@refused(X, at="x.transpose(0, 0)", reason=r"0, 0", hint="", error=TypingError)
def a_transposition_that_is_none(x):
    return np.sum(x.transpose(0, 0))


@refused(X, at="np.squeeze(x, axis=0)", reason=r"axis 0|2", hint="", error=TypingError)
def a_squeeze_of_a_long_axis(x):
    return np.sum(np.squeeze(x, axis=0))


@refused(X, at="np.split(x, 2, axis=1)", reason=r"3.*2|2.*3", hint="", error=TypingError)
def a_split_into_unequal_parts(x):
    return np.sum(np.split(x, 2, axis=1)[0])


@refused(X[:0], at="np.max(x)", reason="no elements", hint="", error=TypingError)
def a_maximum_of_nothing(x):
    return np.max(x)


@refused(X, at="x[2]", reason=r"index 2.*axis 0.*size 2", hint="", error=TypingError)
def an_index_out_of_range(x):
    return np.sum(x[2])


@refused(X, at="x[0, -4]", reason=r"index -4.*axis 1.*size 3", hint="", error=TypingError)
def a_negative_index_out_of_range(x):
    return x[0, -4]


@refused(X, at="x[0, 1, 2]", reason=r"indices: 3.*2 dim.*\(2, 3\)", hint="", error=TypingError)
def too_many_indices(x):
    return x[0, 1, 2]


@refused(X, at="x[..., ...]", reason=r"one `\.\.\.`", hint="", error=TypingError)
def two_ellipses(x):
    return np.sum(x[..., ...])


@refused(X, at="x[1.5]", reason="float|1.5", hint="", error=TypingError)
def a_float_as_an_index(x):
    return np.sum(x[1.5])


@refused(X, at='x["a"]', reason="str|'a'", hint="", error=TypingError)
def a_string_as_an_index(x):
    return np.sum(x["a"])


@refused(X, at="y[0] = x", reason=r"\(2, 3\)", hint="", error=TypingError)
def an_array_in_place_of_an_element(x):
    y = np.zeros(3)
    y[0] = x
    return np.sum(y)


@refused(X, at="items[5]", reason="index out of range", hint="", error=TypingError)
def a_list_index_out_of_range(x):
    items = [x, x]
    return np.sum(items[5])


@refused({"w": X}, at='params["v"]', reason="'v'|\"v\"", hint="", error=TypingError)
def a_missing_key(params):
    return np.sum(params["v"])


@refused(X, at="n += x[0]", reason="float64.*int64", hint="astype", error=TypingError)
def floats_into_an_integer_array(x):
    n = np.zeros(3, int)
    n += x[0]
    return np.sum(n * x)


@refused(X, at="x + TEXTS", reason="str|<U1", error=TypingError)
def a_captured_array_of_strings(x):
    return np.sum(x + TEXTS)


@refused(X, at="x * OBJECTS", reason="object", error=TypingError)
def a_captured_array_of_objects(x):
    return np.sum(x * OBJECTS)


@refused(X, at="x + 'a'", reason="str", error=TypingError)
def a_string_beside_an_array(x):
    return np.sum(x + 'a')  # fmt: skip


@refused(X, at="x * None", reason="None", error=TypingError)
def none_beside_an_array(x):
    return np.sum(x * None)


@refused(X, at="np.array([[1.0], [1.0, 2.0]])", reason="lengths", error=TypingError)
def a_ragged_list(x):
    return np.sum(x * np.array([[1.0], [1.0, 2.0]]))


@refused(X, at="float(x)", reason=r"\(2, 3\)|2,3", hint="", error=TypingError)
def an_array_as_a_number(x):
    return float(x)


@refused(X, at="np.sum(x * 1j)", reason="complex", hint="real part", error=DerivativeError)
def a_complex_result(x):
    return np.sum(x * 1j)


@refused(X * 1j, at="np.sort(x)", reason="`sort` is complex", hint="real", error=DerivativeError)
def complex_numbers_in_order(x):
    return np.sum(np.abs(np.sort(x)))


@refused(X, at="np.maximum(x * 1j, 0)", reason="`maximum` is complex", error=DerivativeError)
def a_maximum_of_complex_numbers(x):
    return np.sum(np.maximum(x * 1j, 0).imag)


@refused(X, at="logsumexp(x + 1j)", reason="rule of its own is complex", error=DerivativeError)
def a_rule_for_real_numbers(x):
    return logsumexp(x + 1j).real


@refused(X, at="np.linalg.qr(x * 1j)", reason="complex matrices", hint="outside")
def a_factorisation_of_complex_matrices(x):
    return np.sum(np.abs(np.linalg.qr(x * 1j)[0]))


@refused(X, at="np.linalg.pinv(x, x[0, 0])", reason="`rcond`", hint="a number")
def a_tolerance_of_the_data(x):
    return np.sum(np.linalg.pinv(x, x[0, 0]))


@refused(X, at="np.linalg.pinv(x, hermitian=True)", reason="square matrices", error=TypingError)
def a_pseudoinverse_of_a_triangle(x):
    return np.sum(np.linalg.pinv(x, hermitian=True))


@refused(X, at="np.linalg.eig(x)", reason="depends on its values", hint=r"a\.astype\(complex\)")
def eigenvectors_of_a_real_matrix(x):
    return np.sum(np.abs(np.linalg.eig(x)[0]))


@refused(X, at="np.linalg.eigvals(x)", reason="depends on its values", hint=r"a\.astype\(complex\)")
def eigenvalues_of_a_real_matrix(x):
    return np.sum(np.abs(np.linalg.eigvals(x)))


@refused(X, at="(x * 1j).astype(float)", reason="imaginary part: take x.real")
def a_lost_imaginary_part(x):
    return np.sum((x * 1j).astype(float))


@refused(X, at="np.real_if_close(x * 1j)", reason="depends on their values")
def perhaps_real(x):
    return np.sum(np.real_if_close(x * 1j))


@refused(X, at="np.fft.rfft(x * 1j)", reason="rfft: takes real numbers", error=TypingError)
def half_a_spectrum_of_complex_numbers(x):
    return np.sum(np.abs(np.fft.rfft(x * 1j)))


@refused(X, at="np.fft.fft(x, 0)", reason="Invalid number of FFT data points", error=TypingError)
def a_transform_of_nothing(x):
    return np.sum(np.abs(np.fft.fft(x, 0)))


@refused(X, at='np.fft.fft(x, norm="unit")', reason="Invalid norm value 'unit'", error=TypingError)
def an_unknown_norm(x):
    return np.sum(np.abs(np.fft.fft(x, norm="unit")))


test_refusal = refused.tests()
