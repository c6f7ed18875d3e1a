"""Buffers that each activation of a function has for itself, where a call may enter the function more than once.

The program graph has one copy of such a function for all its levels (``Graph.cyclic``), and one object for what all of
them allocate there.  That object counts as one activation's *own* when no other activation can have an address in it:
only plain local pointers of the copy, and of what it calls, ever hold one, and no call that enters the function again
gets one, or returns one.  Then all that happens to it from its birth on is in this copy, and what deeper levels do is
done to others.  What is known there has to hold at each level, not only at the first: the copy begins with numbers that
nobody knows (``entered``), in its parameters and in all that the copy may write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opi_xform.calls.calls import Calls, calls_back
from opi_xform.calls.modified import writes
from opi_xform.graph.graph import RECURSION, SUMMARY, Bind, Lost, Node, Unbind, evaluated
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import parts_of
from opi_xform.memory.objects import UNKNOWN, Object
from opi_xform.memory.symbols import WRAPS
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Own:
    """owners: object -> the copies with several levels around its birth, each activation of which has its own.
    entered: each of these copies, with the objects that may hold something else each time that it is entered.  frames:
    these copies, and those of all that they call.
    """

    owners: Mapping[int, frozenset[int]]
    entered: Mapping[int, frozenset[int]]
    frames: frozenset[int] = frozenset()


def own(calls: Calls) -> Own:
    """Only of buffers that a message has."""
    return _Finder(calls).run() if calls.graph.cyclic else Own({}, {})


class _Finder:
    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.graph = calls.graph
        self.objects = calls.objects
        self.pts = calls.pts
        self.chains: list[tuple[int, ...]] = []  # by frame: the copies with several levels around it, outermost first
        self.above: list[frozenset[int]] = []  # by frame: it, and those around it
        for frame in self.graph.frames:
            outer = self.chains[frame.parent] if frame.parent >= 0 else ()
            around = self.above[frame.parent] if frame.parent >= 0 else frozenset[int]()
            mine = (frame.number,) if frame.function in self.graph.cyclic else ()
            self.chains.append((*outer, *mine))
            self.above.append(around | {frame.number})
        self.entered_by_frame = {frame.call for frame in self.graph.frames}
        self.shown: dict[int, bool] = {}  # by outermost copy: what ``enters`` has answered

    def run(self) -> Own:
        owners: dict[int, frozenset[int]] = {}
        for o in sorted(self.messages()):
            chain = self.chain(self.objects.table[o])
            if chain and self.is_own(o, chain):
                owners[o] = frozenset(chain)
        frames = frozenset[int]().union(*owners.values())
        inside = (frame for frame, above in enumerate(self.above) if not frames.isdisjoint(above))
        return Own(owners, {frame: self.written(frame) for frame in sorted(frames)}, frozenset(inside))

    def messages(self) -> set[int]:
        """Objects that may be the buffer of a message, inside a function with several levels."""
        out: set[int] = set()
        for node in self.graph.nodes:
            call = node.action
            if not isinstance(call, ins.CallInstr) or not self.chains[node.frame]:
                continue
            effect = self.calls.effect(call)
            op = effect.mpi if effect is not None else None
            for buffer in (op.send, op.recv) if op is not None else ():
                if buffer is not None and buffer.buf < len(call.args):
                    out |= self.pts.operand(node.frame, call.args[buffer.buf])
        return out

    def chain(self, info: Object) -> tuple[int, ...]:
        """The copies with several levels around the place where an object is born; () where there is no such place."""
        if info.kind == "variable" and info.frame >= 0 and info.type is not None and info.type.is_array:
            return self.chains[info.frame] if info.frame < len(self.chains) else ()
        if info.kind != "heap":
            return ()
        found = {self.chains[self.graph.nodes[n].frame] for n in info.nodes}
        return found.pop() if len(found) == 1 else ()

    def written(self, frame: int) -> frozenset[int]:
        """What a copy and all that it calls may write."""
        nodes = (node for node in self.graph.nodes if frame in self.above[node.frame])
        return frozenset().union(*(writes(self.calls, node) for node in nodes))

    # --- conditions ------------------------------------------------------------------------------------------------

    def is_own(self, o: int, chain: tuple[int, ...]) -> bool:
        inner = chain[-1]
        return (
            self.graph.frames[chain[0]].parent >= 0  # nothing is unknown where main begins
            and self.enters(chain[0])
            and o not in self.objects.foreign
            and o not in self.pts.reachable(frozenset({UNKNOWN}))
            and not self.pts.kept(frozenset({o}))
            and self.held_inside(o, inner)
            and not any(self.handed(o, inner, chain, node) for node in self.inside(chain[0]))
        )

    def inside(self, frame: int) -> Iterator[Node]:
        return (node for node in self.graph.nodes if frame in self.above[node.frame])

    def held_inside(self, o: int, inner: int) -> bool:
        """Only local pointers hold its address that nobody else can see, of the innermost copy and what it calls."""
        for (frame, key), _ in sorted(self.objects.by_variable.items()):
            if o not in self.pts.variable(frame, key):
                continue
            if not 0 <= frame < len(self.above) or inner not in self.above[frame]:
                return False
            if self.calls.deeper.holds_openly(key):
                return False
        return True

    def handed(self, o: int, inner: int, chain: tuple[int, ...], node: Node) -> bool:
        """A node hands its address to another activation of one of the copies, or to what called this one."""
        match node.action:
            case Unbind(callee=callee, value=value) if callee == inner and value is not None:
                return o in self.pts.operand(callee, value)
            case Lost(call=call) if self.graph.entered_again(node) in chain:
                back = self.pts.operand(node.frame, call.target) if call.target is not None else frozenset()
                return o in back or o in self.calls.lost(node)
            case _:
                return False

    def enters(self, outermost: int) -> bool:
        """The graph shows each call by which something inside a copy enters it again, and what it passes."""
        if outermost not in self.shown:
            self.shown[outermost] = all(map(self.is_shown, self.inside(outermost)))
        return self.shown[outermost]

    def is_shown(self, node: Node) -> bool:
        graph, call = self.graph, node.action
        if isinstance(call, Bind) and self.graph.frames[node.frame].function in graph.cyclic:
            return not any(map(_huge, call.args))
        if isinstance(call, Lost):
            if call.reason == RECURSION:
                return graph.entered_again(node) >= 0 and not any(map(_huge, evaluated(call)))
            return call.reason == SUMMARY and call.functions[0] not in graph.cyclic
        if not isinstance(call, ins.CallInstr):
            return True
        effect = self.calls.effect(call)
        if graph.follows(node.number) and effect is None:
            passed = node.number not in self.entered_by_frame
            return not (passed and isinstance(call.callee, ins.AddrFunc) and call.callee.key in graph.cyclic)
        return effect is not None and (graph.follows(node.number) or not calls_back(effect, call))


def _huge(operand: ins.Operand) -> bool:
    """It has a number that sums of 32 bits may not hold (``Evaluator.near_end``); the MPI's are no numbers."""
    numbers = (part for part in parts_of(operand) if isinstance(part, ins.Const) and part.name[:4] != "MPI_")
    return any(abs(part.value) >= WRAPS for part in numbers)
