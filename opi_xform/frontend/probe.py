"""Integer constants of the installed mpi.h, found by a generated probe against the same header."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

from opi_xform.frontend.cache import version
from opi_xform.frontend.clang.libclang import Kind, TranslationUnit, evaluate, library, text
from opi_xform.frontend.flags import Headers, arguments
from opi_xform.kept import Kept, digest

_PREFIX = "opi_probe_"
_SETTLED_S = 2.0  # a file that is older than that was not written while it was read


def integer_macros(flags: Sequence[str], headers: Headers, files: Sequence[str]) -> Mapping[str, int]:
    """Object-like ``MPI_*`` macros with integer values, of the mpi.h among ``files``; empty when there is none."""
    header = next((f for f in files if os.path.basename(f) == "mpi.h"), None)
    return dict(_probe(header, tuple(flags), headers)) if header is not None else {}


@lru_cache(maxsize=32)
def _probe(header: str, flags: tuple[str, ...], headers: Headers) -> tuple[tuple[str, int], ...]:
    command = arguments(flags, headers)
    kept = Kept("constants", version(), header, *command)
    known = _unpacked(kept.load())
    if known is None:
        begin = time.time()
        known, files = _probed(header, command)
        with suppress(OSError):
            if all(os.stat(file).st_mtime < begin - _SETTLED_S for file in files):  # what was read is what is there
                kept.store(json.dumps(known).encode(), {file: digest(file) for file in files})
    return known


def _unpacked(data: bytes | None) -> tuple[tuple[str, int], ...] | None:
    try:
        return tuple((str(name), int(value)) for name, value in json.loads(data)) if data is not None else None
    except (ValueError, TypeError):
        return None


def _probed(header: str, command: list[str]) -> tuple[tuple[tuple[str, int], ...], list[str]]:
    """The macros, and all files that were read."""
    lib = library()
    name = os.path.join(os.path.dirname(header), "opi-xform-probe.c")
    include = b'#include "' + os.fsencode(header) + b'"\n'
    macros: list[str] = []
    with TranslationUnit(name, command, {name: include}) as unit:
        read = {os.path.realpath(text(lib.clang_getFileName(file))) for file in unit.inclusions()}
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
    return tuple(found), sorted(read - {os.path.realpath(name)})
