"""One node after the other: what it does to the environment, and the accesses to memory it makes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from opi_xform.calls.calls import Calls, calls_back, is_message, region_args, unknown
from opi_xform.effects.formats import WITH_ADDRESSES, as_addresses, scanned
from opi_xform.effects.model import FunctionEffect
from opi_xform.graph.graph import RECURSION, SUMMARY, Bind, Lost, Node, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.fixed import bound
from opi_xform.ir.types import Type
from opi_xform.memory.extent import ADDRESSES, SUMS, told
from opi_xform.memory.poly import Poly, number
from opi_xform.memory.values import Values
from opi_xform.record import dataclass
from opi_xform.values.arithmetic.came import COUNTS, most_come
from opi_xform.values.arithmetic.floating import CALLED, EXACT, is_floating, rounding_may_change
from opi_xform.values.touches import Touches
from opi_xform.values.unset.partly_set import NOBODY


@dataclass(frozen=True, slots=True)
class Filled:
    """Where a number stands that says how many bytes of a buffer there are already, and what it is."""

    object: int
    offset: int
    type: Type
    bytes: Poly


class Steps(Touches):
    """Executes nodes abstractly, recording in ``Values``."""

    def __init__(
        self, variables: Mapping[str, ast.Variable], calls: Calls, values: Values, families: Mapping[int, int]
    ) -> None:
        super().__init__(variables, calls, values, families)
        self.temps: dict[int, set[int]] = {}  # by frame: those that got a value
        self.gone: frozenset[int] = frozenset()  # what happens to them from some node on is not known
        self.parameters: dict[int, tuple[int, ...]] = {}  # by copy that begins anew at each level: their symbols

    def set_temp(self, frame: int, number_: int, value: Poly, type_: Type | None) -> None:
        if type_ is not None:
            self.widths.temps[frame, number_] = type_
        self.temps.setdefault(frame, set()).add(number_)
        self.out.put(("t", frame, number_), value)

    def step(self, node: Node) -> None:
        frame = node.frame
        match node.action:
            case ins.Define(target=target, value=operand, type=type_):
                value = self.value(node, frame, operand)
                self.values.operands[node.number] = (value,)
                self.element(node, frame, operand, value)
                known = isinstance(target, ins.Temp) and type_.kind == "float" and is_floating(self.symbols, value)
                value = value if known else self.converted(node, type_, value, self.widths.of(frame, operand))
                if isinstance(target, ins.Temp):
                    self.set_temp(frame, target.number, value, type_)
                    self.widths.define(frame, target.number, operand, type_)
                else:
                    self.set_cell(self.objects.variable(frame, target.key), 0, value, node)
            case ins.Load(target=target, address=operand, type=type_):
                address = self.followed(node, self.value(node, frame, operand))
                self.values.operands[node.number] = (address,)
                size = number(type_.size) if type_.size else None
                targets = self.touch(node, address, operand, frame, "R", size, False)
                base, offset = self.symbols.base(address), self.symbols.offset(address).constant
                if base is not None and offset is None:
                    self.array(node, frame, operand)
                member = self.member(base, address) if type_.is_pointer else None
                if member is not None:
                    value = member
                elif type_.volatile or type_.atomic or not type_.size:  # no size: a bit field
                    value = self.opaque(node, "volatile")
                elif base is not None and offset is not None:
                    value = self.read_cell(node, base, offset, type_)
                elif not self.objects.foreign.isdisjoint(targets):
                    value = self.others(node, address, nonneg=type_.kind == "int" and not type_.signed)
                else:
                    value = self.loaded(node, address, targets, type_)
                self.set_temp(frame, target.number, value, type_)
            case ins.Store(address=operand, value=source, type=type_):
                address = self.followed(node, self.value(node, frame, operand))
                value = self.value(node, frame, source)
                stored = self.widths.cut(type_, value)
                self.values.operands[node.number] = (address, stored)
                size = number(type_.size) if type_.size else None
                targets = self.touch(node, address, operand, frame, "W", size, size is not None)
                base, offset = self.symbols.base(address), self.symbols.offset(address).constant
                if base is not None and offset is None:
                    self.array(node, frame, operand)
                stretch = self.values.arrays.get(node.number)
                if base is not None and offset is not None and type_.size:
                    self.overwritten(base, offset, type_.size, node, type_)
                elif base is not None and stretch is not None and type_.size:
                    self.overwritten(base, *stretch, node, type_)
                else:
                    self.havoc(targets, node, type_)
                if base is not None and offset is not None and type_.size and not type_.volatile:
                    value = self.converted(node, type_, value, self.widths.of(frame, source))
                    self.set_cell(base, offset, value, node, type_)
            case ins.CopyBytes(target=destination, source=source, size=length):
                to, origin = self.value(node, frame, destination), self.value(node, frame, source)
                self.values.operands[node.number] = (to, origin)
                size = number(length) if length else None
                self.touch(node, origin, source, frame, "R", size, False)
                self.havoc(self.touch(node, to, destination, frame, "W", size, size is not None), node)
                self.copied(node, origin, to, length)
            case ins.Birth(var=key, length=length):
                o = self.objects.variable(frame, key)
                self.havoc(frozenset({o}), node)
                if length is not None:
                    self.values.lengths[node.number] = self.widths.believed(self.value(node, frame, length))
                if self.variables[key].type.is_scalar and o not in self.objects.foreign:
                    value = self.opaque(node, NOBODY)
                    if self.variables[key].type.is_pointer and value.single is not None:
                        self.values.unset.add(value.single)
                    self.out.put((o, 0), value)
            case ins.Branch(cond=cond):
                comparison = self.comparison(node, frame, cond)
                if comparison is not None:
                    self.values.conditions[node.number] = comparison
            case ins.SwitchOn(value=operand):
                self.exactly = True
                self.values.switches[node.number] = self.value(node, frame, operand)
                self.exactly = False
            case ins.ReturnInstr():
                pass
            case ins.Escape(values=operands, reason=reason, brief=brief):
                polys = tuple(self.value(node, frame, v) for v in operands)
                self.values.operands[node.number] = polys
                for value, operand in zip(polys, operands, strict=True):
                    base = self.symbols.base(value)
                    direct = frozenset({base}) if base is not None else self.pts.operand(frame, operand)
                    if not (brief and reason.endswith(WITH_ADDRESSES)):
                        self.escape(self.pts.reachable(direct), node, reason)
                        continue
                    for o in self.pts.reachable(direct):  # text of addresses, of nothing that is there
                        self.values.escape(o, node.number, reason)
            case Bind(caller=caller, params=params, args=args):
                values = [self.value(node, caller, a) for a in args]
                self.values.operands[node.number] = tuple(values)
                for argument, value in zip(args, values, strict=True):
                    self.element(node, caller, argument, value)
                anew = self.calls.entered.get(frame)
                if anew is not None:
                    self.havoc(anew, node)
                    values = self.of_each_level(node, params)
                for key, value, argument in zip(params, values, args, strict=True):
                    o = self.objects.variable(frame, key)
                    self.havoc(frozenset({o}), node)
                    type_ = self.variables[key].type
                    if type_.is_scalar:
                        given = self.widths.of(caller, argument)
                        self.set_cell(o, 0, self.converted(node, type_, value, given), node)
                    elif type_.kind == "record":
                        self.copied(node, value, self.address(o), type_.size)
            case Unbind(callee=callee, target=target, value=returned):
                kind, there = self.calls.graph.returned(callee), None
                if target is not None:
                    value = self.returned(node, callee, returned, kind)
                    self.set_temp(frame, target.number, value, kind)
                    if self.calls.graph.frames[callee].function not in self.calls.graph.cyclic:  # a level has its own
                        there = self.symbols.base(value)  # a struct, of which a copy is made next
                self.forget(callee, there)
            case Lost(call=call, reason=reason):
                self.lose(node, call, reason)
            case ins.CallInstr() as call:
                self.call(node, call)
            case _:
                raise AssertionError(node.action)

    def of_each_level(self, node: Node, params: tuple[str, ...]) -> list[Poly]:
        """What parameters hold in any activation of a copy, not only in the first."""
        values = [self.opaque(node, ("parameter", i)) for i, _ in enumerate(params)]
        self.parameters[node.frame] = tuple(s for value in values if (s := value.single) is not None)
        return values

    def forget(self, frame: int, but: int | None) -> None:
        """A copy was left: its temporaries and locals are gone, but for the struct that it returns."""
        for n in self.temps.get(frame, ()):
            self.out.drop(("t", frame, n))
        for o in sorted(o for o in self.objects.locals_of(frame) if o != but):
            self.out.drop(("v", o))
            self.out.drop((o, 0))
            for offset in self.offsets.get(o, ()):
                self.out.drop((o, offset))

    def escape(self, objects: frozenset[int], node: Node, reason: str) -> None:
        for o in sorted(objects - self.gone):
            self.values.escape(o, node.number, reason)
        self.gone |= objects  # what is outside is one large set, and comes again and again
        self.anywhere(node, objects, "R", reason)
        self.anywhere(node, objects, "W", reason)
        self.havoc(objects, node)

    def lose(self, node: Node, call: ins.CallInstr, reason: str) -> None:
        values = tuple(self.value(node, node.frame, a) for a in call.args)
        self.values.args[node.number] = values
        self.by_value(node, call, values)
        if reason == SUMMARY:
            self.summary(node, call)
            return
        direct: set[int] = set()
        for v in values:
            base = self.symbols.base(v)
            if base is not None:
                direct.add(base)
        found = self.calls.lost(node) | self.pts.reachable(frozenset(direct))
        again = self.calls.graph.entered_again(node)
        if again >= 0:
            found = self.again(node, found, again)
        self.escape(found, node, reason)
        if call.target is not None:
            self.set_temp(node.frame, call.target.number, self.opaque(node, "result"), call.call.type)

    def again(self, node: Node, found: frozenset[int], frame: int) -> frozenset[int]:
        """A function is entered from inside itself: what it only reads and writes there.  The rest is returned."""
        more = self.calls.deeper.more(frame)
        plain = self.values.plain[node.number] = found - more
        changed = plain & self.calls.changed(node)
        for o in sorted(plain):
            self.values.escaped.setdefault(o, (node.number, RECURSION))
        self.anywhere(node, plain, "R", RECURSION)
        self.anywhere(node, changed, "W", RECURSION)
        self.havoc(changed, node)
        return found & more

    def summary(self, node: Node, call: ins.CallInstr) -> None:
        """A call that is told as a whole: what it writes counts as known to others, what it reads does not.

        A message's buffer that it may have to do with is given away there.
        """
        changed = self.calls.changed(node)
        self.anywhere(node, self.calls.lost(node) - changed, "R", SUMMARY)
        self.escape(changed, node, SUMMARY)
        for o in sorted(self.calls.handled(node)):
            self.values.escape(o, node.number, SUMMARY)
        if call.target is not None:
            self.set_temp(node.frame, call.target.number, self.opaque(node, "result"), call.call.type)

    def call(self, node: Node, call: ins.CallInstr) -> None:
        given = tuple(self.value(node, node.frame, a) for a in call.args)
        if call.target is not None and call.call.type.kind == "float":
            self.widths.temps[node.frame, call.target.number] = call.call.type
        if self.calls.is_followed(node, call):
            self.values.args[node.number] = given
            self.by_value(node, call, given)
            return
        effect = self.calls.effect(call)
        values = self.values.args[node.number] = self.widths.given(node.frame, call, effect, given)
        result = self.opaque(node, "result", call.call.type.kind == "int" and not call.call.type.signed)
        if effect is None:
            self.lose(node, call, unknown(call))
            return
        if calls_back(effect, call) and node.number not in self.calls.graph.followed:
            self.escape(self.calls.lost(node), node, f"used by a function that {effect.name} is given")
        self.library(node, call, effect, values)
        if effect.allocates is not None and effect.allocates.into is None:
            heap = self.objects.heap(node.number)
            self.havoc(frozenset({heap}), node)
            if not effect.returns:
                result = self.address(heap)
        elif effect.returns == 1 and effect.returns_arg is not None and effect.returns_arg < len(values):
            result = result if effect.returns_inside else values[effect.returns_arg]
        elif effect.name in SUMS and len(values) == 2:
            of = self.widths.each(node.frame, call.args, given)
            result = self.widths.apart(of[0] + of[1].scaled(SUMS[effect.name]))
        elif self.is_determined(call, effect) and not any(self.symbols.base(v) is not None for v in values):
            of = self.widths.each(node.frame, call.args, given)
            scope = frozenset[int]().union(*(self.symbols.scope(v) for v in of))
            kind = "call" if call.call.type.kind == "int" else CALLED
            result = self.symbols.of("op", (kind, effect.name, of), scope)
        self.values.results[node.number] = result
        if call.target is not None:
            self.set_temp(node.frame, call.target.number, result, call.call.type)

    def is_determined(self, call: ins.CallInstr, effect: FunctionEffect) -> bool:
        """Of equal numbers, the function makes equal numbers."""
        kind, name = call.call.type.kind, effect.name.removeprefix("__builtin_")
        exact = kind == "float" and name in EXACT and not self.rounding_may_change
        return effect.pure and (kind == "int" or exact)

    @cached_property
    def rounding_may_change(self) -> bool:
        return rounding_may_change(self.calls.graph)

    def library(self, node: Node, call: ins.CallInstr, effect: FunctionEffect, values: tuple[Poly, ...]) -> None:
        frame = node.frame
        made = self.datatype(node, call, effect, values)
        filled = self.filled(node, call, effect, values)
        scans, printed = scanned(call, effect, self.variables), as_addresses(call, effect, self.variables)
        for kind, regions, must in (
            ("R", effect.reads, False),
            ("W", effect.overwrites, True),
            ("W", effect.writes, False),
        ):
            for region in regions:
                for i in region_args(region.arg, region.rest, call):
                    if not call.call.args[i].type.is_pointer and not call.call.args[i].type.is_array:
                        continue
                    if kind == "R" and i in printed:
                        continue
                    if region.in_place is not None and self.own_memory(call, values, region.in_place):
                        continue
                    length = self.length(region, i, values, call)
                    if kind == "W" and i in scans:
                        length = number(scans[i])
                    self.given_part(node, values[i], call.args[i], effect, length, i)
                    targets = self.touch(node, values[i], call.args[i], frame, kind, length, must, effect.name)
                    if region.indirect:
                        targets = self.pts.reachable(targets)
                        self.anywhere(node, targets, kind, effect.name)
                    if kind == "W":
                        stretch = self.stretch(node, call, i, values[i], length, effect)
                        if stretch is not None and not region.indirect:
                            self.overwritten(*stretch, node)
                        else:
                            self.havoc(targets, node)
                        self.output(node, values, call, effect, i)
        if effect.appends is not None and filled is not None:
            self.appended(node, call, values, effect.appends[0], filled)
        self.records(node, call, effect, values)
        handle = self.handle(effect, values) if made is not None else None
        if made is not None and handle is not None and handle.single is not None:
            self.values.extents[handle.single] = made
        for i in effect.retains:
            if i < len(call.args) and (effect.mpi is None or effect.mpi.request is None):
                given = self.pts.reachable(self.pts.operand(frame, call.args[i]))
                self.escape(given, node, f"address kept by {effect.name}")
        for i in effect.retains_stored if node.number not in self.objects.relative else ():
            if i < len(call.args):
                given = self.pts.operand(frame, call.args[i])
                self.escape(self.pts.reachable(given) - given, node, f"address kept by {effect.name}")
        for flow in effect.flows:
            if flow.target < len(call.args) and effect.name not in ADDRESSES:  # where it is, is known
                self.havoc(self.pts.accessed(frame, call.args[flow.target]), node)
        spec = effect.allocates
        if spec is not None and spec.into is not None and spec.into < len(call.args):
            base, offset = self.symbols.base(values[spec.into]), self.symbols.offset(values[spec.into]).constant
            self.havoc(self.pts.accessed(frame, call.args[spec.into]), node)
            if base is not None and offset is not None and effect.frees is None:  # else perhaps what was there before
                self.set_cell(base, offset, self.address(self.objects.heap(node.number)), node)

    def filled(
        self, node: Node, call: ins.CallInstr, effect: FunctionEffect, values: tuple[Poly, ...]
    ) -> Filled | None:
        """How far a buffer is filled to which a call appends; None: not known."""
        if effect.appends is None or effect.appends[1] >= len(values):
            return None
        i = effect.appends[1]
        type_ = call.call.args[i].type.elem
        base, offset = self.symbols.base(values[i]), self.symbols.offset(values[i]).constant
        if type_ is None or type_.kind != "int" or base is None or offset is None:
            return None
        return Filled(base, offset, type_, self.read_cell(node, base, offset, type_))

    def appended(self, node: Node, call: ins.CallInstr, values: tuple[Poly, ...], to: int, filled: Filled) -> None:
        """The bytes that a call appends to what argument ``to`` points to; the next ones go after them."""
        bytes_ = self.opaque(node, ("appended", to), nonneg=True)
        self.touch(node, values[to] + filled.bytes, call.args[to], node.frame, "W", bytes_, True)
        self.set_cell(filled.object, filled.offset, filled.bytes + bytes_, node, filled.type)

    def own_memory(self, call: ins.CallInstr, values: tuple[Poly, ...], i: int) -> bool:
        """An argument is an address in an object of the program's: it is not MPI_IN_PLACE.

        Not so of a pointer that changes in a loop: it counts as an address there, if it is one at all.
        """
        operand = call.args[i]
        while isinstance(operand, ins.PtrAdd):
            operand = operand.base
        known = isinstance(operand, ins.AddrVar) or self.symbols.offset(values[i]).constant is not None
        return known and self.symbols.base(values[i]) is not None

    def records(self, node: Node, call: ins.CallInstr, effect: FunctionEffect, values: tuple[Poly, ...]) -> None:
        """Structs given by value: their bytes are read, addresses in them escape."""
        for targets in self.by_value(node, call, values, effect.name):
            held = self.pts.reachable(targets) - targets
            if held:
                self.escape(held, node, f"in a struct that {effect.name} is given")

    def by_value(
        self, node: Node, call: ins.CallInstr, values: tuple[Poly, ...], why: str = ""
    ) -> list[frozenset[int]]:
        """Structs that a call is given, which their places stand for: whoever is called, all their bytes are read."""
        out: list[frozenset[int]] = []
        for written, operand, value in zip(call.call.args, call.args, values, strict=True):
            if written.type.kind == "record":
                size = None if written.type.size is None else number(written.type.size)
                out.append(self.touch(node, value, operand, node.frame, "R", size, False, why))
        return out

    def given_part(
        self, node: Node, address: Poly, operand: ins.Operand, effect: FunctionEffect, length: Poly | None, index: int
    ) -> None:
        """Notes the array that ``&a[i]``, given to MPI, is in."""
        address = self.symbols.not_null(address)
        base = self.symbols.base(address)
        if base is None or effect.mpi is None or self.symbols.offset(address).constant is not None:
            return
        found = None
        if not is_message(effect, index) or _one_element(operand, length):
            found = self.around(node, node.frame, operand)
        key = (node.number, base)
        if found is None or self.values.parts.get(key, found) != found:
            found = (0, -1)
        self.values.parts[key] = found

    def stretch(
        self,
        node: Node,
        call: ins.CallInstr,
        index: int,
        address: Poly,
        length: Poly | None,
        effect: FunctionEffect,
    ) -> tuple[int, int, int] | None:
        """The object, and the bytes of it that a call writes: a known number, or an array of requests and the like.

        A message of unknown length may go on after the array in which it begins.
        """
        operand, written, message = call.args[index], call.call.args[index], is_message(effect, index)
        address = self.symbols.not_null(address)
        base, lo = self.symbols.base(address), self.symbols.offset(address).constant
        if length is None:  # of a datatype that the program makes: it may reach in front and behind
            return None
        size = length.constant
        if size is None and effect.mpi is not None and not message and written.type.is_array:
            size = bound(written) or None
        if base is not None and lo is None and effect.mpi is not None:
            found = self.around(node, node.frame, operand) if not message or _one_element(operand, length) else None
            return None if found is None else (base, *found)
        return None if base is None or lo is None or size is None else (base, lo, size)

    def output(
        self, node: Node, values: tuple[Poly, ...], call: ins.CallInstr, effect: FunctionEffect, index: int
    ) -> None:
        """Scalars that a library call writes: fresh values, shared by later readers (and by repeated queries).

        Of an array those are known that it writes on every return, else the first.
        """
        address = values[index]
        base, offset = self.symbols.base(address), self.symbols.offset(address).constant
        type_ = call.call.args[index].type
        if base is None or offset is None or type_.elem is None or type_.elem.kind not in ("int", "pointer"):
            return
        nonneg = (type_.elem.kind == "int" and not type_.elem.signed) or index in effect.nonnegative
        inputs = tuple(v for v in values if self.symbols.base(v) is None)
        repeats = effect.repeatable and len(inputs) == len(values) - 1
        scope = frozenset[int]().union(*(self.symbols.scope(v) for v in inputs))
        if effect.name in ADDRESSES:
            self.set_cell(base, offset, self.place(node, values[0]), node, type_.elem)
            return
        known = told(self.values, effect.name, index, call.args, values)
        if known is not None:
            self.set_cell(base, offset, known, node, type_.elem)
            return
        size, bytes_ = type_.elem.size or 1, 0
        for region in effect.overwrites:
            if region.arg == index and not region.indirect and region.in_place is None:
                written = self.length(region, index, values, call)
                bytes_ = (written.constant or 0) if written is not None else 0
        for k in range(max(1, min(bytes_ // size, MOST_OUTPUTS))):
            which = (k,) if k else ()
            if repeats:
                value = self.symbols.of("op", ("output", effect.name, index, inputs, *which), scope, nonneg)
            else:
                value = self.opaque(node, ("output", index, *which), nonneg)
            self.set_cell(base, offset + k * size, value, node, type_.elem)
            if effect.name == COUNTS and value.single is not None:
                self.bounded(value.single, call, values)

    def bounded(self, count: int, call: ins.CallInstr, values: tuple[Poly, ...]) -> None:
        """Of a message there is no more than the receive has room for that changed its status last."""
        status = self.symbols.base(values[0])
        version = None if status is None else self.version(status).single
        if version is not None and self.symbols.table[version].scope <= self.scope:
            most = most_come(self.values, self.calls, version, (call, values))
            if most is not None:
                self.symbols.most[count] = most


MOST_OUTPUTS = 8  # elements of an array that a call writes, each with a value of its own


def _one_element(operand: ins.Operand, length: Poly | None) -> bool:
    """No more is touched than the element that a subscript picks (``&a[i][0]``: the whole of ``a[i]``)."""
    size = None if length is None else length.constant
    while isinstance(operand, ins.PtrAdd) and isinstance(operand.index, ins.Const) and operand.index.value == 0:
        if size is None or size <= operand.scale or not isinstance(operand.base, ins.PtrAdd):
            break
        operand = operand.base
    return size is not None and isinstance(operand, ins.PtrAdd) and size <= operand.scale
