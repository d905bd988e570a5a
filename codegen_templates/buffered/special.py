"""Functions of `scipy.special` into a given array, which may be that of an operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..lazy import special
from ..marks import into


@into(inplace=("x",))
def erf(out: Any, x: Any) -> None:
    special.erf(x, out=out)


@into(inplace=("x",))
def erfc(out: Any, x: Any) -> None:
    special.erfc(x, out=out)


@into(inplace=("x",))
def erfinv(out: Any, x: Any) -> None:
    special.erfinv(x, out=out)


@into(inplace=("x",))
def erfcinv(out: Any, x: Any) -> None:
    special.erfcinv(x, out=out)


@into(inplace=("x",))
def erfcx(out: Any, x: Any) -> None:
    special.erfcx(x, out=out)


@into(inplace=("x",))
def dawsn(out: Any, x: Any) -> None:
    special.dawsn(x, out=out)


@into(inplace=("x",))
def gamma(out: Any, x: Any) -> None:
    special.gamma(x, out=out)


@into(inplace=("x",))
def gammaln(out: Any, x: Any) -> None:
    special.gammaln(x, out=out)


@into(inplace=("x",))
def loggamma(out: Any, x: Any) -> None:
    special.loggamma(x, out=out)


@into(inplace=("x",))
def gammasgn(out: Any, x: Any) -> None:
    special.gammasgn(x, out=out)


@into(inplace=("x",))
def rgamma(out: Any, x: Any) -> None:
    special.rgamma(x, out=out)


@into(inplace=("x",))
def digamma(out: Any, x: Any) -> None:
    special.digamma(x, out=out)


@into(inplace=("x",))
def expit(out: Any, x: Any) -> None:
    special.expit(x, out=out)


@into(inplace=("x",))
def logit(out: Any, x: Any) -> None:
    special.logit(x, out=out)


@into(inplace=("x",))
def log_expit(out: Any, x: Any) -> None:
    special.log_expit(x, out=out)


@into(inplace=("x",))
def ndtr(out: Any, x: Any) -> None:
    special.ndtr(x, out=out)


@into(inplace=("x",))
def log_ndtr(out: Any, x: Any) -> None:
    special.log_ndtr(x, out=out)


@into(inplace=("x",))
def ndtri(out: Any, x: Any) -> None:
    special.ndtri(x, out=out)


@into(inplace=("x",))
def entr(out: Any, x: Any) -> None:
    special.entr(x, out=out)


@into(inplace=("x",))
def i0(out: Any, x: Any) -> None:
    special.i0(x, out=out)


@into(inplace=("x",))
def i0e(out: Any, x: Any) -> None:
    special.i0e(x, out=out)


@into(inplace=("x",))
def i1(out: Any, x: Any) -> None:
    special.i1(x, out=out)


@into(inplace=("x",))
def i1e(out: Any, x: Any) -> None:
    special.i1e(x, out=out)


@into(inplace=("x",))
def j0(out: Any, x: Any) -> None:
    special.j0(x, out=out)


@into(inplace=("x",))
def j1(out: Any, x: Any) -> None:
    special.j1(x, out=out)


@into(inplace=("x",))
def y0(out: Any, x: Any) -> None:
    special.y0(x, out=out)


@into(inplace=("x",))
def y1(out: Any, x: Any) -> None:
    special.y1(x, out=out)


@into(inplace=("x",))
def k0(out: Any, x: Any) -> None:
    special.k0(x, out=out)


@into(inplace=("x",))
def k0e(out: Any, x: Any) -> None:
    special.k0e(x, out=out)


@into(inplace=("x",))
def k1(out: Any, x: Any) -> None:
    special.k1(x, out=out)


@into(inplace=("x",))
def k1e(out: Any, x: Any) -> None:
    special.k1e(x, out=out)


@into(inplace=("x",))
def exp1(out: Any, x: Any) -> None:
    special.exp1(x, out=out)


@into(inplace=("x",))
def expi(out: Any, x: Any) -> None:
    special.expi(x, out=out)


@into(inplace=("x",))
def spence(out: Any, x: Any) -> None:
    special.spence(x, out=out)


@into(inplace=("x",))
def exprel(out: Any, x: Any) -> None:
    special.exprel(x, out=out)


@into(inplace=("x",))
def cosm1(out: Any, x: Any) -> None:
    special.cosm1(x, out=out)


@into(inplace=("x",))
def expm1(out: Any, x: Any) -> None:
    special.expm1(x, out=out)


@into(inplace=("x",))
def log1p(out: Any, x: Any) -> None:
    special.log1p(x, out=out)


@into(inplace=("x",))
def cbrt(out: Any, x: Any) -> None:
    special.cbrt(x, out=out)


@into(inplace=("x",))
def exp2(out: Any, x: Any) -> None:
    special.exp2(x, out=out)


@into(inplace=("x",))
def exp10(out: Any, x: Any) -> None:
    special.exp10(x, out=out)


@into(inplace=("x", "q"))
def zeta(out: Any, x: Any, q: Any) -> None:
    special.zeta(x, q, out=out)


@into(inplace=("a", "b"))
def beta(out: Any, a: Any, b: Any) -> None:
    special.beta(a, b, out=out)


@into(inplace=("a", "b"))
def betaln(out: Any, a: Any, b: Any) -> None:
    special.betaln(a, b, out=out)


@into(inplace=("x", "y"))
def xlogy(out: Any, x: Any, y: Any) -> None:
    special.xlogy(x, y, out=out)


@into(inplace=("x", "y"))
def xlog1py(out: Any, x: Any, y: Any) -> None:
    special.xlog1py(x, y, out=out)


@into(inplace=("x", "y"))
def rel_entr(out: Any, x: Any, y: Any) -> None:
    special.rel_entr(x, y, out=out)


@into(inplace=("x", "y"))
def kl_div(out: Any, x: Any, y: Any) -> None:
    special.kl_div(x, y, out=out)


@into(inplace=("v", "x"))
def iv(out: Any, v: Any, x: Any) -> None:
    special.iv(v, x, out=out)


@into(inplace=("v", "x"))
def ive(out: Any, v: Any, x: Any) -> None:
    special.ive(v, x, out=out)


@into(inplace=("v", "x"))
def jv(out: Any, v: Any, x: Any) -> None:
    special.jv(v, x, out=out)


@into(inplace=("v", "x"))
def yv(out: Any, v: Any, x: Any) -> None:
    special.yv(v, x, out=out)


@into(inplace=("n", "x"))
def yn(out: Any, n: Any, x: Any) -> None:
    special.yn(n, x, out=out)


@into(inplace=("v", "x"))
def kv(out: Any, v: Any, x: Any) -> None:
    special.kv(v, x, out=out)


@into(inplace=("v", "x"))
def kve(out: Any, v: Any, x: Any) -> None:
    special.kve(v, x, out=out)


@into(inplace=("a", "x"))
def gammainc(out: Any, a: Any, x: Any) -> None:
    special.gammainc(a, x, out=out)


@into(inplace=("a", "x"))
def gammaincc(out: Any, a: Any, x: Any) -> None:
    special.gammaincc(a, x, out=out)


@into(inplace=("a", "y"))
def gammaincinv(out: Any, a: Any, y: Any) -> None:
    special.gammaincinv(a, y, out=out)


@into(inplace=("a", "y"))
def gammainccinv(out: Any, a: Any, y: Any) -> None:
    special.gammainccinv(a, y, out=out)


@into(inplace=("n", "x"))
def expn(out: Any, n: Any, x: Any) -> None:
    special.expn(n, x, out=out)


@into(inplace=("x", "lmbda"))
def boxcox(out: Any, x: Any, lmbda: Any) -> None:
    special.boxcox(x, lmbda, out=out)


@into(inplace=("x", "lmbda"))
def boxcox1p(out: Any, x: Any, lmbda: Any) -> None:
    special.boxcox1p(x, lmbda, out=out)


@into(inplace=("y", "lmbda"))
def inv_boxcox(out: Any, y: Any, lmbda: Any) -> None:
    special.inv_boxcox(y, lmbda, out=out)


@into(inplace=("y", "lmbda"))
def inv_boxcox1p(out: Any, y: Any, lmbda: Any) -> None:
    special.inv_boxcox1p(y, lmbda, out=out)


@into(inplace=("delta", "r"))
def huber(out: Any, delta: Any, r: Any) -> None:
    special.huber(delta, r, out=out)


@into(inplace=("delta", "r"))
def pseudo_huber(out: Any, delta: Any, r: Any) -> None:
    special.pseudo_huber(delta, r, out=out)


@into(inplace=("x", "y"))
def binom(out: Any, x: Any, y: Any) -> None:
    special.binom(x, y, out=out)


@into(inplace=("z", "m"))
def poch(out: Any, z: Any, m: Any) -> None:
    special.poch(z, m, out=out)


@into(inplace=("df", "t"))
def stdtr(out: Any, df: Any, t: Any) -> None:
    special.stdtr(df, t, out=out)


@into(inplace=("df", "p"))
def stdtrit(out: Any, df: Any, p: Any) -> None:
    special.stdtrit(df, p, out=out)


@into(inplace=("a", "b", "x"))
def betainc(out: Any, a: Any, b: Any, x: Any) -> None:
    special.betainc(a, b, x, out=out)


@into(inplace=("a", "b", "x"))
def betaincc(out: Any, a: Any, b: Any, x: Any) -> None:
    special.betaincc(a, b, x, out=out)


@into(inplace=("a", "b", "y"))
def betaincinv(out: Any, a: Any, b: Any, y: Any) -> None:
    special.betaincinv(a, b, y, out=out)


SPECIAL: dict[str, Callable[..., Any]] = {
    "special.erf": erf,
    "special.erfc": erfc,
    "special.erfinv": erfinv,
    "special.erfcinv": erfcinv,
    "special.erfcx": erfcx,
    "special.dawsn": dawsn,
    "special.gamma": gamma,
    "special.gammaln": gammaln,
    "special.loggamma": loggamma,
    "special.gammasgn": gammasgn,
    "special.rgamma": rgamma,
    "special.digamma": digamma,
    "special.expit": expit,
    "special.logit": logit,
    "special.log_expit": log_expit,
    "special.ndtr": ndtr,
    "special.log_ndtr": log_ndtr,
    "special.ndtri": ndtri,
    "special.entr": entr,
    "special.i0": i0,
    "special.i0e": i0e,
    "special.i1": i1,
    "special.i1e": i1e,
    "special.j0": j0,
    "special.j1": j1,
    "special.y0": y0,
    "special.y1": y1,
    "special.k0": k0,
    "special.k0e": k0e,
    "special.k1": k1,
    "special.k1e": k1e,
    "special.exp1": exp1,
    "special.expi": expi,
    "special.spence": spence,
    "special.exprel": exprel,
    "special.cosm1": cosm1,
    "special.expm1": expm1,
    "special.log1p": log1p,
    "special.cbrt": cbrt,
    "special.exp2": exp2,
    "special.exp10": exp10,
    "special.zeta": zeta,
    "special.beta": beta,
    "special.betaln": betaln,
    "special.xlogy": xlogy,
    "special.xlog1py": xlog1py,
    "special.rel_entr": rel_entr,
    "special.kl_div": kl_div,
    "special.iv": iv,
    "special.ive": ive,
    "special.jv": jv,
    "special.yv": yv,
    "special.yn": yn,
    "special.kv": kv,
    "special.kve": kve,
    "special.gammainc": gammainc,
    "special.gammaincc": gammaincc,
    "special.gammaincinv": gammaincinv,
    "special.gammainccinv": gammainccinv,
    "special.expn": expn,
    "special.boxcox": boxcox,
    "special.boxcox1p": boxcox1p,
    "special.inv_boxcox": inv_boxcox,
    "special.inv_boxcox1p": inv_boxcox1p,
    "special.huber": huber,
    "special.pseudo_huber": pseudo_huber,
    "special.binom": binom,
    "special.poch": poch,
    "special.stdtr": stdtr,
    "special.stdtrit": stdtrit,
    "special.betainc": betainc,
    "special.betaincc": betaincc,
    "special.betaincinv": betaincinv,
}
