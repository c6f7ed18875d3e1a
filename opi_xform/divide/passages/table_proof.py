"""That the rows of a table can stand for the stretches that a loop of receives brings (``tables.py``).

The program is analysed with marks: how many turns the loop has, before it; the end, after the last statement; and in
each element's number which message it may be of, where that message begins and how long it is, evaluated right there.
On that graph it is proved, of every copy of the function,

- the messages' starts, counts and number are made of what nothing changes between the marks;
- no way leads out between the marks, and none leads in;
- what touches the buffer between them is the messages, and elements that lie in the message of their row;
- the row of such an element is one that the loop has received into, and all messages are complete at the end;
- after the end nothing is read of the buffer before it is written.  What is read between the marks came in between.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from opi_xform.divide.check import prover_at, stays_inside
from opi_xform.divide.flow import leaves
from opi_xform.divide.passages.between import Between, Stretch
from opi_xform.divide.passages.find import beginning
from opi_xform.divide.passages.proof import Proof, single, told_one_by_one
from opi_xform.divide.passages.table_spell import RowNames
from opi_xform.divide.passages.tables import loop_of
from opi_xform.graph.graph import evaluated
from opi_xform.ir import instr as ins
from opi_xform.memory.objects import UNKNOWN
from opi_xform.memory.poly import ONE, ZERO, Poly, symbol
from opi_xform.ownership.liveness.marks import marks_before
from opi_xform.ownership.model.buffers import Buffer, Place, Program, Use
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.requests.completions import waited
from opi_xform.ownership.requests.given_up import abandoned
from opi_xform.ownership.requests.pending import Asked, pending
from opi_xform.record import dataclass
from opi_xform.regions.sets import BudgetExceeded

Spot = tuple[str, int]


@dataclass(frozen=True, slots=True)
class MarkedTable:
    """A table as it stands in the program with marks.

    place: its site.  turns, end, at, count: the names of the variables of its marks.  rows: of each element, by where
    it stands, the marks of each row that it may be in.
    """

    place: Place
    turns: str
    end: str
    at: str
    count: str
    rows: tuple[tuple[Spot, tuple[RowNames, ...]], ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """A table in one copy of its function.  around: from its first mark to its last one.  turns: how many messages.

    read: the nodes that touch its elements.
    """

    around: Stretch
    turns: Poly
    read: frozenset[int]


@dataclass(frozen=True, slots=True)
class ProvedTable:
    """chosen: the row of each element, as a number among those it may be in.  bytes: the messages count bytes."""

    chosen: tuple[tuple[Spot, int], ...]
    bytes: bool
    lines: tuple[Lines, ...]


class TableProof(Proof):
    """One program with marks; ``table`` proves one, ``together`` says what several rest on."""

    def table(self, marked: MarkedTable) -> ProvedTable | None:
        """All but that nothing is needed after it; None where it is not proved."""
        p = self.program
        if not told_one_by_one(p):
            return None
        frames = self.frames(marked)
        functions = {p.graph.frames[frame].function for frame in frames}
        if len(functions) != 1 or not functions.isdisjoint(p.graph.passed | p.graph.levels):
            return None
        if any(self.elsewhere(function) for function in functions):
            return None
        chosen: dict[Spot, int] = {}
        lines: list[Lines] = []
        for frame, (turns, end, use) in sorted(frames.items()):
            around = self.around(marked, frame, turns, end, use)
            found = None if around is None else self.read(marked, around, self.value(turns), chosen)
            if around is None or found is None or not self.complete_here(around):
                return None
            lines.append(Lines(around, self.value(turns), frozenset(found)))
        spots = frozenset(chosen)
        if spots != {spot for spot, _ in marked.rows}:
            return None
        if not all(self.only_inside(one.around, spots) for one in lines):
            return None
        counts = {one.around.bytes for one in lines}
        return ProvedTable(tuple(sorted(chosen.items())), counts.pop(), tuple(lines)) if len(counts) == 1 else None

    # --- where it is in the graph ----------------------------------------------------------------------------------

    def frames(self, marked: MarkedTable) -> dict[int, tuple[int, int, Use]]:
        """By copy of the function: the nodes of the outer marks, and the message; {} where one is not understood."""
        first, last = self.by_frame(marked.turns), self.by_frame(marked.end)
        uses: dict[int, list[Use]] = {}
        for use in self.uses:
            if use.place == marked.place:
                uses.setdefault(self.program.graph.nodes[use.node].frame, []).append(use)
        if not uses or not first.keys() == last.keys() == uses.keys():
            return {}
        out = {frame: (first[frame], last[frame], uses[frame]) for frame in first}
        if any(len(found) != 1 for parts in out.values() for found in parts):
            return {}
        return {frame: (a[0], b[0], c[0]) for frame, (a, b, c) in out.items()}

    def by_frame(self, name: str) -> dict[int, list[int]]:
        """The nodes that set a mark's variable."""
        keys = [k for k, v in self.program.variables.items() if v.name == name]
        out: dict[int, list[int]] = {}
        for node in self.defined.get(keys[0], ()) if len(keys) == 1 else ():
            out.setdefault(node.frame, []).append(node.number)
        return out

    def value(self, n: int) -> Poly:
        return self.symbols.resolve(self.program.values.operands[n][0])

    def around(self, marked: MarkedTable, frame: int, turns: int, end: int, use: Use) -> Stretch | None:
        """The stretch, of which begin and end do not count; None where the messages are others than they seem."""
        values, begun = self.program.values, beginning(use)
        if begun is None or use.lo is None or use.length is None or use.buffer.count is None:
            return None
        elem = self.program.variables[begun[0].var].type.elem
        args = values.args.get(use.node, ())
        if elem is None or not elem.size or turns not in values.operands or use.buffer.count >= len(args):
            return None
        if begun[0].var in self.program.members or not single(self.program, self.uses, use):
            return None
        length, many = self.symbols.resolve(use.length), self.symbols.resolve(args[use.buffer.count])
        if length not in (many.scaled(elem.size), many):
            return None
        out = Stretch(frame, turns, end, use, ZERO, ZERO, length != many.scaled(elem.size))
        inside = self.between(out)
        made = [self.by_frame(name).get(frame, []) for name in (marked.at, marked.count)]
        if inside is None or use.node not in inside or any(len(found) != 1 for found in made):
            return None
        (at,), (count,) = made
        if self.value(at).scaled(elem.size) != self.symbols.resolve(use.lo) or self.value(count) != many:
            return None
        return out if self.lasting(out, (turns, at, count), inside) else None

    def lasting(self, one: Stretch, marks: Sequence[int], inside: Collection[int]) -> bool:
        """What the messages' starts, counts and number are made of stays as it is between the marks."""
        graph, names = self.program.graph, names_of(self.program)
        made = [graph.nodes[n].action for n in marks]
        info = graph.statement(graph.nodes[one.use.node])
        function = self.program.functions[graph.frames[one.frame].function]
        loop = None if info is None else loop_of(self.program, function, info.stmt)
        if loop is None or self.waits(one.use.node):
            return False
        counter = self.program.values.objects.variable(one.frame, loop.counter)
        read = self.made_of(one.frame, [action.value for action in made if isinstance(action, ins.Define)])
        if read is None or UNKNOWN in read:
            return False
        read.discard(counter)
        for n in inside:
            if any(name[0] == "v" and name[1] in read for name in names.defined(graph.nodes[n])):
                return False
            if self.program.values.accesses.touches(n, read, "W"):
                return False
        return True

    def waits(self, n: int) -> bool:
        """Something is complete in a turn of the loop around a message: then two of them may have the same place."""
        graph, nest, names = self.program.graph, self.program.nest, names_of(self.program)
        around = nest.of[graph.nodes[n].block]
        if around < 0:
            return True
        inside = (m for block in nest.loops[around].blocks for m in graph.blocks[block])
        return any(m in names.operations and names.operations[m].completes is not None for m in inside)

    def made_of(self, frame: int, roots: Sequence[ins.Operand]) -> set[int] | None:
        """The objects that operands are computed from; None where one is not followed."""
        graph, names, values = self.program.graph, names_of(self.program), self.program.values
        out: set[int] = set()
        work = [leaf for root in roots for leaf in leaves(root)]
        seen: set[int] = set()
        while work:
            leaf = work.pop()
            if isinstance(leaf, ins.Var):
                key = (-1 if self.program.variables[leaf.key].is_global else frame, leaf.key)
                o = values.objects.by_variable.get(key)
                out.add(values.objects.variable(*key) if o is None else o)
            elif isinstance(leaf, ins.Temp) and leaf.number not in seen:
                seen.add(leaf.number)
                setting = names.defs.get(("t", frame, leaf.number), [])
                if not setting:
                    return None
                for n in setting:
                    action = graph.nodes[n].action
                    if not isinstance(action, (ins.Define, ins.Load)):
                        return None
                    if isinstance(action, ins.Load):
                        out.update(values.accesses.objects(n, "R"))
                    work += [inner for operand in evaluated(action) for inner in leaves(operand)]
        return out

    # --- between the marks -----------------------------------------------------------------------------------------

    def read(self, marked: MarkedTable, one: Stretch, turns: Poly, chosen: dict[Spot, int]) -> list[int] | None:
        """The nodes that touch elements, each in the message of its row; None where anything else is touched.

        chosen: the row of each element, the same in all copies.
        """
        inside, begun = self.between(one) or set(), beginning(one.use)
        assert begun is not None
        key, nodes, accesses = begun[0].var, self.program.graph.nodes, self.program.values.accesses
        rows = dict(marked.rows)
        own = set() if self.program.variables[key].type.is_array else self.variable(key, one.frame)
        here = set(self.index.accesses.nodes(one.use.object))
        out: list[int] = []
        for n in sorted(inside):
            action = nodes[n].action
            if isinstance(action, ins.Define) and action.target == ins.Var(key):
                return None
            if accesses.touches(n, own, "W"):
                return None
            touching = accesses.at_object(n, one.use.object) if n in here else []
            places = self.places(nodes[n], key) if nodes[n].frame == one.frame else []
            if n == one.use.node:
                begins = [None if a.lo is None else self.symbols.resolve(a.lo) for a in touching]
                if one.use.lo is None or begins != [self.symbols.resolve(one.use.lo)]:
                    return None
                continue
            if not touching and not places:
                continue
            if len(places) != 1 or not places[0][1] or places[0][0] not in rows or not touching:
                return None
            spot = places[0][0]
            for i, names in enumerate(rows[spot]):
                if chosen.get(spot, i) == i and all(
                    self.in_row(n, a.lo, a.length, one, turns, names) for a in touching
                ):
                    chosen[spot] = i
                    out.append(n)
                    break
            else:
                return None
        return out

    def in_row(
        self,
        n: int,
        lo: Poly | None,
        length: Poly | None,
        one: Stretch,
        turns: Poly,
        names: RowNames,
    ) -> bool:
        """An access is to the message whose number, start and count the marks before it say, and there is that one."""
        if lo is None or length is None:
            return False
        graph = self.program.graph
        block = graph.nodes[n].block
        begun = beginning(one.use)
        found: list[Poly] = []
        for name in (names.row, names.at, names.count):
            marks = [m for m in self.by_frame(name).get(one.frame, []) if graph.nodes[m].block == block and m < n]
            if len(marks) != 1 or marks[0] not in self.program.values.operands:
                return False
            found.append(self.value(marks[0]))
        row, at, count = found
        elem = None if begun is None else self.program.variables[begun[0].var].type.elem
        if elem is None or not elem.size:
            return False
        begin = at.scaled(elem.size)
        end = begin + (count if one.bytes else count.scaled(elem.size))
        access = (self.symbols.resolve(lo), self.symbols.resolve(length))
        if not stays_inside(self.program, n, access, (begin, end)):
            return False
        return self.received(n, row, turns, self.looked_up(at, row, self.symbols.resolve(lo)))

    def received(self, n: int, row: Poly, turns: Poly, looked_up: bool) -> bool:
        """A row is one of those that the loop received into."""
        prover = prover_at(self.program, n, ())

        def holds(p: Poly) -> bool:
            p = self.symbols.resolve(p)
            return (p.constant is not None and p.constant >= 0) or prover.proves(p)

        if holds(row) and holds(turns - row - ONE):
            return True
        count = self.waited(row) if looked_up else None
        return count is not None and holds(turns - count)

    def looked_up(self, at: Poly, row: Poly, lo: Poly) -> bool:
        """A row's start is what memory holds at a place that the row tells, and an element's place is made of it: so
        the row is a subscript there.
        """
        told = list(at.symbols())
        if len(told) != 1 or at != symbol(told[0]) or told[0] not in lo.symbols():
            return False
        info = self.symbols.table[told[0]]
        made = (self.symbols.resolve(part) for part in info.key if isinstance(part, Poly))
        return info.kind == "load" and any(set(row.symbols()) & set(p.symbols()) for p in made)

    def waited(self, row: Poly) -> Poly | None:
        """A row is what MPI_Waitany told: of how many requests.

        Where it is a subscript, it is less than that number: MPI_UNDEFINED is no place in an array.
        """
        told = list(row.symbols())
        found = waited(names_of(self.program), told[0]) if len(told) == 1 and row == symbol(told[0]) else None
        return None if found is None else self.symbols.resolve(found[2])

    def complete_here(self, one: Stretch) -> bool:
        """The messages do not pend any more at the last mark, and each is one that is waited for."""
        names = names_of(self.program)
        if abandoned(names, one.use):
            return False
        return not pending(names, one.use.node, one.use.op, [Asked(one.leave, True)])

    # --- after them -----------------------------------------------------------------------------------------------

    def together(self, proved: Sequence[ProvedTable]) -> dict[int, tuple[str, ...]]:
        """Which of them nothing is needed of after their ends, by number, and on what that rests."""
        out: dict[int, tuple[str, ...]] = {}
        objects = {one.around.use.object for table in proved for one in table.lines}
        rests = {
            o: self.behind(o, [x for table in proved for x in table.lines if x.around.use.object == o]) for o in objects
        }
        for i, table in enumerate(proved):
            found = [rests[one.around.use.object].get(one.around.leave) for one in table.lines]
            if all(x is not None for x in found):
                out[i] = tuple(sorted(set(chain.from_iterable(x for x in found if x is not None))))
        return out

    def behind(self, o: int, lines: Sequence[Lines]) -> Mapping[int, tuple[str, ...]]:
        """Of the tables of one object: on what it rests that nothing is needed, by their ends; not all have one."""
        buffer = next((b for b in self.buffers if o in b.objects), None)
        if buffer is None or buffer.carrier.rows or buffer.swaps or self.ended(buffer):
            return {}
        if any(marks_before(self.program, buffer, one.around.use, one.around.enter) is not None for one in lines):
            return {}  # what a shorter message leaves there may end what is read
        return Behind(self.program, buffer, o, self.strict, lines).rested


class Behind(Between):
    """What is needed of an object after the ends of tables, where what is read of their messages comes with these.

    rested: by end, on what it rests that nothing is.
    """

    def __init__(self, program: Program, buffer: Buffer, o: int, strict: bool, lines: Sequence[Lines]) -> None:
        self.lines = lines
        self.rested: dict[int, tuple[str, ...]] = {}
        super().__init__(program, buffer, o, strict, [one.around for one in lines])

    def liveness(self) -> None:
        real = [one for one in self.lines if self.comes(one.around.use)]
        of_messages: set[int] = set().union(*(one.read for one in real))
        others = (set(self.accesses) | set(self.use_nodes)) - of_messages
        for assumed in self.attempts():
            try:
                with self.regions.budget():
                    found, _ = self.live(None, only=others, assumed=assumed)
                    for one in real:
                        live = found.get(one.around.leave)
                        if one.around.leave not in self.rested and live is not None and live.is_empty():
                            self.rested[one.around.leave] = (*sorted(assumed), *self.messages())
            except BudgetExceeded:
                self.regions.context.reset_operations()

    def bytes(self) -> None:
        """All of them are asked about, whatever travels."""

    def comes(self, use: Use) -> bool:
        """Each message comes from somebody, and its failure ends the program."""
        if use.buffer.peer is None or self.brought(use) is None or self.program.constants.get("MPI_PROC_NULL") is None:
            return False
        return not self.null.possible(use.node, use.buffer.peer)
