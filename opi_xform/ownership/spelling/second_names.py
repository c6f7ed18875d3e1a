"""Pointers that are another name of a buffer: ``int *ri = (int *)rbuf;`` set before the receive, used after it.

Such a name goes stale when the message brings another block.  Where it never holds anything but the carrier's own
value, and the program does not set the carrier while the name is used, the carrier can be written in its place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ownership.model.buffers import Buffer, Place, Program
from opi_xform.ownership.model.names import names_of, value_range
from opi_xform.ownership.model.plan import Edit, InsertStatement, PointerDeclaration, ReplaceCall, ReplaceText
from opi_xform.ownership.spelling.mentioned import Mention, mentions_of
from opi_xform.ownership.spelling.mentions import Texts, plain
from opi_xform.ownership.spelling.parameters import argument
from opi_xform.ownership.spelling.scopes import means_type, means_variable
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class SecondName:
    """``text`` stands for the variable wherever ``mentions`` read it.

    setting: the statement that declares it and does nothing else, when all goes with it.  nodes: those that set it.
    """

    text: str
    mentions: tuple[ast.VarRef, ...]
    setting: ast.DeclStmt | None
    nodes: frozenset[int]


def second_names(program: Program, units: Sequence[ast.Unit], buffer: Buffer) -> Mapping[str, SecondName]:
    """The local pointers that are nothing but other names of the buffer's carrier, by key."""
    carrier = program.variables[buffer.carrier.variable]
    if buffer.carrier.rows or carrier.key in program.members or carrier.type.volatile:
        return {}
    out: dict[str, SecondName] = {}
    by_key, texts = mentions_of(units).by_key, Texts()
    for function in program.functions.values():
        if carrier.function and carrier.function != function.key:
            continue
        if not means_variable(program, function, carrier, texts):
            continue
        for key, variable in function.variables.items():
            if variable.kind == "local" and variable.type.is_pointer and key != carrier.key:
                found = _second(program, units, buffer, function, variable, by_key.get(key, []))
                if found is not None:
                    out[key] = found
    return out


def first_name(program: Program, key: str, named: Collection[str]) -> str:
    """The pointer of which a local one is always a copy (``int *ri = (int *)rbuf;``), itself where it is none.

    That is the buffer's carrier: the memory comes by its name, and the copy goes stale.  A local pointer counts only
    where other messages name it (``named``): else it may be what the memory is given first, for the copy to carry it.
    """
    seen = {key}
    while True:
        source = _copied(program, key)
        if source is None or source in seen or not (source in named or program.variables[source].is_global):
            return key
        seen.add(source)
        key = source


def _copied(program: Program, key: str) -> str | None:
    """The variable whose value is all that a local pointer is ever given; None where there is no single one."""
    variable = program.variables.get(key)
    if variable is None or variable.kind != "local" or not variable.type.is_pointer or key in program.members:
        return None
    names = names_of(program)
    found: set[str] = set()
    for o in names.objects.by_name.get(key, []):
        for n in names.defs.get(("v", o, 0), ()):
            action, frame = names.graph.nodes[n].action, names.graph.nodes[n].frame
            if isinstance(action, ins.Birth):
                continue
            value = action.value if isinstance(action, ins.Define) else None
            while value is not None and not isinstance(value, ins.Var):
                if isinstance(value, ins.Op) and value.op == "cast" and value.type.is_pointer:
                    value = value.args[0]
                elif isinstance(value, ins.Temp) and len(made := names.defs.get(("t", frame, value.number), [])) == 1:
                    before = names.graph.nodes[made[0]].action
                    value = before.value if isinstance(before, ins.Define) else None
                else:
                    value = None
            if value is None:
                return None
            found.add(value.key)
    if len(found) != 1:
        return None
    source = next(iter(found))
    other = program.variables[source]
    return source if other.type.is_pointer and other.kind != "param" and source not in program.members else None


def with_names(program: Program, units: Sequence[ast.Unit], buffer: Buffer, converted: Collection[Place]) -> Buffer:
    """The buffer with the second names that sites give it: there, too, the carrier can be written in their place."""
    written = [plain(u.call.args[u.argument]) for u in buffer.uses if u.place in converted]
    keys = {e.var for e in written if isinstance(e, ast.VarRef)} - {buffer.carrier.variable} - buffer.lifted
    if not keys or buffer.swaps:
        return buffer
    return replace(buffer, named=frozenset(keys & second_names(program, units, buffer).keys()))


def _second(
    program: Program,
    units: Sequence[ast.Unit],
    buffer: Buffer,
    function: ast.Function,
    variable: ast.Variable,
    mentions: Sequence[Mention],
) -> SecondName | None:
    carrier = program.variables[buffer.carrier.variable]
    text = _text(carrier, variable.type)
    if not text or variable.type.volatile or variable.type.atomic or function.key not in program.graph.lowered:
        return None
    given = [] if variable.init is None else [variable.init]
    reading: list[ast.VarRef] = []
    for mention in mentions:
        parent = mention.parent
        if mention.unevaluated:
            continue
        if isinstance(parent, ast.Assign) and parent.target is mention.ref:
            if parent.op:
                return None
            given.append(parent.value)
        elif isinstance(parent, (ast.AddrOf, ast.IncDec)) or not mention.ref.span.editable:
            return None
        else:
            reading.append(mention.ref)
    if not given or not all(_is_carrier(e, carrier.key) for e in given):
        return None
    if mentions_of(units).texts.in_directive(function.span.file, variable.name, True) is not None:
        return None
    lowered = program.graph.lowered[function.key]
    texts = Texts()
    if text != carrier.name and not means_type(program, lowered, variable.type.spelling, texts):
        return None
    at = next((i for i, s in enumerate(lowered.stmts) if _declares(s.stmt, variable.key)), None)
    if at is None or _crosses(program, buffer, variable):
        return None
    if carrier.function and not all(_in_scope(lowered, carrier, ref.span) for ref in reading):
        return None
    info = lowered.stmts[at]
    setting: ast.DeclStmt | None = None
    alone = variable.init is not None and len(given) == 1 and not any(m.unevaluated for m in mentions)
    alone = alone and "typeof" not in texts.of(function.span)  # what stands there is no mention
    if alone and isinstance(info.stmt, ast.DeclStmt) and len(info.stmt.variables) == 1 and info.in_block:
        span = info.stmt.span
        written = mentions_of(units).texts.read(span.file)[span.begin : span.end]
        declares = b"{" in written  # a struct of its own, perhaps
        setting = info.stmt if span.editable and not declares else None
    names = names_of(program)
    defs = frozenset(n for o in names.objects.by_name.get(variable.key, []) for n in names.defs.get(("v", o, 0), ()))
    return SecondName(text, tuple(reading), setting, defs)


def _declares(stmt: ast.Stmt, key: str) -> bool:
    return isinstance(stmt, ast.DeclStmt) and key in stmt.variables


def _in_scope(lowered: ins.Lowered, carrier: ast.Variable, span: Span) -> bool:
    """A local carrier can be named at a place of its function."""
    if carrier.kind == "param":
        return True
    for info in lowered.stmts:
        if _declares(info.stmt, carrier.key):
            whole = lowered.stmts[info.parent].stmt.span if info.parent >= 0 else lowered.function.span
            return span.file == whole.file and info.stmt.span.end <= span.begin < whole.end
    return False


def _is_carrier(e: ast.Expr, key: str) -> bool:
    found = argument(e)
    return found is not None and not found.indexed and found.variable == key


def _text(carrier: ast.Variable, wanted: Type) -> str:
    """The carrier's value as the second name's type has it; '' when that cannot be written."""
    elem = carrier.type.elem
    if elem is not None and wanted.elem is not None and not elem.is_array and elem.spelling == wanted.elem.spelling:
        return carrier.name
    plain = "(" not in wanted.spelling and "[" not in wanted.spelling and wanted.spelling.endswith("*")
    return f"(({wanted.spelling}){carrier.name})" if plain else ""


def _crosses(program: Program, buffer: Buffer, variable: ast.Variable) -> bool:
    """The program sets the carrier, or gives it a new life, while the second name is used."""
    names = names_of(program)
    setting: set[int] = set()
    for o in names.objects.by_name.get(buffer.carrier.variable, []):
        setting.update(names.defs.get(("v", o, 0), ()))
    for o in names.objects.by_name.get(variable.key, []):
        name = ("v", o, 0)
        if o in names.address_taken or names.writes(o):
            return True
        nodes = names.graph.nodes
        holding = frozenset(n for n in names.defs.get(name, ()) if not isinstance(nodes[n].action, ins.Birth))
        found = value_range(names, name, holding)
        if any(found.crosses(n, True) for n in setting):
            return True
    return False


def renaming(
    program: Program, names: Mapping[str, SecondName], others: Sequence[Edit]
) -> tuple[ReplaceText, ...] | None:
    """The carrier in the place of its second names; None where other edits of the buffer repeat or change that text."""
    out: list[ReplaceText] = []
    for key, second in sorted(names.items()):
        word = re.compile(rf"\b{re.escape(program.variables[key].name)}\b")
        if any(word.search(text) for edit in others for text in _texts(edit)):
            return None
        if second.setting is not None:
            out.append(ReplaceText(second.setting.span, ""))
        called = [span for edit in others if isinstance(edit, ReplaceCall) for span, _ in edit.arguments]
        refs = [ref.span for ref in second.mentions if not any(_overlap(ref.span, span) for span in called)]
        out.extend(ReplaceText(span, second.text) for span in refs)
    taken = [*(span for edit in others for span in _spans(edit)), *(edit.span for edit in out)]
    for edit in out:
        if any(_overlap(edit.span, span) for span in taken if span is not edit.span):
            return None
    return tuple(out)


def _overlap(a: Span, b: Span) -> bool:
    return a.file == b.file and a.begin < b.end and b.begin < a.end


def _texts(edit: Edit) -> Iterator[str]:
    if isinstance(edit, (InsertStatement, ReplaceText)):
        yield edit.text
    elif isinstance(edit, ReplaceCall):
        yield from (text for _, text in edit.arguments)


def _spans(edit: Edit) -> Iterator[Span]:
    """What an edit overwrites."""
    if isinstance(edit, ReplaceText):
        yield edit.span
    elif isinstance(edit, ReplaceCall):
        yield from (span for span, _ in edit.arguments)
    elif isinstance(edit, PointerDeclaration):
        yield edit.declarator
