"""What a collective call does with a buffer in its root alone: `MPI_Scatter` reads what is sent there, and elsewhere
only says where it would lie.
"""

from __future__ import annotations

from opi_xform.ir import instr as ins
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.names import names_of


def at_root(program: Program, n: int, o: int, writes: bool = False) -> bool:
    """A node is a collective call that reads an object, or writes it, in its root only, as far as is known."""
    action, names = program.graph.nodes[n].action, names_of(program)
    op = names.operations.get(n)
    if op is None or op.kind != "collective" or op.root is None or not isinstance(action, ins.CallInstr):
        return False
    effect, args, base = names.effect(action), program.values.args[n], program.values.symbols.base
    regions = () if effect is None else effect.writes if writes else effect.reads
    touched = {r.arg for r in regions if r.arg < len(args) and base(args[r.arg]) in (o, None)}
    return bool(touched) and touched <= (op.at_root if writes else op.read_at_root)


def on_no_root(program: Program, n: int, call: int, o: int, writes: bool = False) -> bool:
    """What a collective call does with an object no process does that runs a node: it is never the root."""
    return at_root(program, call, o, writes) and branches_of(program).other_rank(n, call)


def of_a_root(program: Program, use: Use, read: int, callee: str, said: tuple[str, str]) -> str:
    """What is told of a read after a use, which a collective call may do in its root only.

    said: that it is read, and that it counts as a read.
    """
    message, counts = said
    if not at_root(program, read, use.object):
        return message
    if on_no_root(program, use.node, read, use.object):
        shown = "which no process is that comes to this call; an `if` around the root's call would show that"
        return f"{counts}: `{callee}` does so in its root only, {shown}"
    return f"{message}, by the root of `{callee}`"
