"""A buffer that a function returns, where it is a variable of that function or the function is not followed."""

from __future__ import annotations

from opi_xform.graph.graph import Lost
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import statements
from opi_xform.ownership.explain.called import node_span, of_callee
from opi_xform.ownership.explain.other_pointers import bare
from opi_xform.ownership.model.buffers import Program

Words = tuple[str, tuple[tuple[Span, str], ...]]


def returns_own(program: Program, function: str, key: str) -> Words:
    """What is said of a pointer that a function returns: the address of a variable of its own."""
    variable = program.variables[key]
    whose = f"a variable of `{function}` that is gone when it returns"
    if variable.kind == "local-static":
        whose = f"a static variable of `{function}`, which all its calls share"
    elif variable.is_global:
        whose = f"a variable of the file, whose address `{function}` returns"
    message = f"the buffer is `{variable.name}`, {whose}"
    return message, ((variable.span, "declared here"),)


def returned_unseen(program: Program, n: int, key: str) -> Words:
    """Why a buffer is not known that a call returns which is not followed: what its text returns, or why that is so."""
    function, action = program.functions[key], program.graph.nodes[n].action
    found = [s.value for s, _ in statements(function.body) if isinstance(s, ast.Return) and s.value is not None]
    first = bare(found[0]) if len(found) == 1 else None
    if isinstance(first, ast.AddrOf):
        first = bare(first.operand)
    if isinstance(first, ast.VarRef) and first.type.is_array:
        return returns_own(program, function.name, first.var)
    why = of_callee(program, n, action.reason) if isinstance(action, Lost) else ""
    return f"the buffer is what `{function.name}` returns, which is not followed: {why}", (
        (node_span(program, n), "here"),
    )
