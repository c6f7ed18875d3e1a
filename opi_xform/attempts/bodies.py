"""Calls of functions that touch a buffer, written out: ``pack(b, at, n);`` as ``{ for (…) b[at + i] = …; }``.

A call is its function's body in a block before the statement that it is in (``calling.py``), with variables there that
hold what is given.  Where a pointer is given, the buffer's own name is written for the parameter: ``b[…]``,
``b[at + (…)]`` for ``&b[at]``, and ``b`` for ``*p`` where ``&b`` is given.  The two are one program where each word of
the body means the same at the call, and what is written for a parameter keeps its value while the body runs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from opi_xform.attempts.calling import Calling, calling, leaving
from opi_xform.divide.passages.called import begins, uncast
from opi_xform.ir import ast
from opi_xform.ir.types import Type
from opi_xform.ir.walk import addressed, statements, within, within_statement
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.spelling.given_names import acts
from opi_xform.ownership.spelling.mentioned import Mention, mentions_of
from opi_xform.ownership.spelling.mentions import Texts
from opi_xform.ownership.spelling.parameters import bare, list_item, same_pointed
from opi_xform.ownership.spelling.scopes import declared_by_macros, expanded, fresh, hidden, means_variable, words
from opi_xform.ownership.spelling.short_names import reads
from opi_xform.record import dataclass
from opi_xform.text.edit import ByteEdit
from opi_xform.text.macros import without_comments

Change = tuple[list[str], list[tuple[int, int, str]]]
"""Declarations before the body, and what is written in it: from where, to where, what."""
LONGEST = 4096  # bytes of a body that is written out
_OWN_PLACE = frozenset(("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__", "__LINE__", "__COUNTER__", "assert"))
_OWN_FRAME = frozenset(("alloca", "__builtin_alloca", "__builtin_return_address", "__builtin_frame_address"))
_LEAVES = frozenset(("setjmp", "_setjmp", "sigsetjmp", "va_start"))
"""Words that mean something else in another function, or at another line."""
_DECLARING = (b"enum", b"typedef", b"struct", b"union")
_JUMPS = (ast.Goto, ast.Label, ast.OpaqueStmt)
_LINE = re.compile(rb"^[ \t]*(?:#|\?\?=|%:)[ \t]*([a-z_]\w*)[ \t]*([A-Za-z_]\w*)?", re.MULTILINE)
_DECLARED = re.compile(r"((?:[A-Za-z_]\w*\s+)*?[A-Za-z_]\w*)\s*(\*[\s*]*)?\b(\w+)\s*(\[\s*\w*\s*\])?")
_SPACE = re.compile(rb"[ \t]*")
_MPI = ("MPI_", "PMPI_", "OPI_")
_ENDS = frozenset(("MPI_Abort",))
_NUMBERS = frozenset(("int", "long", "unsigned", "short", "signed", "char"))
_SUM = (ast.Binary, ast.IntLit, ast.MacroConst, ast.Cast)
"""Of integers, and variables that keep their values."""
_QUALIFIERS = frozenset({"restrict", "__restrict", "__restrict__", "register", "const", "static"})


@dataclass(frozen=True, slots=True)
class Written:
    """A call that is written out: the key of the function that it calls, its place, and what stands there then."""

    function: str
    call: ast.Call
    place: tuple[str, int]
    edits: tuple[ByteEdit, ...]


def written_out(program: Program, units: Sequence[ast.Unit], wanted: Collection[str]) -> Iterator[Written]:
    """The calls of these functions that can be written out."""
    for unit in units:
        bodies = {key: _Body(program, units, unit, f) for key, f in unit.functions.items() if key in wanted}
        bodies = {key: body for key, body in bodies.items() if body.is_plain()}
        ends: set[int] = set()
        for function in unit.functions.values() if bodies else ():
            if function.span.file != unit.path or program.functions.get(function.key) is not function:
                continue
            for s, above in statements(function.body):
                if isinstance(above, ast.For) and above.init is s:
                    continue
                found = calling(s, above, function.variables)
                callee = found.call.callee if found is not None else None
                body = bodies.get(callee.name) if isinstance(callee, ast.FuncRef) else None
                if found is None or body is None:
                    continue
                edits = () if s.span.end in ends else body.at(function, found)
                if edits:
                    ends.add(s.span.end)  # of two blocks with one end, the ends would be one edit
                    yield Written(body.function.key, found.call, (s.span.file, s.span.begin), edits)


class _Body:
    """One function: ``at`` a call."""

    def __init__(self, program: Program, units: Sequence[ast.Unit], unit: ast.Unit, function: ast.Function) -> None:
        self.program = program
        self.unit = unit
        self.function = function
        self.index = mentions_of(units)
        self.texts = Texts()
        self.said = expanded(program, words(self.texts.of(function.span)))
        self.results = 0  # variables that hold a result, so far

    def is_plain(self) -> bool:
        """It runs from its first statement to its last one, and means the same wherever its words do."""
        f, data = self.function, self.index.texts.read(self.function.span.file)
        span = f.body.span
        if f.refused or f.threads or f.type.variadic or not span.editable or f.span.file != self.unit.path:
            return False
        if self.program.functions.get(f.key) is not f or f.key in self.program.graph.levels:
            return False
        if len(data[span.begin : span.end]) > LONGEST or data[span.begin : span.begin + 1] != b"{":
            return False
        if b"\\\n" in data[span.begin : span.end] or b"\\\r\n" in data[span.begin : span.end]:
            return False
        if self.index.texts.looks_at_types(self.texts.of(f.span)) or self.said & (_OWN_PLACE | _OWN_FRAME | _LEAVES):
            return False
        if _LINE.search(data, f.span.begin, span.end):
            return False
        if any(isinstance(s, _JUMPS) for s, _ in statements(f.body)) or leaving(f) is None:
            return False
        if any(v.kind == "local-static" or v.attributes or v.type.vla for v in f.variables.values()):
            return False
        inner = within_statement(f.body, f.variables)
        called = (e.callee for e in inner if isinstance(e, ast.Call))
        return all(isinstance(c, ast.FuncRef) and (c.name in _ENDS or not c.name.startswith(_MPI)) for c in called)

    def at(self, caller: ast.Function, where: Calling) -> tuple[ByteEdit, ...]:
        """What is written for a call; () where it is not the same."""
        f, s, call, result = self.function, where.stmt, where.call, ""
        if caller is f or not s.span.editable or caller.refused or len(call.args) != len(f.params):
            return ()
        if s.span.begin < f.span.end or not self.means_the_same(caller, s):
            return ()
        if len(call.args) > 1 and any(map(acts, call.args)):  # in which order they are evaluated, no text says
            return ()
        if where.wanted:
            if not _plain_number(f.type.elem) or not call.span.editable:
                return ()
            self.results += 1
            result = fresh(f"{f.name}_{self.results}", self.program)
        text = self.body(caller, s, call, result)
        if text is None:
            return ()
        return where.edits(text, f"{f.type.elem.spelling} {result};" if f.type.elem is not None else "", result)

    def body(self, caller: ast.Function, s: ast.Stmt, call: ast.Call, result: str) -> bytes | None:
        """The body with what a call gives it; its result is set to the variable ``result`` ('': nobody wants it)."""
        f, leave = self.function, leaving(self.function)
        assert leave is not None
        edits: list[tuple[int, int, str]] = []
        declared: list[str] = []
        for key, argument in zip(f.params, call.args, strict=True):
            variable, mentions = f.variables[key], self.index.by_key.get(key, [])
            text = self.said_once(argument)
            if not variable.name or not text or not means_variable(self.program, f, variable, self.texts):
                return None
            found = self.through(caller, variable, mentions, argument)
            found = found or self.named(caller, variable, mentions, argument)
            found = found or self.subscript(caller, variable, mentions, argument) or self.held(variable, mentions, text)
            if found is None:
                return None
            declared += found[0]
            edits += found[1]
        data, at = self.index.texts.read(f.span.file), f.body.span.begin + 1
        line = _SPACE.match(data, data.rfind(b"\n", 0, s.span.begin) + 1)
        apart = b"\n" + (line[0] if line is not None else b"")
        out: list[bytes] = []
        for begin, end, new in sorted((*edits, *leave.edits(result))):
            if begin < at:
                return None
            out += [data[at:begin], new.encode()]
            at = end
        inner = b"".join([*out, data[at : f.body.span.end]]).replace(b"\n", apart)
        if leave.early:
            inner = b"".join([b" do {", inner, b" while (0); }"])
        return b"".join([b"{", *(apart + b"    " + d.encode() for d in declared), inner])

    def said_once(self, e: ast.Expr) -> str:
        """An expression as it is written; '' where a macro writes it, or it is more than one line of words."""
        text = self.texts.of(uncast(e).span) if uncast(e).span.editable else ""
        return "" if any(mark in text for mark in ("//", "/*", "#", "\\")) else " ".join(text.split())

    # --- words -------------------------------------------------------------------------------------------------------

    def means_the_same(self, caller: ast.Function, s: ast.Stmt) -> bool:
        """No word of the body is one of the caller's own, but such as the body declares itself; nor is any another
        macro at the call.
        """
        lowered = self.program.graph.lowered.get(caller.key)
        if lowered is None or self.index.texts.looks_at_types(self.texts.of(caller.span)):
            return False
        theirs = {*hidden(lowered, len(lowered.stmts) - 1, self.texts), *declared_by_macros(self.program, caller.span)}
        theirs |= {v.name for v in caller.variables.values()}
        for name in theirs & self.said:
            mine = [v for v in self.function.variables.values() if v.name == name]
            if len(mine) != 1 or not means_variable(self.program, self.function, mine[0], self.texts):
                return False
        data, macros = without_comments(self.index.texts.read(s.span.file)), self.index.texts.macros
        between = re.findall(rb"\w+", data[self.function.body.span.end : s.span.end])
        if not {b"_Pragma", *macros.naming((b"_Pragma",))}.isdisjoint(between):
            return False
        theirs_too = re.findall(rb"\w+", data[caller.span.begin : caller.span.end])
        if not macros.naming(_DECLARING).isdisjoint(theirs_too):  # what they declare is not seen
            return False
        used = [w for w in {*theirs_too, *(w.encode() for w in self.said)} if w in macros.bodies]
        if b"##" in macros.written(b" ".join(used)):  # a name that no text has
            return False
        for found in _LINE.finditer(data, self.function.body.span.end, s.span.end):
            kind, name = found[1], (found[2] or b"").decode()
            if kind in (b"if", b"ifdef", b"ifndef", b"else", b"elif", b"endif"):
                continue
            if kind not in (b"define", b"undef") or name in self.said:
                return False
        return True

    # --- parameters --------------------------------------------------------------------------------------------------

    def through(
        self, caller: ast.Function, variable: ast.Variable, mentions: Sequence[Mention], argument: ast.Expr
    ) -> Change | None:
        """What an address is of is written for what the parameter points to: ``b`` for ``*p``, given ``&b``."""
        given, to = addressed(argument), variable.type.elem
        text = "" if given is None else self.said_once(given)
        if given is None or to is None or not to.is_pointer or not self.stays(caller, given) or not text:
            return None
        if isinstance(uncast(given), ast.Deref):
            text = f"({text})"  # ``p[0][i]`` is ``(*q)[i]``, given ``&*q``
        if any(t.const or t.volatile or t.atomic for t in (to, given.type, variable.type)):
            return None
        anything = to.elem is not None and to.elem.kind == "void" and given.type.is_pointer
        if not anything and not _one_type(to, given.type):
            return None
        edits = []
        for m in mentions:
            e, above = m.parent, m.outer
            if isinstance(e, ast.Index):
                star = e.base is m.ref and isinstance(e.index, ast.IntLit) and e.index.value == 0
            else:
                star = isinstance(e, ast.Deref)
            if e is None or not star or not e.span.editable:
                return None
            if anything and (m.unevaluated or not _as_any_pointer(above)):
                return None
            edits.append((e.span.begin, e.span.end, text))
        return [], edits

    def stays(self, caller: ast.Function, place: ast.Expr) -> bool:
        """The words of a place mean one place while the body runs: a variable, or a member of what one points to."""
        names: list[ast.Variable] = []
        numbers: list[ast.Variable] = []
        at, pointers = place, 0
        while not isinstance(at, ast.VarRef):
            match at:
                case ast.Member(base=base) | ast.Deref(operand=base):
                    pass
                case ast.Index(base=base, index=ast.IntLit()):
                    pass
                case ast.Index(base=base, index=ast.VarRef(var=key)):
                    numbers += [v for v in (self.known(caller, key),) if v is not None]
                case ast.Cast(explicit=False, operand=base):
                    pass
                case _:
                    return False
            pointers += isinstance(at, (ast.Deref, ast.Index)) and base.type.is_pointer
            at = base
        variable = self.known(caller, at.var)
        if variable is None or pointers > 1 or not place.span.editable:
            return False
        names = [variable, *numbers]
        t = variable.type
        if t.volatile or t.atomic or t.vla or variable.thread_local or variable.attributes:
            return False
        if not all(self.keeps(v) for v in (names if pointers else numbers)):
            return False
        if sum(isinstance(e, ast.VarRef) for e in within(place)) != len(names):
            return False
        said = {v.name for v in names}
        return not any(v.name in said for v in self.function.variables.values())

    def known(self, caller: ast.Function, key: str) -> ast.Variable | None:
        return caller.variables.get(key) or self.unit.globals.get(key)

    def named(
        self, caller: ast.Function, variable: ast.Variable, mentions: Sequence[Mention], argument: ast.Expr
    ) -> Change | None:
        """The argument's own name is written for a parameter that nothing sets."""
        given, at, declared = uncast(argument), "", list[str]()
        if variable.type.volatile or variable.type.atomic or not all(map(reads, mentions)):
            return None
        if not isinstance(given, ast.VarRef):
            begun = begins(argument)
            start = self.said_once(begun[1]) if begun is not None and begun[1].type.kind == "int" else ""
            if begun is None or not start or not _fit(begun[2].type, variable.type):
                return None
            given, at = begun[0], fresh(f"{variable.name}_at", self.program)
            declared.append(f"const long {at} = {f'({start})' if ',' in start else start};")
        known = self.known(caller, given.var)
        if known is None or not given.span.editable or not self.keeps(known) or not _fit(known.type, variable.type):
            return None
        if known.name in self.others(variable):
            return None
        data, edits = self.index.texts.read(self.function.span.file), list[tuple[int, int, str]]()
        for m in mentions:
            begin, end = m.ref.span.begin, m.ref.span.end
            above = next((e for e in (m.parent, m.outer) if isinstance(e, ast.Index) and uncast(e.base) is m.ref), None)
            close = end if above is None or not above.span.editable else above.span.end - 1
            if not at:
                edits.append((begin, end, known.name))
            elif data[end : end + 1] == b"[" and data[close : close + 1] == b"]":
                word = re.fullmatch(rb"\w+", data[end + 1 : close])
                before, after = ("", "") if word is not None else ("(", ")")
                edits += [(begin, end + 1, f"{known.name}[{at} + {before}"), (close, close, after)]
            else:
                edits.append((begin, end, f"({known.name} + {at})"))
        return declared, edits

    def subscript(
        self, caller: ast.Function, variable: ast.Variable, mentions: Sequence[Mention], argument: ast.Expr
    ) -> Change | None:
        """A sum is written for a parameter that is nothing but elements' numbers: ``b[N + i]`` for ``b[at]``."""
        given, text = uncast(argument), self.said_once(argument)
        if not text or not _wide_enough(given.type, variable.type) or not all(map(reads, mentions)):
            return None
        for e in within(given):
            known = self.known(caller, e.var) if isinstance(e, ast.VarRef) else None
            if known is None and not isinstance(e, _SUM):
                return None
            if known is not None and not (self.keeps(known) and known.name not in self.others(variable)):
                return None
        data, edits = self.index.texts.read(self.function.span.file), list[tuple[int, int, str]]()
        for m in mentions:
            begin, end = m.ref.span.begin, m.ref.span.end
            above = next((e for e in (m.parent, m.outer) if isinstance(e, ast.Index)), None)
            if above is None or uncast(above.index) is not m.ref or m.unevaluated or not m.ref.span.editable:
                return None
            alone = data[begin - 1 : begin] == b"[" and data[end : end + 1] == b"]"  # not as in ``at[b]``
            edits.append((begin, end, text if alone else f"({text})"))
        return [], edits

    def others(self, variable: ast.Variable) -> set[str]:
        """The names of the function's other variables."""
        return {v.name for v in self.function.variables.values() if v is not variable}

    def keeps(self, variable: ast.Variable) -> bool:
        """A variable has one value while the body runs: an array's address, or what nothing there can set."""
        t = variable.type
        if t.volatile or t.atomic or t.vla or variable.thread_local or variable.attributes:
            return False
        if t.is_array:
            return True
        mentions = self.index.by_key.get(variable.key, [])
        if any(isinstance(m.parent, (ast.AddrOf, ast.Opaque)) for m in mentions):
            return False
        if not variable.is_global:
            return True
        sets = [m for m in mentions if isinstance(m.parent, ast.IncDec) or _target(m)]
        if any(m.function == self.function.key for m in sets):
            return False
        calls = (e for e in within_statement(self.function.body, self.function.variables) if isinstance(e, ast.Call))
        names = [e.callee.name for e in calls if isinstance(e.callee, ast.FuncRef)]
        return all(name in self.program.effects and name not in self.program.functions for name in names)

    def held(self, variable: ast.Variable, mentions: Sequence[Mention], argument: str) -> Change | None:
        """A variable of a new name holds what is given."""
        f, data = self.function, self.index.texts.read(self.function.span.file)
        at = [
            begin
            for begin, *_ in self.index.texts.occurrences(f.span.file, f.name)
            if f.span.begin <= begin < f.body.span.begin
        ]
        item = list_item(data, at[0] + len(f.name.encode()), f.params.index(variable.key)) if len(at) == 1 else None
        if item is None or variable.type.volatile or variable.type.atomic:
            return None
        found = _DECLARED.fullmatch(bare(data[item[0] : item[1]])[1].decode("utf-8", "surrogateescape"))
        if found is None or found[3] != variable.name or not all(m.ref.span.editable for m in mentions):
            return None
        kept = [word for word in found[1].split() if word not in _QUALIFIERS - {"const"}]
        pointed = (found[2] or "").count("*") + (found[4] is not None)
        if not kept or (pointed > 0) != variable.type.is_pointer:
            return None
        name = fresh(f"{variable.name}_given", self.program)
        value = f"({argument})" if "," in argument else argument
        declared = f"{' '.join(kept)} {'*' * pointed}{name} = {value};"
        return [declared], [(m.ref.span.begin, m.ref.span.end, name) for m in mentions]


def _fit(given: Type, wanted: Type) -> bool:
    """A value of the one type is one of the other as it is: the same numbers, or pointers to the same elements."""
    a, b = given.elem, wanted.elem
    if not wanted.is_pointer:
        numbers = wanted.kind in ("int", "float") and wanted.size != 1 and not given.is_array  # of 1: perhaps a bool
        return numbers and (given.kind, given.size, given.signed) == (wanted.kind, wanted.size, wanted.signed)
    if a is None or b is None or not b.size or "void" in (a.kind, b.kind) or a.volatile or b.volatile:
        return False
    return (given.is_pointer or given.is_array) and same_pointed(a, b)


def _wide_enough(given: Type, wanted: Type) -> bool:
    """Each number of the one type is the same in the other."""
    if (given.kind, wanted.kind) != ("int", "int") or given.size is None or wanted.size is None or wanted.size == 1:
        return False
    same = given.signed == wanted.signed and given.size <= wanted.size
    return same or (bool(wanted.signed) and given.size < wanted.size)


def _plain_number(t: Type | None) -> bool:
    """A type whose words are those of the language."""
    return t is not None and t.kind == "int" and _NUMBERS.issuperset(t.spelling.split())


def _as_any_pointer(around: ast.Expr | None) -> bool:
    """A pointer says the same there as a ``void *`` and by its own type: nothing is added to it."""
    match around:
        case None | ast.Call() | ast.Cast() | ast.Unary(op="!") | ast.Assign(op=""):
            return True
        case ast.Binary(op="==" | "!="):
            return True
        case _:
            return False


def _one_type(a: Type, b: Type) -> bool:
    """Both are pointers to the same, however many."""
    while a.is_pointer and b.is_pointer and a.elem is not None and b.elem is not None:
        if (a.const, a.volatile, a.atomic) != (b.const, b.volatile, b.atomic):
            return False
        a, b = a.elem, b.elem
    words = [t.spelling.split() for t in (a, b)]
    plain = a.kind in ("int", "float", "record", "void") and (a.kind != "int" or words[0] == words[1])
    same = (a.kind, a.size, a.signed, a.record, a.const) == (b.kind, b.size, b.signed, b.record, b.const)
    return plain and same and not any(t.volatile or t.atomic for t in (a, b))


def _target(m: Mention) -> bool:
    return isinstance(m.parent, ast.Assign) and m.parent.target is m.ref
