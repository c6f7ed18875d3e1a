"""Buffers with several messages in them, and the proof that each access lies in one of the parts."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from opi_xform.divide.asserted import asserted
from opi_xform.divide.check import Checking, prover_at
from opi_xform.divide.decompose import (
    Taken,
    Unspellable,
    joined,
    number_text,
    number_value,
    pairs,
    spelt,
    take_all,
    take_start,
    value_of,
)
from opi_xform.divide.flow import Pointers, Trouble, VariableFlow, operands, other_memory
from opi_xform.divide.layout import Layout, Reading, layouts
from opi_xform.divide.mentions import Mention, Place, mentions_of
from opi_xform.divide.named_sums import NamedSums
from opi_xform.divide.wrapped import callee_of, wrapping
from opi_xform.graph.graph import Node
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.objects import Objects
from opi_xform.memory.poly import ONE, ZERO, Poly, number
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.inequalities import divided
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.traced import path
from opi_xform.ownership.spelling.scopes import may_fall_apart
from opi_xform.record import dataclass
from opi_xform.values.watch import watch


@dataclass(frozen=True, slots=True)
class Candidate:
    """A buffer some message of which begins inside it: its variable, its objects."""

    key: str
    objects: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Division:
    """A buffer that falls into parts.

    taken: by mention: what is taken out of what is added to it (None: it names the first part).  texts: the part's
    number, by mention.  sizes: where the parts differ: the elements of each, by place of the allocating call.
    wrappers: functions of the program's own that ask malloc for what they are given, and are called for each part.
    """

    candidate: Candidate
    layout: Layout
    mentions: tuple[Mention, ...]
    taken: Mapping[Place, Taken | None]
    texts: Mapping[Place, str]
    sizes: Mapping[Place, tuple[str, ...]]
    assumes: bool = False  # that no part's size is negative
    wrappers: frozenset[str] = frozenset()


def divisible(program: Program) -> bool:
    """All accesses of buffers are told one by one: some may be divided."""
    return not program.graph.background.nodes


def candidates(program: Program) -> list[Candidate]:
    """Buffers, in the order of their first message, of which a message has a place inside."""
    if not divisible(program):
        return []
    objects: dict[str, dict[int, None]] = {}
    starts: dict[str, dict[Poly, None]] = {}
    table, symbols = program.values.objects.table, program.values.symbols
    swapped = {key for e in program.exchanges for key in (e.first, e.second)}  # the graph does not show them as set
    for use in collect(program):
        if use.object < 0 or use.lo is None or table[use.object].kind not in ("heap", "variable"):
            continue
        if table[use.object].kind == "heap":
            key = path(program, use)[1]
        else:
            key = table[use.object].variable or ""
        var = program.variables.get(key)
        if var is None or key in swapped or key in program.members or var.kind == "param" or var.thread_local:
            continue
        if not (plain_pointer(var) if table[use.object].kind == "heap" else _plain_array(var)):
            continue
        objects.setdefault(key, {})[use.object] = None
        starts.setdefault(key, {})[symbols.resolve(use.lo)] = None
    return [
        Candidate(key, tuple(found))
        for key, found in objects.items()
        if any(at != ZERO for at in starts[key])
        and not any(o in program.values.escaped for o in found)
        and program.values.lazy.isdisjoint(found)  # its parts would be those of another turn
        and all(len(table[o].nodes) < 2 and not _of_levels(program, o) for o in found)
    ]


def _of_levels(program: Program, o: int) -> bool:
    """It is made by a function that calls itself, or below one: what is known there may be of the first level only."""
    info, graph = program.values.objects.table[o], program.graph
    born = (info.frame, *(graph.nodes[n].frame for n in info.nodes))
    return any(frame >= 0 and graph.frames[frame].function in graph.levels for frame in born)


def plain_pointer(var: ast.Variable) -> bool:
    t = var.type
    return t.is_pointer and not (t.const or t.volatile or t.atomic) and t.elem is not None and bool(t.elem.size)


def _plain_array(var: ast.Variable) -> bool:
    t = var.type
    if not t.is_array or t.vla or t.elem is None or not t.elem.size or not t.count or var.init is not None:
        return False
    return not (t.elem.is_array or t.elem.volatile or t.elem.atomic or t.elem.const)


def watched(
    program: Program, wanted: Mapping[int, Sequence[tuple[int, ins.Operand]]]
) -> tuple[Program, dict[tuple[int, int], Poly]]:
    """The program once more, with what operands are worth at certain nodes (``interp.watch``); who asks ends it."""
    p = program
    objects = _copied(p.values.objects)
    unwritten = {key for key, member in p.members.items() if member.raw}
    values, found = watch(p.graph, p.nest, p.variables, objects, p.points_to, p.effects, p.complete, wanted, unwritten)
    return replace(p, values=values), found


def allocated(program: Program, n: int, handed: bool = False) -> Poly:
    """Bytes that a node allocates by malloc or calloc; ``handed``: by any allocator, whose caller is called again for
    each part.  Raises Trouble.
    """
    action = program.graph.nodes[n].action
    effect = None
    if isinstance(action, ins.CallInstr) and isinstance(action.callee, ins.AddrFunc):
        effect = program.effects.get(action.callee.key)
    made = effect.allocates if effect is not None else None
    plain = effect is not None and (handed or effect.name in ("malloc", "calloc"))
    if not plain or made is None or made.size is None:
        raise Trouble(node_span(program, n), "allocates it other than by malloc or calloc")
    size = ONE
    for factor in made.size:
        args = program.values.args[n]
        size = size * (number(factor.value) if factor.kind == "const" else args[factor.value])
    return program.values.symbols.resolve(size)


class Dividing:
    """Looks for the parts of one buffer; one use: ``run``."""

    def __init__(self, program: Program, candidate: Candidate, read: Callable[[str], bytes]) -> None:
        self.program = program
        self.candidate = candidate
        self.read = read
        self.array = program.variables[candidate.key].type.is_array
        self.mentions = asserted(mentions_of(program).of(candidate.key), program.files, read)
        self.by_place: dict[Place, Mention] = {}
        self.written = False  # places are told as they are written (``take_all``)
        self.through = False  # and variables beside them as what they were set to
        self.given: dict[int, dict[int, Poly]] = {}  # by allocation: what the expressions in its size are worth
        self.wrapped: dict[int, Node] = {}  # by object: the call of a function that asks malloc for it

    def run(self) -> Division:
        """Raises Trouble."""
        for m in self.mentions:
            if m.place in self.by_place or not m.ref.span.editable:
                raise Trouble(m.ref.span, "is written by a macro")
            self.by_place[m.place] = m
        flow = VariableFlow(self.program, {self.candidate.key}).run()
        self.wrappings()
        program, readings = self.readings()
        try:
            return self.best(program, flow, readings)
        finally:
            program.end()

    def best(self, program: Program, flow: Pointers, readings: dict[Place, list[Reading]]) -> Division:
        """With the first layout that fits.  Raises Trouble."""
        self.symbols = program.values.symbols
        self.definitions(program)
        first: Trouble | None = None
        named = (False, True) if any(r.sums for found in readings.values() for r in found) else (False,)
        for layout in layouts(self.sizes(program), self.starts(program), self.unit(program)):
            if not layout.equal and self.array:
                break
            for self.through, self.written in itertools.product(named, (False, True)):
                try:
                    return self.divided(program, flow, readings, layout)
                except Trouble as trouble:
                    first = first or trouble.with_traceback(None)  # its frames would keep the program
        raise first or Trouble(self.program.variables[self.candidate.key].span, "")

    def starts(self, program: Program) -> dict[int, set[Poly]]:
        """By object: where messages begin."""
        out: dict[int, set[Poly]] = {}
        for use in collect(program):
            if use.object in self.candidate.objects and use.lo is not None:
                out.setdefault(use.object, set()).add(self.symbols.resolve(use.lo))
        return out

    # --- what is known ---------------------------------------------------------------------------------------------

    def wrappings(self) -> None:
        """The allocations that stand in functions of the program's own."""
        table = self.program.values.objects.table
        for o in self.candidate.objects:
            outer = wrapping(self.program, table[o].node) if table[o].kind == "heap" else None
            if outer is not None:
                self.wrapped[o] = outer

    def readings(self) -> tuple[Program, dict[Place, list[Reading]]]:
        """The program once more, with what is written beside each mention."""
        wanted: dict[int, list[tuple[int, ins.Operand]]] = {}
        asked: list[tuple[Place, int, int, list[tuple[int, int]], dict[int, ast.Expr]]] = []
        variables = NamedSums(self.program, self.read)
        for node in self.program.graph.nodes:
            found, frame = operands(node)
            for operand in found:
                for place, adds in _chains(operand, self.candidate.key):
                    m = self.by_place.get(place)
                    if m is None:
                        raise Trouble(node_span(self.program, node.number), "names it in a way that is not followed")
                    wishes = wanted.setdefault(node.number, [])
                    mine: list[tuple[int, int]] = []
                    sums: dict[int, ast.Expr] = {}
                    for term, add in zip(m.terms, adds, strict=False):
                        if add.scale != term.sign * term.unit:
                            break
                        known = pairs(term.expr, add.index)
                        found_sum = variables.of(term.expr, m.stmt, node.number, frame)
                        if found_sum is not None:
                            sums[id(term.expr)] = found_sum[0]
                            known |= pairs(*found_sum)
                        for name, one in known.items():
                            mine.append((name, len(wishes)))
                            wishes.append((frame, one))
                    asked.append((place, node.number, frame, mine, sums))
        given: dict[int, list[tuple[int, int]]] = {}
        for o in self.candidate.objects:
            n = self.program.values.objects.table[o].node
            call = self.program.graph.nodes[n].action if n >= 0 else None
            if isinstance(call, ins.CallInstr):
                wishes = wanted.setdefault(n, [])
                for e, operand in zip(call.call.args, call.args, strict=True):
                    for name, one in pairs(e, operand).items():
                        given.setdefault(n, []).append((name, len(wishes)))
                        wishes.append((self.program.graph.nodes[n].frame, one))
        again, found_values = watched(self.program, wanted)
        values = again.values
        out: dict[Place, list[Reading]] = {}
        for place, n, frame, mine, sums in asked:
            worth = {name: values.symbols.resolve(found_values[n, i]) for name, i in mine if (n, i) in found_values}
            out.setdefault(place, []).append(Reading(n, frame, worth, sums=sums))
        for n, named in given.items():
            self.given[n] = {name: values.symbols.resolve(found_values[n, i]) for name, i in named}
        return again, out

    def definitions(self, program: Program) -> None:
        """The pointer is set to its memory and to NULL, to nothing else.  Raises Trouble."""
        for node in program.graph.nodes:
            action = node.action
            if not isinstance(action, ins.Define) or action.target != ins.Var(self.candidate.key):
                continue
            values = program.values.operands.get(node.number)
            if values is None:
                continue
            base = self.symbols.base(values[0])
            if values[0] != ZERO and (
                base not in self.candidate.objects or self.symbols.resolve(self.symbols.offset(values[0])) != ZERO
            ):
                raise Trouble(node_span(program, node.number), other_memory(program, node))

    def sizes(self, program: Program) -> dict[int, Poly]:
        """Bytes of each object.  Raises Trouble."""
        out: dict[int, Poly] = {}
        for o in self.candidate.objects:
            info = program.values.objects.table[o]
            if info.kind == "variable":
                out[o] = number((info.type.size if info.type is not None else None) or 0)
            else:
                out[o] = allocated(program, info.node)
        return out

    def unit(self, program: Program) -> int:
        elem = program.variables[self.candidate.key].type.elem
        assert elem is not None
        return elem.size or 1

    # --- one number of parts ---------------------------------------------------------------------------------------

    def divided(
        self, program: Program, flow: Pointers, readings: Mapping[Place, Sequence[Reading]], layout: Layout
    ) -> Division:
        taken: dict[Place, Taken | None] = {}
        texts: dict[Place, str] = {}
        for place, m in self.by_place.items():
            found = readings.get(place, ())
            if not found and m.kind not in ("size", "set", "made"):
                raise Trouble(m.ref.span, "names it where the analysis does not get")
            for reading in found:
                reading.object = self.object_at(program, reading, layout)
            taken[place], texts[place] = self.take(program, m, found, layout)
        checking = Checking(program, flow, readings, layout)
        checking.frees({m.place for m in self.mentions if m.kind == "freed"})
        for o in self.candidate.objects:
            mine = [r.node for found in readings.values() for r in found if r.object == o]
            checking.this_life(o, [*mine, *index_of(program).accesses.nodes(o)])
            for _, accesses in sorted(index_of(program).accesses.of(o).items()):
                for a in accesses:
                    checking.access(a)
        sizes = {} if layout.equal else self.spelled(program, layout)
        assumes = not layout.equal and not self.evident(program, layout)
        wrappers = frozenset(callee_of(node) for node in self.wrapped.values())
        return Division(self.candidate, layout, tuple(self.mentions), taken, texts, sizes, assumes, wrappers)

    def evident(self, program: Program, layout: Layout) -> bool:
        """No part's size can be negative where the memory is allocated."""
        for o, bounds in layout.bounds.items():
            prover = prover_at(program, program.values.objects.table[o].node, ())
            if not all(prover.proves(b - a) for a, b in itertools.pairwise(bounds)):
                return False
        return True

    def object_at(self, program: Program, reading: Reading, layout: Layout) -> int:
        """An object that the pointer may hold at a reading; all that it may hold have parts of the same sizes."""
        table = program.values.objects.table
        var = program.variables[self.candidate.key]
        mine = []
        for o in layout.bounds:
            info = table[o]
            made = self.wrapped.get(o)
            asking = program.graph.nodes[info.node].frame if made is None else made.frame
            frame = info.frame if info.kind == "variable" else asking
            if var.is_global or frame == reading.frame:
                mine.append(o)
        if not mine:
            raise Trouble(node_span(program, reading.node), "names memory that a function of its own allocates")
        if any(layout.bounds[o] != layout.bounds[mine[0]] for o in mine):
            raise Trouble(node_span(program, reading.node), "names memory of more than one size")
        return mine[0]

    def spelled(self, program: Program, layout: Layout) -> dict[Place, tuple[str, ...]]:
        """The elements of each part as text, by the allocating call.  Raises Trouble."""
        out: dict[Place, tuple[str, ...]] = {}
        unit = self.unit(program)
        for o, bounds in layout.bounds.items():
            n = program.values.objects.table[o].node
            action = program.graph.nodes[n].action
            assert isinstance(action, ins.CallInstr)
            span = action.call.span
            if o in self.wrapped:
                raise Trouble(span, "allocates it in a function of its own, for parts of several sizes")
            texts = None
            with suppress(Unspellable):
                texts = tuple(
                    spelt(divided(b - a, number(unit)) or ZERO, action.call.args, self.given.get(n, {}), self.text)
                    for a, b in itertools.pairwise(bounds)
                )
            if texts is None:  # not raised from there: its frames would keep the program
                raise Trouble(span, "allocates it with a size of which the parts' sizes cannot be written")
            if out.setdefault((span.file, span.begin), texts) != texts:
                raise Trouble(span, "allocates parts of one size here and of another there")
        return out

    def take(self, program: Program, m: Mention, found: Sequence[Reading], layout: Layout) -> tuple[Taken | None, str]:
        """What is taken out at a mention, the same in each reading, and the part's number as text."""
        out: list[tuple[Taken | None, str]] = []
        for reading in found:
            taken = self.taken(m, reading, layout)
            if taken is not None:

                def value(e: ast.Expr, known: Mapping[int, Poly] = reading.known) -> Poly | None:
                    return value_of(e, known)

                reading.part = self.symbols.resolve(number_value(taken, value))
                out.append((taken, number_text(taken, self.text)))
            else:
                reading.part = ZERO
                out.append((None, "0"))
            if not _one_of(program, reading, layout.count):
                raise Trouble(node_span(program, reading.node), f"names a part that may be none of the {layout.count}")
        if not out:
            return None, "0"
        if any((text, one is not None and joined(one.rest)) != _signature(out[0]) for one, text in out):
            raise Trouble(m.ref.span, "names one part here and another there")
        return out[0]

    def taken(self, m: Mention, reading: Reading, layout: Layout) -> Taken | None:
        if not m.terms or not m.terms[0].unit or not m.written or m.kind == "size":
            return None
        unit = number(m.terms[0].unit)
        if any(t.unit != m.terms[0].unit for t in m.terms):
            return None

        def value(e: ast.Expr) -> Poly | None:
            return value_of(e, reading.known)

        terms = [(t.sign, self.told(t.expr, reading)) for t in m.terms]
        try:
            if layout.equal:
                size = divided(layout.sizes[reading.object], unit)
                return None if size is None else take_all(terms, size, value, self.text, self.written)
            begins = [divided(at, unit) for at in layout.bounds[reading.object][:-1]]
            return take_start(terms, begins, value, self.text)
        except Unspellable:
            return None

    def told(self, e: ast.Expr, reading: Reading) -> ast.Expr:
        """What is beside a mention; ``through``: of a variable what it was set to, where that is worth the same."""
        whole = (reading.sums or {}).get(id(e)) if self.through else None
        if whole is None or value_of(whole, reading.known) is None:
            return e
        return whole if value_of(whole, reading.known) == value_of(e, reading.known) else e

    def text(self, e: ast.Expr) -> str:
        """An expression as it is written, what is of several parts in parentheses.  Raises Unspellable."""
        if e.span.editable:
            text = self.read(e.span.file)[e.span.begin : e.span.end].decode("utf-8", "surrogateescape")
        elif isinstance(e, ast.IntLit):
            text = e.name or str(e.value)
        else:
            raise Unspellable
        return f"({text})" if isinstance(e, ast.IntLit) and may_fall_apart(self.program, text) else text


def _one_of(program: Program, reading: Reading, count: int) -> bool:
    known = reading.part.constant
    if known is not None:
        return 0 <= known < count
    prover = prover_at(program, reading.node, ())
    return prover.proves(reading.part) and prover.proves(number(count - 1) - reading.part)


def _signature(one: tuple[Taken | None, str]) -> tuple[str, str | bool]:
    return one[1], one[0] is not None and joined(one[0].rest)


def _chains(operand: ins.Operand, key: str) -> Iterator[tuple[Place, list[ins.PtrAdd]]]:
    """Each mention of the variable in an operand, and what is added to it, innermost first."""
    stack: list[tuple[ins.Operand, list[ins.PtrAdd]]] = [(operand, [])]
    while stack:
        item, above = stack.pop()
        match item:
            case ins.PtrAdd():
                stack.append((item.base, [item, *above]))
                stack.append((item.index, []))
            case ins.Op(args=args):
                stack.extend((a, []) for a in args)
            case ins.Var(key=found, span=span) | ins.AddrVar(key=found, span=span) if found == key:
                yield (span.file, span.begin), above
            case _:
                pass


def _copied(objects: Objects) -> Objects:
    """A copy that can grow by itself."""
    out = copy.copy(objects)
    out.table = list(objects.table)
    out.by_variable = dict(objects.by_variable)
    out.by_name = {key: list(found) for key, found in objects.by_name.items()}
    out.by_node = dict(objects.by_node)
    out.globals = set(objects.globals)
    out.named = set(objects.named)
    out.exposed = set(objects.exposed)
    out.called_back = set(objects.called_back)
    out.hidden = objects.hidden
    out.frames = {frame: set(found) for frame, found in objects.frames.items()}
    return out
