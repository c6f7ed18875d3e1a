"""One forward pass over the program graph: the value of every operand as a polynomial, and every access to memory.

Blocks are visited once, in reverse postorder.  What a loop changes is a fresh symbol at its header; a variable that
turns out to advance by a fixed step gets its closed form afterwards (``Symbols.defs``), where all readers see it.
So there is no fixpoint that ``dataflow.solver`` could look for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from math import gcd

from opi_xform.calls.by_value import numbers_read
from opi_xform.calls.calls import Calls
from opi_xform.calls.foreign import foreign
from opi_xform.calls.given_away import name_givers
from opi_xform.calls.modified import modified_cells
from opi_xform.calls.of_graph import calls_of
from opi_xform.calls.own import own
from opi_xform.effects.model import Effects
from opi_xform.graph.graph import Bind, Graph, Node
from opi_xform.graph.loops import LoopNest
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.fixed import is_fixed
from opi_xform.ir.operands import handle
from opi_xform.memory.environment import Cell, Change, Env, Environment
from opi_xform.memory.objects import UNKNOWN, Objects
from opi_xform.memory.poly import ZERO, Poly, symbol
from opi_xform.memory.queries import PointsTo
from opi_xform.memory.stretches import tails
from opi_xform.memory.symbols import Symbols, goes_round
from opi_xform.memory.values import MAY_REACH, Comparison, HeaderPhi, Values
from opi_xform.pointsto.families import find_families
from opi_xform.values.arithmetic.derived import derived
from opi_xform.values.facts import Facts
from opi_xform.values.lockstep import lockstep
from opi_xform.values.steps import Steps
from opi_xform.values.trip_counts import nominal_trips
from opi_xform.values.unset.nullable import WALKS, may_walk, note_lazy, resolve_offset, single_target, walked
from opi_xform.values.unset.partly_set import Merged, PartlySet
from opi_xform.values.unsigned_bounds import believe
from opi_xform.values.versions import kind_of


def interpret(
    graph: Graph,
    nest: LoopNest,
    variables: Mapping[str, ast.Variable],
    objects: Objects,
    points_to: PointsTo,
    effects: Effects,
    whole_program: bool,
    unwritten: Collection[str] = (),
) -> Values:
    """Values and accesses of every reachable node of a reducible graph.

    unwritten: global variables that hold nothing that anyone may read before they are set.
    """
    calls = calls_of(graph, objects, points_to, effects)
    return Interpreter(calls, nest, variables, whole_program, unwritten).run()


class Interpreter(Steps):
    def __init__(
        self,
        calls: Calls,
        nest: LoopNest,
        variables: Mapping[str, ast.Variable],
        whole_program: bool,
        unwritten: Collection[str],
    ) -> None:
        self.unwritten = unwritten
        self.graph = calls.graph
        self.nest = nest
        self.whole_program = whole_program
        self.inner = _inner_loops(nest)
        values = Values(Symbols(self.inner), calls.objects, Environment(nest.idom))
        calls.foreign = values.foreign = foreign(calls)
        families = find_families(calls.graph, calls.objects, calls.pts, calls.foreign, calls.summarised.anything)
        super().__init__(variables, calls, values, families)
        calls.objects.foreign.update(calls.foreign)
        self.numbers = numbers_read(calls.graph, calls.objects)
        self.own = own(calls)
        calls.entered, values.owners = self.own.entered, self.own.owners
        self.turning = frozenset(block for loop in nest.loops for block in loop.blocks)
        self.tails = tails(calls.graph, nest)
        self.derived, self.idom = derived(calls, nest, variables), nest.idom
        self.modified = self.with_kin(modified_cells(calls, nest, whole_program))
        self.entered = _entered(calls.graph)
        self.pending: dict[int, list[tuple[Cell, int, Poly, int]]] = {}
        self.facts = Facts(self.graph, nest, values)
        self.partly = PartlySet(self.graph, nest, values, variables)
        self.marks: dict[int, int] = {}  # block -> symbols that there are at its end

    def run(self) -> Values:
        for block in range(len(self.graph.blocks)):
            if block == len(self.graph.blocks) // 8 and self.values.relative - self.objects.relative:
                return replace(self.values, whole=False)
            chain = self.nest.chain(block)
            self.scope = frozenset(chain)
            self.tail = block in self.tails
            self.enter(block)
            for n in self.graph.blocks[block]:
                self.step(self.graph.nodes[n])
            self.out.end()
            self.marks[block] = len(self.symbols.table)
            for loop in reversed(chain):
                if loop in self.pending and self.nest.loops[loop].latches[-1] == block:
                    self.close(loop)
        self.outside_too()
        name_givers(self.calls, self.values)
        for outermost in self.calls.deeper.outermost():
            self.values.beyond[outermost] = self.calls.deeper.more(outermost)
        for frame in sorted(self.own.frames):  # which may have such functions inside
            if self.graph.frames[frame].function in self.graph.cyclic:
                self.values.beyond[frame] = self.calls.deeper.more(frame)
        self.given()
        note_lazy(self.values, self.calls)
        self.partly.look_again()
        self.out.close()
        self.values.settle()
        return self.values

    def comparison(self, node: Node, frame: int, cond: ins.Operand) -> Comparison | None:
        found = super().comparison(node, frame, cond)
        if not self.of_a_loop(node, found):
            self.exactly = True
            found = super().comparison(node, frame, cond)
            self.exactly = False
        elif found is not None:
            found = replace(found, left=self.widths.believed(found.left), right=self.widths.believed(found.right))
        return self.partly.tested(node.number, found) if found is not None else None

    def of_a_loop(self, node: Node, found: Comparison | None) -> bool:
        """It is the test of a loop, by what changes in it: how often that runs is believed to fit."""
        left = self.nest.left(node.block, self.graph.succs[node.block])
        if not left or found is None:
            return bool(left)
        return not left.isdisjoint(self.symbols.scope(found.left - found.right))

    def given(self) -> None:
        """What the parameters of copies that begin anew at each level are given: at the first, and at deeper ones."""
        for node in self.graph.nodes:
            frame, given = self.graph.entered_again(node), self.values.args.get(node.number, ())
            if isinstance(node.action, Bind):
                frame, given = node.frame, self.values.operands.get(node.number, ())
            for s, value in zip(self.parameters.get(frame, ()), given, strict=False):
                self.values.joins[s] = (*self.values.joins.get(s, ()), value)

    def outside_too(self) -> None:
        """What is outside without being given away at one place: its address is stored where unknown code looks."""
        for o in sorted(self.pts.reachable(frozenset({UNKNOWN})) - self.objects.exposed):
            self.values.escape(o, *self.values.foreign.get(o, (0, MAY_REACH)))

    def edge(self, source: int, target: int, above: int, now: Env) -> Change:
        """The environment on an edge, where it differs from ``now``, which the dominator ``above`` left.

        Values that vary in loops left on the way become exit symbols; at an error exit only once they are asked for.
        """
        out = self.out.changes(source, above)
        if target in self.tails:
            return out
        left = [loop for loop in self.nest.chain(source) if target not in self.nest.loops[loop].blocks]
        if not left:
            return out
        versions: dict[Poly, Poly] = {}  # many objects have the same
        for cell in self.changed_in(left[-1]):
            before = value = out[cell] if cell in out else now.get(cell)
            if value is None or before is None:
                continue
            known = versions.get(before) if cell[0] == "v" else None
            if known is None:
                for loop in left:  # innermost first
                    value = self.symbols.leave(value, loop)
                if cell[0] == "v":
                    versions[before] = value
            else:
                value = known
            if value is not before:
                out[cell] = value
        return out

    def changed_in(self, loop: int) -> Iterator[Cell]:
        """Cells that the loop may have changed, and more: no other value can vary in it."""
        modified = self.modified[loop].cells
        for cell in modified:
            yield cell
            if cell[0] == "v" and isinstance(cell[1], int):
                o = cell[1]
                for offset in self.offsets.get(o, ()):
                    if (o, offset) not in modified:
                        yield (o, offset)

    def enter(self, block: int) -> None:
        self.out.begin(block)
        if block == 0:
            self.initial()
            return
        header = next((lp for lp in self.nest.chain(block) if self.nest.loops[lp].header == block), None)
        preds = [
            p
            for p in self.graph.preds[block]
            if p in self.out and (header is None or p not in self.nest.loops[header].blocks)
        ]
        above = self.nest.idom[block]
        envs = [self.edge(p, block, above, self.env) for p in preds]
        if len(envs) == 1:
            for cell, value in envs[0].items():
                if value is None:
                    self.out.drop(cell)
                else:
                    self.out.put(cell, value)
        elif envs:
            self.merge(block, envs, header)
        if header is not None:
            self.open(header)

    def merge(self, block: int, envs: list[Change], header: int | None) -> None:
        """``header``: the loop that begins at the block; what is joined before it is none of its own symbols."""
        now = self.env
        scope = self.scope if header is None else self.scope - {header}
        before = () if header is None else ("entered",)
        self.complete(envs)
        phis: list[Merged] = []
        numbers: list[Merged] = []  # those of them that are no addresses
        later: dict[Cell, tuple[Poly, ...]] = {}  # numbers that nobody set on some of the paths
        for cell in dict.fromkeys(cell for env in envs for cell in env):
            here = now.get(cell)
            incoming: list[Poly] = []
            for env in envs:
                value = env.get(cell, here)
                if value is None:
                    break
                incoming.append(self.outside(value) if self.tail else value)
            if len(incoming) < len(envs):
                self.out.drop(cell)
                continue
            one = incoming[0] if incoming.count(incoming[0]) == len(incoming) else None
            if one is None and cell[0] != "v":
                one = self.set_one(incoming)
            if one is not None:
                self.out.put(cell, one)
                continue
            if cell[0] == "v":
                self.out.put(cell, self.merged(block, incoming, scope, *before))
                continue
            if any(self.partly.unset(v) for v in incoming):
                later[cell] = tuple(incoming)
                continue
            bases = {self.symbols.base(v) for v in incoming}
            if len(bases) == 1 and None not in bases:
                base = next(iter(bases))
                assert base is not None
                offsets = tuple(self.symbols.offset(v) for v in incoming)
                nonneg = all(self.symbols.is_nonneg(o) for o in offsets)
                s = self.symbols.get("phi", (block, cell, *before), scope, nonneg)
                self.widths.like_one(s, offsets)
                step = gcd(*(c for o in offsets for _, c in o.terms))  # in elements, differences of pointers are exact
                phis.append((s, tuple(Poly(tuple((m, c // step) for m, c in o.terms)) for o in offsets)))
                self.out.put(cell, self.address(base) + symbol(s).scaled(step))
            else:
                nonneg = all(self.symbols.is_nonneg(v) for v in incoming)
                s = self.symbols.get("phi", (block, cell, *before), scope, nonneg)
                self.widths.like_one(s, incoming)
                numbers.append((s, tuple(incoming)))
                self.out.put(cell, symbol(s))
                there = {self.symbols.not_null(v) for v in incoming if v != ZERO}
                if len(there) == 1 and self.symbols.base(next(iter(there))) is not None:
                    self.symbols.present[s] = next(iter(there))
        mark = self.marks[self.nest.idom[block]]
        for cell, values in later.items():
            s = self.symbols.get("phi", (block, cell, *before), scope)
            self.widths.like_one(s, values)
            phis.append((s, values))
            value = self.partly.where_paths_meet(values, numbers, mark)
            if value is not None:
                chosen = self.symbols.get("phi", (block, cell, *before, "chosen"), scope)
                self.symbols.defs[chosen] = value
                self.values.partly[chosen] = symbol(s)
                s = chosen
            self.out.put(cell, symbol(s))
        phis += numbers
        if phis and self.values.partly:
            phis = [(s, tuple(v.substitute(self.partly.as_tested) for v in values)) for s, values in phis]
        if phis:
            self.values.phis[block] = phis
            self.values.joins.update(phis)

    def set_one(self, incoming: list[Poly]) -> Poly | None:
        """The one value that is left without what was never set, which nobody reads; None: there is no such."""
        if not self.values.unset:
            return None
        there = [v for v in incoming if v.single not in self.values.unset]
        return there[0] if there and there.count(there[0]) == len(there) else None

    def complete(self, envs: list[Change]) -> None:
        """Objects that were not looked at on some of the paths still have their first contents there."""
        now = self.env
        for cell in dict.fromkeys(cell for env in envs for cell in env if cell[0] == "v"):
            here = now.get(cell)
            without = [env for env in envs if (env.get(cell, here)) is None]
            if len(without) < len(envs):
                for env in without:
                    env[cell] = self.first_contents()

    def open(self, loop: int) -> None:
        """At a loop's header everything that the loop changes becomes a symbol of its own.

        Also the contents of what was not looked at so far: read in the loop, they differ from turn to turn.  The locals
        of copies that the loop enters begin in each turn.
        """
        now, changed, parts = self.env, self.modified[loop].cells, self.modified[loop].parts
        blocks = self.nest.loops[loop].blocks
        for cell in changed:
            if cell[0] != "v" or cell in now or cell[1] in self.objects.foreign:
                continue
            frame = self.objects.table[int(str(cell[1]))].frame
            call = self.graph.frames[frame].call if frame >= 0 else -1
            if call < 0 or self.graph.nodes[call].block not in blocks:
                self.out.put(cell, self.first_contents())
        header = self.nest.loops[loop].header
        pending: list[tuple[Cell, int, Poly, int]] = []
        inside = [self.graph.nodes[n] for b in sorted(blocks) for n in self.graph.blocks[b]]
        stores = self.widths.too_narrow(inside, self.graph.returned)
        stored = frozenset(o for at, place in stores for o in self.pts.accessed(at, place))
        for cell in changed:
            if cell[0] == "t":
                self.out.drop(cell)
                continue
            if cell[0] == "v" and isinstance(cell[1], int):
                # an array's or struct's cells, stored to somewhere in the loop
                places = parts.get(cell[1])
                for offset in self.offsets.get(cell[1], ()):
                    if places is not None and not self.meets(cell[1], offset, places):
                        continue
                    if self.stays((cell[1], offset), self.modified[loop]):
                        continue
                    if (cell[1], offset) not in changed:
                        self.out.drop((cell[1], offset))
            value = now.get(cell)
            if value is None:
                continue
            if cell[0] == "v":
                self.out.put(cell, self.of_turns(header, cell, value, self.modified[loop]))
                continue
            if self.stays(cell, self.modified[loop]):
                continue
            s = self.symbols.get("phi", (header, cell), self.scope)
            self.widths.like_one(s, (value,))
            if self.is_narrow(cell, stored):
                self.widths.lost.add(s)
            if changed[cell] and may_walk(self.symbols, value):
                self.out.put(cell, value + symbol(s))
                pending.append((cell, s, value, WALKS))
                continue
            target = self.symbols.base(value) if changed[cell] else None
            if target is None:
                target = single_target(self.objects, self.pts, cell)
            base = -1
            if target is not None:
                base = target
                self.out.put(cell, self.address(target) + symbol(s))
            else:
                self.out.put(cell, symbol(s))
            pending.append((cell, s, value, base))
        self.pending[loop] = pending

    def is_narrow(self, cell: Cell, stored: frozenset[int]) -> bool:
        """A loop may set the cell to what loses bits: what its symbol is made of is not known before the loop ends."""
        info = self.objects.table[cell[0]] if isinstance(cell[0], int) else None
        named = info is not None and (info.frame, info.variable) in self.widths.named
        return named or cell[0] in stored

    def close(self, loop: int) -> None:
        """All latches of a loop are done: recognise induction variables."""
        info = self.nest.loops[loop]
        headers: list[HeaderPhi] = []
        above = self.nest.idom[info.header]
        ends = [(latch, self.edge(latch, info.header, above, {})) for latch in info.latches]  # all of it was opened
        for cell, s, init, base in self.pending.pop(loop):
            if base == WALKS:
                step = walked(self.symbols, s, init, [end.get(cell) for _, end in ends], self.inner[loop])
                if step is not None:
                    self.symbols.defs[s] = step * symbol(self.symbols.count(loop))
                continue
            latches: list[tuple[int, Poly]] = []
            for latch, end in ends:
                value = end.get(cell)
                if value is None:
                    break
                latches.append((latch, value))
            if len(latches) < len(info.latches):
                continue
            if base >= 0:
                resolve_offset(self.values, s, base, (init, *(v for _, v in latches)))
            if base >= 0:
                if self.symbols.base(init) != base or any(self.symbols.base(v) != base for _, v in latches):
                    continue
                init = self.symbols.offset(init)
                latches = [(latch, self.symbols.offset(v)) for latch, v in latches]
            self.widths.like_one(s, [v for _, v in latches])
            phi = HeaderPhi(loop, s, cell, init, tuple(latches))
            headers.append(phi)
            self.values.joins[s] = (init, *(v for _, v in latches))
            self.values.cells[s] = (cell, base)
            steps = {self.symbols.resolve(v) - symbol(s) for _, v in latches}
            if len(steps) == 1:
                step = next(iter(steps))
                varies = self.symbols.scope(step) & (self.inner[loop])
                if not varies and s not in set(step.symbols()) and (base >= 0 or not goes_round(init)):
                    self.symbols.defs[s] = init + step * symbol(self.symbols.count(loop))
        self.values.headers[loop] = headers
        believe(self.graph, self.nest, self.values, self.entered, info)
        if len(info.exits) == 1:
            self.turns(loop, nominal_trips(self.graph, self.nest, self.values, info, info.exits[0]))
        for s, value in lockstep(self.values, info, self.nest, headers).items():
            left = self.symbols.leave(symbol(s), loop).single
            assert left is not None
            self.symbols.defs[left] = self.symbols.leave(value, loop)

    def turns(self, loop: int, trips: Poly | None) -> None:
        """Notes how often a loop runs, which is max(0, trips)."""
        self.symbols.most_turns.pop(loop, None)
        if trips is None:
            return
        trips = self.symbols.resolve(trips)
        self.symbols.turns[loop] = self.symbols.scope(trips)
        if trips.constant is not None:
            self.symbols.most_turns[loop] = max(0, trips.constant)
        if self.facts.before(loop).nonneg(trips):
            left = self.symbols.leave(symbol(self.symbols.count(loop)), loop).single
            assert left is not None
            self.symbols.defs[left] = trips

    def initial(self) -> None:
        if not self.whole_program:
            return
        for o in sorted(self.objects.globals):
            info = self.objects.table[o]
            if info.variable is None or info.type is None or o in self.objects.foreign:
                continue
            var = self.variables[info.variable]
            if info.type.kind in ("record", "array"):
                self.initial_numbers(o, var.init)
                continue
            if info.type.kind not in ("int", "pointer"):
                continue
            if info.variable in self.unwritten:
                unset = self.symbols.get("opaque", ("unset", o), frozenset())
                self.values.unset.add(unset)
                self.out.put((o, 0), symbol(unset))
                continue
            if var.init is None and (var.kind != "extern" or any(d.definition or d.tentative for d in var.declarators)):
                self.out.put((o, 0), ZERO)
            elif isinstance(var.init, ast.IntLit):
                self.out.put((o, 0), self.constant(ins.Const(var.init.value, var.init.name)))
            elif isinstance(var.init, ast.MacroConst) and (var.init.operand is None or is_fixed(var.init.operand)):
                self.out.put((o, 0), self.constant(ins.Const(handle(var.init.name), var.init.name)))

    def initial_numbers(self, o: int, init: ast.Expr | None) -> None:
        """The whole numbers that a struct or an array begins with, where these are a few.

        A number in a bit field may be cut off, and is read as no whole bytes: so it is not found again.
        """
        if not isinstance(init, ast.InitList) or len(init.items) > MOST_NUMBERS:
            return
        if len(set(init.offsets)) < len(init.offsets):
            return
        for item, offset in zip(init.items, init.offsets, strict=True):
            if isinstance(item, ast.IntLit) and item.type.kind == "int" and item.type.size:
                self.kinds.setdefault((o, offset), set()).add(kind_of(item.type))
                self.sizes[o, offset] = max(self.sizes.get((o, offset), 0), item.type.size)
                self.offsets.setdefault(o, set()).add(offset)
                self.out.put((o, offset), self.constant(ins.Const(item.value, item.name)))


MOST_NUMBERS = 64  # with which an object begins, each a value of its own


def _entered(graph: Graph) -> frozenset[int]:
    """Calls of the program's own functions, which are in the graph; not those that a library calls back."""
    found = set()
    for n in (frame.call for frame in graph.frames if frame.call >= 0):
        action = graph.nodes[n].action
        callee = action.callee if isinstance(action, ins.CallInstr) else None
        if isinstance(callee, ins.AddrFunc) and callee.key in graph.lowered:
            found.add(n)
    return frozenset(found)


def _inner_loops(nest: LoopNest) -> list[frozenset[int]]:
    """Each loop with all loops inside it."""
    out: list[set[int]] = [{loop.number} for loop in nest.loops]
    for loop in reversed(nest.loops):
        if loop.parent >= 0:
            out[loop.parent] |= out[loop.number]
    return [frozenset(s) for s in out]
