"""Structs that functions return by value, as structs that they get the address of.

``struct grid g = grid_new(n);`` copies what ``grid_new`` made in a variable of its own, and the copy has its pointers.
Where the variable of the caller is born there, the function can as well make the struct in that one: ``struct grid g;
grid_new(&g, n);``.  It does, where it returns one variable of its own at every end, and where every call of it is the
first value of a variable: of that nobody knows the address before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from opi_xform.divide.structs.by_address import Edits, by_pointer
from opi_xform.graph.whole import Whole
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name
from opi_xform.ir.types import Type
from opi_xform.ir.walk import mentions, statements
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.spelling.configurations import naming
from opi_xform.ownership.spelling.parameters import Parameters, parameters_of
from opi_xform.record import dataclass
from opi_xform.text.edit import ByteEdit

_WORD = re.compile(rb"\w+")
_RESULT = re.compile(rb"(?:^|[;}\n]|\*/)\s*(?:(?:static|extern|inline)\s+)*((?:struct\s+)?[A-Za-z_]\w*)\s+$")
_NONE = re.compile(rb"\(\s*(?:void\s*)?\)")
_ZEROS = re.compile(rb"\{\s*(?:0|NULL)?\s*\}")
_WORDS_BEFORE = 200  # bytes that the type of a result, and what stands before it, may have


class _NotUnderstoodError(Exception):
    """A place that is written in another way."""


@dataclass(frozen=True, slots=True)
class Made:
    """A function, and the variable of its own that it returns."""

    function: ast.Function
    variable: ast.Variable


class ByResult:
    """One use: ``run``."""

    def __init__(self, program: Program, whole: Whole, units: Sequence[ast.Unit], read: Callable[[str], bytes]) -> None:
        self.whole = whole
        self.read = read
        self.parameters: Parameters = parameters_of(program, units)
        self.texts = self.parameters.texts
        self.records = {key: record for unit in units for key, record in unit.records.items()}
        self.declared: dict[int, tuple[ast.Function, ast.DeclStmt, ast.Variable]] = {}  # by the call's identity
        for function in whole.functions.values():
            for stmt, parent in statements(function.body):
                for key in stmt.variables if isinstance(stmt, ast.DeclStmt) and isinstance(parent, ast.Block) else ():
                    init = function.variables[key].init
                    if init is not None:
                        assert isinstance(stmt, ast.DeclStmt)
                        self.declared[id(init)] = (function, stmt, function.variables[key])

    def run(self) -> Iterator[tuple[str, Edits]]:
        """(a struct, the edits for all functions that return one), by struct."""
        found = {made.function.key: made for made in self.candidates()}
        while True:
            bad = [key for key, made in found.items() if self.edits(made, found) is None]
            if not bad:
                break
            for key in bad:
                del found[key]
        by_record: dict[str, Edits] = {}
        for made in found.values():
            into = by_record.setdefault(made.variable.type.record, {})
            for file, edits in (self.edits(made, found) or {}).items():
                into.setdefault(file, {}).update(edits)
        yield from sorted(by_record.items())

    # --- which -----------------------------------------------------------------------------------------------------

    def candidates(self) -> Iterator[Made]:
        globals_ = {v.name for v in self.whole.variables.values() if v.is_global} | {
            f.name for f in self.whole.functions.values()
        }
        for key in sorted(self.whole.functions):
            function = self.whole.functions[key]
            result = function.type.elem
            if function.refused or key in self.whole.taken or result is None or not self.plain(result):
                continue
            returned = [s.value for s, _ in statements(function.body) if isinstance(s, ast.Return)]
            names = {e.var if isinstance(e, ast.VarRef) else "" for e in returned}
            variable = function.variables.get(next(iter(names))) if len(names) == 1 else None
            if variable is None or variable.kind != "local" or variable.type.record != result.record:
                continue
            same = [v for v in function.variables.values() if v.name == variable.name]
            if len(same) > 1 or variable.name in globals_ or not self.plain(variable.type):
                continue
            if all(naming(self.parameters.index, word) == () for word in (function.name, variable.name)):
                yield Made(function, variable)

    def plain(self, type_: Type) -> bool:
        record = self.records.get(type_.record) if type_.kind == "record" else None
        if record is None or record.union or type_.const or type_.volatile or type_.atomic:
            return False
        return any(f.type.is_pointer for f in record.fields) and not any(
            f.type.const or f.type.volatile or f.type.atomic for f in record.fields
        )

    # --- edits -----------------------------------------------------------------------------------------------------

    def edits(self, made: Made, found: dict[str, Made]) -> Edits | None:
        """The declarations, the body and the calls; None where one of them is not understood."""
        out: Edits = {}

        def put(file: str, begin: int, end: int, text: bytes) -> None:
            out.setdefault(file, {})[ByteEdit(begin, end, (), text)] = None

        try:
            self.heads(made, put)
            self.body(made, put)
            self.calls(made, found, put)
        except _NotUnderstoodError:
            return None
        return out

    def heads(self, made: Made, put: Callable[[str, int, int, bytes], None]) -> None:
        function = made.function
        calls = self.parameters.calls.get(function.key, ())
        called = {(c.callee_span.file, c.callee_span.begin) for _, c in calls}
        files = [function.span.file] if function.static else self.parameters.files
        defined = False
        for file in files:
            data = self.read(file)
            for at, unevaluated, _ in self.texts.occurrences(file, function.name):
                if (file, at) in called:
                    continue
                before = _RESULT.search(data, max(0, at - _WORDS_BEFORE), at)
                opened = at + len(function.name.encode())
                line = data.rfind(b"\n", 0, at) + 1
                if unevaluated or before is None or data[line:at].lstrip().startswith(b"#"):
                    raise _NotUnderstoodError
                if data[opened : opened + 1] != b"(":
                    raise _NotUnderstoodError
                first = before[1] + b" *" + made.variable.name.encode()
                none = _NONE.match(data, opened)
                put(file, before.start(1), before.end(1), b"void")
                if none is not None:
                    put(file, opened + 1, none.end() - 1, first)
                else:
                    put(file, opened + 1, opened + 1, first + b", ")
                span = function.span
                defined = defined or (span.file == file and span.begin <= at < span.end)
        if not defined:
            raise _NotUnderstoodError

    def body(self, made: Made, put: Callable[[str, int, int, bytes], None]) -> None:
        variable, function = made.variable, made.function
        name = variable.name.encode()
        if len(variable.declarators) != 1 or not variable.declarators[0].alone:
            raise _NotUnderstoodError
        d = variable.declarators[0]
        top = [s for s in function.body.body if isinstance(s, ast.DeclStmt) and variable.key in s.variables]
        if not top or not d.statement.editable or d.storage or not re.fullmatch(r"(struct\s+)?\w+\s*", d.specifiers):
            raise _NotUnderstoodError
        file, data = d.statement.file, self.read(d.statement.file)
        if file != function.span.file or name in _WORD.findall(data, function.span.begin, d.statement.begin):
            raise _NotUnderstoodError  # the word means something else up to there
        if d.init_span is None:
            put(file, d.statement.begin, d.statement.end, b"")
        elif _ZEROS.fullmatch(data, d.init_span.begin, d.init_span.end):
            put(file, d.statement.begin, d.statement.end, self.zeros(variable))
        else:
            raise _NotUnderstoodError
        returns = [s for s, _ in statements(function.body) if isinstance(s, ast.Return) and s.value is not None]
        done = {id(s.value) for s in returns}
        for s in returns:
            assert s.value is not None
            if not s.span.editable or not s.value.span.editable:
                raise _NotUnderstoodError
            word = self.read(s.span.file).find(b"return", s.span.begin, s.value.span.begin)
            if word != s.span.begin:
                raise _NotUnderstoodError
            put(s.span.file, word + len(b"return"), s.value.span.end, b"")
        for m in self.parameters.index.by_key.get(variable.key, ()):
            span = m.ref.span
            text = self.read(span.file)
            if not span.editable or text[span.begin : span.end] != name:
                raise _NotUnderstoodError
            if id(m.ref) in done:
                continue
            if isinstance(m.parent, ast.Member) and m.parent.base is m.ref:
                pointed = by_pointer(text, span, m.parent.span)
                if pointed is None:
                    raise _NotUnderstoodError
                put(span.file, *pointed)
            else:
                put(span.file, span.begin, span.end, b"(*" + name + b")")

    def zeros(self, variable: ast.Variable) -> bytes:
        """What ``= {0}`` does, member by member."""
        fields = self.records[variable.type.record].fields
        if not all(f.name and f.type.is_scalar for f in fields):
            raise _NotUnderstoodError
        return " ".join(f"{variable.name}->{f.name} = 0;" for f in fields).encode()

    def calls(self, made: Made, found: dict[str, Made], put: Callable[[str, int, int, bytes], None]) -> None:
        done: set[int] = set()
        calls = self.parameters.calls.get(made.function.key, ())
        for _, call in calls:
            if id(call) not in self.declared:
                raise _NotUnderstoodError
            function, stmt, _ = self.declared[id(call)]
            if id(stmt) in done:
                continue
            done.add(id(stmt))
            self.declaration(function, stmt, found, put)
        if not calls:
            raise _NotUnderstoodError

    def declaration(
        self,
        function: ast.Function,
        stmt: ast.DeclStmt,
        found: dict[str, Made],
        put: Callable[[str, int, int, bytes], None],
    ) -> None:
        """``struct grid g = grid_new(n);`` as ``struct grid g; grid_new(&g, n);``, with all that it declares."""
        if function.refused or any(isinstance(s, ast.Label) for s, _ in statements(function.body)):
            raise _NotUnderstoodError  # a jump back may find the variable alive, and its address known
        text = b""
        place = None
        names = {function.variables[key].name.encode() for key in stmt.variables}
        for key in stmt.variables:
            v = function.variables[key]
            if v.kind != "local" or v.type.const or len(v.declarators) != 1 or stmt.sizes or v.type.vla:
                raise _NotUnderstoodError
            d = v.declarators[0]
            place = d.statement
            if v.init is None:
                continue
            e = v.init
            called = isinstance(e, ast.Call) and called_name(e) in found
            if not called or not d.statement.editable or d.init_span is None or (d.suffix is not None and _written(d)):
                raise _NotUnderstoodError
            assert isinstance(e, ast.Call)
            if not e.span.editable or any(list(mentions(a, key)) for a in e.args):
                raise _NotUnderstoodError
            data = self.read(d.statement.file)
            opened = data.find(b"(", e.callee_span.end, e.span.end)
            if not names.isdisjoint(_WORD.findall(data, opened, e.span.end)):
                raise _NotUnderstoodError  # after the statement it is the one that this declares
            if (
                data[e.callee_span.end : opened].strip()
                or data[d.init_span.begin : d.init_span.end] != (data[e.span.begin : e.span.end])
            ):
                raise _NotUnderstoodError
            put(d.statement.file, d.name_span.end, d.init_span.end, b"")
            given = b"(&" + v.name.encode() + (b", " if e.args else b"")
            text += b" " + data[e.span.begin : opened] + given + data[opened + 1 : e.span.end].lstrip() + b";"
        if place is None:
            raise _NotUnderstoodError
        put(place.file, place.end, place.end, text)


def _written(d: ast.Declarator) -> bool:
    return d.suffix is not None and d.suffix.begin != d.suffix.end
