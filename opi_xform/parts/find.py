"""Buffers with several messages in them, and the proof that each access lies in one of the parts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard, cast

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.interp import watch
from opi_xform.memory.objects import Objects
from opi_xform.memory.poly import ONE, ZERO, Poly, number
from opi_xform.memory.values import Access
from opi_xform.ownership.index import index_of
from opi_xform.ownership.model import Program
from opi_xform.ownership.parameters import path
from opi_xform.ownership.reasons import node_span
from opi_xform.ownership.uses import collect
from opi_xform.parts.decompose import Taken, Unspellable, joined, number_text, number_value, pairs, take, value_of
from opi_xform.parts.facts import Prover, divided, facts_at
from opi_xform.parts.flow import Flow, Name, Pointers, Trouble, operands
from opi_xform.parts.mentions import Mention, Place, find_mentions

MOST = 64  # parts of one buffer


@dataclass(frozen=True, slots=True)
class Candidate:
    """A buffer some message of which begins inside it: its variable, its objects, where these messages begin."""

    key: str
    objects: tuple[int, ...]
    starts: tuple[Poly, ...]


@dataclass(slots=True)
class Reading:
    """One mention at one node: what the expressions beside it are worth, bytes of a part there, its number."""

    node: int
    frame: int
    known: dict[int, Poly]
    size: Poly
    part: Poly = ZERO


@dataclass(frozen=True, slots=True)
class Division:
    """A buffer that falls into ``count`` parts of one size.

    taken: by mention: what is taken out of what is added to it (None: it names the first part).
    """

    candidate: Candidate
    count: int
    mentions: tuple[Mention, ...]
    taken: Mapping[Place, Taken | None]
    texts: Mapping[Place, str]  # the part's number, by mention
    flow: Pointers = field(default_factory=Pointers)


def candidates(program: Program) -> list[Candidate]:
    """Buffers, in the order of their first message, of which a message has a place inside."""
    objects: dict[str, dict[int, None]] = {}
    starts: dict[str, dict[Poly, None]] = {}
    table, symbols = program.values.objects.table, program.values.symbols
    for use in collect(program):
        if use.object < 0 or use.lo is None or table[use.object].kind not in ("heap", "variable"):
            continue
        if table[use.object].kind == "heap":
            key = path(program, use)[1]
        else:
            key = table[use.object].variable or ""
        var = program.variables.get(key)
        if var is None or key in program.members or var.kind == "param" or var.thread_local:
            continue
        if not (_plain_pointer(var) if table[use.object].kind == "heap" else _plain_array(var)):
            continue
        objects.setdefault(key, {})[use.object] = None
        starts.setdefault(key, {})[symbols.resolve(use.lo)] = None
    return [
        Candidate(key, tuple(found), tuple(starts[key]))
        for key, found in objects.items()
        if any(at != ZERO for at in starts[key]) and not any(o in program.values.escaped for o in found)
    ]


def _plain_pointer(var: ast.Variable) -> bool:
    t = var.type
    return t.is_pointer and not (t.const or t.volatile or t.atomic) and t.elem is not None and bool(t.elem.size)


def _plain_array(var: ast.Variable) -> bool:
    t = var.type
    if not t.is_array or t.vla or t.elem is None or not t.elem.size or not t.count or var.init is not None:
        return False
    return not (t.elem.is_array or t.elem.volatile or t.elem.atomic or t.elem.const)


class Dividing:
    """Looks for the parts of one buffer; one use: ``run``."""

    def __init__(self, program: Program, candidate: Candidate, read: Callable[[str], bytes]) -> None:
        self.program = program
        self.candidate = candidate
        self.read = read
        self.array = program.variables[candidate.key].type.is_array
        self.mentions = find_mentions(program.functions, candidate.key)
        self.by_place: dict[Place, Mention] = {}

    def run(self) -> Division:
        """Raises Trouble."""
        here = self.program.variables[self.candidate.key].span
        for m in self.mentions:
            if m.place in self.by_place or not m.ref.span.editable:
                raise Trouble(m.ref.span, "is written by a macro")
            self.by_place[m.place] = m
        flow = Flow(self.program, self.candidate.key).run()
        program, readings = self.readings()
        self.symbols = program.values.symbols
        self.definitions(program)
        sizes = self.sizes(program)
        first: Trouble | None = None
        for count in self.counts(program, sizes):
            try:
                return self.divided(program, flow, readings, sizes, count)
            except Trouble as trouble:
                first = first or trouble
        raise first or Trouble(here, "")

    # --- what is known ---------------------------------------------------------------------------------------------

    def readings(self) -> tuple[Program, dict[Place, list[Reading]]]:
        """The program once more, with what is written beside each mention."""
        wanted: dict[int, list[tuple[int, ins.Operand]]] = {}
        asked: list[tuple[Place, int, int, list[tuple[int, int]]]] = []
        for node in self.program.graph.nodes:
            found, frame = operands(node)
            for operand in found:
                for place, adds in _chains(operand, self.candidate.key):
                    m = self.by_place.get(place)
                    if m is None:
                        raise Trouble(node_span(self.program, node.number), "names it in a way that is not followed")
                    wishes = wanted.setdefault(node.number, [])
                    mine: list[tuple[int, int]] = []
                    for term, add in zip(m.terms, adds, strict=False):
                        if add.scale != term.sign * term.unit:
                            break
                        for name, one in pairs(term.expr, add.index).items():
                            mine.append((name, len(wishes)))
                            wishes.append((frame, one))
                    asked.append((place, node.number, frame, mine))
        p = self.program
        objects = _copied(p.values.objects)
        unwritten = {key for key, member in p.members.items() if member.raw}
        values, found_values = watch(
            p.graph, p.nest, p.variables, objects, p.points_to, p.effects, p.complete, wanted, unwritten
        )
        again = copy.copy(p)
        object.__setattr__(again, "values", values)
        index_of(again)
        out: dict[Place, list[Reading]] = {}
        for place, n, frame, mine in asked:
            known = {name: values.symbols.resolve(found_values[n, i]) for name, i in mine if (n, i) in found_values}
            out.setdefault(place, []).append(Reading(n, frame, known, ZERO))
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
                raise Trouble(node_span(program, node.number), "sets its pointer to something else")

    def sizes(self, program: Program) -> dict[int, Poly]:
        """Bytes of each object.  Raises Trouble."""
        out: dict[int, Poly] = {}
        for o in self.candidate.objects:
            info = program.values.objects.table[o]
            if info.kind == "variable":
                out[o] = number((info.type.size if info.type is not None else None) or 0)
                continue
            action = program.graph.nodes[info.node].action
            effect = None
            if isinstance(action, ins.CallInstr) and isinstance(action.callee, ins.AddrFunc):
                effect = program.effects.get(action.callee.key)
            made = effect.allocates if effect is not None else None
            if effect is None or effect.name not in ("malloc", "calloc") or made is None or made.size is None:
                raise Trouble(node_span(program, info.node), "allocates it other than by malloc or calloc")
            size = ONE
            for factor in made.size:
                args = program.values.args[info.node]
                size = size * (number(factor.value) if factor.kind == "const" else args[factor.value])
            out[o] = self.symbols.resolve(size)
        return out

    def counts(self, program: Program, sizes: Mapping[int, Poly]) -> Iterator[int]:
        """Numbers of parts that the places of the messages allow."""
        unit = self.unit(program)
        for count in range(2, MOST + 1):
            parts = [divided(size, number(count)) for size in sizes.values()]
            if any(part is None or not part.terms or divided(part, number(unit)) is None for part in parts):
                continue
            if all(any(divided(at, p) is not None for p in parts if p is not None) for at in self.candidate.starts):
                yield count

    def unit(self, program: Program) -> int:
        elem = program.variables[self.candidate.key].type.elem
        assert elem is not None
        return elem.size or 1

    # --- one number of parts ---------------------------------------------------------------------------------------

    def divided(
        self,
        program: Program,
        flow: Pointers,
        readings: Mapping[Place, Sequence[Reading]],
        sizes: Mapping[int, Poly],
        count: int,
    ) -> Division:
        parts = {o: divided(size, number(count)) or ZERO for o, size in sizes.items()}
        taken: dict[Place, Taken | None] = {}
        texts: dict[Place, str] = {}
        for place, m in self.by_place.items():
            found = readings.get(place, ())
            if not found and m.kind not in ("size", "set"):
                raise Trouble(m.ref.span, "names it where the analysis does not get")
            for reading in found:
                reading.size = self.size_at(program, reading, parts)
            taken[place], texts[place] = self.take(program, m, found, count)
        checking = Checking(program, self.candidate, flow, readings, parts)
        for o in self.candidate.objects:
            for _, accesses in sorted(index_of(program).accesses.get(o, {}).items()):
                for a in accesses:
                    checking.access(a)
        return Division(self.candidate, count, tuple(self.mentions), taken, texts, flow)

    def size_at(self, program: Program, reading: Reading, parts: Mapping[int, Poly]) -> Poly:
        """Bytes of a part of what the pointer holds at a reading."""
        table = program.values.objects.table
        var = program.variables[self.candidate.key]
        mine = []
        for o, part in parts.items():
            info = table[o]
            frame = info.frame if info.kind == "variable" else program.graph.nodes[info.node].frame
            if var.is_global or frame == reading.frame:
                mine.append(part)
        if not mine or any(part != mine[0] for part in mine):
            raise Trouble(node_span(program, reading.node), "names memory of more than one size")
        return mine[0]

    def take(self, program: Program, m: Mention, found: Sequence[Reading], count: int) -> tuple[Taken | None, str]:
        """What is taken out at a mention, the same in each reading, and the part's number as text."""
        out: list[tuple[Taken | None, str]] = []
        for reading in found:
            taken = self.taken(m, reading)
            if taken is not None:

                def value(e: ast.Expr, known: Mapping[int, Poly] = reading.known) -> Poly | None:
                    return value_of(e, known)

                reading.part = self.symbols.resolve(number_value(taken, value))
                out.append((taken, number_text(taken, self.text)))
            else:
                reading.part = ZERO
                out.append((None, "0"))
            if not _one_of(program, reading, count):
                raise Trouble(node_span(program, reading.node), f"names a part that may be none of the {count}")
        if not out:
            return None, "0"
        if any((text, one is not None and joined(one.rest)) != _signature(out[0]) for one, text in out):
            raise Trouble(m.ref.span, "names one part here and another there")
        return out[0]

    def taken(self, m: Mention, reading: Reading) -> Taken | None:
        if not m.terms or not m.terms[0].unit or not m.whole.span.editable or m.kind == "size":
            return None
        unit = m.terms[0].unit
        if any(t.unit != unit for t in m.terms):
            return None
        size = divided(reading.size, number(unit))
        if size is None:
            return None

        def value(e: ast.Expr) -> Poly | None:
            return value_of(e, reading.known)

        total = Taken()
        try:
            for term in m.terms:
                one = take(term.expr, term.sign, size, value, self.text)
                total.constant += one.constant
                total.multiples += one.multiples
                total.rest += one.rest
                total.touched = total.touched or one.touched
        except Unspellable:
            return None
        return total if total.touched else None

    def text(self, e: ast.Expr) -> str:
        """An expression as it is written.  Raises Unspellable."""
        if not e.span.editable:
            if isinstance(e, ast.IntLit):
                return e.name or str(e.value)
            raise Unspellable
        return self.read(e.span.file)[e.span.begin : e.span.end].decode("utf-8", "surrogateescape")


def _one_of(program: Program, reading: Reading, count: int) -> bool:
    known = reading.part.constant
    if known is not None:
        return 0 <= known < count
    prover = _prover(program, reading.node, ())
    return prover.proves(reading.part) and prover.proves(number(count - 1) - reading.part)


def _signature(one: tuple[Taken | None, str]) -> tuple[str, str | bool]:
    return one[1], one[0] is not None and joined(one[0].rest)


class Checking:
    """Whether accesses lie in the part that the mention names which their addresses are made from."""

    def __init__(
        self,
        program: Program,
        candidate: Candidate,
        flow: Pointers,
        readings: Mapping[Place, Sequence[Reading]],
        parts: Mapping[int, Poly],
    ) -> None:
        self.program = program
        self.candidate = candidate
        self.flow = flow
        self.parts = parts
        self.numbers = {(place, r.node): r.part for place, found in readings.items() for r in found}

    def access(self, a: Access) -> None:
        """Raises Trouble."""
        n, symbols = a.node, self.program.values.symbols
        span = node_span(self.program, n)
        if a.lo is None or a.length is None:
            raise Trouble(span, "touches it at a place that is not known, or a number of bytes")
        if self.is_free(n):
            return
        lo, length = symbols.resolve(a.lo), symbols.resolve(a.length)
        size = self.parts[a.object]
        roots = self.roots(a)
        if not roots:
            raise Trouble(span, "touches it through a pointer that is not followed")
        prover: Prover | None = None
        for root in roots:
            for part in self.named(root, n):
                self.same_turn(root, part, n)
                start = lo - part * size
                rest = size - start - length
                if all(c is not None and c >= 0 for c in (start.constant, rest.constant)):
                    continue
                if prover is None:
                    prover = _prover(self.program, n, (length - ONE,))
                if not prover.proves(start) or not prover.proves(rest):
                    raise Trouble(span, "touches it, and is not known to stay in one part")

    def is_free(self, n: int) -> bool:
        return any(n == node for node, _ in index_of(self.program).frees)

    def roots(self, a: Access) -> list[Place | Name]:
        """What the address of an access was made from; [] when that is not known."""
        action = self.program.graph.nodes[a.node].action
        roots, n = self.flow.roots, a.node
        match action:
            case ins.Load() | ins.Store():
                found = [roots.get((n, 0))]
            case ins.CopyBytes():
                found = [roots.get((n, 0 if a.kind == "W" else 1))]
            case ins.CallInstr():
                symbols = self.program.values.symbols
                args = self.program.values.args.get(n, ())
                found = [
                    roots.get((n, i))
                    for i, v in enumerate(args)
                    if symbols.base(v) == a.object and symbols.offset(v) == a.lo
                ]
            case _:
                found = []
        out = [root for root in found if root is not None]
        return out if len(out) == len(found) else []

    def named(self, root: Place | Name, n: int) -> list[Poly]:
        """The parts that an address at a node may be in."""
        out: dict[Poly, None] = {}
        seen: set[Place | Name] = set()
        work: list[tuple[Place | Name, int]] = [(root, n)]
        while work:
            root, at = work.pop()
            if is_place(root):
                known = self.numbers.get((root, at))
                if known is None:
                    raise Trouble(node_span(self.program, at), "touches it in a way that is not followed")
                out[known] = None
            elif root not in seen:
                seen.add(root)
                work.extend((source, node) for node, source in self.flow.made.get(cast(Name, root), ()))
        return list(out)

    def same_turn(self, root: Place | Name, part: Poly, n: int) -> None:
        """A part's number that changes from turn to turn of a loop is that of this turn.  Raises Trouble.

        Each pointer on the way was set in this turn, or moved on since: of several places that set it, one comes before
        the others and before its use.
        """
        scope = self.program.values.symbols.scope(part)
        if not scope:
            return
        seen: set[tuple[Place | Name, int]] = set()
        work = [(root, n)]
        while work:
            root, at = work.pop()
            if is_place(root) or (root, at) in seen:
                continue
            seen.add((root, at))
            setting = self.flow.made.get(cast(Name, root), [])
            first = next((d for d, _ in setting if all(d == m or self.before(d, m, scope) for m, _ in setting)), None)
            if first is None or not self.before(first, at, scope):
                message = "touches it through a pointer that may be one of an earlier turn of the loop"
                raise Trouble(node_span(self.program, n), message)
            work.extend((source, node) for node, source in setting)

    def before(self, a: int, b: int, loops: frozenset[int]) -> bool:
        """Node a runs before node b in each turn of the loops, around both, in which b runs."""
        graph, nest = self.program.graph, self.program.nest
        one, two = graph.nodes[a].block, graph.nodes[b].block
        if any(one not in nest.loops[lp].blocks or two not in nest.loops[lp].blocks for lp in loops):
            return False
        return graph.blocks[one].index(a) < graph.blocks[two].index(b) if one == two else nest.dominates(one, two)


def is_place(root: Place | Name) -> TypeGuard[Place]:
    """A mention, no name."""
    return isinstance(root[0], str)


def _prover(program: Program, n: int, more: Sequence[Poly]) -> Prover:
    symbols = program.values.symbols
    counts = frozenset(info.number for info in symbols.table if info.kind == "count")
    facts = [symbols.resolve(f) for f in (*facts_at(program, n), *more)]
    return Prover(facts, counts)


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
    out.exposed = set(objects.exposed)
    out.called_back = set(objects.called_back)
    out.frames = {frame: set(found) for frame, found in objects.frames.items()}
    return out
