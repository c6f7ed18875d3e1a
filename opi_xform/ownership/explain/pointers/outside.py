"""Memory that code which is not known may reach though no call has its address: where that is stored."""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.graph.graph import RECURSION, Lost
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast
from opi_xform.memory.objects import UNKNOWN
from opi_xform.memory.values import MAY_REACH
from opi_xform.ownership.explain.called import loop_around, node_span, of_callee
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, Expressions, spelling
from opi_xform.ownership.model.names import names_of

ONE_AT_A_TIME = "could not show that it is one buffer at a time"
ARRAY = "an array of pointers (`*p[N]`) that its function declares"
SHOWN = 3  # places
_HEADERS = {"_mm_malloc": "mm_malloc.h", "memalign": "malloc.h", "pvalloc": "malloc.h"}


def stored_outside(program: Program, o: int, name: str, n: int, why: str, key: str = "") -> Refusal | None:
    """The address of an object is stored where unknown code looks; None where another reason is known for that.

    n, why: where it is said to be given away; that tells enough where the node has the address itself.  What is stored
    may be anything where nothing is known of it; a call that gets the address of the buffer's pointer, the variable
    ``key``, says more then.
    """
    graph, points_to = program.graph, program.points_to
    if why != MAY_REACH and (why == RECURSION or _has(program, n, o)):
        return None
    outside = points_to.reachable(frozenset({UNKNOWN}))
    unsure: Refusal | None = None
    sure: list[tuple[str, Span]] = []
    for node in graph.nodes:
        action = node.action
        if not isinstance(action, ins.Store) or not action.type.is_pointer:
            continue
        stored = points_to.operand(node.frame, action.value)
        if o not in stored or outside.isdisjoint(points_to.operand(node.frame, action.address)):
            continue
        e = Expressions(program).of(graph.frames[node.frame].function, action)
        place = UNSPELLED if e is None else spelling(e)
        where = "memory" if place == UNSPELLED else f"`{place}`"
        message = f"the address of `{name}` is stored in {where}, where code that is not known may find it"
        notes = ((node_span(program, node.number), "stored here"), *_as_bytes(program, o))
        if UNKNOWN not in stored:
            sure.append((message, node_span(program, node.number)))
            continue
        unsure = unsure or Refusal(Reason.ESCAPE, message.replace(" is stored", " may be stored"), notes)
    if sure:  # each process may run another one of them
        spans = dict.fromkeys(span for message, span in sure if message == sure[0][0])
        stored_at = tuple((span, "stored here") for span in (*spans,)[:SHOWN])
        return Refusal(Reason.ESCAPE, sure[0][0], (*stored_at, *_as_bytes(program, o)))
    return None if unsure is None else _set_by_library(program, o, name, key) or unsure


def _set_by_library(program: Program, o: int, name: str, key: str) -> Refusal | None:
    """A library's function gets the address of a buffer's pointer, `strtok_r(p, ",", &p)`, or of another one into it.

    key: the buffer's own.
    """
    found: list[tuple[bool, Span, str, str]] = []
    for node in program.graph.nodes:
        action = node.action
        callee = action.call.callee if isinstance(action, ins.CallInstr) else None
        if not isinstance(action, ins.CallInstr) or not isinstance(callee, ast.FuncRef):
            continue
        if callee.name in program.functions:
            continue
        for e in map(uncast, action.call.args):
            own = e.operand if isinstance(e, ast.AddrOf) else None
            if not isinstance(own, ast.VarRef) or not own.type.is_pointer:
                continue
            if own.var == key or o in program.points_to.operand(node.frame, ins.Var(own.var)):
                span, called = node_span(program, node.number), callee.name.rpartition(":")[2]
                found.append((own.var != key, span, called, program.variables[own.var].name))
    if not found:
        return None
    _, span, called, pointer = min(found, key=lambda one: one[0])
    which = "" if pointer == name else f", which points into the memory of `{name}`,"
    message = f"`{called}` gets the address of `{pointer}`{which} at {line_of(span)}, and could not show where that"
    return Refusal(Reason.ESCAPE, f"{message} points to afterwards", ((span, "its address is given away here"),))


def set_in_one_line(program: Program, what: str, span: Span) -> tuple[str, tuple[tuple[Span, str], ...]]:
    """What is said of a pointer that one line sets to memory of several allocations, of which one is there at a time.

    That is known only where every call in between is followed.
    """
    for node in program.graph.nodes:
        action = node.action
        if isinstance(action, Lost) and len(action.functions) == 1 and action.functions[0] in program.functions:
            reason, call = of_callee(program, node.number, action.reason), node_span(program, node.number)
            name = program.functions[action.functions[0]].name
            called = "calls itself" if action.reason == RECURSION else f"is not followed: {reason}"
            message = f"{what} is set at {line_of(span)}; {ONE_AT_A_TIME}"
            return f"{message}, as `{name}` {called}", ((span, "set here"), (call, f"`{name}` is called here"))
    return f"which buffer it is depends on what happens at {line_of(span)}", ((span, "here"),)


def calls_itself(program: Program, n: int, name: str) -> tuple[str, tuple[tuple[Span, str], ...]]:
    """What is said of a pointer that a function gets by an address, and perhaps sets: it calls itself at a node."""
    lost, span = program.graph.nodes[n].action, node_span(program, n)
    names = lost.functions if isinstance(lost, Lost) else ()
    called = f"`{program.functions[names[0]].name}`" if names and names[0] in program.functions else "a function"
    what = "its address" if name.isidentifier() else "the address of what it lies in"
    message = (
        f"could not show that `{name}` stays as it is: {called}, which calls itself at {line_of(span)}, gets {what}"
    )
    return message, ((span, "called from inside itself"),)


def one_of_several_tables(program: Program, n: int, table: str) -> tuple[str, tuple[tuple[Span, str], ...]]:
    """What is said of a table of pointers that stands for several of the run.  n: the node that allocates it."""
    span, loop = node_span(program, n), loop_around(program, n)
    message = f"`{table}` may be one of several tables of pointers: {line_of(span)} may allocate more than one"
    if loop is not None and program.nest.chain(program.graph.nodes[n].block):
        message = (
            f"`{table}` is one of several tables of pointers: {line_of(span)} allocates one in each turn of the loop"
        )
        message += f" in {line_of(loop)}"
        if not _within(program, n, loop):
            once = "one that is allocated before that loop" if "->" in table or "." in table else ARRAY
            message += f"; {once} would be one"
    return message, ((span, "allocated here"),)


def _within(program: Program, n: int, loop: Span) -> bool:
    """A loop is one of the function that a node is in."""
    here = program.functions[program.graph.frames[program.graph.nodes[n].frame].function].span
    return here.file == loop.file and here.begin <= loop.begin < here.end


def _has(program: Program, n: int, o: int) -> bool:
    """A node is given the address of an object, and not only something from which that can be found."""
    node = program.graph.nodes[n]
    action = node.action.call if isinstance(node.action, Lost) else node.action
    match action:
        case ins.CallInstr(args=given) | ins.Escape(values=given):
            found = (program.points_to.operand(node.frame, operand) for operand in given)
            return any(o in objects and UNKNOWN not in objects for objects in found)
        case _:
            return True


def _as_bytes(program: Program, o: int) -> tuple[tuple[Span, str], ...]:
    """The first call of a library that reads a variable from which the address can be found, with all its bytes."""
    table, touches = program.values.objects.table, program.values.accesses.touches
    points_to, names = program.points_to, names_of(program)
    for node in program.graph.nodes:
        action = node.action
        if not isinstance(action, ins.CallInstr) or names.effect(action) is None:
            continue
        for operand in action.args:
            for found in sorted(points_to.operand(node.frame, operand) - {UNKNOWN, o}):
                info = table[found]
                record = info.type is not None and info.type.kind == "record"
                if info.kind != "variable" or not record or not touches(node.number, (found,), "R"):
                    continue
                if o in points_to.reachable(frozenset({found})):
                    callee = action.call.callee
                    called = f"`{callee.name.rpartition(':')[2]}`" if isinstance(callee, ast.FuncRef) else "a call"
                    message = f"{called} gets the bytes of `{info.name}`, from which the address can be found"
                    return ((node_span(program, node.number), message),)
    return ()


def undeclared(program: Program, buffer: Buffer) -> str:
    """An allocator that no header declares, in words: C takes what it returns for an int; '' where there is none."""
    table = program.values.objects.table
    heaps = [table[m] for o in buffer.objects if o >= 0 for m in table[o].members or (o,) if table[m].kind == "heap"]
    for n in (n for heap in heaps for n in heap.nodes):
        action = program.graph.nodes[n].action
        callee = action.call.callee if isinstance(action, ins.CallInstr) else None
        if isinstance(action, ins.CallInstr) and isinstance(callee, ast.FuncRef) and not action.call.type.is_pointer:
            where, name = line_of(node_span(program, n)), callee.name.rpartition(":")[2]
            header = f", as `<{_HEADERS[name]}>` does" if name in _HEADERS else ""
            message = (
                f"no header that is included declares `{name}`{header}, by which {where} allocates `{buffer.name}`"
            )
            return f"{message}: C takes what it returns for an int, and what memory that is could not be shown"
    return ""
