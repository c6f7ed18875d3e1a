"""Walks over the AST, without recursion."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast


def children(e: ast.Expr) -> tuple[ast.Expr, ...]:
    """The direct sub-expressions, in source order; the operand of ``sizeof`` is one of them."""
    match e:
        case ast.Member(base=base):
            return (base,)
        case ast.Index(base=base, index=index):
            return (base, index)
        case (
            ast.Deref(operand=inner)
            | ast.AddrOf(operand=inner)
            | ast.Cast(operand=inner)
            | ast.Unary(operand=inner)
            | ast.IncDec(operand=inner)
            | ast.CompoundLit(init=inner)
        ):
            return (inner,)
        case ast.MacroConst(operand=maybe) | ast.SizeOf(operand=maybe):
            return () if maybe is None else (maybe,)
        case ast.Binary() | ast.Logical() | ast.Comma():
            return (e.left, e.right)
        case ast.Conditional(cond=cond, then=then, other=other):
            return (cond, then, other)
        case ast.Assign(target=target, value=value):
            return (target, value)
        case ast.Call(callee=callee, args=args):
            return (callee, *args)
        case ast.InitList(items=items):
            return items
        case ast.Opaque(children=found):
            return found
        case _:
            return ()


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
