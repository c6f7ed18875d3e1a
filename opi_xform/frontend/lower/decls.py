"""Declarators as written: where name, suffix, initialiser and the whole declaration stand."""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.frontend.clang.source import File, closing, find_top, skip_space, tokens, trim_end
from opi_xform.ir.ast import Declarator
from opi_xform.ir.span import Span
from opi_xform.record import dataclass

_TAKES_PARENTHESES = {
    "__attribute__",
    "__attribute",
    "_Alignas",
    "_Atomic",
    "__typeof__",
    "typeof",
    "__typeof",
    "__declspec",
}
_TRAILERS = {"__attribute__", "__attribute", "asm", "__asm__", "__asm"}


@dataclass(frozen=True, slots=True)
class Written:
    """What libclang says of one declarator: where its name is, its storage class, whether it is a definition."""

    name: str
    name_begin: int
    storage: str
    file_scope: bool
    has_init: bool


def declarators(file: File, begin: int, group: Sequence[Written], editable: bool) -> list[Declarator | None]:
    """The declarators of one declaration that begins at ``begin``, one per entry of ``group`` (None: not found)."""
    data = file.data
    out: list[Declarator | None] = [None] * len(group)
    start = first = _first_declarator(data, begin, group[0].name_begin)
    specifiers = data[begin : trim_end(data, begin, first)].decode("utf-8", "surrogateescape")
    pieces: list[tuple[int, int]] = []
    while True:
        stop = find_top(data, start, len(data), b",;")
        if stop is None:
            return out
        pieces.append((start, stop))
        if data[stop : stop + 1] == b";":
            break
        start = skip_space(data, stop + 1)
    statement = file.span(begin, pieces[-1][1] + 1, editable)
    for position, (start, stop) in enumerate(pieces):
        for k, written in enumerate(group):
            if start <= written.name_begin < stop:
                out[k] = _declarator(
                    file, start, stop, written, editable,
                    statement=statement, first=position == 0, alone=len(pieces) == 1, specifiers=specifiers,
                )  # fmt: skip
    return out


def _declarator(
    file: File,
    start: int,
    stop: int,
    written: Written,
    editable: bool,
    *,
    statement: Span,
    first: bool,
    alone: bool,
    specifiers: str,
) -> Declarator:
    data = file.data
    end = trim_end(data, start, stop)
    name_end = written.name_begin + len(written.name.encode("utf-8", "surrogateescape"))
    equals = find_top(data, start, end, b"=")
    suffix_end = end if equals is None else equals
    for a, b, kind in tokens(data, name_end, suffix_end):
        if kind == "word" and data[a:b].decode("ascii", "replace") in _TRAILERS:
            suffix_end = a
            break
    suffix_end = trim_end(data, name_end, suffix_end)
    suffix_begin = skip_space(data, name_end)
    init = None
    if equals is not None and written.has_init:
        init = file.span(skip_space(data, equals + 1), end, editable)
    definition = written.storage != "extern" or written.has_init
    return Declarator(
        span=file.span(start, end, editable),
        name_span=file.span(written.name_begin, name_end, editable),
        suffix=file.span(suffix_begin, suffix_end, editable) if suffix_begin < suffix_end else None,
        init_span=init,
        statement=statement,
        first=first,
        alone=alone,
        specifiers=specifiers,
        storage=written.storage,
        definition=definition,
        tentative=written.file_scope and definition and not written.has_init,
    )


def _first_declarator(data: bytes, begin: int, name: int) -> int:
    """Where the specifiers end: at the first ``*``, the first declarator's ``(``, or its name.

    ``name`` is the first variable's; a function may be declared before it (``int f(int), v[3];``).
    """
    at = begin
    previous, word = "", name
    while at < name:
        at = skip_space(data, at)
        if at >= name:
            break
        byte = data[at : at + 1]
        if byte == b"*":
            return at
        if byte == b",":
            return word
        if byte in (b"(", b"{", b"["):
            end = closing(data, at)
            if end is None:
                return name
            if byte == b"(" and end > name and previous not in _TAKES_PARENTHESES:
                return at
            at = end
            continue
        a, b, kind = _token(data, at, name)
        if kind == "word":
            previous, word = data[a:b].decode("ascii", "replace"), a
        else:
            previous = ""
        at = b
    return name


def _token(data: bytes, at: int, end: int) -> tuple[int, int, str]:
    return next(iter(tokens(data, at, min(end, at + 200))), (at, at + 1, "punct"))
