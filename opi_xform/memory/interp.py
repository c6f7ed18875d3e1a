"""One forward pass over the program graph: the value of every operand as a polynomial, and every access to memory.

Blocks are visited once, in reverse postorder.  What a loop changes is a fresh symbol at its header; a variable that
turns out to advance by a fixed step gets its closed form afterwards (``Symbols.defs``), where all readers see it.
"""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir import ast
from opi_xform.ir.loops import LoopNest
from opi_xform.memory.calls import Calls
from opi_xform.memory.families import find_families
from opi_xform.memory.modified import modified_cells
from opi_xform.memory.objects import Objects
from opi_xform.memory.pointsto import PointsTo
from opi_xform.memory.poly import ZERO, Poly, number, symbol
from opi_xform.memory.steps import Steps
from opi_xform.memory.symbols import Symbols
from opi_xform.memory.trips import nominal_trips
from opi_xform.memory.values import Cell, Env, HeaderPhi, Values
from opi_xform.program.effects import Effects
from opi_xform.program.graph import Graph


def interpret(
    graph: Graph,
    nest: LoopNest,
    variables: Mapping[str, ast.Variable],
    objects: Objects,
    points_to: PointsTo,
    effects: Effects,
    whole_program: bool,
) -> Values:
    """Values and accesses of every reachable node of a reducible graph."""
    calls = Calls(graph, objects, points_to, effects)
    return _Interpreter(calls, nest, variables, whole_program).run()


class _Interpreter(Steps):
    def __init__(
        self, calls: Calls, nest: LoopNest, variables: Mapping[str, ast.Variable], whole_program: bool
    ) -> None:
        self.graph = calls.graph
        self.nest = nest
        self.whole_program = whole_program
        self.inner = _inner_loops(nest)
        values = Values(Symbols(self.inner), calls.objects)
        super().__init__(variables, calls, values, find_families(calls.graph, calls.objects, calls.pts))
        self.out = self.values.out
        self.modified = modified_cells(calls, nest)
        self.pending: dict[int, list[tuple[Cell, int, Poly, int]]] = {}

    def run(self) -> Values:
        for block in range(len(self.graph.blocks)):
            self.scope = frozenset(self.nest.chain(block))
            self.env = self.enter(block)
            for n in self.graph.blocks[block]:
                self.step(self.graph.nodes[n])
            self.out[block] = self.env
            for loop in reversed(self.nest.chain(block)):
                if loop in self.pending and self.nest.loops[loop].latches[-1] == block:
                    self.close(loop)
        return self.values

    def edge(self, source: int, target: int) -> Env:
        """The environment on an edge; values that vary in loops left on the way become exit symbols."""
        env = self.out[source]
        left = [loop for loop in self.nest.chain(source) if target not in self.nest.loops[loop].blocks]
        if not left:
            return env
        out = dict(env)
        for cell in self.changed_in(left[-1], env):
            value = env[cell]
            for loop in left:  # innermost first
                value = self.symbols.leave(value, loop)
            out[cell] = value
        return out

    def changed_in(self, loop: int, env: Env) -> list[Cell]:
        """Cells that the loop may have changed: no other value can vary in it."""
        out: list[Cell] = []
        for cell in self.modified[loop]:
            if cell in env:
                out.append(cell)
            if cell[0] == "v" and isinstance(cell[1], int):
                o = cell[1]
                out.extend((o, offset) for offset in self.offsets.get(o, ()) if (o, offset) in env)
        return list(dict.fromkeys(out))

    def enter(self, block: int) -> Env:
        if block == 0:
            return self.initial()
        header = next((lp for lp in self.nest.chain(block) if self.nest.loops[lp].header == block), None)
        preds = [
            p
            for p in self.graph.preds[block]
            if p in self.out and (header is None or p not in self.nest.loops[header].blocks)
        ]
        envs = [self.edge(p, block) for p in preds]
        if not envs:
            return {}
        env = dict(envs[0]) if len(envs) == 1 else self.merge(block, envs)
        if header is not None:
            env = self.open(header, env)
        return env

    def merge(self, block: int, envs: list[Env]) -> Env:
        self.complete(envs)
        first = envs[0]
        out = dict(first)
        phis: list[tuple[int, tuple[Poly, ...]]] = []
        others = envs[1:]
        for cell in [c for c, v in first.items() if any(env.get(c) is not v for env in others)]:
            value = first[cell]
            incoming = [value]
            for env in others:
                other = env.get(cell)
                if other is None:
                    break
                incoming.append(other)
            if len(incoming) < len(envs):
                del out[cell]
                continue
            if all(v == value for v in incoming):
                out[cell] = value
                continue
            bases = {self.symbols.base(v) for v in incoming}
            scope = self.scope
            if len(bases) == 1 and None not in bases:
                base = next(iter(bases))
                assert base is not None
                offsets = tuple(self.symbols.offset(v) for v in incoming)
                s = self.symbols.get("phi", (block, cell), scope, all(self.symbols.is_nonneg(o) for o in offsets))
                phis.append((s, offsets))
                out[cell] = self.address(base) + symbol(s)
            else:
                s = self.symbols.get("phi", (block, cell), scope, all(self.symbols.is_nonneg(v) for v in incoming))
                phis.append((s, tuple(incoming)))
                out[cell] = symbol(s)
        if phis:
            self.values.phis[block] = phis
        return out

    def complete(self, envs: list[Env]) -> None:
        """Objects that were not looked at on some of the paths still have their first contents there."""
        versions = [{cell for cell in env if cell[0] == "v"} for env in envs]
        for cell in sorted(set().union(*versions) - versions[0].intersection(*versions[1:]), key=lambda c: c[1:]):
            for i, env in enumerate(envs):
                if cell not in env:
                    envs[i] = {**env, cell: self.first_contents(cell)}

    def first_contents(self, cell: Cell) -> Poly:
        return self.symbols.of("version", (cell[1], "initial"), frozenset())

    def open(self, loop: int, env: Env) -> Env:
        """At a loop's header everything that the loop changes becomes a symbol of its own.

        Also the contents of what was not looked at so far: read in the loop, they differ from turn to turn.  The locals
        of copies that the loop enters begin in each turn.
        """
        changed = self.modified[loop]
        blocks = self.nest.loops[loop].blocks
        for cell in sorted(c for c in changed if c[0] == "v" and c not in env):
            frame = self.objects.table[int(str(cell[1]))].frame
            call = self.graph.frames[frame].call if frame >= 0 else -1
            if call < 0 or self.graph.nodes[call].block not in blocks:
                env[cell] = self.first_contents(cell)
        header = self.nest.loops[loop].header
        pending: list[tuple[Cell, int, Poly, int]] = []
        out: Env = {}
        for cell, value in env.items():
            if cell[0] == "t":
                if cell not in changed:
                    out[cell] = value
                continue
            if cell not in changed and (cell[0] == "v" or ("v", cell[0]) not in changed):
                out[cell] = value
                continue
            if cell[0] != "v" and cell not in changed:
                continue  # an array's or struct's cell, stored to somewhere in the loop
            s = self.symbols.get("phi", (header, cell), self.scope)
            target = self.single_target(cell)
            base = -1
            if target is not None:
                base = target
                out[cell] = self.address(target) + symbol(s)
            else:
                out[cell] = symbol(s)
            pending.append((cell, s, value, base))
        self.pending[loop] = pending
        return out

    def single_target(self, cell: Cell) -> int | None:
        """The one object that a pointer variable can point to."""
        if not isinstance(cell[0], int):
            return None
        owner = self.objects.table[cell[0]]
        if owner.variable is None or owner.type is None or not owner.type.is_pointer:
            return None
        targets = self.pts.variable(owner.frame, owner.variable)
        if len(targets) == 1:
            target = next(iter(targets))
            if self.objects.table[target].kind != "unknown":
                return target
        return None

    def close(self, loop: int) -> None:
        """All latches of a loop are done: recognise induction variables."""
        info = self.nest.loops[loop]
        headers: list[HeaderPhi] = []
        for cell, s, init, base in self.pending.pop(loop):
            latches: list[tuple[int, Poly]] = []
            for latch in info.latches:
                value = self.edge(latch, info.header).get(cell)
                if value is None:
                    break
                latches.append((latch, value))
            if len(latches) < len(info.latches):
                continue
            if base >= 0:
                if self.symbols.base(init) != base or any(self.symbols.base(v) != base for _, v in latches):
                    continue
                init = self.symbols.offset(init)
                latches = [(latch, self.symbols.offset(v)) for latch, v in latches]
            phi = HeaderPhi(loop, s, cell, init, tuple(latches))
            headers.append(phi)
            self.values.cells[s] = (cell, base)
            steps = {self.symbols.resolve(v) - symbol(s) for _, v in latches}
            if len(steps) == 1 and cell[0] != "v":
                step = next(iter(steps))
                varies = self.symbols.scope(step) & (self.inner[loop])
                if not varies and s not in set(step.symbols()):
                    self.symbols.defs[s] = init + step * symbol(self.symbols.count(loop))
        self.values.headers[loop] = headers
        if len(info.exits) == 1:
            trips = nominal_trips(self.graph, self.values, info, info.exits[0])
            if trips is not None and self.symbols.is_nonneg(trips):
                left = self.symbols.leave(symbol(self.symbols.count(loop)), loop).single
                assert left is not None
                self.symbols.defs[left] = trips

    def initial(self) -> Env:
        env: Env = {}
        if not self.whole_program:
            return env
        for o in sorted(self.objects.globals):
            info = self.objects.table[o]
            if info.variable is None or info.type is None or info.type.kind not in ("int", "pointer"):
                continue
            var = self.variables[info.variable]
            if var.init is None and (var.kind != "extern" or any(d.definition or d.tentative for d in var.declarators)):
                env[(o, 0)] = ZERO
            elif isinstance(var.init, ast.IntLit):
                env[(o, 0)] = number(var.init.value)
        return env


def _inner_loops(nest: LoopNest) -> list[frozenset[int]]:
    """Each loop with all loops inside it."""
    out: list[set[int]] = [{loop.number} for loop in nest.loops]
    for loop in reversed(nest.loops):
        if loop.parent >= 0:
            out[loop.parent] |= out[loop.number]
    return [frozenset(s) for s in out]
