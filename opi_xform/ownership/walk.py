"""Walks over the AST, without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from opi_xform.ir import ast

_CHILDREN: dict[type[ast.Expr], Callable[[Any], tuple[ast.Expr, ...]]] = {
    ast.Member: lambda e: (e.base,),
    ast.Index: lambda e: (e.base, e.index),
    **dict.fromkeys((ast.Deref, ast.AddrOf, ast.Cast, ast.Unary, ast.IncDec), lambda e: (e.operand,)),
    ast.CompoundLit: lambda e: (e.init,),
    **dict.fromkeys((ast.MacroConst, ast.SizeOf), lambda e: () if e.operand is None else (e.operand,)),
    **dict.fromkeys((ast.Binary, ast.Logical, ast.Comma), lambda e: (e.left, e.right)),
    ast.Conditional: lambda e: (e.cond, e.then, e.other),
    ast.Assign: lambda e: (e.target, e.value),
    ast.Call: lambda e: (e.callee, *e.args),
    ast.InitList: lambda e: e.items,
    ast.Opaque: lambda e: e.children,
}  # a table, since a match statement tries one class after the other, and this is asked millions of times


def children(e: ast.Expr) -> tuple[ast.Expr, ...]:
    """The direct sub-expressions, in source order; the operand of ``sizeof`` is one of them."""
    found = _CHILDREN.get(type(e))
    return () if found is None else found(e)


def expressions(body: ast.Stmt) -> Iterator[ast.Expr]:
    """The full expressions of a statement and of all in it, initialisers of declared variables left out."""
    stack: list[ast.Stmt] = [body]
    while stack:
        s = stack.pop()
        match s:
            case ast.Block(body=items):
                stack.extend(reversed(items))
            case ast.ExprStmt(expr=e):
                yield e
            case ast.DeclStmt(sizes=sizes):
                for _, e in sizes:
                    yield e
            case ast.If(cond=e, then=then, other=other):
                yield e
                stack.extend(x for x in (other, then) if x is not None)
            case ast.For(init=init, cond=cond, step=step, body=inner):
                if cond is not None:
                    yield cond
                if step is not None:
                    yield step
                stack.append(inner)
                if init is not None:
                    stack.append(init)
            case ast.While(cond=e, body=inner) | ast.DoWhile(cond=e, body=inner) | ast.Switch(cond=e, body=inner):
                yield e
                stack.append(inner)
            case ast.Case(body=inner) | ast.Label(body=inner):
                stack.append(inner)
            case ast.Return(value=value) if value is not None:
                yield value
            case ast.OpaqueStmt(children=found):
                yield from found
            case _:
                pass


def within(root: ast.Expr) -> Iterator[ast.Expr]:
    """An expression and all in it."""
    stack = [root]
    while stack:
        item = stack.pop()
        yield item
        stack.extend(children(item))


def mentions(root: ast.Expr, key: str) -> Iterator[tuple[ast.VarRef, ast.Expr | None]]:
    """Every mention of a variable in an expression, with the expression right around it (None: there is none)."""
    stack: list[tuple[ast.Expr, ast.Expr | None]] = [(root, None)]
    while stack:
        e, parent = stack.pop()
        if isinstance(e, ast.VarRef):
            if e.var == key:
                yield e, parent
            continue
        stack.extend((child, e) for child in reversed(children(e)))
