"""What each node of the program does to the bytes of one buffer object: the events that liveness is made of."""

from __future__ import annotations

from collections.abc import Collection
from math import gcd

from islpy import Set

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.accesses import Access
from opi_xform.memory.poly import ZERO, Poly, number
from opi_xform.ownership.allocation.filled import filling
from opi_xform.ownership.buffers.arrays import Indexed
from opi_xform.ownership.liveness.broadcasts import broadcasts_of
from opi_xform.ownership.liveness.failures import failures_of
from opi_xform.ownership.liveness.longest import shorter
from opi_xform.ownership.model.buffers import Buffer, Place, Program, Use
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.split_rows import split_row
from opi_xform.ownership.procnull.sources import destination, proc_null
from opi_xform.regions.live import Transfer
from opi_xform.regions.sets import FEWER, Regions
from opi_xform.regions.signs import before_turns, negative
from opi_xform.regions.telescope import Telescope
from opi_xform.values.hull import hulls
from opi_xform.values.trip_counts import turns_made

SIGNS, PADDING = "A3", "A4"  # assumptions, see docs/soundness.md
Assumed = frozenset[str]


class BufferEvents:
    """Reads, writes, sends, receives, births and frees of one object.

    packed: sends all of whose bytes are said to be written since the last hand-over.  padded: structs with padding are
    written member by member (assumption A4).  told: what loops write is told by their ends, too (``Telescope``).
    a2: receives whose source is taken for a real process (assumption A2).  replacing: those that convert and keep
    what is there where the source is MPI_PROC_NULL.
    """

    def __init__(
        self,
        program: Program,
        buffer: Buffer,
        o: int,
        strict: bool,
        packed: Collection[Place] = frozenset(),
        told_only: bool = False,
    ) -> None:
        """told_only: no site of the buffer converts, only reasons ask: integer sets may take less time then."""
        self.program = program
        self.buffer = buffer
        self.o = o
        self.strict = strict
        self.packed = packed
        self.values = program.values
        self.symbols = program.values.symbols
        self.uses = [u for u in buffer.uses if u.object == o]
        self.use_nodes: dict[int, list[Use]] = {}
        for u in self.uses:
            self.use_nodes.setdefault(u.node, []).append(u)
        self.indexed = Indexed(program, o) if buffer.carrier.rows else None
        self.index = index_of(program)
        self.accesses = {n: a for n, a in self.index.accesses.of(o).items() if n not in self.use_nodes}
        self.null = proc_null(program)
        self.failures = failures_of(program)
        self.broadcasts = broadcasts_of(program)
        self.told_only = told_only
        self.regions = Regions(self.symbols, self.unit(), FEWER if program.alone or told_only else None)
        self.bound = self.bounds()
        self.filled = self.first_contents()
        self.zeroed: set[int] = set()  # births with zeros that OPI_Calloc brings as well
        self.births = self.find_births()
        self.a2: set[int] = set()
        self.replacing: frozenset[Place] = buffer.replacing
        self.told = self.signs = False
        self.real_sources = False  # as if no receive were from MPI_PROC_NULL: for reasons only
        self.assumed: Assumed = frozenset()
        self.padded = any(a.padding for found in self.accesses.values() for a in found)
        self.swaps = {s.nodes[1]: s for s in buffer.swaps}
        self.idle = {s.nodes[0] for s in buffer.swaps}  # the other half of each swap

    def unit(self) -> int:
        """The greatest number of bytes that divides every offset and length."""
        out = 0
        polys: list[Poly] = []
        for found in self.accesses.values():
            for a in found:
                if a.lo is not None and a.length is not None:
                    polys += [self.local(a.lo), a.length, number(a.padding)]
        for u in self.uses:
            if u.lo is not None and u.length is not None:
                polys += [self.local(u.lo), u.length]
        size = self.size()
        if size is not None:
            polys.append(size)
        for p in polys:
            for _, c in self.symbols.resolve(p).terms:
                out = gcd(out, c)
        return out or 1

    def local(self, lo: Poly) -> Poly:
        """The offset within the row, where the object is an array of buffers."""
        if self.indexed is None:
            return lo
        found = split_row(self.program, self.o, lo)
        return lo if found is None else found[1]

    def size(self) -> Poly | None:
        """Bytes of the object (of one row), when known."""
        info = self.values.objects.table[self.o]
        if info.kind == "family":
            return self.same({self.allocated(n) for h in info.members for n in self.values.objects.table[h].nodes})
        if self.buffer.carrier.rows:
            return number(self.buffer.carrier.row_bytes)
        if info.kind == "variable" and info.type is not None and info.type.vla:
            return self.same({self.values.lengths.get(n) for n in self.find_births()})
        if info.kind == "variable":
            return number(info.type.size) if info.type is not None and info.type.size else None
        return self.same({self.allocated(n) for n in info.nodes})

    @staticmethod
    def same(sizes: Collection[Poly | None]) -> Poly | None:
        return next(iter(sizes)) if len(sizes) == 1 else None

    def allocated(self, n: int) -> Poly | None:
        """Bytes that the allocation at node n asks for; for a row of a family, in terms of row D."""
        call = self.program.graph.nodes[n].action
        if not isinstance(call, ins.CallInstr) or not isinstance(call.callee, ins.AddrFunc):
            return None
        effect = self.program.effects.get(call.callee.key)
        values = self.values.args.get(n, ())
        if effect is None or effect.allocates is None or effect.allocates.size is None:
            return None
        out = number(1)
        for factor in effect.allocates.size:
            if factor.kind == "const":
                out = out.scaled(factor.value)
            elif factor.kind == "arg" and factor.value < len(values):
                out = out * values[factor.value]
            else:
                return None
        lasting = self.o in self.values.lazy or len(self.values.objects.table[self.o].nodes) > 1
        if lasting and self.symbols.scope(self.symbols.resolve(out)):
            return None  # it may be memory of an earlier turn, of which these numbers do not tell
        if self.indexed is not None:
            out = self.indexed.at_store(n, self.symbols.resolve(out))
            if self.symbols.scope(out):
                return None
        return out

    def bounds(self) -> Set:
        size = self.size()
        if size is None:
            return self.regions.all
        return self.regions.interval(number(0), size)

    # --- events --------------------------------------------------------------------------------------------------

    def find_births(self) -> dict[int, bool]:
        """Nodes where the object begins a new life: whether its first contents are defined (zeros, an initialiser)."""
        out: dict[int, bool] = {}
        info = self.values.objects.table[self.o]
        if info.kind in ("heap", "family"):
            members = info.members if info.kind == "family" else (self.o,)
            for h in members:
                for n in self.values.objects.table[h].nodes:
                    call = self.program.graph.nodes[n].action
                    assert isinstance(call, ins.CallInstr)
                    assert isinstance(call.callee, ins.AddrFunc)
                    spec = self.program.effects[call.callee.key].allocates
                    defined = spec is None or spec.zeroed or spec.contents or spec.copies_from is not None
                    filled = bool(filling(self.program, h))
                    out[n] = defined or filled
                    if call.callee.key == "calloc" and not filled:
                        self.zeroed.add(n)
            return out
        for n in self.index.births.get(info.variable or "", ()):
            node = self.program.graph.nodes[n]
            assert info.variable is not None
            if self.values.objects.variable(node.frame, info.variable) == self.o:
                out[n] = self.program.variables[info.variable].init is not None
        return out

    def first_contents(self) -> frozenset[int]:
        """Nodes of functions that hand out the memory which fill it."""
        info = self.values.objects.table[self.o]
        members = info.members if info.kind == "family" else (self.o,)
        return frozenset().union(*(filling(self.program, o) for o in members))

    def frees(self) -> set[int]:
        out: set[int] = set()
        for n, arg in self.index.frees:
            values = self.values.args.get(n, ())
            if arg < len(values) and self.symbols.base(values[arg]) == self.o:
                out.add(n)
        return out

    def initialises(self, n: int) -> bool:
        """The node gives the object its first contents: in its declaration, in the function that allocates it."""
        if n in self.filled:
            return True
        info = self.values.objects.table[self.o]
        statement = self.program.graph.statement(self.program.graph.nodes[n])
        return (
            statement is not None
            and isinstance(statement.stmt, ast.DeclStmt)
            and info.variable in statement.stmt.variables
            and isinstance(self.program.graph.nodes[n].action, (ins.Store, ins.CopyBytes))
        )

    def region(self, n: int, lo: Poly | None, length: Poly | None, must: bool) -> Set | None:
        """Offsets of an access: exact, or (not must) all of the object; None for a write that is not certain."""
        if lo is None or length is None:
            return None if must else self.bound
        if self.indexed is None:
            out = self.regions.interval(lo, lo + length)
            return out if must else self.within(n, lo, length, out.intersect(self.bound))
        found = split_row(self.program, self.o, lo)
        if found is None:
            return None if must else self.bound
        index, rest = found
        here = self.indexed.at(self.regions, n, index)
        start = self.indexed.specialise(n, self.symbols.resolve(rest))
        size = self.indexed.specialise(n, self.symbols.resolve(length))
        out = self.regions.interval(start, start + size)
        if not must:
            out = self.within(n, rest, length, out.intersect(self.bound))
        return out.intersect(here)

    def within(self, n: int, lo: Poly, length: Poly, region: Set) -> Set:
        """The region, and what is known of it where its place is a product of numbers, or told by a counter.

        Where it is to be ``rough``: only that, if it is known from both sides whatever the turn is.
        """
        block = self.program.graph.nodes[n].block
        turning = {s for s in self.symbols.resolve(lo).symbols() if self.turns(s)}
        parts: list[tuple[Set, bool, bool]] = []  # whether it says, for all turns, where the access begins and ends
        for hull in hulls(self.index.facts, block, lo, length):
            ends = [hull.lo, hull.hi]
            begins, stops = (p is not None and turning.isdisjoint(p.symbols()) for p in ends)
            if self.indexed is not None:
                ends = [None if p is None else self.indexed.specialise(n, p) for p in ends]
            parts.append((self.regions.between(*ends), begins, stops))
        for stretch in self.index.grown.stretches(block, lo, length) if self.indexed is None else ():
            if self.signs_allow(n, stretch.sizes):
                part = self.regions.between(stretch.lo, stretch.hi)
                if stretch.otherwise is not None:
                    part = part.union(self.regions.compare(*stretch.otherwise, number(0)))
                parts.append((part, True, True))
        if self.regions.rough and turning and any(part[1] for part in parts) and any(part[2] for part in parts):
            region, parts = self.bound, [part for part in parts if part[1] or part[2]]
        for part, _, _ in parts:
            region = region.intersect(part)
        return region

    def turns(self, s: int) -> bool:
        """The number differs from turn to turn of a loop: it counts them, or goes on in each."""
        return s in self.values.cells or self.symbols.table[s].kind == "count"

    def signs_allow(self, n: int, sizes: Collection[Poly]) -> bool:
        """None of the sizes is negative at node n: there are none that could be, or it is assumed (A3)."""
        block, program = self.program.graph.nodes[n].block, self.program
        for p in sizes:
            at = before_turns(program.nest, self.symbols, block, self.symbols.resolve(p))
            if negative(program.graph, self.values, p, self.index.facts.at(at).nonneg):
                return False
        self.signs = self.signs or bool(sizes)
        return SIGNS in self.assumed or not sizes

    def event(self, a: Access, assumed: Assumed) -> Transfer | None:
        if a.kind == "R":
            return Transfer(None, self.on_ranks("==", a, self.region(a.node, a.lo, a.length, False)))
        broadcast = self.broadcasts.get(a.node)
        if not a.must and (broadcast is None or not broadcast.brings or self.strict):
            return None
        kill = self.region(a.node, a.lo, _written(a, assumed), True)
        kill = kill if a.must else self.on_ranks("!=", a, kill)
        return None if kill is None else Transfer(kill, None)

    def on_ranks(self, op: str, a: Access, region: Set | None) -> Set | None:
        """A region of a broadcast's buffer: its root alone reads it, and all others get it anew."""
        broadcast = self.broadcasts.get(a.node)
        if broadcast is None or region is None:
            return region
        away = broadcast.away if self.indexed is None else self.indexed.specialise(a.node, broadcast.away)
        return region.intersect(self.regions.compare(op, away, ZERO))

    def events(
        self,
        converted: Collection[Place] | None,
        only: Collection[int] | None,
        assumed: Assumed,
        renewed: Collection[int] = (),
    ) -> dict[int, list[Transfer]]:
        """Liveness events; or, with ``converted``, every access as a use, until one of these sites hands over.

        renewed: nodes before which the buffer gets new memory.
        """
        self.assumed = assumed
        out: dict[int, list[Transfer]] = {}
        for n, found in self.accesses.items():
            if self.initialises(n) or (converted is None and (n in self.swaps or n in self.idle)):
                continue
            for a in found:
                if a.kind == "R" and only is not None and n not in only:
                    continue
                if converted is not None:
                    out.setdefault(n, []).append(Transfer(None, self.region(n, a.lo, a.length, False)))
                else:
                    event = self.event(a, assumed)
                    if event is not None and (event.use is None or only is None or n in only):
                        out.setdefault(n, []).append(event)
        for n, uses in self.use_nodes.items():
            for u in uses:
                if u.side == "send" and only is not None and n not in only:
                    continue
                event = self.use_event(u) if converted is None else self.touch_event(u, converted)
                if event.use is None or only is None or n in only:
                    out.setdefault(n, []).append(event)
        for n, swap in self.swaps.items() if converted is None else ():
            passed = swap.other_live and (only is None or n in only)
            out.setdefault(n, []).append(Transfer(self.regions.all, self.bound if passed else None))
        for n in (*self.births, *self.frees()):
            ended = self.regions.all if self.indexed is None else self.ended(n)
            if ended is not None:
                out.setdefault(n, []).append(Transfer(ended, None))
        for n in sorted(renewed):
            out.setdefault(n, []).insert(0, Transfer(self.regions.all, None))
        return out

    def ended(self, n: int) -> Set | None:
        """For one row of many: where a birth or a free is that of row D; None when it is not known which row it is."""
        assert self.indexed is not None
        action = self.program.graph.nodes[n].action
        if isinstance(action, ins.Birth):
            return self.regions.all
        index = self.indexed.stored(n)
        if index is None:
            return None
        return self.indexed.at(self.regions, n, index)

    def touch_event(self, u: Use, converted: Collection[Place]) -> Transfer:
        """A call that stays touches its region; one that converts ends the buffer's life (a give after its region)."""
        region = self.region(u.node, u.lo, u.length, False)
        if u.place not in converted:
            return Transfer(None, region)
        if u.side == "recv" and u.place in self.replacing:
            return Transfer(None, None)  # from MPI_PROC_NULL nothing is handed over
        everything = self.regions.all
        if self.indexed is not None and u.row is not None:
            everything = self.indexed.at(self.regions, u.node, u.row)
        return Transfer(everything, region if u.side == "send" else None)

    def use_event(self, u: Use) -> Transfer:
        if u.side == "send":
            return Transfer(None, None if u.place in self.packed else self.sent(u))
        return Transfer(self.brought(u), None)

    def sent(self, u: Use) -> Set | None:
        """What a send reads: its region, and nothing where it is to MPI_PROC_NULL."""
        region, dest = self.region(u.node, u.lo, u.length, False), destination(self.program, u)
        if region is None or dest is None:
            return region
        if self.indexed is not None:
            dest = self.indexed.specialise(u.node, self.symbols.resolve(dest))
        return region.intersect(self.regions.compare(">=", dest, ZERO))

    def brought(self, u: Use) -> Set | None:
        """What a receive must bring: its region for a real message, nothing where the source may be MPI_PROC_NULL.

        OPI_Givetake_replace leaves the buffer as it is then, so that its region is there either way.
        """
        if u.lo is None or u.length is None or self.strict or self.failures.looked_at(u):
            return None
        region = self.message(u)
        if region is None or u.op.replaces:
            return region
        source = self.source(u)
        null = self.program.constants.get("MPI_PROC_NULL")
        if source is None or null is None:
            return None
        assert u.buffer.peer is not None
        if self.real_sources:
            return region
        if not self.null.possible(u.node, u.buffer.peer):
            if not self.null.shown(u.node, u.buffer.peer):
                self.a2.add(u.node)
            return region
        if self.indexed is not None:
            source = self.indexed.specialise(u.node, self.symbols.resolve(source))
        guard = self.regions.compare("!=", source, number(null))
        return region.intersect(guard)

    def message(self, u: Use) -> Set | None:
        """The region of a message: those bytes, fewer if all that come are shorter, and what else they are."""
        if u.lo is None or u.length is None:
            return None
        comes = shorter(self.program, u)
        if comes is not None:
            return self.region(u.node, u.lo, number(comes), True)
        region, least = self.region(u.node, u.lo, u.length, True), self.least(u.node, u.length)
        told = None if least is None else self.region(u.node, u.lo, least, True)
        return region if region is None or told is None else region.union(told)

    def least(self, n: int, length: Poly) -> Poly | None:
        """No more than ``length``, with t for each number of turns that a loop has made: that is max(0, t)."""
        found = self.symbols.resolve(length)
        known, given = self.index.facts.at(self.program.graph.nodes[n].block), found
        for s in sorted(set(found.symbols())):
            trips = turns_made(self.program.graph, self.program.nest, self.values, s)
            factor = None if trips is None else found.coefficient_of(s)
            if trips is None or factor is None:
                continue
            if known.nonneg(factor) or self.signs_allow(n, (trips, factor)):
                found = found.substitute({s: trips}.get)
        return None if found == given else found

    def source(self, u: Use) -> Poly | None:
        values = self.values.args[u.node]
        return None if u.buffer.peer is None else values[u.buffer.peer]

    def telescopes(self, assumed: Assumed) -> list[tuple[Telescope, Set | None]]:
        """One per row that is written: certain writes by block."""
        births = frozenset(self.program.graph.nodes[n].block for n in self.births)
        rows: dict[Poly | None, dict[int, list[tuple[Poly, Poly]]]] = {}
        for n, found in self.accesses.items():
            if self.initialises(n):
                continue
            block = self.program.graph.nodes[n].block
            for a in found:
                length = _written(a, assumed)
                if a.kind != "W" or not a.must or a.lo is None or length is None:
                    continue
                index, lo = None, a.lo
                if self.indexed is not None:
                    split = split_row(self.program, self.o, a.lo)
                    if split is None:
                        continue
                    index, lo = self.symbols.resolve(split[0]), split[1]
                rows.setdefault(index, {}).setdefault(block, []).append((lo, length))
        out: list[tuple[Telescope, Set | None]] = []
        for index, writes in rows.items():
            excluded = frozenset() if index is None else self.symbols.scope(index)
            where = None
            if index is not None and self.indexed is not None:
                where = self.indexed.at(self.regions, -1, index)
            telescope = Telescope(
                self.program.graph,
                self.program.nest,
                self.values,
                writes,
                births,
                excluded,
                SIGNS in assumed,
                self.told,
                self.index.sums,
                self.index.facts,
            )
            out.append((telescope, where))
        return out


def _written(a: Access, assumed: Assumed) -> Poly | None:
    """Bytes from ``a.lo`` on that hold what they should after a write: by A4 with the padding after a member."""
    if PADDING not in assumed or a.length is None:
        return a.length
    return a.length + number(a.padding)
