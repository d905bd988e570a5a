"""Names that start with two underscores: a class has them under names of its own."""

from __future__ import annotations

import numpy as np
import pytest

import stcompile as st
from tests.programs import Examples

X = np.array([0.7, 1.3, 2.1])
example = Examples()

__shift = 3.0
_Model__shift = 8.0


class Model:
    __rate = 2.0

    def __init__(self, x):
        self.__x = x
        self.__steps: int = 0

    @staticmethod
    def __doubled(x):
        return x * 2

    @classmethod
    def __made(cls, x):
        return cls.__doubled(x) + Model.__rate

    def total(self):
        self.__steps += 1
        self.__x = self.__x * self.__rate
        return np.sum(self.__made(self.__x)) * self.__steps

    def shifted(self, x):
        return x * __shift  # what a class reads of the module has its long name as well

    def local(self, __x, *, __factor=2.0):
        __y, __z = __x * __factor, 1.0

        def __power(__n):
            nonlocal __z
            __z = __z * __x
            return __x**__n

        import numpy as __np

        return __np.sum(__y + __power(2)) + sum(__x * __k for __k in (1, 2)) * __z

    def matched(self, x):
        match {"a": x, "b": 2.0}:
            case {"a": __first, **__rest}:
                return __first * len(__rest)


class Same(Model):
    """Attributes of the same short names."""

    def __init__(self, x):
        super().__init__(x)
        self.__x = x + 100.0

    def total(self):
        return super().total() + np.sum(self.__x)


class _Hidden:
    __factor = 4.0

    class Inner:
        __factor = 5.0

        def scaled(self, x):
            return x * self.__factor

    def scaled(self, x):
        return self.Inner().scaled(x) * self.__factor


class __:
    """There is nothing to make a long name of."""

    __factor = 6.0

    def scaled(self, x):
        return x * self.__factor


NAMELESS = __


@example(X)
def attributes_and_methods(x):
    return Model(x).total()


@example(X)
def of_a_class_and_its_base(x):
    return Same(x).total()


@example(2.0)
def of_a_module(x):
    return Model(x).shifted(x)


@example(2.0)
def of_a_function(x):
    return Model(x).local(x) + Model(x).local(x, _Model__factor=x)


@example(2.0)
def of_a_pattern(x):
    return Model(x).matched(x)


@example(2.0)
def of_hidden_and_inner_classes(x):
    return _Hidden().scaled(x) + NAMELESS().scaled(x)


@example(2.0)
def outside_of_a_class(x):
    return x * __shift + Model(x)._Model__rate


test_program = example.tests()


def test_refusals_name_methods_as_they_are_written() -> None:
    class Filter:
        def __response(self, x):
            return np.sum(np.roots(x))

        def total(self, x):
            return self.__response(x)

    with pytest.raises(st.LanguageError, match=r", in __response\n"):
        st.grad(Filter().total)(X)


def test_a_missing_attribute_is_named_as_python_names_it() -> None:
    class Filter:
        def total(self, x):
            return x * self.__gain

    with pytest.raises(AttributeError) as plain:
        Filter().total(1.0)
    with pytest.raises(st.StcompileError, match=str(plain.value)):
        st.grad(Filter().total)(1.0)
