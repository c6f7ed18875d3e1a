"""Whether a source can be MPI_PROC_NULL (named assumption A2, docs/soundness.md).

A source is real where its range shows it (``real_ranks``).  Where it does not, it may be MPI_PROC_NULL as soon as some
value from which that may come flows into it, however conditionally and in whatever form: ``Taint`` follows values
through variables, memory, arithmetic, calls and messages, and what it does not know it takes for such a value.  Only
what is computed from other numbers, which all come from the text, from ranks, sizes and counters, is believed to be
what the program means by a rank: that is A2.
"""

from __future__ import annotations

from opi_xform.ir import instr as ins
from opi_xform.memory.poly import ZERO, Poly, symbol
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.procnull.real_ranks import Ranks
from opi_xform.ownership.procnull.taint import Taint


class ProcNull:
    """What may be MPI_PROC_NULL in a program, found once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.null = program.constants.get("MPI_PROC_NULL")
        self.ranks = Ranks(program)
        self.known: dict[tuple[int, Poly], bool] = {}  # what ``real`` has found of values that are not constant

    def shown(self, node: int, argument: int) -> bool:
        """The argument of a call is not MPI_PROC_NULL, whatever anyone assumes."""
        return self.real(node, self.program.values.args[node][argument])

    def real(self, node: int, value: Poly) -> bool:
        """A value that a node has is another number."""
        constant = value.constant
        if self.null is None:
            return False
        if constant is not None:
            return constant != self.null
        key = (node, value)
        if key not in self.known:
            large = self.program.values.symbols.is_large(value)  # unsigned, which becomes a negative one
            self.known[key] = self.null < 0 and not large and self.ranks.nonneg_at(node, value)
        return self.known[key]

    def possible(self, node: int, argument: int) -> bool:
        """The argument of a call may be MPI_PROC_NULL, as far as its value tells; else it is real, by A2 at least."""
        action = self.program.graph.nodes[node].action
        assert isinstance(action, ins.CallInstr)
        return self.suspect(node, action.args[argument], self.program.values.args[node][argument])

    def suspect(self, node: int, operand: ins.Operand, value: Poly) -> bool:
        """An operand of a node, with its value there, may be MPI_PROC_NULL."""
        if self.real(node, value):
            return False
        if self.null is None or value.constant is not None or self.wraps_below(node, value):
            return True
        frame = self.program.graph.nodes[node].frame
        return any(self.taint(null).operand(node, frame, operand) for null in (self.null, None))

    def wraps_below(self, node: int, value: Poly) -> bool:
        """It is a remainder of a number less some constant, as in ``(x - 1) % n``: where x is 0 that is -1 in C."""
        symbols = self.program.values.symbols
        for s in (s for p in value.symbols() for s in symbols.converted(symbol(p)).symbols()):
            info = symbols.table[s]
            operands = info.key[2] if info.kind == "op" and info.key[0] == "%" else ()
            left = symbols.resolve(operands[0]) if isinstance(operands, tuple) and operands else ZERO
            if left.constant_term < 0 and len(set(left.symbols())) == 1 and not self.ranks.nonneg_at(node, left):
                return True
        return False

    def taint(self, null: int | None) -> Taint:
        """Where it flows, found when it is asked for."""
        taints = self.taints
        found = taints.get(null)
        if found is None:
            found = taints[null] = Taint(self.program, null, self.real)
        return found

    @property
    def taints(self) -> dict[int | None, Taint]:
        """By the number that counts, ``Taint.null``.  They are kept with the program, since each of them asks this."""
        found: dict[int | None, Taint] = self.program.findings.setdefault((ProcNull, self), {})
        return found


def destination(program: Program, u: Use) -> Poly | None:
    """The destination of a send that reads its buffer only where that is 0 or more: else it is MPI_PROC_NULL.

    None: it may read its buffer whatever its destination is.
    """
    if u.side != "send" or u.op.replaces or u.buffer.peer is None:
        return None
    return program.values.args[u.node][u.buffer.peer]


@once
def proc_null(program: Program) -> ProcNull:
    """The analysis of a program, found once."""
    return ProcNull(program)
