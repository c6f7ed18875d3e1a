"""That a block of its own can stand for the elements of a passage (``find.py``), and what that rests on.

The program is analysed with two marks at each passage: before its first statement variables that hold the start and the
number of its elements, after its last one another.  On that graph it is proved, of every copy of the function,

- the message is of just these elements, whose start and number are known since the first mark;
- between the marks no way leads out, and none leads in, nor past the message, which may stand under a condition;
- what is touched of the buffer between the marks are these elements by their number, ``buf[…]``, which is written anew,
  or others;
- after the first mark none of these elements is read before it is written, and none is read after the last one
  before it is written again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from opi_xform.divide.check import prover_at, stays_inside
from opi_xform.divide.flow import leaves, operands
from opi_xform.divide.passages.between import Between, Stretch
from opi_xform.divide.passages.called import place_of
from opi_xform.divide.passages.counted import Counted
from opi_xform.divide.passages.given import Given, gives
from opi_xform.divide.passages.guards import comes_to
from opi_xform.divide.passages.one_name import held, one_name
from opi_xform.divide.passages.sizes import Sizes
from opi_xform.graph.graph import Lost, Node, Unbind
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import ONE, Poly
from opi_xform.ownership.buffers.uses import buffers, collect
from opi_xform.ownership.conditions.contents.ends import ended_by_initialiser, marked
from opi_xform.ownership.explain.unreached import Unreached
from opi_xform.ownership.liveness.buffer_events import SIGNS
from opi_xform.ownership.model.buffers import Buffer, Place, Program, Use
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.requests.given_up import abandoned
from opi_xform.ownership.requests.pending import Asked, pending
from opi_xform.ownership.requests.surely import reached
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Marked:
    """A passage as it stands in the program with marks.

    place: its site.  at, count, end: the names of the variables of its marks.  mentions: where its elements are.
    handed: the message may pend at the last mark: its block is given away, or the passage does not count.
    """

    place: Place
    at: str
    count: str
    end: str
    mentions: frozenset[tuple[str, int]]
    handed: bool = False


@dataclass(frozen=True, slots=True)
class Proved:
    """anew: the elements that are written anew, by where they stand.  bytes: the message counts bytes, not elements.
    assumes: what it rests on.
    """

    anew: frozenset[tuple[str, int]]
    bytes: bool
    assumes: tuple[str, ...]


def told_one_by_one(program: Program) -> bool:
    """All that happens in a program is told one by one, and marks do not change that: else nothing is proved of it."""
    p = program
    return p.complete and not (p.graph.background.nodes or p.threads or p.nest.irreducible)


class Proof:
    """One program with marks; ``of`` each passage."""

    def __init__(self, program: Program, strict: bool) -> None:
        self.program = program
        self.strict = strict
        self.symbols = program.values.symbols
        self.index = index_of(program)
        self.uses = collect(program)
        self.buffers, _ = buffers(program, self.uses)
        self.unreached = Unreached(program)
        self.sizes = Sizes(program, self.uses)
        self.counted = Counted(program)
        self.defined: dict[str, list[Node]] = {}
        for node in program.graph.nodes:
            action = node.action
            if isinstance(action, ins.Define) and isinstance(action.target, ins.Var):
                self.defined.setdefault(action.target.key, []).append(node)

    def of(self, marked: Marked) -> Proved | None:
        """None where it is not proved."""
        p = self.program
        if not told_one_by_one(p):
            return None
        stretches = self.stretches(marked)
        functions = {p.graph.frames[one.frame].function for one in stretches}
        counts = {one.bytes for one in stretches}
        named = [place_of(p, one.use) for one in stretches]
        run = functions.union(*(by.through for by in named if by is not None))
        if len(functions) != 1 or len(counts) != 1 or not run.isdisjoint(p.graph.passed | p.graph.levels):
            return None
        if any(self.elsewhere(function) for function in run):
            return None
        anew: set[tuple[str, int]] = set()
        left: set[tuple[str, int]] = set()
        self.sizes.used = False
        for one in stretches:
            found = self.touched(one, marked)
            if found is None:
                return None
            anew |= found[0]
            left |= found[1]
        if not anew or anew & left:
            return None
        if not all(self.only_inside(one, frozenset(anew)) for one in stretches):
            return None
        if not all(comes_to(p, one.enter, one.use.node, one.leave) for one in stretches):
            return None
        if not all(self.complete(one, marked.handed) for one in stretches):
            return None
        assumes = self.dead(stretches)
        if assumes is not None and self.sizes.used:
            assumes = tuple(sorted({*assumes, SIGNS}))
        return None if assumes is None else Proved(frozenset(anew), counts.pop(), assumes)

    def elsewhere(self, function: str) -> bool:
        """It may run where no copy of it is."""
        above = self.unreached.above(function)
        functions = self.program.functions
        lost = any(one is not None for one in self.unreached.lost(above))
        return lost or self.unreached.started(above) is not None or any(functions[f].refused for f in above)

    # --- where it is in the graph ----------------------------------------------------------------------------------

    def stretches(self, marked: Marked) -> list[Stretch]:
        """One for each copy; [] where one is not understood."""
        by_frame: dict[int, dict[str, list[int]]] = {}
        for name in (marked.at, marked.count, marked.end):
            keys = [k for k, v in self.program.variables.items() if v.name == name]
            if len(keys) != 1:
                return []
            for node in self.defined.get(keys[0], ()):
                by_frame.setdefault(node.frame, {}).setdefault(name, []).append(node.number)
        uses: dict[int, list[Use]] = {}
        for use in self.uses:
            if use.place == marked.place:
                by = place_of(self.program, use)
                node = self.program.graph.nodes[use.node if by is None else by.node]
                uses.setdefault(node.frame, []).append(use)
        if not by_frame or uses.keys() != by_frame.keys():
            return []
        out = []
        for frame, names in sorted(by_frame.items()):
            at, count, end = (names.get(name, []) for name in (marked.at, marked.count, marked.end))
            if not len(at) == len(count) == len(end) == len(uses[frame]) == 1:
                return []
            one = self.stretch(frame, at[0], count[0], end[0], uses[frame][0])
            if one is None:
                return []
            out.append(one)
        return out

    def stretch(self, frame: int, at: int, count: int, end: int, use: Use) -> Stretch | None:
        values, by = self.program.values, place_of(self.program, use)
        if by is None or use.lo is None or use.length is None or at not in values.operands:
            return None
        elem = self.program.variables[by.ref.var].type.elem
        unit = elem.size if elem is not None else None
        if not unit or count not in values.operands or not single(self.program, self.uses, use):
            return None
        begin = self.symbols.resolve(values.operands[at][0]).scaled(unit)
        length, many = self.symbols.resolve(use.length), self.symbols.resolve(values.operands[count][0])
        if self.symbols.resolve(use.lo) != begin or length not in (many.scaled(unit), many):
            return None
        return Stretch(frame, count, end, use, begin, begin + length, length != many.scaled(unit))

    # --- between the marks -----------------------------------------------------------------------------------------

    def between(self, one: Stretch) -> set[int] | None:
        """The nodes between the marks; None where a way leads out of them."""
        nodes = self.program.graph.nodes
        found: set[int] = set()
        for n, last in reached(self.program.graph, one.enter, lambda n: n == one.leave):
            action = nodes[n].action
            if last or isinstance(action, Lost) or (isinstance(action, Unbind) and action.callee == one.frame):
                return None
            found.add(n)
        return None if one.enter in found else found

    def touched(self, one: Stretch, marked: Marked) -> tuple[set[tuple[str, int]], set[tuple[str, int]]] | None:
        """Of the elements between the marks, those that travel and others, by where they stand; None: not clear."""
        inside, use = self.between(one), one.use
        by = place_of(self.program, use)
        if inside is None or by is None or use.node not in inside or by.ref.var in self.program.members:
            return None
        key, nodes, accesses = by.ref.var, self.program.graph.nodes, self.program.values.accesses
        anew: set[tuple[str, int]] = set()
        left: set[tuple[str, int]] = set()
        here = set(self.index.accesses.nodes(use.object))
        var = self.program.variables[key]
        own = set() if var.type.is_array else self.variable(key, one.frame)
        gone = self.given(one, key, marked.mentions, inside)
        if gone is None:
            return None
        for n in sorted(inside):
            action = nodes[n].action
            touching = accesses.at_object(n, use.object) if n in here else []
            if isinstance(action, ins.Define) and action.target == ins.Var(key):
                return None  # the pointer becomes another one
            if accesses.touches(n, own, "W"):
                return None  # so it may
            if n == use.node:
                if not all(self.brings(a.lo, a.length, one) or self.other(a.lo, a.length, n, one) for a in touching):
                    return None
                continue
            if n in gone:
                if not all(self.travels(a.lo, a.length, n, one) for a in touching):
                    return None
                anew |= gone[n]
                continue
            places = self.places(nodes[n], key) if nodes[n].frame == one.frame else []
            mine = [place for place, plain in places if plain]
            named = bool(mine) and len(places) == 1 and mine[0] in marked.mentions
            if named and touching and all(self.travels(a.lo, a.length, n, one) for a in touching):
                anew.update(mine)
                continue
            left.update(place for place, _ in places)
            if not all(self.other(a.lo, a.length, n, one) for a in touching):
                return None
        return anew, left

    def given(
        self, one: Stretch, key: str, mentions: Collection[tuple[str, int]], inside: Collection[int]
    ) -> dict[int, set[tuple[str, int]]] | None:
        """The nodes between the marks to which addresses get that calls are given, with where these are written."""
        nodes, args = self.program.graph.nodes, self.program.values.args
        calls = [n for n in inside if nodes[n].frame == one.frame and gives(self.program, nodes[n])]
        found = {n: {place for place, _ in self.places(nodes[n], key)} & set(mentions) for n in calls}
        base, offset = self.symbols.base, self.symbols.offset
        mine = {n: [offset(v) for v in args.get(n, ()) if base(v) == one.use.object] for n in calls if found[n]}
        calls = [n for n, places in mine.items() if all(self.starts_inside(n, lo, one) for lo in places)]
        if not calls:
            return {}
        found = {n: found[n] for n in calls}
        flow = Given(self.program, key, one.frame, set().union(*found.values()))
        return flow.touching(one.use.object, inside)

    def starts_inside(self, n: int, lo: Poly, one: Stretch) -> bool:
        """An address leads to something of what travels, or to its start."""
        first, rest = self.symbols.resolve(lo) - one.begin, one.end - self.symbols.resolve(lo) - ONE
        return first.constant == 0 or all(map(prover_at(self.program, n, ()).proves, (first, rest)))

    def variable(self, key: str, frame: int) -> set[int]:
        """The object that a variable is itself, where it is one in memory."""
        objects = self.program.values.objects
        o = objects.by_variable.get((-1 if self.program.variables[key].is_global else frame, key))
        return set() if o is None else {o}

    def places(self, node: Node, key: str) -> list[tuple[tuple[str, int], bool]]:
        """Where a node has the buffer's name from, and whether it only touches an element there."""
        action = node.action
        if isinstance(action, (ins.Load, ins.Store)):
            base = _base(action.address)
        elif isinstance(action, ins.CopyBytes):
            base = _base(action.target) if _named(_base(action.target), key) else _base(action.source)
        else:
            base = None
        given, frame = operands(node)
        if frame != node.frame:
            given = ()
        return [
            ((leaf.span.file, leaf.span.begin), leaf is base)
            for operand in given
            for leaf in leaves(operand)
            if isinstance(leaf, (ins.Var, ins.AddrVar)) and leaf.key == key
        ]

    def brings(self, lo: Poly | None, length: Poly | None, one: Stretch) -> bool:
        """An access of the message's call is the message."""
        if lo is None or length is None:
            return False
        return self.symbols.resolve(lo) == one.begin and self.symbols.resolve(lo + length) == one.end

    def travels(self, lo: Poly | None, length: Poly | None, n: int, one: Stretch) -> bool:
        """An access is to what travels."""
        if lo is None or length is None:
            return False
        access = (self.symbols.resolve(lo), self.symbols.resolve(length))
        if stays_inside(self.program, n, access, (one.begin, one.end)):
            return True
        for begin, end, signs in self.counted.stretches(n, *access, self.strict):
            if all(self.counted.proves(n, p, ()) for p in (begin - one.begin, one.end - end)):
                self.sizes.used = self.sizes.used or signs
                return True
        return False

    def other(self, lo: Poly | None, length: Poly | None, n: int, one: Stretch) -> bool:
        """An access is to nothing of what travels."""
        if lo is None or length is None:
            return False
        begin, size = self.symbols.resolve(lo), self.symbols.resolve(length)
        prover = prover_at(self.program, n, (size - ONE,))
        beside = (begin - one.end, one.begin - begin - size)
        if any((p.constant is not None and p.constant >= 0) or prover.proves(p) for p in beside):
            return True
        sizes = [] if self.strict else self.sizes.at(one.use, n)
        if sizes:
            prover = prover_at(self.program, n, (size - ONE, *sizes))
            if any(prover.proves(p) for p in beside):
                self.sizes.used = True
                return True
        places = [(begin, begin + size, False), *self.counted.stretches(n, begin, size, self.strict)]
        for first, last, signs in places:
            for p in (first - one.end, one.begin - last):
                if self.counted.proves(n, p, ()):
                    self.sizes.used = self.sizes.used or signs
                    return True
                if sizes and self.counted.proves(n, p, sizes):
                    self.sizes.used = True
                    return True
        return False

    def only_inside(self, one: Stretch, anew: Collection[tuple[str, int]]) -> bool:
        """What is written anew runs between the marks only, in this copy of the function; so does the message, and the
        last mark comes once after the first one.
        """
        inside = self.between(one) or set()
        by = place_of(self.program, one.use)
        assert by is not None
        mine = [
            node.number
            for node in self.program.graph.nodes
            if node.frame == one.frame and any(place in anew for place, _ in self.places(node, by.ref.var))
        ]
        mine.append(one.use.node)
        if not all(n in inside for n in mine):
            return False
        mine.append(one.leave)
        if not all(self.program.dominates(one.enter, n) for n in mine):
            return False
        nodes = self.program.graph.nodes

        def stop(n: int) -> bool:
            action = nodes[n].action
            return n == one.enter or (isinstance(action, Unbind) and action.callee == one.frame)

        after = {n for n, _ in reached(self.program.graph, one.leave, stop)}
        return after.isdisjoint(mine)

    def complete(self, one: Stretch, handed: bool) -> bool:
        """The message does not pend any more at the last mark, or may; it is one that is waited for.

        One that may is sent on every way: nobody else frees its block.
        """
        if one.use.op.blocking:
            return True
        names = names_of(self.program)
        if abandoned(names, one.use):
            return False
        if handed:
            return self.program.dominates(one.use.node, one.leave)
        return not pending(names, one.use.node, one.use.op, [Asked(one.leave, True)])

    # --- before and behind -----------------------------------------------------------------------------------------

    def dead(self, stretches: Sequence[Stretch]) -> tuple[str, ...] | None:
        """Nothing of what travels is needed from before the passages, or after them: on what that rests."""
        out: set[str] = set()
        by_object: dict[int, list[Stretch]] = {}
        for one in stretches:
            by_object.setdefault(one.use.object, []).append(one)
        for o, mine in sorted(by_object.items()):
            buffer = next((b for b in self.buffers if o in b.objects), None)
            if buffer is None or buffer.carrier.rows or buffer.swaps or self.ended(buffer):
                return None
            found = Between(self.program, buffer, o, self.strict, mine).rests
            if found is None:
                return None
            out.update(found)
        return tuple(sorted(out))

    def ended(self, buffer: Buffer) -> bool:
        """What is there before a receive may end what is read of its message: A1 is not made of it, see ``ends.py``."""
        receives = [u for u in buffer.uses if u.side == "recv"]
        if not receives:
            return False
        ends = ended_by_initialiser(self.program, buffer, "recv") or marked(self.program, buffer, receives)
        return ends is not None


def single(program: Program, uses: Sequence[Use], use: Use) -> bool:
    """The object is one piece of memory, which nobody else knows, and the call has one message in it."""
    values, graph, o = program.values, program.graph, use.object
    if o < 0 or o in values.escaped or o in values.given_away:
        return False
    objects = values.objects
    if o in objects.called_back or o in objects.exposed or o in values.foreign:
        return False
    info = objects.table[o]
    born = (info.frame, *(graph.nodes[n].frame for n in info.nodes))
    if any(frame >= 0 and graph.frames[frame].function in graph.levels for frame in born):
        return False
    if info.kind == "heap":
        # Several allocations that are one object are there one at a time (``pointsto/successive.py``).
        again = o in values.lazy or bool(program.nest.chain(graph.nodes[info.nodes[0]].block))
        if len(info.nodes) == 1 and again and not one_name(program, o):
            return False
    elif info.kind != "variable" or o in values.lazy:
        return False
    if held(program, o):
        return False
    return not any(u.op.persistent for u in uses if u.object == o) and (
        sum(u.node == use.node and u.object == o for u in uses) == 1
    )


def _base(operand: ins.Operand) -> ins.Operand:
    while isinstance(operand, ins.PtrAdd):
        operand = operand.base
    return operand


def _named(leaf: ins.Operand, key: str) -> bool:
    return isinstance(leaf, (ins.Var, ins.AddrVar)) and leaf.key == key
