"""Pointers to functions that are not followed: which of them may hold the address of a function, and why nothing is
known of any.

The names tell it, without regard to order: what a function's name is assigned to, initialises, is returned as, is given
for a parameter.  A member counts by its name alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.dataflow.scc import reached
from opi_xform.graph.graph import Lost
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name, calls_of
from opi_xform.ir.span import Span
from opi_xform.ir.walk import statements, within
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import function_expressions
from opi_xform.program.pointers import unfollowed

Place = tuple[str, str]  # what it is, and its name: a variable, a member, what a function returns, a function


def called_by(program: Program, lost: Lost, function: str) -> bool:
    """The pointer that a call names may hold the address of a function."""
    flows = _flows(program)
    held = reached((("f", function),), lambda place: flows.get(place, ()))
    return any(place in held for place in _places(lost.call.call.callee))


def why_anywhere(program: Program) -> tuple[str, tuple[tuple[Span, str], ...]]:
    """Why what pointers to functions lead to is not known, in words, with the line; '' where it is not told here."""
    functions, effects = program.functions, program.effects
    refused = next((f for f in functions.values() if f.refused), None)
    if refused is not None:
        return f": `{refused.name}` is not followed, and may set pointers", ((refused.span, "this is not followed"),)
    for call in (call for function in functions.values() for call in calls_of(function)):
        name = called_name(call)
        if name and unfollowed(name, functions, effects):
            what = f": nothing is known of `{name}`, which {line_of(call.span)} calls"
            return what, ((call.span, "this function is in none of the files"),)
    return "", ()


@once
def _flows(program: Program) -> dict[Place, set[Place]]:
    """What each place may come to, in one step."""
    out: dict[Place, set[Place]] = {}

    def flow(value: ast.Expr | None, *targets: Place) -> None:
        for source in _places(value):
            out.setdefault(source, set()).update(targets)

    functions = program.functions
    every = {
        v.key: v for v in (*program.variables.values(), *(v for f in functions.values() for v in f.variables.values()))
    }
    for v in every.values():
        for e in () if v.init is None else within(v.init):
            flow(e, ("v", v.key))
    for key, function in functions.items():
        for statement, _ in statements(function.body):
            if isinstance(statement, ast.Return):
                flow(statement.value, ("r", key))
        for e in function_expressions(function):
            match e:
                case ast.Assign(target=target, value=value):
                    flow(value, *_places(target))
                case ast.Call(callee=ast.FuncRef(name=name), args=args) if name in functions:
                    for arg, param in zip(args, functions[name].params, strict=False):
                        flow(arg, ("v", param))
                case _:
                    pass
    return out


def _places(e: ast.Expr | None) -> Iterator[Place]:
    """What an expression names: of a member of a variable, both."""
    work = [e]
    while work:
        match work.pop():
            case ast.VarRef(var=key):
                yield "v", key
            case ast.FuncRef(name=name):
                yield "f", name
            case ast.Member(base=base, field=field):
                yield "m", field
                work.append(base)
            case ast.Call(callee=ast.FuncRef(name=name)):
                yield "r", name
            case ast.Conditional(then=then, other=other):
                work += (then, other)
            case ast.Index(base=inner) | ast.Cast(operand=inner) | ast.AddrOf(operand=inner) | ast.Deref(operand=inner):
                work.append(inner)
            case _:
                pass
