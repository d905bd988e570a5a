"""How functions of `scipy.special` are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..lazy import special
from ..marks import fresh


@fresh
def erf(x: Any) -> Any:
    return special.erf(x)


@fresh
def erfc(x: Any) -> Any:
    return special.erfc(x)


@fresh
def erfinv(x: Any) -> Any:
    return special.erfinv(x)


@fresh
def erfcinv(x: Any) -> Any:
    return special.erfcinv(x)


@fresh
def erfcx(x: Any) -> Any:
    return special.erfcx(x)


@fresh
def dawsn(x: Any) -> Any:
    return special.dawsn(x)


@fresh
def gamma(x: Any) -> Any:
    return special.gamma(x)


@fresh
def gammaln(x: Any) -> Any:
    return special.gammaln(x)


@fresh
def loggamma(x: Any) -> Any:
    return special.loggamma(x)


@fresh
def gammasgn(x: Any) -> Any:
    return special.gammasgn(x)


@fresh
def rgamma(x: Any) -> Any:
    return special.rgamma(x)


@fresh
def digamma(x: Any) -> Any:
    return special.digamma(x)


@fresh
def expit(x: Any) -> Any:
    return special.expit(x)


@fresh
def logit(x: Any) -> Any:
    return special.logit(x)


@fresh
def log_expit(x: Any) -> Any:
    return special.log_expit(x)


@fresh
def ndtr(x: Any) -> Any:
    return special.ndtr(x)


@fresh
def log_ndtr(x: Any) -> Any:
    return special.log_ndtr(x)


@fresh
def ndtri(x: Any) -> Any:
    return special.ndtri(x)


@fresh
def entr(x: Any) -> Any:
    return special.entr(x)


@fresh
def i0(x: Any) -> Any:
    return special.i0(x)


@fresh
def i0e(x: Any) -> Any:
    return special.i0e(x)


@fresh
def i1(x: Any) -> Any:
    return special.i1(x)


@fresh
def i1e(x: Any) -> Any:
    return special.i1e(x)


@fresh
def j0(x: Any) -> Any:
    return special.j0(x)


@fresh
def j1(x: Any) -> Any:
    return special.j1(x)


@fresh
def y0(x: Any) -> Any:
    return special.y0(x)


@fresh
def y1(x: Any) -> Any:
    return special.y1(x)


@fresh
def k0(x: Any) -> Any:
    return special.k0(x)


@fresh
def k0e(x: Any) -> Any:
    return special.k0e(x)


@fresh
def k1(x: Any) -> Any:
    return special.k1(x)


@fresh
def k1e(x: Any) -> Any:
    return special.k1e(x)


@fresh
def exp1(x: Any) -> Any:
    return special.exp1(x)


@fresh
def expi(x: Any) -> Any:
    return special.expi(x)


@fresh
def spence(x: Any) -> Any:
    return special.spence(x)


@fresh
def exprel(x: Any) -> Any:
    return special.exprel(x)


@fresh
def cosm1(x: Any) -> Any:
    return special.cosm1(x)


@fresh
def expm1(x: Any) -> Any:
    return special.expm1(x)


@fresh
def log1p(x: Any) -> Any:
    return special.log1p(x)


@fresh
def cbrt(x: Any) -> Any:
    return special.cbrt(x)


@fresh
def exp2(x: Any) -> Any:
    return special.exp2(x)


@fresh
def exp10(x: Any) -> Any:
    return special.exp10(x)


@fresh
def zeta(x: Any, q: Any) -> Any:
    return special.zeta(x, q)


@fresh
def beta(a: Any, b: Any) -> Any:
    return special.beta(a, b)


@fresh
def betaln(a: Any, b: Any) -> Any:
    return special.betaln(a, b)


@fresh
def xlogy(x: Any, y: Any) -> Any:
    return special.xlogy(x, y)


@fresh
def xlog1py(x: Any, y: Any) -> Any:
    return special.xlog1py(x, y)


@fresh
def rel_entr(x: Any, y: Any) -> Any:
    return special.rel_entr(x, y)


@fresh
def kl_div(x: Any, y: Any) -> Any:
    return special.kl_div(x, y)


@fresh
def iv(v: Any, x: Any) -> Any:
    return special.iv(v, x)


@fresh
def ive(v: Any, x: Any) -> Any:
    return special.ive(v, x)


@fresh
def jv(v: Any, x: Any) -> Any:
    return special.jv(v, x)


@fresh
def yv(v: Any, x: Any) -> Any:
    return special.yv(v, x)


@fresh
def yn(n: Any, x: Any) -> Any:
    return special.yn(n, x)


@fresh
def kv(v: Any, x: Any) -> Any:
    return special.kv(v, x)


@fresh
def kve(v: Any, x: Any) -> Any:
    return special.kve(v, x)


@fresh
def gammainc(a: Any, x: Any) -> Any:
    return special.gammainc(a, x)


@fresh
def gammaincc(a: Any, x: Any) -> Any:
    return special.gammaincc(a, x)


@fresh
def gammaincinv(a: Any, y: Any) -> Any:
    return special.gammaincinv(a, y)


@fresh
def gammainccinv(a: Any, y: Any) -> Any:
    return special.gammainccinv(a, y)


@fresh
def expn(n: Any, x: Any) -> Any:
    return special.expn(n, x)


@fresh
def boxcox(x: Any, lmbda: Any) -> Any:
    return special.boxcox(x, lmbda)


@fresh
def boxcox1p(x: Any, lmbda: Any) -> Any:
    return special.boxcox1p(x, lmbda)


@fresh
def inv_boxcox(y: Any, lmbda: Any) -> Any:
    return special.inv_boxcox(y, lmbda)


@fresh
def inv_boxcox1p(y: Any, lmbda: Any) -> Any:
    return special.inv_boxcox1p(y, lmbda)


@fresh
def huber(delta: Any, r: Any) -> Any:
    return special.huber(delta, r)


@fresh
def pseudo_huber(delta: Any, r: Any) -> Any:
    return special.pseudo_huber(delta, r)


@fresh
def binom(x: Any, y: Any) -> Any:
    return special.binom(x, y)


@fresh
def poch(z: Any, m: Any) -> Any:
    return special.poch(z, m)


@fresh
def stdtr(df: Any, t: Any) -> Any:
    return special.stdtr(df, t)


@fresh
def stdtrit(df: Any, p: Any) -> Any:
    return special.stdtrit(df, p)


@fresh
def betainc(a: Any, b: Any, x: Any) -> Any:
    return special.betainc(a, b, x)


@fresh
def betaincc(a: Any, b: Any, x: Any) -> Any:
    return special.betaincc(a, b, x)


@fresh
def betaincinv(a: Any, b: Any, y: Any) -> Any:
    return special.betaincinv(a, b, y)


@fresh
def sici(x: Any, *, part: str) -> Any:
    if part == "Si":
        return special.sici(x)[0]
    return special.sici(x)[1]


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
    "special.sici": sici,
}
