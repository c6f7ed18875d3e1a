"""What each function of a program reads, writes and can hold the address of, its calls aside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from opi_xform.calls.calls import region_args
from opi_xform.effects.model import Effects, FunctionEffect
from opi_xform.graph.flat import Flat
from opi_xform.graph.graph import Action, evaluated, wants
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import temps_in
from opi_xform.ir.types import Type
from opi_xform.memory.objects import UNKNOWN
from opi_xform.pointsto.constraints import GraphPointsTo

_MPI = ("MPI_", "PMPI_", "OPI_")
PLAIN = frozenset(
    {"MPI_Wtime", "MPI_Wtick", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Initialized", "MPI_Finalized", "MPI_Barrier"}
)
"""Calls of MPI that keep nothing, send no data, and change nothing but what they are given."""


@dataclass(slots=True)
class Facts:
    """What one function does itself, to objects of a ``Flat`` program's points-to.

    touched: what it names, and what its pointers may point to.  given: what it passes to MPI, or to code that may keep
    it.  held: what it passes to MPI for more than a plain collective call, requests among it.  loud: it has to be seen
    whatever it touches.  speaks: so it has, but only for calls of MPI that leave everything in the caller's hands.
    opaque: it does more than its instructions and the tables tell: calls of MPI with messages, unknown code, escapes.
    wanted: functions that it calls and whose results it uses as integers or pointers, or that never return.
    """

    touched: set[int] = field(default_factory=set)
    typed: set[int] = field(default_factory=set)  # read as integers or pointers
    copied: set[int] = field(default_factory=set)  # read as bytes
    written: set[int] = field(default_factory=set)
    moved: set[int] = field(default_factory=set)  # written with anything but floating numbers
    given: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)
    loud: bool = False
    speaks: bool = False
    opaque: bool = False
    callees: dict[str, None] = field(default_factory=dict)
    wanted: dict[str, None] = field(default_factory=dict)


class Reach:
    """Makes the facts of each function, points-to being known."""

    def __init__(
        self, flat: Flat, points_to: GraphPointsTo, variables: Mapping[str, ast.Variable], effects: Effects
    ) -> None:
        self.flat = flat
        self.pts = points_to
        self.variables = variables
        self.effects = effects
        self.mine: set[int] = set()  # locals of the function at hand
        self.touched: dict[int, frozenset[int]] = {}  # sets that it touches, noted already
        self.heap = {id(node.action): node.number for node in flat.nodes if isinstance(node.action, ins.CallInstr)}

    def facts(self, frame: int) -> Facts:
        """What a function does: one pass over its instructions."""
        body = self.flat.bodies[frame]
        self.mine = self.pts.objects.locals_of(frame)
        self.touched.clear()
        out = Facts(loud=bool(body.refused), opaque=bool(body.refused))
        actions = self.flat.own[frame]
        loads = any(isinstance(action, ins.Load) and action.type.kind == "float" for action in actions)
        exact = _exactly_used(actions) if loads else set()
        calls = any(isinstance(action, ins.CallInstr) and self.flat.targets(action) for action in actions)
        used = {n for action in actions for n in _temps(action)} if calls else set()
        for action in actions:
            match action:
                case ins.Define(target=target, value=value, type=type_):
                    self.evaluated(out, frame, value, type_.kind == "float")
                    if isinstance(target, ins.Var):
                        self.writes(out, {self.pts.objects.variable(frame, target.key)}, type_)
                case ins.Load(target=loaded, address=address, type=type_):
                    self.evaluated(out, frame, address)
                    targets = self.pts.operand(frame, address)
                    # a new value at each read; or nobody knows what is read
                    out.opaque |= type_.volatile or type_.atomic
                    out.loud |= type_.volatile or type_.atomic or self.anywhere(frame, address)
                    self.touches(out, targets, self.contents(targets, type_))
                    if type_.kind != "float" or loaded.number in exact:
                        out.typed |= targets
                case ins.Store(address=address, value=value, type=type_):
                    self.evaluated(out, frame, address)
                    self.evaluated(out, frame, value, type_.kind == "float")
                    targets = self.pts.operand(frame, address)
                    self.writes(out, targets, type_)
                    out.loud |= UNKNOWN in targets or self.anywhere(frame, address)
                case ins.CopyBytes(target=to, source=origin):
                    self.evaluated(out, frame, to)
                    self.evaluated(out, frame, origin)
                    targets, sources = self.pts.operand(frame, to), self.pts.operand(frame, origin)
                    self.touches(out, self.contents(sources))
                    out.copied |= sources
                    self.writes(out, targets)
                    out.loud |= UNKNOWN in targets or self.anywhere(frame, to) or self.anywhere(frame, origin)
                case ins.Branch(cond=value) | ins.SwitchOn(value=value):
                    self.evaluated(out, frame, value)
                case ins.ReturnInstr(value=returned):
                    if returned is not None:
                        self.evaluated(out, frame, returned)
                case ins.Birth(var=key):
                    out.touched.add(self.pts.objects.variable(frame, key))
                case ins.CallInstr():
                    self.call(out, frame, action, used)
                case ins.Escape(values=values, printed=True):
                    for operand in values:
                        self.evaluated(out, frame, operand)
                        out.copied |= self.pts.reachable(self.pts.operand(frame, operand))
                        self.touches(out, self.pts.reachable(self.pts.operand(frame, operand)))
                case _:  # an escape, a call that is not followed
                    out.loud = out.opaque = True
                    for operand in evaluated(action):
                        self.evaluated(out, frame, operand)
                        out.given |= self.pts.operand(frame, operand)
        for key in body.function.params:
            out.touched.add(self.pts.objects.variable(frame, key))
        return out

    def anywhere(self, frame: int, address: ins.Operand) -> bool:
        """Nothing is known of an address, not even that it is none."""
        return not self.pts.operand(frame, address) and bool(self.pts.accessed(frame, address))

    def contents(self, objects: Iterable[int], type_: Type | None = None) -> frozenset[int]:
        """What pointers stored in these objects may point to."""
        if type_ is not None and type_.kind in ("float", "int") and (type_.kind == "float" or (type_.size or 8) < 8):
            return frozenset()
        return self.pts.contents(objects)

    def evaluated(self, out: Facts, frame: int, operand: ins.Operand, floating: bool = False) -> None:
        """An operand's variables are read; ``floating``: its value goes where only a floating number can."""
        sets = self.pts.sets
        work = [(operand, floating)]
        while work:
            item, inexact = work.pop()
            if isinstance(item, ins.Const):
                continue
            if isinstance(item, ins.Temp):
                held = sets.get(("t", frame, item.number))
                if held:
                    self.touches(out, held)
            elif isinstance(item, ins.Var):
                number = self.pts.objects.variable(frame, item.key)
                out.touched.add(number)
                held = sets.get(("c", number))
                if held:
                    self.touches(out, held)
                if not inexact or self.variables[item.key].type.kind != "float":
                    out.typed.add(number)
            elif isinstance(item, ins.AddrVar):
                out.touched.add(self.pts.objects.variable(frame, item.key))
            elif isinstance(item, ins.PtrAdd):
                work += ((item.base, False), (item.index, False))
            elif isinstance(item, ins.Op):
                floating = inexact and item.type.kind == "float"
                work += ((a, floating) for a in item.args)
            elif isinstance(item, ins.Nondet):
                unknown = not item.reason.startswith("floating")  # perhaps an address
                out.loud |= unknown
                out.opaque |= unknown
            elif isinstance(item, ins.AddrHeap):
                out.loud = out.opaque = True

    def touches(self, out: Facts, *sets: frozenset[int]) -> None:
        """Large sets are few and come again and again (``GraphPointsTo.finish``)."""
        for one in sets:
            if id(one) not in self.touched:
                self.touched[id(one)] = one
                out.touched |= one

    def writes(self, out: Facts, objects: Set[int], type_: Type | None = None) -> None:
        """Writes of a function to its own locals are not noted: whoever sees them sees the function."""
        out.touched |= objects
        objects = objects - self.mine
        out.written |= objects
        if type_ is None or type_.kind != "float":
            out.moved |= objects

    # --- calls -----------------------------------------------------------------------------------------------------

    def call(self, out: Facts, frame: int, call: ins.CallInstr, used: set[int]) -> None:
        names = self.flat.targets(call)
        for i, operand in enumerate(call.args):
            plain = bool(names) and call.call.args[i].type.kind == "float"
            self.evaluated(out, frame, operand, plain)
            if call.call.args[i].type.kind == "record":  # passed by value: copied
                source = self.pts.operand(frame, operand)
                out.copied |= source
                self.touches(out, self.contents(source))
        if not isinstance(call.callee, ins.AddrFunc):
            out.loud = True
            self.evaluated(out, frame, call.callee)
        if names:
            for name in names:
                out.callees[name] = None
                if wants(call, used) or name in self.flat.ending:
                    out.wanted[name] = None
            return
        assert isinstance(call.callee, ins.AddrFunc)
        name = call.callee.key
        effect = self.effects.get(name)
        mpi = effect is None or effect.mpi is not None or name.startswith(_MPI)
        if effect is None or effect.calls or effect.retains or effect.retains_stored or (mpi and not effect.noreturn):
            plain = effect is not None and name in PLAIN
            out.speaks = True
            out.loud |= not plain
            out.opaque |= not plain
            for operand in call.args:
                found = self.pts.operand(frame, operand)
                out.given |= found
                if not plain:
                    out.held |= found
        if effect is not None:
            for i in effect.retains_stored:
                if i < len(call.args):
                    out.given |= self.pts.contents(self.pts.operand(frame, call.args[i]))
            self.library(out, frame, call, effect)

    def library(self, out: Facts, frame: int, call: ins.CallInstr, effect: FunctionEffect) -> None:
        for regions, reads in ((effect.reads, True), (effect.all_writes, False)):
            for region in regions:
                for i in region_args(region.arg, region.rest, call):
                    targets = self.pts.operand(frame, call.args[i])
                    out.loud |= call.call.args[i].type.is_pointer and self.anywhere(frame, call.args[i])
                    if region.indirect:
                        targets = self.pts.reachable(targets)
                    elem = call.call.args[i].type.elem
                    if elem is not None and elem.kind == "record":
                        targets -= {UNKNOWN}  # a FILE and its like: only the library looks into it
                    out.touched |= targets
                    if reads:
                        out.copied |= targets
                    else:
                        self.writes(out, targets)
        held: set[int] = set()
        for operand in call.args:
            held |= self.pts.operand(frame, operand)
        if effect.frees is not None:
            self.writes(out, held)
        if effect.allocates is not None:
            out.touched.add(self.pts.objects.heap(self.heap[id(call)]))
            if effect.allocates.into is not None:
                self.writes(out, held)
            if effect.allocates.copies_from is not None:
                out.copied |= held
                out.touched |= self.contents(held)
        for flow in effect.flows:
            out.touched |= self.contents(held)
            self.writes(out, held)
            if flow.source is None and self.flat.names[frame] not in self.flat.printing:  # its list is printed only
                out.loud = True


def _temps(action: Action, exactly: bool = False) -> Iterable[int]:
    """Temporaries in an action's operands; ``exactly``: those whose value may count as more than a floating number."""
    floating = exactly and isinstance(action, (ins.Define, ins.Store)) and action.type.kind == "float"
    values = evaluated(action)
    if floating and isinstance(action, ins.Store):
        yield from temps_in(action.address, False)
        values = (action.value,)
    for operand in values:
        yield from temps_in(operand, floating)


def _exactly_used(actions: Sequence[Action]) -> set[int]:
    """Temporaries used other than to make floating numbers of them."""
    return {n for action in actions for n in _temps(action, True)}
