"""Functions that allocate for their caller: whether they do nothing else, and what the size is made of on its way."""

from __future__ import annotations

from opi_xform.graph.graph import Bind, Unbind, evaluated
from opi_xform.graph.statements import Flow
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_name
from opi_xform.ir.operands import parts_of
from opi_xform.ir.walk import within_statement
from opi_xform.ownership.allocation.filled import filling
from opi_xform.ownership.allocation.repeated import evaluated_in
from opi_xform.ownership.model.buffers import Program


def asked(program: Program, call: ast.Call) -> tuple[ast.Expr, ...]:
    """The arguments of an allocator that its size is made of."""
    effect = program.effects.get(called_name(call))
    spec = effect.allocates if effect is not None else None
    factors = spec.size if spec is not None and spec.size is not None else ()
    return tuple(call.args[f.value] for f in factors if f.kind == "arg" and f.value < len(call.args))


def frames_between(program: Program, inner: int, outer: int) -> list[int]:
    """The frames from the one that is entered from ``outer`` to ``inner``; [] where there are none."""
    out = []
    at = inner
    while at >= 0 and at != outer:
        if program.graph.frames[at].call < 0:
            return []
        out.append(at)
        at = program.graph.frames[at].parent
    return out[::-1] if at == outer else []


Named = tuple[tuple[str, ast.Expr], ...]
_RECKONED = (ast.VarRef, ast.IntLit, ast.MacroConst, ast.SizeOf, ast.Binary, ast.Cast, ast.Unary)
"""What a size may be made of on its way: numbers only, nothing that is read from memory."""


def passed_on(
    program: Program, flow: Flow, frames: list[int], written: ast.Call, size: tuple[ast.Expr, ...]
) -> tuple[Named, Named] | None:
    """The outermost function's parameters that a size is made of, each with the argument for it; and what is between,
    parameters and local variables with what they are made of in their functions.

    None: one of them is set anew on the way, or made of something else.
    """
    functions = [program.graph.frames[frame].function for frame in frames]
    caller = program.graph.frames[program.graph.frames[frames[0]].parent].function
    if len({caller, *functions}) <= len(functions):
        return None  # one that calls itself: its parameters are several
    passed: dict[str, ast.Expr] = {}
    needed = {x.var: None for e in size for x in evaluated_in(e) if isinstance(x, ast.VarRef)}
    for at in range(len(frames) - 1, -1, -1):
        params = flow.lowered(frames[at]).function.params
        work = list(needed)
        for key in work:
            if key in params:
                if _set_anew(program, flow, frames[at], key):
                    return None
                continue
            value = _set_once(program, flow, frames[at], key)
            if value is None or not all(isinstance(x, _RECKONED) for x in evaluated_in(value)):
                return None
            parts = [x.var for x in evaluated_in(value) if isinstance(x, ast.VarRef)]
            before = (_set_once(program, flow, frames[at], x) for x in parts if x not in params)
            if any(earlier is None or earlier.span.begin >= value.span.begin for earlier in before):
                return None  # made of itself, it has no end
            passed[key] = value
            work += [x for x in parts if x not in work]
        call = program.graph.nodes[program.graph.frames[frames[at]].call].action
        arguments = written.args if at == 0 else call.call.args if isinstance(call, ins.CallInstr) else ()
        if len(params) != len(arguments):
            return None
        given = {key: e for key, e in zip(params, arguments, strict=True) if key in work}
        if at == 0:
            return tuple(given.items()), tuple(passed.items())
        if not all(isinstance(x, _RECKONED) for e in given.values() for x in evaluated_in(e)):
            return None
        passed.update(given)
        needed = {x.var: None for e in given.values() for x in evaluated_in(e) if isinstance(x, ast.VarRef)}
    return None


def _set_once(program: Program, flow: Flow, frame: int, key: str) -> ast.Expr | None:
    """What a local variable is declared with, or set to later, where it is set to nothing else.

    Where it is set later, nobody reads it before: it has no value there.
    """
    variable = program.variables[key]
    if variable.kind != "local" or variable.type.volatile or variable.type.atomic:
        return None
    value = _assigned(flow.lowered(frame).function, key) if variable.init is None else variable.init
    setting = 0
    for n in flow.by_frame[frame]:
        action = program.graph.nodes[n].action
        setting += isinstance(action, ins.Define) and action.target == ins.Var(key)
        if any(isinstance(x, ins.AddrVar) and x.key == key for o in evaluated(action) for x in parts_of(o)):
            return None
    return value if setting == 1 else None


def _assigned(function: ast.Function, key: str) -> ast.Expr | None:
    """What the one assignment of a function to a variable gives it."""
    found = [e for e in within_statement(function.body, function.variables) if isinstance(e, ast.Assign)]
    given = [e for e in found if isinstance(e.target, ast.VarRef) and e.target.var == key]
    return given[0].value if len(given) == 1 and given[0].op == "" else None


def _set_anew(program: Program, flow: Flow, frame: int, key: str) -> bool:
    """A parameter is set in its function, or its address is taken."""
    for n in flow.by_frame[frame]:
        action = program.graph.nodes[n].action
        if isinstance(action, ins.Define) and action.target == ins.Var(key):
            return True
        if any(isinstance(x, ins.AddrVar) and x.key == key for o in evaluated(action) for x in parts_of(o)):
            return True
    return False


def only_allocates(program: Program, flow: Flow, frame: int, allocation: int) -> bool:
    """On every path through a frame that returns, nothing happens but the allocation and local computations; and where
    the program ends instead, it does so because there is no memory.
    """
    graph = program.graph
    inside = set(flow.by_frame[frame])
    if flow.inner[frame]:
        return False
    filled = filling(program, program.values.objects.by_node[allocation])
    leaving = [node.number for node in graph.nodes if isinstance(node.action, Unbind) and node.action.callee == frame]
    returning: set[int] = set()
    work = [p for n in leaving for p in flow.preds[n] if p in inside]
    while work:
        n = work.pop()
        if n not in returning:
            returning.add(n)
            work.extend(p for p in flow.preds[n] if p in inside)
    for n in returning:
        if any(s in inside and s not in returning for s in flow.succs[n]) and not _tests(program, n, allocation):
            return False
        match graph.nodes[n].action:
            case Bind() | ins.Branch() | ins.ReturnInstr() | ins.Birth():
                pass
            case ins.Define(target=ins.Var(key=key)) if program.variables[key].is_global:
                return False
            case ins.Define(target=ins.Var(key=key)) if graph.out_parameters.get(frame) == key:
                pass
            case ins.Define(target=ins.Var(key=key)) if program.variables[key].kind == "param":
                return False  # what it was called with is not what it asks for
            case ins.Define():
                pass
            case ins.Load() | ins.Store() if _own_variable(program, n, frame):
                pass
            case ins.Store() | ins.CallInstr() if n in filled:
                pass
            case _:
                if n != allocation:
                    return False
    return allocation in returning


def may_be_null(program: Program, m: int) -> bool:
    """A node may set its target to NULL."""
    return any(program.values.symbols.base(v) is None for v in program.values.operands.get(m, ())[-1:])


def null_without_memory(program: Program, flow: Flow, frame: int, allocation: int) -> bool:
    """A frame decides nothing but whether there is memory: so it returns NULL where there is none only."""
    nodes = (program.graph.nodes[n] for n in flow.by_frame[frame])
    return all(_tests(program, n.number, allocation) for n in nodes if isinstance(n.action, ins.Branch))


def _own_variable(program: Program, n: int, frame: int) -> bool:
    """A load or store of a variable of the frame's, of which the address is taken (`posix_memalign(&p, 64, n)`).

    A store to a parameter is none: what the function was called with is not what it asks for then.
    """
    values = program.values
    base = values.symbols.base(values.operands[n][0]) if values.operands.get(n) else None
    info = None if base is None else values.objects.table[base]
    if info is None or info.variable is None or info.frame != frame:
        return False
    return isinstance(program.graph.nodes[n].action, ins.Load) or program.variables[info.variable].kind != "param"


def _tests(program: Program, n: int, allocation: int) -> bool:
    """Node ``n`` compares what the allocation returned with NULL, or its error code with 0."""
    values = program.values
    found = values.conditions.get(n)
    if found is None or found.right.constant != 0 or found.op not in ("==", "!="):
        return False
    if found.left == values.results.get(allocation):
        return True
    branch = program.graph.nodes[n].action
    named = [x for operand in evaluated(branch) for x in parts_of(operand) if isinstance(x, ins.Var)]
    if not all(program.variables[x.key].kind == "local" for x in named):
        return False  # of other memory
    return values.symbols.base(found.left) == values.objects.by_node.get(allocation, -1)
