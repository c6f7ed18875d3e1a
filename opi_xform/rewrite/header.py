"""Where ``#include "opi.h"`` goes, and whether that would be another file of this name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from opi_xform.ir.ast import Unit
from opi_xform.record import dataclass
from opi_xform.text.edit import ByteEdit
from opi_xform.text.lex import COMMENT, DIRECTIVE, SourceText

OURS, INSTEAD = "opi.h", "opi_xform.h"
_INCLUDE = re.compile(rb"[ \t]*#[ \t]*include(?:_next)?[ \t]*[<\"]([^>\"]*)[>\"]")
_WORD = re.compile(rb"[ \t]*#[ \t]*([a-z_]+)[ \t]*([A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class _Include:
    name: bytes
    end: int
    depth: int  # conditionals around it, an include guard of the whole file not counted
    leading: bool  # no code stands before it
    around: int = -1  # where the innermost conditional around it begins
    closed: int = -1  # where that ends


def header_name(units: Iterable[Unit], folders: Iterable[str], runtime: Path) -> str:
    """``opi.h``, or ``opi_xform.h`` where the program has an opi.h of its own: beside a file of its, or where it looks.

    folders: where its compiler looks for headers.  runtime: where ours are.
    """
    near = {os.path.dirname(path) for unit in units for path in unit.files} | set(folders)
    others = (path for folder in near if (path := Path(folder) / OURS).is_file() and path.parent.resolve() != runtime)
    return OURS if next(others, None) is None else INSTEAD


def header_edit(text: SourceText, header: str = OURS, system: bool = False) -> ByteEdit | None:
    """Includes ``opi.h`` (system: a header of the system) after the last include of mpi.h; None when the file has it
    already.

    A file that gets mpi.h from a header of its own has it after the includes at its top: never before them, because
    feature macros (``#define _GNU_SOURCE``) must come before the first system header.  Without any include it goes
    below the comment that opens the file.
    """
    includes = _includes(text)
    name = header.encode()
    if any(include.name == name or include.name.endswith(b"/" + name) for include in includes):
        return None
    return _below(text, includes, b"#include <%b>" % name if system else b'#include "%b"' % name)


def memory_edit(text: SourceText, names: Iterable[str]) -> ByteEdit:
    """Declares malloc and free where the header would be included.

    stdlib.h would bring more: macros that a file has or asks for, types and functions under names of the program's.
    """
    return _below(text, _includes(text), b" ".join(_MEMORY[name] for name in names))


_MEMORY = {"malloc": b"void *malloc(__SIZE_TYPE__);", "free": b"void free(void *);"}


def _below(text: SourceText, includes: Sequence[_Include], line: bytes) -> ByteEdit:
    """A line below the last include of mpi.h, the includes at the top, or the comment that opens the file."""
    mpi = [include for include in includes if include.name == b"mpi.h" or include.name.endswith(b"/mpi.h")]
    leading = [include for include in includes if include.leading and include.depth == 0]
    chosen = mpi[-1:] or leading[-1:]
    if chosen:
        other = any(i.around == chosen[0].around and i is not chosen[0] and i.depth > 0 for i in mpi)
        end = text.line_end(chosen[0].closed if other else chosen[0].end)  # one in each arm: below the conditional
        return ByteEdit(end, end, (0,), text.eol + line)
    start = top(text)
    return ByteEdit(start, start, (0,), line + text.eol)


def is_included(text: SourceText, header: str, begin: int) -> bool:
    """Whether each configuration includes a header of the system before a place."""
    found = (include for include in _includes(text) if include.depth == 0 and include.end < begin)
    return any(include.name == header.encode() for include in found)


def top(text: SourceText) -> int:
    """The line below the comments and the include guard that open the file, or its first byte."""
    guard = _guard(text)
    start = text.begin
    for region in text.regions:
        if region.kind == DIRECTIVE and guard and region.end <= guard[1]:
            start = text.next_line(region.end)
        elif region.kind == COMMENT and text.after(0) >= region.end and text.first_on_line(region.begin):
            if text.tail_end(region.begin) is None:
                break
            start = text.next_line(region.end - 1)
        else:
            break
    return start


def _guard(text: SourceText) -> tuple[int, int] | None:
    """The offsets where the ``#ifndef`` and the end of the ``#define`` of an include guard stand."""
    directives = [region for region in text.regions if region.kind == DIRECTIVE]
    if len(directives) < 3 or text.after(0) != text.after(directives[0].begin):
        return None
    first, second, last = (_WORD.match(text.data, directives[i].begin) for i in (0, 1, -1))
    if not (first and second and last):
        return None
    if (first.group(1), second.group(1), last.group(1)) != (b"ifndef", b"define", b"endif"):
        return None
    return (directives[0].begin, directives[1].end) if first.group(2) == second.group(2) else None


def _includes(text: SourceText) -> list[_Include]:
    depth = -1 if _guard(text) else 0
    first_code = text.after(0)
    found: list[_Include] = []
    around: list[int] = []
    closed: dict[int, int] = {}
    for region in text.regions:
        if region.kind != DIRECTIVE:
            continue
        word = _WORD.match(text.data, region.begin)
        if word is None:
            continue
        if word.group(1) in (b"if", b"ifdef", b"ifndef"):
            depth += 1
            around.append(region.begin)
        elif word.group(1) == b"endif":
            depth -= 1
            if around:
                closed[around.pop()] = region.end
        else:
            match = _INCLUDE.match(text.data, region.begin)
            if match:
                inside = around[-1] if around else -1
                found.append(_Include(match.group(1), region.end, depth, region.end <= first_code, inside))
    return [replace(include, closed=closed.get(include.around, include.end)) for include in found]
