"""Mentions of arrays that no expression of the program has: in constants, types and attributes.

``enum { N = sizeof b / sizeof b[0] }``, ``typeof(b) copy``, a bit-field's width, a ``case``: what is meant depends on
the array's type there, and nothing of it runs.  The parser has them all, whatever macros wrote them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from opi_xform.frontend.clang.libclang import CXCursor, Kind, library, text
from opi_xform.frontend.clang.source import Sources
from opi_xform.frontend.clang.tree import Places, Tree
from opi_xform.frontend.lower.exprs import Expressions
from opi_xform.ir import ast
from opi_xform.ir.ast import Expr, VarRef
from opi_xform.ir.walk import children
from opi_xform.ir.walk import expressions as full_expressions

TYPES = frozenset({Kind.ENUM_DECL, Kind.STRUCT_DECL, Kind.UNION_DECL, Kind.TYPEDEF_DECL, Kind.STATIC_ASSERT})
"""Declarations of a file that are no variables and functions."""


def type_mentions(tree: Tree, expressions: Expressions, roots: Iterable[Expr]) -> Iterator[VarRef]:
    """Those in a declaration, of which ``roots`` are the program's expressions.  What a directive lists is not told."""
    named = [i for i in range(len(tree)) if tree.kind[i] == Kind.DECL_REF_EXPR]
    found = [(i, e) for i in named if isinstance(e := expressions.out[i], VarRef) and e.type.is_array]
    if not found:
        return
    seen: set[tuple[str, str, int]] = set()
    work = list(roots)
    while work:
        e = work.pop()
        if isinstance(e, VarRef):
            seen.add((e.var, e.span.file, e.span.begin))
        work.extend(children(e))
    for i, e in found:
        listed = Kind.FIRST_DIRECTIVE <= tree.kind[tree.parent[i]] <= Kind.LAST_STMT
        if not listed and (e.var, e.span.file, e.span.begin) not in seen:
            yield e


def roots_of(body: ast.Stmt, variables: Iterable[ast.Variable]) -> Iterator[Expr]:
    """The expressions of a function: those of its statements, and what its variables begin with."""
    yield from full_expressions(body)
    yield from (v.init for v in variables if v.init is not None)


def of_types(
    cursors: Iterable[CXCursor], sources: Sources, lowering: Callable[[CXCursor], tuple[Tree, Places, Expressions]]
) -> list[VarRef]:
    """Those in declarations of types, and assertions, that stand in a file and in no system header."""
    out: list[VarRef] = []
    for cursor in (c for c in cursors if c.kind in TYPES):
        file, _ = sources.locate(library().clang_getCursorExtent(cursor).begin)
        if file is None or file.system:
            continue
        tree, _, expressions = lowering(cursor)
        named = [i for i in range(len(tree) - 1, 0, -1) if tree.kind[i] == Kind.DECL_REF_EXPR]
        for i in named:
            expressions.lower(i)
        out += type_mentions(tree, expressions, ()) if named else ()
    return out


def declared_in(tree: Tree) -> frozenset[str]:
    """The types, tags (``struct x``, whatever kind) and constants that a function declares, whoever wrote them."""
    spelling = library().clang_getCursorSpelling
    out: set[str] = set()
    for i in range(1, len(tree)):
        kind = tree.kind[i]
        if kind in (Kind.TYPEDEF_DECL, Kind.ENUM_CONSTANT_DECL):
            out.add(text(spelling(tree.cursor[i])))
        elif kind in (Kind.STRUCT_DECL, Kind.UNION_DECL, Kind.ENUM_DECL):
            out.add(f"struct {text(spelling(tree.cursor[i]))}")
    return frozenset(out)
