"""The proof that an allocation falls into parts that pointer variables name, each of which can be one of its own.

Every access stays in the part of the variable that its address is made from, and for each life of the memory each of
these variables is set once: so the place where it is set can allocate its part, and what frees the memory frees all.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping

from opi_xform.divide.asserted import asserted
from opi_xform.divide.check import Checking, freed, is_place, prover_at
from opi_xform.divide.decompose import pairs
from opi_xform.divide.find import allocated, watched
from opi_xform.divide.flow import Pointers, Trouble, VariableFlow, leaves, operands, other_memory
from opi_xform.divide.layout import MOST, Layout, Reading, chain, multiples
from opi_xform.divide.mentions import FreeTest, Mention, Place, mentions_of, only_for_free
from opi_xform.divide.named.handed import origin, other_later
from opi_xform.divide.named.names import Naming
from opi_xform.divide.size_text import Spot, Word, Words
from opi_xform.graph.leads import ENTRY, leads
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import ZERO, Poly, number
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.inequalities import divided
from opi_xform.ownership.model.object_index import index_of
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class NamedDivision:
    """An allocation that falls into parts with names.

    first: elements of the first part, as text.  sizes: those of the part that is named where a mention stands, by its
    place.  mentions: of all its variables, each with the variable.  untested: the tests before what frees it that
    always find memory.  assumes: that no part's size is negative.
    """

    naming: Naming
    call: ast.Call
    first: str
    sizes: Mapping[Place, str]
    mentions: tuple[tuple[str, Mention], ...]
    count: int
    untested: tuple[FreeTest, ...]
    assumes: bool


class NamedDividing:
    """Looks for the parts of one allocation; one use: ``run``."""

    def __init__(self, program: Program, naming: Naming, read: Callable[[str], bytes]) -> None:
        self.program = program
        self.naming = naming
        self.read = read
        self.here = program.variables[naming.base].span
        told = {key: asserted(mentions_of(program).of(key), program.files, read) for key in naming.names}
        self.mentions = [(key, m) for key, found in told.items() for m in found]
        self.by_place: dict[Place, tuple[str, Mention]] = {}
        self.nulls: dict[str, list[int]] = {}  # nodes that set a variable to NULL

    def run(self) -> NamedDivision:
        """Raises Trouble."""
        naming = self.naming
        for key, m in self.mentions:
            if m.place in self.by_place:
                raise Trouble(m.ref.span, "is written by a macro")
            self.by_place[m.place] = (key, m)
        self.known_kinds()
        linking = {n for link in naming.links.values() for n in (link.node, *link.through)}
        flow = VariableFlow(self.program, set(naming.names), linking).run()
        words, spots = self.words()
        program, worth = self.watched(words, spots)
        try:
            return self.division(program, flow, words, spots, worth)
        finally:
            program.end()

    def division(
        self,
        program: Program,
        flow: Pointers,
        words: list[Word],
        spots: list[Spot],
        worth: dict[tuple[int, int], Poly],
    ) -> NamedDivision:
        """Raises Trouble."""
        naming = self.naming
        self.symbols = program.values.symbols
        offsets = self.definitions(program)
        layout = self.layout(program, offsets)
        parts = {key: self.part(layout, at) for key, at in offsets.items()}
        readings = self.readings(program, parts)
        self.accesses(program, flow, readings, layout)
        self.unnamed(program, flow)
        ends = self.lives(program, flow)
        untested = self.untested(program, ends)
        assumes = not self.evident(program, layout)
        first, sizes = self.spelled(layout, parts, words, spots, worth)
        call = program.graph.nodes[origin(program, naming.objects[0]).call].action
        assert isinstance(call, ins.CallInstr)
        count = len(next(iter(layout.bounds.values()))) - 1
        return NamedDivision(naming, call.call, first, sizes, tuple(self.mentions), count, untested, assumes)

    def known_kinds(self) -> None:
        """The variables point to one kind of element; copies of the function do not share them.  Raises Trouble."""
        variables = [self.program.variables[key] for key in self.naming.names]
        elements = {None if v.type.elem is None else v.type.elem.size for v in variables}
        if len(elements) != 1:
            raise Trouble(self.here, "has parts of elements of another size")
        if len(self.naming.objects) > 1 and any(v.is_global for v in variables):
            raise Trouble(self.here, "is allocated more than once, for the same variables")
        graph, table = self.program.graph, self.program.values.objects.table
        nodes = [*self.naming.made, *self.naming.links, *(table[o].node for o in self.naming.objects)]
        if any(graph.frames[graph.nodes[n].frame].function in graph.levels for n in nodes):
            raise Trouble(self.here, "is allocated or divided by a function that calls itself")
        for n in self.naming.made:
            mine = [origin(self.program, o).call for o in self.naming.objects]
            mine = [a for a in mine if graph.nodes[a].frame == graph.nodes[n].frame]
            if len(mine) != 1 or graph.statement(graph.nodes[mine[0]]) is not graph.statement(graph.nodes[n]):
                raise Trouble(node_span(self.program, n), "sets its pointer to memory that another statement allocates")

    # --- what is known ---------------------------------------------------------------------------------------------

    def words(self) -> tuple[list[Word], list[Spot]]:
        """What the sizes may be written with, and where they are to be written.  Raises Trouble."""
        graph = self.program.graph
        words: list[Word] = []
        spots: list[Spot] = []
        for link in self.naming.links.values():
            node = graph.nodes[link.at]
            key, m = self.by_place.get(link.place, ("", None))
            if m is None or m.stmt is None or key != link.source:
                raise Trouble(node_span(self.program, link.node), "sets a pointer in a way that is not followed")
            if not link.added:
                continue
            spots.append(Spot(link.at, node.frame, m.stmt))
            for term, add in zip(m.terms, link.added, strict=False):
                if add.scale != term.sign * term.unit:
                    break
                words += _words(term.expr, add.index, link.at, node.frame)
        for o in self.naming.objects:
            n = origin(self.program, o).call
            node = graph.nodes[n]
            call, info = node.action, graph.statement(node)
            if not isinstance(call, ins.CallInstr) or info is None:
                raise Trouble(self.here, "is allocated in a way that is not followed")
            spots.append(Spot(n, node.frame, info.stmt))
            for e, operand in zip(call.call.args, call.args, strict=True):
                words += _words(e, operand, n, node.frame)
        self.vocabulary = Words(self.program, self.read, words, set(self.naming.names))
        return self.vocabulary.words, spots

    def watched(self, words: list[Word], spots: list[Spot]) -> tuple[Program, dict[tuple[int, int], Poly]]:
        """The program once more; what each word (by its number) is worth at each spot (by its node)."""
        wanted: dict[int, list[tuple[int, ins.Operand]]] = {}
        asked: dict[tuple[int, int], int] = {}
        numbers = {id(word): i for i, word in enumerate(words)}
        for spot in spots:
            for word in self.vocabulary.at(spot):
                wishes = wanted.setdefault(spot.node, [])
                asked[spot.node, numbers[id(word)]] = len(wishes)
                wishes.append((spot.frame, word.operand))
        program, found = watched(self.program, wanted)
        resolve = program.values.symbols.resolve
        return program, {(n, i): resolve(found[n, at]) for (n, i), at in asked.items() if (n, at) in found}

    def definitions(self, program: Program) -> dict[str, dict[int, Poly]]:
        """Where in each object each variable points: to that place it is set, and to NULL, to nothing else.  Raises
        Trouble.
        """
        naming = self.naming
        out: dict[str, dict[int, Poly]] = {key: {} for key in naming.names}
        for node in program.graph.nodes:
            action = node.action
            if not isinstance(action, ins.Define) or not isinstance(action.target, ins.Var):
                continue
            values = program.values.operands.get(node.number)
            if action.target.key not in out or values is None:
                continue
            if values[0] == ZERO:
                self.nulls.setdefault(action.target.key, []).append(node.number)
                continue
            there = self.symbols.not_null(values[0])
            base = self.symbols.base(there)
            offset = self.symbols.resolve(self.symbols.offset(there))
            known = node.number in naming.links or (node.number in naming.made and offset == ZERO)
            if (
                base not in naming.objects
                or not known
                or out[action.target.key].setdefault(base, offset) != offset
                or (node.number in naming.links and naming.links[node.number].target != action.target.key)
            ):
                raise Trouble(node_span(program, node.number), other_memory(program, node))
        return out

    def layout(self, program: Program, offsets: Mapping[str, Mapping[int, Poly]]) -> Layout:
        """Raises Trouble."""
        elem = program.variables[self.naming.base].type.elem
        unit = 1 if elem is None else elem.size or 1
        bounds: dict[int, tuple[Poly, ...]] = {}
        for o in self.naming.objects:
            size = allocated(program, program.values.objects.table[o].node, bool(origin(program, o).frames))
            begins = [offsets[key][o] for key in self.naming.owners if o in offsets[key]]
            found = chain(size, begins, unit) if len(begins) == len(self.naming.owners) else None
            if found is None:
                raise Trouble(self.here, "has parts of which it is not known how they lie after each other")
            bounds[o] = found
        counts = {len(found) - 1 for found in bounds.values()}
        if counts != {len(self.naming.owners) + 1} or max(counts) > MOST:
            raise Trouble(self.here, "has parts that are not one after the other")
        return Layout(max(counts), bounds, {})

    def part(self, layout: Layout, at: Mapping[int, Poly]) -> int:
        """The part that begins at a place, the same in all objects.  Raises Trouble."""
        found = {bounds.index(at[o]) for o, bounds in layout.bounds.items() if o in at and at[o] in bounds[:-1]}
        if len(found) != 1 or len(at) != len(layout.bounds):
            raise Trouble(self.here, "has a pointer that is not set to the beginning of one part")
        return next(iter(found))

    def readings(self, program: Program, parts: Mapping[str, int]) -> dict[Place, list[Reading]]:
        """Each mention at each node, and the part that it names.  Raises Trouble."""
        out: dict[Place, list[Reading]] = {}
        for node in program.graph.nodes:
            found, frame = operands(node)
            for leaf in (leaf for operand in found for leaf in leaves(operand)):
                if not isinstance(leaf, (ins.Var, ins.AddrVar)) or leaf.key not in parts:
                    continue
                place = (leaf.span.file, leaf.span.begin)
                if self.by_place.get(place, ("",))[0] != leaf.key:
                    raise Trouble(node_span(program, node.number), "names it in a way that is not followed")
                out.setdefault(place, []).append(Reading(node.number, frame, {}, part=number(parts[leaf.key])))
        for place, (_, m) in self.by_place.items():
            if place not in out and m.kind not in ("size", "set") and not _unread(m):
                raise Trouble(m.ref.span, "names it where the analysis does not get")
        return out

    # --- what is proved --------------------------------------------------------------------------------------------

    def accesses(
        self, program: Program, flow: Pointers, readings: Mapping[Place, list[Reading]], layout: Layout
    ) -> None:
        """Each access stays in its part, of the memory that is there.  Raises Trouble."""
        checking = Checking(program, flow, readings, layout)
        linking = {link.at for link in self.naming.links.values()}
        checking.frees({m.place for key, m in self.mentions if m.kind == "freed" and self.first(key)})
        for o in self.naming.objects:
            scope = checking.changing(o)
            found = index_of(program).accesses.of(o)
            nodes = [(place, r.node) for place, rs in readings.items() for r in rs if self.meant(program, place, r, o)]
            checking.this_life(o, [*(n for _, n in nodes), *found])
            for place, n in nodes if scope else ():
                key = self.by_place[place][0]
                setting = self.setting(program, key, o)
                if n not in linking and not any(checking.before(d, n, scope) for d in setting):
                    raise Trouble(node_span(program, n), "may find a pointer there to memory of another size")
            for _, accesses in sorted(found.items()):
                for a in accesses:
                    checking.access(a)

    def first(self, key: str) -> bool:
        """The variable names the first part."""
        naming = self.naming
        while key != naming.base and key not in naming.owners:
            key = next(link.source for link in naming.links.values() if link.target == key)
        return key == naming.base

    def meant(self, program: Program, place: Place, reading: Reading, o: int) -> bool:
        """A mention may mean that object."""
        made = program.graph.nodes[origin(program, o).call]
        return program.variables[self.by_place[place][0]].is_global or made.frame == reading.frame

    def setting(self, program: Program, key: str, o: int) -> list[int]:
        """Nodes that set a variable to a place in an object."""
        nodes = [n for n, link in self.naming.links.items() if link.target == key]
        nodes += self.naming.made if key == self.naming.base else ()
        given = {n: self.symbols.not_null(program.values.operands[n][0]) for n in nodes}
        return [n for n in nodes if self.symbols.base(given[n]) == o]

    def unnamed(self, program: Program, flow: Pointers) -> None:
        """What is made of its address without a name is tested for NULL and given a name.  Raises Trouble."""
        known = {n for n, _ in flow.roots} | {*self.naming.links, *self.naming.made}
        known |= {n for link in self.naming.links.values() for n in link.through}
        addressed: dict[int | None, list[int]] = {}
        for n, values in program.values.operands.items():
            for base in {self.symbols.base(self.symbols.not_null(v)) for v in values}:
                addressed.setdefault(base, []).append(n)
        for o in self.naming.objects:
            for n in addressed.get(o, ()):
                action = program.graph.nodes[n].action
                inside = program.graph.nodes[n].frame in origin(program, o).frames or n == origin(program, o).left
                if n in known or inside or (isinstance(action, ins.Define) and isinstance(action.target, ins.Temp)):
                    continue
                values = program.values.operands[n]
                if isinstance(action, ins.Branch) and (len(values) == 1 or ZERO in values):
                    continue
                raise Trouble(node_span(program, n), "uses its address in a way that is not followed")

    def lives(self, program: Program, flow: Pointers) -> dict[int, int]:
        """Each part is named once in each life of the memory, and before its end.  Raises Trouble.

        The nodes that end it, each with the object.
        """
        naming = self.naming
        frees = self.frees(program, flow)
        for o in naming.objects:
            made = {program.values.objects.table[o].node}
            setting = {key: set(self.setting(program, key, o)) for key in naming.names}
            for key in naming.owners:
                for n in setting[key]:
                    self.never(program, n, (ENTRY,), {n}, made, "names a part of memory that may not be there")
                    source = setting[naming.links[n].source]
                    self.never(program, n, made, {n}, source, "names a part of memory that may be an earlier one")
                    self.never(program, n, (n,), setting[key], made, "may name a part a second time")
                    if (changed := other_later(program, o, n)) is not None:
                        text = "may change what the function that hands it out does, before its parts are named"
                        raise Trouble(node_span(program, changed), text)
            ends = {n for n, (base, _) in frees.items() if base == o}
            for n in ends:
                self.never(program, n, (ENTRY,), {n}, made, "frees it where it may not be there")
                self.never(program, n, (n,), ends, made, "may free it a second time")
                for key in (frees[n][1], *naming.owners):
                    self.never(program, n, made, {n}, setting[key], "frees it where a part may not have been named")
                    nulls = self.nulls.get(key, ())
                    self.never(program, n, nulls, {n}, setting[key], "frees it where a part's name may be NULL")
        return {n: base for n, (base, _) in frees.items()}

    def untested(self, program: Program, ends: Mapping[int, int]) -> tuple[FreeTest, ...]:
        """Tests such as ``if (in) free(in);`` to which every way passes an allocation, then the parts' names, and comes
        before the memory is freed.
        """
        graph, naming = program.graph, self.naming
        out: list[FreeTest] = []
        for key, m in self.mentions:
            function = program.functions.get(m.function)
            body = None if function is None else function.body
            found = only_for_free(m, [one for k, one in self.mentions if k == key], body) if self.first(key) else None
            if found is None:
                continue
            nodes = [
                node
                for node in graph.nodes
                if isinstance(node.action, ins.Branch)
                and (info := graph.statement(node)) is not None
                and info.stmt is found.test
            ]
            for node in nodes:
                mine = [
                    o for o in naming.objects if self.meant(program, m.place, Reading(node.number, node.frame, {}), o)
                ]
                if not mine or not all(self.always(program, key, node.number, o, ends) for o in mine):
                    break
            else:
                out += [found] if nodes else []
        return tuple(out)

    def always(self, program: Program, key: str, n: int, o: int, ends: Mapping[int, int]) -> bool:
        """The memory is there at a node, and all parts have their names."""
        graph, made = program.graph, {program.values.objects.table[o].node}
        mine = {end for end, base in ends.items() if base == o}
        if any(leads(graph, starts, {n}, made) is not None for starts in ((ENTRY,), mine)):
            return False
        for name in (key, *self.naming.owners):
            setting = set(self.setting(program, name, o))
            if any(leads(graph, starts, {n}, setting) is not None for starts in (made, self.nulls.get(name, ()))):
                return False
        return True

    def never(
        self, program: Program, n: int, starts: Iterable[int], targets: set[int], avoiding: set[int], message: str
    ) -> None:
        if leads(program.graph, starts, targets, avoiding) is not None:
            raise Trouble(node_span(program, n), message)

    def frees(self, program: Program, flow: Pointers) -> dict[int, tuple[int, str]]:
        """The nodes that free it: the object, and the variable that is freed.  Raises Trouble."""
        out: dict[int, tuple[int, str]] = {}
        for n, argument in index_of(program).frees:
            root, values = freed(program, flow, n, argument), program.values.args.get(n)
            if values is None:
                continue
            given = self.symbols.not_null(values[argument])
            base = self.symbols.base(given)
            if root is None and base not in self.naming.objects:
                continue
            offset = self.symbols.resolve(self.symbols.offset(given))
            if root is None or not is_place(root) or base not in self.naming.objects or offset != ZERO:
                raise Trouble(node_span(program, n), "frees it in a way that is not followed")
            out[n] = (base, self.by_place[root][0])
        return out

    def evident(self, program: Program, layout: Layout) -> bool:
        """No part's size can be negative where there is memory: all are multiples of one number, or it is proved."""
        for o, bounds in layout.bounds.items():
            if multiples(bounds[-1], bounds) is not None:
                continue
            prover = prover_at(program, program.values.objects.table[o].node, ())
            if not all(prover.proves(b - a) for a, b in itertools.pairwise(bounds)):
                return False
        return True

    # --- text ------------------------------------------------------------------------------------------------------

    def spelled(
        self,
        layout: Layout,
        parts: Mapping[str, int],
        words: list[Word],
        spots: list[Spot],
        worth: Mapping[tuple[int, int], Poly],
    ) -> tuple[str, dict[Place, str]]:
        """The elements of the first part, and of the others by the mention where they are named.  Raises Trouble."""
        elem = self.program.variables[self.naming.base].type.elem
        unit = number(1 if elem is None else elem.size or 1)
        numbers = {id(word): i for i, word in enumerate(words)}
        links = {link.at: link for link in self.naming.links.values()}
        out: dict[Place | None, str] = {}
        for spot in spots:
            link = links.get(spot.node)
            o = self.object_at(spot)
            part = 0 if link is None else parts[link.target]
            size = layout.bounds[o][part + 1] - layout.bounds[o][part]
            elements = divided(size, unit) or ZERO
            there = self.vocabulary.at(spot)
            known = [(w, worth[spot.node, numbers[id(w)]]) for w in there if (spot.node, numbers[id(w)]) in worth]
            text = self.vocabulary.text(elements, known)
            span = node_span(self.program, spot.node)
            if text is None:
                raise Trouble(span, "names a part of which the size cannot be written there")
            if out.setdefault(None if link is None else link.place, text) != text:
                raise Trouble(span, "names a part of one size here and of another there")
        return out.pop(None), {place: text for place, text in out.items() if place is not None}

    def object_at(self, spot: Spot) -> int:
        graph, objects = self.program.graph, self.naming.objects
        frames = {o: graph.nodes[origin(self.program, o).call].frame for o in objects}
        mine = [o for o in objects if len(objects) == 1 or frames[o] == spot.frame]
        assert len(mine) == 1
        return mine[0]


def _words(e: ast.Expr, operand: ins.Operand, node: int, frame: int) -> list[Word]:
    """All expressions in one that have a place in the program graph, the whole one first."""
    found = pairs(e, operand)
    out: list[Word] = []
    stack = [e]
    while stack:
        at = stack.pop()
        if id(at) in found:
            out.append(Word(at, found[id(at)], node, frame, e))
            match at:
                case ast.Cast() | ast.Unary():
                    stack.append(at.operand)
                case ast.Binary():
                    stack += [at.right, at.left]
                case _:
                    pass
    return out


def _unread(m: Mention) -> bool:
    """The variable is only set there, or its value is thrown away."""
    if all(isinstance(p, ast.Cast) for p in m.parents):
        return isinstance(m.stmt, ast.ExprStmt)
    first = m.parents[0]
    return isinstance(first, ast.Assign) and not first.op and first.target is m.ref
