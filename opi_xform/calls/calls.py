"""Calls that the program graph does not follow: what they are known to do, or what they can reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Protocol

from opi_xform.effects.model import Effects, FunctionEffect
from opi_xform.graph.graph import SUMMARY, Bind, Graph, Lost, Node, evaluated
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.operands import parts_of
from opi_xform.memory.objects import Objects
from opi_xform.memory.queries import PointsTo


class Levels(Protocol):
    """What functions do that run at more levels than the graph has (``deeper.py``)."""

    def written(self, frame: int) -> frozenset[int]: ...

    def more(self, frame: int) -> frozenset[int]: ...

    def outermost(self) -> Iterator[int]: ...

    def holds_openly(self, key: str) -> bool: ...


class Wholes(Protocol):
    """What functions do that are told as a whole (``summarised.py``)."""

    @property
    def anything(self) -> frozenset[int]: ...

    def touched(self, name: str) -> frozenset[int]: ...

    def changed(self, name: str) -> frozenset[int]: ...

    def handled(self, name: str) -> frozenset[int]: ...


class Calls:
    """Answers about the calls of one program graph; ``calls_of`` in ``of_graph.py`` makes it.

    What a call may change is asked of the functions that it runs, and what these change of the calls in them.  So what
    they are asked of is given from outside: levels, wholes.
    """

    def __init__(
        self,
        graph: Graph,
        objects: Objects,
        points_to: PointsTo,
        effects: Effects,
        levels: Callable[[Calls], Levels],
        wholes: Callable[[Calls], Wholes],
    ) -> None:
        self.graph = graph
        self.objects = objects
        self.pts = points_to
        self.effects = effects
        self.levels = levels
        self.wholes = wholes
        self.touched: dict[int, frozenset[int]] = {}  # by frame: what ``inside`` has answered
        self.below: dict[int, frozenset[int]] = {}  # and ``frames_inside``
        self.foreign: Mapping[int, tuple[int, str]] = {}  # what changes behind the program's back (foreign.py)
        self.entered: Mapping[int, frozenset[int]] = {}  # by copy: what is not known when it begins (own.py)

    def effect(self, call: ins.CallInstr) -> FunctionEffect | None:
        """What the tables say of a call; a function of the program's own by that name is no library function."""
        graph = self.graph
        key = called_key(call)
        own = key in graph.lowered or key in graph.background.lowered
        return self.effects.get(key) if key and not own else None

    def is_followed(self, node: Node, call: ins.CallInstr) -> bool:
        """The body of the called function itself comes next."""
        return self.graph.follows(node.number) and self.effect(call) is None

    def lost(self, node: Node) -> frozenset[int]:
        """Everything that a call which is not followed can reach: its arguments, globals, all that escaped.

        A function of the program may use any global; a library's function those of the functions that it may call.
        A function that is entered from inside itself does at each level what it does here.  What was promoted from a
        struct is reached by no other call, or it would have escaped with its struct.
        """
        if isinstance(node.action, Lost) and node.action.reason == SUMMARY:
            return self.summarised.touched(node.action.functions[0])
        call = node.action.call if isinstance(node.action, Lost) else node.action
        assert isinstance(call, ins.CallInstr)
        out: set[int] = set(self.objects.exposed)
        for operand in call.args:
            out |= self.pts.operand(node.frame, operand)
        again = self.graph.entered_again(node)
        if isinstance(node.action, Lost):
            out |= self.objects.named if again < 0 else self.objects.globals
        else:
            out |= self.objects.called_back
        found = self.pts.reachable(frozenset(out))
        return found if again < 0 else found & self.inside(again)

    @cached_property
    def summarised(self) -> Wholes:
        """What functions do that are not copied."""
        return self.wholes(self)

    def changed(self, node: Node) -> frozenset[int]:
        """What a call that is not followed may write."""
        if isinstance(node.action, Lost) and node.action.reason == SUMMARY:
            return self.summarised.changed(node.action.functions[0])
        again = self.graph.entered_again(node)
        return self.lost(node) if again < 0 else self.lost(node) & self.deeper.written(again)

    def handled(self, node: Node) -> frozenset[int]:
        """Messages' buffers that a call which is told as a whole may have to do with."""
        assert isinstance(node.action, Lost)
        return self.summarised.handled(node.action.functions[0])

    @cached_property
    def deeper(self) -> Levels:
        """What deeper levels of functions do."""
        return self.levels(self)

    def inside(self, frame: int) -> frozenset[int]:
        """What a function and all that it calls read, write, or give to others, in one copy: the same at each level.

        Other locals of theirs are others at each level.
        """
        if frame not in self.touched:
            frames = self.frames_inside(frame)
            out: set[int] = set()
            for node in self.graph.nodes:
                if node.frame in frames:
                    out |= self.of_node(node)
            self.touched[frame] = frozenset(out)
        return self.touched[frame]

    def frames_inside(self, frame: int) -> frozenset[int]:
        """The copy and those of all that it calls, also at deeper levels."""
        if frame not in self.below:
            found: set[int] = set()
            work = [frame]
            while work:
                at = work.pop()
                if at not in found:
                    found.add(at)
                    work += self.called.get(at, ())
            self.below[frame] = frozenset(found)
        return self.below[frame]

    @cached_property
    def called(self) -> dict[int, set[int]]:
        """By copy of a function: those that it calls, and those that it enters again."""
        out: dict[int, set[int]] = {}
        for frame in self.graph.frames:
            out.setdefault(frame.parent, set()).add(frame.number)
        for node in self.graph.nodes:
            if (again := self.graph.entered_again(node)) >= 0:
                out.setdefault(node.frame, set()).add(again)
        return out

    @cached_property
    def entered_again(self) -> frozenset[int]:
        """Copies that run at other levels, too: those entered from inside themselves, and those of what they call."""
        found = {again for node in self.graph.nodes if (again := self.graph.entered_again(node)) >= 0}
        return frozenset[int]().union(*(self.frames_inside(frame) for frame in found))

    def of_node(self, node: Node) -> set[int]:
        out: set[int] = set()
        match node.action:
            case ins.Define(target=ins.Var(key=key)) | ins.Birth(var=key):
                out.add(self.objects.variable(node.frame, key))
            case ins.Load(address=address) | ins.Store(address=address):
                out |= self.pts.accessed(node.frame, address)
            case ins.CopyBytes(target=to, source=origin):
                out |= self.pts.accessed(node.frame, to) | self.pts.accessed(node.frame, origin)
            case _:
                pass
        frame, found = node.frame, evaluated(node.action)
        if isinstance(node.action, Bind):
            frame, found = node.action.caller, node.action.args
        for operand in found:
            for part in parts_of(operand):
                if isinstance(part, (ins.Var, ins.AddrVar)):
                    out.add(self.objects.variable(frame, part.key))
            if isinstance(node.action, (ins.CallInstr, ins.Escape, Lost)):
                out |= self.pts.reachable(self.pts.operand(frame, operand))
        if isinstance(node.action, (Lost, ins.Escape)) and self.graph.entered_again(node) < 0:
            out |= self.pts.reachable(frozenset(self.objects.exposed | self.objects.globals))
        elif isinstance(node.action, ins.CallInstr) and not self.is_followed(node, node.action):
            effect = self.effect(node.action)
            if effect is None or calls_back(effect, node.action):
                out |= self.pts.reachable(frozenset(self.objects.exposed | self.objects.called_back))
            if effect is not None and effect.allocates is not None:
                out.add(self.objects.heap(node.number))
        return out


def region_args(arg: int, rest: bool, call: ins.CallInstr) -> range:
    """The arguments that a region concerns: one, or (variadic functions) all from it on."""
    return range(arg, len(call.args)) if rest else range(arg, min(arg + 1, len(call.args)))


def calls_back(effect: FunctionEffect, call: ins.CallInstr) -> bool:
    """The library's function may call a function that it is given here: not SIG_IGN, nor a null function."""
    return any(
        callback.arg >= len(call.args) or not isinstance(call.args[callback.arg], ins.Const)
        for callback in effect.calls
    )


def handed_over(effect: FunctionEffect, call: ins.CallInstr) -> tuple[int, ...]:
    """Arguments that a function of the program is called with: buffers of a reduction by an operation it made.

    The MPI's own operations are constants that have names.
    """
    at = effect.operation
    if at is None or at >= len(call.args):
        return ()
    operation = call.args[at]
    if isinstance(operation, ins.Const) and operation.name:
        return ()
    return tuple(sorted({r.arg for r in (*effect.reads, *effect.all_writes)}))


def is_message(effect: FunctionEffect, index: int) -> bool:
    """The argument is the buffer of a message, not an array of requests, statuses or numbers."""
    op = effect.mpi
    return op is None or any(b is not None and b.buf == index for b in (op.send, op.recv))


def written_through(effect: FunctionEffect, call: ins.CallInstr) -> list[int]:
    """Arguments through which a call writes, or may put MPI_PROC_NULL."""
    seen: set[int] = set()
    for region in effect.all_writes:
        seen.update(region_args(region.arg, region.rest, call))
    seen.update(flow.target for flow in effect.flows if flow.target < len(call.args))
    return sorted(seen | {i for i in effect.may_yield_proc_null if i < len(call.args)})


def unknown(call: ins.CallInstr) -> str:
    """What is called where nothing is known of it, by its name without the file of a static function."""
    name = call.callee.key.rpartition(":")[2] if isinstance(call.callee, ins.AddrFunc) else "a function pointer"
    return f"unknown function {name}"
