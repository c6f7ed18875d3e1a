"""Statements that call a function first of all, and how the function is left: where its body can stand instead.

``if (make(&p, n)) exit(1);`` is ``{ int made; { …; made = …; } if (made) exit(1); }``.  The call is what the statement
evaluates first, so nothing has happened before the body.  A function that is left early is ``do { … break; … } while
(0);``: so no ``return`` may stand in a loop or a ``switch`` of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir import ast
from opi_xform.ir.walk import statements, uncast
from opi_xform.record import dataclass
from opi_xform.text.edit import ByteEdit

_RETURN = len("return")
_BROKEN = (ast.For, ast.While, ast.DoWhile, ast.Switch)
"""What a ``break`` leaves; ``do { … } while (0)`` is one of them."""


@dataclass(frozen=True, slots=True)
class Calling:
    """A call, and the statement that evaluates it first.

    wanted: its result is used.  declares: the statement declares a variable, and no block may stand around it.
    """

    stmt: ast.Stmt
    call: ast.Call
    wanted: bool
    declares: bool = False

    def edits(self, body: bytes, declaration: str, result: str) -> tuple[ByteEdit, ...]:
        """The body before the statement, and the result's name in the place of the call."""
        begin, end, call = self.stmt.span.begin, self.stmt.span.end, self.call.span
        if not self.wanted:
            return (ByteEdit(begin, end, (), body),)
        before, after = (b"", b"") if self.declares else (b"{ ", b" }")
        first = b"".join([before, declaration.encode(), b" ", body, b" "])
        edits = [ByteEdit(begin, begin, (), first), ByteEdit(call.begin, call.end, (), result.encode())]
        return (*edits, ByteEdit(end, end, (), after)) if after else tuple(edits)


@dataclass(frozen=True, slots=True)
class Leaving:
    """The ``return`` statements of a function; early: not only the last statement is one."""

    returns: tuple[ast.Return, ...]
    early: bool

    def edits(self, result: str) -> list[tuple[int, int, str]]:
        """What is written for each of them."""
        out = []
        for s in self.returns:
            begin, end = s.span.begin, s.span.end
            behind = " break; }" if self.early else ""
            if s.value is None:
                out.append((begin, begin + _RETURN, "break" if self.early else ""))
            else:
                both = not result or isinstance(uncast(s.value), ast.Comma)
                first = f"{f'{result} =' if result else '(void)'}{'(' if both else ''}"
                out += [(begin, begin + _RETURN, f"{'{ ' if self.early else ''}{first}")]
                out += [*([(end - 1, end - 1, ")")] if both else []), (end, end, behind)]
        return out


def leaving(function: ast.Function) -> Leaving | None:
    """How a function is left; None where a ``break`` could not leave it."""
    body = function.body
    found = [s for s, _ in statements(body) if isinstance(s, ast.Return)]
    if not all(s.span.editable for s in found):
        return None
    for s, _ in statements(body):
        if isinstance(s, _BROKEN) and any(isinstance(x, ast.Return) for x, _ in statements(s)):
            return None
    number = function.type.elem is not None and function.type.elem.kind != "void"
    if any((s.value is not None) != number for s in found):
        return None
    return Leaving(tuple(found), bool(found) and (len(found) > 1 or body.body[-1] is not found[0]))


def calling(s: ast.Stmt, above: ast.Stmt | None, variables: Mapping[str, ast.Variable]) -> Calling | None:
    """The call that a statement evaluates first, and once."""
    declares = False
    match s:
        case ast.ExprStmt(expr=expr):
            whole = uncast(expr)
            if isinstance(whole, ast.Call):
                return Calling(s, whole, wanted=False)
            call = _first(expr)
        case ast.If(cond=cond):
            call = _first(cond)
        case ast.DeclStmt(variables=(key,), sizes=()) if isinstance(above, ast.Block):
            init, declares = variables[key].init, True
            call = None if init is None or variables[key].is_global else _first(init)
        case _:
            return None
    return None if call is None else Calling(s, call, True, declares)


def _first(e: ast.Expr) -> ast.Call | None:
    """The call that an expression evaluates before anything else."""
    while not isinstance(e, ast.Call):
        match e:
            case ast.Cast(operand=inner) | ast.Unary(operand=inner) | ast.Logical(left=inner):
                e = inner
            case ast.Binary(left=inner, right=right) if isinstance(uncast(right), (ast.IntLit, ast.MacroConst)):
                e = inner
            case ast.Assign(op="", target=ast.VarRef() as target, value=inner) if not target.type.volatile:
                e = inner
            case _:
                return None
    return e
