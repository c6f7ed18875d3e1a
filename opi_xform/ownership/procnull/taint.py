"""Where values from which MPI_PROC_NULL may come flow in a program, without regard to order.

They come from the name and its number, from topology queries, and from all that is not the program's own: files, texts,
the command line, unknown functions, volatile variables, other programs.  They stay what they are through assignments,
arithmetic, bytes that are copied, calls, and messages: what a message may have taken along a receive may bring
(``carried``).  What a comparison gives is none, nor is an address.  A place of memory is a stretch of an object at a
constant place, or else the whole object; what it holds is told by kind of number (``kinds``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opi_xform.calls.calls import written_through
from opi_xform.effects.model import FunctionEffect, MpiOp
from opi_xform.graph.graph import MAIN, Bind, Lost, Node, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.memory.accesses import Access, Spread
from opi_xform.memory.objects import UNKNOWN
from opi_xform.memory.poly import Poly
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.stretches import exactly
from opi_xform.ownership.procnull.carried import ANY, LENGTH, Channel, channel
from opi_xform.ownership.procnull.kinds import (
    ALL,
    EITHER,
    FLOAT,
    NO_MARKS,
    VALUE,
    WHOLE,
    Kind,
    Marks,
    begins_as,
    floating_sources,
    given_as_pointer,
    has_one,
    kinds_for,
    meet,
    stands_for,
    tag_offset,
    zeroes,
)
from opi_xform.ownership.procnull.marked import Marked
from opi_xform.ownership.procnull.tainted_results import fill_new, made_of
from opi_xform.values.arithmetic.widths import Widths

COMPARED = frozenset({"<", ">", "<=", ">=", "==", "!=", "not"})
PLAIN = ("sizeof a variable length array", "floating constant", "void")
"""Unknown values that MPI_PROC_NULL is not among."""

MESSAGES, STATUSES = "messages", "statuses"  # what nodes look at that ask what messages carry, what statuses tell
Shown = Callable[[int, Poly], bool]  # a value is real at a node, as its range shows


class Taint(Marked):
    """What may hold MPI_PROC_NULL.

    null: its number, which counts wherever it is written, until what is made of it is shown to be real; None: it does
    not, and then no value is looked at for what it is: one that is made of MPI_PROC_NULL may hide it (``none + 2``).
    carried: messages that may have such values, by kind.  absent: a receive may be from MPI_PROC_NULL, which statuses
    then tell.  tagged: a tag may be one, which they tell as well.
    """

    def __init__(self, program: Program, null: int | None, shown: Shown) -> None:
        super().__init__(program)
        self.null = null
        self.shown = shown
        self.widths = Widths(program.variables, program.values.symbols)
        self.other_temps = _other_temps(program)  # those that are no ints
        self.values = program.values
        self.symbols = program.values.symbols
        self.carried: set[tuple[Kind, Channel]] = set()
        self.absent = self.tagged = False
        self.tag_at = tag_offset(program)
        self.casts, signed = floating_sources(program)
        self.floating = any(e.value is None or (null is not None and -e.value == null) for e in signed)
        for o in sorted({*self.values.escaped, *self.values.foreign}):
            self.put(o, None)
        for o, info in enumerate(self.objects.table):
            if info.variable is not None and info.frame < 0 and begins_as(program.variables[info.variable], null):
                self.put(o, None)
        while 1 in self.again:
            self.turn()
            if not self.floating and self.made_floating():
                self.floats()

    def turn(self) -> None:
        """Looks at the nodes for which something has changed, those of the same turn included."""
        nodes = self.program.graph.nodes
        n = self.again.find(1)
        while n >= 0:
            self.again[n] = 0
            self.at = n
            self.step(nodes[n])
            n = self.again.find(1, n + 1)
        self.at = -1

    def made_floating(self) -> bool:
        """Whether a whole number that is made a floating one may be: the arithmetic after it is not followed."""
        suspects = {self.objects.table[o].variable for o in self.places if self.places[o]}
        known = bool(self.temps) or len(self.places) > 1
        return any(has_one(source, self.null, suspects, known) for source in self.casts)

    # --- operands ------------------------------------------------------------------------------------------------

    def operand(self, n: int, frame: int, operand: ins.Operand) -> bool:
        """Whether what an operand of node n is worth may be, or hide, MPI_PROC_NULL."""
        return VALUE in self.marks(n, frame, operand)

    def marks(self, n: int, frame: int, operand: ins.Operand) -> Marks:
        """What an operand of node n may be."""
        out = NO_MARKS
        work: list[ins.Operand] = [operand]
        while work:
            match work.pop():
                case ins.Const(value=value, name=name):
                    if name == ast.PROC_NULL or stands_for(value, self.null):
                        out |= {VALUE}
                case ins.Temp(number=t):
                    self.looked_at((frame, t))
                    out |= self.temps.get((frame, t), NO_MARKS)
                case ins.Var(key=key):
                    o = self.objects.variable(frame, key)
                    type_ = self.program.variables[key].type
                    out |= self.held(o, (0, type_.size or 0), type_)
                case ins.Op(op="neg", args=(ins.Nondet(),)) if self.some_float():
                    out |= {VALUE}
                case ins.Op(op=op) if op.startswith("call "):  # of a function that calls itself
                    out = ALL
                case ins.Op(op="cast", args=(inner,), type=type_):  # the value is kept, not the bytes
                    out |= self.marks(n, frame, inner) - {FLOAT if type_.kind == "float" else WHOLE}
                case ins.Op(op=op, args=args):
                    if op not in COMPARED:
                        work.extend(args)
                case ins.PtrAdd(base=base, index=index):
                    work += [base, index]
                case ins.Nondet(reason="floating arithmetic", args=args):
                    work.extend(args)
                case ins.Nondet(reason=reason) if reason not in PLAIN:
                    out = ALL
                case _:
                    pass
        return out

    def read(self, n: int, type_: Type) -> Marks:
        """What a node may read from memory: anything where it is not known what it reads."""
        found = [r for r in self.values.accesses.records.get(n, ()) if r.kind == "R"]
        out = NO_MARKS if found else ALL
        for r in found:
            if isinstance(r, Spread):
                out |= self.held_by_some(r.group, type_)
            elif self.lost or r.object in self.places:  # most objects hold no such number
                out |= self.held(r.object, self.stretches.place(r), type_)
            else:
                self.looked_at(r.object)
                if type_.kind == "float" and r.object not in self.own:
                    out |= self.passed()
        return out

    def write(self, n: int, kinds: Sequence[Kind]) -> None:
        """All that a node writes."""
        found = [r for r in self.values.accesses.records.get(n, ()) if r.kind == "W"]
        if not found:
            self.loses()
        for r in found:
            if isinstance(r, Spread):
                self.put_to_all(r.group, kinds)
            else:
                self.put(r.object, self.stretches.place(r), kinds)

    # --- nodes ---------------------------------------------------------------------------------------------------

    def step(self, node: Node) -> None:
        n, frame = node.number, node.frame
        match node.action:
            case ins.Define(target=target, value=value, type=type_):
                if marks := self.given(n, frame, value, 0, type_):
                    self.becomes_floating(marks, type_)
                    if isinstance(target, ins.Temp):
                        self.set_temp(frame, target, marks)
                    else:
                        o = self.objects.variable(frame, target.key)
                        whole = self.program.variables[target.key].type
                        self.put(o, (0, whole.size or 0), kinds_for(marks, whole))
            case ins.Load(target=target, type=type_):
                marks = ALL if type_.volatile or type_.atomic else self.read(n, type_)
                self.becomes_floating(marks, type_)
                self.set_temp(frame, target, marks)
            case ins.Store(value=value, type=type_):
                if marks := self.given(n, frame, value, 1, type_):
                    self.becomes_floating(marks, type_)
                    self.write(n, kinds_for(marks, type_))
            case ins.CopyBytes():
                self.copy(n)
            case ins.Escape() | Lost():
                self.write_all(n)
                if isinstance(node.action, Lost):
                    self.set_temp(frame, node.action.call.target)
                    self.once_more(node, node.action.call)
            case Bind() if self.program.graph.frames[frame].function == MAIN:
                pass  # how many arguments there are; the arguments themselves are no memory of the program
            case Bind(caller=caller, params=params, args=args):
                self.passed_on(node, caller, frame, params, args)
            case Unbind(callee=callee, target=target, value=value):
                if target is not None:
                    self.set_temp(frame, target, ALL if value is None else self.marks(n, callee, value))
            case ins.CallInstr() as call:
                self.call(n, frame, call)
            case _:
                pass

    def once_more(self, node: Node, call: ins.CallInstr) -> None:
        """A function is entered from inside itself: what its parameters are given at deeper levels."""
        graph = self.program.graph
        again = graph.entered_again(node)
        if again >= 0:
            self.passed_on(node, node.frame, again, graph.body(again).function.params, call.args)

    def passed_on(
        self, node: Node, caller: int, frame: int, params: Sequence[str], args: Sequence[ins.Operand]
    ) -> None:
        """What the parameters of a copy are given.  A struct is copied from its place."""
        for i, (key, value) in enumerate(zip(params, args, strict=False)):
            type_ = self.program.variables[key].type
            o = self.objects.variable(frame, key)
            if type_.kind == "record":
                self.passed_struct(node.number, caller, value, i, o, type_)
            elif marks := self.given(node.number, caller, value, i, type_):
                self.becomes_floating(marks, type_)
                self.put(o, (0, type_.size) if type_.size else None, kinds_for(marks, type_))

    def passed_struct(self, n: int, caller: int, value: ins.Operand, place: int, o: int, type_: Type) -> None:
        """A parameter that is a struct: what is at a known place in one that is known is at the same place in it."""
        found = self.values.operands.get(n, ())
        address = found[place] if place < len(found) else None
        base = self.symbols.base(address) if address is not None else None
        offset = self.symbols.offset(address).constant if address is not None else None
        if base is not None and offset is not None and type_.size and not self.lost:
            self.looked_at(base)
            for kind, s in sorted(self.places.get(base, set()), key=str):
                if meet(s, (offset, type_.size)):
                    self.put(o, None if s is None else (s[0] - offset, s[1]), (kind,))
            return
        sources = self.program.points_to.accessed(caller, value)
        for kind in EITHER:
            if any(self.holds(source, None, (kind,)) for source in sources):
                self.put(o, None, (kind,))

    def given(self, n: int, frame: int, operand: ins.Operand, place: int, to: Type) -> Marks:
        """What a value that a node stores may be; ``place``: which of its operands it is.

        A number that is not negative in a wider type, or in an unsigned one, may be once it is an int.
        """
        values = self.values.operands.get(n, ())
        value = values[place] if place < len(values) else None
        if self.null is None or value is None:
            return self.marks(n, frame, operand)
        if value.constant is not None:
            return frozenset({VALUE}) if stands_for(value.constant, self.null) else NO_MARKS
        marks = self.marks(n, frame, operand)
        if VALUE in marks and _is_int(to) and self.only_ints(frame, operand) and not self.widths.may_have_lost(value):
            return marks - {VALUE} if self.shown(n, value) else marks
        return marks

    def only_ints(self, frame: int, operand: ins.Operand) -> bool:
        """Nothing that an operand is computed from has another type than ``int``, or a narrower one with a sign."""
        work = [operand]
        while work:
            match work.pop():
                case ins.Var(key=key):
                    if not _is_int(self.program.variables[key].type):
                        return False
                case ins.Temp(number=number):
                    if (frame, number) in self.other_temps:
                        return False
                case ins.Op(type=type_, args=args):
                    if not _is_int(type_):
                        return False
                    work.extend(args)
                case ins.Const():
                    pass
                case _:
                    return False
        return True

    def becomes_floating(self, marks: Marks, type_: Type) -> None:
        if type_.kind == "float" and VALUE in marks:
            self.floats()

    def copy(self, n: int) -> None:
        """Bytes of one place to another: to the same bytes of it, where both are known."""
        found = list(self.values.accesses.at(n))
        sources = [a for a in found if a.kind == "R"]
        targets = [exactly(a) for a in found if a.kind == "W"]
        if len(sources) == len(targets) == 1 and not self.lost:
            source, target = exactly(sources[0]), targets[0]
            self.looked_at(sources[0].object)
            known = self.places.get(sources[0].object, set())
            exact = [(kind, s) for kind, s in known if s is not None]
            if source is not None and target is not None and len(exact) == len(known):
                to = next(a.object for a in found if a.kind == "W")
                for kind, s in sorted(exact):
                    if meet(s, source):
                        self.put(to, (s[0] - source[0] + target[0], s[1]), (kind,))
                return
        for kind in EITHER:
            if not sources or any(self.holds(a.object, self.stretches.place(a), (kind,)) for a in sources):
                self.write(n, (kind,))

    def write_all(self, n: int) -> None:
        for r in self.values.accesses.records.get(n, ()):
            if r.kind == "W" and isinstance(r, Spread):
                self.put_to_all(r.group, EITHER)
            elif r.kind == "W" and isinstance(r, Access):
                self.put(r.object, self.stretches.place(r))

    # --- calls ---------------------------------------------------------------------------------------------------

    def call(self, n: int, frame: int, call: ins.CallInstr) -> None:
        graph = self.program.graph
        direct = isinstance(call.callee, ins.AddrFunc) and call.callee.key not in graph.lowered
        effect = self.program.effects.get(call.callee.key) if isinstance(call.callee, ins.AddrFunc) and direct else None
        if effect is None:
            if n not in graph.followed:  # unknown
                self.write_all(n)
                self.set_temp(frame, call.target)
            elif call.call.type.kind == "float":  # perhaps one that is passed over
                self.set_temp(frame, call.target, self.passed())
            return
        arguments = [self.marks(n, frame, a) for a in call.args]
        reads = list(self.stretches.touched(n, "R"))
        words = any(region.indirect for region in effect.reads)  # of the command line: MPI_Init sends them to nobody
        taken = [
            kind
            for kind in EITHER
            if any(self.holds(o, stretch, (kind,)) for o, stretch in reads if o != UNKNOWN or not words)
        ]
        message = effect.source.startswith("mpi")
        if message:
            self.to_mpi(n, effect, call, arguments, [] if words else taken)
            if effect.mpi is not None:
                self.tell_tag(n, frame, call, effect.mpi)
        moved = any(flow.kind == "copies" for flow in effect.flows)
        result = NO_MARKS.union(*arguments) if effect.pure or effect.computes else NO_MARKS if message else ALL
        if effect.computes:
            result |= made_of(self, reads)
        if moved and not reads:  # from nobody knows where: a text of the program, memory of the library
            taken = list(EITHER)
        given = self.values.args.get(n, ())
        zero = effect.returns_arg is not None and not effect.reads and not message and zeroes(given, call)
        for i in written_through(effect, call):
            if i in effect.nonnegative:
                continue
            dirty: Sequence[Kind]
            if i in effect.may_yield_proc_null:
                dirty = EITHER
            elif message:
                dirty = self.from_mpi(n, effect, call, i, taken)
            else:
                dirty = taken if moved else () if zero else EITHER
            if dirty:
                self.put_argument(n, frame, call, i, dirty)
        if effect.calls and n not in graph.followed:
            self.write_all(n)
        fill_new(self, n, frame, effect, call)
        type_ = call.call.type
        if result and not type_.is_pointer:
            self.becomes_floating(result, type_)
            self.set_temp(frame, call.target, result)

    def to_mpi(
        self, n: int, effect: FunctionEffect, call: ins.CallInstr, arguments: list[Marks], taken: Sequence[Kind]
    ) -> None:
        """What a call gives to MPI: what its buffers hold, and numbers that are no partner of a message."""
        op = effect.mpi
        outside = effect.outside or (op is not None and op.kind == "rma")  # what is in windows is seen by others
        hidden = False
        if op is not None:
            for peer in (op.peer, op.recv.peer if op.recv is not None else None):
                there = peer is not None and peer < len(arguments) and VALUE in arguments[peer]
                if there and peer is not None and not self.absent and not self.shown(n, self.values.args[n][peer]):
                    self.absent = True
                    self.changed(STATUSES)
            for tag in {op.tag, op.send.tag if op.send is not None else None} - {None}:
                if tag is not None and tag < len(arguments) and VALUE in arguments[tag] and not self.tagged:
                    self.tagged = True
                    self.changed(STATUSES)
            sent = op.send.buf if op.send is not None else None
            if sent is not None and sent < len(call.args):
                address = self.symbols.not_null(self.values.args[n][sent])
                hidden = self.symbols.base(address) is None and not list(self.values.accesses.objects(n, "R"))
        given = op is None and any(
            found and not a.type.is_pointer for found, a in zip(arguments, call.call.args, strict=False)
        )
        given = given or (
            op is None and any(f for f, a in zip(arguments, call.args, strict=True) if given_as_pointer(a))
        )
        sent_on = ANY if op is None or outside else channel(effect, op.send, call, self.values.args.get(n, ()))
        found = {(kind, sent_on) for kind in (EITHER if outside or given or hidden else taken)}
        count = op.send.count if op is not None and op.send is not None else None
        if count is not None and count < len(arguments) and VALUE in arguments[count]:
            found.add((WHOLE, LENGTH))
        if not found <= self.carried:
            self.carried |= found
            self.changed(MESSAGES)

    def from_mpi(
        self, n: int, effect: FunctionEffect, call: ins.CallInstr, i: int, taken: Sequence[Kind]
    ) -> Sequence[Kind]:
        """Of which kinds what MPI writes through an argument may be."""
        op = effect.mpi
        if op is not None and op.kind == "io":
            return EITHER
        told = None if op is None else self.told(n, op, call, i)
        if told is not None:
            return EITHER if told else ()
        comes = ANY
        if op is not None and op.recv is not None and i == op.recv.buf:
            comes = channel(effect, op.recv, call, self.values.args.get(n, ()))
        more = taken if op is None else ()
        self.looked_at(MESSAGES)
        return [kind for kind in EITHER if kind in more or any(k == kind and c.meets(comes) for k, c in self.carried)]

    def tell_tag(self, n: int, frame: int, call: ins.CallInstr, op: MpiOp) -> None:
        """A status tells the tag of the message, which may be one."""
        status = op.status if op.completes is None else op.completes.status
        self.looked_at(STATUSES)
        if not self.tagged or self.tag_at is None or status is None or status >= len(call.args):
            return
        at = op.tag if op.tag is not None else op.recv.tag if op.recv is not None else None
        tag = None if at is None or op.completes is not None else self.values.args[n][at].constant
        if tag is not None and tag >= 0:  # not MPI_ANY_TAG
            return
        address = self.symbols.not_null(self.values.args[n][status])
        base, lo = self.symbols.base(address), self.symbols.offset(address).constant
        if base is None or lo is None or (op.completes is not None and op.completes.which != "one"):
            self.put_argument(n, frame, call, status, (WHOLE,))
        else:
            self.put(base, (lo + self.tag_at, 4), (WHOLE,))

    def told(self, n: int, op: MpiOp, call: ins.CallInstr, i: int) -> bool | None:
        """Whether what a call tells of messages may be one; None: the argument is none of these."""
        self.looked_at(STATUSES)
        if op.completes is not None:
            return self.absent if i == op.completes.status else False
        if i == op.status:
            peer = op.peer if op.peer is not None else op.recv.peer if op.recv is not None else None
            if peer is None:
                return self.absent
            frame = self.program.graph.nodes[n].frame
            return not self.shown(n, self.values.args[n][peer]) and self.operand(n, frame, call.args[peer])
        return False if i in (op.request, op.message, op.flag) else None

    def put_argument(self, n: int, frame: int, call: ins.CallInstr, i: int, kinds: Sequence[Kind]) -> None:
        """What a call writes through one argument."""
        address = self.symbols.not_null(self.values.args[n][i])
        base = self.symbols.base(address)
        if base is None:
            targets = self.program.points_to.operand(frame, call.args[i])
            for o in sorted(self.program.points_to.reachable(targets)):
                self.put(o, None, kinds)
            return
        lo = self.symbols.offset(address).constant
        elem = call.call.args[i].type.elem
        mine = [a for a in self.values.accesses.at_object(n, base) if a.kind == "W"]
        sizes = {self.stretches.place(a) for a in mine if lo is not None and a.lo is not None and a.lo.constant == lo}
        if len(sizes) == 1 and None not in sizes:
            self.put(base, next(iter(sizes)), kinds)
        elif not mine and lo is not None and elem is not None and elem.size:
            self.put(base, (lo, elem.size), kinds)
        else:
            self.put(base, None, kinds)


def _is_int(type_: Type) -> bool:
    return type_.kind == "int" and type_.signed and (type_.size or 8) <= 4


def _other_temps(program: Program) -> set[tuple[int, int]]:
    """Temporaries, each with its frame, of other types than ``int``."""
    out: set[tuple[int, int]] = set()
    for node in program.graph.nodes:
        match node.action:
            case (
                ins.Define(target=ins.Temp() as target, type=type_)
                | ins.Load(target=target, type=type_)
                | ins.CallInstr(target=ins.Temp() as target, call=ast.Call(type=type_))
            ):
                other = not _is_int(type_)
            case Unbind(callee=callee, target=ins.Temp() as target):
                returned = program.graph.returned(callee)
                other = returned is None or not _is_int(returned)
            case _:
                continue
        if other:
            out.add((node.frame, target.number))
    return out
