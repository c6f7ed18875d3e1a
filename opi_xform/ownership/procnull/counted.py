"""What a program reads no more of than a status says has come, in words: it reads nothing of an empty message.

A receive from MPI_PROC_NULL brings a status that tells of no elements.  A test ``i < n``, where ``n`` comes from
nothing but what ``MPI_Get_count`` gives for that status, is false then.  Values are followed back without regard to
order.  Decisions do not depend on it.
"""

from __future__ import annotations

from opi_xform.graph.graph import Bind, Unbind
from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import MIRRORED, NEGATED
from opi_xform.ir.operands import zero_constant
from opi_xform.memory.objects import UNKNOWN
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.names import Name, leaves, names_of
from opi_xform.ownership.model.object_index import index_of

COUNTS = frozenset({"MPI_Get_count", "MPI_Get_elements", "MPI_Get_elements_x"})
MOST = 300  # values that are followed
TESTS = 12  # that are looked at around a node

Value = tuple[int, ins.Operand]  # the frame in which it is evaluated, and what it is


def counting(program: Program, use: Use, n: int) -> int | None:
    """The call that tells how much a message has, where a node runs only for something of it; None for none."""
    receive, status = program.graph.nodes[use.node].action, use.op.status
    given = receive.args[status:][:1] if isinstance(receive, ins.CallInstr) and status is not None else ()
    if not given or isinstance(given[0], ins.Const):  # MPI_STATUS_IGNORE
        return None
    return _count_ahead(program, use, n)


def counting_again(program: Program, use: Use, n: int) -> int | None:
    """The same of a later call of the receive's function, which tells how much its own message has."""
    told, nodes, frames = counting_some(program, n), program.graph.nodes, program.graph.frames
    if told is None or nodes[told].frame == nodes[use.node].frame:
        return None
    return told if frames[nodes[told].frame].function == frames[nodes[use.node].frame].function else None


def counting_some(program: Program, n: int) -> int | None:
    """The call that tells how much some message has, where a node runs only for something of it; None for none."""
    return _count_ahead(program, None, n)


def _count_ahead(program: Program, use: Use | None, n: int) -> int | None:
    graph = program.graph
    guarded = index_of(program).guarded
    at = guarded[graph.nodes[n].block]
    for _ in range(TESTS):
        if not at:
            return None
        parent = program.nest.idom[at]
        node = graph.nodes[graph.blocks[parent][-1]]
        if isinstance(node.action, ins.Branch):
            cond = _computed(program, node.frame, node.action.cond)
            count = _more(cond, graph.succs[parent][0] == at)
            found = None if count is None else _given(program, use, (node.frame, count))
            if found is not None:
                return found
        at = guarded[parent]
    return None


def _computed(program: Program, frame: int, operand: ins.Operand) -> ins.Operand:
    """What a temporary is computed from, where one node does."""
    names = names_of(program)
    for _ in range(TESTS):
        name = names.name(frame, operand) if isinstance(operand, ins.Temp) else None
        defs = names.defs.get(name, ()) if name is not None else ()
        action = program.graph.nodes[defs[0]].action if len(defs) == 1 else None
        if not isinstance(action, ins.Define):
            break
        operand = action.value
    return operand


def _more(cond: ins.Operand, holds: bool) -> ins.Operand | None:
    """The number that is more than another one, or not 0, as a test says."""
    if not isinstance(cond, ins.Op) or cond.op not in MIRRORED or len(cond.args) != 2:
        return cond if holds and isinstance(cond, (ins.Var, ins.Temp)) else None
    op = cond.op if holds else NEGATED[cond.op]
    left, right = cond.args
    if op in ("<", "!="):
        return right if op == "<" or not zero_constant(right) else left
    return left if op == ">" else None


def _given(program: Program, use: Use | None, value: Value) -> int | None:
    """The call from which a value comes, and from no other."""
    names, found, seen = names_of(program), set[int](), set[Name | int]()
    work = [value]
    for at in range(MOST):
        if at == len(work):
            return found.pop() if len(found) == 1 else None
        frame, operand = work[at]
        if isinstance(operand, ins.Const) and operand.value != 0:
            return None
        for leaf in leaves(operand):
            name = names.name(frame, leaf)
            if isinstance(leaf, ins.Const) or name in seen:
                continue
            if name is None or (name[0] == "v" and name[1] in program.values.escaped):
                return None
            seen.add(name)
            nodes = [*names.defs.get(name, ()), *(a.node for a in (names.writes(name[1]) if name[0] == "v" else ()))]
            for d in nodes:
                if d in seen:
                    continue
                if isinstance(program.graph.nodes[d].action, ins.Load):
                    seen.add(d)
                    objects = set(program.values.accesses.objects(d, "R"))
                    if not objects or UNKNOWN in objects or not objects.isdisjoint(program.values.escaped):
                        return None
                    nodes.extend(a.node for o in sorted(objects) for a in names.writes(o))
                elif _tells(program, use, d):
                    found.add(d)
                elif (more := _before(program, d, leaf)) is None:
                    return None
                else:
                    work.extend(more)
    return None


def _tells(program: Program, use: Use | None, n: int) -> bool:
    """A call tells how much the message of a receive (None: of any) has, by the status that the receive is given."""
    node = program.graph.nodes[n]
    told = node.action
    if not isinstance(told, ins.CallInstr) or names_of(program).entered(node):
        return False
    if not isinstance(told.callee, ins.AddrFunc) or told.callee.key not in COUNTS or use is None:
        return isinstance(told.callee, ins.AddrFunc) and told.callee.key in COUNTS
    receive, status = program.graph.nodes[use.node], use.op.status
    call = receive.action
    if not isinstance(call, ins.CallInstr) or status is None:
        return False
    if status >= len(call.args) or not told.args:
        return False
    of, given = (
        program.points_to.operand(at.frame, a) for at, a in ((node, told.args[0]), (receive, call.args[status]))
    )
    return bool(of) and of == given and UNKNOWN not in of


def _before(program: Program, n: int, leaf: ins.Operand) -> list[Value] | None:
    """The values that a node gives a name; None: they are not known."""
    node = program.graph.nodes[n]
    match node.action:
        case ins.Define(value=value) | ins.Store(value=value):
            return [(node.frame, value)]
        case ins.Birth(zeroed=False):
            return []
        case Bind(caller=caller, params=params, args=args) if isinstance(leaf, ins.Var):
            return [(caller, a) for key, a in zip(params, args, strict=False) if key == leaf.key]
        case Unbind(callee=callee, value=value) if value is not None:
            return [(callee, value)]
        case _:
            return None
