"""Results of a function, and the changes of the caller's objects, as code."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Mapping, Sequence
from typing import Any

from stcompile.analysis.regions import Tree
from stcompile.base import trees
from stcompile.base.containers import OF_COLLECTIONS
from stcompile.base.deferred import deferred
from stcompile.code.literals import literal, name
from stcompile.emit.names import Naming
from stcompile.emit.statements import Statements
from stcompile.wengert.staged import Effect, Group, Item, Listed, Reference, Result

listed = deferred("stcompile.emit.lists", "listed")
parts_read = deferred("stcompile.emit.effects", "parts_read")
written_effect = deferred("stcompile.emit.effects", "written_effect")


class Results:
    """The code of results. Arguments may be ``renamed``; ``made`` are the names of new objects, and
    ``read_first`` those of parts of the caller's objects, which changes may overwrite."""

    def __init__(
        self, tree: Tree, naming: Naming, statements: Statements, renamed: Mapping[str, str]
    ) -> None:
        self.tree = tree
        self.naming = naming
        self.statements = statements
        self.renamed = renamed
        self.made: dict[str, str] = {}
        self.read_first: dict[Reference, str] = {}

    def of(self, result: Result) -> ast.expr:
        """The expression of the function's result."""
        if isinstance(result, Reference):
            known = self.read_first.get(result)
            return name(known) if known is not None else self._reference(result)
        if isinstance(result, Item):
            if result.like:
                return self.expression(result.like)
            if result.atom is None:
                return literal(result.value)
            return self.statements.returned(self.tree.atom(result.atom))
        if isinstance(result, Listed):
            code: ast.expr = listed(result, self.statements, self.tree, self.naming.names)
            return code
        parts = [self.of(part) for part in result.parts]
        if result.kind == "dict":
            return ast.Dict([literal(key) for key in result.keys], parts)
        if result.kind == "list":
            return ast.List(parts, ast.Load())
        if result.kind == "tuple":
            return ast.Tuple(parts, ast.Load())
        if result.kind == "SimpleNamespace":
            return namespace(result.keys, parts)
        if result.kind in OF_COLLECTIONS:
            setting = None if result.setting is None else self.of(result.setting)
            return collection(result, parts, setting)
        return self._replaced(result, parts)

    def _replaced(self, result: Group, parts: list[ast.expr]) -> ast.expr:
        """A namedtuple or a dataclass: a copy of the argument's with other fields."""
        like = self.expression(result.like)
        changed = [
            ast.keyword(str(key), code)
            for key, code, part in zip(result.keys, parts, result.parts, strict=True)
            if not (isinstance(part, Item) and part.atom is None)
        ]
        if result.kind == "namedtuple":
            return ast.Call(ast.Attribute(like, "_replace", ast.Load()), [], changed)
        return ast.Call(ast.Attribute(name("dataclasses"), "replace", ast.Load()), [like], changed)

    def effects(self, effects: Sequence[Effect]) -> list[ast.stmt]:
        """The statements that change objects of the caller, after those that read parts of them."""
        first: list[ast.stmt] = []
        for effect in effects:
            for part in parts_read(effect.value):
                code = self._reference(part)
                if not isinstance(code, ast.Name) and part not in self.read_first:
                    own = self.naming.names.like(trees.path_name("held", ()))
                    self.read_first[part] = own
                    first.append(ast.Assign([ast.Name(own, ast.Store())], code, lineno=0))
        return [*first, *map(self._effect, effects)]

    def _effect(self, effect: Effect) -> ast.stmt:
        target, kind, key = self._reference(effect.target), effect.kind, effect.key
        value = None if effect.value is None else self.of(effect.value)
        made = written_effect(kind, target, key, value)
        return made if effect.when is None else ast.If(self.of(effect.when), [made], [])

    def _reference(self, found: Reference) -> ast.expr:
        """The code of an object of the caller, or of one that the effects have made."""
        if found.is_made:
            return name(self._made_name(found.text))
        if found.root is None:
            return self.expression(found.text)
        root = self.naming.called(found.root).id
        return ast.parse(f"{root}{found.text}", mode="eval").body

    def _made_name(self, text: str) -> str:
        if text not in self.made:
            self.made[text] = self.naming.names.like("made")
        return self.made[text]

    def expression(self, text: str) -> ast.expr:
        """The code of a part of an argument: ``params["rnn"]``."""
        code = ast.parse(text, mode="eval").body
        for node in ast.walk(code):
            if isinstance(node, ast.Name):
                node.id = self.renamed.get(node.id, node.id)
        return code


def namespace(keys: Sequence[Any], parts: Sequence[ast.expr]) -> ast.expr:
    """The expression that makes a namespace of parts."""
    made = ast.Attribute(name("types"), "SimpleNamespace", ast.Load())
    if all(key.isidentifier() and not keyword.iskeyword(key) for key in keys):
        named = [ast.keyword(key, part) for key, part in zip(keys, parts, strict=True)]
    else:
        named = [ast.keyword(None, ast.Dict([literal(key) for key in keys], [*parts]))]
    return ast.Call(made, [], named)


def collection(group: Group, parts: Sequence[ast.expr], setting: ast.expr | None) -> ast.expr:
    """The expression that makes a container of `collections`; ``setting`` is the greatest length of
    a deque, the factory of a defaultdict."""
    made = ast.Attribute(name("collections"), group.kind, ast.Load())
    if group.kind == "deque":
        more = [] if setting is None else [ast.keyword("maxlen", setting)]
        return ast.Call(made, [ast.List([*parts], ast.Load())], more)
    factory = [] if setting is None else [setting]
    items = [ast.Dict([literal(key) for key in group.keys], [*parts])] if parts else []
    if items and group.kind == "defaultdict" and setting is None:
        factory = [literal(None)]
    return ast.Call(made, [*factory, *items], [])
