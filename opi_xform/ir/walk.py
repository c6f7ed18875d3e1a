"""Walks over the AST, and comparisons of trees, without recursion: ``==`` of nested dataclasses recurses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeGuard

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


def statements(root: ast.Stmt) -> Iterator[tuple[ast.Stmt, ast.Stmt | None]]:
    """A statement and all in it, each with the one right around it, in source order."""
    stack: list[tuple[ast.Stmt, ast.Stmt | None]] = [(root, None)]
    while stack:
        s, parent = stack.pop()
        yield s, parent
        stack.extend((inner, s) for inner in reversed(parts(s)))


def repeats(s: object) -> TypeGuard[ast.For | ast.While | ast.DoWhile]:
    """A loop that may have a second turn; ``do { … } while (0)``, as macros are written, has none."""
    once = isinstance(s, ast.DoWhile) and isinstance(s.cond, ast.IntLit) and s.cond.value == 0
    return isinstance(s, (ast.For, ast.While, ast.DoWhile)) and not once


def parts(s: ast.Stmt) -> tuple[ast.Stmt, ...]:
    """The statements right inside a statement, in source order."""
    match s:
        case ast.Block(body=items):
            return items
        case ast.If(then=then, other=other):
            return (then,) if other is None else (then, other)
        case ast.For(init=init, body=inner):
            return (inner,) if init is None else (init, inner)
        case ast.While(body=inner) | ast.DoWhile(body=inner) | ast.Switch(body=inner):
            return (inner,)
        case ast.Case(body=inner) | ast.Label(body=inner):
            return (inner,)
        case _:
            return ()


def following(block: ast.Stmt, s: ast.Stmt) -> Sequence[ast.Stmt]:
    """The statements of a block after one of them; of another statement none."""
    body = block.body if isinstance(block, ast.Block) else ()
    return body[next((i + 1 for i, other in enumerate(body) if other is s), len(body)) :]


def within_statement(root: ast.Stmt, variables: Mapping[str, ast.Variable]) -> Iterator[ast.Expr]:
    """All expressions in a statement, those in the initialisers of what it declares included."""
    for s, _ in statements(root):
        if isinstance(s, ast.DeclStmt):
            for key in s.variables:
                init = variables[key].init if key in variables else None
                if init is not None:
                    yield from within(init)
    for e in expressions(root):
        yield from within(e)


def with_blocks(root: ast.Block, blocks: Mapping[int, Sequence[ast.Stmt]]) -> ast.Block:
    """The tree with other statements in some of its blocks, by the blocks' ids; the others among them are its own."""
    new: dict[int, ast.Stmt] = {}

    def now(s: ast.Stmt) -> ast.Stmt:
        return new.get(id(s), s)

    for s, _ in reversed(list(statements(root))):
        changed = id(s) in blocks or any(id(inner) in new for inner in parts(s))
        if not changed:
            continue
        match s:
            case ast.Block(body=items):
                new[id(s)] = replace(s, body=tuple(now(item) for item in blocks.get(id(s), items)))
            case ast.If(then=then, other=other):
                new[id(s)] = replace(s, then=now(then), other=None if other is None else now(other))
            case ast.For(init=init, body=inner):
                new[id(s)] = replace(s, init=None if init is None else now(init), body=now(inner))
            case ast.While() | ast.DoWhile() | ast.Switch() | ast.Case() | ast.Label():
                new[id(s)] = replace(s, body=now(s.body))
            case _:
                pass
    out = now(root)
    assert isinstance(out, ast.Block)
    return out


def uncast(e: ast.Expr) -> ast.Expr:
    """An expression without the casts around it, those that nobody wrote among them."""
    while isinstance(e, ast.Cast):
        e = e.operand
    return e


def addressed(argument: ast.Expr) -> ast.Expr | None:
    """What an argument is the address of, as it is written: ``b`` of ``&b``, casts aside."""
    e = uncast(argument)
    return e.operand if isinstance(e, ast.AddrOf) else None


def same(left: object, right: object) -> bool:
    """Equality of frozen dataclasses, tuples and mappings of them, and of anything else by ``==``, however deep."""
    work = [(left, right)]
    while work:
        a, b = work.pop()
        if a is b:
            continue
        if type(a) is not type(b):
            return False
        if isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            work.extend(zip(a, b, strict=True))
        elif isinstance(a, Mapping) and isinstance(b, Mapping):
            if a.keys() != b.keys():
                return False
            work.extend((a[key], b[key]) for key in a)
        elif is_dataclass(a):
            work.extend((getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
        elif a != b:
            return False
    return True
