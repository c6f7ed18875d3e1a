"""Tables of messages as text: the marks of the proof, and the table whose rows hold what comes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from opi_xform.divide.passages.called import uncast
from opi_xform.divide.passages.spell import PassageSpelling, is_sum
from opi_xform.divide.passages.tables import Row, Table
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import within
from opi_xform.record import dataclass
from opi_xform.rewrite.insert import Group, around
from opi_xform.text.edit import ByteEdit
from opi_xform.text.errors import PlanError
from opi_xform.text.layout import layout_of

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class RowNames:
    """The variables of the marks in an element: which row it may be in, where that begins, its count."""

    row: str
    at: str
    count: str


class TableSpelling(PassageSpelling):
    """Of one program."""

    def mark_names(self, one: Table) -> tuple[str, str, str, str]:
        """Of the variables of the marks around it and in the message: how many of these, the end, start, count."""
        return f"{one.name}_turns", f"{one.name}_end", f"{one.name}_at", f"{one.name}_count"

    def row_names(self, one: Table) -> Iterator[tuple[Place, Row, RowNames]]:
        """Of the variables of the marks in the elements, by row that each may be in."""
        number = 0
        for m, rows in one.mentions:
            for row in rows:
                number += 1
                row_, at, count = (f"{one.name}_{word}{number}" for word in ("row", "at", "count"))
                yield m.place, row, RowNames(row_, at, count)

    def table_marks(self, one: Table) -> Iterator[ByteEdit]:
        """Raises PlanError."""
        turns, end, first, size = self.mark_names(one)
        rows = list(self.row_names(one))
        names = ", ".join([end, first, size, *(name for _, _, of in rows for name in (of.row, of.at, of.count))])
        before = f"long {turns} = {self.source(one.turns)}, {names};"
        yield from self.around_all(one, (before,), (f"{end} = 0;",))
        start, count = self.source(one.start), self.source(one.count)
        yield from self.ahead(one.written, f"{first} = {start}, {size} = {count}, ")
        for m, _ in one.mentions:
            marks = ""
            for place, row, of in rows:
                if place == m.place:
                    at, count = (self.of_row(one, e, row) for e in (one.start, one.count))
                    marks += f"{of.row} = {self.source(row.number)}, {of.at} = {at}, {of.count} = {count}, "
            yield from self.ahead(m.terms[0].expr, marks)

    def ahead(self, e: ast.Expr, marks: str) -> Iterator[ByteEdit]:
        """Assignments before a number.  Raises PlanError."""
        span = uncast(e).span
        if not span.editable:
            raise PlanError(span, "the element's number is written by a macro")
        yield ByteEdit(span.begin, span.begin, (0, -(1 << 40)), b"(" + marks.encode())
        yield ByteEdit(span.end, span.end, (0, 1 << 40), b")")

    def table_blocks(self, one: Table, chosen: Mapping[Place, Row], counted: bool) -> Iterator[ByteEdit]:
        """counted: the message counts elements, not bytes.  Raises PlanError."""
        elem, function = self.program.variables[one.key].type.elem, self.program.functions[one.function]
        assert elem is not None
        counter = function.variables[one.counter]
        turns, name = self.source(one.turns), one.name
        wanted = turns if isinstance(uncast(one.turns), ast.IntLit) else f"{_bracketed(turns)} > 0 ? {turns} : 1"
        step, size = f"{name}_i", self.source(one.size)
        if counted:
            size = f"{_bracketed(size)} * sizeof **{name}"
        freed = f"for ({counter.type.spelling} {step} = 0; {step} < {turns}; {step}++)\n    free({name}[{step}]);"
        yield from self.around_all(one, (f"{elem.spelling} *{name}[{wanted}];",), (freed,))
        text = self.sources.text(one.message.span.file)
        made = f"{name}[{counter.name}] = malloc({size});"
        yield from around(text, layout_of(text.data), Group(one.message.span, (made,), (), False))
        yield ByteEdit(one.address.span.begin, one.address.span.end, (), f"{name}[{counter.name}]".encode())
        for m, _ in one.mentions:
            row = chosen[m.place]
            yield ByteEdit(m.ref.span.begin, m.ref.span.end, (), f"{name}[{self.source(row.number)}]".encode())
            yield from self.rest(one, m.terms[0].expr, row)

    def rest(self, one: Table, index: ast.Expr, row: Row) -> Iterator[ByteEdit]:
        """An element's number, from its message's start on."""
        e = uncast(index)
        if not e.span.editable:
            raise PlanError(e.span, "the element's number is written by a macro")
        if e is row.begins:
            yield ByteEdit(e.span.begin, e.span.end, (), b"0")
            return
        at: ast.Expr = e
        while isinstance(at, ast.Binary) and at.op in ("+", "-") and at.span.editable:
            left, right = uncast(at.left), uncast(at.right)
            if at.type.signed != e.type.signed or at.type.size != e.type.size:
                break
            if left is row.begins and at.op == "+" and _as_wide(right, e):
                yield self.without(left.span, left.span.begin, right.span.begin, left.span.end)
                return
            if right is row.begins and at.op == "+" and _as_wide(left, e):
                yield self.without(right.span, left.span.end, right.span.end, right.span.begin)
                return
            at = left
        before, after = ("", "") if is_sum(index) else ("(", ")")
        if before:
            yield ByteEdit(e.span.begin, e.span.begin, (0, -(1 << 40)), before.encode())
        begins = self.of_row(one, one.start, row)
        begins = begins if is_product(uncast(one.start)) else f"({begins})"
        yield ByteEdit(e.span.end, e.span.end, (0, 1 << 40), f"{after} - {begins}".encode())

    def without(self, span: Span, begin: int, end: int, inner: int) -> ByteEdit:
        """A sum without one operand, which is 0 where brackets stand around one: from ``begin`` to ``end`` it goes with
        the sign, which ends or begins at ``inner``.
        """
        data = self.sources.data(span.file)
        sign = data[inner:end] if begin == span.begin else data[begin:inner]
        if re.fullmatch(rb"\s*\+\s*", sign):
            return ByteEdit(begin, end, (), b"")
        return ByteEdit(span.begin, span.end, (), b"0")

    def of_row(self, one: Table, e: ast.Expr, row: Row) -> str:
        """An expression of the loop's counter, of the row that an element is in.  Raises PlanError."""
        e = uncast(e)
        text = self.source(e)
        number = self.source(row.number)
        number = number if re.fullmatch(r"\w+", number) else f"({number})"
        if isinstance(e, ast.IntLit):
            return text
        data = self.sources.data(e.span.file)
        places = [x.span for x in within(e) if isinstance(x, ast.VarRef) and x.var == one.counter]
        out, end = "", e.span.begin
        for span in sorted(places, key=lambda s: s.begin):
            if not span.editable or span.begin < end:
                raise PlanError(span, "the message's number is written by a macro")
            out += data[end : span.begin].decode("utf-8", "surrogateescape") + number
            end = span.end
        return " ".join((out + data[end : e.span.end].decode("utf-8", "surrogateescape")).split())

    def around_all(self, one: Table, before: tuple[str, ...], after: tuple[str, ...]) -> Iterator[ByteEdit]:
        """Statements before the loop and after the last statement.  Raises PlanError."""
        text = self.sources.text(one.first.span.file)
        layout = layout_of(text.data)
        yield from around(text, layout, Group(one.first.span, before, (), False))
        yield from around(text, layout, Group(one.last.span, (), after, False))


def _as_wide(rest: ast.Expr, e: ast.Expr) -> bool:
    """What is left of a sum is computed in its type without the start, too."""
    return (rest.type.signed, rest.type.size) == (e.type.signed, e.type.size)


def is_product(e: ast.Expr) -> bool:
    """It can be taken from a number without brackets."""
    return not isinstance(e, (ast.Binary, ast.Conditional)) or (isinstance(e, ast.Binary) and e.op == "*")


def _bracketed(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_]+", text) else f"({text})"
