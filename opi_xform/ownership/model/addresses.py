"""How the address of a buffer travels through a program, and what happens to it on the way.

docs/soundness.md, "old addresses": a comparison with something else, an integer made of the address, a copy
of it in memory, a library that keeps it make every site of the buffer stay.  Tests against NULL are reported: they are
right where the buffer is held.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from opi_xform.codes import Reason
from opi_xform.effects.model import FunctionEffect
from opi_xform.graph.graph import Bind, Lost, Node, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import is_null
from opi_xform.ir.types import Type
from opi_xform.ir.walk import expressions, within
from opi_xform.memory.poly import Poly
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, Expressions, spelling
from opi_xform.ownership.model.names import Name, Names, Range, names_of, operands, value_range
from opi_xform.ownership.model.object_index import index_of
from opi_xform.record import dataclass

STORED = "is stored in "
ZEROED = "is among zeros"  # of an array of pointers that its initialiser clears
COMPUTED_PLACE = "the call begins at a computed place inside"  # how a refusal begins
POINTS_INTO = "points into the block of"  # what a refusal says of another variable
NO_START = "what could not be shown to be the start of a buffer"
INSIDE = "is one inside its memory, not that of the start"
_ORDER = frozenset({"<", ">", "<=", ">=", "==", "!="})


@dataclass(frozen=True, slots=True)
class Problem:
    """A use of the address that a change of the address would be seen by."""

    node: int
    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class ValueCheck:
    """refusal: the first use of the address that makes all sites stay.  null_tests: nodes that test it against NULL."""

    refusal: Refusal | None
    null_tests: tuple[int, ...]


class AddressFlow:
    """The names that may hold an address of one buffer, with the nodes at which they are given it."""

    def __init__(self, names: Names, buffer: Buffer) -> None:
        self.names = names
        self.program = names.program
        self.values = names.program.values
        self.symbols = self.values.symbols
        self.graph = names.graph
        self.buffer = buffer
        self.objects = frozenset(buffer.objects)
        carriers = names.objects.by_name.get(buffer.carrier.variable, [])
        self.pointer = buffer.carrier.kind == "pointer"
        self.carrier_objects = frozenset(carriers)
        self.lifted = self.lifted_names()
        own = frozenset(("v", o, 0) for o in carriers) if self.pointer else frozenset()
        self.carriers: frozenset[Name] = own | self.lifted
        self.holding: dict[Name, set[int]] = {}
        self.ranges: dict[Name, Range] = {}
        self.problems: dict[tuple[int, str], Problem] = {}
        self.null_tests: set[int] = set()
        self.follow()
        for name in self.holding:
            if name not in self.carriers:
                self.range_of(name)
        self.judge()

    @cached_property
    def calling(self) -> frozenset[tuple[int, str, int]]:
        """Calls (frame, place) of functions in which, or below which, the buffer or its pointer is used."""
        nodes = {*self.buffer.touches, *(u.node for u in self.buffer.uses)}
        for name in (*self.carriers, *self.holding):
            nodes.update(self.names.uses.get(name, ()))
        out: set[tuple[int, str, int]] = set()
        for frame in {self.graph.nodes[n].frame for n in nodes}:
            at = self.graph.frames[frame]
            while at.parent >= 0 and at.call >= 0:
                span = self.names.span(at.call)
                if (at.parent, span.file, span.begin) in out:
                    break
                out.add((at.parent, span.file, span.begin))
                at = self.graph.frames[at.parent]
        return frozenset(out)

    @cached_property
    def entered(self) -> frozenset[int]:
        """The nodes at which functions of the program are called."""
        return frozenset(frame.call for frame in self.graph.frames if frame.call >= 0)

    def lifted_names(self) -> frozenset[Name]:
        """Parameters that stand for the carrier, in the frames in which they are given this buffer."""
        out: set[Name] = set()
        if self.buffer.lifted:
            for node in self.graph.nodes:
                if isinstance(node.action, Bind):
                    for i, key in enumerate(node.action.params):
                        value = self.recorded(node.number, i) if key in self.buffer.lifted else None
                        if value is not None and self.base(self.symbols.not_null(value)) in self.objects:
                            out.add(("v", self.names.objects.variable(node.frame, key), 0))
        return frozenset(out)

    # --- which names hold it -------------------------------------------------------------------------------------

    def seeds(self) -> set[int]:
        """Nodes that an address of the buffer can come from: mentions, allocations, readings of the carrier."""
        out: set[int] = set()
        for o in self.objects:
            out.update(self.names.mentions.get(o, ()))
            out.update(self.names.objects.table[o].nodes)
        for name in self.lifted:
            out.update(self.names.uses.get(name, ()))
        if self.pointer:
            for o in self.carrier_objects:
                out.update(self.names.uses.get(("v", o, 0), ()))
                out.update(self.names.mentions.get(o, ()))
            if self.buffer.carrier.rows:
                for o in self.carrier_objects:
                    out.update(n for n in self.values.accesses.nodes(o) if self.values.accesses.touches(n, (o,), "R"))
        return out

    def follow(self) -> None:
        work = sorted(self.seeds(), reverse=True)
        queued = set(work)
        while work:
            n = work.pop()
            queued.discard(n)
            for name in self.given(n):
                if self.said_apart(name):
                    continue
                nodes = self.holding.setdefault(name, set())
                if n in nodes:
                    continue
                nodes.add(n)
                self.ranges.pop(name, None)
                if name not in self.carriers:
                    for use in reversed(self.names.uses.get(name, ())):
                        if use not in queued:
                            queued.add(use)
                            work.append(use)

    def said_apart(self, name: Name) -> bool:
        """A person says that the name never is one of the buffer's."""
        o = name[1]
        return name[0] == "v" and isinstance(o, int) and not self.objects.isdisjoint(self.program.apart.get(o, ()))

    def given(self, n: int) -> list[Name]:
        """The names that node ``n`` gives an address of the buffer."""
        node = self.graph.nodes[n]
        names = self.names.defined(node)
        if not names:
            return []
        match node.action:
            case ins.Define(value=value):
                return names if self.is_based(n, node.frame, value, self.recorded(n, 0)) else []
            case ins.Load(type=type_):
                if not (self.pointer and self.buffer.carrier.rows and type_.is_pointer):
                    return []
                base = self.base(self.recorded(n, 0))
                in_carrier = base in self.carrier_objects or (base is None and self.reads_carrier(n))
                return names if in_carrier else []
            case Bind(caller=caller, args=args):
                return [x for i, x in enumerate(names) if self.is_based(n, caller, args[i], self.recorded(n, i))]
            case Unbind(callee=callee, value=returned):
                return names if returned is not None and self.is_based(n, callee, returned, None) else []
            case ins.CallInstr() as call:
                if self.base(self.values.results.get(n)) in self.objects:
                    return names
                effect = self.names.effect(call)
                back = effect.returns_arg if effect is not None else None
                if back is not None and back < len(call.args) and self.is_based(n, node.frame, call.args[back], None):
                    return names
                brought = effect is not None and (effect.returns_stored is not None or effect.returns_retained)
                if brought and call.target is not None:
                    held = self.program.points_to.operand(node.frame, call.target)
                    return [] if self.objects.isdisjoint(held) else names
                return []
            case _:
                return []

    def copies(self) -> set[int]:
        """Nodes that set another variable to the carrier's value, where that is memory of the buffer or NULL."""
        out: set[int] = set()
        for n in {n for name, at in self.holding.items() if name[0] == "v" and name not in self.carriers for n in at}:
            action, value = self.graph.nodes[n].action, self.recorded(n, 0)
            if not isinstance(action, ins.Define) or not isinstance(action.value, (ins.Var, ins.Temp)):
                continue
            if (
                value is not None
                and self.base(value) is None
                and self.base(self.symbols.not_null(value)) in self.objects
            ):
                out.add(n)
        return out

    def reads_carrier(self, n: int) -> bool:
        return self.values.accesses.touches(n, self.carrier_objects)

    def recorded(self, n: int, i: int) -> Poly | None:
        found = self.values.operands.get(n, ())
        return found[i] if i < len(found) else None

    def base(self, value: Poly | None) -> int | None:
        return None if value is None else self.symbols.base(value)

    def is_based(self, n: int, frame: int, operand: ins.Operand, value: Poly | None) -> bool:
        """The operand may be an address in the buffer."""
        base = self.base(value)
        if base is not None:
            return base in self.objects
        return self.evaluate(n, frame, operand, None)

    def leaf(self, n: int, frame: int, operand: ins.Operand) -> bool:
        if isinstance(operand, ins.AddrVar):
            return self.names.objects.variable(frame, operand.key) in self.objects
        name = self.names.name(frame, operand)
        if name is None:
            return False
        if name in self.carriers:
            return True
        return name in self.holding and self.range_of(name).holds(n)

    def range_of(self, name: Name) -> Range:
        """Where a name lives, and where what it holds comes from a definition that is known to give it the address."""
        found = self.ranges.get(name)
        if found is None:
            found = self.ranges[name] = value_range(self.names, name, frozenset(self.holding[name]))
        return found

    def evaluate(self, n: int, frame: int, operand: ins.Operand, report: Callable[[str], None] | None) -> bool:
        """Whether a tree's value may be an address in the buffer; ``report`` hears what is done to one inside it."""
        done: list[bool] = []
        work: list[tuple[ins.Operand, bool]] = [(operand, False)]
        while work:
            item, ready = work.pop()
            if isinstance(item, ins.Op):
                if not ready:
                    work.append((item, True))
                    work.extend((a, False) for a in reversed(item.args))
                    continue
                count = len(item.args)
                args = done[len(done) - count :] if count else []
                del done[len(done) - count :]
                done.append(self.operation(n, item, args, report))
            elif isinstance(item, ins.PtrAdd):
                if not ready:
                    work.append((item, True))
                    work.append((item.index, False))
                    work.append((item.base, False))
                    continue
                index, base = done.pop(), done.pop()
                if index and report is not None:
                    report("is used as a number")
                done.append(base)
            else:
                done.append(self.leaf(n, frame, item))
        return done[0]

    def operation(self, n: int, op: ins.Op, args: list[bool], report: Callable[[str], None] | None) -> bool:
        if not any(args):
            return False
        if op.op == "cast" and op.type.kind == "pointer":
            return True
        if report is None:
            return op.type.kind == "pointer" or op.op not in (*_ORDER, "not", "ptrdiff")
        if op.op == "not":
            self.null_tests.add(n)
        elif op.op in _ORDER and not all(args):
            other = op.args[1] if args[0] else op.args[0]
            if op.op in ("==", "!=") and is_null(other):
                self.null_tests.add(n)
            else:
                report("is compared with another address")
        elif op.op in _ORDER or (op.op == "ptrdiff" and all(args)):
            if self.buffer.carrier.rows:
                report("is compared across the rows of the array")
        elif op.op == "ptrdiff":
            report("is subtracted from another address")
        elif op.op == "cast":
            report("is converted to a number")
        else:
            report("is used as a number")
        return False

    def cells(self) -> None:
        """An array of pointers is read and written as pointers: its bytes could be kept and put back elsewhere."""
        for o in sorted(o for o in self.carrier_objects if self.names.objects.table[o].kind == "variable"):
            for n in index_of(self.program).accesses.nodes(o):
                action = self.graph.nodes[n].action
                if not isinstance(action, (ins.Load, ins.Store)) or action.type.is_pointer:
                    continue
                if self.base(self.recorded(n, 0)) == o:
                    statement = self.graph.statement(self.graph.nodes[n])
                    begins = statement is not None and isinstance(statement.stmt, ast.DeclStmt)
                    does = ZEROED if begins else "is read or written as something else than a pointer"
                    self.problem(n, Reason.CARRIER, does)

    # --- what is done with it ------------------------------------------------------------------------------------

    def judge(self) -> None:
        nodes = self.seeds()
        for name in self.holding:
            nodes.update(self.names.uses.get(name, ()))
            nodes.update(self.holding[name])
        for n in sorted(nodes):
            self.node(n)
        for o in sorted(self.objects):
            if o in self.values.given_away:
                n, reason = self.values.given_away[o]
                self.problem(n, Reason.ESCAPE, f"escapes: {reason}")
        for o in sorted(self.carrier_objects & self.names.address_taken) if self.pointer else ():
            for n in self.names.mentions.get(o, ()):
                self.problem(n, Reason.CARRIER, self.through(n))
        if self.pointer and self.buffer.carrier.rows:
            self.cells()

    def through(self, n: int) -> str:
        """What a mention of the pointer's own address does with the pointer."""
        action = self.graph.nodes[n].action
        effect = self.names.effect(action) if isinstance(action, ins.CallInstr) else None
        if effect is not None and effect.allocates is not None and isinstance(action, ins.CallInstr):
            called = getattr(action.callee, "key", "")
            return f"is set by `{called}` outside a function that only allocates"
        return "may be changed or read through the address of its pointer"

    def problem(self, n: int, reason: Reason, message: str) -> None:
        self.problems.setdefault((n, message), Problem(n, reason, message))

    def node(self, n: int) -> None:
        node = self.graph.nodes[n]
        based = [self.evaluate(n, f, v, lambda m: self.problem(n, Reason.OLD_ADDRESS, m)) for f, v in operands(node)]
        if not any(based):
            return
        match node.action:
            case ins.Define(target=target, type=type_):
                if self.base(self.recorded(n, 0)) in (None, *self.objects):
                    self.defined(n, node, target, type_)
            case ins.Store():
                to = self.base(self.recorded(n, 0))
                in_carrier = self.pointer and to in self.carrier_objects
                if based[1] and not in_carrier and self.base(self.recorded(n, 1)) in (None, *self.objects):
                    e = Expressions(self.program).of(self.graph.frames[node.frame].function, node.action)
                    place = UNSPELLED if e is None else spelling(e)
                    self.problem(n, Reason.OLD_ADDRESS, f"{STORED}{'memory' if place == UNSPELLED else f'`{place}`'}")
            case ins.Branch():
                self.null_tests.add(n)
            case ins.SwitchOn():
                self.problem(n, Reason.OLD_ADDRESS, "is used as a number")
            case ins.ReturnInstr() if self.leaves_program(node.frame):
                self.problem(n, Reason.ESCAPE, "is returned to a caller that is not known")
            case ins.Escape(reason=reason):
                self.problem(n, Reason.ESCAPE, f"escapes: {reason}")
            case Bind(params=params):
                for i, key in enumerate(params):
                    if self.program.variables[key].type.kind == "record" and self.alone(node):
                        continue  # a struct by value: the call reads its bytes, no address of it goes anywhere
                    if based[i] and self.base(self.recorded(n, i)) in (None, *self.objects):
                        self.variable(n, node.frame, key)
            case Lost(reason=reason) if not self.objects <= self.program.values.plain.get(n, frozenset()):
                self.problem(n, Reason.ESCAPE, f"is passed to a call that is not followed ({reason})")
            case ins.CallInstr() as call if not self.names.entered(node):
                self.library(n, call, based[1:])
            case _:
                pass

    def leaves_program(self, frame: int) -> bool:
        """The frame's function was called from outside: by nobody that is known, or by a library."""
        call = self.graph.frames[frame].call
        return call < 0 or not self.names.entered(self.graph.nodes[call])

    def defined(self, n: int, node: Node, target: ins.Var | ins.Temp, type_: Type) -> None:
        if type_.kind in ("int", "float"):
            self.problem(n, Reason.OLD_ADDRESS, "is converted to a number")
        elif isinstance(target, ins.Var):
            if ("v", self.names.objects.variable(node.frame, target.key), 0) in self.carriers:
                value = self.recorded(n, 0)
                if value is not None and self.returned(node):
                    value = self.symbols.not_null(value)  # or NULL: the function has ways to return without memory
                if value is None or self.base(value) is None or self.symbols.offset(value).terms:
                    self.problem(n, Reason.CARRIER, INSIDE)
                return
            self.variable(n, node.frame, target.key)

    def returned(self, node: Node) -> bool:
        """A pointer is set to what a function of the program has returned, and to nothing else."""
        value = node.action.value if isinstance(node.action, ins.Define) else None
        while isinstance(value, ins.Op) and value.op == "cast":
            (value,) = value.args
        if not isinstance(value, ins.Temp):
            return False
        set_at = self.names.defs.get(("t", node.frame, value.number), ())
        return bool(set_at) and all(isinstance(self.graph.nodes[m].action, Unbind) for m in set_at)

    def alone(self, entered: Node) -> bool:
        """No other call is in the expression of one that is entered there: its arguments are read in an order that
        nobody sees.
        """
        graph = self.program.graph
        info = graph.statement(graph.nodes[graph.frames[entered.frame].call])
        if info is None:
            return False
        declared = info.stmt.variables if isinstance(info.stmt, ast.DeclStmt) else ()
        initial = (self.program.variables[key].init for key in declared)
        whole = (*expressions(info.stmt), *(e for e in initial if e is not None))
        return sum(isinstance(e, ast.Call) for one in whole for e in within(one)) == 1

    def variable(self, n: int, frame: int, key: str) -> None:
        """Variable ``key`` takes the address."""
        type_ = self.program.variables[key].type
        name = self.program.variables[key].name
        if type_.kind != "pointer":
            self.problem(n, Reason.OLD_ADDRESS, "is converted to a number")
        elif type_.volatile or type_.atomic:
            self.problem(n, Reason.OLD_ADDRESS, f"is stored in `{name}`, which is volatile or atomic")
        elif self.names.objects.variable(frame, key) in self.names.address_taken:
            self.problem(n, Reason.OLD_ADDRESS, f"is stored in `{name}`, whose own address is taken")

    def library(self, n: int, call: ins.CallInstr, based: list[bool]) -> None:
        effect = self.names.effect(call)
        for i, holds in enumerate(based):
            if not holds:
                continue
            if effect is None:
                name = call.callee.key if isinstance(call.callee, ins.AddrFunc) else "a function pointer"
                self.problem(n, Reason.ESCAPE, f"is passed to `{name}`, of which nothing is known")
                continue
            told = _kept(effect, i, call.call.args[i].type)
            if told:
                self.problem(n, Reason.ESCAPE, told)

    def check(self) -> ValueCheck:
        """The first problem in program order, as a refusal."""
        tests = tuple(sorted(self.null_tests))
        if not self.problems:
            return ValueCheck(None, tests)
        first = self.problems[min(self.problems)]
        name = self.buffer.name
        span = self.names.span(first.node)
        if first.message == INSIDE:  # which line sets it so says more: it need not be so at every call
            message = f"{line_of(span)} sets `{name}` to {NO_START}"
            return ValueCheck(Refusal(Reason.CARRIER, message, ((span, "here"),)), tests)
        if first.message == ZEROED:
            text = f"{line_of(span)} sets all pointers of `{name}` to NULL at once, which is not followed row by row"
            text += ": a loop that sets each of them would be"
            return ValueCheck(Refusal(first.reason, text, ((span, "here"),)), tests)
        note = (span, f"the address of `{name}` {first.message} here")
        return ValueCheck(Refusal(first.reason, f"the address of `{name}` {first.message}", (note,)), tests)


def _kept(effect: FunctionEffect, i: int, type_: Type) -> str:
    """What a library function does with its argument ``i`` beyond the bytes it points to; '' when nothing."""
    if i in effect.retains and (effect.mpi is None or (effect.mpi.request is None and effect.mpi.kind != "rma")):
        return f"is kept by `{effect.name}`"
    if any(flow.kind == "stores" and flow.source == i for flow in effect.flows):
        return f"is stored by `{effect.name}`"
    if type_.kind == "record":
        return ""  # a struct given by value: its bytes are read (``values/steps.py``), its address goes nowhere
    for region in (*effect.reads, *effect.all_writes):
        if not region.rest and region.arg == i:
            return ""
        if region.rest and i >= region.arg:
            elem = type_.elem
            if elem is not None and elem.kind == "int" and elem.size == 1:
                return ""
            if effect.format is not None and effect.format.scans:
                return ""  # what it stores an address for, or makes of one, is an escape (``effects/formats.py``)
            return f"may be printed by `{effect.name}`"
    if (effect.frees is not None and effect.frees.arg == i) or effect.returns_arg == i:
        return ""
    if effect.allocates is not None and effect.allocates.copies_from == i:
        return ""
    return f"is an argument of `{effect.name}`, whose result may depend on it"


def flow_of(program: Program, buffer: Buffer) -> AddressFlow:
    """The flow of a buffer's address; ``BufferFacts.flow`` keeps it while the buffer is judged."""
    return AddressFlow(names_of(program), buffer)


def value_refusal(flow: AddressFlow) -> ValueCheck:
    """What is done with the buffer's address that makes all its sites stay."""
    return flow.check()
