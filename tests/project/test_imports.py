"""Imports go one way: no cycle among the compiler's modules, and astor in one place only."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "examples" / "installed" / "stcompile_programs"


def module_files(package: Path) -> dict[str, Path]:
    """Dotted name -> file, for every module below ``package``."""
    files = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def imports_at_import_time(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Import statements that run when the module is imported: all but those inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from imports_at_import_time(child)


def imported_modules(path: Path, module: str, known: Collection[str]) -> set[str]:
    """Dotted names that the file imports; ``from a import b`` is ``a.b`` if that is a module."""
    modules = set()
    for node in imports_at_import_time(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
            continue
        base = node.module or ""
        if node.level:
            package = module.split(".")
            ups = node.level - (path.name == "__init__.py")
            package = package[: len(package) - ups]
            base = ".".join([*package, base] if base else package)
        for alias in node.names:
            submodule = f"{base}.{alias.name}"
            modules.add(submodule if submodule in known else base)
    return modules


def modules_named_inside(path: Path, known: Collection[str]) -> set[str]:
    """Modules that functions of the file import when they run: by statements, or by their names,
    as `stcompile.base.deferred` takes them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = [name for name in known if "." in name]
    texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and n.value in known}
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Lambda)]
    for node in (n for f in functions for n in ast.walk(f) if isinstance(n, ast.ImportFrom)):
        names = {f"{node.module}.{alias.name}" for alias in node.names}
        texts |= names & set(known) or {str(node.module)} & set(known)
    return texts


def circles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """The largest sets of modules of which each leads to each other."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        found, waiting = set[str](), [start]
        while waiting:
            new = graph[waiting.pop()] - found
            found |= new
            waiting += new
        reached[start] = found
    around = {m: {o for o in reached[m] if m in reached[o]} for m in graph if m in reached[m]}
    return [group for m, group in around.items() if m == min(group)]


def import_graph(files: Mapping[str, Path]) -> dict[str, set[str]]:
    """Module -> the modules of ``files`` that it imports by name."""
    return {
        module: imported_modules(path, module, files.keys()) & files.keys() - {module}
        for module, path in files.items()
    }


def find_cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """One cycle of the graph, its first node repeated at the end; empty if there is none."""
    done: set[str] = set()
    path: list[str] = []

    def visit(node: str) -> list[str]:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return []
        path.append(node)
        for successor in sorted(graph[node]):
            if cycle := visit(successor):
                return cycle
        path.pop()
        done.add(node)
        return []

    for node in sorted(graph):
        if cycle := visit(node):
            return cycle
    return []


@pytest.mark.parametrize("package", [ROOT / "stcompile", PROGRAMS], ids=lambda p: p.name)
def test_no_import_cycle(package: Path) -> None:
    graph = import_graph(module_files(package))
    assert len(graph) > 5
    assert find_cycle(graph) == [], "modules import each other in a circle"


def test_no_circle_is_closed_by_a_function() -> None:
    files = module_files(ROOT / "stcompile")
    graph = {
        module: imported | modules_named_inside(files[module], files.keys()) - {module}
        for module, imported in import_graph(files).items()
    }
    assert circles(graph) == []


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str](), "e": {"f"}, "f": {"e"}}
    assert circles(graph) == [{"b", "c"}, {"e", "f"}]


def test_the_compiler_imports_no_program() -> None:
    """Not inside of functions either, nor by a name in a text."""
    files = [*(ROOT / "stcompile").rglob("*.py"), *(ROOT / "codegen_templates").rglob("*.py")]
    assert [file for file in files if PROGRAMS.name in file.read_text(encoding="utf-8")] == []


def test_templates_import_no_compiler() -> None:
    files = module_files(ROOT / "codegen_templates")
    assert len(files) > 2
    for module, path in files.items():
        roots = {name.split(".")[0] for name in imported_modules(path, module, files.keys())}
        assert not roots & {"stcompile", "astor"}, path


def test_astor_is_imported_in_one_module() -> None:
    users = []
    for module, path in module_files(ROOT / "stcompile").items():
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "astor" in text else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] == "astor" for name in names):
                users.append(module)
    assert len(set(users)) == 1, users


def test_a_cycle_is_found(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "sub").mkdir(parents=True)
    (package / "__init__.py").write_text("from package.a import f\n")
    (package / "a.py").write_text("if True:\n    from .sub import b\n")
    (package / "sub" / "__init__.py").write_text("")
    (package / "sub" / "b.py").write_text("from ..c import g\n")
    (package / "c.py").write_text("def g():\n    import package.a\n")
    files = module_files(package)
    assert find_cycle(import_graph(files)) == []
    (package / "c.py").write_text("import package.a\n")
    assert find_cycle(import_graph(files)) == [
        "package.a",
        "package.sub.b",
        "package.c",
        "package.a",
    ]
