"""What calls do that are told as a whole (``graph/summaries.py``): all that their functions may, at any call.

Some of the functions may use messages' buffers (``Background.handling``).  Such a buffer is given up: what a call does
to it counts as done by code that is not known (``handled``).  What has to be known of a function is then which buffers
it may have to do with.  It can only by an address: one that an expression of its own has, that of a variable it names,
one that it copies or moves as bytes, or by a pointer that others use and that it sets.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from opi_xform.calls.calls import Calls
from opi_xform.calls.modified import writes
from opi_xform.graph.graph import Bind, Node, evaluated
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import parts_of
from opi_xform.memory.objects import UNKNOWN

LEAVES = (ins.Var, ins.AddrVar, ins.Temp)
MPI = ("MPI_", "PMPI_", "OPI_")


class Summarised:
    """By function: objects that it and all below it may touch, and those that they may write.

    Their own locals are not among them: nobody else has them while they are there, but for structs that they return.
    """

    def __init__(self, calls: Calls) -> None:
        background = calls.graph.background
        self.calls = calls
        self.frames = {name: background.frame + i for i, name in enumerate(background.functions)}
        mine = {o for (frame, _), o in calls.objects.by_variable.items() if frame >= background.frame}
        self.touching: dict[int, set[int]] = {frame: set() for frame in self.frames.values()}
        self.writing: dict[int, set[int]] = {frame: set() for frame in self.frames.values()}
        self.called: dict[int, dict[int, None]] = {frame: {} for frame in self.frames.values()}
        for node in background.nodes:
            if isinstance(node.action, Bind):
                self.called[node.action.caller][node.frame] = None
            if isinstance(node.action, ins.Escape) and node.action.printed:
                self.touching[node.frame] |= self.printed(node, node.action) - mine
                continue
            written = writes(calls, node) - mine | self.returned(node)
            self.writing[node.frame] |= written
            self.touching[node.frame] |= written | (self.of_node(node) - mine)
        self.known: dict[tuple[str, bool], frozenset[int]] = {}
        self.given_up: dict[str, frozenset[int]] = {}

    def of_node(self, node: Node) -> set[int]:
        """What a node touches.  What a function that is called does with its arguments, its own nodes tell."""
        call = node.action
        if not isinstance(call, ins.CallInstr) or not self.calls.is_followed(node, call):
            return self.calls.of_node(node)
        parts = (part for operand in evaluated(call) for part in parts_of(operand))
        return {
            self.calls.objects.variable(node.frame, part.key)
            for part in parts
            if isinstance(part, (ins.Var, ins.AddrVar))
        }

    def returned(self, node: Node) -> frozenset[int]:
        """A struct that is returned stays where it was made, and the caller reads it there."""
        action = node.action
        if not isinstance(action, ins.ReturnInstr) or action.value is None:
            return frozenset()
        made = self.calls.graph.body(node.frame).function.type.elem
        by_place = made is None or made.kind not in ("int", "float", "pointer")
        return self.calls.pts.operand(node.frame, action.value) if by_place else frozenset()

    def printed(self, node: Node, escape: ins.Escape) -> frozenset[int]:
        """What is printed is read, and no more (``program/printing.py``)."""
        pts = self.calls.pts
        return pts.reachable(frozenset().union(*(pts.operand(node.frame, value) for value in escape.values)))

    @property
    def anything(self) -> frozenset[int]:
        """What any of them may touch."""
        return frozenset().union(*self.touching.values())

    def touched(self, name: str) -> frozenset[int]:
        return self.below(name, False)

    def changed(self, name: str) -> frozenset[int]:
        return self.below(name, True)

    def below(self, name: str, written: bool) -> frozenset[int]:
        if (name, written) not in self.known:
            own = self.writing if written else self.touching
            self.known[name, written] = frozenset().union(*(own[frame] for frame in self.inside(name)))
        return self.known[name, written]

    def inside(self, name: str) -> set[int]:
        """The frames of a function and of all below it."""
        seen: set[int] = set()
        work = [self.frames[name]]
        while work:
            frame = work.pop()
            if frame not in seen:
                seen.add(frame)
                work += self.called[frame]
        return seen

    # --- messages --------------------------------------------------------------------------------------------------

    def handled(self, name: str) -> frozenset[int]:
        """Objects that MPI is given and that a call of this function may have to do with.  () of one that has nothing
        to do with any.
        """
        if name not in self.calls.graph.background.handling:
            return frozenset()
        if name not in self.given_up:
            inside = self.inside(name)
            found = self.touched(name) | self.calls.pts.contents(self.changed(name))
            found |= frozenset().union(*(self.holding.get(frame, frozenset()) for frame in inside))
            self.given_up[name] = found & self.messages
        return self.given_up[name]

    @cached_property
    def messages(self) -> frozenset[int]:
        """Objects that calls of MPI are given, or that hold what it is given for a message."""
        calls = self.calls
        out: dict[int, frozenset[int]] = {}
        for node in calls.graph.nodes:
            call = node.action
            if not isinstance(call, ins.CallInstr) or not isinstance(call.callee, ins.AddrFunc):
                continue
            effect = calls.effect(call)
            if call.callee.key.startswith(MPI) or (effect is not None and effect.mpi is not None):
                for operand, written in zip(call.args, call.call.args, strict=True):
                    number = written.type.kind in ("int", "float")
                    found = (calls.pts.operand if number else calls.pts.accessed)(node.frame, operand)
                    out[id(found)] = found
        return frozenset().union(*out.values()) - {UNKNOWN}

    @cached_property
    def holding(self) -> dict[int, frozenset[int]]:
        """By frame: what its expressions may be the address of, and whose address it may copy or move as bytes."""
        pts, apart = self.calls.pts, self.calls.pts.bytes
        out: dict[int, dict[int, frozenset[int]]] = {}

        def hold(frame: int, found: Iterable[frozenset[int]]) -> None:
            out.setdefault(frame, {}).update({id(one): one for one in found if one})

        for node in self.calls.graph.background.nodes:
            frame, action = node.frame, node.action
            given = action.caller if isinstance(action, Bind) else frame
            operands = action.args if isinstance(action, Bind) else evaluated(action)
            hold(given, (pts.operand(given, operand) for operand in operands))
            leaves = (part for operand in operands for part in parts_of(operand) if isinstance(part, LEAVES))
            hold(given, (pts.operand(given, part) for part in leaves))
            match action:
                case ins.Load(target=target, address=address, type=type_):
                    hold(frame, (pts.operand(frame, target),))
                    if not type_.holds_address and apart:
                        hold(frame, (pts.contents(pts.accessed(frame, address)) & apart,))
                case ins.CopyBytes(source=source):
                    hold(frame, (pts.contents(pts.accessed(frame, source)),))
                case ins.CallInstr(args=args) if not self.calls.is_followed(node, action):
                    hold(frame, (pts.reachable(pts.operand(frame, operand)) for operand in args))
                case _:
                    pass
        return {frame: frozenset().union(*sets.values()) for frame, sets in out.items()}
