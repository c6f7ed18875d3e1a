"""Receives with which the life of a block begins: it was allocated, and nobody has touched it since.

``next = malloc(n); MPI_Recv(next, n, …); free(mine); mine = next;``: no name is that of a buffer, but the block that is
received into has nothing in it yet.  So another block may stand in its place, that of the sender, whatever becomes of
its address afterwards.  malloc becomes OPI_Malloc, calloc OPI_Calloc and free OPI_Free, in their places, for all blocks
of the pool (``blocks.py``), and the receive OPI_Take_replace: it frees the block, and keeps it from MPI_PROC_NULL.

What is shown, for each copy of the receive: on every way to it the pointer holds what a call of malloc or calloc
returned since the loops around both began their iteration, and that block has not been used; the receive makes room for
as many bytes as were asked for; and no other name that may hold the old block is used afterwards (``sends.py``).  The
zeros of calloc are not there where a message is shorter than its block: that is assumption A1, but for texts.
"""

from __future__ import annotations

from functools import reduce
from operator import mul

from opi_xform.dataflow.solver import solve
from opi_xform.dataflow.view import numbered
from opi_xform.graph.graph import Bind, Lost, Node, Unbind
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly
from opi_xform.ownership.last.sends import LastSends, Pair
from opi_xform.ownership.model.names import Name

Untouched = dict[Name, frozenset[int]]
"""By name that surely holds a block that nobody has touched: the calls that may have allocated it."""


class BothWays:
    """What holds on each way to a place; None: there is no way."""

    top: Untouched | None = None
    bottom: Untouched | None = {}  # noqa: RUF012 - nobody changes a state

    def meet(self, a: Untouched | None, b: Untouched | None) -> Untouched | None:
        if a is None or b is None:
            return b if a is None else a
        return {name: made | b[name] for name, made in a.items() if name in b}

    def leq(self, a: Untouched | None, b: Untouched | None) -> bool:
        return self.meet(a, b) == a

    def explain(self, a: Untouched | None, b: Untouched | None) -> str:
        return "" if self.leq(a, b) else "more is untouched in one than in the other"


class FreshBlocks:
    """The receives of one pool.

    before: by block of the graph, what is untouched at its start.  A way that leads back to the start of a loop brings
    only what is of memory from outside of the loop: else it would be that of another iteration.
    """

    def __init__(self, sends: LastSends) -> None:
        self.sends = sends
        self.program = sends.program
        self.graph = sends.graph
        self.loops = {loop.header: loop for loop in self.program.nest.loops}
        self.before = solve(numbered(self.graph.succs, self.graph.preds), self).before

    # --- the dataflow problem: None where no way leads ---------------------------------------------------------------

    @property
    def lattice(self) -> BothWays:
        return BothWays()

    def boundary(self, node: int) -> Untouched:
        del node
        return {}

    def transfer(self, node: int, state: Untouched | None) -> Untouched | None:
        if state is None:
            return None
        known = dict(state)
        self.run(node, known, None)
        return known

    def transfer_edge(self, source: int, target: int, state: Untouched | None) -> Untouched | None:
        return state if state is None or target > source else self.from_outside(source, target, state)

    def from_outside(self, latch: int, header: int, known: Untouched) -> Untouched:
        loop = self.loops.get(header)
        if loop is None or latch not in loop.latches:  # a way around that is no loop with one entry
            return {}
        inside = {name for name, made in known.items() if any(self.graph.nodes[m].block in loop.blocks for m in made)}
        return {name: made for name, made in known.items() if name not in inside}

    def fresh(self, n: int, name: Name, length: Poly) -> frozenset[int]:
        """The calls that may have allocated what ``name`` holds at the receive ``n`` of ``length`` bytes.

        None where that may have been touched, or be larger.
        """
        block = self.graph.nodes[n].block
        known = dict(self.before[block] or {})
        self.run(block, known, n)
        made = known.get(name, frozenset())
        return made if all(self.filled(m, n, length) for m in made) else frozenset()

    def filled(self, m: int, n: int, length: Poly) -> bool:
        """The call ``m`` asks for as many bytes at most as the receive ``n`` makes room for."""
        values, block = self.program.values, self.graph.nodes[n].block
        asked = values.args.get(m, ())
        if not asked:
            return False
        size = values.symbols.resolve(reduce(mul, asked))
        if not values.symbols.scope(size) <= set(self.program.nest.chain(block)):
            return False  # of a loop that has ended: which of its iterations is meant is not said
        return self.sends.facts.at(block).nonneg(length - size)

    # --- one block -------------------------------------------------------------------------------------------------

    def run(self, block: int, known: Untouched, end: int | None) -> None:
        """What the nodes of a block, up to ``end``, make of what is known."""
        pairs = set(self.sends.together[block])
        for n in self.graph.blocks[block]:
            if n == end:
                return
            node = self.graph.nodes[n]
            self.step(node, known, pairs)
            self.sends.pass_on(node, pairs)

    def step(self, node: Node, known: Untouched, pairs: set[Pair]) -> None:
        if isinstance(node.action, Lost):
            known.clear()
            return
        if known and not self.only_moves(node):
            for used in {name for name, _, _ in self.sends.holding(node)}:
                touched = {used, *(b if a == used else a for a, b in pairs if used in (a, b))}
                for name in touched.intersection(known):
                    del known[name]
        targets = [name for name in self.sends.names.defined(node) if name in self.sends.pool.holders]
        ahead = dict(known)
        for target in targets:
            known.pop(target, None)
            if node.number in self.sends.made:
                known[target] = frozenset({node.number})
                continue
            given = [(source, exact) for source, exact, _ in self.sends.blocks.given(node, target)]
            if len(given) == 1 and given[0][1] and given[0][0] in ahead:
                known[target] = ahead[given[0][0]]

    def only_moves(self, node: Node) -> bool:
        """It brings an address from name to name, or finds that there is memory: it does not look into the block."""
        match node.action:
            case ins.Define() | Bind() | Unbind() | ins.ReturnInstr() | ins.Branch():
                return True
            case ins.CallInstr():
                return self.sends.names.entered(node)  # what it is given the Bind gives
            case _:
                return False
