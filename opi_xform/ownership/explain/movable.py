"""A statement after a send that could as well stand before it, as far as the text of both tells.

It is for advice alone.  What is between the two may not set what the statement uses, nor use what it sets; a statement
that passes messages, or leaves its block, stays where it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from opi_xform.graph.graph import Node
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import expressions, statements
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.spelling.mentions import walk

_LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Goto, ast.Label, ast.Case, ast.OpaqueStmt)


def movable(program: Program, use: Use, reader: int, writers: Collection[int]) -> bool:
    """The statement with node ``reader`` could stand before the send; both are in one copy of a function.

    writers: nodes of that copy that write the message's buffer, or call what does.
    """
    graph = program.graph
    first = graph.nodes[use.node]
    stmts = graph.lowered[graph.frames[first.frame].function].stmts
    above, below = _chain(stmts, first), _chain(stmts, graph.nodes[reader])
    shared = next((k for k in above if k in below), -1)
    block = stmts[shared].stmt if shared >= 0 else None
    if not isinstance(block, ast.Block) or shared in (above[0], below[0]):
        return False
    mine, other = (chain[chain.index(shared) - 1] for chain in (above, below))
    places = [next((i for i, s in enumerate(block.body) if s is stmts[k].stmt), -1) for k in (mine, other)]
    if not -1 < places[0] < places[1]:
        return False
    moved, passed = block.body[places[1]], block.body[places[0] : places[1]]
    if not isinstance(moved, ast.Return) and any(isinstance(s, _LEAVES) for s, _ in statements(moved)):
        return False  # of what a function returns, the reads can move
    if any(other in _chain(stmts, graph.nodes[n]) for n in writers):
        return False
    own = roots(use.call.args[use.argument])
    used, put = _Names(program, [moved], own), _Names(program, passed, own)
    return not (
        used.messages
        or (used.library and put.library)
        or used.mentioned & put.put
        or used.put & put.mentioned
        or (put.calls and used.globals & (used.mentioned | used.put))
        or (used.calls and put.globals & (put.mentioned | put.put) - own)
    )


def roots(e: ast.Expr) -> set[str]:
    """The variables by which an address is written, or a place."""
    return {x.var for x in walk(e) if isinstance(x, ast.VarRef)}


def _chain(stmts: Sequence[ins.StmtInfo], node: Node) -> list[int]:
    """The statements around a node, the innermost first."""
    action = node.action
    at = action.stmt if isinstance(action, ins.Instr) else -1
    out = []
    while at >= 0:
        out.append(at)
        at = stmts[at].parent
    return out


class _Names:
    """What statements mention, and what they may set, by name: what is reached through a pointer counts as its name.

    own: names of the message's buffer, of which it is known otherwise who writes it.  messages: MPI is called.
    library: something else is called that does more than compute.  calls: functions of the program are called.
    """

    def __init__(self, program: Program, found: Sequence[ast.Stmt], own: Collection[str]) -> None:
        self.program = program
        self.mentioned: set[str] = set()
        self.put: set[str] = set()
        self.messages = self.library = self.calls = False
        for root in found:
            for s, _ in statements(root):
                if isinstance(s, ast.DeclStmt):
                    self.put.update(s.variables)
            for full in self.full(root):
                for e in walk(full):
                    self.look(e, own)
        named = {*self.mentioned, *self.put}
        self.globals = {k for k in named if (v := program.variables.get(k)) is not None and v.is_global}

    def full(self, root: ast.Stmt) -> Iterator[ast.Expr]:
        yield from expressions(root)
        for s, _ in statements(root):
            for key in s.variables if isinstance(s, ast.DeclStmt) else ():
                variable = self.program.variables.get(key)
                if variable is not None and variable.init is not None:
                    yield variable.init

    def look(self, e: ast.Expr, own: Collection[str]) -> None:
        match e:
            case ast.VarRef(var=key):
                self.mentioned.add(key)
            case ast.Assign(target=target) | ast.IncDec(operand=target):
                self.put.update(roots(target))
            case ast.Call(callee=callee, args=args):
                name = callee.name if isinstance(callee, ast.FuncRef) else ""
                effect = self.program.effects.get(name)
                known = effect is not None and name not in self.program.functions
                self.calls |= not known
                self.messages |= name.startswith("MPI_")
                if effect is not None and known:
                    self.library |= effect.mpi is None and not (effect.pure or effect.computes)
                    written = {region.arg for region in (*effect.writes, *effect.overwrites)}
                    args = tuple(a for i, a in enumerate(args) if i in written or effect.mpi is None)
                for a in args:
                    if a.type.is_pointer or a.type.is_array:
                        self.put.update(roots(a) - set(own))
