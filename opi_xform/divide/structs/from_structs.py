"""Arrays in structs, as variables of their own: ``h.out[i]`` as ``h_out[i]``, with ``double h_out[720];``.

A struct is one object, and a message in it begins inside.  Where an array in a declared struct is only named as such,
element by element or in a call that sends or receives it, it may as well be a variable: each access by its name stays
in it (C 6.5.6), and of all others, and of the messages, that is shown.  The program with these edits does what it did.

Pointers to buffers in local structs likewise (``own.b = h->out;``): what such a struct holds is only found in memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from opi_xform.divide.check import prover_at, stays_inside
from opi_xform.divide.flow import Pointers, Trouble, harmless
from opi_xform.divide.mentions import mentions_within
from opi_xform.divide.structs.member_flow import MemberFlow, given_elements, handed, through_pointer
from opi_xform.divide.structs.named_text import NamedText
from opi_xform.divide.structs.read_out import ReadOut
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Field, Record, Type
from opi_xform.ir.walk import expressions, uncast
from opi_xform.memory.accesses import Access
from opi_xform.memory.poly import number
from opi_xform.ownership.buffers.uses import buffers, collect
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.plan import SiteKey
from opi_xform.ownership.model.stretches import exactly, stretches_of
from opi_xform.ownership.model.traced import path
from opi_xform.ownership.spelling.mentioned import mentions_of
from opi_xform.ownership.spelling.scopes import names_in
from opi_xform.record import dataclass
from opi_xform.text.edit import ByteEdit

Edits = dict[str, dict[ByteEdit, None]]
Place = tuple[str, int]

_NAMED = re.compile(  # h.out, (h).out, (&h)->out
    rb"(?:(?P<plain>\w+)\s*\.|\(\s*(?P<around>\w+)\s*\)\s*\.|\(\s*&\s*(?P<address>\w+)\s*\)\s*->)\s*(?P<field>\w+)"
)
MOST_ALIGNED = 16  # bytes to which any variable may be aligned


class _NotUnderstoodError(Exception):
    """A place that is written in another way, or an access that may go on after the array."""


@dataclass(frozen=True, slots=True)
class Lifted:
    """An array of a struct that becomes a variable.

    unshown: sends of which only that all their bytes are written by the array's name can show that they end in it.
    wide: the edits with a variable that goes on to the end of the struct, in which that is seen.
    sites: the messages that it has to do with.  assumes: what it rests on that receives end in their arrays.
    """

    key: str
    field: str
    edits: Edits
    wide: Edits
    unshown: frozenset[SiteKey]
    sites: frozenset[SiteKey]
    assumes: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Mention:
    """One mention of the struct: the member that it names, and the bytes of text that name it."""

    ref: ast.VarRef
    member: ast.Member
    parents: tuple[ast.Expr, ...]  # around the member, innermost first

    @property
    def place(self) -> Place:
        return (self.ref.span.file, self.ref.span.begin)


class FromStructs:
    """One use: ``run``."""

    def __init__(
        self, program: Program, units: Sequence[ast.Unit], read: Callable[[str], bytes], strict: bool = False
    ) -> None:
        self.program = program
        self.units = units
        self.read = read
        self.strict = strict
        self.symbols = program.values.symbols
        self.records: Mapping[str, Record] = {key: record for unit in units for key, record in unit.records.items()}
        self.index = mentions_of(units)
        self.words: set[bytes] | None = None
        self.given: dict[str, tuple[str, str]] = {}  # by new name: the names of the struct and of the array
        self.text = NamedText(program, units, read)
        self.read_out: dict[tuple[int, str, frozenset[int]], tuple[str, ...] | None] = {}  # object, array, receives

    def run(self, kept: frozenset[SiteKey]) -> Iterator[Lifted]:
        """The arrays in structs with a message of these sites, each with what makes it a variable."""
        wanted: dict[str, dict[str, set[SiteKey]]] = {}
        table = self.program.values.objects.table
        self.pointers(kept, wanted)
        for use in collect(self.program):
            info = table[use.object] if use.object in range(len(table)) else None
            if info is None or info.kind != "variable" or info.variable is None or use.place[:3] not in kept:
                continue
            record = self.records.get(self.program.variables[info.variable].type.record)
            if record is None or record.union:
                continue
            at = self.named_by(use, info.variable)
            for f in record.fields:
                if f.name and f.name in at and f.type.is_array:
                    wanted.setdefault(info.variable, {}).setdefault(f.name, set()).add(use.place[:3])
        for key in sorted(wanted):
            for name in sorted(wanted[key]):
                try:
                    yield self.lifted(self.program.variables[key], name, frozenset(wanted[key][name]))
                except _NotUnderstoodError:
                    continue

    def pointers(self, kept: frozenset[SiteKey], wanted: dict[str, dict[str, set[SiteKey]]]) -> None:
        """The pointers in local structs that messages of these sites are given, or that hold what they are given."""
        program, table = self.program, self.program.values.objects.table
        given: dict[int, set[SiteKey]] = {}
        for use in collect(program):
            if use.place[:3] in kept:
                if use.object >= 0:
                    given.setdefault(use.object, set()).add(use.place[:3])
                counted = program.members.get(path(program, use)[1])  # one that counts as a variable already
                if counted is not None and counted.object[0] == "variable" and isinstance(counted.object[1], str):
                    self.pointer_at(counted.object[1], counted.offset, {use.place[:3]}, wanted)
                named = uncast(use.call.args[use.argument])
                if isinstance(named, ast.Member) and isinstance(named.base, ast.VarRef):
                    self.pointer(named.base.var, named.field, {use.place[:3]}, wanted)
        for node in program.graph.nodes if given else ():
            values = program.values.operands.get(node.number, ())
            if isinstance(node.action, ins.Store) and node.action.type.is_pointer and len(values) == 2:
                place, held = (self.symbols.base(self.symbols.not_null(v)) for v in values)
                at = self.symbols.resolve(self.symbols.offset(values[0])).constant if place is not None else None
                key = table[place].variable if place is not None and table[place].kind == "variable" else None
                leads = (held,) if held is not None else program.points_to.operand(node.frame, node.action.value)
                sites = {one for o in leads for one in given.get(o, ())}
                if key is not None and at is not None and sites:
                    self.pointer_at(key, at, sites, wanted)

    def pointer_at(self, key: str, at: int, sites: set[SiteKey], wanted: dict[str, dict[str, set[SiteKey]]]) -> None:
        record = self.records.get(self.program.variables[key].type.record)
        for f in record.fields if record is not None else ():
            if f.offset == at:
                self.pointer(key, f.name, sites, wanted)

    def pointer(self, key: str, name: str, sites: set[SiteKey], wanted: dict[str, dict[str, set[SiteKey]]]) -> None:
        variable = self.program.variables[key]
        record = self.records.get(variable.type.record)
        field = record.field(name) if record is not None and not record.union and variable.kind == "local" else None
        if field is not None and field.type.is_pointer:
            wanted.setdefault(key, {}).setdefault(name, set()).update(sites)

    def named_by(self, use: Use, key: str) -> set[str]:
        """The members of a struct that a message's buffer is named by, or in which it begins."""
        record = self.records.get(self.program.variables[key].type.record)
        action = self.program.graph.nodes[use.node].action
        assert isinstance(action, ins.CallInstr)
        out = {_member(action.args[use.argument], key, {m.place: m.member.field for m in self.mentions(key)})}
        lo = use.lo.constant if use.lo is not None else -1
        for f in record.fields if record is not None else ():
            if lo is not None and f.offset <= lo < f.offset + (f.type.size or 0):
                out.add(f.name)
        return out

    def lifted(self, variable: ast.Variable, name: str, sites: frozenset[SiteKey]) -> Lifted:
        """Raises _NotUnderstoodError."""
        record = self.records[variable.type.record]
        field = record.field(name)
        assert field is not None
        self.require_plain(variable, record, field)
        found = list(self.mentions(variable.key))
        if len(found) != len(self.index.by_key.get(variable.key, ())):
            raise _NotUnderstoodError  # the struct is named as a whole
        mine = [m for m in found if m.member.field == name]
        if any((m.member.offset, m.member.type.spelling) != (field.offset, field.type.spelling) for m in mine):
            raise _NotUnderstoodError  # the struct is another one in another file
        loose = [m for m in mine if not self.plainly_named(m)]
        flow = self.followed(variable.key, mine, loose) if loose else None
        places = {m.place: m.member.field for m in found}
        unshown, assumes = self.require_inside(variable, record, field, places, flow)
        if unshown and any(isinstance(m.parents[0], ast.SizeOf) for m in mine if m.parents):
            raise _NotUnderstoodError  # in the wide edits it is another number
        new = self.new_name(variable, name)
        narrow = self.edits(variable, field, mine, new, field.type.count or 0)
        first = field.type
        row = (first.elem.size or 0) if first.elem is not None else 0
        wide = self.edits(variable, field, mine, new, ((record.size or 0) - field.offset) // row if unshown else 0)
        return Lifted(variable.key, name, narrow, wide, unshown, sites, assumes)

    # --- what it may be ----------------------------------------------------------------------------------------------

    def require_plain(self, variable: ast.Variable, record: Record, field: Field) -> None:
        if variable.kind not in ("extern", "static", "local-static", "local") or variable.init is not None:
            raise _NotUnderstoodError
        if variable.kind == "extern" and not self.program.complete:
            raise _NotUnderstoodError
        if variable.attributes or variable.thread_local or variable.alignment > MOST_ALIGNED or record.union:
            raise _NotUnderstoodError
        type_: Type | None = field.type
        while type_ is not None and type_.is_array:
            if type_.vla or not type_.count:
                raise _NotUnderstoodError
            type_ = type_.elem
        whole = (variable.type, field.type, type_)
        kinds = ("pointer",) if field.type.is_pointer and variable.kind == "local" else ("int", "float")
        if (
            type_ is None
            or type_.kind not in kinds
            or any(t is None or t.const or t.volatile or t.atomic for t in whole)
        ):
            raise _NotUnderstoodError
        size = field.type.size or 0
        others = [f for f in record.fields if f is not field]
        if any(f.offset < field.offset + size and field.offset < f.offset + (f.type.size or 0) for f in others):
            raise _NotUnderstoodError
        if not variable.declarators or any(d.init_span is not None for d in variable.declarators):
            raise _NotUnderstoodError

    def mentions(self, key: str) -> Iterator[_Mention]:
        """Every mention of the struct that names a member of it."""
        done: set[int] = set()
        for unit in self.units:
            roots = [v.init for v in unit.globals.values() if v.init is not None]
            for function in unit.functions.values():
                roots += [v.init for v in function.variables.values() if v.init is not None]
                roots += expressions(function.body)
            for root in roots:
                for ref, parents in mentions_within(root, key):
                    if len(parents) > 2 and isinstance(parents[0], ast.AddrOf) and isinstance(parents[1], ast.Deref):
                        parents = parents[2:]  # (&h)->out
                    above = parents[0] if parents else None
                    if isinstance(above, ast.Member) and id(ref) not in done:
                        done.add(id(ref))
                        yield _Mention(ref, above, parents[1:])

    def plainly_named(self, m: _Mention) -> bool:
        """An element, or a buffer of a call of the MPI; else pointers to it have to be followed.  Raises
        _NotUnderstoodError.
        """
        span = m.member.span
        if not span.editable or not _NAMED.fullmatch(self.read(span.file)[span.begin : span.end]):
            raise _NotUnderstoodError
        inner: ast.Expr = m.member
        above = list(m.parents)
        if inner.type.is_pointer:
            if above and isinstance(above[0], ast.AddrOf):
                raise _NotUnderstoodError
            return True
        while above and isinstance(above[0], ast.Index) and above[0].base is inner:
            index, count = above[0].index, inner.type.count
            if isinstance(index, ast.IntLit) and not 0 <= index.value < (count or 0):
                raise _NotUnderstoodError
            inner = above.pop(0)
        if not inner.type.is_array and not (above and isinstance(above[0], ast.AddrOf)):
            return True
        if above and isinstance(above[0], ast.SizeOf):
            return True
        while above and isinstance(above[0], (ast.AddrOf, ast.Cast, ast.Binary)):
            if isinstance(above[0], ast.Binary) and (above[0].op != "+" or not above[0].type.is_pointer):
                return False
            inner = above.pop(0)
        call = above[0] if above else None
        if not isinstance(call, ast.Call) or not isinstance(call.callee, ast.FuncRef):
            return False
        effect = self.program.effects.get(call.callee.name)
        given = [i for i, a in enumerate(call.args) if a is inner]
        return effect is not None and effect.mpi is not None and bool(given) and harmless(effect, given)

    def followed(self, key: str, mine: Sequence[_Mention], loose: Sequence[_Mention]) -> Pointers:
        """The pointers that are made from the array.  Raises _NotUnderstoodError."""
        if self.program.graph.background.nodes or self.program.threads:
            raise _NotUnderstoodError  # not all of their accesses are told one by one
        flow = MemberFlow(self.program, key, {m.place for m in mine})
        if not {m.place for m in loose} <= flow.reached():
            raise _NotUnderstoodError  # in an initialiser, or where the analysis does not get
        try:
            return flow.run()
        except Trouble:
            raise _NotUnderstoodError from None

    def require_inside(
        self, variable: ast.Variable, record: Record, field: Field, places: Mapping[Place, str], flow: Pointers | None
    ) -> tuple[frozenset[SiteKey], frozenset[str]]:
        """Accesses by the array's name stay in it, all others outside.  Those sends of which that is not shown; what it
        rests on of receives.

        Raises _NotUnderstoodError.
        """
        uses: dict[int, list[Use]] = {}
        for use in collect(self.program):
            uses.setdefault(use.node, []).append(use)
        unshown: set[SiteKey] = set()
        assumes: set[str] = set()
        received: dict[tuple[int, str], dict[int, Use]] = {}
        name, begin, end = field.name, field.offset, field.offset + (field.type.size or 0)
        table = self.program.values.objects.table
        for o in [i for i, info in enumerate(table) if info.variable == variable.key]:
            if table[o].kind != "variable":
                raise _NotUnderstoodError
            for n, accesses in index_of(self.program).accesses.of(o).items():
                for a in accesses:
                    names, mine = self.names(a, variable.key, places), [u for u in uses.get(n, ()) if u.object == o]
                    if through_pointer(self.program, flow, a):
                        if self.between(a, begin, end):
                            continue
                        if names != {name} or not mine:
                            raise _NotUnderstoodError
                    if self.lies(a, names, record, field):
                        continue
                    side = "recv" if a.kind == "W" else "send"
                    mine = [u for u in mine if u.side == side]
                    if len(mine) != 1 or len(names) != 1:
                        raise _NotUnderstoodError
                    if side == "recv":
                        received.setdefault((o, next(iter(names))), {})[n] = mine[0]
                    elif variable.kind == "local":
                        raise _NotUnderstoodError
                    else:
                        unshown.add(mine[0].place[:3])
        for (o, array), by_node in received.items():
            key = (o, array, frozenset(by_node))
            if key not in self.read_out:
                self.read_out[key] = self.read_to_ends(o, record.field(array), list(by_node.values()))
            rests = self.read_out[key]
            if rests is None:
                raise _NotUnderstoodError
            assumes.update(rests)
        return frozenset(unshown), frozenset(assumes)

    def read_to_ends(self, o: int, field: Field | None, receives: Sequence[Use]) -> tuple[str, ...] | None:
        """What it rests on that receives in an array are read by its name to their ends; None: it is not shown."""
        program, info = self.program, self.program.values.objects.table[o]
        buffer = next((b for b in buffers(program, collect(program))[0] if o in b.objects), None)
        if buffer is None or field is None or info.variable is None:
            return None
        elements = {m.place: m.member.field for m in self.mentions(info.variable) if _element(m)}
        named: dict[int, Access] = {}
        for n, (a, *others) in index_of(program).accesses.of(o).items():
            element = isinstance(program.graph.nodes[n].action, (ins.Load, ins.Store)) and not others
            known = a.lo is not None and a.length is not None
            if element and known and self.names(a, info.variable, elements) == {field.name}:
                named[n] = a
        ends = field.offset, self.records[self.program.variables[info.variable].type.record].size or 0
        return ReadOut(program, buffer, o, receives, named, ends, self.strict).rests

    def lies(self, a: Access, names: set[str], record: Record, field: Field) -> bool:
        """An access that names the array is shown to lie in it, another one outside.  Raises _NotUnderstoodError."""
        begin, end = field.offset, field.offset + (field.type.size or 0)
        at = exactly(a)
        called = isinstance(self.program.graph.nodes[a.node].action, ins.CallInstr)
        if names == {field.name}:
            if at is not None:
                if begin <= at[0] and at[0] + at[1] <= end:
                    return True
                raise _NotUnderstoodError
            if not called:
                return True  # an element: a subscript stays inside
            last = all(f.offset <= field.offset for f in record.fields)
            return last or self.fits(a, end)
        if field.name in names:
            raise _NotUnderstoodError  # one of several that the node names
        first, length = stretches_of(self.program).of(a)
        if end <= first or (length is not None and first + length <= begin):
            return True
        lo = None if a.lo is None else self.symbols.resolve(a.lo).constant
        if lo is not None and lo >= end:
            return True  # however long it is
        if called and names:
            behind = {f.name for f in record.fields if f.offset >= end}
            return (lo is None and names == given_elements(self.program, a) <= behind) or self.fits(a, begin)
        if self.between(a, 0, begin) or self.between(a, end, record.size or 0):
            return True
        raise _NotUnderstoodError

    def between(self, a: Access, begin: int, end: int) -> bool:
        """An access is shown to lie between two places of the struct."""
        if a.lo is None or a.length is None:
            return False
        access = self.symbols.resolve(a.lo), self.symbols.resolve(a.length)
        return begin < end and stays_inside(self.program, a.node, access, (number(begin), number(end)))

    def names(self, a: Access, key: str, places: Mapping[Place, str]) -> set[str]:
        """The members that the address of an access is made from; none where that is a pointer."""
        action = self.program.graph.nodes[a.node].action
        match action:
            case ins.Load(address=address) | ins.Store(address=address):
                found = [address]
            case ins.CopyBytes(target=target, source=source):
                found = [target if a.kind == "W" else source]
            case ins.CallInstr(args=args):
                values = [self.symbols.not_null(v) for v in self.program.values.args.get(a.node, ())]
                found = [
                    handed(self.program, operand, self.program.graph.nodes[a.node].frame)
                    for operand, v in zip(args, values, strict=False)
                    if self.symbols.base(v) == a.object and self.symbols.offset(v) == a.lo
                ]
            case _:
                found = []
        out = [_member(operand, key, places) for operand in found]
        return set(out) if "" not in out else set()

    def fits(self, a: Access, end: int) -> bool:
        """A call's access is shown to end in the array."""
        if a.lo is None or a.length is None:
            return False
        rest = number(end) - self.symbols.resolve(a.lo) - self.symbols.resolve(a.length)
        return prover_at(self.program, a.node, ()).proves(rest)

    # --- text --------------------------------------------------------------------------------------------------------

    def new_name(self, variable: ast.Variable, name: str) -> str:
        if self.words is None:
            self.words = {w for file in self.program.files for w in re.findall(rb"\w+", self.read(file))}
        plain = f"{variable.name.rstrip('_')}_{name}"
        for new in (plain, f"{variable.name}_{name}", f"{plain}_array"):
            if new.encode() in self.words or new in names_in(self.program) or new in self.program.effects:
                continue
            # arrays of the same names are told apart by their scopes, as they were
            if self.given.setdefault(new, (variable.name, name)) == (variable.name, name):
                return new
        raise _NotUnderstoodError

    def edits(self, variable: ast.Variable, field: Field, mine: Sequence[_Mention], new: str, count: int) -> Edits:
        """Raises _NotUnderstoodError."""
        called = self.text.called(variable)
        if not self.text.accounted(variable, called):
            raise _NotUnderstoodError
        out: Edits = {}
        dims, type_ = "", field.type
        while type_.is_array and type_.elem is not None:
            dims += f"[{type_.count if dims else count}]"
            type_ = type_.elem
        for d in variable.declarators:
            if not d.alone or not d.statement.editable or d.storage not in ("", "static", "extern"):
                raise _NotUnderstoodError
            if d.suffix is not None and d.suffix.begin != d.suffix.end:
                raise _NotUnderstoodError
            data = self.read(d.statement.file)
            if data[d.statement.end - 1 : d.statement.end] != b";":
                raise _NotUnderstoodError
            start = data.rfind(b"\n", 0, d.statement.begin) + 1
            indent = data[start : d.statement.begin]
            line = b"\n" + indent if not indent.strip() else b" "
            words = f"{d.storage} " if d.storage else ""
            text = line + f"{words}{declared(type_, new)}{dims};".encode()
            out.setdefault(d.statement.file, {})[ByteEdit(d.statement.end, d.statement.end, (field.offset,), text)] = (
                None
            )
        for m in mine:
            span = m.member.span
            text = self.read(span.file)[span.begin : span.end]
            named = _NAMED.fullmatch(text)
            if named is None or named["field"] != field.name.encode():
                raise _NotUnderstoodError
            if (named["plain"] or named["around"] or named["address"]) not in called:
                raise _NotUnderstoodError
            out.setdefault(span.file, {})[ByteEdit(span.begin, span.end, (), new.encode())] = None
        return out


def _element(m: _Mention) -> bool:
    """A mention names an element by subscripts alone: no pointer goes on from there."""
    inner: ast.Expr = m.member
    above = list(m.parents)
    while above and isinstance(above[0], ast.Index) and above[0].base is inner:
        inner = above.pop(0)
    return inner.type.kind in ("int", "float") and not (above and isinstance(above[0], ast.AddrOf))


def declared(type_: Type, name: str) -> str:
    """A declaration of a variable without the brackets of an array.  Raises _NotUnderstoodError."""
    if "(*)" in type_.spelling and type_.spelling.count("(") == 1:
        return type_.spelling.replace("(*)", f"(*{name})")
    if "(" in type_.spelling:
        raise _NotUnderstoodError
    return f"{type_.spelling}{'' if type_.spelling.endswith('*') else ' '}{name}"


def _member(operand: ins.Operand, key: str, places: Mapping[Place, str]) -> str:
    """The one member of a struct that an address is made from; '' where that is not told."""
    while isinstance(operand, ins.PtrAdd):
        operand = operand.base
    if isinstance(operand, ins.AddrVar) and operand.key == key:
        return places.get((operand.span.file, operand.span.begin), "")
    return ""
