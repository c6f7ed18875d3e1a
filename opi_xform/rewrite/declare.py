"""An array declarator becomes that of a pointer; its neighbours in the same declaration stay as they are.

``double b[N]`` becomes ``double *b``, ``double b[8][N]`` ``double (*b)[N]``, or ``double *b[8]`` when one dimension is
kept as an array of pointers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opi_xform.ir.link_guard import guard_text
from opi_xform.ownership.model.plan import LinkName, PointerDeclaration
from opi_xform.record import dataclass
from opi_xform.text.edit import ByteEdit
from opi_xform.text.errors import PlanError
from opi_xform.text.lex import SourceText

_REGISTER = re.compile(rb"\bregister\b[ \t]*")


@dataclass(frozen=True, slots=True)
class _Bracket:
    """One ``[…]`` of a declarator: its bytes ``[begin, end)`` in the file."""

    begin: int
    end: int


def declaration_edits(text: SourceText, edit: PointerDeclaration) -> Iterator[ByteEdit]:
    """The byte edits of one declarator.  Raises PlanError when it is not written as an array, or by a macro."""
    name = edit.declarator_name
    suffix = edit.suffix
    if suffix is None or suffix.end <= suffix.begin:  # the array type hides behind a typedef
        raise PlanError(name, "the declarator has no brackets of its own (array type from a typedef or typeof)")
    for span in (name, suffix, *([edit.init] if edit.init is not None else [])):
        if not span.editable:
            raise PlanError(span, "the declaration is written by a macro")
    brackets = _brackets(text, _behind_parentheses(text, name.begin, suffix.begin), suffix.end)
    if not brackets:
        raise PlanError(suffix, "the dimensions are written by a macro")
    if len(brackets) <= edit.keep_dims:
        raise PlanError(suffix, f"only {len(brackets)} dimensions are written here, {edit.keep_dims} are to be kept")
    gone = brackets[edit.keep_dims]
    kept = brackets[: edit.keep_dims]
    pointee = brackets[edit.keep_dims + 1 :]
    yield ByteEdit(name.begin, name.begin, (0,), b"(*" if pointee else b"*")
    if pointee:
        close = kept[-1].end if kept else name.end
        if close == gone.begin:
            yield ByteEdit(gone.begin, gone.end, (), b")")
        else:
            yield ByteEdit(close, close, (0,), b")")
            yield ByteEdit(gone.begin, gone.end)
    else:
        yield ByteEdit(gone.begin, gone.end)
    yield from _initialiser(text, edit, suffix.end)
    yield from _storage(text, edit)


def link_edit(text: SourceText, edit: LinkName) -> ByteEdit:
    """An asm label after the declarator, which GCC and all compilers like it know.  Raises PlanError for macros."""
    for span in (edit.declarator_name, *([edit.suffix] if edit.suffix is not None else [])):
        if not span.editable:
            raise PlanError(span, "the declaration is written by a macro")
    end = edit.declarator_name.end if edit.suffix is None else max(edit.declarator_name.end, edit.suffix.end)
    while text.data[end - 1] in b" \t\r\n":
        end -= 1
    return ByteEdit(end, end, (1,), f' __asm__("{edit.link}")'.encode())


def guard_edits(text: SourceText, edit: LinkName) -> Iterator[ByteEdit]:
    """The guard, on a line of its own after the declaration; without an initialiser it could be common itself."""
    if edit.guard is None:
        return
    line, end = guard_text(edit.guard.name, edit.guard.header), edit.guard.statement.end
    tail = text.tail_end(end)
    if tail is None:
        yield ByteEdit(end, end, (2, edit.declarator_name.begin), b" " + line.encode())
    else:
        yield ByteEdit(tail, tail, (2, edit.declarator_name.begin), text.eol + line.encode())


def _initialiser(text: SourceText, edit: PointerDeclaration, suffix_end: int) -> Iterator[ByteEdit]:
    """The old initialiser goes with its ``=``; ``= NULL`` comes where the pointer must be defined from the start."""
    null = b"" if not edit.null_init else (b" = {NULL}" if edit.keep_dims else b" = NULL")
    if edit.init is None:
        if null:
            end = suffix_end
            while text.data[end - 1] in b" \t\r\n":
                end -= 1
            yield ByteEdit(end, end, (1,), null)
        return
    equals = text.before(edit.init.begin).end - 1
    if equals < suffix_end or text.data[equals : equals + 1] != b"=":
        raise PlanError(edit.init, "no `=` stands before the initialiser")
    begin = equals
    while text.data[begin - 1] in b" \t\r\n":
        begin -= 1
    yield ByteEdit(begin, edit.init.end, (1,), null)


def _storage(text: SourceText, edit: PointerDeclaration) -> Iterator[ByteEdit]:
    """``register`` goes: the pointer's address is taken."""
    begin = edit.statement.begin
    for match in _REGISTER.finditer(text.data, begin, edit.declarator_name.begin):
        if text.region_at(match.start()) is None:
            yield ByteEdit(match.start(), match.end())


def _behind_parentheses(text: SourceText, name: int, begin: int) -> int:
    """Where the dimensions begin: after the parenthesis of ``double (b)[N]``, which changes nothing."""
    opened, closed = text.before(name).end, text.after(begin)
    if text.data[opened - 1 : opened] == b"(" and text.data[closed : closed + 1] == b")":
        return closed + 1
    return begin


def _brackets(text: SourceText, begin: int, end: int) -> list[_Bracket]:
    """The dimensions that belong to the name itself: brackets up to the first closing parenthesis or other token."""
    found: list[_Bracket] = []
    position = begin
    while True:
        position = text.after(position)
        if position >= end or text.data[position] != 0x5B:
            return found
        depth = 0
        opened = position
        while position < end:
            region = text.region_at(position)
            if region is not None:
                position = region.end
                continue
            byte = text.data[position]
            depth += (byte == 0x5B) - (byte == 0x5D)
            position += 1
            if depth == 0:
                break
        found.append(_Bracket(opened, position))
