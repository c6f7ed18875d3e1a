"""What deeper levels of a function that is entered from inside itself do with objects.

The program graph has its first level; a call of it from inside stands for all deeper ones (``Calls.lost``).  These do
what the first does, with other arguments, and points-to knows what these may lead to.  An object is *plain* there when
all levels only read and write it: then such a call reads it and perhaps writes it, anywhere, and that is all.  It is
not when one may do more: free it, keep its address where others find it, give it to code that is not known, or to a
call of the MPI's that goes on after its return, or make a number of its address.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from opi_xform.calls.calls import Calls
from opi_xform.calls.modified import writes
from opi_xform.effects.model import FunctionEffect
from opi_xform.graph.graph import Bind, Lost, Node, Unbind, evaluated
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import parts_of

_COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!=", "not", "ptrdiff"})


class Deeper:
    """Of the function of a frame and of all that it calls, at all its levels."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.graph = calls.graph
        self.objects = calls.objects
        self.pts = calls.pts
        self.found: dict[int, frozenset[int]] = {}
        self.writing: dict[int, frozenset[int]] = {}

    def written(self, frame: int) -> frozenset[int]:
        """Objects that it may change."""
        if frame not in self.writing:
            out: set[int] = set()
            for node in self.nodes(frame):
                if self.graph.entered_again(node) < 0:
                    out |= writes(self.calls, node)
            self.writing[frame] = frozenset(out)
        return self.writing[frame]

    def more(self, frame: int) -> frozenset[int]:
        """Objects with which it may do more than to read and write them."""
        if frame not in self.found:
            out: set[int] = set()
            for node in self.nodes(frame):
                for one in self.of_node(node):
                    out |= one
            self.found[frame] = frozenset(out)
        return self.found[frame]

    def outermost(self) -> Iterator[int]:
        """The copies from which a function may be entered again that is not running yet."""
        inside: set[int] = set()
        for frame in self.graph.frames:  # after the one that called it
            if frame.parent in inside or frame.function in self.graph.cyclic:
                inside.add(frame.number)
                if frame.parent not in inside:
                    yield frame.number

    def nodes(self, frame: int) -> Iterator[Node]:
        frames = self.calls.frames_inside(frame)
        return (node for node in self.graph.nodes if node.frame in frames)

    @cached_property
    def addressed(self) -> frozenset[str]:
        """Variables whose address is taken: what they hold may be found through it."""
        operands = (o for node in self.graph.nodes for o in evaluated(node.action))
        return frozenset(p.key for o in operands for p in parts_of(o) if isinstance(p, ins.AddrVar))

    def holds_openly(self, key: str) -> bool:
        """A variable may be seen by others than the activation whose it is, or is no plain pointer."""
        variable = self.objects.variables[key]
        type_ = variable.type
        return variable.is_global or key in self.addressed or not type_.is_pointer or type_.volatile or type_.atomic

    def of_node(self, node: Node) -> Iterator[frozenset[int]]:
        frame, pts = node.frame, self.pts
        match node.action:
            case ins.Define(target=ins.Var(key=key), value=value) if self.holds_openly(key):
                yield pts.operand(frame, value)
            case ins.Store(value=value) | ins.SwitchOn(value=value):
                yield pts.operand(frame, value)
            case ins.CopyBytes(source=source):
                yield pts.contents(pts.accessed(frame, source))
            case ins.Escape(values=values):
                for value in values:
                    yield pts.reachable(pts.operand(frame, value))
            case Bind(caller=caller, params=params, args=args):
                frame = caller
                for key, value in zip(params, args, strict=True):
                    if self.holds_openly(key):
                        yield pts.operand(caller, value)
            case Unbind(callee=callee, value=value) if value is not None:
                frame = callee
            case Lost(call=call):
                yield from self.lost(node, call)
            case ins.CallInstr() as call if not self.calls.is_followed(node, call):
                yield from self.library(node, call, self.calls.effect(call))
            case _:
                pass
        action = node.action
        given = action.args if isinstance(action, Bind) else evaluated(action)
        if isinstance(action, Unbind):
            given = () if action.value is None else (action.value,)
        for operand in given:
            for part in parts_of(operand):
                if isinstance(part, ins.Op) and part.op not in _COMPARISONS and not _to_pointer(part):
                    for inner in part.args:
                        yield pts.operand(frame, inner)

    def lost(self, node: Node, call: ins.CallInstr) -> Iterator[frozenset[int]]:
        """What comes back from a deeper level has no name here that is followed."""
        again = self.graph.entered_again(node)
        if again < 0:
            yield self.calls.lost(node)
        else:
            params = self.graph.body(again).function.params
            for key, value in zip(params, call.args, strict=False):
                if self.holds_openly(key):
                    yield self.pts.operand(node.frame, value)
        if call.target is not None:
            yield self.pts.operand(node.frame, call.target)

    def library(self, node: Node, call: ins.CallInstr, effect: FunctionEffect | None) -> Iterator[frozenset[int]]:
        """A function that is not known to do nothing but to read and write what its arguments point to."""
        unseen = effect is not None and effect.calls and node.number not in self.graph.followed
        if effect is None or unseen or effect.operation is not None:
            yield self.calls.lost(node)
        given = [self.pts.operand(node.frame, a) for a in call.args]
        mpi = effect.mpi if effect is not None else None
        if (
            effect is None
            or effect.frees is not None
            or effect.allocates is not None
            or effect.retains
            or effect.retains_stored
            or effect.returns_retained
            or (mpi is not None and (mpi.request is not None or mpi.persistent or mpi.completes is not None))
        ):
            for found in given:
                yield self.pts.reachable(found)
        for flow in effect.flows if effect is not None else ():
            if flow.source is not None and flow.source < len(given):
                found = given[flow.source]
                yield self.pts.contents(found) if flow.kind == "copies" else found


def _to_pointer(part: ins.Op) -> bool:
    return part.op == "cast" and part.type.is_pointer
