"""Where in a variable's bytes its initialiser puts addresses of private variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opi_xform.ir import ast
from opi_xform.ir.walk import children

Target = Callable[[str], str]
"""The program's variable after a key of the unit; '' for one that is not private."""


class Unclear(Exception):
    """The message says what is not understood."""


def places(variable: ast.Variable, expected: int, target: Target) -> list[tuple[int, str]]:
    """(offset, key of the variable in the unit) of each pointer to a private variable, in order.

    expected: how often the initialiser names private variables.  Raises Unclear.
    """
    init = variable.init
    if init is None:
        raise Unclear("its initialiser is not understood")
    items: Sequence[tuple[int, ast.Expr]] = [(0, init)]
    if isinstance(init, ast.InitList):
        items = list(zip(init.offsets, init.items, strict=True))
    found: dict[int, str] = {}
    seen = 0
    for offset, item in items:
        named = _private(item, target)
        found.pop(offset, None)  # a later value for the same bytes counts
        if not named:
            continue
        seen += len(named)
        if len(set(named)) > 1:
            raise Unclear("one value of its initialiser depends on several private variables")
        type_ = item.type
        if type_.kind not in ("pointer", "array"):
            raise Unclear("its initialiser makes something else than a pointer of an address")
        found[offset] = named[0]
    if seen != expected:
        raise Unclear("not every address in its initialiser was found")
    return sorted(found.items())


def _private(expression: ast.Expr, target: Target) -> list[str]:
    """The private variables named in a value, the operands of sizeof apart."""
    out: list[str] = []
    work = [expression]
    while work:
        e = work.pop()
        if isinstance(e, ast.SizeOf):
            continue
        if isinstance(e, ast.Opaque):
            raise Unclear("its initialiser is not understood")
        if isinstance(e, ast.VarRef) and target(e.var):
            out.append(e.var)
        work.extend(children(e))
    return out
