"""What a program puts into a buffer right before it receives into it: marks, which a shorter message leaves there.

Under A1 nothing reads them, so nobody would write them.  Whoever writes them in each turn, and only where the receive
comes next, looks for them after the message: A1 is not believed then.
"""

from __future__ import annotations

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import zero_constant
from opi_xform.ir.walk import expressions, uncast, within
from opi_xform.memory.accesses import Access
from opi_xform.ownership.liveness.constants import Constants
from opi_xform.ownership.liveness.read_ends import ReadEnds
from opi_xform.ownership.liveness.zero_ends import filled_by, read_to_an_end
from opi_xform.ownership.model.buffers import Buffer, Program, Use
from opi_xform.ownership.model.object_index import index_of


def marks_before(program: Program, buffer: Buffer, use: Use, begin: int | None = None) -> int | None:
    """A node that puts marks into the buffer of a receive before it.  begin: the node of which that is asked, where a
    loop of receives begins with it.

    They are constants, and nothing looks at them between.  Each turn of the receive's loop puts them there anew; zeros
    that are put there after it, which sums begin with, and marks that are put there once, may be no more than care:
    they count where the program reads on to an end, or asks for the mark.  So do marks under other conditions than the
    receive, and what a call sends and replaces.
    """
    found = _put_before(program, use, use.node if begin is None else begin)
    if found is None:
        return None
    n, again, behind, once = found
    action = program.graph.nodes[n].action
    set_back = behind and (
        filled_by(program, n) == 0
        or (isinstance(action, ins.Store) and zero_constant(action.value))
        or _written_as_zero(program, n)
    )
    if again and not set_back and not once and not use.op.replaces:
        return n
    marks = _numbers(program, n)
    told = bool(marks) and ReadEnds(program, buffer.objects).tell(marks)
    return n if told or read_to_an_end(program, buffer) else None


def _numbers(program: Program, n: int) -> tuple[int, ...]:
    """The mark that is put, where it is a whole number other than zero, and the one after it (``x > -1``)."""
    action, byte = program.graph.nodes[n].action, filled_by(program, n)
    if byte is not None:
        mark = -1 if byte & 255 == 255 else byte
    elif isinstance(action, ins.Store) and isinstance(action.value, ins.Const):
        mark = action.value.value
    else:
        return ()
    return (mark, mark + 1) if mark else ()


def _written_as_zero(program: Program, n: int) -> bool:
    """A number is set back to what it adds up from: ``b[i] = 0.0``."""
    node = program.graph.nodes[n]
    info = program.graph.statement(node)
    if info is None or not isinstance(node.action, ins.Store):
        return False
    for e in (inner for whole in expressions(info.stmt) for inner in within(whole)):
        if isinstance(e, ast.Assign) and e.span == node.action.span:
            value = uncast(e.value)
            return isinstance(value, (ast.FloatLit, ast.IntLit)) and value.value == 0
    return False


def _put_before(program: Program, use: Use, receive: int) -> tuple[int, bool, bool, bool] | None:
    """The node, whether a loop has both it and the receive, whether it stands after that, and whether it stands before
    a loop of receives into the same bytes.

    In a loop marks may be put back after the receive, for the next turn.  Where each turn receives into other bytes,
    those for all turns may be put before the loop.
    """
    graph, nest = program.graph, program.nest
    home = graph.nodes[receive].block
    around = frozenset(nest.chain(home))
    constants = Constants(program, around)
    headers = {nest.loops[number].header: nest.loops[number] for number in around}
    moving = _moving(program, use) & around
    wanted = _guards(program, home)
    accesses = index_of(program).accesses.of(use.object)
    elsewhere: tuple[int, bool, bool, bool] | None = None  # under other conditions: it counts as one that is put once
    work = [(home, graph.blocks[home].index(receive), False, False)]
    later: list[tuple[int, int, bool, bool]] = []  # before loops
    seen = set()
    while work or later:
        block, upto, behind, once = (work or later).pop()
        stopped = False
        for n in reversed(graph.blocks[block][:upto]):
            found = accesses.get(n)
            if not found:
                continue
            writes = all(a.kind == "W" for a in found)
            marks = writes and constants.written(graph.nodes[n])
            if n != receive and not marks and writes and all(_at_one_place(a) for a in found):
                continue  # one element, beside the marks
            if not marks:
                stopped = True
                break
            here = around & set(nest.chain(block))
            if {g for g in wanted if around & set(nest.chain(g)) <= here} <= _guards(program, block):
                return n, bool(here), behind, once
            elsewhere = elsewhere or (n, bool(here), behind, True)
        if stopped:
            continue
        loop = headers.get(block)
        for before in graph.preds[block]:
            if before not in seen:
                seen.add(before)
                back = loop is not None and before in loop.blocks
                out = loop is not None and not back and loop.number not in moving
                way = (before, len(graph.blocks[before]), behind or back, once or out)
                (later if once or out else work).append(way)
    return elsewhere


def _moving(program: Program, use: Use) -> frozenset[int]:
    """Loops from turn to turn of which a receive goes to another place in its buffer."""
    symbols = program.values.symbols
    return frozenset() if use.lo is None else symbols.scope(symbols.resolve(use.lo))


def _at_one_place(access: Access) -> bool:
    return access.lo is not None and access.lo.constant is not None


def _guards(program: Program, block: int) -> set[int]:
    """Blocks that one outcome of a comparison leads to, and that every way to a block comes through; the ends of loops
    are left out, for all ways come there.
    """
    guarded, nest = index_of(program).guarded, program.nest
    out = set()
    at = guarded[block]
    while at:
        parent = nest.idom[at]
        if set(nest.chain(parent)) <= set(nest.chain(at)):
            out.add(at)
        at = guarded[parent]
    return out
