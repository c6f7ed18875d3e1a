"""Passages as text: the marks of the proof, and the block that holds what travels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opi_xform.divide.mentions import Mention
from opi_xform.divide.passages.find import Passage, elements
from opi_xform.divide.passages.proof import Proved
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import within
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program
from opi_xform.rewrite.header import memory_edit
from opi_xform.rewrite.insert import Group, around
from opi_xform.text.edit import ByteEdit
from opi_xform.text.errors import PlanError
from opi_xform.text.layout import layout_of
from opi_xform.text.sources import Sources

_MEMORY = ("malloc", "free")


class PassageSpelling:
    """Of one program."""

    def __init__(self, program: Program, sources: Sources) -> None:
        self.program = program
        self.sources = sources
        self.uses = collect(program)

    def possible(self) -> bool:
        """malloc and free are those of the library."""
        return not any(name in self.program.functions for name in _MEMORY)

    def names(self, one: Passage) -> tuple[str, str, str]:
        """Of the variables of the marks: start, count, end."""
        return one.at, f"{one.name}_count", f"{one.name}_end"

    def marks(self, one: Passage) -> Iterator[ByteEdit]:
        """Raises PlanError."""
        at, count, end = self.names(one)
        start, number = self.source(one.start), self.source(one.count)
        yield from self.beside(one, (f"long {at} = {start}, {count} = {number}, {end};",), (f"{end} = 0;",))

    def blocks(self, one: Passage, known: Proved) -> Iterator[ByteEdit]:
        """Raises PlanError."""
        elem = self.program.variables[one.key].type.elem
        assert elem is not None
        count = self.source(one.count)
        if not known.bytes:
            count = f"{count if re.fullmatch(r'[A-Za-z0-9_]+', count) else f'({count})'} * sizeof *{one.name}"
        made = f"{elem.spelling} *{one.name} = malloc({count});"
        start = f"const long {one.at} = {self.source(one.start)};"
        yield from self.beside(one, (made, start), () if one.handed else (f"free({one.name});",))
        yield ByteEdit(one.address.span.begin, one.address.span.end, (), one.name.encode())
        for m in one.mentions:
            if m.place in known.anew:
                yield from self.element(one, m) if elements(m) else self.address(one, m)

    def element(self, one: Passage, m: Mention) -> Iterator[ByteEdit]:
        """``buf[e]`` becomes ``part[e - start]``.  Raises PlanError."""
        data, ref, whole = self.sources.data(m.ref.span.file), m.ref.span, m.whole.span
        if m.by_macro:
            yield from self.added(one, m)
            return
        opened = re.compile(rb"([\s)]*)\[").match(data, ref.end)
        if opened is None or data[whole.begin : whole.begin + 1] == b"*":
            yield from self.otherwise(one, m)
            return
        close, ahead = whole.end - 1, re.sub(rb"\s", b"", data[whole.begin : ref.begin])  # `(buf)[e]`
        if data[close : close + 1] != b"]" or ahead != b"(" * opened[1].count(b")"):
            raise PlanError(ref, "the element is written in a way that is not followed")
        before, after = (b"", b"") if is_sum(m.terms[0].expr) else (b"(", b")")
        yield ByteEdit(ref.begin, ref.end, (), one.name.encode())
        if before:
            yield ByteEdit(opened.end(), opened.end(), (), before)
        yield ByteEdit(close, close, (), after + b" - " + one.at.encode())

    def address(self, one: Passage, m: Mention) -> Iterator[ByteEdit]:
        """``buf + e`` becomes ``part + (e - start)``, or ``part`` where the message begins there.  Raises PlanError."""
        term, whole = m.terms[0].expr, (m.address or m.whole).span
        while isinstance(term, ast.Cast) and not term.explicit:
            term = term.operand
        if self.source(term) == self.source(one.start):
            yield ByteEdit(whole.begin, whole.end, (), one.name.encode())
        elif m.indexed:
            yield from self.element(one, m)
        else:
            yield from self.added(one, m)

    def added(self, one: Passage, m: Mention) -> Iterator[ByteEdit]:
        """The name is another one, and so is what is added to it: ``AT(buf, e)`` becomes ``AT(part, (e - start))``."""
        ref, term = m.ref.span, m.terms[0].expr
        while isinstance(term, ast.Cast) and not term.explicit:
            term = term.operand
        before, after = (b"(", b"") if is_sum(term) else (b"((", b")")
        yield ByteEdit(ref.begin, ref.end, (), one.name.encode())
        yield ByteEdit(term.span.begin, term.span.begin, (), before)
        yield ByteEdit(term.span.end, term.span.end, (), after + b" - " + one.at.encode() + b")")

    def otherwise(self, one: Passage, m: Mention) -> Iterator[ByteEdit]:
        """``*(buf + e)``, or ``e[buf]``, becomes ``part[e - start]``.  Raises PlanError."""
        data, ref, term, whole = self.sources.data(m.ref.span.file), m.ref.span, m.terms[0].expr, m.whole.span
        while isinstance(term, ast.Cast) and not term.explicit:
            term = term.operand
        around = -1  # brackets around the number
        if term.span.editable and whole.begin <= term.span.begin and term.span.end <= whole.end:
            name = re.escape(data[ref.begin : ref.end])
            ahead, behind = (re.sub(rb"\s", b"", data[x:y]) for x, y in _beside(whole, term.span))
            star = re.fullmatch(rb"\*\(" + name + rb"\+(\(*)", ahead)
            if star is not None and behind == b")" * (len(star[1]) + 1):
                around = len(star[1])
            elif set(ahead) <= set(b"(") and behind == b")" * len(ahead) + b"[" + data[ref.begin : ref.end] + b"]":
                around = len(ahead)
        if around < 0:
            raise PlanError(ref, "the element is written in a way that is not followed")
        around = around or int(not is_sum(term))
        yield ByteEdit(whole.begin, term.span.begin, (), one.name.encode() + b"[" + b"(" * around)
        yield ByteEdit(term.span.end, whole.end, (), b")" * around + b" - " + one.at.encode() + b"]")

    def headers(self, file: str, units: Sequence[ast.Unit]) -> Iterator[ByteEdit]:
        """What a file needs to name malloc and free."""
        of_file = [u for u in units if file in map(self.sources.name, (u.path, *u.files))]
        missing = [name for name in _MEMORY if any(name not in u.declared for u in of_file)]
        if missing:
            yield memory_edit(self.sources.text(file), missing)

    def beside(self, one: Passage, before: tuple[str, ...], after: tuple[str, ...]) -> Iterator[ByteEdit]:
        """Statements before the first one and after the last one.  Raises PlanError."""
        file = one.first.span.file
        text, layout = self.sources.text(file), layout_of(self.sources.data(file))
        yield from around(text, layout, Group(one.first.span, before, (), False))
        if after:
            yield from around(text, layout, Group(one.last.span, (), after, False))

    def source(self, e: ast.Expr) -> str:
        """An expression as it is written, on one line.  Raises PlanError where a macro writes it, or part of a line."""
        while isinstance(e, ast.Cast) and not e.explicit:
            e = e.operand
        if not e.span.editable:
            if isinstance(e, ast.IntLit) and e.name:
                return e.name
            raise PlanError(e.span, "the message's place or size is written by a macro")
        text = self.sources.data(e.span.file)[e.span.begin : e.span.end].decode("utf-8", "surrogateescape")
        if re.search(r"^\s*#|//", text, re.MULTILINE):
            raise PlanError(e.span, "the message's place or size is written across a directive")
        return " ".join(text.split())


def _beside(whole: Span, inner: Span) -> tuple[tuple[int, int], tuple[int, int]]:
    """What stands before and behind a part of an expression."""
    return (whole.begin, inner.begin), (inner.end, whole.end)


def is_sum(e: ast.Expr) -> bool:
    """A sum or product of plain things, from which a number can be taken without brackets."""
    for inner in within(e):
        if isinstance(inner, ast.Cast) and not inner.explicit:
            continue
        if not inner.span.editable:
            return False
        if isinstance(inner, ast.Binary) and inner.op in ("+", "-", "*"):
            continue
        number = isinstance(inner, ast.IntLit) and not inner.name
        if not number and not isinstance(inner, (ast.VarRef, ast.Member, ast.Deref)):
            return False
    return True
