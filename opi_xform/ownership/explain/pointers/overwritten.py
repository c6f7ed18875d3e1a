"""A library's function that may write over the pointers of a struct, so that each may stand for what another does."""

from __future__ import annotations

from opi_xform.graph.graph import Bind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.pointers.touched import of_other_members
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import base_of

STEPS = 8  # pointers and names that are followed from what is freed to the struct
Words = tuple[str, tuple[tuple[Span, str], ...]]


def of_a_table(name: str, named: ast.Expr | None) -> bool:
    """A pointer of a name is read from a table, and not from an array in a struct.  named: the pointer of the call."""
    if not name.endswith("]") or ("." not in name and "->" not in name):
        return name.endswith("]")
    return isinstance(named, ast.Index) and spelling(named) == name and base_of(named.base).type.is_pointer


def freed_by_another(program: Program, n: int, named: ast.Expr | None) -> bool:
    """A node frees memory by another member than that by which a call names its own."""
    freed = _freed(program, n)
    return freed is not None and named is not None and of_other_members(freed[0], named)


def _freed(program: Program, n: int) -> tuple[ast.Expr, ins.Operand] | None:
    action = program.graph.nodes[n].action
    effect = names_of(program).effect(action) if isinstance(action, ins.CallInstr) else None
    if not isinstance(action, ins.CallInstr) or effect is None or effect.frees is None:
        return None
    return action.call.args[effect.frees.arg], action.args[effect.frees.arg]


def overwritten(program: Program, n: int, name: str, named: ast.Expr | None) -> Words | None:
    """What is said of the memory ``name`` where a node frees by a member of a struct that a call may write over."""
    freed, span = _freed(program, n), node_span(program, n)
    if freed is None or not freed_by_another(program, n, named):
        return None
    found = _over(program, n, freed[1])
    if found is None:
        return None
    at, called = found
    message = f"{line_of(span)} frees `{spelling(freed[0])}`, and could not show that it is not what `{name}` lies in"
    message += f": `{called}` writes an unknown number of bytes to their struct at {line_of(at)}"
    return message, ((span, "freed here"), (at, "written here"))


def written_over(program: Program, n: int, root: ast.Expr) -> Words | None:
    """What is said of a pointer in a struct, which a node reads through, where a call may write over it."""
    action = program.graph.nodes[n].action
    found = _over(program, n, action.address) if isinstance(action, ins.Load) and isinstance(root, ast.Member) else None
    if found is None:
        return None
    at, called = found
    message = f"`{called}` writes an unknown number of bytes to the struct of `{spelling(root)}` at {line_of(at)}"
    return f"{message}: could not show what that points to by then", ((at, "written here"),)


def _over(program: Program, n: int, pointer: ins.Operand) -> tuple[Span, str] | None:
    """A call that writes unknown bytes to an object from which a pointer is read, and the function's name."""
    for o in _read_from(program, n, pointer):
        for a in names_of(program).writes(o):
            call = program.graph.nodes[a.node].action
            if a.length is not None or not isinstance(call, ins.CallInstr) or not any(map(_text, call.call.args)):
                continue
            callee = call.call.callee
            if isinstance(callee, ast.FuncRef) and callee.name not in program.functions:
                return node_span(program, a.node), callee.name.rpartition(":")[2]
    return None


def _text(argument: ast.Expr) -> bool:
    """An array that lies in a struct: ``strcpy(s->name, …)``."""
    e = uncast(argument)
    return isinstance(e, ast.Member) and e.type.is_array


def _read_from(program: Program, n: int, pointer: ins.Operand) -> list[int]:
    """The objects from which a pointer is read, the pointer to that object, and so on."""
    names, nodes, found = names_of(program), program.graph.nodes, list[int]()
    frame = nodes[n].frame
    for _ in range(STEPS):
        while isinstance(pointer, ins.PtrAdd) or (isinstance(pointer, ins.Op) and pointer.op == "cast"):
            pointer = pointer.base if isinstance(pointer, ins.PtrAdd) else pointer.args[0]
        name = names.name(frame, pointer)
        defs = names.defs.get(name, []) if name is not None else []
        action = nodes[defs[0]].action if len(defs) == 1 else None
        if isinstance(action, ins.Load):
            found += program.values.accesses.objects(defs[0])
            pointer = action.address
        elif isinstance(action, ins.Define):
            pointer = action.value
        elif isinstance(action, Bind) and isinstance(pointer, ins.Var) and pointer.key in action.params:
            given = dict(zip(action.params, action.args, strict=True))
            pointer, frame = given[pointer.key], action.caller
        else:
            break
    return found
