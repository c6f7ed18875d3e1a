"""Integer constants of the installed mpi.h, found by a generated probe against the same header."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache

from opi_xform.frontend.clang import Kind, TranslationUnit, evaluate, library, text
from opi_xform.frontend.flags import Headers, arguments

_PREFIX = "opi_probe_"


def integer_macros(flags: Sequence[str], headers: Headers, files: Sequence[str]) -> Mapping[str, int]:
    """Object-like ``MPI_*`` macros with integer values, of the mpi.h among ``files``; empty when there is none."""
    header = next((f for f in files if os.path.basename(f) == "mpi.h"), None)
    return dict(_probe(header, tuple(flags), headers)) if header is not None else {}


@lru_cache(maxsize=32)
def _probe(header: str, flags: tuple[str, ...], headers: Headers) -> tuple[tuple[str, int], ...]:
    lib = library()
    name = os.path.join(os.path.dirname(header), "opi-xform-probe.c")
    include = b'#include "' + os.fsencode(header) + b'"\n'
    command = arguments(flags, headers)
    macros: list[str] = []
    with TranslationUnit(name, command, {name: include}) as unit:
        for cursor in unit.top_level():
            if cursor.kind == Kind.MACRO_DEFINITION and not lib.clang_Cursor_isMacroFunctionLike(cursor):
                spelling = text(lib.clang_getCursorSpelling(cursor))
                if spelling.startswith("MPI_"):
                    macros.append(spelling)
    macros.sort()
    # Each in a line of its own: an error in one (a type, a string) costs only that line.
    lines = b"".join(f"long long {_PREFIX}{m} = (long long)({m});\n".encode() for m in macros)
    found: list[tuple[str, int]] = []
    with TranslationUnit(name, [*command, "-ferror-limit=0", "-w"], {name: include + lines}) as unit:
        for cursor in unit.top_level():
            if cursor.kind != Kind.VAR_DECL:
                continue
            spelling = text(lib.clang_getCursorSpelling(cursor))
            if spelling.startswith(_PREFIX):
                value = evaluate(lib.clang_Cursor_getVarDeclInitializer(cursor))
                if value is not None:
                    found.append((spelling[len(_PREFIX) :], value))
    return tuple(found)
