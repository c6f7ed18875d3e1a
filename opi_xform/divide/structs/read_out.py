"""Messages that are received in an array of a struct, and that the program reads to their ends by the array's name.

``MPI_Recv(halo.in, n, …)`` may bring more than ``in`` has room for: the rest comes to what follows in the struct.
Where ``halo.in[…]`` reads all n of them, on every way from the receive, the program has a meaning only if they end in
the array (C 6.5.6).

That is found backward, as liveness is: an access by the name takes its bytes away, and all bytes are wanted where a way
may end before they are read.  So they are at a loop that may go on for ever and uses what follows the array, if only
by such a receive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from islpy import Set

from opi_xform.divide.passages.proof import told_one_by_one
from opi_xform.graph.graph import Lost
from opi_xform.graph.loops import Loop
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import calls_of
from opi_xform.memory.accesses import Access
from opi_xform.memory.poly import Poly, number
from opi_xform.ownership.liveness.buffer_events import SIGNS, Assumed
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Buffer, Program, Use
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.stretches import stretches_of
from opi_xform.regions.live import Transfer
from opi_xform.regions.sets import BudgetExceeded
from opi_xform.values.trip_counts import nominal_trips


class ReadOut(Judge):
    """Whether the receives of an object are read to their ends by an array's name.

    named: nodes that touch an element by the name.  begin, end: the array's first byte, and the struct's end.
    rests: on what it rests that they are; None where that is not shown.
    """

    def __init__(
        self,
        program: Program,
        buffer: Buffer,
        o: int,
        receives: Sequence[Use],
        named: Mapping[int, Access],
        ends: tuple[int, int],
        strict: bool,
    ) -> None:
        self.receives = receives
        self.named = named
        self.begin, self.end = ends
        self.wanted: set[int] = set()
        self.rests: tuple[str, ...] | None = None
        super().__init__(program, buffer, o, strict)

    def liveness(self) -> None:
        wanted = self.where_wanted() if self.told_one_by_one() else None
        if wanted is None:
            return
        self.wanted = wanted
        by_start: dict[frozenset[int], list[Use]] = {}
        for use in self.receives:
            by_start.setdefault(self.start(use.lo), []).append(use)
        found = [self.read(mine, start) for start, mine in by_start.items()]
        if None not in found:
            self.rests = tuple(sorted({*chain.from_iterable(one for one in found if one is not None)}))

    def start(self, lo: Poly | None) -> frozenset[int]:
        """The numbers that say where something begins."""
        return frozenset(() if lo is None else self.symbols.resolve(lo).symbols())

    def read(self, mine: Sequence[Use], start: frozenset[int]) -> Assumed | None:
        """On what it rests that these receives are read to their ends; None: it is not shown.

        Only what is read from the same place on is looked at: of others it is not known how they lie to it.
        """
        named = {n: a for n, a in self.named.items() if start <= self.start(a.lo)}
        self.accesses = {n: [replace(a, kind="W", must=True)] for n, a in named.items()}
        self.solved = {}
        for assumed in [frozenset[str]()] if self.strict else [frozenset[str](), frozenset((SIGNS,))]:
            for self.told in (False, True):
                if self.shown(assumed, mine):
                    return assumed
                if not self.bounded:
                    break  # all that is known has been told
        return None

    def shown(self, assumed: Assumed, mine: Sequence[Use]) -> bool:
        """It is so on what is assumed, as far as the integer sets come to an end."""
        try:
            with self.regions.budget():
                found, _ = self.live(None, assumed=assumed)
                return all(self.is_read(found, use) for use in mine)
        except BudgetExceeded:
            self.regions.context.reset_operations()
            return False

    def is_read(self, found: Mapping[int, Set], use: Use) -> bool:
        live = found.get(use.node)
        if live is None or use.lo is None or use.length is None:
            return False
        region = self.regions.interval(use.lo, use.lo + use.length)
        left = self.under(use.node, live.intersect(region))
        return bool(left.is_empty())

    def queries(self) -> Sequence[int]:
        return tuple(use.node for use in self.receives)

    def bytes(self) -> Set:
        return self.regions.interval(number(self.begin), number(self.end))

    def events(self, *_: object, **__: object) -> dict[int, list[Transfer]]:
        out: dict[int, list[Transfer]] = {}
        for n, found in self.accesses.items():
            out[n] = [Transfer(self.region(n, a.lo, a.length, True), None) for a in found]
        for n in self.wanted:
            out.setdefault(n, []).insert(0, Transfer(None, self.bytes()))
        return out

    def told_one_by_one(self) -> bool:
        """What the functions do that receive or read is told by the graph alone."""
        graph = self.program.graph
        run = {graph.frames[graph.nodes[n].frame].function for n in (*self.queries(), *self.named)}
        return told_one_by_one(self.program) and run.isdisjoint(graph.passed | graph.levels)

    # --- where all has to have been read -----------------------------------------------------------------------------

    def where_wanted(self) -> set[int] | None:
        """The nodes before which all has to have been read; None where there is no node at such a place."""
        graph, nest = self.program.graph, self.program.nest
        last = self.last_ones()
        if not last.isdisjoint(self.queries()):
            return None
        out = {*last, *(node.number for node in graph.nodes if self.may_end(node.action))}
        beyond = {graph.nodes[n].block for n in self.beyond_it()}
        for loop in {loop for block in beyond for loop in nest.chain(block)}:
            if self.counts(nest.loops[loop]):
                continue
            nodes = graph.blocks[nest.loops[loop].header]
            if not nodes:
                return None
            out.add(nodes[0])
        return out

    def counts(self, loop: Loop) -> bool:
        """A loop comes to an end, for it counts its turns."""
        graph, nest, values = self.program.graph, self.program.nest, self.values
        return any(nominal_trips(graph, nest, values, loop, edge) is not None for edge in loop.exits)

    def last_ones(self) -> set[int]:
        """The nodes after which nothing comes."""
        graph = self.program.graph
        out: set[int] = set()
        work = [block for block, following in enumerate(graph.succs) if not following]
        seen = set(work)
        while work:
            block = work.pop()
            if graph.blocks[block]:
                out.add(graph.blocks[block][-1])
                continue
            fresh = [b for b in graph.preds[block] if b not in seen]
            seen.update(fresh)
            work.extend(fresh)
        return out

    def beyond_it(self) -> list[int]:
        """The nodes that may touch what follows the array."""
        stretches = stretches_of(self.program)
        out: list[int] = []
        for n, found in index_of(self.program).accesses.of(self.o).items():
            for a in found if n not in self.named else ():
                first, length = stretches.of(a)
                if length is None or first + length > self.begin:
                    out.append(n)
        return out

    def may_end(self, action: object) -> bool:
        """The program may end there, or go on elsewhere, where the graph does not show it."""
        if isinstance(action, Lost):
            return True
        if not isinstance(action, ins.CallInstr):
            return False
        if not isinstance(action.callee, ins.AddrFunc):
            return True
        key = action.callee.key
        return (key in self.program.graph.passed or key not in self.program.functions) and self.ends(key)

    def ends(self, key: str) -> bool:
        """A function may not return, as far as is known of what it calls."""
        seen: set[str] = set()
        work = [key]
        while work:
            at = work.pop()
            if at in seen:
                continue
            seen.add(at)
            function, effect = self.program.functions.get(at), self.program.effects.get(at)
            if function is not None:
                callees = [call.callee for call in calls_of(function)]
                if function.refused or not all(isinstance(one, ast.FuncRef) for one in callees):
                    return True
                work.extend(one.name for one in callees if isinstance(one, ast.FuncRef))
            elif effect is None or effect.noreturn or effect.calls:
                return True
        return False
