"""What a program puts into a buffer right before it receives into it: marks, which a shorter message leaves there.

Under A1 nothing reads them, so nobody would write them.  Whoever writes them in each turn, and only where the receive
comes next, looks for them behind the message: A1 is not believed then.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from opi_xform.graph.graph import Action, Bind, Node
from opi_xform.ir import instr as ins
from opi_xform.ownership.liveness.zero_ends import filled_by, read_to_an_end
from opi_xform.ownership.model.buffers import Buffer, Program, Use
from opi_xform.ownership.model.object_index import index_of


def marks_before(program: Program, buffer: Buffer, use: Use, begin: int | None = None) -> int | None:
    """A node that puts marks into the buffer of a receive before it.  begin: the node of which that is asked, where a
    loop of receives begins with it.

    They are constants, and nothing looks at them between.  Each turn of the receive's loop puts them there anew; zeros,
    and marks that are put there once, may be no more than care: they count where the program reads on to an end.
    """
    found = _put_before(program, use.object, use.node if begin is None else begin)
    if found is None:
        return None
    n, again = found
    action = program.graph.nodes[n].action
    zero = filled_by(program, n) == 0 or (isinstance(action, ins.Store) and action.value == ins.Const(0))
    return n if (again and not zero) or read_to_an_end(program, buffer) else None


def _put_before(program: Program, o: int, receive: int) -> tuple[int, bool] | None:
    """The node, and whether it is in the innermost loop of the receive."""
    graph, nest = program.graph, program.nest
    home = graph.nodes[receive].block
    chain = nest.chain(home)
    loop = nest.loops[chain[0]] if chain else None
    wanted = _guards(program, home)
    accesses = index_of(program).accesses.of(o)
    first = graph.blocks[home].index(receive)
    work = [(home, first)]
    seen = set()
    while work:
        block, upto = work.pop()
        stopped = False
        for n in reversed(graph.blocks[block][:upto]):
            found = accesses.get(n)
            if not found:
                continue
            marks = all(a.kind == "W" for a in found) and _constant(program, graph.nodes[n])
            if not marks and all(a.kind == "W" and a.lo is not None and a.lo.constant is not None for a in found):
                continue  # one element, beside the marks
            if not marks:
                stopped = True
                break
            if wanted <= _guards(program, block):
                return n, loop is not None
        if stopped or (loop is not None and block == loop.header):
            continue
        for before in graph.preds[block]:
            if before not in seen:
                seen.add(before)
                work.append((before, len(graph.blocks[before])))
    return None


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


def _constant(program: Program, node: Node) -> bool:
    """The node writes the same number whenever it runs."""
    if filled_by(program, node.number) is not None:
        return True
    if not isinstance(node.action, ins.Store):
        return False
    work: list[ins.Operand] = [node.action.value]
    while work:
        match work.pop():
            case ins.Op(op="neg" | "cast", args=args):
                work += args
            case ins.Nondet(reason="floating arithmetic", args=args) if len(args) == 1:
                work += args
            case ins.Temp() as temp:
                set_by = [a.value for a in _ahead(program, node) if isinstance(a, ins.Define) and a.target == temp]
                if not set_by:
                    return False
                work.append(set_by[-1])
            case ins.Var(key=key) if _never_set_anew(program, key):
                pass
            case ins.Const() | ins.Nondet(reason="floating constant"):
                pass
            case _:
                return False
    return True


@lru_cache(maxsize=64)
def _never_set_anew(program: Program, key: str) -> bool:
    """A variable that has one number: that of its initialiser, or of the only assignment, or of every call."""
    variable = program.variables[key]
    given = {n.action.value for n in program.graph.nodes if isinstance(n.action, ins.Define) and _sets(n.action, key)}
    for node in program.graph.nodes:
        if isinstance(node.action, Bind) and key in node.action.params:
            given.add(node.action.args[node.action.params.index(key)])
    if variable.is_global:
        return not given and key not in program.graph.addressed
    floating = {g for g in given if isinstance(g, ins.Nondet) and g.reason == "floating constant"}
    return len(given) == 1 and all(isinstance(g, ins.Const) or g in floating for g in given)


def _sets(action: ins.Define, key: str) -> bool:
    return isinstance(action.target, ins.Var) and action.target.key == key


def _ahead(program: Program, node: Node) -> Iterator[Action]:
    """What comes before a node in its block."""
    block = program.graph.blocks[node.block]
    return (program.graph.nodes[n].action for n in block[: block.index(node.number)])
