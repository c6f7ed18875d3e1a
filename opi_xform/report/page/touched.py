"""Buffers whose object is not known for certain: which ones the pointers of calls may name, and what happens to these.

What is found is what may happen.  It is told of buffers that stay; nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from opi_xform.ir import instr as ins
from opi_xform.ir.operands import operands_of, parts_of
from opi_xform.ownership.buffers.uses import NO_OBJECT
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.record import dataclass
from opi_xform.report.page.moments import Moment, in_order, linked, moment_at, successors

MOST_PLACES = 6
MOST_OBJECTS = 200
"""Of a pointer that may name more, nothing is told but its calls: nearly all else would be of other memory."""


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happens at a node of the program's graph."""

    node: int
    what: str


def named_by(program: Program, use: Use) -> frozenset[int]:
    """The objects that a use may be of; with 0 among them also memory that nothing is known of."""
    if use.object != NO_OBJECT:
        return frozenset({use.object})
    call = program.graph.nodes[use.node].action
    assert isinstance(call, ins.CallInstr)
    return program.points_to.operand(program.graph.nodes[use.node].frame, call.args[use.argument])


class Named:
    """Which objects the calls without a certain object may name: sends, receives, and calls that free."""

    def __init__(self, program: Program, uses: Iterable[Use]) -> None:
        self.program = program
        self.uses: dict[int, list[tuple[str, frozenset[int]]]] = {}
        buffers: set[int] = set()
        for use in uses:
            objects = named_by(program, use)
            buffers |= objects
            if use.object == NO_OBJECT:
                self.uses.setdefault(use.node, []).append((use.side, objects))
        self.scalars = self._scalars(buffers)
        self.freed: dict[int, list[int]] = {}  # object -> calls that may free it, and perhaps another one
        for node in program.graph.nodes:
            for o in self._freed(node.number):
                self.freed.setdefault(o, []).append(node.number)

    def sides(self, node: int, objects: Collection[int]) -> set[str]:
        """How a call may pass one of the objects as its buffer, where it is not certain which."""
        return {side for side, named in self.uses.get(node, ()) if not named.isdisjoint(objects)}

    def _scalars(self, objects: Collection[int]) -> dict[int, list[tuple[int, str]]]:
        """Where those of the objects that are no arrays are read and written by their name: node, and which of both."""
        table = self.program.values.objects.table
        variables = {(table[o].frame, table[o].variable): o for o in objects if table[o].kind == "variable"}
        found: dict[int, list[tuple[int, str]]] = {}
        for node in self.program.graph.nodes if variables else ():
            if not isinstance(node.action, ins.Instr):
                continue
            ways = [("read", p.key) for e in operands_of(node.action) for p in parts_of(e) if isinstance(p, ins.Var)]
            if isinstance(node.action, ins.Define) and isinstance(node.action.target, ins.Var):
                ways.append(("write", node.action.target.key))
            for what, key in dict.fromkeys(ways):
                o = variables.get((node.frame, key), variables.get((-1, key)))
                if o is not None:
                    found.setdefault(o, []).append((node.number, what))
        return found

    def _freed(self, n: int) -> frozenset[int]:
        node = self.program.graph.nodes[n]
        action = node.action
        if not isinstance(action, ins.CallInstr) or not isinstance(action.callee, ins.AddrFunc):
            return frozenset()
        effect = self.program.effects.get(action.callee.key)
        if effect is None or effect.frees is None or effect.frees.arg >= len(action.args):
            return frozenset()
        values = self.program.values.args.get(n, ())
        symbols = self.program.values.symbols
        base = symbols.base(values[effect.frees.arg]) if effect.frees.arg < len(values) else None
        if base is not None:
            return frozenset({base})
        return self.program.points_to.operand(node.frame, action.args[effect.frees.arg])


def happenings(program: Program, objects: frozenset[int], uses: Iterable[Use], named: Named) -> list[Happening]:
    """What happens to these objects, in the order of the graph's nodes; ``uses``: those that the buffer is known by."""
    found: dict[int, list[str]] = {}
    for use in sorted(uses, key=lambda u: u.side == "recv"):
        found.setdefault(use.node, []).append(use.side)
    own = set(found)
    table = program.values.objects.table
    for o in sorted(objects):
        for n, accesses in program.values.accesses.of(o).items():
            if n in own:
                continue
            sides = named.sides(n, objects)
            kinds = {a.kind for a in accesses}
            words = found.setdefault(n, [])
            words += [what for what, side in _ways(kinds) if side not in sides]
            words += sorted(sides, key=lambda side: side == "recv")
        for n, what in named.scalars.get(o, ()):
            if n not in own:
                found.setdefault(n, []).append(what)
        heaps = table[o].members if table[o].kind == "family" else (o,)
        for n in (n for h in heaps for n in table[h].nodes):
            found.setdefault(n, []).insert(0, "alloc")
        for n in named.freed.get(o, ()):
            found.setdefault(n, []).append("free")
    return [Happening(n, what) for n in in_order(program, found) for what in dict.fromkeys(found[n])]


def _ways(kinds: Collection[str]) -> list[tuple[str, str]]:
    """How a node touches memory, each with the side of a message that it is where the node is a call of one."""
    return [pair for kind, pair in (("R", ("read", "send")), ("W", ("write", "recv"))) if kind in kinds]


def moments_of(program: Program, found: Sequence[Happening]) -> list[Moment]:
    """The same as moments, with what may follow what."""
    by_node: dict[int, list[Moment]] = {}
    for h in found:
        by_node.setdefault(h.node, []).append(moment_at(program, h.node, h.what))
    return linked(successors(program, list(by_node)), list(by_node.values()), 0)


def places(program: Program, objects: Iterable[int]) -> list[str]:
    """What the objects are in the text: variables, and memory by the lines that allocate it; each once."""
    words: list[str] = []
    for o in sorted(objects):
        info = program.values.objects.table[o]
        if info.kind == "variable":
            words.append(f"`{info.name}`")
        else:
            heaps = info.members if info.kind == "family" else (o,)
            for n in (n for h in heaps for n in program.values.objects.table[h].nodes):
                span = node_span(program, n)
                words.append(f"memory allocated at line {span.line} of {Path(span.file).name}")
    return list(dict.fromkeys(words))
