"""Structs that functions get by value, as structs that they get the address of.

``void exchange(struct grid g)`` has a copy of the struct, and so a copy of each pointer in it: what a message does to
the buffer in one of them, the caller's struct does not learn.  Where the copy is as good as the struct itself, the
function can be given the address of that: ``void exchange(struct grid *g)``, ``g->out``, ``exchange(&s)``.  It is,
where the function only reads its copy, member by member or to pass it on by value, and where nothing that runs until
the function returns writes the caller's struct (``Untouched``).  The program with these edits does what it did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from opi_xform.effects.outside import foreign
from opi_xform.graph.flat import Flat
from opi_xform.graph.graph import Bind, Lost
from opi_xform.graph.whole import Whole, called_back
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key, functions_called
from opi_xform.ir.operands import operands_of, parts_of
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.memory.objects import UNKNOWN, Objects
from opi_xform.ownership.allocation.repeated import has_effect
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.reach import Facts, Reach
from opi_xform.ownership.spelling.configurations import naming
from opi_xform.ownership.spelling.parameters import Parameters, bare, parameters_of
from opi_xform.pointsto.constraints import GraphPointsTo
from opi_xform.program.lowerings import Lowerings
from opi_xform.program.pointers import PointerCalls
from opi_xform.record import dataclass
from opi_xform.text.edit import ByteEdit

_WORDS = re.compile(rb"\s*((?:[A-Za-z_]\w*\s+)*)([A-Za-z_]\w*)\s*")
_DOT = re.compile(rb"[\s)]*(\.)")  # a name may stand in parentheses: `(g).n`
_ADDRESS, _ARROW = re.compile(rb"\(\s*&\s*"), re.compile(rb"(\s*\))\s*->")
_LETTER = re.compile(rb"\w")
_QUALIFIERS = frozenset((b"const",))
_STOPPING = frozenset((b"volatile", b"register", b"_Atomic", b"restrict", b"auto"))

Edits = dict[str, dict[ByteEdit, None]]


def by_pointer(data: bytes, name: Span, member: Span) -> tuple[int, int, bytes] | None:
    """How a struct's member is written where its name is a pointer: ``g->n`` for ``g.n`` and ``(&g)->n``.

    None: it is written in another way.
    """
    if not member.editable:
        return None
    if (dot := _DOT.match(data, name.end)) is not None:
        return dot.start(1), dot.end(1), b"->"
    taken, arrow = _ADDRESS.fullmatch(data, member.begin, name.begin), _ARROW.match(data, name.end)
    if taken is None or arrow is None:
        return None
    apart = b" " if _LETTER.match(data, member.begin - 1) else b""  # `return(&g)->n`
    return member.begin, arrow.end(1), apart + data[name.begin : name.end]


@dataclass(frozen=True, slots=True)
class Passed:
    """A parameter that can become the address of the caller's struct."""

    function: ast.Function
    index: int
    key: str


class Untouched:
    """What a program writes, function by function, without contexts: as in ``ownership/relevance``."""

    def __init__(self, program: Program, whole: Whole) -> None:
        effects = program.effects
        known = {k: v for k, v in whole.variables.items() if v.is_global}
        self.lowerings = Lowerings(whole.functions, known, effects)
        called = {name for f in whole.functions.values() for name in functions_called(f)}
        pointers = PointerCalls(whole.functions, effects, whole.taken, called, True, whole.variables, whole.records)
        self.flat = Flat(self.lowerings, effects, pointers)
        objects = Objects(whole.variables, foreign(whole.variables, True))
        for key in sorted(known):
            objects.variable(-1, key)
        objects.called_back.update(objects.variable(-1, key) for key in called_back(whole))
        self.points_to = GraphPointsTo(self.flat.graph(), whole.variables, objects, effects, flat=True)
        self.effects = effects
        self.reader = Reach(self.flat, self.points_to, whole.variables, effects)
        self.facts: dict[int, Facts] = {}
        self.kept: set[int] = set()  # what a library keeps, and may write at any time: a window, a pending receive
        for node in self.flat.nodes:
            if isinstance(node.action, ins.CallInstr):
                self.kept |= self.held(node.frame, node.action)
        self.always = [self.flat.number[name] for name in sorted(whole.taken) if name in self.flat.number]

    def held(self, frame: int, call: ins.CallInstr) -> set[int]:
        """What a call of a library keeps the address of."""
        if self.flat.targets(call):
            return set()
        effect = self.effects.get(called_key(call))
        kept = range(len(call.args)) if effect is None else (*effect.retains, *effect.retains_stored)
        return {o for i in kept if i < len(call.args) for o in self.points_to.operand(frame, call.args[i])}

    def of(self, frame: int) -> Facts:
        if frame not in self.facts:
            self.facts[frame] = self.reader.facts(frame)
        return self.facts[frame]

    def stays(self, function: str, i: int) -> bool:
        """From a call of the function to its return, nothing writes the structs that its parameter is copied from."""
        if function not in self.flat.number or self.points_to.taken_apart():
            return False
        frame = self.flat.number[function]
        sources: set[int] = set()
        for node in self.flat.nodes:
            if node.frame == frame and isinstance(node.action, Bind):
                found = self.points_to.operand(node.action.caller, node.action.args[i])
                if not found:
                    return False
                sources |= found
        if not sources or UNKNOWN in sources or not sources.isdisjoint(self.kept):
            return False
        running = self.running(frame)
        table = self.points_to.objects.table
        if running is None or any(table[o].frame in running for o in sources):
            return False
        return all(sources.isdisjoint(self.written(one)) and UNKNOWN not in self.written(one) for one in running)

    def running(self, frame: int) -> set[int] | None:
        """The functions that may run until one returns; None where there is code that is not known."""
        seen: set[int] = set()
        work = [frame, *self.always]
        while work:
            at = work.pop()
            if at in seen:
                continue
            seen.add(at)
            if self.flat.bodies[at].refused or not all(self.plain(action) for action in self.flat.own[at]):
                return None
            work.extend(self.flat.number[name] for name in self.of(at).callees)
        return seen

    def plain(self, action: object) -> bool:
        """An instruction whose writes ``Reach`` knows."""
        if isinstance(action, (Lost, ins.Escape)):
            return False
        if not isinstance(action, ins.CallInstr) or self.flat.targets(action):
            return True
        effect = self.effects.get(called_key(action))
        return effect is not None and not effect.calls

    def written(self, frame: int) -> set[int]:
        out = set(self.of(frame).written)
        for action in self.flat.own[frame]:
            if isinstance(action, ins.Store):
                out |= self.points_to.accessed(frame, action.address)
            elif isinstance(action, ins.CopyBytes):
                out |= self.points_to.accessed(frame, action.target)
        return out - self.points_to.objects.locals_of(frame)


class ByAddress:
    """One use: ``run``."""

    def __init__(self, program: Program, whole: Whole, units: Sequence[ast.Unit], read: Callable[[str], bytes]) -> None:
        self.program = program
        self.read = read
        self.whole = whole
        self.parameters: Parameters = parameters_of(program, units)
        self.records = {key: record for unit in units for key, record in unit.records.items()}
        self.passed: dict[str, Passed] = {}

    def run(self) -> Iterator[tuple[str, Edits]]:
        """(a struct, the edits for all functions that can get its address), by struct."""
        found = list(self.candidates())
        if not found:
            return
        untouched = Untouched(self.program, self.whole)
        for one in found:
            if self.only_read(one, untouched.lowerings) and untouched.stays(one.function.key, one.index):
                self.passed[one.key] = one
        while True:  # who is passed on by a function that is not among them stays a copy there
            bad = [key for key, one in self.passed.items() if self.edits(one) is None]
            if not bad:
                break
            for key in bad:
                del self.passed[key]
        by_record: dict[str, Edits] = {}
        for one in self.passed.values():
            record = one.function.variables[one.key].type.record
            into = by_record.setdefault(record, {})
            for file, edits in (self.edits(one) or {}).items():
                into.setdefault(file, {}).update(edits)
        yield from sorted(by_record.items())

    # --- which -----------------------------------------------------------------------------------------------------

    def candidates(self) -> Iterator[Passed]:
        """Parameters that are structs with pointers, of functions that nobody else can call."""
        for key in sorted(self.whole.functions):
            function = self.whole.functions[key]
            if function.refused or key in self.whole.taken or key in self.parameters.taken:
                continue
            for i, name in enumerate(function.params):
                type_ = function.variables[name].type
                if type_.kind != "record" or type_.volatile or type_.atomic or not self.holds_pointer(type_):
                    continue
                written = (function.name, function.variables[name].name)
                if all(naming(self.parameters.index, word) == () for word in written) and not function.type.variadic:
                    yield Passed(function, i, name)

    def holds_pointer(self, type_: Type, depth: int = 0) -> bool:
        """A struct with a pointer; none with a union, or with anything volatile."""
        record = self.records.get(type_.record)
        if record is None or record.union or depth > 8:
            return False
        found = False
        for field in record.fields:
            inner = field.type
            while inner.is_array and inner.elem is not None:
                inner = inner.elem
            if inner.volatile or inner.atomic:
                return False
            if inner.kind == "record":
                if self.records.get(inner.record) is None or self.records[inner.record].union:
                    return False
                found |= self.holds_pointer(inner, depth + 1)
            found |= inner.is_pointer
        return found

    def only_read(self, one: Passed, lowerings: Lowerings) -> bool:
        """The function loads members of its parameter, and passes it on by value; it does nothing else with it."""
        body = lowerings.get(one.function.key)
        if body is None or body.refused:
            return False
        for block in body.blocks:
            for instr in block:
                for operand in operands_of(instr):
                    if not any(isinstance(p, (ins.AddrVar, ins.Var)) and p.key == one.key for p in parts_of(operand)):
                        continue
                    if isinstance(instr, ins.Load):
                        continue
                    if not isinstance(instr, ins.CallInstr) or not self.by_value(instr, operand):
                        return False
        return True

    @staticmethod
    def by_value(call: ins.CallInstr, operand: ins.Operand) -> bool:
        given = [a for a, arg in zip(call.call.args, call.args, strict=False) if arg is operand]
        return bool(given) and all(a.type.kind == "record" and isinstance(a, ast.VarRef) for a in given)

    # --- edits -----------------------------------------------------------------------------------------------------

    def edits(self, one: Passed) -> Edits | None:
        """The declarations, mentions and arguments; None where one of them is not understood."""
        out: Edits = {}

        def put(file: str, begin: int, end: int, text: bytes) -> None:
            out.setdefault(file, {})[ByteEdit(begin, end, (), text)] = None

        name = one.function.variables[one.key].name.encode()
        declared = self.parameters.declarations(one.function, one.index, lambda text: _pointer(text, name))
        if not declared:
            return None
        for edit in declared:
            put(edit.span.file, edit.span.begin, edit.span.end, edit.text.encode("utf-8", "surrogateescape"))
        for m in self.parameters.index.by_key.get(one.key, ()):
            span = m.ref.span
            data = self.read(span.file)
            if not span.editable or data[span.begin : span.end] != name:
                return None
            if isinstance(m.parent, ast.Member) and m.parent.base is m.ref:
                pointed = by_pointer(data, span, m.parent.span)
                if pointed is None:
                    return None
                put(span.file, *pointed)
            elif isinstance(m.parent, ast.Call) and any(a is m.ref for a in m.parent.args):
                if not self.handed_on(m.parent, m.ref):
                    put(span.file, span.begin, span.begin, b"*")
            else:
                return None
        calls = self.parameters.calls.get(one.function.key, ())
        for _, call in calls:
            if one.index >= len(call.args):
                return None
            e = call.args[one.index]
            if isinstance(e, ast.VarRef) and e.var in self.passed:
                continue  # the caller's own parameter, which is an address by then
            if not e.span.editable or not isinstance(e, (ast.VarRef, ast.Member, ast.Index, ast.Deref)):
                return None
            if any(has_effect(other) for other in call.args):
                return None  # it may come before the copy is made, or after
            put(e.span.file, e.span.begin, e.span.begin, b"&")
        return out if calls else None

    def handed_on(self, call: ast.Call, ref: ast.VarRef) -> bool:
        """The function that is called gets the address, too."""
        places = [i for i, a in enumerate(call.args) if a is ref]
        if not isinstance(call.callee, ast.FuncRef):
            return False
        function = self.whole.functions.get(call.callee.name)
        return function is not None and all(
            i < len(function.params) and function.params[i] in self.passed for i in places
        )


def _pointer(text: bytes, name: bytes) -> bytes | None:
    """``struct grid g`` as ``struct grid *g``; ``struct grid`` as ``struct grid *``; None for anything else."""
    lead, text, tail = bare(text)
    found = _WORDS.fullmatch(text)
    if found is None:
        return None
    words = [*found[1].split(), found[2]]
    if not _STOPPING.isdisjoint(words):
        return None
    plain = [w for w in words if w not in _QUALIFIERS]
    type_words = 2 if plain[0] in (b"struct", b"union") else 1
    if len(plain) == type_words:
        return lead + text + b" *" + tail
    if len(plain) != type_words + 1 or words[-1] in _QUALIFIERS:
        return None
    return lead + text[: found.start(2)] + b"*" + text[found.start(2) :] + tail
