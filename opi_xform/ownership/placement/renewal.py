"""Statements before which a buffer gets new memory, since nothing that it holds is needed any more.

A receive makes room for its message and no more.  Where the program packs another message into the same buffer later,
larger than the one that came, there is no room for it (``conditions/contents/capacity.py``).  Where all that the buffer
holds is dead before the statement that packs, that is freed, and as much memory as the program has is asked for: so a
buffer into which one function receives serves another one that packs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from islpy import Set

from opi_xform.graph.statements import Edge, Flow, Level
from opi_xform.ir import instr as ins
from opi_xform.ownership.explain.culprits import touches_beyond
from opi_xform.ownership.liveness.buffer_events import SIGNS, Assumed
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Buffer, Place, Program
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.placement.anchors import Anchors
from opi_xform.record import dataclass
from opi_xform.regions.sets import BudgetExceeded

MANY = 64
"""Accesses after one receive that are looked at."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """A statement of a function, and the nodes that run first of it, in all copies.

    assumes: what it rests on that nothing of the buffer is needed there, beside what counts for the buffer anyway.
    """

    function: str
    stmt: int
    nodes: frozenset[int]
    assumes: frozenset[str] = frozenset()


def renewals(
    program: Program, flow: Flow, buffer: Buffer, judge: Judge, converted: Collection[Place], refused: Collection[Place]
) -> tuple[Renewal, ...]:
    """Where new memory makes room for what is touched after these receives, beyond what they bring."""
    if not _plain(program, buffer, judge, converted):
        return ()
    anchors, sites = Anchors(flow), [u.node for u in judge.uses]
    owner = program.variables[buffer.carrier.variable].function

    def apart(level: Level) -> bool:
        """A call about the variable can stand before the statement, and no message is in it."""
        if owner not in ("", program.graph.frames[level[0]].function) or not anchors.usable(level, "before"):
            return False
        return not any(flow.inside(level, site) for site in sites)

    touching = {n for use in judge.uses if use.place in refused for n in touches_beyond(judge, use, MANY)}
    wanted = {n: list(filter(apart, anchors.befores(n, lambda _: False))) for n in sorted(touching & {*judge.accesses})}
    found: dict[tuple[str, int], tuple[Edge, ...]] = {}
    for frame, stmt in {level: None for levels in wanted.values() for level in levels}:
        function = program.graph.frames[frame].function
        if function not in program.graph.levels:
            found[function, stmt] = _entered(flow, function, stmt)
    idle = {v for edges in found.values() for _, v in edges} - {*judge.accesses, *judge.births}
    asked = idle | {u for edges in found.values() for u, _ in edges if u < len(program.graph.nodes)}
    offered: list[Assumed] = [frozenset()] if found else []
    if found and not judge.strict and judge.signs:
        offered.append(frozenset((SIGNS,)))
    out: dict[Renewal, None] = {}
    for assumed in offered:
        dead = _Dead(program, buffer, judge, asked, assumed).dead
        fine = {key for key, ways in found.items() if ways and all(u in dead or v in idle & dead for u, v in ways)}
        for n, levels in list(wanted.items()):
            keys = ((program.graph.frames[frame].function, stmt) for frame, stmt in levels)
            chosen = next((key for key in keys if key in fine), None)
            if chosen is not None:
                out[Renewal(*chosen, frozenset(v for _, v in found[chosen]), assumed)] = None
                del wanted[n]
    return tuple(sorted(out, key=lambda one: (one.function, one.stmt)))


def _plain(program: Program, buffer: Buffer, judge: Judge, converted: Collection[Place]) -> bool:
    """One block that a variable of its own holds, and that no operation uses after its call but those that convert."""
    carrier = buffer.carrier
    if carrier.rows or buffer.swaps or carrier.variable in program.members or judge.replacing & set(converted):
        return False
    if len(buffer.objects) != 1 or program.threads:
        return False
    names, mine = names_of(program), set(buffer.objects)
    going = {u.node for u in judge.uses if u.place in converted}
    going -= {u.node for u in judge.uses if u.place not in converted}
    for n, op in names.operations.items():
        if op.blocking or op.completes is not None or n in going:
            continue
        assert isinstance(program.graph.nodes[n].action, ins.CallInstr)
        if program.values.accesses.touches(n, mine):
            return False
    return True


def _entered(flow: Flow, function: str, stmt: int) -> tuple[Edge, ...]:
    """The ways into a statement, in all copies of its function; none where the program begins with it.

    A loop may come back to where they lead.  No receive is in it, so it meets the memory that it had before.
    """
    frames = flow.frames_of.get(function, ())
    ways = [edge for frame in frames for edge in flow.boundary((frame, stmt), flow.succs, flow.preds)[0]]
    return tuple(ways) if all(v < len(flow.graph.nodes) for _, v in ways) else ()


class _Dead(Judge):
    """After which of some nodes nothing of the object is needed, on so much that is assumed.

    A1 and A2 count, which every site names of a buffer that is received into and used otherwise.
    """

    def __init__(self, program: Program, buffer: Buffer, judge: Judge, asked: Iterable[int], assumed: Assumed) -> None:
        self.asked = tuple(sorted(asked))
        self.resting = assumed
        self.dead: set[int] = set()
        self.precise = judge.told
        super().__init__(program, buffer, judge.o, judge.strict, judge.packed)

    def liveness(self) -> None:
        self.told = self.precise
        try:
            with self.regions.budget():
                found, _ = self.live(None, assumed=self.resting)
                self.dead = {n for n in self.asked if self.unneeded(found, n)}
        except BudgetExceeded:
            self.regions.context.reset_operations()

    def unneeded(self, found: Mapping[int, Set], n: int) -> bool:
        live = found.get(n)
        return live is not None and self.under(n, live).is_empty()


def nodes_of(renewed: Sequence[Renewal]) -> frozenset[int]:
    """Before which there is new memory."""
    return frozenset().union(*(one.nodes for one in renewed))
