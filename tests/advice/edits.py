"""What a reason advises, done to the source: each kind of ``Advice`` that is mechanical, as edits of the text.

An advice names a change in words and as a value.  Here the value is followed, as by a person who takes it at its word:
``edits`` gives the ways to do that, and none where it takes thought (a read in another function).  What the program
computes may change: whether the site converts is what is asked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from opi_xform.effects.datatypes import load_datatypes
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ownership.allocation.repeated import repeatable
from opi_xform.ownership.model.plan import Decision
from opi_xform.ownership.spelling.mentions import walk
from opi_xform.text.edit import ByteEdit

Edits = Mapping[str, tuple[ByteEdit, ...]]

SOURCE = {"MPI_Recv": 3, "MPI_Irecv": 3, "MPI_Sendrecv": 8, "MPI_Sendrecv_replace": 5}
"""Which argument says from whom is received."""


@dataclass(frozen=True)
class Place:
    """Where bytes of a source stand: the statements around them, the outermost first, in a function."""

    function: ast.Function
    around: tuple[ast.Stmt, ...]

    @property
    def statement(self) -> ast.Stmt:
        return self.around[-1]


class Following:
    """One advice of one program: ``edits``."""

    def __init__(self, units: Sequence[ast.Unit], texts: Mapping[str, bytes], decision: Decision) -> None:
        self.units = units
        self.texts = texts
        self.decision = decision

    def edits(self) -> list[Edits]:
        """Ways to do what is advised; the first that the compiler takes is one."""
        advice, site = self.decision.advice, self.place(self.decision.span)
        if advice is None or site is None:
            return []
        ways = {
            "pack": self.packed,
            "write": self.packed,
            "other": self.elsewhere,
            "move": self.moved,
            "guard": self.guarded,
            "end": self.ended,
            "within": self.ended_within,
            "wait": self.waited,
        }
        return [way for way in ways[advice.kind](site, advice.spans) if way] if advice.kind in ways else []

    # --- the kinds ------------------------------------------------------------------------------------------------

    def packed(self, site: Place, _: Sequence[Span]) -> list[Edits]:
        """All bytes of the message are written right before it is sent, by a loop or at once."""
        span = self.decision.span
        call = self.call(span)
        if call is None or len(call.args) < 3 or not all(map(repeatable, call.args[:3])):
            return []
        kind = load_datatypes().get(self.text(call.args[2].span))
        if kind is None:
            return []
        buffer, count = (self.text(call.args[i].span) for i in (0, 1))
        ways = [f"memset({buffer}, 0, (unsigned long)({count}) * {kind.size}); "]
        if kind.c:
            ways.append(f"for (int k_ = 0; k_ < {count}; k_++) (({kind.c} *)({buffer}))[k_] = k_; ")
        return [{span.file: (_line("#include <string.h>\n"), *self.before(site, text))} for text in ways]

    def elsewhere(self, site: Place, spans: Sequence[Span]) -> list[Edits]:
        """The calls that use the buffer as well have another one."""
        out: dict[str, tuple[ByteEdit, ...]] = {}
        for span in spans:
            call = self.call(span)
            side = {"MPI_Sendrecv": 5} if self.decision.side == "recv" else {}
            if call is None or not call.args:
                return []
            written = call.args[side.get(self.text(call.callee_span), 0)].span
            edit = ByteEdit(written.begin, written.end, (), b"another_buffer")
            out[span.file] = (*out.get(span.file, (_line("static char another_buffer[1 << 20];\n"),)), edit)
        return [out]

    def moved(self, site: Place, spans: Sequence[Span]) -> list[Edits]:
        """The statement that reads, or only what it reads, comes to stand before the site's."""
        file, place = self.decision.span.file, self.place(spans[0])
        if place is None or place.function is not site.function or spans[0].file != file:
            return []
        shared = [a for a, b in zip(site.around, place.around, strict=False) if a is b]
        block = next((s for s in reversed(shared) if isinstance(s, ast.Block)), None)
        if block is None:
            return []
        mine, other = (p.around[p.around.index(block) + 1] for p in (site, place))
        ways: list[Edits] = []
        span, data = other.span, self.texts[file]
        if not isinstance(other, ast.Return):
            cut = ByteEdit(span.begin, span.end, (), b";")
            put = ByteEdit(mine.span.begin, mine.span.begin, (), data[span.begin : span.end] + b" ")
            ways.append({file: (put, cut)})
        for e in self.reads(place.statement, spans[0]):
            text = self.text(e.span)
            put = ByteEdit(mine.span.begin, mine.span.begin, (), f"__typeof__({text}) was_read = {text}; ".encode())
            ways.append({file: (put, ByteEdit(e.span.begin, e.span.end, (), b"was_read"))})
        return ways

    def guarded(self, site: Place, spans: Sequence[Span]) -> list[Edits]:
        """What reads, or the call, is done only where the source is somebody."""
        call = self.call(self.decision.span)
        at = SOURCE.get(self.decision.call)
        if call is None or at is None or not repeatable(call.args[at]):
            return []
        test = f"if (({self.text(call.args[at].span)}) != MPI_PROC_NULL) "
        out: dict[str, tuple[ByteEdit, ...]] = {}
        for span in spans or (self.decision.span,):
            place = self.place(span)
            if place is None or place.function is not site.function or isinstance(place.statement, ast.DeclStmt):
                return []
            out[span.file] = (*out.get(span.file, ()), *self.around(place.statement.span, test))
        return [out]

    def ended(self, site: Place, spans: Sequence[Span]) -> list[Edits]:
        """Where it is NULL the program ends: before what asks, and in what is done then."""
        ahead: dict[str, tuple[ByteEdit, ...]] = {}
        inside: dict[str, tuple[ByteEdit, ...]] = {}
        for span in spans:
            place = self.place(span)
            asked = None if place is None else next(_pointers(place.statement, span), None)
            if place is None or asked is None:
                return []
            include, file = _line("#include <stdlib.h>\n"), span.file
            if not _sets(place.statement, asked) and not isinstance(place.statement, (ast.While, ast.DoWhile, ast.For)):
                text = f"if (!({self.text(asked.span)})) exit(1); "
                ahead[file] = (*ahead.get(file, (include,)), *self.before(place, text))
            body = _where_null(place.statement, asked)
            if body is not None:
                inside[file] = (*inside.get(file, (include,)), *self.around(body.span, "exit(1); "))
        whole = [sum(len(edits) for edits in way.values()) for way in (ahead, inside)]
        return [way for way, n in zip((ahead, inside), whole, strict=True) if n >= len(spans) + 1]

    def ended_within(self, site: Place, spans: Sequence[Span]) -> list[Edits]:
        """What is done where a test finds no memory ends the program."""
        out: dict[str, tuple[ByteEdit, ...]] = {}
        for span in spans:
            place = self.place(span)
            if place is None or not isinstance(place.statement, ast.If):
                return []
            put = self.around(place.statement.then.span, "exit(1); ")
            out[span.file] = (*out.get(span.file, (_line("#include <stdlib.h>\n"),)), *put)
        return [out]

    def waited(self, site: Place, spans: Sequence[Span]) -> list[Edits]:
        """The operation that may be pending is waited for: before what is in the way, or after itself."""
        first, *rest = spans
        call, pending, stop = self.call(first), self.place(first), self.place(rest[0]) if rest else None
        if call is None or pending is None or not repeatable(call.args[-1]):
            return []
        text = f"MPI_Wait({self.text(call.args[-1].span)}, MPI_STATUS_IGNORE); "
        if stop is not None:
            return [{first.file: self.before(stop, text)}]
        end = pending.statement.span.end
        return [{first.file: (ByteEdit(end, end, (), f" {text}".encode()),)}]

    # --- the text -------------------------------------------------------------------------------------------------

    def text(self, span: Span) -> str:
        return self.texts[span.file][span.begin : span.end].decode()

    def before(self, place: Place, text: str) -> tuple[ByteEdit, ...]:
        """Text put before a statement, in braces where it is not in a block."""
        parent = place.around[-2] if len(place.around) > 1 else None
        span = place.statement.span
        if isinstance(parent, ast.Block):
            return (ByteEdit(span.begin, span.begin, (), text.encode()),)
        return self.around(span, text)

    def around(self, span: Span, text: str) -> tuple[ByteEdit, ...]:
        return (
            ByteEdit(span.begin, span.begin, (), f"{{ {text}".encode()),
            ByteEdit(span.end, span.end, (), b" }"),
        )

    def place(self, span: Span) -> Place | None:
        """The innermost statement around bytes of a file."""
        for unit in self.units:
            for function in unit.functions.values():
                if _covers(function.body.span, span):
                    return Place(function, tuple(_around(function.body, span)))
        return None

    def call(self, span: Span) -> ast.Call | None:
        place = self.place(span)
        found = () if place is None else _expressions(place.statement)
        return next((e for e in found if isinstance(e, ast.Call) and _covers(e.span, span)), None)

    def reads(self, statement: ast.Stmt, span: Span) -> Iterator[ast.Expr]:
        """What is read at a place, the largest first."""
        found = [e for e in _expressions(statement) if _covers(e.span, span) or _covers(span, e.span)]
        for e in sorted(found, key=lambda e: e.span.begin - e.span.end):
            if repeatable(e) and e.type.kind in ("int", "float") and e.span.file == span.file:
                yield e


def _bare(e: ast.Expr) -> ast.Expr:
    while isinstance(e, (ast.Cast, ast.MacroConst)) and e.operand is not None:
        e = e.operand
    return e


def _pointers(statement: ast.Stmt, span: Span) -> Iterator[ast.Expr]:
    """The pointers that are named in a place of a statement's expressions."""
    for e in _expressions(statement):
        if isinstance(e, (ast.VarRef, ast.Member)) and e.type.is_pointer and _covers(span, e.span):
            yield e


def _sets(statement: ast.Stmt, asked: ast.Expr) -> bool:
    """A statement sets what it asks for: nothing is known of that before it."""
    return any(isinstance(e, ast.Assign) and _covers(e.target.span, asked.span) for e in _expressions(statement))


def _where_null(statement: ast.Stmt, asked: ast.Expr) -> ast.Stmt | None:
    """What is done wherever a pointer is NULL, and maybe elsewhere."""
    if not isinstance(statement, ast.If):
        return None
    parts = [statement.cond]
    while parts:
        e = _bare(parts.pop())
        if isinstance(e, ast.Logical) and e.op == "||":
            parts += (e.left, e.right)
        elif (isinstance(e, ast.Unary) and e.op == "!" and _bare(e.operand) == asked) or (
            isinstance(e, ast.Binary) and e.op == "==" and asked in (_bare(e.left), _bare(e.right))
        ):
            return statement.then
    return None


def _covers(outer: Span, inner: Span) -> bool:
    return outer.file == inner.file and outer.begin <= inner.begin and inner.end <= outer.end


def _around(body: ast.Stmt, span: Span) -> Iterator[ast.Stmt]:
    at: ast.Stmt | None = body
    while at is not None:
        yield at
        at = next((s for s in _inside(at) if _covers(s.span, span)), None)


def _inside(statement: ast.Stmt) -> Iterator[ast.Stmt]:
    for field in dataclasses.fields(statement):
        value = getattr(statement, field.name)
        yield from (s for s in (value if isinstance(value, tuple) else (value,)) if isinstance(s, ast.Stmt))


def _expressions(statement: ast.Stmt) -> Iterator[ast.Expr]:
    for field in dataclasses.fields(statement):
        value = getattr(statement, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, ast.Expr):
                yield from walk(item)


def _line(text: str) -> ByteEdit:
    return ByteEdit(0, 0, (), text.encode())
