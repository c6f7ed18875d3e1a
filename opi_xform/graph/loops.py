"""Dominators and the loop nest of a rooted graph whose block numbers are a reverse postorder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opi_xform.dataflow.view import reverse_postorder
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.lowering.statements import lower
from opi_xform.ir.walk import statements
from opi_xform.record import dataclass

TWO_ENTRIES = "a loop with two entries (goto into a loop) in line {}"


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop.  ``blocks`` includes those of inner loops; ``parent`` is the index of the enclosing loop or -1.

    ``latches``: sources of back edges.  ``exits``: (block inside, block outside) edges, sorted.
    """

    number: int
    header: int
    blocks: frozenset[int]
    latches: tuple[int, ...]
    exits: tuple[tuple[int, int], ...]
    parent: int


@dataclass(frozen=True, slots=True, eq=False)
class LoopNest:
    """``loops`` outer before inner; ``of[b]`` the innermost loop of block b or -1; ``idom[b]`` (block 0: 0).

    ``irreducible``: some cycle has more than one entry; no loop then describes it.
    """

    loops: tuple[Loop, ...]
    of: tuple[int, ...]
    idom: tuple[int, ...]
    irreducible: bool

    def chain(self, block: int) -> tuple[int, ...]:
        """Loops around a block, innermost first."""
        out: list[int] = []
        at = self.of[block]
        while at >= 0:
            out.append(at)
            at = self.loops[at].parent
        return tuple(out)

    def left(self, block: int, succs: Sequence[int]) -> frozenset[int]:
        """The loops around a block out of which one of its ways goes."""
        return frozenset(loop for loop in self.chain(block) if any(s not in self.loops[loop].blocks for s in succs))

    def dominates(self, a: int, b: int) -> bool:
        while b > a:
            b = self.idom[b]
        return a == b


def dominators(succs: Sequence[Sequence[int]], preds: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Immediate dominators (Cooper, Harvey, Kennedy 2001); numbers must be a reverse postorder.

    Not by networkx, which takes several times as long, and nearly as long again to build its graph of a program's.
    """
    n = len(succs)
    idom = [-1] * n
    if n:
        idom[0] = 0
    changed = True
    while changed:
        changed = False
        for b in range(1, n):
            new = -1
            for p in preds[b]:
                if idom[p] < 0:
                    continue
                if new < 0:
                    new = p
                    continue
                x, y = p, new
                while x != y:
                    while x > y:
                        x = idom[x]
                    while y > x:
                        y = idom[y]
                new = x
            if new != idom[b]:
                idom[b] = new
                changed = True
    return tuple(idom)


def loop_nest(succs: Sequence[Sequence[int]], preds: Sequence[Sequence[int]]) -> LoopNest:
    """Natural loops of a graph in reverse postorder; back edges that share a header make one loop."""
    idom = dominators(succs, preds)
    n = len(succs)

    def dominates(a: int, b: int) -> bool:
        while b > a:
            b = idom[b]
        return a == b

    back: dict[int, list[int]] = {}
    irreducible = False
    for b in range(n):
        for s in succs[b]:
            if s <= b:
                if dominates(s, b):
                    back.setdefault(s, []).append(b)
                else:
                    irreducible = True
    bodies: dict[int, frozenset[int]] = {}
    for header, latches in back.items():
        body = {header}
        stack = [latch for latch in latches if latch != header]
        while stack:
            b = stack.pop()
            if b in body:
                continue
            body.add(b)
            stack.extend(p for p in preds[b] if p not in body)
        bodies[header] = frozenset(body)
    order = sorted(bodies, key=lambda h: (-len(bodies[h]), h))
    of = [-1] * n
    loops: list[Loop] = []
    for number, header in enumerate(order):
        inside = bodies[header]
        exits = sorted({(b, s) for b in inside for s in succs[b] if s not in inside})
        loops.append(Loop(number, header, inside, tuple(sorted(set(back[header]))), tuple(exits), of[header]))
        for b in inside:
            of[b] = number
    return LoopNest(tuple(loops), tuple(of), idom, irreducible)


def without_two_entries(units: Sequence[ast.Unit]) -> Sequence[ast.Unit]:
    """The units, with functions refused that have a loop that is entered in two places: no loop describes such a cycle.

    Nothing could be said of the ways through a program that has one in its graph.
    """
    if not any(_may_jump(f) for unit in units for f in unit.functions.values()):
        return units
    variables = {key: v for unit in units for key, v in unit.globals.items()}
    return [_refused(unit, variables) for unit in units]


def _refused(unit: ast.Unit, variables: Mapping[str, ast.Variable]) -> ast.Unit:
    functions = dict(unit.functions)
    for key, f in unit.functions.items():
        if not f.refused and _may_jump(f) and (line := _second_entry(lower(f, variables))):
            functions[key] = replace(f, refused=TWO_ENTRIES.format(line))
    return replace(unit, functions=functions)


def _may_jump(function: ast.Function) -> bool:
    """Some statement is entered otherwise than by the one before it, which may be in a loop."""
    return any(isinstance(s, (ast.Label, ast.Case)) for s, _ in statements(function.body))


def _second_entry(lowered: ins.Lowered) -> int:
    """The line at which a cycle begins that another way enters elsewhere; 0 for none."""
    order = reverse_postorder([row[::-1] for row in lowered.succs], (0,))
    place = {block: i for i, block in enumerate(order)}
    succs = [tuple(place[s] for s in lowered.succs[block]) for block in order]
    preds: list[list[int]] = [[] for _ in order]
    for i, targets in enumerate(succs):
        for t in targets:
            preds[t].append(i)
    nest = loop_nest(succs, preds)
    if not nest.irreducible:
        return 0
    back = (s for b, targets in enumerate(succs) for s in targets if s <= b and not nest.dominates(s, b))
    lines = (instr.span.line for s in back for instr in lowered.blocks[order[s]][:1])
    return next(filter(None, lines), lowered.function.span.line)
