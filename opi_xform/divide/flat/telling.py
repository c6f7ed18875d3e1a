"""What a function does for want of memory, where it may be left undone: it tells of it, and the program may end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from opi_xform.divide.decompose import pure
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name
from opi_xform.ir.walk import uncast, within

ENDING = frozenset(("exit", "abort", "_exit", "MPI_Abort"))
TELLING = frozenset(
    (
        *("printf", "fprintf", "vprintf", "vfprintf", "puts", "fputs", "putchar", "fputc", "putc", "fflush", "perror"),
        *("__builtin_va_start", "__builtin_va_end"),
    )
)


def only_tells(
    done: Sequence[ast.Stmt], functions: Mapping[str, ast.Function], frees: Callable[[ast.Expr], bool]
) -> bool | None:
    """Whether the program ends there; None where anything else is done: a message is sent, a variable is set.

    functions: those of the program.  frees: what may be freed before.
    """
    stack: list[tuple[Iterator[ast.Stmt], Mapping[str, ast.Variable]]] = [(iter(done), {})]
    while stack:
        statements, variables = stack[-1]
        s = next(statements, None)
        match s:
            case None | ast.Return(value=None):
                stack.pop()
            case ast.DeclStmt(variables=keys, sizes=()):
                if not all(_plain(variables.get(key)) for key in keys):
                    return None
            case ast.ExprStmt(expr=e):
                call = _call(e)
                if call is None:
                    return None
                name = called_name(call)
                own = functions.get(name)
                if len(stack) == 1 and own is None and name == "free" and len(call.args) == 1 and frees(call.args[0]):
                    continue
                if not all(_read(a) for a in call.args):
                    return None
                if own is not None:
                    if own.refused or len(stack) > len(functions):  # it calls itself
                        return None
                    stack.append((flattened(own.body.body), own.variables))
                elif name in ENDING:
                    return True
                elif name not in TELLING:
                    return None
            case _:
                return None
    return False


def flattened(found: Sequence[ast.Stmt]) -> Iterator[ast.Stmt]:
    """Statements, those of blocks one by one."""
    stack = list(reversed(found))
    while stack:
        s = stack.pop()
        if isinstance(s, ast.Block):
            stack.extend(reversed(s.body))
        elif not isinstance(s, ast.Null):
            yield s


def _call(e: ast.Expr) -> ast.Call | None:
    e = uncast(e)
    return e if isinstance(e, ast.Call) else None


def _plain(v: ast.Variable | None) -> bool:
    """A local variable that begins with what is read elsewhere."""
    return v is not None and v.kind == "local" and not v.type.volatile and (v.init is None or _read(v.init))


def _read(e: ast.Expr) -> bool:
    """It is only read: no address is given, through which a number could be set (``%n``)."""
    return pure(e) and not any(isinstance(x, ast.AddrOf) for x in within(e))
