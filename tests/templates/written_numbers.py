"""How numbers are computed, converted and drawn."""

from __future__ import annotations

import numpy as np

from tests.templates.rows import A, B, Counter, Row, S, T, V, W, Z, product, row


def transforms() -> list[Row]:
    return [
        row(own, f"np.fft.{own}(x0{text})", Z, n=n - (own == "irfft" and usual), **rest)
        for own in ("fft", "ifft", "irfft")
        for text, n, usual, rest in (
            ("", 4, False, {"axis": 1, "norm": "backward"}),
            (", axis=0", 3, False, {"axis": 0, "norm": "backward"}),
            (", 5, 1", 5, False, {"axis": 1, "norm": "backward"}),
            (", 5, 0", 5, False, {"axis": 0, "norm": "backward"}),
            (", 4, 1, 'ortho'", 4, False, {"axis": 1, "norm": "ortho"}),
        )
        if own != "irfft" or "5" in text or "ortho" in text
    ] + [
        row("irfft", "np.fft.irfft(x0)", Z, n=6, axis=1, norm="backward"),
        row("irfft", "np.fft.irfft(x0, axis=0)", Z, n=4, axis=0, norm="backward"),
        row("irfft", "np.fft.irfft(x0, 4, 1)", Z, n=4, axis=1, norm="backward"),
        row("rfft", "np.fft.rfft(x0)", A, n=4, axis=1, norm="backward"),
        row("rfft", "np.fft.rfft(x0, axis=0)", A, n=3, axis=0, norm="backward"),
        row("rfft", "np.fft.rfft(x0, 5, 1)", A, n=5, axis=1, norm="backward"),
        row("rfft", "np.fft.rfft(x0, 3, 0, 'forward')", A, n=3, axis=0, norm="forward"),
    ]


def products() -> list[Row]:
    last = {"contracted": ((1, 1),)}
    both = {"contracted": ((0, 0), (1, 1))}
    return [
        row("contract", "x0 @ x1", A, B.T, **product(contracted=((1, 0),), spelling="matmul")),
        row("contract", "np.dot(x0, x1)", A, V, **product(contracted=((1, 0),), spelling="dot")),
        row("contract", "np.inner(x0, x1)", A, B, **product(**last, spelling="inner")),
        row("contract", "np.outer(x0, x1)", V, W, **product(spelling="outer")),
        row(
            "contract",
            "np.einsum('ij,kj->ik', x0, x1)",
            *(A, B),
            **product(**last, spelling="einsum"),
        ),
        row(
            "contract",
            "np.tensordot(x0, x1, axes=(1, 1))",
            *(A, B),
            **product(**last, spelling="tensordot"),
        ),
        row(
            "contract",
            "np.tensordot(x0, x1, axes=((0, 1), (0, 1)))[()]",
            *(A, B),
            **product(**both, spelling="tensordot"),
        ),
        row("contract", "x0 @ x1.T", A, B, **product(**last)),
        row("contract", "x1 @ x0.T", A, B, **product(**last, order=(1, 0))),
        row("contract", "x0.mT @ x1", S.mT, T, **product(((0, 0),), ((1, 1),))),
        row("contract", "x0 @ x1.T", S, A, **product((), ((2, 1),))),
        row("contract", "np.outer(x0, x1)", V, W[:3], **product()),
        row("contract", "np.outer(x1, x0)", V, W[:3], **product(order=(1, 0))),
        row("contract", "np.vdot(x0, x1)", A, B, **product(**both)),
        row(
            "contract",
            "np.tensordot(x0, x1, axes=((0, 1), (0, 1)))[()]",
            *(Z, Z),
            **product(**both),
        ),
        row(
            "contract",
            "np.tensordot(x0, x1, axes=((0, 1), (1, 0)))[()]",
            *(A, B.T),
            **product(contracted=((0, 1), (1, 0))),
        ),
        row("contract", "np.tensordot(x0, x1, axes=(0, 0))", S, A[:2], **product((), ((0, 0),))),
        row("contract", "np.tensordot(x0, x1, axes=0)", A, V, **product()),
        row(
            "contract",
            "np.tensordot(x1, x0, axes=(0, 0))",
            *(S, A[:2]),
            **product((), ((0, 0),), (2, 0, 1)),
        ),
        row(
            "contract",
            "np.tensordot(x0, x1, axes=(0, 0)).transpose(1, 0, 2)",
            *(S, A[:2]),
            **product((), ((0, 0),), (1, 0, 2)),
        ),
        row("contract", "np.einsum('bi,bi->b', x0, x1)", A, B, **product(((0, 0),), ((1, 1),))),
        row(
            "contract",
            "np.einsum('bij,bj->bi', x0, x1)",
            *(S, A[:2]),
            **product(((0, 0),), ((2, 1),)),
        ),
        row(
            "contract",
            "np.einsum('ijk,lk->ijl', x0, x1)",
            *(S, A),
            **product((), ((2, 1),), spelling="einsum"),
        ),
        row(
            "contract",
            "np.tensordot(x0, x1, axes=(0, 0)).transpose(1, 2, 0)",
            *(S, A[:2]),
            **product((), ((0, 0),), (1, 2, 0)),
        ),
        row("einsum", "np.einsum('ij,jk', x0, x1)", A, B.T, subscripts="ij,jk"),
        row("convolve", "np.convolve(x0, x1, 'full')", V, W[:2], mode="full"),
        row("convolve", "np.convolve(x0, x1, 'same')", V, W[:2], mode="same"),
    ]


def algebra() -> list[Row]:
    m = A @ A.T + np.eye(3)
    turned = m + 1j * np.triu(m, 1)
    own = "np.linalg."
    return [
        row("slogdet", f"{own}slogdet(x0).sign", m, part="sign"),
        row("slogdet", f"{own}slogdet(x0).logabsdet", m, part="logabsdet"),
        *(
            row("eigh", f"{own}eigh(x0{side}).{part}", turned, part=part, lower=side == "")
            for part in ("eigenvalues", "eigenvectors")
            for side in ("", ", 'U'")
        ),
        row("eigvalsh", f"{own}eigvalsh(x0)", turned, lower=True),
        row("eigvalsh", f"{own}eigvalsh(x0, 'U')", turned, lower=False),
        *(
            row("eig", f"{own}eig(x0).{part}", turned, part=part)
            for part in ("eigenvalues", "eigenvectors")
        ),
        *(
            row("svd", f"{own}svd(x0, full_matrices=False).{part}", A, part=part)
            for part in ("U", "S", "Vh")
        ),
        row("svdvals", f"{own}svd(x0, compute_uv=False)", A),
        *(row("qr", f"{own}qr(x0).{part}", A.T, part=part) for part in ("Q", "R")),
        row("pinv", f"{own}pinv(x0)", A),
        row("pinv", f"{own}pinv(x0, 0.5)", A, rcond=0.5),
        row("lstsq", f"{own}lstsq(x0, x1)[0]", A, V[:3]),
        row("lstsq", f"{own}lstsq(x0, x1, 0.5)[0]", A, V[:3], rcond=0.5),
    ]


def conversions() -> list[Row]:
    f4 = np.dtype("f4")
    python = (("f8", "float", 1.5), ("i8", "int", 1.5), ("?", "bool", 1.5), ("c16", "complex", 1j))
    return [
        row("cast", "x0.astype(np.float32)", A, dtype=f4),
        row("cast", "np.float32(x0)", Counter(2), dtype=f4),
        *(
            row("to_python", f"{kind}({code})", x, dtype=np.dtype(own))
            for own, kind, number in python
            for code, x in (
                ("x0", np.array(number)),
                ("x0", np.float64(2)),
                ("x0.item()", np.array([number])),
                ("x0.item()", np.array([[number]])),
            )
        ),
        row("to_scalar", "x0[()]", np.array(2.0)),
        row("to_scalar", "x0", np.float32(2)),
        row("to_scalar", "np.int64(x0)", Counter(2)),
        row("asarray", "np.asarray(x0)", np.float32(2)),
        row("copy", "np.copy(x0)", A),
        row("copy", "x0.copy()", A, order="C"),
        row("copy", "+x0", A, order="+"),
        row("array", "np.array([x0, x1], np.float64)", V[0], W[0], shape=(2,), dtype=A.dtype),
        row("array", "np.zeros((0, 2), np.float64)", shape=(0, 2), dtype=A.dtype),
        row("constant", "np.zeros((0, 2), np.float32)", values=(), shape=(0, 2), dtype=f4),
        row(
            "constant",
            "np.array([[1], [2]], np.float32)",
            values=(1, 2),
            shape=(2, 1),
            dtype=f4,
        ),
        row("full", "np.zeros(3, np.float32)", 0, shape=(3,), dtype=f4),
        row("full", "np.ones((3, 2), np.float32)", 1, shape=(3, 2), dtype=f4),
        row("full", "np.full(3, 2.5, np.float32)", 2.5, shape=(3,), dtype=f4),
        row("full", "np.full((), x0, np.float32)", V[0], shape=(), dtype=f4),
        *(
            row("arange", f"np.arange({code})", start=a, stop=b, step=c, dtype=np.dtype(of))
            for code, a, b, c, of in (
                ("5", 0, 5, 1, "i8"),
                ("1, 5", 1, 5, 1, "i8"),
                ("5, 0, -2", 5, 0, -2, "i8"),
                ("0, 5, 2", 0, 5, 2, "i8"),
                ("5, dtype=np.float32", 0, 5, 1, "f4"),
                ("2.5, dtype=np.int64", 0, 2.5, 1, "i8"),
                ("0, 5, 1.5, dtype=np.int64", 0, 5, 1.5, "i8"),
                ("0.5, 3, dtype=np.int64", 0.5, 3, 1, "i8"),
            )
        ),
        row("eye", "np.eye(2, dtype=np.float32)", n=2, m=2, k=0, dtype=f4),
        row("eye", "np.eye(2, 3, k=1)", n=2, m=3, k=1, dtype=np.float64),
        row("undef", "0", kind="array", dtype=f4, dims=(), depth=0),
        row("not", "not x0", np.bool_(False)),
        row("and", "x0 and x1", np.bool_(True), np.float64(0)),
        row("or", "x0 or x1", np.float64(2), np.float64(1)),
        row("sum", "np.sum(x0, axis=(0, 1))", S, axis=(0, 1), keepdims=False),
    ]


def draws() -> list[Row]:
    rng, old = np.random.default_rng(1), np.random.RandomState(1)
    f4 = np.dtype("f4")
    return [
        row("seed", "x0.seed(5)", old, value=5),
        *(
            row(own, f"x0.{own}({code})", rng, size=size, dtype=of)
            for own in ("random", "standard_normal", "standard_exponential")
            for code, size, of in (
                ("", None, None),
                ("3", (3,), None),
                ("(3, 2)", (3, 2), None),
                ("size=3, dtype=np.float32", (3,), f4),
            )
        ),
        row("rand", "x0.rand(3, 2)", old, size=(3, 2)),
        row("randn", "x0.randn(3, 2)", old, size=(3, 2)),
        row("normal", "x0.normal(0.5, 2.0, size=3)", rng, 0.5, 2.0, size=(3,)),
        row("normal", "x0.normal(0.5, 2.0)", rng, 0.5, 2.0, size=None),
        row("uniform", "x0.uniform(0.5, 2.0, size=3)", rng, 0.5, 2.0, size=(3,)),
        row("exponential", "x0.exponential(2.0, size=3)", rng, 2.0, size=(3,)),
        row("integers", "x0.integers(9, size=3)", rng, 0, 9, size=(3,)),
        row("integers", "x0.integers(2, 9, size=3)", rng, 2, 9, size=(3,)),
        row("integers", "x0.integers(9, endpoint=True)", rng, 0, 9, endpoint=True),
        row(
            "integers",
            "x0.integers(0, 9, size=3, dtype=np.int32)",
            *(rng, 0, 9),
            size=(3,),
            dtype=np.dtype("i4"),
        ),
        row("randint", "x0.randint(9, size=3)", old, 0, 9, size=(3,)),
        row("randint", "x0.randint(2, 9, size=3)", old, 2, 9, size=(3,)),
        row(
            "randint",
            "x0.randint(0, 9, size=3, dtype=np.int32)",
            *(old, 0, 9),
            size=(3,),
            dtype=np.dtype("i4"),
        ),
        row("permutation", "x0.permutation(5)", rng, n=5),
        row("choice", "x0.choice(5, size=3)", rng, n=5, size=(3,)),
        row("choice", "x0.choice(5, size=3, replace=False)", rng, n=5, size=(3,), replace=False),
        row(
            "choice",
            "x0.choice(4, size=3, p=x1)",
            rng,
            np.array([0.1, 0.2, 0.3, 0.4]),
            n=4,
            size=(3,),
        ),
    ]
