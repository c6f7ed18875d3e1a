"""What happens to one buffer, node by node, for the placement."""

from __future__ import annotations

from dataclasses import dataclass, field

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly
from opi_xform.ownership.flow import Flow
from opi_xform.ownership.mentions import Mentions, plain
from opi_xform.ownership.model import Buffer, Program, Use
from opi_xform.ownership.states import (
    ALLOC,
    BIRTH,
    COMPLETE,
    DEALLOC,
    IRECV,
    RAWBIRTH,
    RECV,
    SEND,
    TOUCH,
    Event,
)
from opi_xform.program.effects import FunctionEffect


@dataclass(slots=True)
class EventList:
    """``deallocations``: the nodes that free the buffer.  ``pending_kept``: an operation that stays may be under way."""

    all: list[Event]
    by_node: dict[int, list[Event]]
    deallocations: list[int]
    pending_kept: bool
    settled: set[Event] = field(default_factory=set)


def collect_events(
    program: Program,
    flow: Flow,
    buffer: Buffer,
    mentions: Mentions,
    converted: frozenset[tuple[str, int, str, int]],
    in_place: bool,
) -> EventList | str:
    """Everything in node order; a sentence when something is not understood."""
    return _Collector(program, flow, buffer, mentions, converted, in_place).run()


class _Collector:
    def __init__(
        self,
        program: Program,
        flow: Flow,
        buffer: Buffer,
        mentions: Mentions,
        converted: frozenset[tuple[str, int, str, int]],
        in_place: bool,
    ) -> None:
        self.program = program
        self.flow = flow
        self.buffer = buffer
        self.mentions = mentions
        self.converted = converted
        self.in_place = in_place
        self.objects = frozenset(buffer.objects)
        self.allocations = frozenset(buffer.carrier.allocations)
        self.by_node: dict[int, list[Event]] = {}
        self.deallocations: list[int] = []
        self.pending_kept = False

    def run(self) -> EventList | str:
        problem = self.frees() or self.touches()
        if problem:
            return problem
        self.births()
        for use in self.buffer.uses:
            problem = self.use(use)
            if problem:
                return problem
        self.completions()
        ordered = [e for n in sorted(self.by_node) for e in self.by_node[n]]
        return EventList(ordered, self.by_node, self.deallocations, self.pending_kept)

    def add(self, node: int, kind: str, row: Poly | None = None) -> None:
        event = Event(node, kind, row)
        found = self.by_node.setdefault(node, [])
        if event not in found:
            found.append(event)

    def effect(self, n: int) -> FunctionEffect | None:
        action = self.program.graph.nodes[n].action
        if isinstance(action, ins.CallInstr) and isinstance(action.callee, ins.AddrFunc):
            return self.program.effects.get(action.callee.key)
        return None

    # --- the life of the pointer -----------------------------------------------------------------------------------

    def births(self) -> None:
        key = self.buffer.carrier.variable
        pointer = self.buffer.carrier.kind == "pointer"
        for node in self.program.graph.nodes:
            match node.action:
                case ins.Birth(var=var) if var == key:
                    self.add(node.number, RAWBIRTH if pointer else BIRTH)
                case ins.Define(target=ins.Var(key=var), value=ins.Const(value=0)) if var == key:
                    self.add(node.number, BIRTH)
                case _:
                    pass
        for n in self.buffer.carrier.allocations:
            self.add(n, ALLOC if self.in_place else BIRTH)

    def frees(self) -> str:
        for node in self.program.graph.nodes:
            action = node.action
            effect = self.effect(node.number)
            if effect is None or effect.frees is None or not isinstance(action, ins.CallInstr):
                continue
            i = effect.frees.arg
            values = self.program.values.args.get(node.number, ())
            if i >= len(values):
                continue
            base = self.program.values.symbols.base(values[i])
            if base is None:
                if self.program.points_to.operand(node.frame, action.args[i]) & self.objects:
                    return "the buffer may be freed by a call that frees other memory too"
                continue
            if base not in self.objects:
                continue
            written = plain(action.call.args[i])
            if effect.allocates is not None or effect.frees.indirect:
                return "the buffer is reallocated"
            if not isinstance(written, ast.VarRef) or written.var != self.buffer.carrier.variable:
                return "the buffer is freed through another name"
            self.deallocations.append(node.number)
            self.add(node.number, DEALLOC)
        return ""

    # --- accesses --------------------------------------------------------------------------------------------------

    def touches(self) -> str:
        dead_tests = self.tests_of_frees()
        for n in self.buffer.touches:
            action = self.program.graph.nodes[n].action
            if n in self.by_node or n in self.allocations or n in dead_tests:
                continue
            if isinstance(action, ins.Define) and isinstance(action.target, ins.Var):
                if action.target.key == self.buffer.carrier.variable:
                    continue
            if isinstance(action, ins.Birth):
                continue
            effect = self.effect(n)
            if effect is not None and effect.mpi is not None and effect.mpi.request is not None:
                self.pending_kept = True
            problem = self.touch(n)
            if problem:
                return problem
        return ""

    def touch(self, n: int) -> str:
        if not self.buffer.carrier.rows:
            self.add(n, TOUCH)
            return ""
        values = self.program.values
        symbols = values.symbols
        found: list[Poly | None] = []
        for access in values.accesses.get(n, ()):
            if access.object in self.objects:
                address = None if access.lo is None else self.address(access.object) + access.lo
                found.append(None if address is None else self.mentions.row(n, address))
        for value in values.operands.get(n, ()):
            if symbols.base(value) in self.objects:
                found.append(self.mentions.row(n, value))
        if not found or None in found:
            return "an access does not tell which row of the array it means"
        for row in dict.fromkeys(found):
            self.add(n, TOUCH, row)
        return ""

    def address(self, o: int) -> Poly:
        return self.program.values.symbols.of("object", (o,), frozenset())

    def tests_of_frees(self) -> set[int]:
        """Branches of ``if (buf) free(buf);``: right with a NULL pointer as well."""
        freeing: dict[tuple[int, int], int] = {}
        for n in self.deallocations:
            frame = self.program.graph.nodes[n].frame
            freeing[frame, self.flow.stmt[n]] = n
        out: set[int] = set()
        for (frame, stmt), n in freeing.items():
            stmts = self.flow.lowered(frame).stmts
            at = stmts[stmt].parent
            while at >= 0 and isinstance(stmts[at].stmt, ast.Block):
                at = stmts[at].parent
            if at < 0 or not isinstance(stmts[at].stmt, ast.If):
                continue
            test = stmts[at].stmt
            assert isinstance(test, ast.If)
            inside = self.flow.members((frame, at))
            if test.other is None and all(self.flow.stmt[m] in (at, stmt) for m in inside):
                out.update(m for m in inside if self.flow.stmt[m] == at and m != n)
        return out

    # --- the sites -------------------------------------------------------------------------------------------------

    def use(self, use: Use) -> str:
        row: Poly | None = None
        if self.buffer.carrier.rows:
            values = self.program.values.args.get(use.node, ())
            row = self.mentions.row(use.node, values[use.argument]) if use.argument < len(values) else None
            if row is None:
                return "a call does not tell which row of the array it means"
        if use.place not in self.converted:
            if not use.op.blocking or use.op.persistent:
                self.pending_kept = True
            self.add(use.node, TOUCH, row)
        elif use.side == "send":
            self.add(use.node, SEND, row)
        else:
            self.add(use.node, RECV if use.op.blocking else IRECV, row)
        return ""

    def completions(self) -> None:
        """Calls that surely complete the requests of receives that convert."""
        symbols = self.program.values.symbols
        requests: set[Poly] = set()
        for use in self.buffer.uses:
            if use.side == "recv" and not use.op.blocking and use.place in self.converted and use.op.request is not None:
                values = self.program.values.args.get(use.node, ())
                if use.op.request < len(values):
                    requests.add(symbols.resolve(values[use.op.request]))
        arrays = {base for r in requests if (base := symbols.base(r)) is not None}
        if not arrays:
            return
        for node in self.program.graph.nodes:
            effect = self.effect(node.number)
            done = effect.mpi.completes if effect is not None and effect.mpi is not None else None
            values = self.program.values.args.get(node.number, ())
            if done is None or not done.definite or done.requests >= len(values):
                continue
            address = symbols.resolve(values[done.requests])
            if address in requests and done.which == "one" or symbols.base(address) in arrays and done.which == "all":
                self.add(node.number, COMPLETE)
