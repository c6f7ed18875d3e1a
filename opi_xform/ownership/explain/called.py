"""What is said of calls: where a node is written, which call leads there, and what of one that is not followed."""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform.codes import Reason
from opi_xform.effects.formats import WITH_ADDRESSES
from opi_xform.graph.graph import Lost, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_name, calls_of
from opi_xform.ir.span import NOWHERE, Span
from opi_xform.ir.walk import repeats, uncast
from opi_xform.ownership.model import lines
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal
from opi_xform.ownership.model.lvalues import UNSPELLED, Expressions, spelling


def node_span(program: Program, node: int) -> Span:
    """Where a graph node is written."""
    action = program.graph.nodes[node].action
    if isinstance(action, ins.Instr):
        return action.span
    if isinstance(action, Lost):
        return action.call.span
    frame = program.graph.frames[program.graph.nodes[node].frame]
    return node_span(program, frame.call) if frame.call >= 0 else NOWHERE


def of_callee(program: Program, node: int, reason: str) -> str:
    """Why a call is not followed, its lines with the file of the function that is called."""
    action = program.graph.nodes[node].action
    names = action.functions if isinstance(action, Lost) else ()
    files = [program.functions[f].span.file for f in names if f in program.functions]
    return lines.marked(reason, files[0]) if len(files) == 1 else reason


def only_printed(refusal: Refusal) -> bool:
    """A buffer's address is text somewhere (``%p``): what its messages stay for otherwise is a better reason."""
    return refusal.reason is Reason.ESCAPE and refusal.message.endswith(WITH_ADDRESSES)


def comes_there(program: Program, n: int, o: int) -> bool:
    """A call that is not followed is known to have to do with an object.

    Of a call by which a function enters itself, points-to may only not tell apart what it is given, as a pointer from
    a table.  Then the function names the object at the level that is followed, or its arguments lead there.
    """
    graph, values = program.graph, program.values
    again = graph.entered_again(graph.nodes[n])
    if again < 0:
        return True
    bases = (values.symbols.base(v) for v in values.args.get(n, ()))
    if o in program.points_to.reachable(frozenset(base for base in bases if base is not None)):
        return True
    accesses = values.accesses
    for m in (m for m in accesses.nodes(o) if any(a.object == o for a in accesses.placed(m))):
        frame = graph.nodes[m].frame
        while frame not in (again, -1):
            frame = graph.frames[frame].parent
        if frame == again and graph.entered_again(graph.nodes[m]) < 0:
            return True
    return False


def called_pointer(program: Program, node: int) -> str:
    """The pointer through which a call that is not followed is made, in the source's words; '' where it has no name."""
    action = program.graph.nodes[node].action
    return _pointer_of(action.call) if isinstance(action, Lost) else ""


def returned_through(program: Program, node: int) -> str:
    """The pointer through which a function is called that returns at a node, or one that is not followed; ''."""
    action, graph = program.graph.nodes[node].action, program.graph
    if not isinstance(action, Unbind):
        return called_pointer(program, node)
    call = graph.frames[action.callee].call
    made = graph.nodes[call].action if call >= 0 else None
    return _pointer_of(made) if isinstance(made, ins.CallInstr) else ""


def _pointer_of(call: ins.CallInstr) -> str:
    callee: ast.Expr = call.call.callee
    while isinstance(callee, ast.Deref | ast.Cast):
        callee = callee.operand
    return spelling(callee) if isinstance(callee, ast.VarRef | ast.Member) else ""


def chosen_by_pointer(program: Program, n: int) -> tuple[Span, str] | None:
    """The innermost call around a node that may as well be one of another function, through a pointer; its function."""
    graph = program.graph
    while (call := graph.frames[graph.nodes[n].frame].call) >= 0:
        before = graph.preds[graph.nodes[call].block]
        action = graph.nodes[call].action
        direct = isinstance(action, ins.CallInstr) and isinstance(action.call.callee, ast.FuncRef)
        if not direct and any(len(graph.succs[b]) > 1 for b in before):
            key = graph.frames[graph.nodes[n].frame].function
            return node_span(program, call), program.functions[key].name
        n = call
    return None


def of_another_choice(program: Program, n: int, other: int) -> bool:
    """A call through a pointer leads to both nodes, by another function to each: such pointers are mostly set once."""
    graph = program.graph
    chosen: list[dict[Span, str]] = [{}, {}]
    for at, functions in zip((n, other), chosen, strict=True):
        while (call := graph.frames[graph.nodes[at].frame].call) >= 0:
            action = graph.nodes[call].action
            if not isinstance(action, ins.CallInstr) or not isinstance(action.call.callee, ast.FuncRef):
                functions[node_span(program, call)] = graph.frames[graph.nodes[at].frame].function
            at = call
    return any(chosen[1].get(span, function) != function for span, function in chosen[0].items())


def called_back(program: Program, n: int) -> tuple[Span, str, str] | None:
    """The call of a library's function around a node that calls what it is given; its name, and the function's."""
    graph = program.graph
    while (call := graph.frames[graph.nodes[n].frame].call) >= 0:
        action = graph.nodes[call].action
        callee = action.callee if isinstance(action, ins.CallInstr) else None
        effect = program.effects.get(callee.key) if isinstance(callee, ins.AddrFunc) else None
        if isinstance(callee, ins.AddrFunc) and effect is not None and effect.calls:
            function = graph.frames[graph.nodes[n].frame].function
            return node_span(program, call), callee.key, program.functions[function].name
        n = call
    return None


def made_at(program: Program, buffer: Buffer) -> tuple[Span, ...]:
    """The calls that allocate a buffer's memory, or that lead to such ones in another function than main."""
    table, graph, found = program.values.objects.table, program.graph, dict[Span, None]()
    heaps = [table[m] for o in buffer.objects if o >= 0 for m in table[o].members or (o,)]
    for n in (n for heap in heaps for n in heap.nodes):
        call = graph.frames[graph.nodes[n].frame].call
        found[node_span(program, call if call >= 0 else n)] = None
    return tuple(found)


def called_from(program: Program, n: int, other: int) -> int | None:
    """The node itself, or the call of the function around it, that stands in the same copy of a function as another."""
    return called_in(program, n, program.graph.nodes[other].frame)


def called_around(program: Program, n: int, other: int) -> int | None:
    """The same, in the innermost copy of a function that leads to both."""
    frames, around = program.graph.frames, program.graph.nodes[other].frame
    found = called_in(program, n, around)
    while found is None and around >= 0:
        around = frames[around].parent
        found = called_in(program, n, around)
    return found


def called_in(program: Program, n: int, frame: int) -> int | None:
    """The node itself, or the call of the function around it, that stands in a copy of a function."""
    while n >= 0 and program.graph.nodes[n].frame != frame:
        n = program.graph.frames[program.graph.nodes[n].frame].call
    return n if n >= 0 else None


def loop_around(program: Program, n: int) -> Span | None:
    """The innermost loop statement around a node, or around a call that leads to it; None where none is written."""
    graph = program.graph
    while n >= 0:
        node = graph.nodes[n]
        info, stmts = graph.statement(node), graph.lowered[graph.frames[node.frame].function].stmts
        while info is not None:
            if repeats(info.stmt):
                return info.stmt.span
            info = stmts[info.parent] if info.parent >= 0 else None
        n = graph.frames[node.frame].call
    return None


def only_where(program: Program, n: int, call: bool = False, until: int | None = None) -> str:
    """Where a node runs in a turn of the loop around it: under one condition, in words; '' for under none, or more.

    call: or in a call of its function, where no loop is around it.  until: a node that comes after it; what is around
    that one, too, is no condition, and a loop that is not is passed.
    """
    graph = program.graph
    node = graph.nodes[n]
    info, stmts = graph.statement(node), graph.lowered[graph.frames[node.frame].function].stmts
    both = set[int]()
    last = None if until is None or graph.nodes[until].frame != node.frame else graph.statement(graph.nodes[until])
    while last is not None:
        both.add(id(last.stmt))
        last = stmts[last.parent] if last.parent >= 0 else None
    found: list[str] = []
    while info is not None and (
        not isinstance(info.stmt, (ast.For, ast.While, ast.DoWhile))
        or (until is not None and id(info.stmt) not in both)
    ):
        inner, info = info.stmt, stmts[info.parent] if info.parent >= 0 else None
        if info is not None and isinstance(info.stmt, ast.If) and id(info.stmt) not in both:
            cond, holds = condition(info.stmt.cond), info.stmt.then is inner
            told = f"where {cond}" if holds else f"where {cond} does not hold"
            found.append(told if cond else f"under the condition in {lines.line_of(info.stmt.span)}")
    return found[0] if len(found) == 1 and (call or info is not None) else ""


def condition(e: ast.Expr) -> str:
    """A comparison of names and numbers as it is written; '' for anything else."""
    if not isinstance(e, ast.Binary) or e.op not in ("<", "<=", ">", ">=", "==", "!="):
        return ""
    sides = []
    for side in (e.left, e.right):
        side = uncast(side)
        if isinstance(side, (ast.IntLit, ast.MacroConst)):
            sides.append(side.name or (str(side.value) if isinstance(side, ast.IntLit) else UNSPELLED))
        else:
            sides.append(spelling(side))
    return "" if UNSPELLED in sides else f"`{sides[0]} {e.op} {sides[1]}`"


def read_notes(
    program: Program, site: int, reads: Iterable[tuple[Span, int]], names: Iterable[str]
) -> tuple[tuple[Span, str], ...]:
    """Where a message's memory may be read, by which name, and which call in the site's function leads there."""
    notes: dict[tuple[Span, str], None] = {}
    for (span, n), name in zip(reads, names, strict=True):
        notes[span, f"`{name}` may be read here"] = None
        call = called_from(program, n, site)
        if call is not None and call != n:
            notes[node_span(program, call), "called from here"] = None
    return tuple(notes)


def told_by_completion(program: Program, n: int) -> str:
    """Which row a node means, where a call that completes a request tells that: `MPI_Waitany(…, &m, …)` and `b[m]`."""
    node, graph = program.graph.nodes[n], program.graph
    function = graph.frames[node.frame].function
    e = Expressions(program).of(function, node.action) if isinstance(node.action, (ins.Load, ins.Store)) else None
    indices = set[str]()
    while isinstance(e, (ast.Index, ast.Member, ast.Cast)):
        if isinstance(e, ast.Index) and isinstance(index := uncast(e.index), ast.VarRef):
            indices.add(index.var)
        e = e.operand if isinstance(e, ast.Cast) else e.base
    for call in calls_of(program.functions[function]) if indices else ():
        effect = program.effects.get(called_name(call))
        completes = None if effect is None or effect.mpi is None else effect.mpi.completes
        told = None if completes is None or completes.index is None else uncast(call.args[completes.index])
        if isinstance(told, ast.AddrOf) and isinstance(told.operand, ast.VarRef) and told.operand.var in indices:
            assert isinstance(call.callee, ast.FuncRef)
            row, which = spelling(told.operand), f"`{call.callee.name}` at {lines.line_of(call.span)} tells"
            said = f"the row of {lines.line_of(node_span(program, n))} is `{row}`, which {which}"
            return f"{said}; a loop over the rows after `MPI_Waitall` would show it"
    return ""
