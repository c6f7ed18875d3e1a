"""Conditions that are tested more than once: ``if (rank == 0)`` around the pack and again around the send.

Where such a condition has the same value throughout the program, the paths on which it changes do not exist.  The state
analysis then looks at the program once for each of its values.  Neither do those matter on which a function that sets
up gives up and main then ends the program (``ends_besides``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product

from opi_xform.graph.graph import Graph
from opi_xform.graph.statements import Flow, Level
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly
from opi_xform.once import once_each
from opi_xform.ownership.allocation.also_run import run_unwatched
from opi_xform.ownership.model.buffers import Member, Program
from opi_xform.ownership.model.endings import ways_to_end
from opi_xform.ownership.placement.states import Event
from opi_xform.record import dataclass

MOST_BRANCHES = 200  # of a function, that are followed to see whether the program ends
MOST = 3  # conditions at once: the analysis runs twice as often with each
_FLIPPED = {"!=": "==", ">=": "<", ">": "<="}
_Key = tuple[str, Poly]


def cases(program: Program, flow: Flow, events: Sequence[Event]) -> list[dict[int, bool]]:
    """Per possible combination of values: which way each branch on one of the repeated conditions goes.

    One empty case when there is no such condition.
    """
    groups: dict[_Key, list[tuple[int, bool]]] = {}
    for n in sorted(program.values.conditions):
        found = _key(program, n)
        if found is not None:
            groups.setdefault(found[0], []).append((n, found[1]))
    around = {level for e in events for level in flow.chain(e.node)}
    chosen: list[_Key] = []
    passed: list[_Key] = []
    for key, branches in groups.items():
        levels = [(program.graph.nodes[n].frame, flow.stmt[n]) for n, _ in branches]
        deciding = sum(level in around for level in levels)
        if deciding > 1:
            chosen.append(key)
        elif deciding + sum(level not in around and level[1] >= 0 and _passes(flow, level) for level in levels) > 1:
            passed.append(key)
    chosen = [*chosen, *passed][:MOST]
    out = []
    for values in product((True, False), repeat=len(chosen)):
        if _possible([key for key, value in zip(chosen, values, strict=True) if value]):
            case = {}
            for key, value in zip(chosen, values, strict=True):
                for n, flipped in groups[key]:
                    case[n] = value != flipped
            out.append(case)
    return out


def _passes(flow: Flow, level: Level) -> bool:
    """``if (rank != 0) goto end;`` and the like: it decides of what comes after it."""
    match flow.info(level).stmt:
        case ast.If(then=then, other=other):
            ends = [one.body[-1] if isinstance(one, ast.Block) and one.body else one for one in (then, other)]
            return any(isinstance(one, (ast.Goto, ast.Break, ast.Continue, ast.Return)) for one in ends)
        case _:
            return False


def there(program: Program, member: Member | None) -> dict[int, bool]:
    """Which way each branch goes that asks whether the memory of a member's struct was there to be had.

    Where it was not, nothing happens to the member any more: every access follows the pointer that is NULL then.
    """
    out: dict[int, bool] = {}
    if member is None or member.twins or member.object[0] != "heap":
        return out
    symbols = program.values.symbols
    for n, condition in sorted(program.values.conditions.items()):
        if condition.op not in ("==", "!=") or not isinstance(program.graph.nodes[n].action, ins.Branch):
            continue
        for address, other in ((condition.left, condition.right), (condition.right, condition.left)):
            base = symbols.base(address)
            if base is None or other.constant != 0 or symbols.offset(address).constant != 0:
                continue
            o = program.values.objects.table[base]
            if o.kind == "heap" and o.node == member.object[1]:
                out[n] = condition.op == "!="
    return out


@dataclass(frozen=True, slots=True)
class Ends:
    """Branches, each with the way that it goes where the program goes on.

    steps: from block to block, on the ways that it goes else: they end the program, and nothing is done to the buffer.
    """

    ways: dict[int, bool]
    steps: frozenset[tuple[int, int]]

    def meets(self, graph: Graph, u: int, v: int) -> bool:
        """The way from a node to the next one may be on a way to the end."""
        count = len(graph.nodes)
        here = graph.nodes[u].block if u < count else -1
        there = graph.nodes[v].block if v < count else -1
        if here == there or -1 in (here, there):
            return any(step[1] in (here, there) for step in self.steps)
        return (here, there) in self.steps


def ends_besides(
    program: Program, addressed: frozenset[str], made: Collection[int], events: Sequence[Event] = ()
) -> Ends:
    """Where a function in which memory is asked for gives up: ``if (!(h->in = malloc(n))) return -1;``, and main ends.

    What the buffer is on these ways is all one, as long as no call is put in there.  made: the calls of malloc.
    """
    graph = program.graph
    eventful = {graph.nodes[e.node].block for e in events}
    frames: set[int] = set()
    for n in made:
        frame = graph.nodes[n].frame
        while frame >= 0 and graph.frames[frame].parent >= 0:
            frames.add(frame)
            frame = graph.frames[frame].parent
    ways: dict[int, bool] = {}
    steps: set[tuple[int, int]] = set()
    for frame in sorted(frames):
        for n, way, other in _giving_up(program, (frame, addressed)):
            if eventful.isdisjoint(b for _, b in other):
                ways[n] = way
                steps |= other
    return Ends(ways, frozenset(steps))


@once_each
def _giving_up(
    program: Program, of: tuple[int, frozenset[str]]
) -> tuple[tuple[int, bool, frozenset[tuple[int, int]]], ...]:
    """The branches of a frame that end the program one way; with the way on, and the steps of the other one.

    A function that also runs where the graph does not show it, or at other levels, may give up to another caller.
    """
    graph, (frame, addressed) = program.graph, of
    if graph.frames[frame].function in run_unwatched(program) | graph.levels | graph.cyclic:
        return ()
    branches = [n for n in graph.nodes if n.frame == frame and isinstance(n.action, ins.Branch)]
    out = []
    for node in branches if len(branches) <= MOST_BRANCHES else ():
        following = graph.succs[node.block]
        if len(set(following)) == 2:
            found = [ways_to_end(program, addressed, arm, {}) for arm in following]
            for i, other in enumerate(found):
                if other is not None and found[1 - i] is None:
                    steps = frozenset((a if a >= 0 else node.block, b) for a, b in other)
                    out.append((node.number, i == 1, steps))
    return tuple(out)


def _key(program: Program, n: int) -> tuple[_Key, bool] | None:
    """(the condition in one form, whether the branch tests its opposite); None when its value may change."""
    condition = program.values.conditions[n]
    if not isinstance(program.graph.nodes[n].action, ins.Branch):
        return None
    symbols = program.values.symbols
    difference = symbols.resolve(condition.left - condition.right)
    if difference.constant is not None or symbols.scope(difference):
        return None
    op = _FLIPPED.get(condition.op, condition.op)
    if op == "==":
        difference = min(difference, -difference, key=lambda p: p.terms)
    elif condition.unsigned:
        return None
    return (op, difference), op != condition.op


def _possible(true: Sequence[_Key]) -> bool:
    """Not ``rank == 0`` and ``rank == 1`` at once."""
    equal = [difference for op, difference in true if op == "=="]
    for i, a in enumerate(equal):
        for b in equal[i + 1 :]:
            if any((d := other.constant) is not None and d != 0 for other in (a - b, a + b)):
                return False
    return True
