"""Buffers that are filled from call to call, with a counter that outlives the calls.

``out[r][n[r]++] = x;`` anywhere, and ``MPI_Send(out[r], n[r], ...); n[r] = 0;`` where a buffer is full: what is sent
was written since the buffer was last handed over, though the writes lie in other calls, in no loop of their own.  That
is an invariant of the whole program: *the first n[r] elements of row r are written since its last hand-over*.  It holds
in the beginning, with n[r] zero, and everything that changes n[r] keeps it: a store of zero; an increment, beside which
the elements that are now counted are written; and after each send nothing comes before the store of zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.graph.graph import Bind, Node, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.memory.accesses import Access
from opi_xform.memory.poly import ZERO, Poly, number
from opi_xform.ownership.model.buffers import Buffer, Carrier, Place, Program, Use
from opi_xform.ownership.model.split_rows import split_row
from opi_xform.record import dataclass

PLAIN = (ins.Birth, ins.Define, ins.Load, ins.Store, ins.CopyBytes, ins.ReturnInstr, Bind, Unbind)


@dataclass(frozen=True, slots=True)
class Counter:
    """A global variable, or an array with one number per row of the buffer.

    object: the counter's; at: bytes from its start to the number in question.
    """

    object: int
    at: Poly


def counted(program: Program, buffer: Buffer) -> frozenset[Place]:
    """The sends of a buffer all of whose bytes are written since its last hand-over, because a counter says so."""
    places: set[Place] = set()
    for o in buffer.objects:
        uses = [u for u in buffer.uses if u.object == o]
        if not uses or not _Filled(program, buffer, o, uses).holds():
            return frozenset()
        places.update(u.place for u in uses)
    return frozenset(places)


def never_overfull(program: Program, o: int, uses: Sequence[Use], row: int) -> bool:
    """Messages that begin with the rows of an array end in them: each sends as much as its counter says.

    That grows only where the elements that it counts are written, and those accesses stay in their row
    (``uses.is_rows`` asks it of each).
    """
    variable = program.values.objects.table[o].variable
    if variable is None or any(u.side != "send" for u in uses):
        return False
    carrier = Carrier("array", variable, 1, row)
    return _Filled(program, Buffer("", carrier, (o,), tuple(uses), ()), o, uses).holds()


class _Filled:
    """The invariant for one object of a buffer."""

    def __init__(self, program: Program, buffer: Buffer, o: int, uses: Sequence[Use]) -> None:
        self.program = program
        self.values = program.values
        self.symbols = program.values.symbols
        self.buffer = buffer
        self.o = o
        self.uses = uses
        self.counter = -1
        self.size = 0  # bytes per count

    def holds(self) -> bool:
        if self.zeroed() or not all(self.sent(u) for u in self.uses):
            return False
        writes = self.writes()
        return writes is not None and all(self.is_zero(n) or self.is_append(n) for n in writes)

    def zeroed(self) -> bool:
        """The buffer's memory is that of a calloc, whose zeros the counter knows nothing of."""
        for n in self.buffer.carrier.allocations:
            call = self.program.graph.nodes[n].action
            effect = (
                self.program.effects.get(call.callee.key)
                if isinstance(call, ins.CallInstr) and isinstance(call.callee, ins.AddrFunc)
                else None
            )
            if effect is None or effect.allocates is None or effect.allocates.zeroed:
                return True
        return False

    # --- the sends -----------------------------------------------------------------------------------------------

    def sent(self, use: Use) -> bool:
        """A send of as many elements as the counter says, from the first one, after which the counter becomes zero."""
        if use.side != "send" or use.buffer.count is None or use.lo is None or use.length is None:
            return False
        call = self.program.graph.nodes[use.node].action
        assert isinstance(call, ins.CallInstr)
        count = self.values.args[use.node][use.buffer.count]
        found = self.count(use.node, call.args[use.buffer.count], count)
        if found is None or not count.terms or not use.length.terms or found[1] <= 0:
            return False
        counter, factor = found
        element = use.length.terms[0][1] // count.terms[0][1]
        size = element * factor
        if size <= 0 or use.length != count.scaled(element) or self.size not in (0, size):
            return False
        if self.counter not in (-1, counter.object) or not self.in_row(use.lo, counter, ZERO):
            return False
        self.counter, self.size = counter.object, size
        return self.reset_behind(use.node, counter)

    def count(self, n: int, operand: ins.Operand, count: Poly) -> tuple[Counter, int] | None:
        """The counter, and what it is multiplied by, that the count of a send at node n is.

        The words may be elsewhere, ahead on the straight way: a local, a member or a parameter is set to that value.
        """
        graph = self.program.graph
        words: list[tuple[int, int, ins.Operand]] = [(n, graph.nodes[n].frame, operand)]
        for m in reversed(self.straight(n, -1)):
            match graph.nodes[m].action:
                case ins.Define(value=value) | ins.Store(value=value):
                    given: tuple[tuple[int, ins.Operand], ...] = ((-1, value),)
                case Bind(args=args):
                    given = tuple(enumerate(args))
                case _:
                    continue
            known = self.values.operands.get(m, ())
            words += [(m, self.frame(m), e) for i, e in given if known and self.same(known[i], count)]
        for m, frame, e in words:
            at, whole = self.source(m, frame, e)
            inner, factor = _factor(whole)
            counter = self.read(at, frame, inner, n)
            if counter is not None:
                return counter, factor
        return None

    def same(self, a: Poly, b: Poly) -> bool:
        return self.symbols.resolve(a) == self.symbols.resolve(b)

    def frame(self, n: int) -> int:
        """The frame whose names the operands of a node are."""
        node = self.program.graph.nodes[n]
        return node.action.caller if isinstance(node.action, Bind) else node.frame

    def read(self, n: int, frame: int, operand: ins.Operand, until: int) -> Counter | None:
        """The counter whose value an operand of node n is, if that is still its value at node ``until``."""
        m, operand = self.source(n, frame, operand)
        if isinstance(operand, ins.Var):
            counter = self.variable(frame, operand.key)
        else:
            m, counter = self.loaded(m, frame, operand)
        before = self.straight(until, -1)
        if counter is None or (m != until and m not in before):
            return None
        between = before[before.index(m) + 1 :] if m != until else []
        return None if any(self.changes(x, counter.object) for x in between) else counter

    def source(self, n: int, frame: int, operand: ins.Operand) -> tuple[int, ins.Operand]:
        """What a temporary of a frame stands for, as it was computed on the straight way to node n, and where."""
        at = n
        for m in reversed(self.straight(n, -1)):
            node = self.program.graph.nodes[m]
            action = node.action
            mine = isinstance(operand, ins.Temp) and node.frame == frame
            if mine and isinstance(action, ins.Define) and action.target == operand:
                at, operand = m, action.value
        return at, operand

    def loaded(self, n: int, frame: int, operand: ins.Operand) -> tuple[int, Counter | None]:
        """The load that a temporary of a frame comes from, and the counter that it reads."""
        for m in reversed(self.straight(n, -1)):
            node = self.program.graph.nodes[m]
            if isinstance(node.action, ins.Load) and node.action.target == operand and node.frame == frame:
                return m, self.addressed(m, node.action.type)
        return n, None

    def variable(self, frame: int, key: str) -> Counter | None:
        o = self.values.objects.variable(frame, key)
        return Counter(o, ZERO) if self.fit(o) else None

    def addressed(self, n: int, type_: Type) -> Counter | None:
        """The counter at the address of a load or store of all its bytes."""
        address = self.values.operands[n][0]
        o = self.symbols.base(address)
        if type_.volatile or type_.atomic or o is None or not self.fit(o):
            return None
        whole = self.values.objects.table[o].type
        while whole is not None and whole.is_array:
            whole = whole.elem
        if whole is None or type_.kind != "int" or type_.size != whole.size:
            return None  # ``*(char *)&n = 0`` leaves the rest of the number
        return Counter(o, self.symbols.resolve(self.symbols.offset(address)))

    def fit(self, o: int) -> bool:
        """It is zero in the beginning, and nobody unknown can change it."""
        info = self.values.objects.table[o]
        variable = self.program.variables.get(info.variable or "")
        if info.frame >= 0 or variable is None or o in self.values.escaped or o in self.values.foreign or o == self.o:
            return False
        member = self.program.members.get(info.variable or "")
        if member is not None and member.rows:
            return False  # it stands for several numbers
        if not _is_zero(variable.init) or (variable.kind == "extern" and not self.program.complete):
            return False
        type_ = variable.type.elem if variable.type.is_array and variable.type.elem is not None else variable.type
        return type_.kind == "int" and type_.size in (4, 8) and not (type_.volatile or type_.atomic)

    def in_row(self, lo: Poly, counter: Counter, offset: Poly) -> bool:
        """``lo`` is ``offset`` bytes from the start of the row that the counter is about."""
        if not self.buffer.carrier.rows:
            return not counter.at.terms and self.symbols.resolve(lo) == self.symbols.resolve(offset)
        found = split_row(self.program, self.o, lo)
        if found is None:
            return False
        index, rest = (self.symbols.resolve(p) for p in found)
        info = self.values.objects.table[counter.object]
        width = info.type.elem.size if info.type is not None and info.type.elem is not None else None
        return bool(width) and index.scaled(width or 0) == counter.at and rest == self.symbols.resolve(offset)

    def reset_behind(self, n: int, counter: Counter) -> bool:
        line = self.line(n)
        for m in line[line.index(n) + 1 :]:
            if self.changes(m, counter.object):
                action = self.program.graph.nodes[m].action
                plain = isinstance(action, (ins.Store, ins.Define)) and self.written(m) == counter
                return plain and self.is_zero(m)
            if not self.harmless(m):
                return False
        return False

    def harmless(self, n: int) -> bool:
        """Nothing of the program's own runs there but plain accesses, and no other message takes the buffer."""
        action = self.program.graph.nodes[n].action
        if isinstance(action, ins.CallInstr) and self.is_entered(n):
            return True  # what runs there comes next
        if isinstance(action, ins.CallInstr) and isinstance(action.callee, ins.AddrFunc):
            effect = self.program.effects.get(action.callee.key)
            known = effect is not None and not effect.calls and n not in self.program.graph.followed
            return known and all(u.node != n for u in self.uses)
        return isinstance(action, PLAIN)

    def is_entered(self, n: int) -> bool:
        """A call of one function, the copy of which comes next."""
        graph = self.program.graph
        line = self.line(n)
        at = line.index(n) + 1
        behind = graph.nodes[line[at]] if at < len(line) else None
        return behind is not None and isinstance(behind.action, Bind) and graph.frames[behind.frame].call == n

    # --- the counter ---------------------------------------------------------------------------------------------

    def writes(self) -> list[int] | None:
        """All nodes that change the counter; None where one is no plain store."""
        found = []
        for node in self.program.graph.nodes:
            n, action = node.number, node.action
            if self.values.accesses.touches(n, (self.counter,), "W") or self.defines(node, self.counter):
                if not isinstance(action, (ins.Store, ins.Define)) or self.written(n) is None:
                    return None
                found.append(n)
        return found

    def defines(self, node: Node, o: int) -> bool:
        action = node.action
        return (
            isinstance(action, ins.Define)
            and isinstance(action.target, ins.Var)
            and self.values.objects.variable(node.frame, action.target.key) == o
        )

    def changes(self, n: int, o: int) -> bool:
        """Whether a node may change the numbers of an object."""
        return self.defines(self.program.graph.nodes[n], o) or self.values.accesses.touches(n, (o,), "W")

    def written(self, n: int) -> Counter | None:
        """The number that a store changes."""
        node = self.program.graph.nodes[n]
        if n not in self.values.operands:
            return None
        if isinstance(node.action, ins.Define) and isinstance(node.action.target, ins.Var):
            return self.variable(node.frame, node.action.target.key)
        if isinstance(node.action, ins.Store):
            return self.addressed(n, node.action.type)
        return None

    def is_zero(self, n: int) -> bool:
        return self.values.operands[n][-1].constant == 0

    def is_append(self, n: int) -> bool:
        """The number grows by a constant, and so many elements after its old value are written right there."""
        action = self.program.graph.nodes[n].action
        assert isinstance(action, (ins.Store, ins.Define))
        frame = self.frame(n)
        at, step = self.source(n, frame, action.value)
        if not isinstance(step, ins.Op) or step.op != "+" or len(step.args) != 2:
            return False
        old, more = step.args if isinstance(step.args[1], ins.Const) else step.args[::-1]
        counter = self.written(n)
        if (
            not isinstance(more, ins.Const)
            or more.value <= 0
            or counter is None
            or self.read(at, frame, old, n) != counter
        ):
            return False
        before = self.values.operands[n][-1] - number(more.value)
        end = 0
        for lo, hi in sorted(p for m in self.beside(n) for p in self.parts(m, counter, before)):
            if lo <= end:
                end = max(end, hi)
        return end >= more.value * self.size

    def parts(self, n: int, counter: Counter, before: Poly) -> list[tuple[int, int]]:
        """Bytes after the counter's old value that a node is sure to write."""
        out = []
        for a in self.values.accesses.at_object(n, self.o):
            start = self.start(a, before)
            if start is None or a.lo is None or a.length is None or a.length.constant is None:
                continue
            if self.in_row(a.lo, counter, before.scaled(self.size) + number(start)):
                out.append((start, start + a.length.constant))
        return out

    def start(self, a: Access, before: Poly) -> int | None:
        """The constant part of an access's place, beyond the counter's old value."""
        if a.object != self.o or a.kind != "W" or not a.must or a.lo is None:
            return None
        found = split_row(self.program, self.o, a.lo) if self.buffer.carrier.rows else (ZERO, a.lo)
        if found is None:
            return None
        return (self.symbols.resolve(found[1]) - self.symbols.resolve(before.scaled(self.size))).constant

    # --- where things stand --------------------------------------------------------------------------------------

    def line(self, n: int) -> list[int]:
        """The nodes that run one after the other around a node, in blocks with one way between them."""
        graph = self.program.graph
        here = graph.nodes[n].block
        blocks = [here]
        while len(graph.preds[blocks[0]]) == 1 and (before := graph.preds[blocks[0]][0]) not in blocks:
            if len(graph.succs[before]) != 1:
                break
            blocks.insert(0, before)
        while len(graph.succs[blocks[-1]]) == 1 and (behind := graph.succs[blocks[-1]][0]) not in blocks:
            if len(graph.preds[behind]) != 1:
                break
            blocks.append(behind)
        return [m for block in blocks for m in graph.blocks[block]]

    def straight(self, n: int, direction: int) -> list[int]:
        """The nodes of the line on one side of a node, in order, as far as no other code runs between."""
        line = self.line(n)
        i = line.index(n)
        side = line[i + 1 :] if direction > 0 else line[:i]
        out: list[int] = []
        for m in side if direction > 0 else reversed(side):
            if not self.harmless(m):
                break
            out.append(m)
        return out if direction > 0 else out[::-1]

    def beside(self, n: int) -> list[int]:
        """The nodes around a store to the counter, up to other stores to it."""
        out: list[int] = []
        for direction in (-1, 1):
            found = self.straight(n, direction)
            for m in found if direction > 0 else reversed(found):
                if self.changes(m, self.counter):
                    break
                out.append(m)
        return out


def _factor(operand: ins.Operand) -> tuple[ins.Operand, int]:
    """An operand as another one times a constant."""
    if isinstance(operand, ins.Op) and operand.op == "*" and len(operand.args) == 2:
        for other, times in (operand.args, operand.args[::-1]):
            if isinstance(times, ins.Const):
                return other, times.value
    return operand, 1


def _is_zero(init: ast.Expr | None) -> bool:
    """A global variable that begins so is zero all over."""
    if isinstance(init, ast.InitList):
        return all(isinstance(item, ast.IntLit) and item.value == 0 for item in init.items)
    return init is None or (isinstance(init, ast.IntLit) and init.value == 0)
