"""The functions of SciPy that packages call, most called first, and which of them are supported:
`python -m examples.scipy_calls FOLDER`, where the folder is a `site-packages`.

The packages are read, not imported: the names that a module imports from SciPy are resolved, and
the calls of them are counted, in all but tests. A method of a distribution has a line of its own.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import importlib.metadata
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stcompile.frontend.functions.imported import MODULES, imported_lowering
from stcompile.frontend.functions.scipy import SCIPY
from stcompile.frontend.functions.scipy_modules import is_pure

PACKAGES = ("scipy", "scikit-learn", "statsmodels", "lmfit", "scikit-image", "networkx", "pandas")
FOLDERS = {"scikit-learn": "sklearn", "scikit-image": "skimage"}
PUBLIC = (
    *(module for module in SCIPY if module != "scipy.signal.windows"),
    *("scipy.signal.windows", "scipy.sparse.linalg", "scipy.sparse.csgraph", "scipy.sparse"),
    *("scipy.spatial.transform", "scipy.spatial", "scipy.cluster.hierarchy", "scipy.cluster.vq"),
    *("scipy.io", "scipy.constants", "scipy.datasets", "scipy.stats.qmc", "scipy.differentiate"),
    *("scipy.odr", "scipy.stats.contingency", "scipy.stats.mstats", "scipy.linalg.lapack"),
)


def count(folder: Path, packages: tuple[str, ...]) -> Counter[str]:
    """The number of calls of each function."""
    found: Counter[str] = Counter()
    for package in packages:
        root = folder / FOLDERS.get(package, package)
        for path in sorted(root.rglob("*.py")):
            inside = path.relative_to(folder)
            if {"tests", "test", "testing", "conftest.py", "benchmarks"}.isdisjoint(inside.parts):
                found.update(_calls(path, ".".join(inside.with_suffix("").parts)))
    return found


def _calls(path: Path, module: str) -> Iterator[str]:
    """The public names of the functions of SciPy that a module calls."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = dict(_imported(tree, module.split("."), path.name == "__init__.py"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            dotted = _resolved(node.func, names)
            shown = _public_name(dotted) if dotted is not None else None
            if shown is not None:
                yield shown


def _imported(tree: ast.AST, module: list[str], is_package: bool) -> Iterator[tuple[str, str]]:
    """Names that are imported from SciPy, at any depth, with what they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "scipy":
                    yield (alias.asname, alias.name) if alias.asname else ("scipy", "scipy")
        elif isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".") if node.module else []
            if node.level:
                parts = [*module[: len(module) - node.level + is_package], *parts]
            if parts[:1] == ["scipy"]:
                for alias in node.names:
                    yield alias.asname or alias.name, ".".join([*parts, alias.name])


def _resolved(node: ast.expr, names: dict[str, str]) -> str | None:
    """The dotted name of what is called, if it begins with an imported name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return None
    return ".".join([names[node.id], *reversed(parts)])


def _object(dotted: str) -> Any:
    """The object of a dotted name; None if this SciPy has none."""
    parts = dotted.split(".")
    value: Any = importlib.import_module(parts[0])
    for end, part in enumerate(parts[1:], 2):
        if not hasattr(value, part):
            try:
                importlib.import_module(".".join(parts[:end]))
            except ImportError:
                return None
        value = getattr(value, part, None)
    return value


def _public_name(dotted: str, known: dict[str, str | None] = {}) -> str | None:  # noqa: B006
    """The name by which the documentation of SciPy knows a function or class; None for others."""
    if dotted not in known:
        known[dotted] = _found(dotted)
    return known[dotted]


def _found(dotted: str) -> str | None:
    value = _object(dotted)
    if not callable(value) or (isinstance(value, type) and issubclass(value, BaseException)):
        return None
    owner = getattr(value, "__self__", None)
    is_method = owner is not None and not isinstance(owner, type(ast))
    for module in PUBLIC:
        public = importlib.import_module(module)
        for name in getattr(public, "__all__", dir(public)):
            each = getattr(public, name, None)
            if each is (owner if is_method else value):
                own = f".{value.__name__}" if is_method else ""
                return f"{module.removeprefix('scipy.')}.{name}{own}"
    return None


def state_of(shown: str) -> str:
    """Yes for a function that a differentiated function may call with values that vary; "known" for
    one that takes values that are known at compile time; nothing for others."""
    value = _object(f"scipy.{shown}")
    while isinstance(value, functools._lru_cache_wrapper):
        value = value.__wrapped__
    kind = shown.removeprefix("stats.")
    frozen = any(name.startswith(f"{kind}.") for name in SCIPY["scipy.stats"])
    if imported_lowering(value) is not None or frozen:
        return "yes"
    return "known" if is_pure(value) else ""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.scipy_calls", description=__doc__)
    parser.add_argument("folder", type=Path, help="a site-packages folder with the packages")
    parser.add_argument("--first", type=int, default=200, help="how many lines (default: 200)")
    parser.add_argument("--packages", nargs="+", default=PACKAGES, help="what to read")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for module in MODULES:
        if module.startswith("scipy."):
            importlib.import_module(module)
    versions = {
        each.metadata["Name"].lower(): each.version
        for each in importlib.metadata.distributions(path=[str(given.folder)])
    }
    found = count(given.folder, tuple(given.packages))
    shown = ", ".join(f"{name} {versions.get(name, '?')}" for name in given.packages)
    states = {name: state_of(name) for name in found}
    supported = [name for name in found if states[name] == "yes"]
    calls = sum(found[name] for name in supported)
    print(f"{sum(found.values())} calls of {len(found)} functions, in {shown}.")
    print(f"Supported: {calls} calls of {len(supported)} functions.\n")
    print("| function | calls | supported |\n|---|---|---|")
    for name, number in sorted(found.items(), key=lambda item: (-item[1], item[0]))[: given.first]:
        print(f"| `{name}` | {number} | {states[name]} |")


if __name__ == "__main__":
    main()
