"""Solves the inclusion constraints of ``problem`` by a worklist in topological order.

Cycles of copies are collapsed: those of the constraints given, before solving; those that loads and stores close, when
a propagation along an edge changes nothing (lazy cycle detection; Hardekopf and Lin, PLDI 2007).  A constant offset
inside a cycle (``p = p + 8``) counts as any multiple of it; where such a cycle closes through memory, the bound on the
offsets kept apart per object ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from math import gcd
from typing import TypeVar

from opi_xform.dataflow.scc import components
from opi_xform.pointsto.problem import (
    DEFAULT_LIMIT,
    EXTERNAL,
    OUTSIDE,
    Addr,
    Cell,
    Constraint,
    Copy,
    Load,
    ObjectInfo,
    Offset,
    PointsTo,
    Store,
    Var,
    ones,
)

T = TypeVar("T")


class _Cells:
    """Numbers cells; keeps the number of constant offsets per object within the limit."""

    def __init__(self, objects: Sequence[ObjectInfo], limit: int) -> None:
        self.objects = objects
        self.limit = limit
        self.table: list[Cell] = []
        self._number: dict[tuple[int, int, int], int] = {}
        self._constant = [0] * len(objects)
        self._shifted: dict[tuple[int, int | None, int], int] = {}

    def number(self, obj: int, offset: int, stride: int) -> int:
        """The number of a cell, or of one that covers it."""
        if obj == EXTERNAL or self.objects[obj].function:
            offset, stride = 0, 1
        elif stride:
            offset %= stride
        found = self._number.get((obj, offset, stride))
        if found is not None:
            return found
        if stride == 0:
            if self._constant[obj] >= self.limit:
                return self.number(obj, offset, self.objects[obj].element or 1)
            self._constant[obj] += 1
        self._number[obj, offset, stride] = found = len(self.table)
        self.table.append(Cell(obj, offset, stride))
        return found

    def shift(self, cell: int, delta: int | None, stride: int) -> int:
        """The cell ``delta`` bytes on, or (None) any multiple of ``stride`` away."""
        key = (cell, delta, stride)
        found = self._shifted.get(key)
        if found is None:
            at = self.table[cell]
            if delta is None:
                found = self.number(at.object, at.offset, gcd(at.stride, stride))
            else:
                found = self.number(at.object, at.offset + delta, at.stride)
            self._shifted[key] = found
        return found


class _Memory:
    """The nodes behind cells: what may be stored at a cell, and what a read of it may find.

    A read finds what was stored at every cell that meets its own.  Nodes are made on first use.
    """

    def __init__(self, cells: Sequence[Cell], fresh: Callable[[], int], outside: int) -> None:
        self._cells = cells
        self._fresh = fresh
        self._outside = outside
        self._stored: dict[int, dict[int, int]] = {}
        self._found: dict[int, dict[int, int]] = {}

    def stored(self, cell: int) -> tuple[int, list[tuple[int, int]]]:
        """The node of what is stored at ``cell``, and the edges to add for it."""
        return self._node(cell, self._stored, self._found, False)

    def found(self, cell: int) -> tuple[int, list[tuple[int, int]]]:
        """The node of what a read of ``cell`` finds, and the edges to add for it."""
        return self._node(cell, self._found, self._stored, True)

    def _node(
        self, cell: int, mine: dict[int, dict[int, int]], others: dict[int, dict[int, int]], reads: bool
    ) -> tuple[int, list[tuple[int, int]]]:
        at = self._cells[cell]
        if at.object == EXTERNAL:
            return self._outside, []
        here = mine.setdefault(at.object, {})
        node = here.get(cell)
        if node is not None:
            return node, []
        node = here[cell] = self._fresh()
        touching = [n for other, n in others.get(at.object, {}).items() if self._cells[other].meets(at)]
        return node, [(n, node) if reads else (node, n) for n in touching]


def _move(lists: dict[int, list[T]], source: int, target: int) -> None:
    if source in lists:
        lists.setdefault(target, []).extend(lists.pop(source))


class Solver:
    """Nodes are variables and memory; ``parent`` merges those of a cycle.  Sets of cells are the bits of an integer."""

    def __init__(
        self,
        objects: Sequence[ObjectInfo],
        on_new_target: Callable[[Hashable, int], Iterable[Constraint]] | None,
        limit: int,
    ) -> None:
        self.objects = objects
        self.on_new_target = on_new_target
        self.cells = _Cells(objects, limit)
        self.names: dict[Var, int] = {}
        self.parent: list[int] = []
        self.pts: list[int] = []
        self.done: list[int] = []  # the cells whose consequences have been drawn
        self.succs: list[dict[int, None]] = []
        # By node, where there are any: (target, offset), (offset, source), (target, delta, stride), calls.
        self.loads: dict[int, list[tuple[int, int]]] = {}
        self.stores: dict[int, list[tuple[int, int]]] = {}
        self.offsets: dict[int, list[tuple[int, int | None, int]]] = {}
        self.calls: dict[int, list[Hashable]] = {}
        self.asked: set[tuple[Hashable, int]] = set()
        self.rank: list[int] = []
        self.queue: list[tuple[int, int]] = []
        self.queued: set[int] = set()
        self.checked: set[tuple[int, int]] = set()
        self.running = False
        self.effort = {"visits": 0, "propagations": 0, "searches": 0, "searched": 0, "collapsed": 0, "sweeps": 0}
        self.new_edges = 0
        self.pending: set[int] = set()
        self.outside = self.var(OUTSIDE)
        self.memory = _Memory(self.cells.table, self.fresh, self.outside)

    # --- building

    def fresh(self) -> int:
        node = len(self.parent)
        self.parent.append(node)
        self.pts.append(0)
        self.done.append(0)
        self.succs.append({})
        self.rank.append(node)
        return node

    def var(self, name: Var) -> int:
        node = self.names.get(name)
        if node is None:
            node = self.names[name] = self.fresh()
        return self.find(node)

    def find(self, node: int) -> int:
        root = node
        while self.parent[root] != root:
            root = self.parent[root]
        while self.parent[node] != root:
            self.parent[node], node = root, self.parent[node]
        return root

    def start(self, constraints: Iterable[Constraint]) -> None:
        """Takes the constraints given, collapses their cycles and orders the nodes along the copies."""
        outside: tuple[Constraint, ...] = (
            Addr(OUTSIDE, EXTERNAL),
            Offset(OUTSIDE, OUTSIDE, None),
            Load(OUTSIDE, OUTSIDE),
            Store(OUTSIDE, 0, OUTSIDE),
        )
        for constraint in (*outside, *constraints):
            self.add(constraint)
        self.order()
        self.running = True
        for node in range(len(self.parent)):
            if self.pts[node] and self.parent[node] == node:
                self.queue.append((self.rank[node], node))
                self.queued.add(node)
        heapify(self.queue)

    def order(self) -> None:
        """Ranks along copies and offsets; cycles of copies become one node, constant offsets inside cycles strides."""
        parent, succs, offsets = self.parent, self.succs, self.offsets

        def nexts(n: int) -> list[int]:
            out = [s if parent[s] == s else self.find(s) for s in succs[n]]
            return out + [self.find(t) for t, _, _ in offsets[n]] if n in offsets else out

        found = components([n for n in range(len(parent)) if parent[n] == n], nexts)
        for place, members in enumerate(reversed(found)):
            for node in members:
                self.rank[node] = place
        for members in found:
            if len(members) > 1 or members[0] in offsets:
                self.tighten(members)

    def tighten(self, members: Sequence[int]) -> None:
        """``members`` reach each other by copies and offsets."""
        here = set(members)
        for node in (n for n in members if n in self.offsets):
            self.offsets[node] = [
                (t, None, abs(d)) if d and self.find(t) in here else (t, d, s) for t, d, s in self.offsets[node]
            ]
        if len(members) > 1:
            self.collapse(components(members, lambda n: sorted(here.intersection(map(self.find, self.succs[n])))))

    def add(self, c: Constraint) -> None:
        if isinstance(c, Copy):
            self.edge(self.var(c.q), self.var(c.p))
        elif isinstance(c, Addr):
            if not 0 <= c.object < len(self.objects):
                raise IndexError(f"no object {c.object}")
            self.include(self.var(c.p), 1 << self.cells.number(c.object, c.offset, 0))
        elif isinstance(c, Load):
            self.attach(self.var(c.q), self.loads, (self.var(c.p), c.offset))
        elif isinstance(c, Store):
            self.attach(self.var(c.p), self.stores, (c.offset, self.var(c.q)))
        elif isinstance(c, Offset):
            if c.delta == 0:
                self.edge(self.var(c.q), self.var(c.p))
            else:
                self.attach(self.var(c.q), self.offsets, (self.var(c.p), c.delta, c.stride))
        else:
            self.attach(self.var(c.p), self.calls, c.call)

    def attach(self, node: int, lists: dict[int, list[T]], item: T) -> None:
        """A new consequence of what ``node`` holds; all of it has to be looked at again."""
        lists.setdefault(node, []).append(item)
        self.done[node] = 0
        if self.running:
            self.enqueue(node)

    def include(self, node: int, bits: int) -> None:
        if bits & ~self.pts[node]:
            self.pts[node] |= bits
            if self.running:
                self.enqueue(node)

    def edge(self, source: int, target: int) -> None:
        source, target = self.find(source), self.find(target)
        if source != target and target not in self.succs[source]:
            self.succs[source][target] = None
            if self.running:
                self.new_edges += 1
                self.include(target, self.pts[source])

    def enqueue(self, node: int) -> None:
        if node not in self.queued:
            self.queued.add(node)
            heappush(self.queue, (self.rank[node], node))

    # --- solving

    def run(self) -> None:
        """In waves: copies first, until nothing moves; then what follows from the cells that arrived; and again."""
        while self.queue:
            while self.queue:
                _, node = heappop(self.queue)
                self.queued.discard(node)
                if self.parent[node] == node:
                    self.effort["visits"] += 1
                    self.pending.add(node)
                    self.propagate(node)
            wave = sorted({self.find(n) for n in self.pending}, key=lambda n: (self.rank[n], n))
            self.pending.clear()
            for node in wave:
                new = self.pts[node] & ~self.done[node]
                if new:
                    self.done[node] = self.pts[node]
                    self.consequences(node, new)
            if 8 * self.new_edges > len(self.parent):
                self.sweep()

    def sweep(self) -> None:
        """Collapses every cycle there is, and orders what is left anew.

        Searches start where two nodes hold the same; in a long cycle of different sets that comes late.  And edges
        that run against the order make nodes be visited again and again.
        """
        self.new_edges = 0
        self.effort["sweeps"] += 1
        self.order()
        self.queue = sorted((self.rank[node], node) for node in self.queued if self.parent[node] == node)
        self.queued = {node for _, node in self.queue}

    def consequences(self, node: int, new: int) -> None:
        """What follows from ``node`` holding the cells ``new``, copies aside."""
        for target, delta, stride in tuple(self.offsets.get(node, ())):
            if delta and self.find(target) == node:
                stride, delta = abs(delta), None
            bits = 0
            for cell in ones(new):
                bits |= 1 << self.cells.shift(cell, delta, stride)
            self.include(self.find(target), bits)
        for target, offset in tuple(self.loads.get(node, ())):
            for cell in ones(new):
                found, edges = self.memory.found(self.cells.shift(cell, offset, 1) if offset else cell)
                for a, b in edges:
                    self.edge(a, b)
                self.edge(found, target)
        for offset, source in tuple(self.stores.get(node, ())):
            for cell in ones(new):
                stored, edges = self.memory.stored(self.cells.shift(cell, offset, 1) if offset else cell)
                for a, b in edges:
                    self.edge(a, b)
                self.edge(source, stored)
        if node in self.calls:
            self.resolve(tuple(self.calls[node]), new)

    def resolve(self, calls: Sequence[Hashable], new: int) -> None:
        targets = dict.fromkeys(self.cells.table[cell].object for cell in ones(new))
        for call in calls:
            for obj in targets:
                wanted = obj == EXTERNAL or self.objects[obj].function
                if wanted and (call, obj) not in self.asked and self.on_new_target is not None:
                    self.asked.add((call, obj))
                    for constraint in self.on_new_target(call, obj):
                        self.add(constraint)

    def propagate(self, node: int) -> None:
        """Along the copies.  An edge whose ends hold the same, and along which nothing moved, may lie on a cycle."""
        bits = self.pts[node]
        suspects: list[int] = []
        for to in tuple(self.succs[node]):
            target = self.find(to)
            if target != to:
                del self.succs[node][to]
                if target != node:
                    self.succs[node][target] = None
            if target == node:
                continue
            self.effort["propagations"] += 1
            if bits & ~self.pts[target]:
                self.include(target, bits)
            elif bits == self.pts[target] and (node, target) not in self.checked:
                self.checked.add((node, target))
                suspects.append(target)
        if suspects:
            self.search(node, suspects)

    def search(self, node: int, suspects: Sequence[int]) -> None:
        """Collapses the cycles among the nodes that hold the same as ``node`` and that it reaches.

        Looking for them pays only where there are some, so the work spent on it is bounded by the nodes and by what
        earlier searches found.
        """
        if self.effort["searched"] > 8 * len(self.parent) + 64 * self.effort["collapsed"]:
            return
        self.effort["searches"] += 1
        bits = self.pts[node]

        def nexts(n: int) -> list[int]:
            self.effort["searched"] += 1
            return [t for t in dict.fromkeys(map(self.find, self.succs[n])) if self.pts[t] == bits]

        self.collapse(components(suspects, nexts))

    def collapse(self, groups: Iterable[list[int]]) -> None:
        for members in groups:
            for node in members[1:]:
                self.merge(members[0], node)
            if len(members) > 1 and self.running:
                self.enqueue(members[0])

    def merge(self, into: int, node: int) -> None:
        self.effort["collapsed"] += 1
        self.parent[node] = into
        self.pts[into] |= self.pts[node]
        self.done[into] &= self.done[node]
        self.rank[into] = min(self.rank[into], self.rank[node])
        self.succs[into] |= self.succs[node]
        self.succs[node] = {}
        _move(self.loads, node, into)
        _move(self.stores, node, into)
        _move(self.offsets, node, into)
        _move(self.calls, node, into)

    def result(self) -> tuple[list[Cell], dict[Var, int], dict[str, int]]:
        """The cells by number, each variable's set as bits, and what was spent."""
        bits = {name: self.pts[self.find(node)] for name, node in self.names.items()}
        return self.cells.table, bits, self.effort


def solve(
    objects: Sequence[ObjectInfo],
    constraints: Iterable[Constraint],
    on_new_target: Callable[[Hashable, int], Iterable[Constraint]] | None = None,
    limit: int = DEFAULT_LIMIT,
) -> PointsTo:
    """The least solution.  ``objects[0]`` is the external one.

    on_new_target(call, object): constraints to add when a call may go to a function object, or to EXTERNAL; asked once
    per pair.  limit: constant offsets kept apart per object.  Raises IndexError for an object number out of range.
    """
    solver = Solver(objects, on_new_target, limit)
    solver.start(constraints)
    solver.run()
    return PointsTo(objects, *solver.result())
